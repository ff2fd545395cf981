(** The core of `ranges`: what a projection of a normed vector can be, whatever the norm has read.
   docs/explanation/ranges.md. *)

Require Import Reals Lra Lia.
From Headwright Require Import Sums Uncertainty.
Open Scope R_scope.

Lemma norm_nonneg d x : 0 <= norm d x.
Proof. apply sqrt_pos. Qed.

Lemma norm_sq d x : norm d x * norm d x = dot d x x.
Proof. apply sqrt_sqrt, dot_self. Qed.

Lemma dot_scal d c x : dot d (fun i => c * x i) (fun i => c * x i) = c * c * dot d x x.
Proof. unfold dot. rewrite <- sum_scal. apply sum_ext. intros. ring. Qed.

(* The mean of squares, and what RMSNorm makes of a vector before its gain. *)
Definition mean_square (d : nat) (h : vector) : R := dot d h h / INR d.
Definition rms (d : nat) (eps : R) (h : vector) : vector := fun j => h j / sqrt (mean_square d h + eps).

(** What RMSNorm returns has a length of at most sqrt d, whatever it has read. *)
Theorem rms_length d eps h : (0 < d)%nat -> 0 < eps -> norm d (rms d eps h) <= sqrt (INR d).
Proof.
  intros D E. assert (P : 0 < INR d) by (apply lt_0_INR, D).
  assert (S := dot_self d h).
  assert (M : 0 <= mean_square d h).
  { apply Rmult_le_pos; [exact S | left; apply Rinv_0_lt_compat, P]. }
  set (r := sqrt (mean_square d h + eps)).
  assert (R0 : 0 < r) by (apply sqrt_lt_R0; lra).
  assert (RR : r * r = mean_square d h + eps) by (apply sqrt_sqrt; lra).
  apply sqrt_le_1_alt. unfold rms. fold r.
  replace (dot d (fun j => h j / r) (fun j => h j / r)) with (/ r * / r * dot d h h).
  2: { rewrite <- dot_scal. apply sum_ext. intros. unfold Rdiv. ring. }
  (* |h|^2 = d m, and m <= m + eps. *)
  assert (H : dot d h h = INR d * mean_square d h) by (unfold mean_square; field; lra).
  apply (Rmult_le_reg_l (r * r)); [apply Rmult_lt_0_compat; assumption|].
  replace (r * r * (/ r * / r * dot d h h)) with (dot d h h) by (field; lra).
  rewrite RR, H. nra.
Qed.

(* LayerNorm is RMSNorm of the vector less its mean. *)
Definition less_mean (d : nat) (h : vector) : vector := fun j => h j - sum d h / INR d.
Definition layer_norm (d : nat) (eps : R) (h : vector) : vector := rms d eps (less_mean d h).

Lemma less_mean_sum d h : (0 < d)%nat -> sum d (less_mean d h) = 0.
Proof.
  intros D. assert (P : 0 < INR d) by (apply lt_0_INR, D).
  unfold less_mean. rewrite sum_minus, sum_const. field. lra.
Qed.

(** Its numbers add up to 0, so that a row of weights may be replaced by the row less any number. *)
Theorem layer_norm_rows d eps h a c : (0 < d)%nat ->
  dot d (fun j => a j - c) (layer_norm d eps h) = dot d a (layer_norm d eps h).
Proof.
  intros D. set (u := layer_norm d eps h).
  assert (Z : sum d u = 0).
  { unfold u, layer_norm, rms. unfold Rdiv. rewrite sum_scal_r, less_mean_sum by assumption. ring. }
  unfold dot. rewrite (sum_ext d _ (fun j => a j * u j - c * u j)) by (intros; ring).
  rewrite sum_minus, sum_scal, Z. ring.
Qed.

(** A channel: a projection w of gain times u plus beta, with a bias c, is at most R |w gain| + |w beta + c|. *)
Theorem channel_bound d rho (w gain beta u : vector) c : norm d u <= rho ->
  Rabs (dot d w (fun j => gain j * u j + beta j) + c)
    <= rho * norm d (fun j => w j * gain j) + Rabs (dot d w beta + c).
