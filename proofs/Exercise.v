(** One exercise, for every number of keys: averaging two of n orthonormal keys; and a published answer that fails. *)

Require Import Reals Lra Lia.
From Headwright Require Import Sums Attention.
Open Scope R_scope.

Definition orthonormal (d n : nat) (k : nat -> vector) : Prop :=
  forall i j, (i < n)%nat -> (j < n)%nat -> dot d (k i) (k j) = if Nat.eqb i j then 1 else 0.

Lemma dot_linear d l x y z : dot d (fun m => l * (x m + y m)) z = l * (dot d x z + dot d y z).
Proof. unfold dot. rewrite <- sum_plus, <- sum_scal. apply sum_ext; intros; ring. Qed.

(** The weight of k_a under q = l (k_a + k_b). *)
Lemma weight_of_two d n k a b l : orthonormal d n k -> (a < n)%nat -> (b < n)%nat -> a <> b ->
  pattern n (fun i => dot d (fun m => l * (k a m + k b m)) (k i)) a = exp l / (2 * exp l + (INR n - 2)).
Proof.
  intros O Ha Hb N.
  set (s := fun i => dot d (fun m => l * (k a m + k b m)) (k i)).
  assert (S : forall i, (i < n)%nat -> s i = if Nat.eqb i a then l else if Nat.eqb i b then l else 0).
  { intros i Hi. unfold s. rewrite dot_linear, (O a i Ha Hi), (O b i Hb Hi), (Nat.eqb_sym a i), (Nat.eqb_sym b i).
    destruct (Nat.eqb_spec i a) as [->|]; [|destruct (Nat.eqb i b); ring].
    replace (Nat.eqb a b) with false by (symmetry; apply Nat.eqb_neq, N). ring. }
  assert (M : mass n s = 2 * exp l + (INR n - 2)).
  { unfold mass. rewrite (sum_split n _ a Ha), (sum_split n (fun i => if Nat.eqb i a then 0 else exp (s i)) b Hb).
    replace (Nat.eqb b a) with false by (symmetry; apply Nat.eqb_neq; congruence).
    rewrite (S a Ha), (S b Hb), Nat.eqb_refl.
    replace (Nat.eqb b a) with false by (symmetry; apply Nat.eqb_neq; congruence). rewrite Nat.eqb_refl.
    assert (R : sum n (fun i => if Nat.eqb i b then 0 else if Nat.eqb i a then 0 else exp (s i)) = INR n - 2).
    { assert (C := sum_const n 1). rewrite Rmult_1_r in C.
      rewrite (sum_split n _ a Ha) in C. rewrite (sum_split n (fun i => if Nat.eqb i a then 0 else 1) b Hb) in C.
      replace (Nat.eqb b a) with false in C by (symmetry; apply Nat.eqb_neq; congruence).
      rewrite (sum_ext n _ (fun i => if Nat.eqb i b then 0 else if Nat.eqb i a then 0 else 1)); [lra|].
      intros i Hi. rewrite (S i Hi). destruct (Nat.eqb i b); [reflexivity|]. destruct (Nat.eqb i a); [reflexivity|].
      apply exp_0. }
    rewrite R. ring. }
  unfold pattern. fold s. rewrite M, (S a Ha), Nat.eqb_refl. reflexivity.
Qed.

(** Theorem 7: q = l (k_a + k_b) averages up to eps exactly when eps e^l >= n - 2. *)
Theorem averaging_two d n k a b l eps : orthonormal d n k -> (a < n)%nat -> (b < n)%nat -> a <> b -> 0 < eps ->
  let weight := pattern n (fun i => dot d (fun m => l * (k a m + k b m)) (k i)) in
  (1 / (2 + eps) <= weight a /\ 1 / (2 + eps) <= weight b) <-> INR n - 2 <= eps * exp l.
Proof.
  intros O Ha Hb N E weight.
  assert (T : 2 <= INR n).
  { change 2 with (INR 2). apply le_INR. destruct (Nat.lt_trichotomy a b) as [|[|]]; lia. }
  assert (W : forall c, c = exp l / (2 * exp l + (INR n - 2)) -> (1 / (2 + eps) <= c <-> INR n - 2 <= eps * exp l)).
  { intros c ->. assert (P := exp_pos l). assert (D : 0 < 2 * exp l + (INR n - 2)) by lra.
    split; intros H.
    - apply Rmult_le_compat_r with (r := (2 + eps) * (2 * exp l + (INR n - 2))) in H; [|nra].
      replace (1 / (2 + eps) * ((2 + eps) * (2 * exp l + (INR n - 2)))) with (2 * exp l + (INR n - 2)) in H by (field; lra).
      replace (exp l / (2 * exp l + (INR n - 2)) * ((2 + eps) * (2 * exp l + (INR n - 2)))) with (exp l * (2 + eps)) in H
        by (field; lra). lra.
    - apply Rmult_le_reg_r with ((2 + eps) * (2 * exp l + (INR n - 2))); [nra|].
      replace (1 / (2 + eps) * ((2 + eps) * (2 * exp l + (INR n - 2)))) with (2 * exp l + (INR n - 2)) by (field; lra).
      replace (exp l / (2 * exp l + (INR n - 2)) * ((2 + eps) * (2 * exp l + (INR n - 2)))) with (exp l * (2 + eps))
        by (field; lra). lra. }
  assert (WA := W (weight a) (weight_of_two d n k a b l O Ha Hb N)).
  assert (WB : 1 / (2 + eps) <= weight b <-> INR n - 2 <= eps * exp l).
  { apply W. rewrite <- (weight_of_two d n k b a l O Hb Ha (not_eq_sym N)). unfold weight, pattern, mass.
    assert (S : forall i, dot d (fun m => l * (k a m + k b m)) (k i) = dot d (fun m => l * (k b m + k a m)) (k i)).
    { intros i. apply sum_ext. intros; ring. }
    rewrite S. f_equal. apply sum_ext. intros i _. rewrite S. reflexivity. }
  tauto.
Qed.

(** A published answer, q = (k_a + k_b) / sqrt 2, fails already at n = 3 and eps = 1/10. *)
Theorem published_answer_fails d k a b : orthonormal d 3 k -> (a < 3)%nat -> (b < 3)%nat -> a <> b ->
  pattern 3 (fun i => dot d (fun m => 1 / sqrt 2 * (k a m + k b m)) (k i)) a < 1 / (2 + 1 / 10).
Proof.
  intros O Ha Hb N. rewrite (weight_of_two d 3 k a b (1 / sqrt 2) O Ha Hb N). simpl INR.
  assert (S : 1 <= sqrt 2) by (rewrite <- sqrt_1; apply sqrt_le_1_alt; lra).
  assert (E : exp (1 / sqrt 2) <= 3).
  { apply Rle_trans with (exp 1); [|apply exp_le_3]. apply exp_monotone.
    apply Rmult_le_reg_r with (sqrt 2); [lra|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l; lra. }
  assert (P := exp_pos (1 / sqrt 2)).
  apply Rmult_lt_reg_r with (2 * exp (1 / sqrt 2) + (1 + 1 + 1 - 2)); [lra|].
  unfold Rdiv at 1. rewrite Rmult_assoc, Rinv_l; [|lra]. lra.
Qed.
