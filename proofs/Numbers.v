(** Numbers inside the kernel: whole numbers over a denominator by computation, exp, ln and roots in intervals of big numbers.

    Nothing is rounded but by intervals, whose every bound is proved. No primitive floats. *)

Require Import Reals Lra Lia List ZArith Bool.
From Interval Require Import Float.Specific_bigint Float.Specific_ops Interval.Float_full Interval.Interval Real.Xreal Float.Basic.
From Headwright Require Import Sums Attention Certificate.
Import ListNotations.
Open Scope R_scope.

Module Floats := SpecificFloat BigIntRadix2.
Module I := FloatIntervalFull Floats.

(** * Vectors and tables of whole numbers over a denominator *)

Definition row (e : Z) (l : list Z) : vector := fun x => IZR (nth x l 0%Z) / IZR e.
Definition table (e : Z) (rows : list (list Z)) : keys := fun i => row e (nth i rows []).

Fixpoint sum_list {A} (f : A -> R) (l : list A) : R :=
  match l with
  | [] => 0
  | x :: rest => f x + sum_list f rest
  end.

Lemma sum_first n f : sum (S n) f = f 0%nat + sum n (fun i => f (S i)).
Proof. induction n as [|n IH]; [simpl; ring|]. change (sum (S (S n)) f) with (sum (S n) f + f (S n)). rewrite IH. simpl. ring. Qed.

Lemma sum_nth {A} (l : list A) z f : sum (length l) (fun i => f (nth i l z)) = sum_list f l.
Proof. induction l as [|x l IH]; [reflexivity|]. simpl length. rewrite sum_first. simpl. rewrite IH. reflexivity. Qed.

Fixpoint dot_Z (a b : list Z) : Z :=
  match a, b with
  | x :: a, y :: b => (x * y + dot_Z a b)%Z
  | _, _ => 0%Z
  end.

Lemma dot_rows d e f a b : length a = d -> length b = d -> IZR e <> 0 -> IZR f <> 0 ->
  dot d (row e a) (row f b) = IZR (dot_Z a b) / (IZR e * IZR f).
Proof.
  intros La Lb He Hf. revert d b La Lb. induction a as [|x a IH]; intros d b La Lb.
  - subst d. unfold dot. simpl. unfold Rdiv. ring.
  - destruct d as [|d]; [discriminate|]. destruct b as [|y b]; [discriminate|].
    injection La as La. injection Lb as Lb. assert (H := IH d b La Lb). clear IH.
    unfold dot in *. rewrite sum_first.
    rewrite (sum_ext d _ (fun i => row e a i * row f b i)) by (intros; reflexivity).
    rewrite H. unfold row. simpl. rewrite plus_IZR, mult_IZR. field. split; assumption.
Qed.

(** * What intervals prove *)

Definition holds (b : bool) : Prop := b = true.
Definition encloses (i : I.type) (x : R) : Prop := contains (I.convert i) (Xreal x).

Definition not_negative (i : I.type) : bool := match I.sign_large i with Xgt | Xeq => true | _ => false end.
Definition positive (i : I.type) : bool := match I.sign_strict i with Xgt => true | _ => false end.

Lemma not_negative_correct i x : encloses i x -> not_negative i = true -> 0 <= x.
Proof.
  unfold not_negative. intros C. assert (H := I.sign_large_correct i). destruct (I.sign_large i); try discriminate; intros _.
  - apply H in C. injection C as ->. lra.
  - apply H in C. apply C.
Qed.

Lemma positive_correct i x : encloses i x -> positive i = true -> 0 < x.
Proof.
  unfold positive. intros C. assert (H := I.sign_strict_correct i). destruct (I.sign_strict i); try discriminate; intros _.
  apply H in C. apply C.
Qed.

Section Intervals.
  Variable prec : Floats.precision.

  Definition ratio (a b : Z) : I.type := I.div prec (I.fromZ prec a) (I.fromZ prec b).

  Lemma add_encloses i j x y : encloses i x -> encloses j y -> encloses (I.add prec i j) (x + y).
  Proof. intros A B. apply (I.add_correct prec i j (Xreal x) (Xreal y) A B). Qed.

  Lemma sub_encloses i j x y : encloses i x -> encloses j y -> encloses (I.sub prec i j) (x - y).
  Proof. intros A B. apply (I.sub_correct prec i j (Xreal x) (Xreal y) A B). Qed.

  Lemma mul_encloses i j x y : encloses i x -> encloses j y -> encloses (I.mul prec i j) (x * y).
  Proof. intros A B. apply (I.mul_correct prec i j (Xreal x) (Xreal y) A B). Qed.

  Lemma exp_encloses i x : encloses i x -> encloses (I.exp prec i) (exp x).
  Proof. intros A. apply (I.exp_correct prec i (Xreal x) A). Qed.

  Lemma Z_encloses a : encloses (I.fromZ prec a) (IZR a).
  Proof. apply I.fromZ_correct. Qed.

  Lemma div_encloses i j x y : y <> 0 -> encloses i x -> encloses j y -> encloses (I.div prec i j) (x / y).
  Proof.
    intros N A B. assert (H := I.div_correct prec i j (Xreal x) (Xreal y) A B).
    unfold encloses. simpl in H. unfold Xdiv' in H. rewrite is_zero_false in H by assumption. exact H.
  Qed.

  Lemma ratio_encloses a b : IZR b <> 0 -> encloses (ratio a b) (IZR a / IZR b).
  Proof. intros N. apply div_encloses; [assumption | apply Z_encloses | apply Z_encloses]. Qed.

  Lemma ln_encloses i x : 0 < x -> encloses i x -> encloses (I.ln prec i) (ln x).
  Proof.
    intros P A. assert (H := I.ln_correct prec i (Xreal x) A). unfold encloses.
    simpl in H. unfold Xln' in H. rewrite is_positive_true in H by assumption. exact H.
  Qed.

  Lemma sqrt_encloses i x : encloses i x -> encloses (I.sqrt prec i) (sqrt x).
  Proof. intros A. apply (I.sqrt_correct prec i (Xreal x) A). Qed.

  Lemma zero_encloses : encloses I.zero 0.
  Proof. unfold encloses. rewrite I.zero_correct. split; apply Rle_refl. Qed.