Proof.
  intros U.
  replace (dot d w (fun j => gain j * u j + beta j) + c)
    with (dot d (fun j => w j * gain j) u + (dot d w beta + c)).
  2: { rewrite <- Rplus_assoc. f_equal. unfold dot. rewrite <- sum_plus. apply sum_ext. intros. ring. }
  eapply Rle_trans; [apply Rabs_triang|]. apply Rplus_le_compat_r.
  eapply Rle_trans; [apply abs_dot|]. rewrite Rmult_comm.
  apply Rmult_le_compat_r; [apply norm_nonneg | exact U].
Qed.

(** After RMSNorm, on every text: sqrt d |w gain| + |c|. *)
Theorem channel_after_rms d eps h (w gain : vector) c : (0 < d)%nat -> 0 < eps ->
  Rabs (dot d w (fun j => gain j * rms d eps h j) + c) <= sqrt (INR d) * norm d (fun j => w j * gain j) + Rabs c.
Proof.
  intros D E.
  assert (B := channel_bound d (sqrt (INR d)) w gain (fun _ => 0) _ c (rms_length d eps h D E)).
  cbv beta in B.
  assert (X : dot d w (fun j => gain j * rms d eps h j + 0) = dot d w (fun j => gain j * rms d eps h j)).
  { apply sum_ext. intros. ring. }
  rewrite X in B. clear X.
  replace (dot d w (fun _ => 0)) with 0 in B.
  2: { unfold dot. rewrite (sum_ext d _ (fun _ => 0)) by (intros; ring). symmetry. apply sum_zero. }
  rewrite Rplus_0_l in B. exact B.
Qed.

(** The largest eigenvalue of [p r; r q], by the formula. *)
Definition largest_eigenvalue (p q r : R) : R := (p + q) / 2 + sqrt ((p - q) / 2 * ((p - q) / 2) + r * r).

Lemma eigenvalue_form p q r s t :
  p * (s * s) + 2 * r * (s * t) + q * (t * t) <= largest_eigenvalue p q r * (s * s + t * t).
Proof.
  unfold largest_eigenvalue. set (m := (p - q) / 2). set (z := sqrt (m * m + r * r)).
  assert (N : 0 <= m * m + r * r) by nra.
  assert (Z0 : 0 <= z) by apply sqrt_pos.
  assert (ZZ : z * z = m * m + r * r) by (apply sqrt_sqrt, N).
  (* p = (p + q) / 2 + m and q = (p + q) / 2 - m: what is left is m (s^2 - t^2) + 2 r s t <= z (s^2 + t^2). *)
  assert (K : m * (s * s - t * t) + r * (2 * (s * t)) <= z * (s * s + t * t)).
  { apply Rsqr_incr_0_var; [|nra]. unfold Rsqr.
    assert (0 <= (m * (2 * (s * t)) - r * (s * s - t * t)) * (m * (2 * (s * t)) - r * (s * s - t * t)))
      by apply Rle_0_sqr.
    replace (z * (s * s + t * t) * (z * (s * s + t * t)))
      with ((m * m + r * r) * ((s * s + t * t) * (s * s + t * t))) by (rewrite <- ZZ; ring).
    nra. }
  unfold m in K. unfold m. nra.
Qed.

