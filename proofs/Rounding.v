(** Score errors of half-range delta change a pattern by a total variation of at most tanh(delta / 2). *)

Require Import Reals Lra Lia.
From Headwright Require Import Sums Attention.
Open Scope R_scope.

Definition total_variation (n : nat) (p q : nat -> R) : R := sum n (fun i => Rabs (p i - q i)) / 2.

Lemma sum_if_plus n (b : nat -> bool) f :
  sum n f = sum n (fun i => if b i then f i else 0) + sum n (fun i => if b i then 0 else f i).
Proof. rewrite <- sum_plus. apply sum_ext. intros i _. destruct (b i); ring. Qed.

(** Of two distributions, the total variation is what one gives more to the places where it gives more. *)
Lemma total_variation_half n p q : sum n p = sum n q ->
  total_variation n p q = sum n (fun i => if Rle_dec (q i) (p i) then p i - q i else 0).
Proof.
  intros T. unfold total_variation.
  set (b := fun i => if Rle_dec (q i) (p i) then true else false).
  assert (A : sum n (fun i => Rabs (p i - q i)) =
    sum n (fun i => if b i then p i - q i else 0) + sum n (fun i => if b i then 0 else q i - p i)).
  { rewrite <- sum_plus. apply sum_ext. intros i _. unfold b. destruct (Rle_dec (q i) (p i)).
    - rewrite Rabs_right by lra. ring.
    - rewrite Rabs_left by lra. ring. }
  assert (B : 0 = sum n (fun i => if b i then p i - q i else 0) - sum n (fun i => if b i then 0 else q i - p i)).
  { rewrite <- sum_minus. transitivity (sum n p - sum n q); [lra|]. rewrite <- sum_minus.
    apply sum_ext. intros i _. destruct (b i); ring. }
  rewrite A. rewrite (sum_ext n (fun i => if Rle_dec (q i) (p i) then p i - q i else 0)
    (fun i => if b i then p i - q i else 0)) by (intros i _; unfold b; destruct (Rle_dec (q i) (p i)); reflexivity).
  lra.
Qed.

(** x k^2 / (1 + (k^2 - 1) x) - x is largest at x = 1 / (k + 1). *)
Lemma worst_split x k : 0 <= x <= 1 -> 1 <= k -> x * (k * k) / (1 + (k * k - 1) * x) - x <= (k - 1) / (k + 1).
Proof.
  intros [X0 X1] K.
  assert (KK : 0 <= k * k - 1) by nra.
  assert (D : 0 < 1 + (k * k - 1) * x) by (assert (0 <= (k * k - 1) * x) by (apply Rmult_le_pos; lra); lra).
  assert (E : (k - 1) / (k + 1) - (x * (k * k) / (1 + (k * k - 1) * x) - x)
    = (k - 1) * (1 - (k + 1) * x) * (1 - (k + 1) * x) / ((k + 1) * (1 + (k * k - 1) * x))).
  { field. split; lra. }
  assert (0 <= (k - 1) * (1 - (k + 1) * x) * (1 - (k + 1) * x) / ((k + 1) * (1 + (k * k - 1) * x))); [|lra].
  apply Rmult_le_pos; [|apply Rlt_le, Rinv_0_lt_compat; nra].
  rewrite Rmult_assoc. apply Rmult_le_pos; [lra | apply (Rle_0_sqr (1 - (k + 1) * x))].
Qed.

Lemma tanh_half delta : tanh (delta / 2) = (exp delta - 1) / (exp delta + 1).
Proof.
  unfold tanh, sinh, cosh.
  assert (P : 0 < exp (delta / 2)) by apply exp_pos.
  assert (Q : exp (- (delta / 2)) = / exp (delta / 2)) by apply exp_Ropp.
  assert (S : exp delta = exp (delta / 2) * exp (delta / 2)) by (rewrite <- exp_plus; f_equal; lra).
  rewrite Q, S. field. split; nra.
Qed.

(** Theorem 5. *)
Theorem rounding n s e c delta : (0 < n)%nat -> 0 <= delta ->
  (forall i, (i < n)%nat -> c - delta <= e i <= c + delta) ->
  total_variation n (pattern n (fun i => s i + e i)) (pattern n s) <= tanh (delta / 2).
