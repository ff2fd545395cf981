(** Several heads at once, and whole heads: the same bound where queries act together, or a matrix takes their place. *)

Require Import Reals Lra Lia Bool.
From Headwright Require Import Sums Attention Certificate.
Open Scope R_scope.

(** The sum over the places where u is true. *)
Definition sum_in (n : nat) (u : nat -> bool) (f : nat -> R) : R := sum n (fun i => if u i then f i else 0).

Lemma sum_in_nonneg n u f : (forall i, 0 <= f i) -> 0 <= sum_in n u f.
Proof. intros H. apply sum_nonneg. intros i _. destruct (u i); [apply H | lra]. Qed.

(** Theorem 1 among some of the keys. *)
Lemma gibbs_within n u s p : distribution n p -> (forall i, (i < n)%nat -> u i = false -> p i = 0) ->
  sum n (fun i => p i * s i) + entropy n p <= ln (sum_in n u (fun i => exp (s i))).
Proof.
  intros [P T] Z.
  set (m := sum_in n u (fun i => exp (s i))).
  assert (M : 0 < m).
  { assert (M0 : 0 <= m) by (apply sum_in_nonneg; intros; apply Rlt_le, exp_pos).
    destruct M0 as [|M0]; [assumption | exfalso].
    assert (E : sum n p = sum n (fun _ => 0)).
    { apply sum_ext. intros i Hi. destruct (u i) eqn:U; [exfalso | apply Z; assumption].
      assert (Q : (if u i then exp (s i) else 0) <= m).
      { apply (sum_term n (fun i => if u i then exp (s i) else 0) i Hi).
        intros j _. destruct (u j); [apply Rlt_le, exp_pos | lra]. }
      rewrite U in Q. assert (0 < exp (s i)) by apply exp_pos. lra. }
    rewrite T, sum_zero in E. lra. }
  assert (E : sum n (fun i => p i * (s i - ln m - ln (p i))) <= sum n (fun i => (if u i then exp (s i) else 0) / m - p i)).
  { apply sum_le. intros i Hi. destruct (P i Hi) as [Hp|Hp].
    - destruct (u i) eqn:U; [|rewrite (Z i Hi U) in Hp; lra].
      assert (Q := ln_le_minus_one (exp (s i) / m / p i)
        ltac:(repeat (apply Rdiv_lt_0_compat; [|assumption]); apply exp_pos)).
      unfold Rdiv in Q. rewrite !ln_mult, ln_exp, !ln_Rinv in Q; try assumption; try apply exp_pos;
        try (apply Rinv_0_lt_compat; assumption);
        try (apply Rmult_lt_0_compat; [apply exp_pos | apply Rinv_0_lt_compat; assumption]).
      apply Rmult_le_compat_l with (r := p i) in Q; [|lra].
      replace (p i * (exp (s i) * / m * / p i - 1)) with (exp (s i) / m - p i) in Q by (field; lra).
      unfold Rminus in *. lra.
    - rewrite <- Hp. destruct (u i); [|lra].
      assert (0 < exp (s i) / m) by (apply Rdiv_lt_0_compat; [apply exp_pos | assumption]). lra. }
  assert (F : sum n (fun i => p i * (s i - ln m - ln (p i))) = sum n (fun i => p i * s i) - ln m + entropy n p).
  { unfold entropy. rewrite (sum_ext n _ (fun i => p i * s i - p i * ln m - p i * ln (p i))) by (intros; ring).
    rewrite !sum_minus, sum_scal_r, T. ring. }
  assert (G : sum n (fun i => (if u i then exp (s i) else 0) / m - p i) = 0).
  { rewrite sum_minus, T. unfold Rdiv. rewrite sum_scal_r. fold (sum_in n u (fun i => exp (s i))). fold m.
    rewrite Rinv_r; lra. }
  lra.
Qed.

(** Of numbers whose mean is at least P, one is. *)
Lemma one_reaches h w P : (0 < h)%nat -> INR h * P <= sum h w -> exists i, (i < h)%nat /\ P <= w i.
Proof.
  induction h as [|h IH]; intros N H; [lia|].
  destruct (Rle_or_lt P (w h)) as [|L]; [exists h; split; [lia | assumption]|].
  rewrite S_INR in H. simpl sum in H.
  destruct h as [|h]; [simpl in H; lra|].
  destruct IH as (i & Hi & Pi); [lia | lra | exists i; split; [lia | assumption]].
Qed.

(** Some place of a set that is not empty has the highest score in it. *)
Lemma has_highest n (u : nat -> bool) s : (exists i, (i < n)%nat /\ u i = true) ->
  exists a, (a < n)%nat /\ u a = true /\ forall i, (i < n)%nat -> u i = true -> s i <= s a.
