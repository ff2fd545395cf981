(** Whole heads: rules for tokens, the weights that keep them, and that no smaller matrix or none at all does. *)

Require Import Reals Lra Lia List ZArith Bool.
From Headwright Require Import Sums Attention Certificate Heads Numbers Exponential Bounding Checking.
Import ListNotations.
Open Scope R_scope.

(** * The statement *)

(** A rule: the tokens of its sequence, the token that looks, those that it sees, what is added to their scores, and for
    some of these the least and the largest weight. *)
Record rule := { tokens : list (list Z); token : nat; seen : list nat; given : list Z; attend : list demand; at_most : list demand }.

(** Token i gives the j-th of the tokens that it sees the score x_j^T M x_i + what is added; with biases x_i has a 1 at its end. *)
Definition asking (biases : bool) (e : Z) (x : list Z) : list Z := if biases then x ++ [e] else x.
Definition matrix_scores (D w : nat) (biases : bool) (e b : Z) (M : nat -> nat -> R) (r : rule) (j : nat) : R :=
  dot D (fun y => dot w (M y) (row e (asking biases e (nth (token r) (tokens r) [])))) (row e (nth (nth j (seen r) 0%nat) (tokens r) []))
  + IZR (nth j (given r) 0%Z) / IZR b.

(** A matrix attends as the rules say: the target a is the a-th of those that are seen. *)
Definition attends (D w : nat) (biases : bool) (e b : Z) (rules : list rule) (M : nat -> nat -> R) : Prop :=
  forall r, In r rules -> forall a p, In (a, p) (attend r) ->
    IZR (fst p) / IZR (snd p) <= pattern (length (seen r)) (matrix_scores D w biases e b M r) a.

Definition avoids (D w : nat) (biases : bool) (e b : Z) (rules : list rule) (M : nat -> nat -> R) : Prop :=
  forall r, In r rules -> forall a p, In (a, p) (at_most r) ->
    pattern (length (seen r)) (matrix_scores D w biases e b M r) a <= IZR (fst p) / IZR (snd p).

Definition frobenius (D w : nat) (M : nat -> nat -> R) : R := sqrt (sum D (fun y => sum w (fun x => M y x * M y x))).

(** W_K^T W_Q, of matrices with h rows; with biases W_Q has the column b_Q besides. *)
Definition product_of (h : nat) (W_K W_Q : nat -> vector) : nat -> nat -> R := fun y x => sum h (fun z => W_K z y * W_Q z x).

(** * What is checked *)

Fixpoint outer (v x : list Z) : list Z :=
  match v with
  | [] => []
  | y :: v => times_Z y x ++ outer v x
  end.

Lemma nth_outer v x i j : (i < length v)%nat -> (j < length x)%nat ->
  nth (i * length x + j) (outer v x) 0%Z = (nth i v 0 * nth j x 0)%Z.
Proof.
  revert i. induction v as [|y v IH]; intros i Hi Hj; [simpl in Hi; lia|].
  simpl outer. destruct i as [|i].
  - rewrite app_nth1 by (rewrite length_times; simpl; lia). simpl. rewrite nth_times. reflexivity.
  - rewrite app_nth2 by (rewrite length_times; simpl; lia). rewrite length_times.
    replace (S i * length x + j - length x)%nat with (i * length x + j)%nat by (simpl; lia). simpl in Hi. rewrite IH by lia. reflexivity.
Qed.

(** <M, v x^T> is <M x, v>. *)
Lemma dot_outer D w F e M v x : (0 < w)%nat -> length v = D -> length x = w -> IZR F <> 0 -> IZR e <> 0 ->
  dot (D * w) (flat w M) (row (F * e) (outer v x)) = dot D (fun y => dot w (M y) (row e x)) (row F v).
Proof.
  intros W LV LX HF HE. unfold dot at 1. rewrite (sum_flat D w _ W). unfold dot at 1. apply sum_ext. intros y Hy.
  unfold dot. rewrite <- sum_scal_r. apply sum_ext. intros z Hz.
  unfold flat, row. rewrite <- LX at 5. rewrite nth_outer by lia. rewrite !mult_IZR.
  rewrite Nat.div_add_l, Nat.div_small, Nat.add_0_r by lia.
  rewrite (Nat.add_comm (y * w)), Nat.mod_add, Nat.mod_small by lia. field. split; assumption.
