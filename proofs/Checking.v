(** A certificate checked inside the kernel: whole numbers by computation, exp, ln and roots in intervals of big numbers.

    Keys, queries, multipliers and shares are whole numbers over a common denominator; nothing is rounded but by
    intervals, whose every bound is proved. No primitive floats. *)

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

  (** The sum of exp (z / den). *)
  Fixpoint exps (den : Z) (l : list Z) : I.type :=
    match l with
    | [] => I.zero
    | z :: rest => I.add prec (I.exp prec (ratio z den)) (exps den rest)
    end.

  Lemma exps_encloses den l : IZR den <> 0 -> encloses (exps den l) (sum_list (fun z => exp (IZR z / IZR den)) l).
  Proof.
    intros N. induction l as [|z l IH]; [apply zero_encloses|].
    apply add_encloses; [apply exp_encloses, ratio_encloses, N | exact IH].
  Qed.
End Intervals.

(** * The statement of a certificate: keys, a wish, a query *)

(** The keys are one of some tables, entry by entry. *)
Definition one_of (d n : nat) (tables : list keys) : world :=
  fun k => exists t, In t tables /\ forall i x, (i < n)%nat -> (x < d)%nat -> k i x = t i x.

(** A demand: the target, and its least weight as a ratio. *)
Definition demand : Type := nat * (Z * Z).
Definition target (wish : list demand) (a : nat) : nat := fst (nth a wish (0%nat, (1%Z, 1%Z))).
Definition least (wish : list demand) (a : nat) : R :=
  let '(_, (num, den)) := nth a wish (0%nat, (1%Z, 1%Z)) in IZR num / IZR den.

Definition well_formed (d n : nat) (rows : list (list Z)) : bool :=
  Nat.eqb (length rows) n && forallb (fun r => Nat.eqb (length r) d) rows.

Lemma well_formed_row d n rows i : well_formed d n rows = true -> (i < n)%nat -> length (nth i rows []) = d.
Proof.
  unfold well_formed. rewrite andb_true_iff. intros [L F] Hi. apply Nat.eqb_eq in L.
  rewrite forallb_forall in F. apply Nat.eqb_eq, F, nth_In. lia.
Qed.

Lemma well_formed_length d n rows : well_formed d n rows = true -> length rows = n.
Proof. unfold well_formed. rewrite andb_true_iff. intros [L _]. apply Nat.eqb_eq, L. Qed.

