(** A certificate checked inside the kernel: what is computed on its numbers proves its statement.

    Keys, queries, multipliers and shares are whole numbers over common denominators. *)

Require Import Reals Lra Lia List ZArith Bool.
From Headwright Require Import Sums Attention Certificate Uncertainty Heads Numbers Exponential Bounding.
Import ListNotations.
Open Scope R_scope.

#[global] Opaque exp_up.

(** * The statement of a certificate: keys, what they may be, a target, queries *)

(** The keys are around those of one of some tables. *)
Definition one_around (d n : nat) (tables : list keys) (s : nat -> room) : uncertainty :=
  fun k => exists t, In t tables /\ around d n t s k.

(** What a key may be: low, high and ball over a denominator g, the columns of a factor over the denominator e of the keys. *)
Record spread := { low : Z; high : Z; ball : Z; factor : list (list Z) }.
Definition nowhere : spread := {| low := 0; high := 0; ball := 0; factor := [] |}.
Definition room_of (e g : Z) (s : spread) : room :=
  {| lowest := IZR (low s) / IZR g; highest := IZR (high s) / IZR g; radius := IZR (ball s) / IZR g;
     columns := length (factor s); column := table e (factor s) |}.

(** Key i may be what the spread says that has the number which_i. *)
Definition rooms (e g : Z) (spreads : list spread) (which : list nat) : nat -> room :=
  fun i => room_of e g (nth (nth i which 0%nat) spreads nowhere).

(** A demand: the target, and its least weight as a ratio. *)
Definition demand : Type := nat * (Z * Z).
Definition target (targets : list demand) (a : nat) : nat := fst (nth a targets (0%nat, (1%Z, 1%Z))).
Definition least (targets : list demand) (a : nat) : R :=
  let '(_, (num, den)) := nth a targets (0%nat, (1%Z, 1%Z)) in IZR num / IZR den.

(** h queries together: each target has at least its weight on average over their patterns, in every realization. *)
Definition meet_together (d n h : nat) (scale : R) (w : uncertainty) (m : nat) (t : nat -> nat) (p : nat -> R) (q : nat -> vector) : Prop :=
  forall k, w k -> forall a, (a < m)%nat -> p a <= sum h (fun j => pattern n (scores d scale (q j) k) (t a)) / INR h.

Lemma together_alone d n scale w m t p q : meet_together d n 1 scale w m t p q <-> meets d n scale w m t p (q 0%nat).
Proof.
  assert (E : forall k b, sum 1 (fun j => pattern n (scores d scale (q j) k) b) / INR 1 = pattern n (scores d scale (q 0%nat) k) b)
    by (intros; simpl; field).
  unfold meet_together, meets. split; intros G k K a Ha; [rewrite <- E | rewrite E]; apply G; assumption.
Qed.

Lemma norm_zero d x : norm d x <= 0 -> forall i, (i < d)%nat -> x i = 0.
Proof.
  intros N i Hi. assert (0 <= norm d x) by apply sqrt_pos. assert (Z : norm d x = 0) by lra.
  apply sqrt_eq_0 in Z; [|apply dot_self].
  assert (T : x i * x i <= 0).
  { rewrite <- Z. apply (sum_term d (fun j => x j * x j) i Hi). intros j _. apply (Rle_0_sqr (x j)). }
  nra.
Qed.

(** The number of what each of n keys may be, in one pass: 0 where none is named. *)
Fixpoint padded (n : nat) (which : list nat) : list nat :=
  match n, which with
  | O, _ => []
  | S n, [] => 0%nat :: padded n []
  | S n, w :: which => w :: padded n which
  end.

Lemma length_padded n which : length (padded n which) = n.
Proof. revert which. induction n as [|n IH]; intros [|w which]; simpl; try rewrite IH; reflexivity. Qed.

Lemma nth_padded n which i : (i < n)%nat -> nth i (padded n which) 0%nat = nth i which 0%nat.
Proof.
  revert which i. induction n as [|n IH]; intros [|w which] [|i] Hi; simpl; try lia; try reflexivity; [|apply IH; lia].
  rewrite IH by lia. destruct i; reflexivity.
Qed.

(** * Sums with one term left out *)

Fixpoint sum_I {A} (prec : Floats.precision) (f : A -> I.type) (l : list A) : I.type :=
  match l with
  | [] => I.zero
  | x :: rest => I.add prec (f x) (sum_I prec f rest)
  end.