Proof.
  induction n as [|n IH]; intros (i & Hi & U); [lia|].
  assert (D : (exists j, (j < n)%nat /\ u j = true) \/ ~ (exists j, (j < n)%nat /\ u j = true)).
  { clear. induction n as [|n IH]; [right; intros (j & Hj & _); lia|].
    destruct IH as [(j & Hj & U)|N]; [left; exists j; split; [lia | assumption]|].
    destruct (u n) eqn:E; [left; exists n; split; [lia | assumption]|].
    right. intros (j & Hj & U). destruct (Nat.eq_dec j n) as [->|]; [congruence|].
    apply N. exists j. split; [lia | assumption]. }
  destruct D as [D|D].
  - destruct (IH D) as (a & Ha & Ua & M). destruct (u n) eqn:E.
    + destruct (Rle_or_lt (s n) (s a)).
      * exists a. repeat split; [lia | assumption|]. intros j Hj Uj.
        destruct (Nat.eq_dec j n) as [->|]; [assumption | apply M; [lia | assumption]].
      * exists n. repeat split; [lia | assumption|]. intros j Hj Uj.
        destruct (Nat.eq_dec j n) as [->|]; [lra|]. assert (s j <= s a) by (apply M; [lia | assumption]). lra.
    + exists a. repeat split; [lia | assumption|]. intros j Hj Uj.
      destruct (Nat.eq_dec j n) as [->|]; [congruence | apply M; [lia | assumption]].
  - exists i. repeat split; [assumption | assumption|]. intros j Hj Uj.
    destruct (Nat.eq_dec j i) as [->|]; [lra|]. exfalso. apply D.
    destruct (Nat.eq_dec i n) as [->|]; [exists j | exists i]; split; auto; lia.
Qed.

(** The keys outside a set, and one of its own. *)
Definition outside_and (S : nat -> bool) (a i : nat) : bool := negb (S i) || Nat.eqb i a.

(** If the heads give a set S of targets at least P on average, then for some head and some target a in S, that head
    gives a at least P / (P + |S| (1 - P)) among a and the keys outside S; and so one of the queries is long. *)
Theorem several_heads d n h scale k (S : nat -> bool) p P (pi : nat -> nat -> R) (q : nat -> vector) :
  let size := sum_in n S (fun _ => 1) in
  (0 < h)%nat -> (0 < n)%nat -> (exists i, (i < n)%nat /\ S i = true) -> 0 < P -> P <= sum_in n S p ->
  (forall a, (a < n)%nat -> S a = true -> INR h * p a <= sum h (fun j => pattern n (scores d scale (q j) k) a)) ->
  (forall a, (a < n)%nat -> S a = true -> distribution n (pi a)
    /\ forall i, (i < n)%nat -> outside_and S a i = false -> pi a i = 0) ->
  exists j a, (j < h)%nat /\ (a < n)%nat /\ S a = true /\
    entropy n (pi a) + ln (P / (P + size * (1 - P)))
    <= scale * dot d (q j) (fun m => k a m - sum n (fun i => pi a i * k i m)).
