(** Exponentials from above and entropies from below, in whole numbers.

    exp x <= 1 / (1 - x), which is nearly so for a tiny x, and squaring doubles x. *)

Require Import Reals Lra Lia List ZArith Bool.
From Interval Require Import Float.Basic.
From Headwright Require Import Sums Attention Numbers.
Import ListNotations.
Open Scope R_scope.

(** a / b, rounded up. *)
Definition up (a b : Z) : Z := (- (- a / b))%Z.

Lemma up_spec a b : (0 < b)%Z -> IZR a / IZR b <= IZR (up a b).
Proof.
  intros B. assert (P := IZR_pos _ B). apply Rmult_le_reg_r with (IZR b); [exact P|].
  replace (IZR a / IZR b * IZR b) with (IZR a) by (field; lra). rewrite <- mult_IZR. apply IZR_le. unfold up.
  assert (D := Z.mul_div_le (- a) b B). lia.
Qed.

Fixpoint squares (m : nat) (W E : Z) : Z :=
  match m with
  | O => E
  | S m => squares m W (up (E * E) W)
  end.

Lemma squares_spec m W E x : (0 < W)%Z -> exp x <= IZR E / IZR W -> exp (x * 2 ^ m) <= IZR (squares m W E) / IZR W.
Proof.
  intros P. assert (WP := IZR_pos _ P). revert E x. induction m as [|m IH]; intros E x H; [simpl; rewrite Rmult_1_r; exact H|].
  simpl squares. replace (x * 2 ^ S m) with ((x + x) * 2 ^ m) by (simpl; ring). apply IH. rewrite exp_plus.
  assert (0 < exp x) by apply exp_pos.
  apply Rle_trans with (IZR E / IZR W * (IZR E / IZR W)); [apply Rmult_le_compat; lra|].
  replace (IZR E / IZR W * (IZR E / IZR W)) with (IZR (E * E) / IZR W / IZR W) by (rewrite mult_IZR; field; lra).
  apply Rmult_le_compat_r; [apply Rlt_le, Rinv_0_lt_compat, WP | apply up_spec, P].
Qed.

(** W exp(num / den) from above, for num < den 2^m; M = 2^m. *)
Definition exp_by (m : nat) (M W num den : Z) : Z :=
  let far := (den * M)%Z in squares m W (up (W * far) (far - num)).

Lemma exp_by_spec m M W num den : IZR M = 2 ^ m -> (0 < W)%Z -> (0 < den)%Z -> (num < den * M)%Z ->
  exp (IZR num / IZR den) <= IZR (exp_by m M W num den) / IZR W.
Proof.
  intros ME W0 D0 N. unfold exp_by. set (far := (den * M)%Z) in *.
  assert (WP := IZR_pos _ W0). assert (DP := IZR_pos _ D0).
  assert (MP : 0 < 2 ^ m) by (apply pow_lt; lra).
  assert (FE : IZR far = IZR den * 2 ^ m) by (unfold far; rewrite mult_IZR, ME; reflexivity).
  set (y := 2 ^ m) in *.
  assert (FP : 0 < IZR far) by (rewrite FE; apply Rmult_lt_0_compat; assumption).
  assert (G0 : (0 < far - num)%Z) by lia. assert (GP := IZR_pos _ G0). rewrite minus_IZR in GP.
  replace (IZR num / IZR den) with (IZR num / IZR far * y) by (rewrite FE; field; split; lra).
  apply squares_spec; [exact W0|].
  set (x := IZR num / IZR far).
  assert (X : 0 < 1 - x).
  { replace (1 - x) with ((IZR far - IZR num) / IZR far) by (unfold x; field; lra). apply Rdiv_lt_0_compat; lra. }
  assert (H : 1 - x <= exp (- x)) by (assert (H := exp_ineq1_le (- x)); lra).
  assert (E : exp x = / exp (- x)) by (rewrite <- exp_Ropp, Ropp_involutive; reflexivity).
  rewrite E. apply Rle_trans with (/ (1 - x)); [apply Rinv_le_contravar; assumption|].
  replace (/ (1 - x)) with (IZR (W * far) / IZR (far - num) / IZR W).
  - apply Rmult_le_compat_r; [apply Rlt_le, Rinv_0_lt_compat, WP | apply up_spec, G0].
  - rewrite mult_IZR, minus_IZR. unfold x. field. repeat split; lra.
Qed.