Qed.

Lemma norm_flat D w M : (0 < w)%nat -> norm (D * w) (flat w M) = frobenius D w M.
Proof.
  intros W. unfold norm, frobenius, dot. f_equal. rewrite (sum_flat D w _ W). apply sum_ext. intros y Hy. apply sum_ext. intros z Hz.
  unfold flat. rewrite Nat.div_add_l, Nat.div_small, Nat.add_0_r by lia.
  rewrite (Nat.add_comm (y * w)), Nat.mod_add, Nat.mod_small by lia. reflexivity.
Qed.

(** A constraint: the numbers of its rule and of the target in it, a multiplier, and shares of those that are seen. *)
Record entry := { of_rule : nat; of_target : nat; counted : Z; parts : list Z }.

Section Whole.
  Variable how : method.
  Local Notation prec := (accuracy how).
  Variables (D w : nat) (biases : bool) (e b : Z) (rules : list rule).

  Definition no_rule : rule := {| tokens := []; token := 0; seen := []; given := []; attend := []; at_most := [] |}.

  Definition rule_fits (r : rule) : bool :=
    Nat.ltb (token r) (length (tokens r)) && forallb (fun x => Nat.eqb (length x) D) (tokens r) &&
    forallb (fun j => Nat.ltb j (length (tokens r))) (seen r) &&
    forallb (fun '(a, (num, den)) => Nat.ltb a (length (seen r)) && (0 <? num)%Z && (0 <? den)%Z) (attend r ++ at_most r).

  Definition sensible_rules : bool :=
    (0 <? e)%Z && (0 <? b)%Z && Nat.ltb 0 D && Nat.eqb w (if biases then D + 1 else D) && forallb rule_fits rules.

  Hypothesis sense : sensible_rules = true.

  Lemma sense_numbers : 0 < IZR e /\ 0 < IZR b /\ (0 < D)%nat /\ w = (if biases then D + 1 else D)%nat.
  Proof.
    assert (S := sense). unfold sensible_rules in S. rewrite !andb_true_iff in S. destruct S as [[[[A B] C] W] _].
    repeat split; [apply IZR_pos, Z.ltb_lt, A | apply IZR_pos, Z.ltb_lt, B | apply Nat.ltb_lt, C | apply Nat.eqb_eq, W].
  Qed.

  Lemma sense_rule r : In r rules -> rule_fits r = true.
  Proof. assert (S := sense). unfold sensible_rules in S. rewrite !andb_true_iff, forallb_forall in S. apply S. Qed.

  Lemma length_asking r : In r rules -> length (asking biases e (nth (token r) (tokens r) [])) = w.
  Proof.
    intros R. destruct sense_numbers as (_ & _ & _ & ->). apply sense_rule in R. unfold rule_fits in R. rewrite !andb_true_iff in R.
    destruct R as [[[T L] _] _]. apply Nat.ltb_lt in T. rewrite forallb_forall in L.
    assert (X := L _ (nth_In (tokens r) [] T)). apply Nat.eqb_eq in X.
    unfold asking. destruct biases; [rewrite app_length, X; simpl; lia | exact X].
  Qed.

  (** ** Kept *)

  Section Kept.
  Variables (f : Z) (W_K W_Q : list (list Z)).

  (** Scores as whole numbers over (f e)^2 b. *)
  Definition scores_Z (r : rule) : list Z :=
    let q := map (fun row => dot_Z row (asking biases e (nth (token r) (tokens r) []))) W_Q in
    map (fun '(j, extra) => dot_Z (map (fun row => dot_Z row (nth j (tokens r) [])) W_K) q * b + extra * (f * e * (f * e)))%Z
      (combine (seen r) (given r)).

  Definition others_I (l : list Z) (a : nat) : I.type :=
    let own := nth a l 0%Z in
    but_I prec (fun z => I.exp prec (ratio prec (z - own) (f * e * (f * e) * b))) a l.

  Definition rule_kept (r : rule) : bool :=
    let l := scores_Z r in
    Nat.eqb (length (given r)) (length (seen r)) &&
    forallb (fun '(a, (num, den)) => not_negative (I.sub prec (ratio prec (den - num) num) (others_I l a))) (attend r) &&
    forallb (fun '(a, (num, den)) => not_negative (I.sub prec (others_I l a) (ratio prec (den - num) num))) (at_most r).

  Definition check_kept : bool :=
    (0 <? f)%Z && Nat.eqb (length W_K) (length W_Q) && forallb (fun x => Nat.eqb (length x) D) W_K &&
    forallb (fun x => Nat.eqb (length x) w) W_Q && forallb rule_kept rules.

  Definition the_product : nat -> nat -> R := product_of (length W_Q) (table f W_K) (table f W_Q).

  Lemma product_scores x y : dot D (fun i => dot w (the_product i) x) y
    = sum (length W_Q) (fun z => dot D (table f W_K z) y * dot w (table f W_Q z) x).
  Proof.
    unfold dot, the_product, product_of.
    rewrite (sum_ext D _ (fun i => sum (length W_Q) (fun z => table f W_K z i * y i * sum w (fun j => table f W_Q z j * x j)))).
    - rewrite sum_swap. apply sum_ext. intros z _. rewrite sum_scal_r. reflexivity.
    - intros i _. rewrite (sum_ext w _ (fun j => sum (length W_Q) (fun z => table f W_K z i * (table f W_Q z j * x j))))
        by (intros; rewrite <- sum_scal_r; apply sum_ext; intros; ring).
      rewrite sum_swap, <- sum_scal_r. apply sum_ext. intros z _. rewrite sum_scal. ring.
  Qed.

  Hypothesis kept : check_kept = true.

  Lemma kept_parts : 0 < IZR f /\ length W_K = length W_Q /\ Forall (fun x => length x = D) W_K /\ Forall (fun x => length x = w) W_Q
    /\ forall r, In r rules -> rule_kept r = true.
  Proof.
    assert (K := kept). unfold check_kept in K. rewrite !andb_true_iff, !forallb_forall in K. destruct K as [[[[F L] A] B] R].
    repeat split.
    - apply IZR_pos, Z.ltb_lt, F.
    - apply Nat.eqb_eq, L.
    - apply Forall_forall. intros x X. apply Nat.eqb_eq, A, X.
    - apply Forall_forall. intros x X. apply Nat.eqb_eq, B, X.
    - exact R.
  Qed.

  Lemma scores_spec r j : In r rules -> length (given r) = length (seen r) -> (j < length (seen r))%nat ->
    matrix_scores D w biases e b the_product r j = IZR (nth j (scores_Z r) 0%Z) / IZR (f * e * (f * e) * b).
  Proof.
    intros R LG Hj. destruct sense_numbers as (E & BP & DP & WE). destruct kept_parts as (F & LK & FK & FQ & _).
    assert (RF := sense_rule r R). unfold rule_fits in RF. rewrite !andb_true_iff, !forallb_forall in RF. destruct RF as [[[T L] SE] _].
    assert (LJ : length (nth (nth j (seen r) 0%nat) (tokens r) []) = D).
    { apply Nat.eqb_eq, L, nth_In, Nat.ltb_lt, SE, nth_In, Hj. }
    unfold matrix_scores. rewrite product_scores.
    set (x := asking biases e (nth (token r) (tokens r) [])). set (y := nth (nth j (seen r) 0%nat) (tokens r) []) in *.
    assert (LX : length x = w) by (apply length_asking, R).
    assert (N : nth j (scores_Z r) 0%Z = (dot_Z (map (fun row => dot_Z row y) W_K) (map (fun row => dot_Z row x) W_Q) * b
      + nth j (given r) 0 * (f * e * (f * e)))%Z).
    { unfold scores_Z. fold x. set (G := fun '(j, extra) => _).
      rewrite (nth_indep _ 0%Z (G (0%nat, 0%Z))) by (rewrite map_length, combine_length, LG, Nat.min_id; exact Hj).
      rewrite (map_nth G), combine_nth by (symmetry; exact LG). reflexivity. }
    rewrite N, plus_IZR, !mult_IZR, dot_Z_sum, map_length, LK.
    rewrite (sum_ext (length W_Q) (fun z => dot D (table f W_K z) (row e y) * dot w (table f W_Q z) (row e x))
      (fun z => IZR (nth z (map (fun row => dot_Z row y) W_K) 0%Z) * IZR (nth z (map (fun row => dot_Z row x) W_Q) 0%Z)
        * (/ (IZR f * IZR e) * / (IZR f * IZR e)))).
    - rewrite sum_scal_r. field. lra.
    - intros z Hz. unfold table. rewrite (dot_rows D f e), (dot_rows w f e); try assumption; try lra.
      + rewrite (nth_indep (map _ W_K) 0%Z (dot_Z [] y)) by (rewrite map_length, LK; exact Hz).
        rewrite (nth_indep (map _ W_Q) 0%Z (dot_Z [] x)) by (rewrite map_length; exact Hz).
        rewrite (map_nth (fun row => dot_Z row y)), (map_nth (fun row => dot_Z row x)). unfold Rdiv. ring.
      + rewrite Forall_forall in FQ. apply FQ, nth_In, Hz.
      + rewrite Forall_forall in FK. apply FK, nth_In. lia.
  Qed.

  Lemma others_encloses r a : In r rules -> length (given r) = length (seen r) -> (a < length (seen r))%nat ->
    encloses (others_I (scores_Z r) a) (sum (length (seen r)) (fun i => if Nat.eqb i a then 0
      else exp (matrix_scores D w biases e b the_product r i - matrix_scores D w biases e b the_product r a))).
  Proof.
    intros R LG Ha. destruct sense_numbers as (E & BP & _ & _). destruct kept_parts as (F & _).
    assert (N : IZR (f * e * (f * e) * b) <> 0) by (rewrite !mult_IZR; apply Rgt_not_eq; repeat apply Rmult_gt_0_compat; assumption).
    assert (L : length (scores_Z r) = length (seen r)) by (unfold scores_Z; rewrite map_length, combine_length, LG; apply Nat.min_id).
    set (own := nth a (scores_Z r) 0%Z).
    rewrite (sum_ext (length (seen r)) _ (fun i => if Nat.eqb i a then 0
      else (fun z => exp (IZR (z - own) / IZR (f * e * (f * e) * b))) (nth i (scores_Z r) 0%Z))).
    - rewrite <- L. unfold others_I. fold own.
      apply (but_I_encloses prec _ (fun z => exp (IZR (z - own) / IZR (f * e * (f * e) * b))) 0%Z).
      intros z _. apply exp_encloses, ratio_encloses, N.
    - intros i Hi. destruct (Nat.eqb i a); [reflexivity|]. rewrite !scores_spec by assumption. fold own. rewrite minus_IZR. f_equal. unfold Rdiv. ring.
  Qed.

  Lemma demands_fit r a p : In r rules -> In (a, p) (attend r ++ at_most r) -> (a < length (seen r))%nat /\ 0 < IZR (fst p) /\ 0 < IZR (snd p).
  Proof.
    intros R I. apply sense_rule in R. unfold rule_fits in R. rewrite !andb_true_iff, !forallb_forall in R. destruct R as [_ W].
    apply W in I. destruct p as [num den]. rewrite !andb_true_iff in I. destruct I as [[A B] C].
    repeat split; [apply Nat.ltb_lt, A | apply IZR_pos, Z.ltb_lt, B | apply IZR_pos, Z.ltb_lt, C].
  Qed.

  Theorem kept_correct : attends D w biases e b rules the_product /\ avoids D w biases e b rules the_product.
  Proof.
    destruct kept_parts as (F & _ & _ & _ & K). split; intros r R a p I.
    - destruct (demands_fit r a p R ltac:(apply in_or_app; left; exact I)) as (Ha & N & M).
      assert (Q := K r R). unfold rule_kept in Q. rewrite !andb_true_iff, !forallb_forall in Q. destruct Q as [[L Q] _].
      apply Nat.eqb_eq in L. apply Q in I. destruct p as [num den]. simpl fst in *. simpl snd in *.
      apply met_by_the_others; [exact Ha | apply Rdiv_lt_0_compat; assumption|].
      assert (X := not_negative_correct _ _ (sub_encloses prec _ _ _ _ (ratio_encloses prec (den - num) num ltac:(lra)) (others_encloses r a R L Ha)) I).
      rewrite minus_IZR in X. replace (1 / (IZR num / IZR den) - 1) with ((IZR den - IZR num) / IZR num) by (field; lra). lra.
    - destruct (demands_fit r a p R ltac:(apply in_or_app; right; exact I)) as (Ha & N & M).
      assert (Q := K r R). unfold rule_kept in Q. rewrite !andb_true_iff, !forallb_forall in Q. destruct Q as [[L _] Q].
      apply Nat.eqb_eq in L. apply Q in I. destruct p as [num den]. simpl fst in *. simpl snd in *.
      assert (X := not_negative_correct _ _ (sub_encloses prec _ _ _ _ (others_encloses r a R L Ha) (ratio_encloses prec (den - num) num ltac:(lra))) I).
      rewrite minus_IZR in X.
      set (s := matrix_scores D w biases e b the_product r) in *. set (n := length (seen r)) in *.
      set (o := sum n _) in X.
      destruct (Rle_or_lt (pattern n s a) (IZR num / IZR den)) as [|G]; [assumption | exfalso].
      assert (PP : 0 < pattern n s a) by (apply pattern_pos; lia).
      assert (Y : o <= 1 / pattern n s a - 1) by (apply (met_by_the_others n s a (pattern n s a) Ha PP); lra).
      assert (Z : / pattern n s a < / (IZR num / IZR den)).
      { apply Rinv_lt_contravar; [|exact G]. apply Rmult_lt_0_compat; [apply Rdiv_lt_0_compat|]; assumption. }
      replace (/ (IZR num / IZR den)) with ((IZR den - IZR num) / IZR num + 1) in Z by (field; lra).
      unfold Rdiv in Y at 1. lra.
  Qed.
  End Kept.

  (** ** None smaller, and none at all *)

  Variables (S : Z) (entries : list entry).

  Definition constraint_at (c : entry) : constraint :=
    let r := nth (of_rule c) rules no_rule in
    let '(a, p) := nth (of_target c) (attend r) (0%nat, (1%Z, 1%Z)) in
    {| rows := map (fun j => nth j (tokens r) []) (seen r); bias := given r; own := a; floor := p; shares := parts c |}.

  Definition entry_fits (c : entry) : bool :=
    Nat.ltb (of_rule c) (length rules) && Nat.ltb (of_target c) (length (attend (nth (of_rule c) rules no_rule))) &&
    sound D e b S (constraint_at c).

  Definition summand_at (c : entry) : summand :=
    let r := nth (of_rule c) rules no_rule in
    {| times := counted c; worth := value_I how b S (constraint_at c);
       along := outer (pulled D S (constraint_at c)) (asking biases e (nth (token r) (tokens r) [])) |}.

  Definition check_none_smaller (num den : Z) : bool :=
    forallb entry_fits entries && check_longer prec (D * w) (S * e * e) 1 1 (map summand_at entries) num den.
  Definition check_no_matrix : bool := forallb entry_fits entries && check_cancels prec (D * w) (S * e * e) 1 (map summand_at entries).

  Lemma entry_says c M : entry_fits c = true -> attends D w biases e b rules M -> says (D * w) (S * e * e) 1 1 (flat w M) (summand_at c).
  Proof.
    unfold entry_fits. rewrite !andb_true_iff. intros [[A B] O] H. apply Nat.ltb_lt in A. apply Nat.ltb_lt in B.
    destruct sense_numbers as (E & BP & DP & WE).
    set (r := nth (of_rule c) rules no_rule) in *.
    assert (R : In r rules) by (apply nth_In, A).
    assert (X := H r R (fst (nth (of_target c) (attend r) (0%nat, (1%Z, 1%Z)))) (snd (nth (of_target c) (attend r) (0%nat, (1%Z, 1%Z))))).
    rewrite <- surjective_pairing in X. specialize (X (nth_In _ _ B)).
    assert (SP := sound_parts _ _ _ _ _ O). destruct SP as (_ & _ & P & _).
    assert (LP := proj1 (pulled_spec _ _ _ _ _ O)).
    set (q := fun y => dot w (M y) (row e (asking biases e (nth (token r) (tokens r) [])))).
    assert (V : value b S (constraint_at c) <= 1 * dot D q (pull_of e S (constraint_at c))).
    { apply (met D e b S (constraint_at c) O 1 q). unfold constraint_at. fold r.
      destruct (nth (of_target c) (attend r) (0%nat, (1%Z, 1%Z))) as [a p] eqn:N. simpl in X. unfold floor_of, added. simpl.
      rewrite map_length. apply Rle_trans with (1 := X). apply Req_le.
      assert (Y : forall j, (j < length (seen r))%nat -> matrix_scores D w biases e b M r j
        = 1 * dot D q (table e (map (fun j => nth j (tokens r) []) (seen r)) j) + IZR (nth j (given r) 0%Z) / IZR b).
      { intros j Hj. unfold matrix_scores, table. rewrite Rmult_1_l. f_equal. f_equal. f_equal.
        rewrite (nth_indep (map (fun j => nth j (tokens r) []) (seen r)) [] ((fun j => nth j (tokens r) []) 0%nat)) by (rewrite map_length; exact Hj).
        rewrite (map_nth (fun j => nth j (tokens r) [])). reflexivity. }
      assert (OA : (a < length (seen r))%nat).
      { destruct (sound_parts _ _ _ _ _ O) as (_ & _ & _ & _ & OW & _). unfold constraint_at in OW. fold r in OW.
        rewrite N in OW. simpl in OW. rewrite map_length in OW. exact OW. }
      unfold pattern, mass. rewrite (Y a OA). apply (f_equal2 Rdiv); [reflexivity|]. apply sum_ext. intros j Hj. rewrite (Y j Hj). reflexivity. }
    destruct (value_encloses how D e b S _ O) as (v & E' & LE). exists v. split; [exact E'|].
    apply Rle_trans with (1 := Rle_trans _ _ _ LE V). apply Req_le. unfold summand_at. fold r. simpl along.
    rewrite (dot_outer D w (S * e) e M (pulled D S (constraint_at c))); try assumption.
    - unfold q. replace (1 / 1) with 1 by field. f_equal. apply sum_ext. intros y Hy. rewrite (proj2 (pulled_spec _ _ _ _ _ O) y Hy). reflexivity.
    - rewrite WE. destruct biases; lia.
    - apply length_asking, R.
    - rewrite mult_IZR. apply Rgt_not_eq, Rmult_gt_0_compat; assumption.
    - lra.
  Qed.

  Theorem none_smaller_correct num den : check_none_smaller num den = true ->
    forall M, attends D w biases e b rules M -> IZR num / IZR den <= frobenius D w M.
  Proof.
    unfold check_none_smaller. rewrite andb_true_iff, forallb_forall. intros [F C] M A.
    destruct sense_numbers as (_ & _ & DP & WE).
    rewrite <- norm_flat by (rewrite WE; destruct biases; lia).
    apply (longer_correct _ _ _ _ _ _ _ _ _ C). intros s I. apply in_map_iff in I. destruct I as (c & <- & I). apply entry_says; [apply F, I | exact A].
  Qed.

  Theorem no_matrix_correct : check_no_matrix = true -> forall M, ~ attends D w biases e b rules M.
  Proof.
    unfold check_no_matrix. rewrite andb_true_iff, forallb_forall. intros [F C] M A.
    apply (cancels_correct _ _ _ 1 _ _ (flat w M) C). intros s I. apply in_map_iff in I. destruct I as (c & <- & I).
    apply entry_says; [apply F, I | exact A].
  Qed.
End Whole.
