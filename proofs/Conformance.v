(** The core of `conform`: a weighted mean whose weights and whose sum are known from both sides.
   docs/explanation/conform.md, step 7. *)
Require Import Reals Lra.
From Headwright Require Import Sums Attention.
Open Scope R_scope.

(* A weight that lies between two bounds, divided by a sum that does, is near the exact weight. *)
Lemma weight_error a x lo hi X Xlo Xhi :
  0 <= lo -> lo <= x <= hi -> 0 < Xlo -> Xlo <= X <= Xhi ->
  Rabs (x / X - a) <= Rmax (hi / Xlo - a) (a - lo / Xhi).
Proof.
  intros L [x1 x2] P [X1 X2].
  assert (0 < X) by lra. assert (0 < Xhi) by lra.
  assert (U : x / X <= hi / Xlo).
  { apply Rle_trans with (x / Xlo).
    - apply Rmult_le_compat_l; [lra|]. apply Rinv_le_contravar; lra.
    - apply Rmult_le_compat_r; [|lra]. left. apply Rinv_0_lt_compat, P. }
  assert (D : lo / Xhi <= x / X).
  { apply Rle_trans with (x / Xhi).
    - apply Rmult_le_compat_r; [|lra]. left. apply Rinv_0_lt_compat; lra.
    - apply Rmult_le_compat_l; [lra|]. apply Rinv_le_contravar; lra. }
  apply Rabs_le. split.
  - assert (M := Rmax_r (hi / Xlo - a) (a - lo / Xhi)). lra.
  - assert (M := Rmax_l (hi / Xlo - a) (a - lo / Xhi)). lra.
Qed.

Lemma sum_abs n f : Rabs (sum n f) <= sum n (fun i => Rabs (f i)).
Proof.
  induction n as [|n IH]; simpl.
  - rewrite Rabs_R0. lra.
  - eapply Rle_trans; [apply Rabs_triang|]. lra.
Qed.

(* Step 7. al: exact weights; x: the terms of the numerator, with all their errors; X: the computed sum. *)
Theorem weighted_mean n (al x v lo hi : nat -> R) X Xlo Xhi :
  (forall j, (j < n)%nat -> 0 <= lo j /\ lo j <= x j <= hi j) ->
  0 < Xlo -> Xlo <= X <= Xhi ->
  Rabs (sum n (fun j => x j * v j) / X - sum n (fun j => al j * v j))
    <= sum n (fun j => Rmax (hi j / Xlo - al j) (al j - lo j / Xhi) * Rabs (v j)).
Proof.
  intros B P Q.
  assert (E : sum n (fun j => x j * v j) / X - sum n (fun j => al j * v j)
              = sum n (fun j => (x j / X - al j) * v j)).
  { clear B. induction n as [|n IH]; simpl; [unfold Rdiv; ring|].
    rewrite <- IH. unfold Rdiv. ring. }
  rewrite E. eapply Rle_trans; [apply sum_abs|].
  apply sum_le. intros j J. rewrite Rabs_mult.
  apply Rmult_le_compat_r; [apply Rabs_pos|].
  destruct (B j J) as [B1 B2]. apply weight_error; assumption.
Qed.

(* Step 6 and 7 together: exponentials that are off by e^theta, |theta| <= Delta, in a row whose exact weights are al. *)
Theorem rounded_mean n (al th De g r v : nat -> R) (L rho : R) (h : nat -> R) :
  (forall j, (j < n)%nat -> 0 <= al j /\ - De j <= th j <= De j /\ - L <= g j <= L
             /\ - L <= h j <= L /\ - rho <= r j <= rho) ->
  0 <= rho <= 1 -> 0 < sum n (fun j => al j * exp (- De j - L)) ->
  Rabs (sum n (fun j => al j * exp (th j + g j) * (1 + r j) * v j) / sum n (fun j => al j * exp (th j + h j))
        - sum n (fun j => al j * v j))
    <= sum n (fun j => Rmax (al j * exp (De j + L) * (1 + rho) / sum n (fun i => al i * exp (- De i - L)) - al j)
                            (al j - al j * exp (- De j - L) * (1 - rho) / sum n (fun i => al i * exp (De i + L)))
                       * Rabs (v j)).
Proof.
  intros B [R1 R2] P.
  apply (weighted_mean n al (fun j => al j * exp (th j + g j) * (1 + r j)) v
           (fun j => al j * exp (- De j - L) * (1 - rho)) (fun j => al j * exp (De j + L) * (1 + rho))).
  - intros j J. destruct (B j J) as (A & T & G & _ & R).
    assert (E1 : 0 < exp (- De j - L)) by apply exp_pos.
    assert (E2 : exp (- De j - L) <= exp (th j + g j)) by (apply exp_monotone; lra).
    assert (E3 : exp (th j + g j) <= exp (De j + L)) by (apply exp_monotone; lra).
    assert (F1 : 0 <= al j * exp (- De j - L)) by (apply Rmult_le_pos; lra).
    assert (F2 : al j * exp (- De j - L) <= al j * exp (th j + g j)) by (apply Rmult_le_compat_l; lra).
    assert (F3 : al j * exp (th j + g j) <= al j * exp (De j + L)) by (apply Rmult_le_compat_l; lra).
    split; [apply Rmult_le_pos; lra|]. split; apply Rmult_le_compat; lra.
  - exact P.
  - split; apply sum_le; intros j J; destruct (B j J) as (A & T & _ & H & _);
      apply Rmult_le_compat_l; try lra; apply exp_monotone; lra.
Qed.
