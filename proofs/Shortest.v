(** None shorter, and impossible: the constraints of a certificate checked inside the kernel, for one head and for several. *)

Require Import Reals Lra Lia List ZArith Bool.
From Headwright Require Import Sums Attention Certificate Uncertainty Heads Numbers Exponential Bounding Checking.
Import ListNotations.
Open Scope R_scope.

(** A move of keys of one spread: by a shift within the ball, and by the factor times a turn. *)
Record move := { of : nat; shift : list Z; turn : list Z }.
Definition unmoved : move := {| of := 0; shift := []; turn := [] |}.

(** Where a key stands: its scale, and the number of its move. *)
Notation stand := (Z * nat)%type.

(** A constraint: its scenario, its demand, its multiplier, where keys stand and where the target stands, and shares of the keys. *)
Record item := { scenario : nat; demanded : nat; multiplier : Z; stands : list stand; own_stand : stand; weights : list Z }.

Definition replaced {A} (a : nat) (x : A) (l : list A) : list A := firstn a l ++ x :: skipn (S a) l.

Section Shortest.
  Variable how : method.
  Local Notation prec := (accuracy how).
  Variables (d n : nat) (e : Z) (scenarios : list (list (list Z))) (g : Z) (spreads : list spread) (which : list nat).
  Variables (sn sd : Z) (targets : list demand).
  Hypothesis sense : sensible d n e scenarios g spreads sd targets = true.

  Let the_rooms := rooms e g spreads which.
  Let scale : R := IZR sn / IZR sd.

  (** Scales and turns are over r, shifts over e r. *)
  Variables (r : Z) (moves : list move).

  Definition moved (m : move) : list Z := plus_Z (shift m) (mixed d (turn m) (factor (nth (of m) spreads nowhere))).

  Definition move_fits (m : move) : bool :=
    let s := nth (of m) spreads nowhere in
    Nat.eqb (length (shift m)) d && Nat.eqb (length (turn m)) (length (factor s)) && (0 <=? ball s)%Z &&
    (dot_Z (shift m) (shift m) * (g * g) <=? ball s * (e * r) * (ball s * (e * r)))%Z && (dot_Z (turn m) (turn m) <=? r * r)%Z.

  Definition stand_fits (one : nat * stand) : bool :=
    let '(w, (c, j)) := one in
    let s := nth w spreads nowhere in
    Nat.ltb j (length moves) && Nat.eqb (of (nth j moves unmoved)) w &&
    (low s * r <=? c * g)%Z && (c * g <=? high s * r)%Z.

  Definition placed (rows : list (list Z)) (l : list stand) : list (list Z) :=
    let shifts := map moved moves in
    map (fun '(x, (c, j)) => plus_Z (times_Z c x) (nth j shifts [])) (combine rows l).

  Definition standing (l : list stand) : bool :=
    (0 <? r)%Z && forallb move_fits moves && Nat.eqb (length l) n && forallb stand_fits (combine (padded n which) l).

  Lemma move_parts m : 0 < IZR r -> In m moves -> forallb move_fits moves = true ->
    length (moved m) = d /\ norm d (row (e * r) (shift m)) <= IZR (ball (nth (of m) spreads nowhere)) / IZR g
    /\ norm (length (factor (nth (of m) spreads nowhere))) (row r (turn m)) <= 1
    /\ forall x, (x < d)%nat -> row (e * r) (moved m) x = row (e * r) (shift m) x
        + sum (length (factor (nth (of m) spreads nowhere))) (fun y => row r (turn m) y * table e (factor (nth (of m) spreads nowhere)) y x).
  Proof.
    intros RP M F. destruct (sense_parts _ _ _ _ _ _ _ _ sense) as (E & G & _).
    rewrite forallb_forall in F. apply F in M. clear F. unfold move_fits in M. cbv zeta in M.
    set (s := nth (of m) spreads nowhere) in *. rewrite !andb_true_iff in M. destruct M as [[[[A B] P] C] D].
    apply Nat.eqb_eq in A. apply Nat.eqb_eq in B. apply Z.leb_le in P. apply Z.leb_le, IZR_le in C. apply Z.leb_le, IZR_le in D.
    assert (FA : Forall (fun c => length c = d) (factor s)) by (apply (sense_factor _ _ _ _ _ _ _ _ sense), a_spread).
    destruct (mixed_spec d (turn m) (factor s) B FA) as [LM SM].
    assert (LL : length (shift m) = length (mixed d (turn m) (factor s))) by congruence.
    assert (ER : 0 < IZR e * IZR r) by (apply Rmult_lt_0_compat; assumption).
    split; [unfold moved; fold s; rewrite length_plus; assumption|]. split; [|split].
    - assert (BP : 0 <= IZR (ball s) / IZR g).
      { apply Rmult_le_pos; [apply (IZR_le 0), P | apply Rlt_le, Rinv_0_lt_compat, G]. }
      unfold norm. rewrite <- (sqrt_Rsqr (IZR (ball s) / IZR g)) by exact BP. apply sqrt_le_1_alt.
      rewrite (dot_rows d) by (try assumption; rewrite mult_IZR; lra). unfold Rsqr.
      rewrite !mult_IZR in C. rewrite !mult_IZR.
      apply Rmult_le_reg_r with (IZR e * IZR r * (IZR e * IZR r) * (IZR g * IZR g)).
      + repeat apply Rmult_lt_0_compat; assumption.
      + replace (IZR (dot_Z (shift m) (shift m)) / (IZR e * IZR r * (IZR e * IZR r)) * (IZR e * IZR r * (IZR e * IZR r) * (IZR g * IZR g)))
          with (IZR (dot_Z (shift m) (shift m)) * (IZR g * IZR g)) by (field; lra).
        replace (IZR (ball s) / IZR g * (IZR (ball s) / IZR g) * (IZR e * IZR r * (IZR e * IZR r) * (IZR g * IZR g)))
          with (IZR (ball s) * (IZR e * IZR r) * (IZR (ball s) * (IZR e * IZR r))) by (field; lra).
        exact C.
    - unfold norm. rewrite <- sqrt_1. apply sqrt_le_1_alt. rewrite (dot_rows (length (factor s))) by (try assumption; lra).
      rewrite mult_IZR in D. apply Rmult_le_reg_r with (IZR r * IZR r); [apply Rmult_lt_0_compat; assumption|].
      replace (IZR (dot_Z (turn m) (turn m)) / (IZR r * IZR r) * (IZR r * IZR r)) with (IZR (dot_Z (turn m) (turn m))) by (field; lra). lra.
    - intros x Hx. unfold moved. fold s. unfold row at 1 2. rewrite nth_plus, plus_IZR, SM by exact LL.
      rewrite (sum_ext (length (factor s)) (fun y => row r (turn m) y * table e (factor s) y x)
        (fun y => IZR (nth y (turn m) 0%Z) * IZR (nth x (nth y (factor s) []) 0%Z) * (/ IZR r * / IZR e)))
        by (intros; unfold table, row, Rdiv; ring).
      rewrite sum_scal_r, mult_IZR. field. lra.
  Qed.

  Lemma placed_row rows l i : length rows = n -> length l = n -> (i < n)%nat ->
    nth i (placed rows l) [] = plus_Z (times_Z (fst (nth i l (0%Z, 0%nat))) (nth i rows [])) (nth (snd (nth i l (0%Z, 0%nat))) (map moved moves) []).
  Proof.
    intros L L' Hi. unfold placed. set (F := fun '(x, (c, j)) => _).
    rewrite (nth_indep _ [] (F ([], (0%Z, 0%nat)))) by (rewrite map_length, combine_length, L, L', Nat.min_id; exact Hi).
    rewrite (map_nth F), (combine_nth rows l i [] (0%Z, 0%nat)) by (rewrite L, L'; reflexivity). unfold F. destruct (nth i l (0%Z, 0%nat)). reflexivity.
  Qed.

  Lemma placed_in_uncertainty rows l : In rows scenarios -> standing l = true ->
    length (placed rows l) = n /\ the_uncertainty d n e scenarios g spreads which (table (e * r) (placed rows l)).
  Proof.
    intros R S. unfold standing in S. rewrite !andb_true_iff in S. destruct S as [[[RP M] L] F].
    apply Z.ltb_lt, IZR_pos in RP. apply Nat.eqb_eq in L.
    destruct (sense_parts _ _ _ _ _ _ _ _ sense) as (E & G & _).
    assert (WF := sense_rows _ _ _ _ _ _ _ _ sense rows R). assert (LR := well_formed_length d n rows WF).
    split; [unfold placed; rewrite map_length, combine_length, LR, L; apply Nat.min_id|].
    exists (table e rows). split; [apply in_map, R|]. intros i Hi.
    rewrite forallb_forall in F.
    assert (X := F (nth i which 0%nat, nth i l (0%Z, 0%nat))). clear F.
    assert (IN : In (nth i which 0%nat, nth i l (0%Z, 0%nat)) (combine (padded n which) l)).
    { assert (N : nth i (combine (padded n which) l) (0%nat, (0%Z, 0%nat)) = (nth i which 0%nat, nth i l (0%Z, 0%nat))).
      { rewrite combine_nth by (rewrite length_padded; congruence). rewrite nth_padded by exact Hi. reflexivity. }
      rewrite <- N. apply nth_In. rewrite combine_length, length_padded, L, Nat.min_id. exact Hi. }
    apply X in IN. clear X. assert (PR := placed_row rows l i LR L Hi).
    destruct (nth i l (0%Z, 0%nat)) as [c j]. simpl in PR. unfold stand_fits in IN. cbv zeta in IN.
    fold (spread_at spreads which i) in IN. rewrite !andb_true_iff in IN. destruct IN as [[[J O] A] B].
    apply Nat.ltb_lt in J. apply Nat.eqb_eq in O. apply Z.leb_le, IZR_le in A. apply Z.leb_le, IZR_le in B. rewrite !mult_IZR in A, B.
    set (m := nth j moves unmoved) in *.
    assert (IM : In m moves) by (apply nth_In, J).
    rewrite (nth_indep (map moved moves) [] (moved unmoved)), map_nth in PR by (rewrite map_length; exact J). fold m in PR.
    destruct (move_parts m RP IM M) as (LM & NS & NT & V).
    unfold the_rooms, rooms. fold (spread_at spreads which i). change (nth (nth i which 0%nat) spreads nowhere) with (spread_at spreads which i).
    assert (SO : nth (of m) spreads nowhere = spread_at spreads which i) by (unfold spread_at; rewrite O; reflexivity).
    rewrite SO in *. set (s := spread_at spreads which i) in *.
    exists (IZR c / IZR r), (row (e * r) (shift m)), (row r (turn m)).
    split; [|split; [exact NS | split; [exact NT|]]].
    - simpl. split.
      + apply Rmult_le_reg_r with (IZR g * IZR r); [apply Rmult_lt_0_compat; assumption|].
        replace (IZR (low s) / IZR g * (IZR g * IZR r)) with (IZR (low s) * IZR r) by (field; lra).
        replace (IZR c / IZR r * (IZR g * IZR r)) with (IZR c * IZR g) by (field; lra). exact A.
      + apply Rmult_le_reg_r with (IZR g * IZR r); [apply Rmult_lt_0_compat; assumption|].
        replace (IZR (high s) / IZR g * (IZR g * IZR r)) with (IZR (high s) * IZR r) by (field; lra).
        replace (IZR c / IZR r * (IZR g * IZR r)) with (IZR c * IZR g) by (field; lra). exact B.
    - intros x Hx. simpl columns. simpl column.
      assert (LX : length (times_Z c (nth i rows [])) = length (moved m)) by (rewrite length_times, LM; apply (well_formed_row d n); assumption).
      assert (Y : table (e * r) (placed rows l) i x = IZR c / IZR r * table e rows i x + row (e * r) (moved m) x).
      { unfold table at 1, row at 1. rewrite PR, nth_plus, nth_times, plus_IZR, mult_IZR by exact LX.
        unfold table, row. rewrite mult_IZR. field. lra. }
      rewrite Y, (V x Hx). ring.
  Qed.

  (** ** One head *)

  Section Alone.
  Variables (D : Z) (items : list item).

  Definition rows_of (it : item) : list (list Z) := nth (scenario it) scenarios [].
  Definition all_stands (it : item) : list stand := replaced (target targets (demanded it)) (own_stand it) (stands it).
  Definition constraint_of (it : item) : constraint :=
    {| rows := placed (rows_of it) (all_stands it); bias := []; own := target targets (demanded it);
       floor := snd (nth (demanded it) targets (0%nat, (1%Z, 1%Z))); shares := weights it |}.

  Definition item_fits (it : item) : bool :=
    Nat.ltb (scenario it) (length scenarios) && Nat.ltb (demanded it) (length targets) && standing (all_stands it) &&
    sound d (e * r) 1 D (constraint_of it).

  Definition summands : list summand := map (fun it => summand_of how d 1 D (constraint_of it) (multiplier it)) items.

  Definition check_none_shorter (num den : Z) : bool :=
    forallb item_fits items && check_longer prec d (D * (e * r)) sn sd summands num den.
  Definition check_impossible : bool := forallb item_fits items && check_cancels prec d (D * (e * r)) sd summands.

  Lemma item_says it q : item_fits it = true -> met_by d n e scenarios g spreads which sn sd targets q ->
    says d (D * (e * r)) sn sd q (summand_of how d 1 D (constraint_of it) (multiplier it)).
  Proof.
    unfold item_fits. rewrite !andb_true_iff. intros [[[A B] S] O] H. apply Nat.ltb_lt in A. apply Nat.ltb_lt in B.
    destruct (placed_in_uncertainty (rows_of it) (all_stands it) (nth_In _ _ A) S) as [L W].
    apply summand_says; [exact O|]. apply met; [exact O|].
    destruct (sense_targets _ _ _ _ _ _ _ _ sense _ B) as (num & den & N & _ & _ & _ & P).
    assert (X := H _ W (demanded it) B).
    unfold floor_of. simpl floor. simpl own. simpl rows. rewrite N. simpl. rewrite <- P. rewrite L.
    unfold scores in X. apply Rle_trans with (1 := X). apply Req_le. unfold pattern, mass.
    assert (Y : forall i, scale * dot d q (table (e * r) (placed (rows_of it) (all_stands it)) i) + added 1 (constraint_of it) i
      = scale * dot d q (table (e * r) (placed (rows_of it) (all_stands it)) i)).
    { intros i. unfold added. simpl bias. replace (nth i [] 0%Z) with 0%Z by (destruct i; reflexivity). unfold Rdiv. ring. }
    unfold scale in *. unfold Checking.scale. rewrite Y. apply (f_equal2 Rdiv); [reflexivity|]. apply sum_ext. intros i _. rewrite Y. reflexivity.
  Qed.

  Lemma summands_say q : forallb item_fits items = true -> met_by d n e scenarios g spreads which sn sd targets q ->
    forall s, In s summands -> says d (D * (e * r)) sn sd q s.
  Proof.
    intros F G s S. apply in_map_iff in S. destruct S as (it & <- & I). rewrite forallb_forall in F. apply item_says; [apply F, I | exact G].
  Qed.

  Theorem none_shorter_correct num den : check_none_shorter num den = true ->
    forall q, met_by d n e scenarios g spreads which sn sd targets q -> IZR num / IZR den <= norm d q.
  Proof.
    unfold check_none_shorter. rewrite andb_true_iff. intros [F C] q G. apply (longer_correct _ _ _ _ _ _ _ _ _ C), summands_say; assumption.
  Qed.

  Theorem impossible_correct : check_impossible = true -> forall q, ~ met_by d n e scenarios g spreads which sn sd targets q.
  Proof.
    unfold check_impossible. rewrite andb_true_iff. intros [F C] q G.
    apply (cancels_correct _ _ _ sn _ _ q C), summands_say; assumption.
  Qed.
  End Alone.

  (** ** Several heads *)

  Section Together.
  (** One scenario and where its keys stand; for each demand that is used, its number, and shares of the keys. *)
  Variables (D : Z) (scene : nat) (places : list stand) (among : list (nat * list Z)).

  Definition chosen : list nat := map (fun '(a, _) => target targets a) among.
  Definition in_among (i : nat) : bool := existsb (Nat.eqb i) chosen.
  Definition found (i : nat) : nat * list Z := match find (fun '(a, _) => Nat.eqb i (target targets a)) among with Some x => x | None => (0%nat, []) end.

  (** The sum of the least weights, as a ratio. *)
  Definition floor_sum : Z * Z :=
    fold_right (fun i '(num, den) => let '(x, y) := snd (nth (fst (found i)) targets (0%nat, (1%Z, 1%Z))) in (num * y + x * den, den * y))%Z (0, 1)%Z chosen.
  Definition together_floor : Z * Z := let '(x, y) := floor_sum in (x, x + Z.of_nat (length chosen) * (y - x))%Z.

  Definition together_of (one : nat * list Z) : constraint :=
    {| rows := placed (nth scene scenarios []) places; bias := []; own := target targets (fst one); floor := together_floor; shares := snd one |}.

  Fixpoint different (l : list nat) : bool :=
    match l with
    | [] => true
    | x :: rest => negb (existsb (Nat.eqb x) rest) && different rest
    end.

  Definition among_fits (one : nat * list Z) : bool :=
    Nat.ltb (fst one) (length targets) && sound d (e * r) 1 D (together_of one) &&
    forallb (fun '(i, z) => (z =? 0)%Z || outside_and in_among (target targets (fst one)) i) (combine (seq 0 n) (snd one)).

  Definition together_fits : bool :=
    Nat.ltb scene (length scenarios) && standing places && Nat.ltb 0 (length among) && different chosen && forallb among_fits among.

  Definition alone (one : nat * list Z) : list summand := [summand_of how d 1 D (together_of one) 1].

  Definition check_together_longer (num den : Z) : bool :=
    together_fits && forallb (fun one => check_longer prec d (D * (e * r)) sn sd (alone one) num den) among.
  Definition check_together_impossible : bool :=
    together_fits && forallb (fun one => check_cancels prec d (D * (e * r)) sd (alone one)) among.

  Lemma sum_in_list (f : nat -> R) l : different l = true -> (forall i, In i l -> (i < n)%nat) ->
    sum_in n (fun i => existsb (Nat.eqb i) l) f = sum_list f l.
  Proof.
    induction l as [|a l IH]; intros H L; [unfold sum_in; simpl; apply sum_zero|].
    simpl in H. rewrite andb_true_iff, negb_true_iff in H. destruct H as [N H].
    simpl sum_list. rewrite <- IH by (try assumption; intros; apply L; right; assumption).
    unfold sum_in. rewrite (sum_split n _ a (L a (or_introl eq_refl))). simpl existsb at 1. rewrite Nat.eqb_refl. simpl. f_equal.
    apply sum_ext. intros i _. destruct (Nat.eqb_spec i a) as [->|]; [|reflexivity]. rewrite N. reflexivity.
  Qed.

  Lemma found_spec i : in_among i = true -> In (found i) among /\ target targets (fst (found i)) = i.
  Proof.
    unfold in_among, found, chosen. intros H. rewrite existsb_exists in H. destruct H as (j & J & E). apply Nat.eqb_eq in E. subst j.
    apply in_map_iff in J. destruct J as ([a w] & E & I).
    destruct (find _ among) as [x|] eqn:F.
    - apply find_some in F. destruct F as [F G]. destruct x as [b v]. apply Nat.eqb_eq in G. split; [exact F | simpl; congruence].
    - exfalso. apply (find_none _ _ F) in I. apply Nat.eqb_neq in I. congruence.
  Qed.

  Lemma together_ineq h q : (0 < h)%nat -> together_fits = true -> met_together d n e scenarios g spreads which sn sd targets h q ->
    exists j one, (j < h)%nat /\ In one among /\ says d (D * (e * r)) sn sd (q j) (summand_of how d 1 D (together_of one) 1).
  Proof.
    intros Hh Fi G. unfold together_fits in Fi. rewrite !andb_true_iff in Fi. destruct Fi as [[[[A S] NE] DI] F].
    apply Nat.ltb_lt in A. apply Nat.ltb_lt in NE.
    destruct (placed_in_uncertainty (nth scene scenarios []) places (nth_In _ _ A) S) as [L W].
    set (k := table (e * r) (placed (nth scene scenarios []) places)) in *.
    rewrite forallb_forall in F.
    assert (FI : forall one, In one among -> (fst one < length targets)%nat /\ sound d (e * r) 1 D (together_of one) = true
      /\ forall i, (i < n)%nat -> outside_and in_among (target targets (fst one)) i = false -> nth i (snd one) 0%Z = 0%Z).
    { intros one O. apply F in O. unfold among_fits in O. rewrite !andb_true_iff in O. destruct O as [[O1 O2] O3].
      split; [apply Nat.ltb_lt, O1 | split; [exact O2|]]. intros i Hi O. rewrite forallb_forall in O3.
      destruct (sound_parts _ _ _ _ _ O2) as (_ & _ & _ & _ & _ & _ & _ & LS & _). simpl in LS. rewrite L in LS.
      assert (X := O3 (nth i (combine (seq 0 n) (snd one)) (0%nat, 0%Z))).
      rewrite combine_nth in X by (rewrite seq_length; congruence). rewrite seq_nth in X by exact Hi. change (0 + i)%nat with i in X.
      rewrite orb_true_iff, O in X.
      destruct X as [X|X]; [|apply Z.eqb_eq, X | discriminate].
      assert (N : nth i (combine (seq 0 n) (snd one)) (0%nat, 0%Z) = (i, nth i (snd one) 0%Z))
        by (rewrite combine_nth by (rewrite seq_length; congruence); rewrite seq_nth by exact Hi; reflexivity).
      rewrite <- N. apply nth_In. rewrite combine_length, seq_length, LS, Nat.min_id. exact Hi. }
    assert (LT : forall i, In i chosen -> (i < n)%nat).
    { intros i Hi. apply in_map_iff in Hi. destruct Hi as ([a w] & <- & I). destruct (FI _ I) as (B & _). simpl in B.
      destruct (sense_targets _ _ _ _ _ _ _ _ sense _ B) as (? & ? & _ & X & _). exact X. }
    set (p := fun i => least targets (fst (found i))).
    (* the sum of the least weights is the ratio that is computed *)
    assert (FS : forall l, (forall i, In i l -> in_among i = true) ->
      let '(x, y) := fold_right (fun i '(num, den) => let '(x, y) := snd (nth (fst (found i)) targets (0%nat, (1%Z, 1%Z))) in (num * y + x * den, den * y))%Z (0, 1)%Z l in
      0 < IZR y /\ sum_list p l = IZR x / IZR y).
    { induction l as [|i l IH]; intros H; [simpl; split; [lra | unfold Rdiv; ring]|].
      simpl fold_right. destruct (fold_right _ (0, 1)%Z l) as [num den]. destruct IH as [P E]; [intros; apply H; right; assumption|].
      destruct (found_spec i (H i (or_introl eq_refl))) as [I _]. destruct (FI _ I) as (B & _).
      destruct (sense_targets _ _ _ _ _ _ _ _ sense _ B) as (x & y & N & _ & X & Y & V). rewrite N. simpl snd.
      apply IZR_pos in X. apply IZR_pos in Y. split; [rewrite mult_IZR; apply Rmult_lt_0_compat; assumption|].
      simpl sum_list. rewrite E. unfold p. rewrite V, plus_IZR, !mult_IZR. field. lra. }
    assert (TA : forall i, In i chosen -> in_among i = true).
    { intros i Hi. unfold in_among. apply existsb_exists. exists i. split; [exact Hi | apply Nat.eqb_refl]. }
    assert (FS' := FS chosen TA). fold floor_sum in FS'.
    destruct floor_sum as [x y] eqn:FE. destruct FS' as [Y SP].
    destruct among as [|one0 rest] eqn:AM; [simpl in NE; lia|]. rewrite <- AM in *.
    assert (I0 : In one0 among) by (rewrite AM; left; reflexivity).
    destruct (FI _ I0) as (B0 & S0 & _).
    destruct (sound_parts _ _ _ _ _ S0) as (_ & _ & _ & _ & O0 & N0 & M0 & _). simpl in N0, M0.
    unfold together_floor in N0, M0. rewrite FE in N0, M0. simpl in N0, M0.
    simpl in O0. rewrite L in O0.
    assert (XP := IZR_pos _ N0).
    set (P := IZR x / IZR y).
    assert (PP : 0 < P) by (apply Rdiv_lt_0_compat; assumption).
    assert (SI : sum_in n in_among (fun _ => 1) = INR (length chosen)).
    { unfold in_among. rewrite (sum_in_list (fun _ => 1) chosen DI LT). clear. induction chosen as [|i l IH]; [reflexivity|].
      simpl sum_list. rewrite IH. simpl length. rewrite S_INR. ring. }
    destruct (several_heads d n h scale k in_among p P (fun a => share D (together_of (found a))) q) as (j & a & Hj & Ha & Sa & X); try assumption.
    - lia.
    - exists (target targets (fst one0)). split; [exact O0|]. apply TA. unfold chosen. apply in_map_iff. exists one0. split; [destruct one0; reflexivity | exact I0].
    - unfold P. rewrite <- SP. unfold in_among. rewrite (sum_in_list p chosen DI LT). apply Rle_refl.
    - intros a Ha Sa. destruct (found_spec a Sa) as [I E]. destruct (FI _ I) as (B & _).
      assert (Q := G k W (fst (found a)) B). rewrite E in Q. fold (p a) in Q.
      assert (HI : 0 < INR h) by (apply lt_0_INR, Hh).
      apply Rmult_le_compat_l with (r := INR h) in Q; [|lra].
      replace (INR h * (sum h (fun j => pattern n (scores d (Checking.scale sn sd) (q j) k) a) / INR h))
        with (sum h (fun j => pattern n (scores d (Checking.scale sn sd) (q j) k) a)) in Q by (field; lra). exact Q.
    - intros a Ha Sa. destruct (found_spec a Sa) as [I E]. destruct (FI _ I) as (_ & O & Z).
      assert (DS := share_distribution _ _ _ _ _ O). simpl in DS. rewrite L in DS. split; [exact DS|].
      intros i Hi Out. unfold share. simpl. rewrite Z; [unfold Rdiv; ring | exact Hi | rewrite E; exact Out].
    - destruct (found_spec a Sa) as [I E]. destruct (FI _ I) as (_ & O & _).
      exists j, (found a). split; [exact Hj | split; [exact I|]]. apply summand_says; [exact O|].
      unfold value, pull_of. simpl rows. rewrite L. simpl own. rewrite E. fold k.
      assert (Z : forall i, added 1 (together_of (found a)) i = 0).
      { intros i. unfold added. simpl bias. replace (nth i [] 0%Z) with 0%Z by (destruct i; reflexivity). unfold Rdiv. ring. }
      rewrite Z. rewrite (sum_ext n (fun i => share D (together_of (found a)) i * added 1 (together_of (found a)) i) (fun _ => 0))
        by (intros; rewrite Z; ring). rewrite sum_zero.
      assert (FO : floor_of (together_of (found a)) = P / (P + sum_in n in_among (fun _ => 1) * (1 - P))).
      { unfold floor_of. simpl floor. unfold together_floor. rewrite FE. simpl fst. simpl snd. rewrite SI.
        rewrite plus_IZR, mult_IZR, minus_IZR, <- INR_IZR_INZ. unfold P.
        apply IZR_pos in M0. rewrite plus_IZR, mult_IZR, minus_IZR, <- INR_IZR_INZ in M0.
        assert (Q : IZR x / IZR y + INR (length chosen) * (1 - IZR x / IZR y) = (IZR x + INR (length chosen) * (IZR y - IZR x)) / IZR y) by (field; lra).
        rewrite Q. field. split; lra. }
      rewrite FO. unfold scale in X. lra.
  Qed.

  Theorem together_longer_correct num den h : (0 < h)%nat -> check_together_longer num den = true ->
    forall q, met_together d n e scenarios g spreads which sn sd targets h q -> exists j, (j < h)%nat /\ IZR num / IZR den <= norm d (q j).
  Proof.
    intros Hh. unfold check_together_longer. rewrite andb_true_iff, forallb_forall. intros [F C] q G.
    destruct (together_ineq h q Hh F G) as (j & one & Hj & I & S). exists j. split; [exact Hj|].
    apply (longer_correct _ _ _ _ _ _ _ _ _ (C one I)). intros s [<-|[]]. exact S.
  Qed.

  Theorem together_impossible_correct h : (0 < h)%nat -> check_together_impossible = true ->
    forall q, ~ met_together d n e scenarios g spreads which sn sd targets h q.
  Proof.
    intros Hh. unfold check_together_impossible. rewrite andb_true_iff, forallb_forall. intros [F C] q G.
    destruct (together_ineq h q Hh F G) as (j & one & Hj & I & S).
    apply (cancels_correct _ _ _ sn _ _ (q j) (C one I)). intros s [<-|[]]. exact S.
  Qed.
  End Together.
End Shortest.
