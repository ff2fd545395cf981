(** Finite sums of reals, and vectors as functions from indices: all that the theorems are stated with. *)

Require Import Reals Lra Lia.
Open Scope R_scope.

(** f 0 + f 1 + ... + f (n - 1). *)
Fixpoint sum (n : nat) (f : nat -> R) : R :=
  match n with
  | O => 0
  | S m => sum m f + f m
  end.

Lemma sum_ext n f g : (forall i, (i < n)%nat -> f i = g i) -> sum n f = sum n g.
Proof.
  induction n as [|n IH]; simpl; intros H; [reflexivity|].
  rewrite IH; [rewrite H by lia; reflexivity | intros; apply H; lia].
Qed.

Lemma sum_le n f g : (forall i, (i < n)%nat -> f i <= g i) -> sum n f <= sum n g.
Proof.
  induction n as [|n IH]; simpl; intros H; [lra|].
  apply Rplus_le_compat; [apply IH; intros; apply H; lia | apply H; lia].
Qed.

Lemma sum_zero n : sum n (fun _ => 0) = 0.
Proof. induction n; simpl; lra. Qed.

Lemma sum_nonneg n f : (forall i, (i < n)%nat -> 0 <= f i) -> 0 <= sum n f.
Proof. intros H. rewrite <- (sum_zero n). apply sum_le; auto. Qed.

Lemma sum_plus n f g : sum n (fun i => f i + g i) = sum n f + sum n g.
Proof. induction n; simpl; lra. Qed.

Lemma sum_minus n f g : sum n (fun i => f i - g i) = sum n f - sum n g.
Proof. induction n; simpl; lra. Qed.

Lemma sum_scal n c f : sum n (fun i => c * f i) = c * sum n f.
Proof. induction n as [|n IH]; simpl; [ring | rewrite IH; ring]. Qed.

Lemma sum_scal_r n c f : sum n (fun i => f i * c) = sum n f * c.
Proof. induction n as [|n IH]; simpl; [ring | rewrite IH; ring]. Qed.

Lemma sum_swap n m f : sum n (fun i => sum m (fun j => f i j)) = sum m (fun j => sum n (fun i => f i j)).
Proof.
  induction n as [|n IH]; simpl.
  - symmetry; apply sum_zero.
  - rewrite IH, <- sum_plus. reflexivity.
Qed.

Lemma sum_const n c : sum n (fun _ => c) = INR n * c.
Proof.
  induction n as [|n IH]; [simpl; ring|].
  change (sum (S n) (fun _ : nat => c)) with (sum n (fun _ => c) + c). rewrite IH, S_INR. ring.
Qed.

(** One term of a sum of terms that are not negative is not above the sum. *)
Lemma sum_term n f i : (i < n)%nat -> (forall j, (j < n)%nat -> 0 <= f j) -> f i <= sum n f.
Proof.
  induction n as [|n IH]; simpl; intros Hi H; [lia|].
  destruct (Nat.eq_dec i n) as [->|].
  - assert (0 <= sum n f) by (apply sum_nonneg; intros; apply H; lia). lra.
  - assert (f i <= sum n f) by (apply IH; [lia | intros; apply H; lia]). assert (0 <= f n) by (apply H; lia). lra.
Qed.

Lemma sum_pos n f : (0 < n)%nat -> (forall i, (i < n)%nat -> 0 < f i) -> 0 < sum n f.
Proof.
  intros Hn H. apply Rlt_le_trans with (f 0%nat); [apply H; lia|].
  apply sum_term; [lia | intros; apply Rlt_le, H; lia].
Qed.

(** A sum with the term at a taken out. *)
Lemma sum_split n f a : (a < n)%nat -> sum n f = f a + sum n (fun i => if Nat.eqb i a then 0 else f i).
Proof.
  induction n as [|n IH]; simpl; intros Ha; [lia|].
  destruct (Nat.eq_dec a n) as [->|].
  - rewrite Nat.eqb_refl. rewrite (sum_ext n (fun i => if Nat.eqb i n then 0 else f i) f); [ring|].
    intros i Hi. replace (Nat.eqb i n) with false; [reflexivity | symmetry; apply Nat.eqb_neq; lia].
  - rewrite IH by lia. replace (Nat.eqb n a) with false; [ring | symmetry; apply Nat.eqb_neq; lia].
Qed.

(** Vectors of d numbers. *)
Definition vector := nat -> R.
Definition dot (d : nat) (x y : vector) : R := sum d (fun i => x i * y i).
Definition norm (d : nat) (x : vector) : R := sqrt (dot d x x).

Lemma dot_self d x : 0 <= dot d x x.
Proof. apply sum_nonneg; intros i _. apply (Rle_0_sqr (x i)). Qed.

Lemma dot_sum d n q (k : nat -> vector) (w : nat -> R) :
  sum n (fun i => w i * dot d q (k i)) = dot d q (fun m => sum n (fun i => w i * k i m)).
Proof.
  unfold dot.
  rewrite (sum_ext n _ (fun i => sum d (fun m => w i * (q m * k i m)))) by (intros; rewrite sum_scal; reflexivity).
  rewrite sum_swap. apply sum_ext; intros m _.
  rewrite <- sum_scal. apply sum_ext; intros; ring.
Qed.

Lemma dot_minus d q x y : dot d q (fun m => x m - y m) = dot d q x - dot d q y.
Proof. unfold dot. rewrite <- sum_minus. apply sum_ext; intros; ring. Qed.

Lemma cauchy_schwarz_sq d x y : dot d x y * dot d x y <= dot d x x * dot d y y.
Proof.
  set (a := dot d x x). set (b := dot d x y). set (c := dot d y y).
  assert (P : forall s t, 0 <= s * s * a + 2 * s * t * b + t * t * c).
  { intros s t. replace (s * s * a + 2 * s * t * b + t * t * c)
      with (dot d (fun i => s * x i + t * y i) (fun i => s * x i + t * y i)).
    - apply dot_self.
    - unfold a, b, c, dot. rewrite <- !sum_scal, <- !sum_plus. apply sum_ext; intros; ring. }
  assert (0 <= a) by apply dot_self. assert (0 <= c) by apply dot_self.
  destruct (Rle_lt_or_eq_dec 0 c) as [Hc|Hc]; [assumption| |].
  - assert (Q := P c (- b)). assert (0 <= c * (a * c - b * b)) by nra.
    assert (0 <= a * c - b * b); [|lra].
    destruct (Rle_or_lt 0 (a * c - b * b)); [assumption | exfalso; nra].
  - assert (Z : b = 0).
    { destruct (Req_dec b 0) as [|N]; [assumption | exfalso].
      assert (Q := P 1 (- (a + 1) / (2 * b))). rewrite <- Hc in Q.
      replace (1 * 1 * a + 2 * 1 * (- (a + 1) / (2 * b)) * b + - (a + 1) / (2 * b) * (- (a + 1) / (2 * b)) * 0)
        with (- 1) in Q by (field; assumption). lra. }
    rewrite Z, <- Hc. lra.
Qed.

Theorem cauchy_schwarz d x y : dot d x y <= norm d x * norm d y.
Proof.
  unfold norm. rewrite <- sqrt_mult by apply dot_self.
  apply Rle_trans with (Rabs (dot d x y)); [apply Rle_abs|].
  rewrite <- sqrt_Rsqr_abs. apply sqrt_le_1_alt. apply cauchy_schwarz_sq.
Qed.