Proof.
  intros N D E.
  destruct (pattern_distribution n s N) as [A0 A1].
  destruct (pattern_distribution n (fun i => s i + e i) N) as [B0 B1].
  set (al := pattern n s) in *. set (be := pattern n (fun i => s i + e i)) in *.
  rewrite total_variation_half by lra.
  set (b := fun i => if Rle_dec (al i) (be i) then true else false).
  rewrite (sum_ext n _ (fun i => if b i then be i - al i else 0))
    by (intros i _; unfold b; destruct (Rle_dec (al i) (be i)); reflexivity).
  (* the mass of the places that gain, before and after *)
  set (x := sum n (fun i => if b i then al i else 0)).
  set (y := sum n (fun i => if b i then al i * exp (e i - c) else 0)).
  set (z := sum n (fun i => if b i then 0 else al i * exp (e i - c))).
  set (k := exp delta).
  assert (K : 1 <= k) by (unfold k; rewrite <- exp_0; apply exp_monotone, D).
  assert (F : forall i, be i = al i * exp (e i - c) / (y + z)).
  { intros i. unfold y, z. rewrite <- (sum_if_plus n b (fun i => al i * exp (e i - c))).
    unfold be, al, pattern.
    assert (M := mass_pos n s N). assert (M' := mass_pos n (fun i => s i + e i) N).
    assert (G : sum n (fun i => exp (s i) / mass n s * exp (e i - c)) = mass n (fun i => s i + e i) * exp (- c) / mass n s).
    { unfold mass at 2. unfold Rdiv. rewrite <- !sum_scal_r. apply sum_ext. intros j _.
      unfold Rminus. rewrite !exp_plus. ring. }
    rewrite G. unfold Rminus. rewrite !exp_plus. assert (0 < exp (- c)) by apply exp_pos. field. repeat split; lra. }
  assert (X : sum n (fun i => if b i then be i - al i else 0) = y / (y + z) - x).
  { unfold x, y at 1, Rdiv. rewrite <- sum_scal_r, <- sum_minus. apply sum_ext. intros i _.
    destruct (b i); [rewrite F; unfold Rdiv; ring | ring]. }
  rewrite X, tanh_half. fold k.
  assert (X0 : 0 <= x) by (apply sum_nonneg; intros i Hi; destruct (b i); [apply A0, Hi | lra]).
  assert (XS : 1 = x + sum n (fun i => if b i then 0 else al i)) by (unfold x; rewrite <- sum_if_plus; symmetry; exact A1).
  assert (X1 : 0 <= sum n (fun i => if b i then 0 else al i))
    by (apply sum_nonneg; intros i Hi; destruct (b i); [lra | apply A0, Hi]).
  assert (Y : 0 <= y <= x * k).
  { split.
    - apply sum_nonneg. intros i Hi. destruct (b i); [|lra].
      apply Rmult_le_pos; [apply A0, Hi | apply Rlt_le, exp_pos].
    - unfold x. rewrite <- sum_scal_r. apply sum_le. intros i Hi. destruct (b i); [|lra].
      apply Rmult_le_compat_l; [apply A0, Hi|]. apply exp_monotone. destruct (E i Hi). lra. }
  assert (Z : (1 - x) * / k <= z).
  { replace (1 - x) with (sum n (fun i => if b i then 0 else al i)) by lra.
    unfold z. rewrite <- sum_scal_r. apply sum_le. intros i Hi. destruct (b i); [lra|].
    unfold k. rewrite <- exp_Ropp. apply Rmult_le_compat_l; [apply A0, Hi|]. apply exp_monotone. destruct (E i Hi). lra. }
  apply Rle_trans with (2 := worst_split x k ltac:(lra) K). apply Rplus_le_compat_r.
  assert (IK : 0 < / k) by (apply Rinv_0_lt_compat; lra).
  assert (KK : k * / k = 1) by (apply Rinv_r; lra).
  destruct (Req_dec x 0) as [Zx|Nx].
  - replace y with 0 by nra. rewrite Zx. unfold Rdiv. rewrite !Rmult_0_l. lra.
  - assert (D1 : 0 < x * k + (1 - x) * / k) by nra.
    apply Rle_trans with (x * k / (x * k + (1 - x) * / k)).
    + (* y / (y + z) grows with y and falls with z *)
      destruct (Req_dec y 0) as [Zy|Ny].
      * rewrite Zy. unfold Rdiv at 1. rewrite Rmult_0_l.
        apply Rmult_le_pos; [nra | apply Rlt_le, Rinv_0_lt_compat, D1].
      * assert (0 <= (1 - x) * / k) by nra.
        assert (D2 : 0 < y + z) by nra.
        apply Rmult_le_reg_r with ((y + z) * (x * k + (1 - x) * / k)); [nra|].
        replace (y / (y + z) * ((y + z) * (x * k + (1 - x) * / k))) with (y * (x * k + (1 - x) * / k)) by (field; lra).
        replace (x * k / (x * k + (1 - x) * / k) * ((y + z) * (x * k + (1 - x) * / k))) with (x * k * (y + z)) by (field; split; nra).
        nra.
    + right. replace (1 + (k * k - 1) * x) with (k * (x * k + (1 - x) * / k)).
      * field. repeat split; nra.
      * rewrite Rmult_plus_distr_l. replace (k * ((1 - x) * / k)) with ((1 - x) * (k * / k)) by ring. rewrite KK. ring.
Qed.