Section Statement.
  Variable prec : Floats.precision.
  Variables (d n : nat) (e : Z) (scenarios : list (list (list Z))) (sn sd : Z) (wish : list demand).

  Definition scale : R := IZR sn / IZR sd.
  Definition the_world : world := one_of d n (map (table e) scenarios).
  Definition granted_by (q : vector) : Prop :=
    grants d n scale the_world (length wish) (target wish) (least wish) q.

  Definition sensible : bool :=
    (0 <? e)%Z && (0 <? sd)%Z && forallb (well_formed d n) scenarios &&
    forallb (fun '(a, (num, den)) => (Nat.ltb a n) && (0 <? num)%Z && (0 <? den)%Z) wish.

  Hypothesis sense : sensible = true.

  Lemma sense_e : IZR e > 0.
  Proof. unfold sensible in sense. rewrite !andb_true_iff in sense. apply IZR_lt, Z.ltb_lt, sense. Qed.
  Lemma sense_sd : IZR sd > 0.
  Proof. unfold sensible in sense. rewrite !andb_true_iff in sense. apply IZR_lt, Z.ltb_lt, sense. Qed.
  Lemma sense_rows rows : In rows scenarios -> well_formed d n rows = true.
  Proof. unfold sensible in sense. rewrite !andb_true_iff, !forallb_forall in sense. intros. apply sense. assumption. Qed.

  Lemma sense_wish a : (a < length wish)%nat ->
    exists num den, nth a wish (0%nat, (1%Z, 1%Z)) = (target wish a, (num, den))
      /\ (target wish a < n)%nat /\ (0 < num)%Z /\ (0 < den)%Z /\ least wish a = IZR num / IZR den.
  Proof.
    intros Ha. unfold sensible in sense. rewrite !andb_true_iff, !forallb_forall in sense. destruct sense as [_ W].
    assert (H := W _ (nth_In wish (0%nat, (1%Z, 1%Z)) Ha)). unfold target, least.
    destruct (nth a wish (0%nat, (1%Z, 1%Z))) as [t [num den]]. rewrite !andb_true_iff in H. destruct H as [[T A] B].
    exists num, den. repeat split; [apply Nat.ltb_lt, T | apply Z.ltb_lt, A | apply Z.ltb_lt, B].
  Qed.

  Lemma least_pos a : (a < length wish)%nat -> 0 < least wish a.
  Proof.
    intros Ha. destruct (sense_wish a Ha) as (num & den & _ & _ & A & B & ->).
    apply Rdiv_lt_0_compat; apply (IZR_lt 0); assumption.
  Qed.

  (** ** Granted *)

  Section Granted.
  Variables (f : Z) (q : list Z).

  Definition differences (rows : list (list Z)) (a : nat) : list Z :=
    let own := dot_Z q (nth a rows []) in map (fun r => (sn * (dot_Z q r - own))%Z) rows.

  (** The sum over the others is the sum over all, less exp 0 of the target itself. *)
  Definition check_demand (rows : list (list Z)) (one : demand) : bool :=
    let '(a, (num, den)) := one in
    not_negative (I.sub prec (ratio prec den num) (exps prec (sd * (f * e)) (differences rows a))).

  Definition check_granted : bool :=
    (0 <? f)%Z && Nat.eqb (length q) d && forallb (fun rows => forallb (check_demand rows) wish) scenarios.

  Theorem granted_correct : check_granted = true -> granted_by (row f q).
  Proof.
    unfold check_granted. rewrite !andb_true_iff, forallb_forall. intros [[F L] C] k (t & T & K) a Ha.
    apply in_map_iff in T. destruct T as (rows & <- & R).
    apply Z.ltb_lt, (IZR_lt 0) in F. apply Nat.eqb_eq in L.
    assert (E := sense_e). assert (D := sense_sd).
    destruct (sense_wish a Ha) as (num & den & W & T & Pn & Pd & P).
    assert (W' : In (target wish a, (num, den)) wish) by (rewrite <- W; apply nth_In, Ha).
    assert (Q := C rows R). rewrite forallb_forall in Q. apply Q in W'. clear C Q. unfold check_demand in W'.
    assert (WF := sense_rows rows R). assert (LR := well_formed_length d n rows WF).
    set (b := target wish a) in *.
    assert (N : IZR (sd * (f * e)) <> 0) by (rewrite !mult_IZR; apply Rgt_not_eq; repeat apply Rmult_gt_0_compat; assumption).
    assert (S : forall i, (i < n)%nat -> scores d scale (row f q) k i = scale * (IZR (dot_Z q (nth i rows [])) / (IZR f * IZR e))).
    { intros i Hi. unfold scores. f_equal.
      rewrite <- (dot_rows d f e q (nth i rows []) L (well_formed_row d n rows i WF Hi)) by lra.
      apply sum_ext. intros x Hx. rewrite K by assumption. reflexivity. }
    apply granted_by_the_others; [assumption | apply least_pos; assumption|].
    assert (X := not_negative_correct _ _ (sub_encloses prec _ _ _ _ (ratio_encloses prec den num ltac:(apply Rgt_not_eq, (IZR_lt 0); assumption))
      (exps_encloses prec _ (differences rows b) N)) W').
    assert (Y : sum_list (fun z => exp (IZR z / IZR (sd * (f * e)))) (differences rows b)
      = 1 + sum n (fun i => if Nat.eqb i b then 0 else exp (scores d scale (row f q) k i - scores d scale (row f q) k b))).
    { unfold differences. rewrite <- (sum_nth (map _ rows) 0%Z), map_length, LR.
      rewrite (sum_ext n _ (fun i => exp (scores d scale (row f q) k i - scores d scale (row f q) k b))).
      - rewrite (sum_split n _ b T). f_equal. rewrite Rminus_diag_eq by reflexivity. apply exp_0.
      - intros i Hi. f_equal. rewrite (S i Hi), (S b T).
        rewrite (nth_indep _ 0%Z ((fun r => (sn * (dot_Z q r - dot_Z q (nth b rows [])))%Z) [])) by (rewrite map_length, LR; exact Hi).
        rewrite (map_nth (fun r => (sn * (dot_Z q r - dot_Z q (nth b rows [])))%Z)).
        unfold scale. rewrite !mult_IZR, minus_IZR. field. lra. }
    rewrite Y in X. rewrite P.
    assert (G : 1 / (IZR num / IZR den) = IZR den / IZR num).
    { field. split; apply Rgt_not_eq, (IZR_lt 0); assumption. }
    rewrite G. lra.
  Qed.
  End Granted.

  (** ** None shorter, and impossible *)

  (** A constraint: the number of its scenario, of its demand, its multiplier, and shares of the keys that sum to D. *)
  Record constraint := { scenario : nat; demanded : nat; multiplier : Z; shares : list Z }.
  Variables (D : Z) (constraints : list constraint).

  Definition rows_of (c : constraint) : list (list Z) := nth (scenario c) scenarios [].
  Definition sum_Z (l : list Z) : Z := fold_right Z.add 0%Z l.

  Definition sound (c : constraint) : bool :=
    Nat.ltb (scenario c) (length scenarios) && Nat.ltb (demanded c) (length wish) && (0 <=? multiplier c)%Z &&
    Nat.eqb (length (shares c)) n && forallb (Z.leb 0) (shares c) && (sum_Z (shares c) =? D)%Z.

  Fixpoint plus_Z (a b : list Z) : list Z :=
    match a, b with
    | x :: a, y :: b => (x + y)%Z :: plus_Z a b
    | _, _ => []
    end.
  Definition times_Z (z : Z) (a : list Z) : list Z := map (Z.mul z) a.

  (** sum_i shares_i row_i. *)
  Fixpoint mixed (w : list Z) (rows : list (list Z)) : list Z :=
    match w, rows with
    | z :: w, r :: rows => plus_Z (times_Z z r) (mixed w rows)
    | _, _ => repeat 0%Z d
    end.

  Definition pulled (c : constraint) : list Z :=
    times_Z (multiplier c)
      (plus_Z (times_Z D (nth (target wish (demanded c)) (rows_of c) [])) (times_Z (-1) (mixed (shares c) (rows_of c)))).

  Fixpoint pulled_all (cs : list constraint) : list Z :=
    match cs with
    | [] => repeat 0%Z d
    | c :: rest => plus_Z (pulled c) (pulled_all rest)
    end.

  Fixpoint entropy_I (w : list Z) : I.type :=
    match w with
    | [] => I.zero
    | z :: rest =>
        if (z =? 0)%Z then entropy_I rest
        else I.sub prec (entropy_I rest) (I.mul prec (ratio prec z D) (I.ln prec (ratio prec z D)))
    end.

  Definition right_of (c : constraint) : I.type :=
    let '(_, (num, den)) := nth (demanded c) wish (0%nat, (1%Z, 1%Z)) in
    I.mul prec (I.fromZ prec (multiplier c)) (I.add prec (entropy_I (shares c)) (I.ln prec (ratio prec num den))).

  Fixpoint right_all (cs : list constraint) : I.type :=
    match cs with
    | [] => I.zero
    | c :: rest => I.add prec (right_of c) (right_all rest)
    end.

  Definition sound_all : bool := (0 <? D)%Z && forallb sound constraints.

  Definition check_none_shorter (num den : Z) : bool :=
    let v := pulled_all constraints in
    sound_all && (0 <? den)%Z && (0 <=? num)%Z && positive (right_all constraints) &&
    not_negative (I.sub prec (right_all constraints)
      (I.mul prec (I.mul prec (ratio prec num den) (ratio prec (Z.abs sn) sd))
        (I.sqrt prec (ratio prec (dot_Z v v) (D * e * (D * e)))))).

  Definition check_impossible : bool :=
    sound_all && forallb (Z.eqb 0) (pulled_all constraints) && positive (right_all constraints).

  (** *** Why *)

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

  Lemma nth_zeros x : nth x (repeat 0%Z d) 0%Z = 0%Z.
  Proof. destruct (nth_in_or_default x (repeat 0%Z d) 0%Z) as [H|H]; [apply repeat_spec in H|]; exact H. Qed.

  Lemma mixed_spec w rows : length w = length rows -> Forall (fun r => length r = d) rows ->
    length (mixed w rows) = d /\ forall x, IZR (nth x (mixed w rows) 0%Z)
      = sum (length rows) (fun i => IZR (nth i w 0%Z) * IZR (nth x (nth i rows []) 0%Z)).
  Proof.
    revert rows. induction w as [|z w IH]; intros [|r rows] L F; try discriminate.
    - split; [apply repeat_length | intros x; simpl; rewrite nth_zeros; reflexivity].
    - injection L as L. inversion F as [|? ? Fr F']; subst. destruct (IH rows L F') as [L' S].
      assert (E : length (times_Z z r) = length (mixed w rows)) by (rewrite length_times, L'; assumption).
      split; [simpl; rewrite length_plus, length_times by assumption; assumption|].
      intros x. simpl mixed. rewrite nth_plus, plus_IZR, S, nth_times, mult_IZR by assumption.
      simpl length. rewrite sum_first. reflexivity.
  Qed.

  Lemma sum_shares w : IZR (sum_Z w) = sum (length w) (fun i => IZR (nth i w 0%Z)).
  Proof. rewrite (sum_nth w 0%Z IZR). induction w as [|z w IH]; [reflexivity|]. simpl. rewrite plus_IZR, IH. reflexivity. Qed.

  Lemma entropy_encloses w : IZR D > 0 -> Forall (fun z => (0 <= z)%Z) w ->
    encloses (entropy_I w) (- sum (length w) (fun i => IZR (nth i w 0%Z) / IZR D * ln (IZR (nth i w 0%Z) / IZR D))).
  Proof.
    intros P F. rewrite (sum_nth w 0%Z (fun z => IZR z / IZR D * ln (IZR z / IZR D))).
    induction F as [|z w Hz F IH]; simpl.
    - rewrite Ropp_0. apply zero_encloses.
    - destruct (Z.eqb_spec z 0) as [->|N].
      + replace (IZR 0 / IZR D * ln (IZR 0 / IZR D)) with 0 by (unfold Rdiv; ring). rewrite Rplus_0_l. exact IH.
      + rewrite Ropp_plus_distr, Rplus_comm. apply sub_encloses; [exact IH|].
        assert (0 < IZR z / IZR D) by (apply Rdiv_lt_0_compat; [apply (IZR_lt 0); lia | assumption]).
        apply mul_encloses; [apply ratio_encloses; lra | apply ln_encloses; [assumption | apply ratio_encloses; lra]].
  Qed.

  Section Sound.
    Hypothesis all_sound : sound_all = true.

    Let c_of (j : nat) : constraint := nth j constraints {| scenario := 0; demanded := 0; multiplier := 0; shares := [] |}.
    Let pi (j i : nat) : R := IZR (nth i (shares (c_of j)) 0%Z) / IZR D.
    Let k (j : nat) : keys := table e (rows_of (c_of j)).
    Let a (j : nat) : nat := demanded (c_of j).
    Let l (j : nat) : R := IZR (multiplier (c_of j)).
    Let m := length constraints.

    Lemma D_pos : IZR D > 0.
    Proof. unfold sound_all in all_sound. rewrite andb_true_iff in all_sound. apply IZR_lt, Z.ltb_lt, all_sound. Qed.

    Lemma sound_one c : In c constraints -> sound c = true.
    Proof. unfold sound_all in all_sound. rewrite andb_true_iff, forallb_forall in all_sound. apply all_sound. Qed.

    Lemma sound_parts c : In c constraints ->
      In (rows_of c) scenarios /\ (demanded c < length wish)%nat /\ 0 <= IZR (multiplier c)
      /\ length (shares c) = n /\ Forall (fun z => (0 <= z)%Z) (shares c) /\ sum_Z (shares c) = D.
    Proof.
      intros C. apply sound_one in C. unfold sound in C. rewrite !andb_true_iff in C.
      destruct C as [[[[[A B] M] L] P] S].
      repeat split.
      - apply nth_In, Nat.ltb_lt, A.
      - apply Nat.ltb_lt, B.
      - apply (IZR_le 0), Z.leb_le, M.
      - apply Nat.eqb_eq, L.
      - apply Forall_forall. rewrite forallb_forall in P. intros z Hz. apply Z.leb_le, P, Hz.
      - apply Z.eqb_eq, S.
    Qed.

    Lemma sound_distribution c : In c constraints -> distribution n (fun i => IZR (nth i (shares c) 0%Z) / IZR D).
    Proof.
      intros C. destruct (sound_parts c C) as (_ & _ & _ & L & P & S). assert (DP := D_pos). split.
      - intros i Hi. rewrite Forall_forall in P. apply Rmult_le_pos; [|apply Rlt_le, Rinv_0_lt_compat; assumption].
        apply (IZR_le 0), P, nth_In. lia.
      - unfold Rdiv. rewrite sum_scal_r. rewrite <- L, <- sum_shares, S. apply Rinv_r. lra.
    Qed.

    Lemma pulled_spec c : In c constraints -> length (pulled c) = d /\ forall x, (x < d)%nat ->
      IZR (nth x (pulled c) 0%Z) / (IZR D * IZR e)
      = IZR (multiplier c) * (table e (rows_of c) (target wish (demanded c)) x
          - sum n (fun i => IZR (nth i (shares c) 0%Z) / IZR D * table e (rows_of c) i x)).
    Proof.
      intros C. destruct (sound_parts c C) as (R & W & _ & L & _ & _).
      assert (WF := sense_rows _ R). assert (LR := well_formed_length d n _ WF). assert (DP := D_pos). assert (EP := sense_e).
      destruct (sense_wish _ W) as (num & den & _ & T & _).
      assert (F : Forall (fun r => length r = d) (rows_of c)).
      { apply Forall_forall. intros r Hr. apply In_nth with (d := []) in Hr. destruct Hr as (i & Hi & <-).
        apply (well_formed_row d n); [assumption | lia]. }
      destruct (mixed_spec (shares c) (rows_of c) ltac:(lia) F) as [LM SM].
      assert (LT : length (times_Z D (nth (target wish (demanded c)) (rows_of c) [])) = d)
        by (rewrite length_times; apply (well_formed_row d n); assumption).
      assert (LL : length (times_Z D (nth (target wish (demanded c)) (rows_of c) []))
        = length (times_Z (-1) (mixed (shares c) (rows_of c)))) by (rewrite LT, length_times; congruence).
      split; [unfold pulled; rewrite length_times, length_plus; assumption|].
      intros x Hx. unfold pulled. rewrite nth_times, nth_plus, !nth_times, mult_IZR, plus_IZR, !mult_IZR, SM, LR by assumption.
      unfold table, row.
      rewrite (sum_ext n (fun i => IZR (nth i (shares c) 0%Z) / IZR D * (IZR (nth x (nth i (rows_of c) []) 0%Z) / IZR e))
        (fun i => IZR (nth i (shares c) 0%Z) * IZR (nth x (nth i (rows_of c) []) 0%Z) * (/ IZR D * / IZR e)))
        by (intros; unfold Rdiv; ring).
      rewrite sum_scal_r. field. split; lra.
    Qed.

    Lemma pulled_all_spec cs : (forall c, In c cs -> In c constraints) -> length (pulled_all cs) = d /\ forall x, (x < d)%nat ->
      IZR (nth x (pulled_all cs) 0%Z) / (IZR D * IZR e) = sum_list (fun c => IZR (nth x (pulled c) 0%Z) / (IZR D * IZR e)) cs.
    Proof.
      induction cs as [|c cs IH]; intros H.
      - split; [apply repeat_length | intros x Hx; simpl; rewrite nth_zeros; unfold Rdiv; ring].
      - destruct (IH ltac:(intros; apply H; right; assumption)) as [L S].
        destruct (pulled_spec c (H c (or_introl eq_refl))) as [L' _].
        split; [simpl; rewrite length_plus; congruence|].
        intros x Hx. simpl. rewrite nth_plus, plus_IZR, <- S by congruence. unfold Rdiv. ring.
    Qed.

    Lemma pull_spec x : (x < d)%nat ->
      pull n m (target wish) a k pi l x = IZR (nth x (pulled_all constraints) 0%Z) / (IZR D * IZR e).
    Proof.
      intros Hx. destruct (pulled_all_spec constraints ltac:(auto)) as [_ S]. rewrite S by assumption.
      unfold pull, m. rewrite <- (sum_nth constraints {| scenario := 0; demanded := 0; multiplier := 0; shares := [] |}).
      apply sum_ext. intros j Hj. destruct (pulled_spec (c_of j) (nth_In _ _ Hj)) as [_ P].
      fold (c_of j). rewrite P by assumption. reflexivity.
    Qed.

    Lemma right_encloses cs : (forall c, In c cs -> In c constraints) -> encloses (right_all cs)
      (sum_list (fun c => IZR (multiplier c)
        * (entropy n (fun i => IZR (nth i (shares c) 0%Z) / IZR D) + ln (least wish (demanded c)))) cs).
    Proof.
      induction cs as [|c cs IH]; intros H; [apply zero_encloses|].
      simpl. apply add_encloses; [|apply IH; intros; apply H; right; assumption].
      destruct (sound_parts c (H c (or_introl eq_refl))) as (_ & W & _ & L & P & _).
      destruct (sense_wish _ W) as (num & den & E & _ & N1 & N2 & V).
      unfold right_of. rewrite E. apply mul_encloses; [apply Z_encloses|]. apply add_encloses.
      - unfold entropy. rewrite <- L. apply entropy_encloses; [apply D_pos | assumption].
      - rewrite V. apply ln_encloses.
        + apply Rdiv_lt_0_compat; apply (IZR_lt 0); assumption.
        + apply ratio_encloses. apply Rgt_not_eq, (IZR_lt 0); assumption.
    Qed.

    Let the_right := sum m (fun j => l j * (entropy n (pi j) + ln (least wish (a j)))).

    Lemma the_right_encloses : encloses (right_all constraints) the_right.
    Proof.
      set (F := fun c => IZR (multiplier c)
        * (entropy n (fun i => IZR (nth i (shares c) 0%Z) / IZR D) + ln (least wish (demanded c)))).
      assert (E : the_right = sum_list F constraints).
      { rewrite <- (sum_nth constraints {| scenario := 0; demanded := 0; multiplier := 0; shares := [] |} F). reflexivity. }
      rewrite E.
      apply right_encloses. auto.
    Qed.

    Lemma of_constraint j : (j < m)%nat -> In (c_of j) constraints.
    Proof. intros Hj. apply nth_In. exact Hj. Qed.

    Lemma bound_of_query q : granted_by q -> the_right <= norm d q * (Rabs scale * norm d (pull n m (target wish) a k pi l)).
    Proof.
      intros G. apply (none_shorter d n (length wish) m scale the_world (target wish) (least wish) a k pi l).
      - intros b Hb. destruct (sense_wish b Hb) as (_ & _ & _ & T & _). split; [assumption | apply least_pos, Hb].
      - intros j Hj. apply (sound_parts _ (of_constraint j Hj)).
      - intros j Hj. exists (k j). split; [|reflexivity]. apply (in_map (table e)), (sound_parts _ (of_constraint j Hj)).
      - intros j Hj. apply sound_distribution, of_constraint, Hj.
      - intros j Hj. apply (sound_parts _ (of_constraint j Hj)).
      - exact G.
    Qed.

    Lemma norm_pull : norm d (pull n m (target wish) a k pi l)
      = sqrt (IZR (dot_Z (pulled_all constraints) (pulled_all constraints)) / IZR (D * e * (D * e))).
    Proof.
      assert (DP := D_pos). assert (EP := sense_e).
      destruct (pulled_all_spec constraints ltac:(auto)) as [L _].
      unfold norm. f_equal. rewrite (mult_IZR (D * e) (D * e)).
      rewrite <- (dot_rows d (D * e) (D * e)) by (try assumption; rewrite mult_IZR; apply Rgt_not_eq, Rmult_gt_0_compat; assumption).
      apply sum_ext. intros x Hx. unfold row. rewrite pull_spec, mult_IZR by assumption. reflexivity.
    Qed.

    Lemma bound_in_numbers q : granted_by q -> exists right, encloses (right_all constraints) right /\
      right <= norm d q * (Rabs scale
        * sqrt (IZR (dot_Z (pulled_all constraints) (pulled_all constraints)) / IZR (D * e * (D * e)))).
    Proof.
      intros G. exists the_right. split; [exact the_right_encloses|].
      rewrite <- norm_pull. apply bound_of_query, G.
    Qed.
  End Sound.

  Theorem none_shorter_correct num den : check_none_shorter num den = true ->
    forall q, granted_by q -> IZR num / IZR den <= norm d q.
  Proof.
    unfold check_none_shorter. rewrite !andb_true_iff. intros [[[[S B] A] P] C] q G.
    apply Z.ltb_lt, (IZR_lt 0) in B. apply Z.leb_le, (IZR_le 0) in A.
    assert (SD := sense_sd). assert (DP := D_pos S). assert (EP := sense_e).
    destruct (bound_in_numbers S q G) as (right & R & H). apply (positive_correct _ right R) in P.
    set (v := sqrt _) in *.
    assert (SC : Rabs scale = IZR (Z.abs sn) / IZR sd).
    { unfold scale, Rdiv. rewrite Rabs_mult, abs_IZR, (Rabs_right (/ IZR sd)); [reflexivity|].
      apply Rle_ge, Rlt_le, Rinv_0_lt_compat, SD. }
    assert (E : encloses (I.sub prec (right_all constraints)
      (I.mul prec (I.mul prec (ratio prec num den) (ratio prec (Z.abs sn) sd))
        (I.sqrt prec (ratio prec (dot_Z (pulled_all constraints) (pulled_all constraints)) (D * e * (D * e))))))
      (right - IZR num / IZR den * Rabs scale * v)).
    { apply sub_encloses; [exact R|]. apply mul_encloses.
      - rewrite SC. apply mul_encloses; apply ratio_encloses; lra.
      - apply sqrt_encloses, ratio_encloses. rewrite !mult_IZR. apply Rgt_not_eq. repeat apply Rmult_gt_0_compat; assumption. }
    apply (not_negative_correct _ _ E) in C.
    assert (V : 0 <= Rabs scale * v) by (apply Rmult_le_pos; [apply Rabs_pos | apply sqrt_pos]).
    assert (0 <= norm d q) by apply sqrt_pos.
    destruct (Rle_or_lt (IZR num / IZR den) (norm d q)) as [|N]; [assumption | exfalso].
    destruct V as [V|V]; nra.
  Qed.

  Theorem impossible_correct : check_impossible = true -> forall q, ~ granted_by q.
  Proof.
    unfold check_impossible. rewrite !andb_true_iff. intros [[S All] P] q G.
    destruct (bound_in_numbers S q G) as (right & R & H). apply (positive_correct _ right R) in P.
    assert (V : dot_Z (pulled_all constraints) (pulled_all constraints) = 0%Z).
    { generalize dependent (pulled_all constraints). clear. intros v All _. induction v as [|x v IH]; [reflexivity|].
      change (Z.eqb 0 x && forallb (Z.eqb 0) v = true) in All. rewrite andb_true_iff in All. destruct All as [X All].
      apply Z.eqb_eq in X. simpl. rewrite <- X, (IH All). reflexivity. }
    rewrite V in H. unfold Rdiv in H. rewrite Rmult_0_l, sqrt_0 in H. lra.
  Qed.
End Statement.
