(** Attention: scores, pattern, and what a target asks of them. *)

Require Import Reals Lra Lia.
From Headwright Require Import Sums.
Open Scope R_scope.

(** The pattern of scores s over n keys. *)
Definition mass (n : nat) (s : nat -> R) : R := sum n (fun i => exp (s i)).
Definition pattern (n : nat) (s : nat -> R) (i : nat) : R := exp (s i) / mass n s.
Definition logsumexp (n : nat) (s : nat -> R) : R := ln (mass n s).

(** A distribution over n keys, and its entropy; 0 ln 0 is 0. *)
Definition distribution (n : nat) (p : nat -> R) : Prop := (forall i, (i < n)%nat -> 0 <= p i) /\ sum n p = 1.
Definition entropy (n : nat) (p : nat -> R) : R := - sum n (fun i => p i * ln (p i)).

Lemma mass_pos n s : (0 < n)%nat -> 0 < mass n s.
Proof. intros H. apply sum_pos; [assumption | intros; apply exp_pos]. Qed.

Lemma pattern_pos n s i : (0 < n)%nat -> 0 < pattern n s i.
Proof. intros H. apply Rdiv_lt_0_compat; [apply exp_pos | apply mass_pos, H]. Qed.

Lemma pattern_distribution n s : (0 < n)%nat -> distribution n (pattern n s).
Proof.
  intros H. split; [intros; apply Rlt_le, pattern_pos, H|].
  unfold pattern, Rdiv. rewrite sum_scal_r. apply Rinv_r, Rgt_not_eq, mass_pos, H.
Qed.

Lemma exp_logsumexp n s : (0 < n)%nat -> exp (logsumexp n s) = mass n s.
Proof. intros H. apply exp_ln, mass_pos, H. Qed.

Lemma pattern_exp n s i : (0 < n)%nat -> pattern n s i = exp (s i - logsumexp n s).
Proof. intros H. unfold pattern, Rminus. rewrite exp_plus, exp_Ropp, exp_logsumexp by assumption. reflexivity. Qed.

Lemma ln_le_minus_one y : 0 < y -> ln y <= y - 1.
Proof. intros H. assert (E := exp_ineq1_le (ln y)). rewrite exp_ln in E by assumption. lra. Qed.

Lemma ln_monotone x y : 0 < x -> x <= y -> ln x <= ln y.
Proof. intros Hx [H|H]; [apply Rlt_le, ln_increasing; assumption | rewrite H; lra]. Qed.

Lemma exp_monotone x y : x <= y -> exp x <= exp y.
Proof. intros [H|H]; [apply Rlt_le, exp_increasing, H | rewrite H; lra]. Qed.

(** Theorem 1: logsumexp is at least the mean of the scores plus the entropy, for every distribution. *)
Theorem gibbs n s p : distribution n p -> sum n (fun i => p i * s i) + entropy n p <= logsumexp n s.
Proof.
  intros [P T].
  assert (N : (0 < n)%nat) by (destruct n; [simpl in T; lra | lia]).
  set (l := logsumexp n s).
  assert (E : sum n (fun i => p i * (s i - l - ln (p i))) <= sum n (fun i => pattern n s i - p i)).
  { apply sum_le. intros i Hi. rewrite pattern_exp by assumption. fold l.
    destruct (P i Hi) as [Hp|Hp].
    - assert (Q := ln_le_minus_one (exp (s i - l) / p i) ltac:(apply Rdiv_lt_0_compat; [apply exp_pos | assumption])).
      unfold Rdiv in Q. rewrite ln_mult, ln_exp, ln_Rinv in Q;
        [| assumption | apply exp_pos | apply Rinv_0_lt_compat; assumption].
      apply Rmult_le_compat_l with (r := p i) in Q; [|lra].
      replace (p i * (exp (s i - l) * / p i - 1)) with (exp (s i - l) - p i) in Q by (field; lra).
      replace (p i * (s i - l - ln (p i))) with (p i * (s i - l + - ln (p i))) by ring. lra.
    - rewrite <- Hp. assert (0 < exp (s i - l)) by apply exp_pos. lra. }
  rewrite sum_minus, T, (proj2 (pattern_distribution n s N)) in E.
  assert (F : sum n (fun i => p i * (s i - l - ln (p i))) = sum n (fun i => p i * s i) - l + entropy n p).
  { unfold entropy. rewrite (sum_ext n _ (fun i => p i * s i - p i * l - p i * ln (p i))) by (intros; ring).
    rewrite !sum_minus, sum_scal_r, T. ring. }
  lra.
Qed.

(** Theorem 3: what the check of a met target uses. *)
Theorem met_by_the_others n s a p : (a < n)%nat -> 0 < p ->
  (p <= pattern n s a <-> sum n (fun i => if Nat.eqb i a then 0 else exp (s i - s a)) <= 1 / p - 1).
Proof.
  intros Ha Hp.
  assert (N : (0 < n)%nat) by lia.
  set (o := sum n (fun i => if Nat.eqb i a then 0 else exp (s i - s a))).
  assert (M : mass n s = exp (s a) * (1 + o)).
  { unfold mass, o. rewrite (sum_split n _ a Ha), Rmult_plus_distr_l, Rmult_1_r, <- sum_scal. f_equal.
    apply sum_ext. intros i _. destruct (Nat.eqb i a); [ring|].
    unfold Rminus. rewrite exp_plus, exp_Ropp. field. apply Rgt_not_eq, exp_pos. }
  assert (O : 0 <= o).
  { apply sum_nonneg. intros i _. destruct (Nat.eqb i a); [lra | apply Rlt_le, exp_pos]. }
  assert (W : pattern n s a = / (1 + o)).
  { unfold pattern. rewrite M. field. split; [lra | apply Rgt_not_eq, exp_pos]. }
  rewrite W. split; intros H.
  - apply Rinv_le_contravar in H; [rewrite Rinv_inv in H; unfold Rdiv; lra | assumption].
  - rewrite <- (Rinv_inv p). apply Rinv_le_contravar; [lra | unfold Rdiv in H; lra].
Qed.