Proof.
  intros size Hh Hn E P0 Pp G D.
  assert (A : INR h * P <= sum h (fun j => sum_in n S (pattern n (scores d scale (q j) k)))).
  { unfold sum_in. rewrite sum_swap. apply Rle_trans with (sum n (fun i => if S i then INR h * p i else 0)).
    - replace (sum n (fun i => if S i then INR h * p i else 0)) with (INR h * sum_in n S p).
      + apply Rmult_le_compat_l; [apply pos_INR | assumption].
      + unfold sum_in. rewrite <- sum_scal. apply sum_ext. intros i _. destruct (S i); ring.
    - apply sum_le. intros i Hi. destruct (S i) eqn:U; [apply G; assumption | rewrite sum_zero; lra]. }
  destruct (one_reaches h _ P Hh A) as (j & Hj & W). clear A.
  set (s := scores d scale (q j) k) in *.
  destruct (has_highest n S s E) as (a & Ha & Ua & M).
  exists j, a. repeat split; try assumption.
  destruct (D a Ha Ua) as [Da Za].
  assert (B := gibbs_within n (outside_and S a) s (pi a) Da Za).
  (* what lies outside is at most |S| (1 - P) / P times exp of the highest *)
  set (inn := sum_in n S (fun i => exp (s i))). set (out := sum_in n (fun i => negb (S i)) (fun i => exp (s i))).
  assert (T : mass n s = inn + out).
  { unfold mass, inn, out, sum_in. rewrite <- sum_plus. apply sum_ext. intros i _. destruct (S i); simpl; ring. }
  assert (W' : P * (inn + out) <= inn).
  { assert (Q : sum_in n S (pattern n s) = inn / mass n s).
    { unfold sum_in, inn, pattern, Rdiv. unfold sum_in. rewrite <- sum_scal_r. apply sum_ext. intros i _. destruct (S i); ring. }
    rewrite Q, T in W. assert (0 < inn + out) by (rewrite <- T; apply mass_pos, Hn).
    apply Rmult_le_compat_r with (r := inn + out) in W; [|lra].
    replace (inn / (inn + out) * (inn + out)) with inn in W by (field; lra). lra. }
  assert (P1 : P <= 1).
  { assert (Out : 0 <= out) by (apply sum_in_nonneg; intros; apply Rlt_le, exp_pos).
    assert (0 < inn + out) by (rewrite <- T; apply mass_pos, Hn). nra. }
  assert (I : inn <= size * exp (s a)).
  { unfold inn, size, sum_in. rewrite <- sum_scal_r. apply sum_le. intros i Hi. destruct (S i) eqn:U; [|lra].
    assert (exp (s i) <= exp (s a)) by (apply exp_monotone, M; assumption). lra. }
  assert (O0 : 0 <= out) by (apply sum_in_nonneg; intros; apply Rlt_le, exp_pos).
  assert (Sz : 0 < size).
  { apply Rlt_le_trans with 1; [lra|].
    replace 1 with (if S a then 1 else 0) by (rewrite Ua; reflexivity).
    apply (sum_term n (fun i => if S i then 1 else 0) a Ha). intros i _. destruct (S i); lra. }
  assert (U : sum_in n (outside_and S a) (fun i => exp (s i)) = exp (s a) + out).
  { unfold out, sum_in. rewrite (sum_split n (fun i => if outside_and S a i then exp (s i) else 0) a Ha).
    unfold outside_and at 1. rewrite Nat.eqb_refl, orb_true_r. f_equal. apply sum_ext. intros i _.
    unfold outside_and. destruct (Nat.eqb_spec i a) as [->|]; [rewrite Ua; reflexivity|].
    rewrite orb_false_r. reflexivity. }
  assert (X : 0 < exp (s a)) by apply exp_pos.
  assert (L : exp (s a) + out <= exp (s a) * ((P + size * (1 - P)) / P)).
  { apply Rmult_le_reg_r with P; [assumption|].
    replace (exp (s a) * ((P + size * (1 - P)) / P) * P) with (exp (s a) * (P + size * (1 - P))) by (field; lra). nra. }
  rewrite U in B.
  apply ln_monotone in L; [|lra].
  assert (C : 0 < P + size * (1 - P)) by nra.
  unfold Rdiv in L. rewrite ln_mult, ln_exp, ln_mult, ln_Rinv in L;
    [| assumption | assumption | apply Rinv_0_lt_compat; assumption | assumption | apply Rmult_lt_0_compat; [assumption | apply Rinv_0_lt_compat; assumption]].
  unfold Rdiv. rewrite ln_mult, ln_Rinv; [| assumption | assumption | apply Rinv_0_lt_compat; assumption].
  assert (F : scale * dot d (q j) (fun m => k a m - sum n (fun i => pi a i * k i m)) = s a - sum n (fun i => pi a i * s i)).
  { rewrite dot_minus, <- dot_sum, Rmult_minus_distr_l, <- sum_scal. unfold s, scores. f_equal. apply sum_ext; intros; ring. }
  rewrite F. lra.
Qed.

(** Whole heads: a score x_j^T M x_i is the product of M and of the table x_j x_i^T, both read row by row. So the
    certificate theorem holds for matrices as it stands, with the Frobenius norm of M for the length of q. *)
Definition flat (w : nat) (M : nat -> nat -> R) : vector := fun m => M (m / w)%nat (m mod w)%nat.

Lemma sum_flat r w f : (0 < w)%nat ->
  sum (r * w) f = sum r (fun i => sum w (fun j => f (i * w + j)%nat)).
Proof.
  intros W. induction r as [|r IH]; [reflexivity|].
  assert (A : forall m, sum (r * w + m) f = sum (r * w) f + sum m (fun j => f (r * w + j)%nat)).
  { intros m. induction m as [|m IHm]; [rewrite Nat.add_0_r; simpl; ring|].
    rewrite Nat.add_succ_r. simpl. rewrite IHm. ring. }
  replace (S r * w)%nat with (r * w + w)%nat by lia. rewrite A, IH. reflexivity.
Qed.

Theorem matrix_score w (M : nat -> nat -> R) (y x : vector) : (0 < w)%nat ->
  sum w (fun i => sum w (fun j => y i * M i j * x j)) = dot (w * w) (flat w M) (flat w (fun i j => y i * x j)).
Proof.
  intros W. unfold dot. rewrite (sum_flat w w _ W). apply sum_ext. intros i _. apply sum_ext. intros j Hj.
  unfold flat. rewrite Nat.div_add_l, Nat.div_small, Nat.add_0_r by lia.
  rewrite Nat.add_comm, Nat.mod_add, Nat.mod_small by lia. ring.
Qed.
