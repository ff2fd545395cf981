(** The next token in every text: ratios of sums with one choice for each place, and the margin of a logit. *)

Require Import Reals Lra Lia.
From Headwright Require Import Sums Attention.
Open Scope R_scope.

(** Each of n places has choices of a weight w and a value h, and a text chooses one for each place. Whatever l is: if
    w (h - l) is at most f at every place, the average of the values is at most l + F / W, where F is the sum of the f
    and W is no more than any sum of weights if F >= 0, and no less if F <= 0. *)
Theorem ratio_bound (V : Type) n (w h : nat -> V -> R) (l W : R) (f : nat -> R) :
  (forall i t, (i < n)%nat -> w i t * (h i t - l) <= f i) -> 0 < W ->
  forall text : nat -> V, 0 < sum n (fun i => w i (text i)) ->
  (0 <= sum n f /\ W <= sum n (fun i => w i (text i))) \/ (sum n f <= 0 /\ sum n (fun i => w i (text i)) <= W) ->
  sum n (fun i => w i (text i) * h i (text i)) / sum n (fun i => w i (text i)) <= l + sum n f / W.
Proof.
  intros H PW text P C.
  set (S := sum n (fun i => w i (text i))) in *.
  assert (E : sum n (fun i => w i (text i) * h i (text i)) - l * S <= sum n f).
  { unfold S. rewrite <- sum_scal, <- sum_minus. apply sum_le. intros i Hi.
    assert (A := H i (text i) Hi). lra. }
  assert (Q : sum n f / S <= sum n f / W).
  { apply Rmult_le_reg_r with (S * W); [nra|]. unfold Rdiv.
    replace (sum n f * / S * (S * W)) with (sum n f * W) by (field; lra).
    replace (sum n f * / W * (S * W)) with (sum n f * S) by (field; lra).
    destruct C as [[F0 L] | [F0 L]]; nra. }
  apply Rle_trans with (l + sum n f / S); [| lra].
  apply Rmult_le_reg_r with S; [assumption|]. unfold Rdiv.
  replace (sum n (fun i => w i (text i) * h i (text i)) * / S * S)
    with (sum n (fun i => w i (text i) * h i (text i))) by (field; lra).
  replace ((l + sum n f * / S) * S) with (l * S + sum n f) by (field; lra). lra.
Qed.

(** Between two numbers l0 and l1 the chord serves as well: what is above w (h - l) at both ends, in shares 1 - s and s. *)
Theorem chord (V : Type) n (w h : nat -> V -> R) (l0 l1 s : R) (f0 f1 : nat -> R) : 0 <= s <= 1 ->
  (forall i t, (i < n)%nat -> w i t * (h i t - l0) <= f0 i) ->
  (forall i t, (i < n)%nat -> w i t * (h i t - l1) <= f1 i) ->
  forall i t, (i < n)%nat -> w i t * (h i t - ((1 - s) * l0 + s * l1)) <= (1 - s) * f0 i + s * f1 i.
Proof.
  intros S H0 H1 i t I. assert (A := H0 i t I). assert (B := H1 i t I). nra.
Qed.

(** Scores g of n keys, b what the query adds itself and v k what key k adds to the logit of one token less another's.
    B and V are below b and v, and U k is above the score of k less that of j. *)
Theorem margin_bound n g j (b m B : R) (v V U : nat -> R) : (j < n)%nat ->
  B <= b -> (forall k, (k < n)%nat -> V k <= v k) -> (forall k, (k < n)%nat -> g k - g j <= U k) ->
  0 <= B + V j - m + sum n (fun k => if Nat.eqb k j then 0 else exp (U k) * Rmin 0 (B + V k - m)) ->
  m <= b + sum n (fun k => pattern n g k * v k).
Proof.
  intros J Bb Vv Ug H.
  assert (N : (0 < n)%nat) by lia. assert (M := mass_pos n g N). assert (P := exp_pos (g j)).
  assert (A : 0 <= sum n (fun k => exp (g k - g j) * (b + v k - m))).
  { rewrite (sum_split n _ j J). replace (g j - g j) with 0 by ring. rewrite exp_0.
    apply Rle_trans with (1 := H). apply Rplus_le_compat; [assert (X := Vv j J); lra|].
    apply sum_le. intros k K. destruct (Nat.eqb k j); [lra|].
    assert (L := Vv k K). assert (E := exp_monotone _ _ (Ug k K)). assert (E0 := exp_pos (g k - g j)).
    assert (R0 := Rmin_l 0 (B + V k - m)). assert (R1 := Rmin_r 0 (B + V k - m)).
    apply Rle_trans with (exp (g k - g j) * Rmin 0 (B + V k - m)); nra. }
  assert (D : sum n (fun k => exp (g k - g j) * (b + v k - m)) = (b + sum n (fun k => pattern n g k * v k) - m) * (mass n g / exp (g j))).
  { rewrite (sum_ext n _ (fun k => exp (g k) * / exp (g j) * (b - m) + pattern n g k * v k * (mass n g / exp (g j)))).
    - rewrite sum_plus, sum_scal_r, !sum_scal_r. fold (mass n g). unfold Rdiv. ring.
    - intros k _. unfold pattern. unfold Rminus at 1. rewrite exp_plus, exp_Ropp. field. lra. }
  rewrite D in A.
  assert (X : 0 < mass n g / exp (g j)) by (apply Rdiv_lt_0_compat; assumption).
  destruct (Rle_or_lt m (b + sum n (fun k => pattern n g k * v k))); [assumption | nra].
Qed.
