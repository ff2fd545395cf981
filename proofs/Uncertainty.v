(** Uncertainty as sets: ranges of scales, balls, ellipsoids; and when a query meets targets in all of one. *)

Require Import Reals Lra Lia.
From Headwright Require Import Sums Attention Certificate.
Open Scope R_scope.

(** k_i = c_i mu_i with every c_i in its range. *)
Definition scaled (n : nat) (mu : keys) (lo hi : nat -> R) : uncertainty :=
  fun k => forall i, (i < n)%nat -> exists c, lo i <= c <= hi i /\ forall x, k i x = c * mu i x.

(** k_i within r_i of mu_i. *)
Definition balls (d n : nat) (mu : keys) (r : nat -> R) : uncertainty :=
  fun k => forall i, (i < n)%nat -> norm d (fun x => k i x - mu i x) <= r i.

(** k_i = mu_i + E_i u, |u| <= 1, with E_i of e columns. *)
Definition ellipsoids (d e n : nat) (mu : keys) (E : nat -> nat -> vector) : uncertainty :=
  fun k => forall i, (i < n)%nat ->
    exists u, norm e u <= 1 /\ forall x, (x < d)%nat -> k i x = mu i x + sum e (fun y => u y * E i y x).

(** Bounds on scores are enough: the target's from below, the others' from above. *)
Theorem met_by_bounds d n scale (w : uncertainty) m t p q (high low : nat -> R) :
  (forall a, (a < m)%nat -> (t a < n)%nat /\ 0 < p a) ->
  (forall k, w k -> forall i, (i < n)%nat -> low i <= scores d scale q k i <= high i) ->
  (forall a, (a < m)%nat -> sum n (fun i => if Nat.eqb i (t a) then 0 else exp (high i - low (t a))) <= 1 / p a - 1) ->
  meets d n scale w m t p q.
Proof.
  intros T B G k K a Ha. destruct (T a Ha) as [Ht Hp].
  apply met_by_the_others; [assumption | assumption |].
  apply Rle_trans with (2 := G a Ha). apply sum_le. intros i Hi.
  destruct (Nat.eqb i (t a)); [lra|].
  destruct (B k K i Hi) as [_ U]. destruct (B k K (t a) Ht) as [L _].
  apply exp_monotone. lra.
Qed.

Lemma scaled_scores d n scale mu lo hi q k i : scaled n mu lo hi k -> (i < n)%nat ->
  Rmin (lo i * (scale * dot d q (mu i))) (hi i * (scale * dot d q (mu i))) <= scores d scale q k i
  <= Rmax (lo i * (scale * dot d q (mu i))) (hi i * (scale * dot d q (mu i))).
Proof.
  intros S Hi. destruct (S i Hi) as (c & [L U] & E).
  assert (F : scores d scale q k i = c * (scale * dot d q (mu i))).
  { unfold scores, dot. rewrite (sum_ext d _ (fun x => c * (q x * mu i x))) by (intros; rewrite E; ring).
    rewrite sum_scal. ring. }
  rewrite F. set (y := scale * dot d q (mu i)).
  destruct (Rle_or_lt 0 y); [rewrite Rmin_left, Rmax_right by nra | rewrite Rmin_right, Rmax_left by nra]; nra.
Qed.