Fixpoint but_I {A} (prec : Floats.precision) (f : A -> I.type) (a : nat) (l : list A) : I.type :=
  match l, a with
  | [], _ => I.zero
  | _ :: rest, O => sum_I prec f rest
  | x :: rest, S a => I.add prec (f x) (but_I prec f a rest)
  end.

Lemma sum_I_encloses {A} prec (f : A -> I.type) (g : A -> R) l : (forall x, In x l -> encloses (f x) (g x)) ->
  encloses (sum_I prec f l) (sum_list g l).
Proof.
  induction l as [|x l IH]; intros H; [apply zero_encloses|].
  simpl. apply add_encloses; [apply H; left; reflexivity | apply IH; intros; apply H; right; assumption].
Qed.

Lemma but_I_encloses {A} prec (f : A -> I.type) (g : A -> R) z l a : (forall x, In x l -> encloses (f x) (g x)) ->
  encloses (but_I prec f a l) (sum (length l) (fun i => if Nat.eqb i a then 0 else g (nth i l z))).
Proof.
  revert a. induction l as [|x l IH]; intros a H; [destruct a; apply zero_encloses|].
  simpl length. rewrite sum_first. destruct a as [|a].
  - simpl. rewrite Rplus_0_l. rewrite (sum_nth l z g). apply sum_I_encloses. intros; apply H; right; assumption.
  - simpl. apply add_encloses; [apply H; left; reflexivity | apply IH; intros; apply H; right; assumption].
Qed.

Lemma some_same {A} (x y : A) : Some x = Some y -> x = y.
Proof. intros H. injection H as H. exact H. Qed.

Fixpoint sum_of {A} (f : A -> Z) (l : list A) : Z :=
  match l with
  | [] => 0%Z
  | x :: rest => (f x + sum_of f rest)%Z
  end.

Fixpoint but_Z {A} (f : A -> Z) (a : nat) (l : list A) : Z :=
  match l, a with
  | [], _ => 0%Z
  | _ :: rest, O => sum_of f rest
  | x :: rest, S a => (f x + but_Z f a rest)%Z
  end.

Lemma sum_of_above {A} (f : A -> Z) (c : R) (g : nat -> R) z l : (forall i, (i < length l)%nat -> g i <= IZR (f (nth i l z)) * c) ->
  sum (length l) g <= IZR (sum_of f l) * c.
Proof.
  revert g. induction l as [|x l IH]; intros g H; [simpl; lra|].
  simpl length. rewrite sum_first. simpl. rewrite plus_IZR. assert (X := H 0%nat ltac:(simpl; lia)). simpl in X.
  assert (Y := IH (fun i => g (S i))). rewrite Rmult_plus_distr_r. apply Rplus_le_compat; [exact X|]. apply Y.
  intros i Hi. apply (H (S i)). simpl. lia.
Qed.

Lemma but_Z_above {A} (f : A -> Z) (c : R) (g : nat -> R) z l a : (forall i, (i < length l)%nat -> g i <= IZR (f (nth i l z)) * c) ->
  sum (length l) (fun i => if Nat.eqb i a then 0 else g i) <= IZR (but_Z f a l) * c.
Proof.
  revert g a. induction l as [|x l IH]; intros g a H; [destruct a; simpl; lra|].
  simpl length. rewrite sum_first. destruct a as [|a].
  - simpl. rewrite Rplus_0_l. apply (sum_of_above f c (fun i => g (S i)) z). intros i Hi. apply (H (S i)). simpl. lia.
  - simpl. rewrite plus_IZR, Rmult_plus_distr_r. apply Rplus_le_compat; [apply (H 0%nat); simpl; lia|].
    apply (IH (fun i => g (S i))). intros i Hi. apply (H (S i)). simpl. lia.
Qed.

