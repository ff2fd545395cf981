(** What the theorems rest on: printed when this file is built, and held against a list in the tests. *)

From Headwright Require Import Attention Certificate Uncertainty Heads Texts NextToken Rounding Conformance Ranges Order Exercise Numbers Bounding Checking Shortest Whole Checker.

Print Assumptions gibbs.
Print Assumptions met_by_the_others.
Print Assumptions none_shorter.
Print Assumptions impossible.
Print Assumptions met_by_bounds.
Print Assumptions scaled_scores.
Print Assumptions balls_scores.
Print Assumptions ellipsoid_scores.
Print Assumptions several_heads.
Print Assumptions matrix_score.
Print Assumptions least_weight.
Print Assumptions most_weight.
Print Assumptions ratio_bound.
Print Assumptions chord.
Print Assumptions margin_bound.
Print Assumptions rounding.
Print Assumptions weighted_mean.
Print Assumptions rounded_mean.
Print Assumptions channel_after_rms.
Print Assumptions layer_norm_rows.
Print Assumptions pair_with_constant.
Print Assumptions rotated_channel.
Print Assumptions score_by_lengths.
Print Assumptions score_by_pairs.
Print Assumptions equivariant.
Print Assumptions averaging_two.
Print Assumptions published_answer_fails.
Print Assumptions around_scores.

(** What certificates use, all at once: to look through the libraries of intervals takes a while. *)
Definition checked :=
  (met_correct, none_shorter_correct, impossible_correct, together_longer_correct, together_impossible_correct, kept_correct, none_smaller_correct, no_matrix_correct,
   check_sound).
Print Assumptions checked.