Lemma dot_near d q x y r : norm d (fun i => y i - x i) <= r -> Rabs (dot d q y - dot d q x) <= norm d q * r.
Proof.
  intros H. rewrite <- dot_minus. assert (0 <= norm d q) by apply sqrt_pos.
  assert (C := cauchy_schwarz d q (fun i => y i - x i)).
  assert (C' := cauchy_schwarz d (fun i => - q i) (fun i => y i - x i)).
  replace (norm d (fun i => - q i)) with (norm d q) in C' by (unfold norm; f_equal; apply sum_ext; intros; ring).
  replace (dot d (fun i => - q i) (fun i => y i - x i)) with (- dot d q (fun i => y i - x i)) in C'.
  - unfold Rabs. destruct (Rcase_abs _); nra.
  - unfold dot. rewrite <- (Rmult_1_l (sum d (fun i => q i * (y i - x i)))), Ropp_mult_distr_l, <- sum_scal.
    apply sum_ext; intros; ring.
Qed.

Lemma balls_scores d n scale mu r q k i : balls d n mu r k -> (i < n)%nat ->
  scale * dot d q (mu i) - Rabs scale * norm d q * r i <= scores d scale q k i
  <= scale * dot d q (mu i) + Rabs scale * norm d q * r i.
Proof.
  intros B Hi. assert (H := dot_near d q (mu i) (k i) (r i) (B i Hi)). unfold scores.
  assert (A : Rabs (scale * dot d q (k i) - scale * dot d q (mu i)) <= Rabs scale * (norm d q * r i)).
  { rewrite <- Rmult_minus_distr_l, Rabs_mult. apply Rmult_le_compat_l; [apply Rabs_pos | assumption]. }
  unfold Rabs at 1 in A. destruct (Rcase_abs _) in A; lra.
Qed.

Lemma ellipsoid_scores d e n scale mu E q k i : ellipsoids d e n mu E k -> (i < n)%nat ->
  let reach := norm e (fun y => dot d q (E i y)) in
  scale * dot d q (mu i) - Rabs scale * reach <= scores d scale q k i <= scale * dot d q (mu i) + Rabs scale * reach.
Proof.
  intros B Hi reach. destruct (B i Hi) as (u & U & F).
  assert (D : dot d q (k i) - dot d q (mu i) = dot e u (fun y => dot d q (E i y))).
  { unfold dot at 3. rewrite (dot_sum d e q (E i) u), <- dot_minus. apply sum_ext. intros x Hx. rewrite F by assumption. ring. }
  assert (C := cauchy_schwarz e u (fun y => dot d q (E i y))).
  assert (C' := cauchy_schwarz e (fun y => - u y) (fun y => dot d q (E i y))).
  replace (norm e (fun i => - u i)) with (norm e u) in C' by (unfold norm; f_equal; apply sum_ext; intros; ring).
  replace (dot e (fun i => - u i) (fun y => dot d q (E i y))) with (- dot e u (fun y => dot d q (E i y))) in C'.
  2:{ set (z := fun y => dot d q (E i y)). unfold dot.
      rewrite <- (Rmult_1_l (sum e (fun i0 => u i0 * z i0))), Ropp_mult_distr_l, <- sum_scal. apply sum_ext; intros; ring. }
  fold reach in C, C'. assert (0 <= reach) by apply sqrt_pos. assert (0 <= norm e u) by apply sqrt_pos.
  assert (A : Rabs (dot d q (k i) - dot d q (mu i)) <= reach).
  { rewrite D. unfold Rabs. destruct (Rcase_abs _); nra. }
  assert (A' : Rabs (scale * dot d q (k i) - scale * dot d q (mu i)) <= Rabs scale * reach).
  { rewrite <- Rmult_minus_distr_l, Rabs_mult. apply Rmult_le_compat_l; [apply Rabs_pos | assumption]. }
  unfold scores. unfold Rabs at 1 in A'. destruct (Rcase_abs _) in A'; lra.
Qed.

(** All of these together: k_i = c mu_i + e + E u with c in a range, |e| <= r and |u| <= 1. *)
Record room := { lowest : R; highest : R; radius : R; columns : nat; column : nat -> vector }.

Definition around (d n : nat) (mu : keys) (s : nat -> room) : uncertainty :=
  fun k => forall i, (i < n)%nat -> exists c e u,
    lowest (s i) <= c <= highest (s i) /\ norm d e <= radius (s i) /\ norm (columns (s i)) u <= 1 /\
    forall x, (x < d)%nat -> k i x = c * mu i x + e x + sum (columns (s i)) (fun y => u y * column (s i) y x).

Lemma abs_dot d x y : Rabs (dot d x y) <= norm d x * norm d y.
Proof.
  assert (C := cauchy_schwarz d x y). assert (C' := cauchy_schwarz d (fun i => - x i) y).
  replace (norm d (fun i => - x i)) with (norm d x) in C' by (unfold norm; f_equal; apply sum_ext; intros; ring).
  replace (dot d (fun i => - x i) y) with (- dot d x y) in C'.
  - unfold Rabs. destruct (Rcase_abs _); lra.
  - unfold dot. rewrite <- (Rmult_1_l (sum d (fun i => x i * y i))), Ropp_mult_distr_l, <- sum_scal. apply sum_ext; intros; ring.
Qed.

Theorem around_scores d n scale mu s q k i : around d n mu s k -> (i < n)%nat ->
  let reach := Rabs scale * (norm d q * radius (s i) + norm (columns (s i)) (fun y => dot d q (column (s i) y))) in
  exists c, lowest (s i) <= c <= highest (s i) /\
    c * (scale * dot d q (mu i)) - reach <= scores d scale q k i <= c * (scale * dot d q (mu i)) + reach.
Proof.
  intros A Hi reach. destruct (A i Hi) as (c & e & u & C & B & U & F). exists c. split; [exact C|].
  set (far := fun y => dot d q (column (s i) y)) in *. set (m := columns (s i)) in *.
  assert (E : scores d scale q k i = c * (scale * dot d q (mu i)) + scale * (dot d q e + dot m u far)).
  { unfold scores.
    assert (X : dot d q (k i) = c * dot d q (mu i) + dot d q e + dot m u far).
    { unfold dot at 4, far. rewrite (dot_sum d m q (column (s i)) u). unfold dot. rewrite <- sum_scal, <- !sum_plus.
      apply sum_ext. intros x Hx. rewrite F by assumption. unfold m. ring. }
    rewrite X. ring. }
  assert (X : Rabs (scale * (dot d q e + dot m u far)) <= reach).
  { rewrite Rabs_mult. apply Rmult_le_compat_l; [apply Rabs_pos|].
    apply Rle_trans with (1 := Rabs_triang _ _).
    assert (Y := abs_dot d q e). assert (Z := abs_dot m u far).
    assert (0 <= norm d q) by apply sqrt_pos. assert (0 <= norm m far) by apply sqrt_pos. assert (0 <= norm m u) by apply sqrt_pos.
    assert (norm d q * norm d e <= norm d q * radius (s i)) by (apply Rmult_le_compat_l; assumption).
    assert (norm m u * norm m far <= 1 * norm m far) by (apply Rmult_le_compat_r; assumption). lra. }
  rewrite E. unfold Rabs at 1 in X. destruct (Rcase_abs _) in X; lra.
Qed.
