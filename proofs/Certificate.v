(** The certificate theorem: a lower bound on every query that meets targets, and when none does. *)

Require Import Reals Lra Lia.
From Headwright Require Import Sums Attention.
Open Scope R_scope.

(** An uncertainty is the set of all keys that a head may meet. *)
Definition keys := nat -> vector.
Definition uncertainty := keys -> Prop.
Definition scores (d : nat) (scale : R) (q : vector) (k : keys) (i : nat) : R := scale * dot d q (k i).

(** A target: the target t a has at least the weight p a, for each of m demands, in every realization. *)
Definition meets (d n : nat) (scale : R) (w : uncertainty) (m : nat) (t : nat -> nat) (p : nat -> R) (q : vector) : Prop :=
  forall k, w k -> forall a, (a < m)%nat -> p a <= pattern n (scores d scale q k) (t a).

(** One demand in one admissible realization, seen through any distribution. *)
Lemma one_demand d n scale k a p pi q :
  distribution n pi -> (a < n)%nat -> 0 < p -> p <= pattern n (scores d scale q k) a ->
  entropy n pi + ln p <= scale * dot d q (fun m => k a m - sum n (fun i => pi i * k i m)).
Proof.
  intros D Ha Hp G.
  assert (N : (0 < n)%nat) by lia.
  assert (B := gibbs n (scores d scale q k) pi D).
  rewrite pattern_exp in G by assumption.
  apply ln_monotone in G; [|assumption]. rewrite ln_exp in G.
  assert (E : scale * dot d q (fun m => k a m - sum n (fun i => pi i * k i m))
    = scores d scale q k a - sum n (fun i => pi i * scores d scale q k i)).
  { rewrite dot_minus, <- dot_sum, Rmult_minus_distr_l, <- sum_scal. unfold scores. f_equal.
    apply sum_ext; intros; ring. }
  rewrite E. lra.
Qed.

(** What c constraints add up to: constraint j takes demand a j, in the keys k j, through pi j, with the weight l j. *)
Definition pull (n c : nat) (t : nat -> nat) (a : nat -> nat) (k : nat -> keys) (pi : nat -> nat -> R) (l : nat -> R) : vector :=
  fun m => sum c (fun j => l j * (k j (t (a j)) m - sum n (fun i => pi j i * k j i m))).

Section Bound.
  Variables (d n m c : nat) (scale : R) (w : uncertainty) (t : nat -> nat) (p : nat -> R).
  Variables (a : nat -> nat) (k : nat -> keys) (pi : nat -> nat -> R) (l : nat -> R).
  Hypothesis targets : forall b, (b < m)%nat -> (t b < n)%nat /\ 0 < p b.
  Hypothesis demands : forall j, (j < c)%nat -> (a j < m)%nat.
  Hypothesis admissible : forall j, (j < c)%nat -> w (k j).
  Hypothesis distributions : forall j, (j < c)%nat -> distribution n (pi j).
  Hypothesis weights : forall j, (j < c)%nat -> 0 <= l j.

  Let V := pull n c t a k pi l.
  Let bound := sum c (fun j => l j * (entropy n (pi j) + ln (p (a j)))).

  Lemma bound_along q : meets d n scale w m t p q -> bound <= scale * dot d q V.
  Proof.
    intros G.
    assert (E : scale * dot d q V
      = sum c (fun j => l j * (scale * dot d q (fun x => k j (t (a j)) x - sum n (fun i => pi j i * k j i x))))).
    { unfold V, pull. rewrite <- (dot_sum d c q (fun j x => k j (t (a j)) x - sum n (fun i => pi j i * k j i x)) l).
      rewrite <- sum_scal. apply sum_ext; intros; ring. }
    rewrite E. apply sum_le. intros j Hj. apply Rmult_le_compat_l; [apply weights, Hj|].
    destruct (targets (a j) (demands j Hj)) as [Ht Hp].
    apply one_demand; [apply distributions, Hj | assumption | assumption | apply G; [apply admissible, Hj | apply demands, Hj]].
  Qed.

  (** Theorem 2: every query that meets the targets are at least this long. *)
  Theorem none_shorter q : meets d n scale w m t p q -> bound <= norm d q * (Rabs scale * norm d V).
  Proof.
    intros G. apply Rle_trans with (scale * dot d q V); [apply bound_along, G|].
    assert (C := cauchy_schwarz d q V). assert (C' := cauchy_schwarz d (fun i => - q i) V).
    assert (S : norm d (fun i => - q i) = norm d q).
    { unfold norm. f_equal. apply sum_ext; intros; ring. }
    assert (M : dot d (fun i => - q i) V = - dot d q V).
    { unfold dot. rewrite <- (Rmult_1_l (sum d (fun i => q i * V i))), Ropp_mult_distr_l, <- sum_scal.
      apply sum_ext; intros; ring. }
    rewrite S, M in C'.
    unfold Rabs. destruct (Rcase_abs scale); nra.
  Qed.

  (** With V = 0 and a positive bound, no query meets the targets. *)
  Theorem impossible : (forall x, (x < d)%nat -> V x = 0) -> 0 < bound -> forall q, ~ meets d n scale w m t p q.
  Proof.
    intros Z B q G. assert (A := bound_along q G).
    assert (dot d q V = 0).
    { unfold dot. rewrite (sum_ext d _ (fun _ => 0)); [apply sum_zero|]. intros x Hx. rewrite Z by assumption. ring. }
    nra.
  Qed.
End Bound.
