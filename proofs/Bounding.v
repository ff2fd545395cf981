(** The certificate theorem in whole numbers: constraints that are added up, and what the kernel computes of them. *)

Require Import Reals Lra Lia List ZArith Bool.
From Headwright Require Import Sums Attention Certificate Numbers Exponential.
Import ListNotations.
Open Scope R_scope.

(** * Sums of inequalities  value <= scale <q, v> *)

(** How often it is added, an interval for its value, and its vector over a denominator F. *)
Record summand := { times : Z; worth : I.type; along : list Z }.

Section Sums.
  Variable prec : Floats.precision.
  Variables (m : nat) (F sn sd : Z).
  Let scale : R := IZR sn / IZR sd.

  Fixpoint total (l : list summand) : list Z :=
    match l with
    | [] => repeat 0%Z m
    | s :: rest => plus_Z (times_Z (times s) (along s)) (total rest)
    end.

  Fixpoint worth_all (l : list summand) : I.type :=
    match l with
    | [] => I.zero
    | s :: rest => I.add prec (I.mul prec (I.fromZ prec (times s)) (worth s)) (worth_all rest)
    end.

  Definition fits (l : list summand) : bool :=
    (0 <? F)%Z && (0 <? sd)%Z && forallb (fun s => (0 <=? times s)%Z && Nat.eqb (length (along s)) m) l.

  Definition check_longer (l : list summand) (num den : Z) : bool :=
    let v := total l in
    let right := worth_all l in
    fits l && (0 <? den)%Z && (0 <=? num)%Z && positive right &&
    not_negative (I.sub prec right
      (I.mul prec (I.mul prec (ratio prec num den) (ratio prec (Z.abs sn) sd)) (I.sqrt prec (ratio prec (dot_Z v v) (F * F))))).

  Definition check_cancels (l : list summand) : bool :=
    fits l && forallb (Z.eqb 0) (total l) && positive (worth_all l).

  (** What a summand says of a query. *)
  Definition says (q : vector) (s : summand) : Prop :=
    exists value, encloses (worth s) value /\ value <= scale * dot m q (row F (along s)).

  Lemma dot_plus q a b : length a = length b -> dot m q (row F (plus_Z a b)) = dot m q (row F a) + dot m q (row F b).
  Proof.
    intros L. unfold dot. rewrite <- sum_plus. apply sum_ext. intros x _. unfold row.
    rewrite nth_plus, plus_IZR by assumption. unfold Rdiv. ring.
  Qed.

  Lemma dot_times q z a : dot m q (row F (times_Z z a)) = IZR z * dot m q (row F a).
  Proof. unfold dot. rewrite <- sum_scal. apply sum_ext. intros x _. unfold row. rewrite nth_times, mult_IZR. unfold Rdiv. ring. Qed.

  Lemma total_says q l : fits l = true -> (forall s, In s l -> says q s) -> length (total l) = m /\
    exists right, encloses (worth_all l) right /\ right <= scale * dot m q (row F (total l)).
  Proof.
    unfold fits. rewrite !andb_true_iff. intros [_ A] H. induction l as [|s l IH].
    - split; [apply repeat_length|]. exists 0. split; [apply zero_encloses|]. unfold dot.
      rewrite (sum_ext m _ (fun _ => 0)), sum_zero; [lra|]. intros x _. unfold row. simpl. rewrite nth_zeros. unfold Rdiv. ring.
    - simpl in A. rewrite !andb_true_iff in A. destruct A as [[T L] A]. apply Nat.eqb_eq in L. apply Z.leb_le, (IZR_le 0) in T.
      destruct (IH A ltac:(intros; apply H; right; assumption)) as (L' & right & R & B).
      destruct (H s (or_introl eq_refl)) as (value & V & C).
      assert (E : length (times_Z (times s) (along s)) = length (total l)) by (rewrite length_times; congruence).
      split; [simpl; rewrite length_plus, length_times; assumption|].
      exists (IZR (times s) * value + right). split.
      + apply add_encloses; [apply mul_encloses; [apply Z_encloses | exact V] | exact R].
      + simpl total. rewrite dot_plus, dot_times by exact E. nra.
  Qed.

  Lemma cauchy_scaled q v : scale * dot m q v <= norm m q * (Rabs scale * norm m v).
  Proof.
    assert (C := cauchy_schwarz m q v). assert (C' := cauchy_schwarz m (fun i => - q i) v).
    assert (S : norm m (fun i => - q i) = norm m q).
    { unfold norm. f_equal. apply sum_ext; intros; ring. }
    assert (M : dot m (fun i => - q i) v = - dot m q v).
    { unfold dot. rewrite <- (Rmult_1_l (sum m (fun i => q i * v i))), Ropp_mult_distr_l, <- sum_scal.
      apply sum_ext; intros; ring. }
    rewrite S, M in C'. unfold Rabs. destruct (Rcase_abs scale); nra.
  Qed.

  Theorem longer_correct l num den q : check_longer l num den = true -> (forall s, In s l -> says q s) ->
    IZR num / IZR den <= norm m q.
  Proof.
    unfold check_longer. rewrite !andb_true_iff. intros [[[[A B] N] P] C] H.
    destruct (total_says q l A H) as (L & right & R & Q).
    unfold fits in A. rewrite !andb_true_iff in A. destruct A as [[FP SP] _].
    apply Z.ltb_lt, IZR_pos in FP. apply Z.ltb_lt, IZR_pos in SP. apply Z.ltb_lt, IZR_pos in B. apply Z.leb_le, (IZR_le 0) in N.
    apply (positive_correct _ right R) in P.
    set (v := total l) in *.
    assert (SC : Rabs scale = IZR (Z.abs sn) / IZR sd).
    { unfold scale, Rdiv. rewrite Rabs_mult, abs_IZR, (Rabs_right (/ IZR sd)); [reflexivity|].
      apply Rle_ge, Rlt_le, Rinv_0_lt_compat, SP. }
    assert (NV : norm m (row F v) = sqrt (IZR (dot_Z v v) / IZR (F * F))).
    { unfold norm. f_equal. rewrite mult_IZR. apply dot_rows; try assumption; lra. }
    assert (Q' := Rle_trans _ _ _ Q (cauchy_scaled q (row F v))). rewrite NV in Q'.
    set (r := sqrt _) in *.
    assert (E : encloses (I.sub prec (worth_all l)
      (I.mul prec (I.mul prec (ratio prec num den) (ratio prec (Z.abs sn) sd)) (I.sqrt prec (ratio prec (dot_Z v v) (F * F)))))
      (right - IZR num / IZR den * Rabs scale * r)).
    { apply sub_encloses; [exact R|]. apply mul_encloses.
      - rewrite SC. apply mul_encloses; apply ratio_encloses; lra.
      - apply sqrt_encloses, ratio_encloses. rewrite mult_IZR. apply Rgt_not_eq, Rmult_gt_0_compat; assumption. }
    apply (not_negative_correct _ _ E) in C.
    assert (V : 0 <= Rabs scale * r) by (apply Rmult_le_pos; [apply Rabs_pos | apply sqrt_pos]).
    assert (0 <= norm m q) by apply sqrt_pos.
    destruct (Rle_or_lt (IZR num / IZR den) (norm m q)) as [|K]; [assumption | exfalso].
    destruct V as [V|V]; nra.
  Qed.

  Theorem cancels_correct l q : check_cancels l = true -> ~ (forall s, In s l -> says q s).
  Proof.
    unfold check_cancels. rewrite !andb_true_iff. intros [[A Z] P] H.
    destruct (total_says q l A H) as (L & right & R & Q). apply (positive_correct _ right R) in P.
    assert (E : dot m q (row F (total l)) = 0).
    { unfold dot. rewrite (sum_ext m _ (fun _ => 0)); [apply sum_zero|]. intros x Hx. unfold row.
      rewrite forallb_forall in Z. rewrite <- (proj1 (Z.eqb_eq _ _) (Z _ (nth_In (total l) 0%Z ltac:(rewrite L; exact Hx)))).
      unfold Rdiv. ring. }
    rewrite E in Q. lra.
  Qed.
End Sums.

(** * One constraint: keys, one of which has at least some weight, seen through a distribution *)

(** Keys, what is added to their scores, the target's place, its least weight as a ratio, and shares. *)
Record constraint := { rows : list (list Z); bias : list Z; own : nat; floor : Z * Z; shares : list Z }.

Section Constraints.
  Variable how : method.
  Local Notation prec := (accuracy how).
  Variables (d : nat) (e b D : Z).  (* of each vector; the denominators of keys, of what is added, and of shares *)
  Variable c : constraint.

  Definition value_I : I.type :=
    I.add prec (I.add prec (entropy_by how (fineness (snd (floor c))) D (shares c)) (I.ln prec (ratio prec (fst (floor c)) (snd (floor c)))))
      (ratio prec (dot_Z (shares c) (bias c) - D * nth (own c) (bias c) 0)%Z (D * b)).

  Definition pulled : list Z := plus_Z (times_Z D (nth (own c) (rows c) [])) (times_Z (-1) (mixed d (shares c) (rows c))).

  Definition sound : bool :=
    (0 <? e)%Z && (0 <? b)%Z && (0 <? D)%Z && forallb (fun r => Nat.eqb (length r) d) (rows c) && Nat.ltb (own c) (length (rows c)) &&
    (0 <? fst (floor c))%Z && (0 <? snd (floor c))%Z && Nat.eqb (length (shares c)) (length (rows c)) &&
    forallb (Z.leb 0) (shares c) && (sum_Z (shares c) =? D)%Z.

  Let n := length (rows c).
  Definition share (i : nat) : R := IZR (nth i (shares c) 0%Z) / IZR D.
  Definition added (i : nat) : R := IZR (nth i (bias c) 0%Z) / IZR b.
  Definition floor_of : R := IZR (fst (floor c)) / IZR (snd (floor c)).
  Definition value : R := entropy n share + ln floor_of + sum n (fun i => share i * added i) - added (own c).
  Definition pull_of : vector := fun x => table e (rows c) (own c) x - sum n (fun i => share i * table e (rows c) i x).

  Hypothesis is_sound : sound = true.

  Lemma sound_parts : 0 < IZR e /\ 0 < IZR b /\ 0 < IZR D /\ Forall (fun r => length r = d) (rows c) /\ (own c < n)%nat
    /\ (0 < fst (floor c))%Z /\ (0 < snd (floor c))%Z /\ length (shares c) = n
    /\ Forall (fun z => (0 <= z)%Z) (shares c) /\ sum_Z (shares c) = D.
  Proof.
    assert (S := is_sound). unfold sound in S. rewrite !andb_true_iff in S.
    destruct S as [[[[[[[[[E B] P] R] O] N] M] L] F] T]. unfold n.
    repeat split; try (apply IZR_pos, Z.ltb_lt; assumption); try (apply Z.ltb_lt; assumption).
    - apply Forall_forall. rewrite forallb_forall in R. intros r Hr. apply Nat.eqb_eq, R, Hr.
    - apply Nat.ltb_lt, O.
    - apply Nat.eqb_eq, L.
    - apply Forall_forall. rewrite forallb_forall in F. intros z Hz. apply Z.leb_le, F, Hz.
    - apply Z.eqb_eq, T.
  Qed.

  Lemma share_distribution : distribution n share.
  Proof.
    destruct sound_parts as (_ & _ & P & _ & _ & _ & _ & L & F & T). split.
    - intros i Hi. rewrite Forall_forall in F. apply Rmult_le_pos; [|apply Rlt_le, Rinv_0_lt_compat; assumption].
      apply (IZR_le 0), F, nth_In. lia.
    - unfold share, Rdiv. rewrite sum_scal_r, <- L, <- sum_Z_sum, T. apply Rinv_r. lra.
  Qed.

  Lemma value_encloses : exists v, encloses value_I v /\ v <= value.
  Proof.
    destruct sound_parts as (_ & B & P & _ & _ & N & M & L & F & _).
    destruct (entropy_by_encloses how (fineness (snd (floor c))) D (shares c) P F) as (h & H & LE). rewrite L in LE.
    exists (h + ln floor_of + (sum n (fun i => share i * added i) + - added (own c))). split; [|unfold value, share; lra].
    unfold value_I. apply add_encloses; [apply add_encloses|].
    - exact H.
    - apply ln_encloses; [apply ratio_pos; assumption|]. apply ratio_encloses, Rgt_not_eq, IZR_pos, M.
    - replace (sum n (fun i => share i * added i) + - added (own c))
        with (IZR (dot_Z (shares c) (bias c) - D * nth (own c) (bias c) 0%Z) / IZR (D * b)).
      + apply ratio_encloses. rewrite mult_IZR. apply Rgt_not_eq, Rmult_gt_0_compat; assumption.
      + rewrite minus_IZR, !mult_IZR, dot_Z_sum, L. unfold share, added.
        rewrite (sum_ext n (fun i => IZR (nth i (shares c) 0%Z) / IZR D * (IZR (nth i (bias c) 0%Z) / IZR b))
          (fun i => IZR (nth i (shares c) 0%Z) * IZR (nth i (bias c) 0%Z) * (/ IZR D * / IZR b))) by (intros; unfold Rdiv; ring).
        rewrite sum_scal_r. field. lra.
  Qed.

  Lemma pulled_spec : length pulled = d /\ forall x, (x < d)%nat -> row (D * e) pulled x = pull_of x.
  Proof.
    destruct sound_parts as (E & _ & P & R & O & _ & _ & L & _ & _).
    destruct (mixed_spec d (shares c) (rows c) L R) as [LM SM].
    assert (LT : length (times_Z D (nth (own c) (rows c) [])) = d).
    { rewrite length_times. rewrite Forall_forall in R. apply R, nth_In, O. }
    assert (LL : length (times_Z D (nth (own c) (rows c) [])) = length (times_Z (-1) (mixed d (shares c) (rows c))))
      by (rewrite LT, length_times; congruence).
    split; [unfold pulled; rewrite length_plus; assumption|].
    intros x Hx. unfold pulled, row at 1. rewrite nth_plus, !nth_times, plus_IZR, !mult_IZR, SM by assumption.
    unfold pull_of, table, row, share, n.
    rewrite (sum_ext (length (rows c)) (fun i => IZR (nth i (shares c) 0%Z) / IZR D * (IZR (nth x (nth i (rows c) []) 0%Z) / IZR e))
      (fun i => IZR (nth i (shares c) 0%Z) * IZR (nth x (nth i (rows c) []) 0%Z) * (/ IZR D * / IZR e)))
      by (intros; unfold Rdiv; ring).
    rewrite sum_scal_r. field. lra.
  Qed.

  (** What meeting it says of a query: the inequality that is summed. *)
  Lemma met scale q :
    floor_of <= pattern n (fun i => scale * dot d q (table e (rows c) i) + added i) (own c) ->
    value <= scale * dot d q pull_of.
  Proof.
    intros G. destruct sound_parts as (_ & _ & _ & _ & O & N & M & _ & _ & _).
    set (s := fun i => scale * dot d q (table e (rows c) i) + added i) in *.
    assert (B := gibbs n s share share_distribution).
    rewrite pattern_exp in G by lia. apply ln_monotone in G; [|apply ratio_pos; assumption]. rewrite ln_exp in G.
    assert (X : scale * dot d q pull_of = scale * dot d q (table e (rows c) (own c))
      - sum n (fun i => share i * (scale * dot d q (table e (rows c) i)))).
    { unfold pull_of. rewrite dot_minus, <- dot_sum, Rmult_minus_distr_l, <- sum_scal. f_equal. apply sum_ext; intros; ring. }
    assert (Y : sum n (fun i => share i * s i)
      = sum n (fun i => share i * (scale * dot d q (table e (rows c) i))) + sum n (fun i => share i * added i)).
    { rewrite <- sum_plus. apply sum_ext. intros; unfold s; ring. }
    unfold value. rewrite X. rewrite Y in B. unfold s in G at 1. lra.
  Qed.

  (** As a summand, for queries. *)
  Definition summand_of (z : Z) : summand := {| times := z; worth := value_I; along := pulled |}.

  Lemma summand_says z sn sd q : value <= IZR sn / IZR sd * dot d q pull_of -> says d (D * e) sn sd q (summand_of z).
  Proof.
    intros H. destruct value_encloses as (v & V & LE). exists v. split; [exact V|]. apply Rle_trans with (1 := LE). simpl.
    replace (dot d q (row (D * e) pulled)) with (dot d q pull_of); [exact H|].
    apply sum_ext. intros x Hx. rewrite (proj2 pulled_spec x Hx). reflexivity.
  Qed.
End Constraints.