(** * What is checked *)

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
  Variable how : method.
  Local Notation prec := (accuracy how).
  Variables (d n : nat) (e : Z) (scenarios : list (list (list Z))) (g : Z) (spreads : list spread) (which : list nat).
  Variables (sn sd : Z) (targets : list demand).

  Definition scale : R := IZR sn / IZR sd.
  Definition the_uncertainty : uncertainty := one_around d n (map (table e) scenarios) (rooms e g spreads which).
  Definition met_by (q : vector) : Prop := meets d n scale the_uncertainty (length targets) (target targets) (least targets) q.
  Definition met_together (h : nat) (q : nat -> vector) : Prop :=
    meet_together d n h scale the_uncertainty (length targets) (target targets) (least targets) q.
  Definition spread_at (i : nat) : spread := nth (nth i which 0%nat) spreads nowhere.

  Definition sensible : bool :=
    (0 <? e)%Z && (0 <? g)%Z && (0 <? sd)%Z && forallb (well_formed d n) scenarios &&
    forallb (fun s => forallb (fun c => Nat.eqb (length c) d) (factor s)) spreads &&
    forallb (fun '(a, (num, den)) => (Nat.ltb a n) && (0 <? num)%Z && (0 <? den)%Z) targets.

  Hypothesis sense : sensible = true.

  Lemma sense_parts : 0 < IZR e /\ 0 < IZR g /\ 0 < IZR sd.
  Proof.
    assert (S := sense). unfold sensible in S. rewrite !andb_true_iff in S. destruct S as [[[[[A B] C] _] _] _].
    repeat split; apply IZR_pos, Z.ltb_lt; assumption.
  Qed.
  Lemma sense_rows rows : In rows scenarios -> well_formed d n rows = true.
  Proof. assert (S := sense). unfold sensible in S. rewrite !andb_true_iff, !forallb_forall in S. intros. apply S. assumption. Qed.

  Lemma sense_factor s : In s (nowhere :: spreads) -> Forall (fun c => length c = d) (factor s).
  Proof.
    intros [<-|H]; [constructor|]. assert (S := sense). unfold sensible in S. rewrite !andb_true_iff in S. destruct S as [[_ S] _].
    rewrite forallb_forall in S. apply S in H. apply Forall_forall. rewrite forallb_forall in H.
    intros c Hc. apply Nat.eqb_eq, H, Hc.
  Qed.

  Lemma a_spread j : In (nth j spreads nowhere) (nowhere :: spreads).
  Proof. destruct (nth_in_or_default j spreads nowhere) as [H|H]; [right; exact H | left; symmetry; exact H]. Qed.

  Lemma sense_targets a : (a < length targets)%nat ->
    exists num den, nth a targets (0%nat, (1%Z, 1%Z)) = (target targets a, (num, den))
      /\ (target targets a < n)%nat /\ (0 < num)%Z /\ (0 < den)%Z /\ least targets a = IZR num / IZR den.
  Proof.
    intros Ha. assert (S := sense). unfold sensible in S. rewrite !andb_true_iff, !forallb_forall in S. destruct S as [_ W].
    assert (H := W _ (nth_In targets (0%nat, (1%Z, 1%Z)) Ha)). unfold target, least.
    destruct (nth a targets (0%nat, (1%Z, 1%Z))) as [t [num den]]. rewrite !andb_true_iff in H. destruct H as [[T A] B].
    exists num, den. repeat split; [apply Nat.ltb_lt, T | apply Z.ltb_lt, A | apply Z.ltb_lt, B].
  Qed.

  (** ** Met *)

  Section Met.
  Variables (f : Z) (queries : list (list Z)).

  (** How far a score may be off its place, in keys of one spread. *)
  Definition reach (q : list Z) (s : spread) : I.type :=
    if (ball s =? 0)%Z && match factor s with [] => true | _ => false end then I.zero
    else let w := map (dot_Z q) (factor s) in
      I.mul prec (ratio prec (Z.abs sn) sd)
        (I.add prec (I.mul prec (I.sqrt prec (ratio prec (dot_Z q q) (f * f))) (ratio prec (ball s) g))
          (I.sqrt prec (ratio prec (dot_Z w w) (f * e * (f * e))))).

  Definition reach_R (q : list Z) (s : spread) : R :=
    Rabs scale * (norm d (row f q) * radius (room_of e g s)
      + norm (columns (room_of e g s)) (fun y => dot d (row f q) (column (room_of e g s) y))).

  (** The lowest and the highest score of each key but for that, over D = g sd f e; and the number of its spread. *)
  Definition seen (q : list Z) (rows : list (list Z)) : list (Z * Z * nat) :=
    map (fun '(w, r) =>
      let s := nth w spreads nowhere in
      let m := (sn * dot_Z q r)%Z in
      (Z.min (low s * m) (high s * m), Z.max (low s * m) (high s * m), w)%Z)
      (combine (padded n which) rows).

  (** exp(r + off), and from above. *)
  Definition factor_of (W : Z) (off r : I.type) : I.type * Z := let i := I.exp prec (I.add prec r off) in (i, end_of how W i).

  Definition highest_difference : Z := 5000.

  (** What competes with target a at worst, over W^2: none where scores are further apart than that. *)
  Definition rivals (fine : nat) (W : Z) (q : list Z) (rows : list (list Z)) (a : nat) : option Z :=
    let D := (g * (sd * (f * e)))%Z in
    let m := halvings fine in
    let M := power m in
    let l := seen q rows in
    let '(own, _, v) := nth a l (0%Z, 0%Z, 0%nat) in
    let reaches := map (reach q) spreads in
    let off := nth v reaches (reach q nowhere) in
    let factors := map (factor_of W off) reaches in
    let last := factor_of W off (reach q nowhere) in
    if forallb (fun '(i, m) => ends_at how W i m) (last :: factors) && forallb (fun '(_, top, _) => (top - own <=? highest_difference * D)%Z) l
    then Some (but_Z (fun '(_, top, w) => exp_up how m M W (top - own) D * snd (nth w factors last))%Z a l) else None.

  Definition check_demand (rows : list (list Z)) (one : demand) : bool :=
    let '(a, (num, den)) := one in
    let fine := fineness den in
    let W := unit_for fine in
    match queries with
    | [q] => match rivals fine W q rows a with Some z => (z * num <=? (den - num) * (W * W))%Z | None => false end
    | _ => not_negative (I.sub prec
        (sum_I prec (fun q => match rivals fine W q rows a with Some z => ratio prec (W * W) (W * W + z) | None => I.zero end) queries)
        (I.mul prec (I.fromZ prec (Z.of_nat (length queries))) (ratio prec num den)))
    end.

  Definition check_targets_met : bool :=
    (0 <? f)%Z && Nat.ltb 0 (length queries) && forallb (fun q => Nat.eqb (length q) d) queries &&
    forallb (fun rows => forallb (check_demand rows) targets) scenarios.

  Hypothesis f_pos : 0 < IZR f.

  Lemma abs_scale : Rabs scale = IZR (Z.abs sn) / IZR sd.
  Proof.
    destruct sense_parts as (_ & _ & S). unfold scale, Rdiv. rewrite Rabs_mult, abs_IZR, (Rabs_right (/ IZR sd)); [reflexivity|].
    apply Rle_ge, Rlt_le, Rinv_0_lt_compat, S.
  Qed.

  Lemma reach_encloses q s : length q = d -> In s (nowhere :: spreads) -> encloses (reach q s) (reach_R q s).
  Proof.
    intros L H. destruct sense_parts as (E & G & S). assert (F := sense_factor s H).
    assert (N2 : norm (length (factor s)) (fun y => dot d (row f q) (table e (factor s) y))
      = sqrt (IZR (dot_Z (map (dot_Z q) (factor s)) (map (dot_Z q) (factor s))) / IZR (f * e * (f * e)))).
    { unfold norm. f_equal. rewrite (mult_IZR (f * e) (f * e)).
      rewrite <- (dot_rows (length (factor s)) (f * e) (f * e)) by (try apply map_length; rewrite mult_IZR; apply Rgt_not_eq, Rmult_gt_0_compat; assumption).
      unfold dot at 1 4. apply sum_ext. intros y Hy.
      assert (X : dot d (row f q) (table e (factor s) y) = row (f * e) (map (dot_Z q) (factor s)) y).
      { unfold table. rewrite (dot_rows d f e q (nth y (factor s) [])).
        - unfold row. rewrite (nth_indep _ 0%Z (dot_Z q [])) by (rewrite map_length; exact Hy). rewrite map_nth, mult_IZR. reflexivity.
        - exact L.
        - rewrite Forall_forall in F. apply F, nth_In, Hy.
        - lra.
        - lra. }
      rewrite X. reflexivity. }
    unfold reach, reach_R. destruct ((ball s =? 0)%Z && match factor s with [] => true | _ => false end) eqn:B.
    - rewrite andb_true_iff in B. destruct B as [B C]. apply Z.eqb_eq in B. destruct s as [lo hi ba fa]. simpl in *. subst ba.
      destruct fa; [|discriminate]. simpl. unfold norm at 2, dot at 1. simpl. rewrite sqrt_0.
      replace (Rabs scale * (norm d (row f q) * (0 / IZR g) + 0)) with 0 by (unfold Rdiv; ring). apply zero_encloses.
    - simpl columns. simpl column. simpl radius. rewrite N2, abs_scale. apply mul_encloses; [apply ratio_encloses; lra|].
      apply add_encloses; [apply mul_encloses; [|apply ratio_encloses; lra] |].
      + unfold norm. rewrite (dot_rows d f f) by (try assumption; lra). rewrite <- mult_IZR. apply sqrt_encloses, ratio_encloses.
        rewrite mult_IZR. apply Rgt_not_eq, Rmult_gt_0_compat; assumption.
      + apply sqrt_encloses, ratio_encloses. rewrite !mult_IZR. apply Rgt_not_eq. repeat apply Rmult_gt_0_compat; assumption.
  Qed.

  Lemma length_seen q rows : length rows = n -> length (seen q rows) = n.
  Proof. intros L. unfold seen. rewrite map_length, combine_length, length_padded, L. apply Nat.min_id. Qed.

  Lemma nth_seen q rows i : length rows = n -> (i < n)%nat ->
    nth i (seen q rows) (0%Z, 0%Z, 0%nat) =
      (Z.min (low (spread_at i) * (sn * dot_Z q (nth i rows []))) (high (spread_at i) * (sn * dot_Z q (nth i rows []))),
       Z.max (low (spread_at i) * (sn * dot_Z q (nth i rows []))) (high (spread_at i) * (sn * dot_Z q (nth i rows []))),
       nth i which 0%nat)%Z.
  Proof.
    intros L Hi. unfold seen.
    set (F := fun '(w, r) => _).
    rewrite (nth_indep _ (0%Z, 0%Z, 0%nat) (F (0%nat, []))) by (rewrite map_length, combine_length, length_padded, L, Nat.min_id; exact Hi).
    rewrite map_nth, combine_nth by (rewrite length_padded; symmetry; exact L). rewrite nth_padded by exact Hi. reflexivity.
  Qed.

  (** The bounds of a score in the numbers that are computed. *)
  Lemma score_between q rows k i : length q = d -> In rows scenarios -> around d n (table e rows) (rooms e g spreads which) k -> (i < n)%nat ->
    let '(lo, hi, _) := nth i (seen q rows) (0%Z, 0%Z, 0%nat) in
    IZR lo / IZR (g * (sd * (f * e))) - reach_R q (spread_at i) <= scores d scale (row f q) k i
    <= IZR hi / IZR (g * (sd * (f * e))) + reach_R q (spread_at i).
  Proof.
    intros L R K Hi. destruct sense_parts as (E & G & S). assert (WF := sense_rows rows R). assert (LR := well_formed_length d n rows WF).
    rewrite nth_seen by assumption.
    destruct (around_scores d n scale (table e rows) (rooms e g spreads which) (row f q) k i K Hi) as (c & C & B).
    change (rooms e g spreads which i) with (room_of e g (spread_at i)) in *.
    fold (reach_R q (spread_at i)) in B. simpl in C.
    assert (X : scale * dot d (row f q) (table e rows i) = IZR (sn * dot_Z q (nth i rows [])) / (IZR sd * (IZR f * IZR e))).
    { unfold table. rewrite (dot_rows d f e q (nth i rows []) L (well_formed_row d n rows i WF Hi)) by lra.
      unfold scale. rewrite mult_IZR. field. lra. }
    rewrite X in B. set (m := (sn * dot_Z q (nth i rows []))%Z) in *. set (lo := low (spread_at i)) in *. set (hi := high (spread_at i)) in *.
    set (D := IZR sd * (IZR f * IZR e)) in *.
    assert (DP : 0 < D) by (unfold D; repeat apply Rmult_lt_0_compat; assumption).
    assert (V : forall z, IZR (z * m) / IZR (g * (sd * (f * e))) = IZR z / IZR g * (IZR m / D)).
    { intros z. rewrite !mult_IZR. unfold D. field. lra. }
    assert (H : IZR (Z.min (lo * m) (hi * m)) / IZR (g * (sd * (f * e))) <= c * (IZR m / D)
      <= IZR (Z.max (lo * m) (hi * m)) / IZR (g * (sd * (f * e)))).
    { assert (P : 0 < IZR (g * (sd * (f * e)))) by (rewrite !mult_IZR; repeat apply Rmult_lt_0_compat; assumption).
      assert (Y1 : IZR (Z.min (lo * m) (hi * m)) / IZR (g * (sd * (f * e))) <= Rmin (IZR lo / IZR g * (IZR m / D)) (IZR hi / IZR g * (IZR m / D))).
      { rewrite <- !V. apply Rmin_glb; apply Rmult_le_compat_r; try (apply Rlt_le, Rinv_0_lt_compat, P); apply IZR_le; lia. }
      assert (Y2 : Rmax (IZR lo / IZR g * (IZR m / D)) (IZR hi / IZR g * (IZR m / D)) <= IZR (Z.max (lo * m) (hi * m)) / IZR (g * (sd * (f * e)))).
      { rewrite <- !V. apply Rmax_lub; apply Rmult_le_compat_r; try (apply Rlt_le, Rinv_0_lt_compat, P); apply IZR_le; lia. }
      clear - C Y1 Y2. set (x := IZR m / D) in *. set (l := IZR lo / IZR g) in *. set (h := IZR hi / IZR g) in *.
      destruct (Rle_or_lt 0 x).
      - rewrite Rmin_left in Y1 by nra. rewrite Rmax_right in Y2 by nra. nra.
      - rewrite Rmin_right in Y1 by nra. rewrite Rmax_left in Y2 by nra. nra. }
    lra.
  Qed.

  (** Each query gives a target at least 1 / (1 + o), o what competes at worst. *)
  Lemma weight_reached fine W q rows k a z : (0 < W)%Z -> length q = d -> In rows scenarios ->
    around d n (table e rows) (rooms e g spreads which) k -> (a < n)%nat -> rivals fine W q rows a = Some z ->
    0 <= IZR z / IZR (W * W) /\ / (1 + IZR z / IZR (W * W)) <= pattern n (scores d scale (row f q) k) a.
  Proof.
    intros W0 L R K Ha. destruct sense_parts as (E & G & S).
    assert (LR := well_formed_length d n rows (sense_rows rows R)). assert (WP := IZR_pos _ W0).
    set (D := (g * (sd * (f * e)))%Z).
    assert (DP : 0 < IZR D) by (unfold D; rewrite !mult_IZR; repeat apply Rmult_lt_0_compat; assumption).
    unfold rivals. cbv zeta. fold D. assert (NA := nth_seen q rows a LR Ha). destruct (nth a (seen q rows) (0%Z, 0%Z, 0%nat)) as [[own own_top] v] eqn:N.
    injection NA as OWN _ ->. fold (spread_at a) in *.
    set (reaches := map (reach q) spreads).
    assert (NR : forall w, nth w reaches (reach q nowhere) = reach q (nth w spreads nowhere)) by (intros w; apply map_nth).
    rewrite NR. fold (spread_at a). set (off := reach q (spread_at a)).
    set (factors := map (factor_of W off) reaches). set (last := factor_of W off (reach q nowhere)).
    destruct (forallb (fun '(i, m) => ends_at how W i m) (last :: factors) && forallb _ (seen q rows)) eqn:OK; [|discriminate].
    intros Z0. apply some_same in Z0. rewrite <- Z0. clear Z0. rewrite andb_true_iff, !forallb_forall in OK. destruct OK as [FIT NEAR].
    set (bottom := IZR own / IZR D - reach_R q (spread_at a)).
    set (top := fun i => let '(_, h, _) := nth i (seen q rows) (0%Z, 0%Z, 0%nat) in IZR h / IZR D + reach_R q (spread_at i)).
    set (o := sum n (fun i => if Nat.eqb i a then 0 else exp (top i - bottom))).
    assert (O : 0 <= o).
    { apply sum_nonneg. intros i _. destruct (Nat.eqb i a); [lra | apply Rlt_le, exp_pos]. }
    match goal with |- context [but_Z ?h a _] => set (F := h) end.
    assert (B : o <= IZR (but_Z F a (seen q rows)) * / IZR (W * W)).
    { unfold o. rewrite <- (length_seen q rows LR). apply (but_Z_above F (/ IZR (W * W)) (fun i => exp (top i - bottom)) (0%Z, 0%Z, 0%nat)).
      rewrite (length_seen q rows LR). intros i Hi. unfold top, bottom.
      assert (IN := nth_In (seen q rows) (0%Z, 0%Z, 0%nat) ltac:(rewrite (length_seen q rows LR); exact Hi)). apply NEAR in IN.
      rewrite (nth_seen q rows i LR Hi) in *. unfold F.
      match type of IN with (?t - own <=? _)%Z = true => set (hi := t) in * end.
      apply Z.leb_le in IN.
      replace (IZR hi / IZR D + reach_R q (spread_at i) - (IZR own / IZR D - reach_R q (spread_at a)))
        with (IZR (hi - own) / IZR D + (reach_R q (spread_at i) + reach_R q (spread_at a))) by (rewrite minus_IZR; field; lra).
      rewrite exp_plus.
      assert (X := exp_up_spec how (halvings fine) (power (halvings fine)) W (hi - own) D (IZR_power _) W0 ltac:(apply lt_IZR; exact DP)).
      assert (SM : (highest_difference * D < D * power (halvings fine))%Z).
      { apply lt_IZR in DP. assert (PF := power_far fine). unfold highest_difference. nia. }
      specialize (X ltac:(lia)).
      assert (NF : In (nth (nth i which 0%nat) factors last) (last :: factors)).
      { destruct (nth_in_or_default (nth i which 0%nat) factors last) as [Y|Y]; [right; exact Y | left; symmetry; exact Y]. }
      apply FIT in NF. clear FIT.
      assert (NE : nth (nth i which 0%nat) factors last = factor_of W off (reach q (spread_at i))).
      { unfold factors, last. rewrite map_nth, NR. reflexivity. }
      rewrite NE in *. clear NE. unfold factor_of in *. cbn [snd] in *.
      set (i0 := I.exp prec (I.add prec (reach q (spread_at i)) off)) in *.
      assert (Y := ends_at_above how W i0 (end_of how W i0) (exp (reach_R q (spread_at i) + reach_R q (spread_at a))) W0 NF).
      specialize (Y ltac:(apply exp_encloses, add_encloses; apply reach_encloses; try assumption; apply a_spread)).
      rewrite mult_IZR. rewrite (mult_IZR W W).
      apply Rle_trans with (IZR (exp_up how (halvings fine) (power (halvings fine)) W (hi - own) D) / IZR W * (IZR (end_of how W i0) / IZR W)).
      - apply Rmult_le_compat; try assumption; apply Rlt_le, exp_pos.
      - apply Req_le. generalize (exp_up how (halvings fine) (power (halvings fine)) W (hi - own) D) (end_of how W i0). intros x y. field. lra. }
    fold (IZR (but_Z F a (seen q rows)) / IZR (W * W)) in B. set (o' := IZR (but_Z F a (seen q rows)) / IZR (W * W)) in *.
    split; [lra|].
    apply Rle_trans with (/ (1 + o)); [apply Rinv_le_contravar; lra|].
    assert (P : 0 < / (1 + o)) by (apply Rinv_0_lt_compat; lra).
    apply met_by_the_others; [exact Ha | exact P|].
    replace (1 / / (1 + o) - 1) with o by (field; lra).
    apply sum_le. intros i Hi. destruct (Nat.eqb i a); [lra|]. apply exp_monotone.
    assert (Bi := score_between q rows k i L R K Hi). assert (Ba := score_between q rows k a L R K Ha).
    unfold top, bottom. fold D in Bi, Ba. rewrite N in Ba. destruct (nth i (seen q rows) _) as [[? ?] ?]. lra.
  Qed.
  End Met.

  Theorem met_correct f queries : check_targets_met f queries = true -> met_together (length queries) (fun j => row f (nth j queries [])).
  Proof.
    unfold check_targets_met. rewrite !andb_true_iff. intros [[[F H] L] C] k (t & T & K) a Ha.
    apply in_map_iff in T. destruct T as (rows & <- & R).
    apply Z.ltb_lt, IZR_pos in F. apply Nat.ltb_lt in H.
    assert (LQ : forall q, In q queries -> length q = d).
    { rewrite forallb_forall in L. intros q Hq. apply Nat.eqb_eq, L, Hq. }
    destruct (sense_targets a Ha) as (num & den & NW & T & Pn & Pd & P).
    assert (W' : In (target targets a, (num, den)) targets) by (rewrite <- NW; apply nth_In, Ha).
    rewrite forallb_forall in C. assert (Q := C rows R). rewrite forallb_forall in Q. apply Q in W'. clear C Q.
    assert (PN := IZR_pos _ Pn). assert (PD := IZR_pos _ Pd). rewrite P.
    unfold check_demand in W'. set (fine := fineness den) in *. set (W := unit_for fine) in *. assert (W0 : (0 < W)%Z) by apply power_pos. assert (WP := IZR_pos _ W0).
    assert (WW : 0 < IZR (W * W)) by (rewrite mult_IZR; apply Rmult_lt_0_compat; assumption).
    assert (HI : 0 < INR (length queries)) by (apply lt_0_INR, H).
    apply Rmult_le_reg_r with (INR (length queries)); [exact HI|].
    unfold Rdiv at 2. rewrite Rmult_assoc, Rinv_l, Rmult_1_r by lra.
    rewrite (sum_nth queries [] (fun q => pattern n (scores d scale (row f q) k) (target targets a))).
    assert (Many : not_negative (I.sub prec
        (sum_I prec (fun q => match rivals f fine W q rows (target targets a) with Some z => ratio prec (W * W) (W * W + z) | None => I.zero end) queries)
        (I.mul prec (I.fromZ prec (Z.of_nat (length queries))) (ratio prec num den))) = true ->
      IZR num / IZR den * INR (length queries) <= sum_list (fun q => pattern n (scores d scale (row f q) k) (target targets a)) queries).
    { intros N.
      assert (X : exists y, encloses (sum_I prec (fun q => match rivals f fine W q rows (target targets a) with Some z => ratio prec (W * W) (W * W + z) | None => I.zero end) queries) y
        /\ y <= sum_list (fun q => pattern n (scores d scale (row f q) k) (target targets a)) queries).
      { clear - LQ F R K T sense W0 WP WW. induction queries as [|q l IH]; [exists 0; split; [apply zero_encloses | simpl; lra]|].
        destruct IH as (y & Y & B); [intros; apply LQ; right; assumption|].
        assert (X : exists x, encloses (match rivals f fine W q rows (target targets a) with Some z => ratio prec (W * W) (W * W + z) | None => I.zero end) x
          /\ x <= pattern n (scores d scale (row f q) k) (target targets a)).
        { destruct (rivals f fine W q rows (target targets a)) as [z|] eqn:RV.
          - destruct (weight_reached f F fine W q rows k (target targets a) z W0 (LQ q (or_introl eq_refl)) R K T RV) as [O G].
            set (o := IZR z / IZR (W * W)) in *.
            assert (ZE : IZR z = o * IZR (W * W)) by (unfold o; field; lra).
            assert (P : 0 < IZR (W * W + z)) by (rewrite plus_IZR, ZE; nra).
            exists (IZR (W * W) / IZR (W * W + z)). split; [apply ratio_encloses; lra|].
            apply Rle_trans with (2 := G). apply Req_le. rewrite plus_IZR, ZE. field. split; [lra|]. nra.
          - exists 0. split; [apply zero_encloses|]. apply Rlt_le, pattern_pos. lia. }
        destruct X as (x & X & B'). exists (x + y). split; [cbn [sum_I]; apply add_encloses; assumption | simpl; lra]. }
      destruct X as (y & Y & B).
      apply (not_negative_correct _ (y - IZR (Z.of_nat (length queries)) * (IZR num / IZR den))) in N.
      - rewrite <- INR_IZR_INZ in N. lra.
      - apply sub_encloses; [exact Y|]. apply mul_encloses; [apply Z_encloses | apply ratio_encloses; lra]. }
    destruct queries as [|q [|q' l]]; [apply Many, W' | | apply Many, W'].
    destruct (rivals f fine W q rows (target targets a)) as [z|] eqn:RV; [|discriminate].
    destruct (weight_reached f F fine W q rows k (target targets a) z W0 (LQ q (or_introl eq_refl)) R K T RV) as [O G].
    apply Z.leb_le, IZR_le in W'. rewrite (mult_IZR z), (mult_IZR (den - num)), minus_IZR in W'.
    set (o := IZR z / IZR (W * W)) in *.
    assert (ZE : IZR z = o * IZR (W * W)) by (unfold o; field; lra).
    assert (OB : o * IZR num <= IZR den - IZR num).
    { apply Rmult_le_reg_r with (IZR (W * W)); [exact WW|]. rewrite ZE in W'. lra. }
    change (IZR num / IZR den * 1 <= pattern n (scores d scale (row f q) k) (target targets a) + 0).
    rewrite Rmult_1_r, Rplus_0_r. apply Rle_trans with (2 := G).
    rewrite <- (Rinv_inv (IZR num / IZR den)). apply Rinv_le_contravar; [lra|].
    replace (/ (IZR num / IZR den)) with (IZR den / IZR num) by (field; lra).
    apply Rmult_le_reg_r with (IZR num); [exact PN|].
    replace (IZR den / IZR num * IZR num) with (IZR den) by (field; lra). lra.
  Qed.
End Statement.
