(** A layer without positions commutes with permutations. *)

Require Import Reals Lra Lia.
From Headwright Require Import Sums Attention.
Open Scope R_scope.

(** A permutation of n places, with its inverse. *)
Definition permutation (n : nat) (f g : nat -> nat) : Prop :=
  (forall i, (i < n)%nat -> (f i < n)%nat /\ g (f i) = i) /\ (forall i, (i < n)%nat -> (g i < n)%nat /\ f (g i) = i).

Lemma sum_indicator n a f : (a < n)%nat -> sum n (fun i => if Nat.eqb i a then f i else 0) = f a.
Proof.
  intros H. rewrite (sum_split n _ a H), Nat.eqb_refl.
  rewrite (sum_ext n _ (fun _ => 0)); [rewrite sum_zero; ring|].
  intros i _. destruct (Nat.eqb i a); reflexivity.
Qed.

Lemma sum_permutation n f g h : permutation n f g -> sum n (fun i => h (f i)) = sum n h.
Proof.
  intros [F G].
  transitivity (sum n (fun i => sum n (fun j => if Nat.eqb j (f i) then h j else 0))).
  - apply sum_ext. intros i Hi. symmetry. apply sum_indicator. apply F, Hi.
  - rewrite sum_swap. apply sum_ext. intros j Hj.
    rewrite (sum_ext n _ (fun i => if Nat.eqb i (g j) then h j else 0)).
    + apply (sum_indicator n (g j) (fun _ => h j)). apply G, Hj.
    + intros i Hi. destruct (Nat.eqb_spec j (f i)) as [->|N].
      * rewrite (proj2 (F i Hi)), Nat.eqb_refl. reflexivity.
      * destruct (Nat.eqb_spec i (g j)) as [->|]; [|reflexivity]. exfalso. apply N. symmetry. apply G, Hj.
Qed.

(** A layer: each place attends to all with scores that depend on the two rows alone, then something is done row by
    row. Linear queries, keys and values and a feed-forward part are a special case. *)
Definition layer (T : nat) (score : vector -> vector -> R) (value : vector -> vector) (after : vector -> vector -> vector)
  (X : nat -> vector) (i : nat) : vector :=
  after (X i) (fun m => sum T (fun j => pattern T (fun j => score (X i) (X j)) j * value (X j) m)).

(** Theorem 6, for each row and each entry. *)
Theorem equivariant T score value after X f g :
  permutation T f g -> (forall x y z, (forall m, y m = z m) -> after x y = after x z) ->
  forall i, (i < T)%nat -> layer T score value after (fun j => X (f j)) i = layer T score value after X (f i).
Proof.
  intros P E i Hi. unfold layer. apply E. intros m.
  set (s := fun j => score (X (f i)) (X j)).
  assert (M : mass T (fun j => s (f j)) = mass T s) by (apply (sum_permutation T f g (fun j => exp (s j))), P).
  rewrite <- (sum_permutation T f g (fun j => pattern T s j * value (X j) m) P).
  apply sum_ext. intros j _. unfold pattern. fold s. change (fun j0 => score (X (f i)) (X (f j0))) with (fun j0 => s (f j0)).
  rewrite M. reflexivity.
Qed.