(** A pair of channels of a linear map has at most the length sigma |u|, sigma its largest singular value: the root of
   the largest eigenvalue of its two rows' Gram matrix. *)
Theorem pair_length d (a b u : vector) : let y := dot d a u in let z := dot d b u in
  y * y + z * z <= largest_eigenvalue (dot d a a) (dot d b b) (dot d a b) * dot d u u.
Proof.
  intros y z. set (g := largest_eigenvalue _ _ _).
  (* y^2 + z^2 = <y a + z b, u>, whose square is at most |y a + z b|^2 |u|^2 <= g (y^2 + z^2) |u|^2. *)
  set (v := fun j => y * a j + z * b j).
  assert (V : dot d v u = y * y + z * z).
  { unfold v, dot.
    rewrite (sum_ext d (fun i => (y * a i + z * b i) * u i) (fun i => y * (a i * u i) + z * (b i * u i))).
    2: { intros. ring. }
    rewrite sum_plus, !sum_scal. reflexivity. }
  assert (W : dot d v v <= g * (y * y + z * z)).
  { replace (dot d v v) with (dot d a a * (y * y) + 2 * dot d a b * (y * z) + dot d b b * (z * z)).
    - apply eigenvalue_form.
    - unfold v, dot.
      rewrite (sum_ext d (fun i => (y * a i + z * b i) * (y * a i + z * b i))
                 (fun i => a i * a i * (y * y) + (a i * b i * (2 * (y * z)) + b i * b i * (z * z)))).
      2: { intros. ring. }
      rewrite !sum_plus, !sum_scal_r. ring. }
  assert (C := cauchy_schwarz_sq d v u). rewrite V in C.
  assert (U := dot_self d u). assert (0 <= y * y + z * z) by nra.
  destruct (Rle_lt_or_eq_dec 0 (y * y + z * z)) as [P|P]; [assumption| |].
  - apply (Rmult_le_reg_l (y * y + z * z)); [exact P|].
    apply Rle_trans with (1 := C).
    replace ((y * y + z * z) * (g * dot d u u)) with (g * (y * y + z * z) * dot d u u) by ring.
    apply Rmult_le_compat_r; assumption.
  - rewrite <- P. apply Rmult_le_pos; [|exact U].
    unfold g, largest_eigenvalue. apply Rplus_le_le_0_compat; [|apply sqrt_pos].
    assert (A := dot_self d a). assert (B := dot_self d b). lra.
Qed.

(** A rotation by any angle: each channel of the pair is afterwards at most the length of the pair. *)
Theorem rotated_channel y z co si : co * co + si * si = 1 ->
  Rabs (co * y - si * z) <= sqrt (y * y + z * z) /\ Rabs (si * y + co * z) <= sqrt (y * y + z * z).
Proof.
  intros T.
  assert (H : forall x w, x * x + w * w = y * y + z * z -> Rabs x <= sqrt (y * y + z * z)).
  { intros x w Q. rewrite <- sqrt_Rsqr_abs. apply sqrt_le_1_alt. unfold Rsqr. nra. }
  split.
  - apply (H _ (si * y + co * z)).
    replace ((co * y - si * z) * (co * y - si * z) + (si * y + co * z) * (si * y + co * z))
      with ((co * co + si * si) * (y * y + z * z)) by ring. rewrite T. ring.
  - apply (H _ (co * y - si * z)).
    replace ((si * y + co * z) * (si * y + co * z) + (co * y - si * z) * (co * y - si * z))
      with ((co * co + si * si) * (y * y + z * z)) by ring. rewrite T. ring.
Qed.

(** With a constant: A u + c is [A, c / s] times the vector (u, s), whose length is at most sqrt (rho^2 + s^2). So every
   s gives a bound. The rows here have that column as their number d. *)
Definition with_column (d : nat) (a : vector) (last : R) : vector := fun j => if Nat.eqb j d then last else a j.

Lemma dot_with_column d a b s t : dot (S d) (with_column d a s) (with_column d b t) = dot d a b + s * t.
Proof.
  unfold dot. simpl. unfold with_column at 3 4. rewrite Nat.eqb_refl. f_equal.
  apply sum_ext. intros j J. unfold with_column.
  replace (Nat.eqb j d) with false; [reflexivity | symmetry; apply Nat.eqb_neq; lia].
Qed.

Theorem pair_with_constant d rho s (a b u : vector) ca cb : 0 < s -> 0 <= rho -> norm d u <= rho ->
  let y := dot d a u + ca in let z := dot d b u + cb in
  let p := dot d a a + ca / s * (ca / s) in
  let q := dot d b b + cb / s * (cb / s) in
  let r := dot d a b + ca / s * (cb / s) in
  sqrt (y * y + z * z) <= sqrt (largest_eigenvalue p q r) * sqrt (rho * rho + s * s).
Proof.
  intros S0 P0 U y z p q r.
  assert (L := pair_length (S d) (with_column d a (ca / s)) (with_column d b (cb / s)) (with_column d u s)).
  simpl in L. rewrite !dot_with_column in L.
  fold p q r in L.
  replace (ca / s * s) with ca in L by (field; lra). replace (cb / s * s) with cb in L by (field; lra).
  fold y z in L.
  assert (N : dot d u u <= rho * rho).
  { rewrite <- norm_sq. assert (H := norm_nonneg d u). nra. }
  assert (G : 0 <= largest_eigenvalue p q r).
  { unfold largest_eigenvalue. apply Rplus_le_le_0_compat; [|apply sqrt_pos].
    assert (A := dot_self d a). assert (B := dot_self d b).
    assert (0 <= ca / s * (ca / s)) by apply Rle_0_sqr. assert (0 <= cb / s * (cb / s)) by apply Rle_0_sqr.
    unfold p, q. lra. }
  rewrite <- sqrt_mult by nra. apply sqrt_le_1_alt.
  apply Rle_trans with (1 := L). apply Rmult_le_compat_l; [exact G | lra].
Qed.

(** A head of a vector that is normed with all heads is a part of it, and not longer: from channel o on, d channels. *)
Lemma sum_part o d f : sum (o + d) f = sum o f + sum d (fun i => f (o + i)%nat).
Proof.
  induction d as [|d IH]; simpl.
  - rewrite Nat.add_0_r. ring.
  - rewrite Nat.add_succ_r. simpl. rewrite IH. ring.
Qed.

Theorem part_length o d e u : (o + d <= e)%nat -> norm d (fun i => u (o + i)%nat) <= norm e u.
Proof.
  intros E. apply sqrt_le_1_alt.
  assert (W : dot e u u = dot (o + d) u u + dot (e - (o + d)) (fun i => u (o + d + i)%nat) (fun i => u (o + d + i)%nat)).
  { unfold dot. rewrite <- sum_part. f_equal. lia. }
  assert (P : dot (o + d) u u = dot o u u + dot d (fun i => u (o + i)%nat) (fun i => u (o + i)%nat)).
  { unfold dot. apply sum_part. }
  rewrite W, P.
  assert (A := dot_self o u).
  assert (B := dot_self (e - (o + d)) (fun i => u (o + d + i)%nat)).
  lra.
Qed.

(** A key of two parts, one of a latent vector and one that is rotated: the squares of their lengths add up. *)
Theorem joined_length a b ra rb : 0 <= a -> 0 <= b -> a <= ra -> b <= rb ->
  sqrt (a * a + b * b) <= sqrt (ra * ra + rb * rb).
Proof. intros. apply sqrt_le_1_alt. nra. Qed.

(** A score: at most |q| |k|, and at most the sum over pairs of the products of their lengths. *)
Theorem score_by_lengths d scale q k rq rk : 0 <= rk -> norm d q <= rq -> norm d k <= rk ->
  Rabs (scale * dot d q k) <= Rabs scale * (rq * rk).
Proof.
  intros K0 Q K. rewrite Rabs_mult. apply Rmult_le_compat_l; [apply Rabs_pos|].
  eapply Rle_trans; [apply abs_dot|].
  apply Rmult_le_compat; try apply norm_nonneg; assumption.
Qed.

Theorem score_by_pairs n (q q' k k' : nat -> R) (lq lk : nat -> R) :
  (forall i, (i < n)%nat -> sqrt (q i * q i + q' i * q' i) <= lq i /\ sqrt (k i * k i + k' i * k' i) <= lk i) ->
  Rabs (sum n (fun i => q i * k i + q' i * k' i)) <= sum n (fun i => lq i * lk i).
Proof.
  intros H. induction n as [|n IH]; simpl; [rewrite Rabs_R0; lra|].
  eapply Rle_trans; [apply Rabs_triang|]. apply Rplus_le_compat; [apply IH; intros; apply H; lia|].
  destruct (H n ltac:(lia)) as [A B].
  (* Cauchy and Schwarz in two dimensions. *)
  apply Rle_trans with (sqrt (q n * q n + q' n * q' n) * sqrt (k n * k n + k' n * k' n)).
  - rewrite <- sqrt_mult by nra. rewrite <- sqrt_Rsqr_abs. apply sqrt_le_1_alt. unfold Rsqr.
    assert (0 <= (q n * k' n - q' n * k n) * (q n * k' n - q' n * k n)) by apply Rle_0_sqr. nra.
  - apply Rmult_le_compat; try apply sqrt_pos; assumption.
Qed.