(** How fine all this is: binary digits of a least weight's denominator, and what follows from them. *)
Definition fineness (den : Z) : nat := Z.to_nat (Z.log2_up den).
Definition power (k : nat) : Z := (2 ^ Z.of_nat k)%Z.
Definition halvings (fine : nat) : nat := (80 + fine)%nat.
Definition unit_for (fine : nat) : Z := power (192 + 2 * fine).

Lemma IZR_power k : IZR (power k) = 2 ^ k.
Proof. unfold power. rewrite pow_IZR. reflexivity. Qed.

Lemma power_pos k : (0 < power k)%Z.
Proof. apply Z.pow_pos_nonneg; lia. Qed.

Lemma power_far k : (5000 < power (halvings k))%Z.
Proof.
  unfold power, halvings. rewrite Nat2Z.inj_add, Z.pow_add_r by lia. assert (P := Z.pow_pos_nonneg 2 (Z.of_nat k) ltac:(lia) ltac:(lia)).
  assert (Q : (5000 < 2 ^ Z.of_nat 80)%Z) by (vm_compute; reflexivity). revert P Q. generalize (2 ^ Z.of_nat 80)%Z (2 ^ Z.of_nat k)%Z. intros. nia.
Qed.

(** * Entropies *)

(** Near U ln (z / D), U = 2^bits, from z and the number of digits of D, by squaring: each time a digit of the binary
    logarithm comes out. Any number would do for what is proved. *)
Fixpoint log_bits (bits : nat) (B two v so_far : Z) : Z :=  (* v in units of 2^B, from 1 to 2 *)
  match bits with
  | O => so_far
  | S bits =>
      let v := Z.shiftr (v * v) B in
      if (v <? two)%Z then log_bits bits B two v (2 * so_far) else log_bits bits B two (Z.shiftr v 1) (2 * so_far + 1)
  end.
Definition ln_2 : Z := 0xb17217f7d1cf79abc9e3b39803f2f6af40f343267298b62d8a0d175b8baafa2b.  (* times 2^256 *)
Definition log_near (bits : nat) (B two U size D z : Z) : Z :=
  let k := (Z.log2 z - size)%Z in
  let v := (Z.shiftl z (B - k) / D)%Z in
  let '(k, v) := if (2 * v <? two)%Z then (k - 1, 2 * v)%Z else (k, v) in
  Z.shiftr ((k * U + log_bits bits B two v 0) * ln_2) 256.

Section Entropy.
  Variables (bits m : nat) (B two U M W D : Z).

  Definition tangent_at (size z : Z) : Z := Z.max (log_near bits B two U size D z) (-4000 * U).

  (** The sums of z (1 - t) over U, and of z^2 exp(-t) over W, t near ln (z / D). *)
  Fixpoint entropy_sums (size : Z) (w : list Z) : Z * Z :=
    match w with
    | [] => (0, 0)%Z
    | z :: w =>
        let '(a, b) := entropy_sums size w in
        if (z =? 0)%Z then (a, b) else
        let t := tangent_at size z in
        (a + z * (U - t), b + z * z * exp_by m M W (- t) U)%Z
    end.

  Lemma tangent p t : 0 < p -> p * (1 - t - p * exp (- t)) <= - (p * ln p).
  Proof.
    intros P. assert (E := exp_pos (- t)).
    assert (H := ln_le_minus_one (p * exp (- t)) ltac:(apply Rmult_lt_0_compat; assumption)).
    rewrite ln_mult, ln_exp in H by assumption. nra.
  Qed.

  Lemma entropy_step z D' W' u t x a b term rest : 0 < z -> 0 < D' -> 0 < W' -> 0 < u ->
    exp (- (t / u)) <= x / W' -> term = z / D' * ln (z / D') -> a / (D' * u) - b / (D' * D' * W') <= - rest ->
    (a + z * (u - t)) / (D' * u) - (b + z * z * x) / (D' * D' * W') <= - (term + rest).
  Proof.
    intros Z0 D0 W0 U0 X -> R. set (p := z / D'). assert (P : 0 < p) by (apply Rdiv_lt_0_compat; assumption).
    assert (T := tangent p (t / u) P).
    assert (Y : p * exp (- (t / u)) <= p * (x / W')) by (apply Rmult_le_compat_l; lra).
    assert (Y' : p * (1 - t / u - p * (x / W')) <= p * (1 - t / u - p * exp (- (t / u)))) by (apply Rmult_le_compat_l; lra).
    replace ((a + z * (u - t)) / (D' * u) - (b + z * z * x) / (D' * D' * W'))
      with (a / (D' * u) - b / (D' * D' * W') + p * (1 - t / u - p * (x / W'))) by (unfold p; field; repeat split; lra).
    lra.
  Qed.

  Hypothesis ME : IZR M = 2 ^ m.
  Hypothesis M_far : (5000 < M)%Z.
  Hypothesis U_pos : (0 < U)%Z.
  Hypothesis W_pos : (0 < W)%Z.
  Hypothesis D_pos : 0 < IZR D.

  Lemma tangent_fits size z : (- tangent_at size z < U * M)%Z.
  Proof.
    unfold tangent_at. assert (H := Z.le_max_r (log_near bits B two U size D z) (-4000 * U)).
    revert H. generalize (Z.max (log_near bits B two U size D z) (-4000 * U)). intros. nia.
  Qed.

  Lemma entropy_sums_spec size w : Forall (fun z => (0 <= z)%Z) w ->
    IZR (fst (entropy_sums size w)) / (IZR D * IZR U) - IZR (snd (entropy_sums size w)) / (IZR D * IZR D * IZR W)
      <= - sum_list (fun z => IZR z / IZR D * ln (IZR z / IZR D)) w.
  Proof.
    intros F. assert (WP := IZR_pos _ W_pos). assert (UP := IZR_pos _ U_pos).
    induction F as [|z w Hz F IH]; [simpl; unfold Rdiv; lra|].
    cbn [entropy_sums sum_list]. destruct (entropy_sums size w) as [a b]. destruct (Z.eqb_spec z 0) as [->|N].
    - replace (IZR 0 / IZR D * ln (IZR 0 / IZR D)) with 0 by (unfold Rdiv; ring). rewrite Rplus_0_l. exact IH.
    - assert (X := exp_by_spec m M W (- tangent_at size z) U ME W_pos U_pos (tangent_fits size z)).
      revert X. generalize (tangent_at size z). intros t. generalize (exp_by m M W (- t) U). intros x X.
      cbn [fst snd]. rewrite !plus_IZR, !mult_IZR, minus_IZR.
      apply entropy_step; try assumption; [apply (IZR_lt 0); lia | | reflexivity].
      rewrite opp_IZR in X. unfold Rdiv in *. rewrite Ropp_mult_distr_l. exact X.
  Qed.
End Entropy.

(** An interval around a number that is not above the entropy of shares over D. *)
Definition entropy_I (fine : nat) (D : Z) (prec : Floats.precision) (w : list Z) : I.type :=
  let bits := (45 + fine)%nat in
  let B := (17 + Z.of_nat bits)%Z in
  let U := power bits in
  let W := unit_for fine in
  let '(a, b) := entropy_sums bits (halvings fine) B (2 * 2 ^ B) U (power (halvings fine)) W D (Z.log2 D) w in
  I.sub prec (ratio prec a (D * U)) (ratio prec b (D * D * W)).

Lemma entropy_encloses fine D prec w : 0 < IZR D -> Forall (fun z => (0 <= z)%Z) w ->
  exists h, encloses (entropy_I fine D prec w) h /\ h <= entropy (length w) (fun i => IZR (nth i w 0%Z) / IZR D).
Proof.
  intros DP F. unfold entropy_I, entropy. cbv zeta.
  set (bits := (45 + fine)%nat). set (B := (17 + Z.of_nat bits)%Z). set (two := (2 * 2 ^ B)%Z).
  assert (S := entropy_sums_spec bits (halvings fine) B two (power bits) (power (halvings fine)) (unit_for fine) D
    (IZR_power _) (power_far _) (power_pos _) (power_pos _) DP (Z.log2 D) w F).
  assert (WP := IZR_pos _ (power_pos (192 + 2 * fine))). fold (unit_for fine) in WP. assert (UP := IZR_pos _ (power_pos bits)).
  rewrite (sum_nth w 0%Z (fun z => IZR z / IZR D * ln (IZR z / IZR D))).
  destruct (entropy_sums _ _ _ _ _ _ _ _ _ w) as [a b]. cbn [fst snd] in S.
  revert S WP UP. generalize (unit_for fine) (power bits). intros W U S WP UP.
  exists (IZR a / (IZR D * IZR U) - IZR b / (IZR D * IZR D * IZR W)). split; [|exact S].
  assert (A := Rmult_lt_0_compat _ _ DP UP). assert (C := Rmult_lt_0_compat _ _ (Rmult_lt_0_compat _ _ DP DP) WP).
  rewrite <- !mult_IZR in *. apply sub_encloses; apply ratio_encloses, Rgt_not_eq; assumption.
Qed.

(** * Two ways to compute *)

(** Intervals of so many binary digits; and whether exponentials and logarithms of many numbers are taken in whole
    numbers, which is fast in a program whose whole numbers are the machine's, and slow inside the kernel. *)
Record method := { accuracy : Floats.precision; whole_numbers : bool }.

Section Ways.
  Variable how : method.
  Local Notation prec := (accuracy how).

  Definition entropy_ln (D : Z) (w : list Z) : I.type :=
    fold_right (fun z rest => if (z =? 0)%Z then rest else I.sub prec rest (I.mul prec (ratio prec z D) (I.ln prec (ratio prec z D))))
      I.zero w.

  Definition entropy_by (fine : nat) (D : Z) (w : list Z) : I.type :=
    if whole_numbers how then entropy_I fine D prec w else entropy_ln D w.

  Lemma entropy_by_encloses fine D w : 0 < IZR D -> Forall (fun z => (0 <= z)%Z) w ->
    exists h, encloses (entropy_by fine D w) h /\ h <= entropy (length w) (fun i => IZR (nth i w 0%Z) / IZR D).
  Proof.
    intros P F. unfold entropy_by. destruct (whole_numbers how); [apply entropy_encloses; assumption|].
    eexists. split; [|apply Rle_refl]. unfold entropy, entropy_ln.
    rewrite (sum_nth w 0%Z (fun z => IZR z / IZR D * ln (IZR z / IZR D))).
    induction F as [|z w Hz F IH]; simpl.
    - rewrite Ropp_0. apply zero_encloses.
    - destruct (Z.eqb_spec z 0) as [->|N].
      + replace (IZR 0 / IZR D * ln (IZR 0 / IZR D)) with 0 by (unfold Rdiv; ring). rewrite Rplus_0_l. exact IH.
      + rewrite Ropp_plus_distr, Rplus_comm. apply sub_encloses; [exact IH|].
        assert (0 < IZR z / IZR D) by (apply Rdiv_lt_0_compat; [apply (IZR_lt 0); lia | assumption]).
        apply mul_encloses; [apply ratio_encloses; lra | apply ln_encloses; [assumption | apply ratio_encloses; lra]].
  Qed.

  (** W x from above, for x in an interval: read off its end, and checked. *)
  Definition ends_at (W : Z) (i : I.type) (m : Z) : bool := not_negative (I.sub prec (ratio prec m W) i).
  Definition end_of (W : Z) (i : I.type) : Z :=
    match Floats.toF (I.upper i) with
    | Basic.Float false m x => let z := Z.shiftl (Zpos m * W) x in if ends_at W i z then z else (z + Z.shiftr z 90 + 1)%Z
    | _ => 0%Z
    end.

  Lemma ends_at_above W i m x : (0 < W)%Z -> ends_at W i m = true -> encloses i x -> x <= IZR m / IZR W.
  Proof.
    intros W0 H E. apply IZR_pos in W0.
    assert (N := not_negative_correct _ _ (sub_encloses prec _ _ _ _ (ratio_encloses prec m W ltac:(lra)) E) H). lra.
  Qed.

  (** W exp(num / den) from above. *)
  Definition exp_up (m : nat) (M W num den : Z) : Z :=
    if whole_numbers how then exp_by m M W num den else
    let i := I.exp prec (ratio prec num den) in
    let z := end_of W i in
    if ends_at W i z then z else exp_by m M W num den.

  Lemma exp_up_spec m M W num den : IZR M = 2 ^ m -> (0 < W)%Z -> (0 < den)%Z -> (num < den * M)%Z ->
    exp (IZR num / IZR den) <= IZR (exp_up m M W num den) / IZR W.
  Proof.
    intros ME W0 D0 N. assert (X := exp_by_spec m M W num den ME W0 D0 N). revert X. unfold exp_up.
    generalize (exp_by m M W num den). intros z X. destruct (whole_numbers how); [exact X|]. cbv zeta.
    set (i := I.exp prec (ratio prec num den)). destruct (ends_at W i (end_of W i)) eqn:E; [|exact X].
    apply (ends_at_above W i _ _ W0 E). apply exp_encloses, ratio_encloses. apply IZR_pos in D0. lra.
  Qed.
End Ways.
