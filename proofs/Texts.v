(** For every text: the extremes of a weight over independent choices are attained place by place. *)

Require Import Reals Lra Lia Bool.
From Headwright Require Import Sums Attention.
Open Scope R_scope.

(** The weight on the places where w is true, of n places with these scores. *)
Definition weight_on (n : nat) (w : nat -> bool) (s : nat -> R) : R :=
  sum n (fun j => if w j then pattern n s j else 0).

Definition inside (n : nat) (w : nat -> bool) (s : nat -> R) : R := sum n (fun j => if w j then exp (s j) else 0).

Lemma weight_split n w s : (0 < n)%nat ->
  weight_on n w s = inside n w s / (inside n w s + inside n (fun j => negb (w j)) s).
Proof.
  intros N.
  assert (M : mass n s = inside n w s + inside n (fun j => negb (w j)) s).
  { unfold mass, inside. rewrite <- sum_plus. apply sum_ext. intros j _. destruct (w j); simpl; ring. }
  rewrite <- M. unfold weight_on, inside, pattern, Rdiv. rewrite <- sum_scal_r.
  apply sum_ext. intros j _. destruct (w j); ring.
Qed.

Lemma inside_nonneg n w s : 0 <= inside n w s.
Proof. apply sum_nonneg. intros j _. destruct (w j); [apply Rlt_le, exp_pos | lra]. Qed.

Lemma inside_monotone n w s s' : (forall j, (j < n)%nat -> w j = true -> s j <= s' j) -> inside n w s <= inside n w s'.
Proof.
  intros H. apply sum_le. intros j Hj. destruct (w j) eqn:E; [apply exp_monotone, H; assumption | lra].
Qed.

(** Theorem 4, the inequality: lower scores on the places asked about and higher ones elsewhere make the weight less. *)
Theorem weight_monotone n w s s' : (0 < n)%nat ->
  (forall j, (j < n)%nat -> w j = true -> s j <= s' j) ->
  (forall j, (j < n)%nat -> w j = false -> s' j <= s j) ->
  weight_on n w s <= weight_on n w s'.
Proof.
  intros N L H. rewrite !weight_split by assumption.
  assert (A := inside_monotone n w s s' L).
  assert (B : inside n (fun j => negb (w j)) s' <= inside n (fun j => negb (w j)) s).
  { apply inside_monotone. intros j Hj W. apply H; [assumption | destruct (w j); [discriminate | reflexivity]]. }
  assert (P : forall s0, 0 < inside n w s0 + inside n (fun j => negb (w j)) s0).
  { intros s0. replace (inside n w s0 + inside n (fun j => negb (w j)) s0) with (mass n s0); [apply mass_pos, N|].
    unfold mass, inside. rewrite <- sum_plus. apply sum_ext. intros j _. destruct (w j); simpl; ring. }
  assert (Q := P s). assert (Q' := P s').
  assert (A0 := inside_nonneg n w s). assert (B0 := inside_nonneg n (fun j => negb (w j)) s').
  apply Rmult_le_reg_r with ((inside n w s + inside n (fun j => negb (w j)) s)
                             * (inside n w s' + inside n (fun j => negb (w j)) s')); [nra|].
  unfold Rdiv. field_simplify; [nra | lra | lra].
Qed.

(** Theorem 4: over all texts (a token of V at each of n places, s j b the score of token b at place j), the text that
    holds a lowest-scoring token at the places asked about and a highest-scoring one elsewhere attains the least weight. *)
Theorem least_weight (V : Type) n w (s : nat -> V -> R) (worst : nat -> V) : (0 < n)%nat ->
  (forall j, (j < n)%nat -> w j = true -> forall b, s j (worst j) <= s j b) ->
  (forall j, (j < n)%nat -> w j = false -> forall b, s j b <= s j (worst j)) ->
  forall text : nat -> V, weight_on n w (fun j => s j (worst j)) <= weight_on n w (fun j => s j (text j)).
Proof. intros N L H text. apply weight_monotone; auto. Qed.

Theorem most_weight (V : Type) n w (s : nat -> V -> R) (best : nat -> V) : (0 < n)%nat ->
  (forall j, (j < n)%nat -> w j = true -> forall b, s j b <= s j (best j)) ->
  (forall j, (j < n)%nat -> w j = false -> forall b, s j (best j) <= s j b) ->
  forall text : nat -> V, weight_on n w (fun j => s j (text j)) <= weight_on n w (fun j => s j (best j)).
Proof. intros N L H text. apply weight_monotone; auto. Qed.