End Intervals.

(** * Lists of whole numbers as vectors *)

Fixpoint plus_Z (a b : list Z) : list Z :=
  match a, b with
  | x :: a, y :: b => (x + y)%Z :: plus_Z a b
  | _, _ => []
  end.
Definition times_Z (z : Z) (a : list Z) : list Z := map (Z.mul z) a.
Definition sum_Z (l : list Z) : Z := fold_right Z.add 0%Z l.

(** sum_i w_i row_i, of d numbers. *)
Fixpoint mixed (d : nat) (w : list Z) (rows : list (list Z)) : list Z :=
  match w, rows with
  | z :: w, r :: rows => plus_Z (times_Z z r) (mixed d w rows)
  | _, _ => repeat 0%Z d
  end.

Lemma nth_plus a b x : length a = length b -> nth x (plus_Z a b) 0%Z = (nth x a 0 + nth x b 0)%Z.
Proof.
  revert b x. induction a as [|y a IH]; intros [|z b] x H; try discriminate; [destruct x; reflexivity|].
  injection H as H. destruct x; [reflexivity|]. simpl. apply IH. exact H.
Qed.

Lemma length_plus a b : length a = length b -> length (plus_Z a b) = length a.
Proof. revert b. induction a as [|y a IH]; intros [|z b] H; try discriminate; [reflexivity|]. simpl. f_equal. apply IH. injection H as H. exact H. Qed.

Lemma nth_times z a x : nth x (times_Z z a) 0%Z = (z * nth x a 0)%Z.
Proof. unfold times_Z. rewrite <- (map_nth (Z.mul z)), Z.mul_0_r. reflexivity. Qed.

Lemma length_times z a : length (times_Z z a) = length a.
Proof. apply map_length. Qed.

Lemma nth_zeros d x : nth x (repeat 0%Z d) 0%Z = 0%Z.
Proof. destruct (nth_in_or_default x (repeat 0%Z d) 0%Z) as [H|H]; [apply repeat_spec in H|]; exact H. Qed.

Lemma mixed_spec d w rows : length w = length rows -> Forall (fun r => length r = d) rows ->
  length (mixed d w rows) = d /\ forall x, IZR (nth x (mixed d w rows) 0%Z)
    = sum (length rows) (fun i => IZR (nth i w 0%Z) * IZR (nth x (nth i rows []) 0%Z)).
Proof.
  revert rows. induction w as [|z w IH]; intros [|r rows] L F; try discriminate.
  - split; [apply repeat_length | intros x; simpl; rewrite nth_zeros; reflexivity].
  - injection L as L. inversion F as [|? ? Fr F']; subst. destruct (IH rows L F') as [L' S].
    assert (E : length (times_Z z r) = length (mixed (length r) w rows)) by (rewrite length_times, L'; reflexivity).
    split; [simpl; rewrite length_plus, length_times by assumption; reflexivity|].
    intros x. simpl mixed. rewrite nth_plus, plus_IZR, S, nth_times, mult_IZR by assumption.
    simpl length. rewrite sum_first. reflexivity.
Qed.

Lemma sum_Z_sum w : IZR (sum_Z w) = sum (length w) (fun i => IZR (nth i w 0%Z)).
Proof. rewrite (sum_nth w 0%Z IZR). induction w as [|z w IH]; [reflexivity|]. simpl. rewrite plus_IZR, IH. reflexivity. Qed.

Lemma dot_Z_sum w l : IZR (dot_Z w l) = sum (length w) (fun i => IZR (nth i w 0%Z) * IZR (nth i l 0%Z)).
Proof.
  revert l. induction w as [|z w IH]; intros l; [reflexivity|]. simpl length. rewrite sum_first. destruct l as [|y l].
  - simpl. rewrite (sum_ext (length w) _ (fun _ => 0)) by (intros; ring). rewrite sum_zero. ring.
  - simpl. rewrite plus_IZR, mult_IZR, IH. reflexivity.
Qed.

(** * Names for what is positive *)

Lemma ratio_pos a b : (0 < a)%Z -> (0 < b)%Z -> 0 < IZR a / IZR b.
Proof. intros A B. apply Rdiv_lt_0_compat; apply (IZR_lt 0); assumption. Qed.

Lemma IZR_pos a : (0 < a)%Z -> 0 < IZR a.
Proof. apply (IZR_lt 0). Qed.
