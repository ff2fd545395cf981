(** One function that checks a certificate, and one theorem about it: what it accepts is true.

    A statement is data: rationals as they are written, indices and names. The evidence is any data at all: nothing is
    assumed of it, so whoever makes it need not be trusted. *)

Require Import QArith Qreals Reals Lra Lia List ZArith Bool FunctionalExtensionality.
From Headwright Require Import Sums Attention Certificate Uncertainty Heads Numbers Exponential Bounding Checking Shortest.
From Headwright Require Whole.
Import ListNotations.
Open Scope R_scope.

(** * Rationals as vectors, and as whole numbers over a denominator *)

Definition vector_of (l : list Q) : vector := fun x => Q2R (nth x l 0%Q).
Definition table_of (rows : list (list Q)) : keys := fun i => vector_of (nth i rows []).

Definition over (e : Z) (q : Q) : Z := (Qnum q * e / Zpos (Qden q))%Z.
Definition divides (e : Z) (q : Q) : bool := (over e q * Zpos (Qden q) =? Qnum q * e)%Z.

Lemma over_spec e q : 0 < IZR e -> divides e q = true -> IZR (over e q) / IZR e = Q2R q.
Proof.
  unfold divides. intros E H. apply Z.eqb_eq in H. apply (f_equal IZR) in H. rewrite !mult_IZR in H. unfold Q2R.
  assert (P : 0 < IZR (Zpos (Qden q))) by (apply IZR_pos; reflexivity).
  apply Rmult_eq_reg_r with (IZR e * IZR (Zpos (Qden q))); [|apply Rgt_not_eq, Rmult_gt_0_compat; assumption].
  replace (IZR (over e q) / IZR e * (IZR e * IZR (Zpos (Qden q)))) with (IZR (over e q) * IZR (Zpos (Qden q))) by (field; lra).
  rewrite H. field. lra.
Qed.

Lemma forallb_nth {A} (p : A -> bool) l z i : forallb p l = true -> p z = true -> p (nth i l z) = true.
Proof.
  intros F Z. rewrite forallb_forall in F. destruct (nth_in_or_default i l z) as [H|H]; [apply F, H | rewrite H; exact Z].
Qed.

Lemma row_over e l : 0 < IZR e -> forallb (divides e) l = true -> row e (map (over e) l) = vector_of l.
Proof.
  intros E F. apply functional_extensionality. intros x. unfold row, vector_of.
  change 0%Z with (over e 0%Q). rewrite map_nth. apply over_spec; [exact E|]. apply forallb_nth; [exact F | reflexivity].
Qed.

Lemma table_over e rows : 0 < IZR e -> forallb (forallb (divides e)) rows = true -> table e (map (map (over e)) rows) = table_of rows.
Proof.
  intros E F. apply functional_extensionality. intros i. unfold table, table_of.
  change (@nil Z) with (map (over e) []). rewrite map_nth. apply row_over; [exact E|].
  apply (forallb_nth (forallb (divides e))); [exact F | reflexivity].
Qed.

(** * Statements about keys *)

Inductive claim := Designed | Impossible | Longer.

Module Keys.
  (** What a key may be: c mu + v + E u with from <= c <= up_to, |v| <= within and |u| <= 1; the columns of E are its axes. *)
  Record key_spread := { from : Q; up_to : Q; within : Q; axes : list (list Q) }.

  Record statement := {
    the_claim : claim;
    heads : nat;
    count : nat;  (* of the keys *)
    dimension : nat;
    scenarios : list (list (list Q));  (* one table of keys for each *)
    scale : Q;
    targets : list (nat * Q);  (* targets and their least weights *)
    spreads : list key_spread;
    which : list nat;  (* for each key the number of its spread *)
    queries : list (list Q);
    none_shorter : Q
  }.

  (** ** What it means *)

  Definition nowhere : key_spread := {| from := 0; up_to := 0; within := 0; axes := [] |}.
  Definition room_of (w : key_spread) : room :=
    {| lowest := Q2R (from w); highest := Q2R (up_to w); radius := Q2R (within w); columns := length (axes w); column := table_of (axes w) |}.

  (** The keys are around those of one of the scenarios. *)
  Definition may_be (s : statement) : uncertainty :=
    one_around (dimension s) (count s) (map table_of (scenarios s)) (fun i => room_of (nth (nth i (which s) 0%nat) (spreads s) nowhere)).

  (** Whatever the keys are, each target has at least its weight on average over the heads, of which each has a query. *)
  Definition met (s : statement) (q : nat -> vector) : Prop :=
    forall k, may_be s k -> forall a p, In (a, p) (targets s) ->
      Q2R p <= sum (heads s) (fun j => pattern (count s) (scores (dimension s) (Q2R (scale s)) (q j) k) a) / INR (heads s).

  (** Not all of the queries are shorter. *)
  Definition as_long (s : statement) (q : nat -> vector) : Prop :=
    exists j, (j < heads s)%nat /\ Q2R (none_shorter s) <= norm (dimension s) (q j).

  Definition meaning (s : statement) : Prop :=
    match the_claim s with
    | Designed => met s (table_of (queries s)) /\ forall q, met s q -> as_long s q
    | Longer => forall q, met s q -> as_long s q
    | Impossible => forall q, ~ met s q
    end.

  (** ** What is checked *)

  Inductive bound :=
  | Nothing
  | Alone (D : Z) (items : list item)
  | Together (D : Z) (scene : nat) (places : list stand) (among : list (nat * list Z)).

  (** Binary digits of intervals; denominators of keys, of spreads, of queries and of scales; moves; and the bound. *)
  Record evidence := { digits : BinNums.positive; e : Z; g : Z; f : Z; r : Z; moves : list move; the_bound : bound }.

  Definition spread_over (e g : Z) (w : key_spread) : spread :=
    {| low := over g (from w); high := over g (up_to w); ball := over g (within w); factor := map (map (over e)) (axes w) |}.
  Definition exact_spread (e g : Z) (w : key_spread) : bool :=
    divides g (from w) && divides g (up_to w) && divides g (within w) && forallb (forallb (divides e)) (axes w).
  Definition demand_of (one : nat * Q) : demand := let '(a, p) := one in (a, (Qnum p, Zpos (Qden p))).

  Section Check.
    Variables (s : statement) (v : evidence).
    Let how := {| accuracy := Floats.PtoP (digits v); whole_numbers := true |}.
    Let d := dimension s.
    Let n := count s.
    Let sn := Qnum (scale s).
    Let sd := Zpos (Qden (scale s)).
    Let num := Qnum (none_shorter s).
    Let den := Zpos (Qden (none_shorter s)).

    (** The keys, what they may be and the targets as whole numbers. *)
    Variables (tables : list (list (list Z))) (sp : list spread) (w : list demand).

    Definition check_queries : bool :=
      (0 <? f v)%Z && forallb (forallb (divides (f v))) (queries s) && Nat.eqb (length (queries s)) (heads s) &&
      check_targets_met how d n (e v) tables (g v) sp (which s) sn sd w (f v) (map (map (over (f v))) (queries s)).

    Definition check_long : bool :=
      match the_bound v with
      | Nothing => (num <=? 0)%Z
      | Alone D items => Nat.eqb (heads s) 1 &&
          check_none_shorter how d n (e v) tables (g v) sp (which s) sn sd w (r v) (moves v) D items num den
      | Together D scene places among =>
          check_together_longer how d n (e v) tables (g v) sp (which s) sn sd w (r v) (moves v) D scene places among num den
      end.

    Definition check_none : bool :=
      match the_bound v with
      | Nothing => false
      | Alone D items => Nat.eqb (heads s) 1 &&
          check_impossible how d n (e v) tables (g v) sp (which s) sd w (r v) (moves v) D items
      | Together D scene places among =>
          check_together_impossible how d n (e v) tables (g v) sp (which s) sd w (r v) (moves v) D scene places among
      end.

    Definition check_claim : bool :=
      match the_claim s with
      | Designed => check_queries && check_long
      | Longer => check_long
      | Impossible => check_none
      end.
  End Check.

  Definition check_keys (s : statement) (v : evidence) : bool :=
    let tables := map (map (map (over (e v)))) (scenarios s) in
    let sp := map (spread_over (e v) (g v)) (spreads s) in
    let w := map demand_of (targets s) in
    Nat.ltb 0 (heads s) && forallb (forallb (forallb (divides (e v)))) (scenarios s) && forallb (exact_spread (e v) (g v)) (spreads s) &&
    sensible (dimension s) (count s) (e v) tables (g v) sp (Zpos (Qden (scale s))) w &&
    check_claim s v tables sp w.

  (** ** Why it is right *)

  Section Correct.
    Variables (s : statement) (v : evidence).
    Let tables := map (map (map (over (e v)))) (scenarios s).
    Let sp := map (spread_over (e v) (g v)) (spreads s).
    Let w := map demand_of (targets s).
    Let sn := Qnum (scale s).
    Let sd := Zpos (Qden (scale s)).
    Hypothesis heads_pos : (0 < heads s)%nat.
    Hypothesis exact_keys : forallb (forallb (forallb (divides (e v)))) (scenarios s) = true.
    Hypothesis exact_spreads : forallb (exact_spread (e v) (g v)) (spreads s) = true.
    Hypothesis sense : sensible (dimension s) (count s) (e v) tables (g v) sp sd w = true.

    Lemma room_over x : exact_spread (e v) (g v) x = true -> Checking.room_of (e v) (g v) (spread_over (e v) (g v) x) = room_of x.
    Proof.
      destruct (sense_parts _ _ _ _ _ _ _ _ sense) as (E & G & _).
      unfold exact_spread. rewrite !andb_true_iff. intros [[[A B] C] D].
      unfold Checking.room_of, room_of, spread_over. simpl. rewrite !over_spec, table_over, map_length by assumption. reflexivity.
    Qed.

    Lemma same_uncertainty : the_uncertainty (dimension s) (count s) (e v) tables (g v) sp (which s) = may_be s.
    Proof.
      destruct (sense_parts _ _ _ _ _ _ _ _ sense) as (E & G & _).
      unfold the_uncertainty, may_be. f_equal.
      - unfold tables. rewrite map_map. apply map_ext_in. intros t T. apply table_over; [exact E|].
        rewrite forallb_forall in exact_keys. apply exact_keys, T.
      - apply functional_extensionality. intros i. unfold rooms.
        change Checking.nowhere with (spread_over (e v) (g v) nowhere). unfold sp. rewrite map_nth. apply room_over.
        apply (forallb_nth (exact_spread (e v) (g v))); [exact exact_spreads | reflexivity].
    Qed.

    Lemma same_targets q : met s q <->
      met_together (dimension s) (count s) (e v) tables (g v) sp (which s) sn sd w (heads s) q.
    Proof.
      unfold met, met_together, meet_together. rewrite same_uncertainty.
      assert (N : forall a, nth a w (0%nat, (1%Z, 1%Z)) = demand_of (nth a (targets s) (0%nat, 1%Q))).
      { intros a. unfold w. change (0%nat, (1%Z, 1%Z)) with (demand_of (0%nat, 1%Q)). apply map_nth. }
      assert (T : forall a, target w a = fst (nth a (targets s) (0%nat, 1%Q))).
      { intros a. unfold target. rewrite N. destruct (nth a (targets s) _). reflexivity. }
      assert (P : forall a, least w a = Q2R (snd (nth a (targets s) (0%nat, 1%Q)))).
      { intros a. unfold least. rewrite N. destruct (nth a (targets s) _). reflexivity. }
      assert (L : length w = length (targets s)) by apply map_length.
      split; intros H k K.
      - intros a Ha. rewrite T, P. apply (H k K). rewrite <- surjective_pairing. apply nth_In. lia.
      - intros a p I. apply (In_nth _ _ (0%nat, 1%Q)) in I. destruct I as (i & Hi & E).
        assert (X := H k K i ltac:(lia)). rewrite T, P, E in X. exact X.
    Qed.

    Lemma alone_targets q : heads s = 1%nat -> met s q ->
      met_by (dimension s) (count s) (e v) tables (g v) sp (which s) sn sd w (q 0%nat).
    Proof.
      intros H G. apply same_targets in G. rewrite H in G. unfold met_by. apply together_alone in G. exact G.
    Qed.

    Lemma queries_correct : check_queries s v tables sp w = true -> met s (table_of (queries s)).
    Proof.
      unfold check_queries. rewrite !andb_true_iff. intros [[[F X] L] C]. apply Z.ltb_lt, IZR_pos in F. apply Nat.eqb_eq in L.
      apply same_targets. apply met_correct in C; [|exact sense]. rewrite map_length, L in C.
      rewrite <- (table_over (f v) (queries s) F X). exact C.
    Qed.

    Lemma long_correct q : check_long s v tables sp w = true -> met s q -> as_long s q.
    Proof.
      unfold check_long, as_long. intros C G. destruct (the_bound v) as [|D items|D scene places among].
      - exists 0%nat. split; [exact heads_pos|]. apply Z.leb_le, IZR_le in C.
        apply Rle_trans with 0; [|apply sqrt_pos]. unfold Q2R.
        assert (P : 0 < / IZR (Zpos (Qden (none_shorter s)))) by (apply Rinv_0_lt_compat, IZR_pos; reflexivity). nra.
      - rewrite andb_true_iff in C. destruct C as [H C]. apply Nat.eqb_eq in H. exists 0%nat. split; [exact heads_pos|].
        exact (none_shorter_correct _ _ _ _ _ _ _ _ _ _ _ sense _ _ _ _ _ _ C _ (alone_targets q H G)).
      - apply same_targets in G. exact (together_longer_correct _ _ _ _ _ _ _ _ _ _ _ sense _ _ _ _ _ _ _ _ _ heads_pos C q G).
    Qed.

    Lemma none_correct q : check_none s v tables sp w = true -> ~ met s q.
    Proof.
      unfold check_none. intros C G. destruct (the_bound v) as [|D items|D scene places among]; [discriminate| |].
      - rewrite andb_true_iff in C. destruct C as [H C]. apply Nat.eqb_eq in H.
        exact (impossible_correct _ _ _ _ _ _ _ _ _ _ _ sense _ _ _ _ C _ (alone_targets q H G)).
      - apply same_targets in G. exact (together_impossible_correct _ _ _ _ _ _ _ _ _ _ _ sense _ _ _ _ _ _ _ heads_pos C q G).
    Qed.
  End Correct.

  Theorem check_keys_sound s v : check_keys s v = true -> meaning s.
  Proof.
    unfold check_keys. rewrite !andb_true_iff. intros [[[[H K] S] T] C]. apply Nat.ltb_lt in H.
    unfold check_claim in C. unfold meaning. destruct (the_claim s).
    - rewrite andb_true_iff in C. destruct C as [A B]. split; [exact (queries_correct s v H K S T A)|].
      intros q. exact (long_correct s v H K S T q B).
    - intros q. exact (none_correct s v H K S T q C).
    - intros q. exact (long_correct s v H K S T q C).
  Qed.
End Keys.

(** * Statements about whole heads *)

Module Whole_heads.
  Inductive mask := Everything | Causal | Written (rows : list (list bool)).

  (** The token at a place of a sequence, in a head, gives some tokens at least and others at most so much weight. *)
  Record rule := { sequence : nat; place : nat; head : nat; no_less : list (nat * Q); no_more : list (nat * Q) }.

  (** W_K and W_Q, and b_Q where there are biases. *)
  Record weights := { W_K : list (list Q); W_Q : list (list Q); b_Q : list Q }.

  Record statement := {
    width : nat;  (* of a token *)
    sequences : list (list (list Q));
    the_mask : mask;
    biases : bool;
    bias : list (list (list Q));  (* for each head what is added to scores, by place; or none *)
    rules : list rule;
    heads : list weights;
    bounds : list (nat * Q)  (* no matrix of a smaller Frobenius norm keeps the rules of this head *)
  }.

  (** ** What it means *)

  Definition sees (m : mask) (i j : nat) : bool :=
    match m with
    | Everything => true
    | Causal => Nat.leb j i
    | Written rows => nth j (nth i rows []) false
    end.
  Definition tokens_of (s : statement) (r : rule) : list (list Q) := nth (sequence r) (sequences s) [].
  Definition seen (s : statement) (r : rule) : list nat := filter (sees (the_mask s) (place r)) (seq 0 (length (tokens_of s r))).
  Definition added (s : statement) (r : rule) (j : nat) : Q := nth j (nth (place r) (nth (head r) (bias s) []) []) 0%Q.
  Definition asking (s : statement) (x : list Q) : list Q := if biases s then x ++ [1%Q] else x.
  Definition columns (s : statement) : nat := if biases s then (width s + 1)%nat else width s.

  (** x_j^T M x_i and what is added; with biases x_i has a 1 at its end. *)
  Definition score (s : statement) (M : nat -> nat -> R) (r : rule) (j : nat) : R :=
    dot (width s) (fun y => dot (columns s) (M y) (vector_of (asking s (nth (place r) (tokens_of s r) []))))
      (vector_of (nth j (tokens_of s r) [])) + Q2R (added s r j).
  Definition weight (s : statement) (M : nat -> nat -> R) (r : rule) (a : nat) : R :=
    exp (score s M r a) / sum_list (fun j => exp (score s M r j)) (seen s r).

  Definition attends (s : statement) (h : nat) (M : nat -> nat -> R) : Prop :=
    forall r, In r (rules s) -> head r = h -> forall a p, In (a, p) (no_less r) -> Q2R p <= weight s M r a.
  Definition avoids (s : statement) (h : nat) (M : nat -> nat -> R) : Prop :=
    forall r, In r (rules s) -> head r = h -> forall a p, In (a, p) (no_more r) -> weight s M r a <= Q2R p.

  (** (W_Q | b_Q), and W_K^T (W_Q | b_Q). *)
  Fixpoint beside (rows : list (list Q)) (last : list Q) : list (list Q) :=
    match rows, last with
    | row :: rows, x :: last => (row ++ [x]) :: beside rows last
    | _, _ => []
    end.
  Definition asked (s : statement) (g : weights) : list (list Q) := if biases s then beside (W_Q g) (b_Q g) else W_Q g.
  Definition product (s : statement) (g : weights) : nat -> nat -> R :=
    Whole.product_of (length (W_Q g)) (table_of (W_K g)) (table_of (asked s g)).

  (** The heads keep their rules, and no matrix of a smaller norm attends as much. *)
  Definition kept (s : statement) : Prop :=
    (forall r, In r (rules s) -> (head r < length (heads s))%nat) /\
    (forall h g, nth_error (heads s) h = Some g -> attends s h (product s g) /\ avoids s h (product s g)) /\
    forall h least, In (h, least) (bounds s) -> forall M, attends s h M -> Q2R least <= Whole.frobenius (width s) (columns s) M.

  (** No weights whatever attend as the rules of this head say. *)
  Definition none (s : statement) (h : nat) : Prop := forall M, ~ attends s h M.

  (** ** What is checked *)

  Fixpoint index (a : nat) (l : list nat) : nat :=
    match l with
    | [] => 0%nat
    | x :: l => if Nat.eqb a x then 0%nat else S (index a l)
    end.

  Record constraints := { common : Z; entries : list Whole.entry }.
  (** Binary digits of intervals, denominators of tokens, of what is added, and of each head's weights; and for each bound its constraints. *)
  Record evidence := { digits : BinNums.positive; e : Z; b : Z; f : list Z; shown : list constraints }.

  Definition demand_over (l : list nat) (one : nat * Q) : demand := let '(a, p) := one in (index a l, (Qnum p, Zpos (Qden p))).

  Section Check.
    Variables (s : statement) (v : evidence).
    Let how := {| accuracy := Floats.PtoP (digits v); whole_numbers := true |}.
    Let D := width s.
    Let w := columns s.
    Variable tables : list (list (list Z)).  (* the sequences over e *)

    Definition rule_over (r : rule) : Whole.rule :=
      let l := seen s r in
      {| Whole.tokens := nth (sequence r) tables []; Whole.token := place r; Whole.seen := l;
         Whole.given := map (fun j => over (b v) (added s r j)) l;
         Whole.attend := map (demand_over l) (no_less r); Whole.at_most := map (demand_over l) (no_more r) |}.
    Definition rules_of (h : nat) : list Whole.rule := map rule_over (filter (fun r => Nat.eqb (head r) h) (rules s)).

    Definition check_head (h : nat) (g : weights) (f : Z) : bool :=
      let l := rules_of h in
      (0 <? f)%Z && forallb (forallb (divides f)) (W_K g) && forallb (forallb (divides f)) (asked s g) &&
      Nat.eqb (length (asked s g)) (length (W_Q g)) && Whole.sensible_rules D w (biases s) (e v) (b v) l &&
      Whole.check_kept how D w (biases s) (e v) (b v) l f (map (map (over f)) (W_K g)) (map (map (over f)) (asked s g)).

    Definition check_bound (claimed : nat * Q) (c : constraints) : bool :=
      let l := rules_of (fst claimed) in
      Whole.sensible_rules D w (biases s) (e v) (b v) l &&
      Whole.check_none_smaller how D w (biases s) (e v) (b v) l (common c) (entries c) (Qnum (snd claimed)) (Zpos (Qden (snd claimed))).

    Definition check_nothing (h : nat) (c : constraints) : bool :=
      let l := rules_of h in
      Whole.sensible_rules D w (biases s) (e v) (b v) l &&
      Whole.check_no_matrix how D w (biases s) (e v) (b v) l (common c) (entries c).
  End Check.

  Definition exact (s : statement) (v : evidence) : bool :=
    (0 <? e v)%Z && (0 <? b v)%Z && forallb (forallb (forallb (divides (e v)))) (sequences s) &&
    forallb (forallb (forallb (divides (b v)))) (bias s).

  Definition check_heads (s : statement) (v : evidence) : bool :=
    let tables := map (map (map (over (e v)))) (sequences s) in
    exact s v && forallb (fun r => Nat.ltb (head r) (length (heads s))) (rules s) &&
    Nat.eqb (length (f v)) (length (heads s)) &&
    forallb (fun '(h, (g, x)) => check_head s v tables h g x) (combine (seq 0 (length (heads s))) (combine (heads s) (f v))) &&
    Nat.eqb (length (shown v)) (length (bounds s)) &&
    forallb (fun '(claimed, c) => check_bound s v tables claimed c) (combine (bounds s) (shown v)).

  Definition check_no_heads (s : statement) (h : nat) (v : evidence) : bool :=
    let tables := map (map (map (over (e v)))) (sequences s) in
    exact s v && match shown v with [c] => check_nothing s v tables h c | _ => false end.

  (** ** Why it is right *)

  Lemma index_spec a l : (index a l < length l)%nat -> nth (index a l) l 0%nat = a.
  Proof.
    induction l as [|x l IH]; simpl; [lia|]. destruct (Nat.eqb_spec a x) as [->|]; [reflexivity|]. intros H. apply IH. lia.
  Qed.

  Section Correct.
    Variables (s : statement) (v : evidence).
    Let tables := map (map (map (over (e v)))) (sequences s).
    Hypothesis is_exact : exact s v = true.

    Lemma exact_parts : 0 < IZR (e v) /\ 0 < IZR (b v) /\ forallb (forallb (forallb (divides (e v)))) (sequences s) = true
      /\ forallb (forallb (forallb (divides (b v)))) (bias s) = true.
    Proof.
      assert (X := is_exact). unfold exact in X. rewrite !andb_true_iff in X. destruct X as [[[A B] C] D].
      repeat split; try assumption; apply IZR_pos, Z.ltb_lt; assumption.
    Qed.

    Lemma scores_over M r j : (j < length (seen s r))%nat ->
      Whole.matrix_scores (width s) (columns s) (biases s) (e v) (b v) M (rule_over s v tables r) j = score s M r (nth j (seen s r) 0%nat).
    Proof.
      intros Hj. destruct exact_parts as (E & B & X & Y). unfold Whole.matrix_scores, score. simpl.
      assert (T : forall i, nth i (nth (sequence r) tables []) [] = map (over (e v)) (nth i (tokens_of s r) [])).
      { intros i. unfold tables, tokens_of. change (@nil (list Z)) with (map (map (over (e v))) []). rewrite map_nth.
        change (@nil Z) with (map (over (e v)) []). rewrite map_nth. reflexivity. }
      assert (XR : forall i, forallb (divides (e v)) (nth i (tokens_of s r) []) = true).
      { intros i. apply (forallb_nth (forallb (divides (e v)))); [|reflexivity]. unfold tokens_of.
        apply (forallb_nth (forallb (forallb (divides (e v))))); [exact X | reflexivity]. }
      rewrite !T. f_equal.
      - f_equal; [|apply row_over; [exact E | apply XR]].
        apply functional_extensionality. intros y. f_equal. unfold Whole.asking, asking. destruct (biases s).
        + replace (map (over (e v)) (nth (place r) (tokens_of s r) []) ++ [e v])
            with (map (over (e v)) (nth (place r) (tokens_of s r) [] ++ [1%Q])).
          * apply row_over; [exact E|]. rewrite forallb_app, XR. simpl. unfold divides, over.
            change (Qnum 1) with 1%Z. change (Zpos (Qden 1)) with 1%Z. rewrite Z.div_1_r. rewrite Z.mul_1_r, Z.eqb_refl. reflexivity.
          * rewrite map_app. simpl. unfold over. change (Qnum 1) with 1%Z. change (Zpos (Qden 1)) with 1%Z. rewrite Z.div_1_r, Z.mul_1_l. reflexivity.
        + apply row_over; [exact E | apply XR].
      - rewrite (nth_indep _ 0%Z (over (b v) (added s r 0%nat))) by (rewrite map_length; exact Hj).
        rewrite (map_nth (fun j => over (b v) (added s r j))). apply over_spec; [exact B|]. unfold added.
        apply (forallb_nth (divides (b v))); [|reflexivity].
        apply (forallb_nth (forallb (divides (b v)))); [|reflexivity].
        apply (forallb_nth (forallb (forallb (divides (b v))))); [exact Y | reflexivity].
    Qed.

    Lemma weight_over M r a : (index a (seen s r) < length (seen s r))%nat ->
      pattern (length (seen s r)) (Whole.matrix_scores (width s) (columns s) (biases s) (e v) (b v) M (rule_over s v tables r)) (index a (seen s r))
      = weight s M r a.
    Proof.
      intros H. unfold pattern, mass, weight. rewrite scores_over by exact H. rewrite (index_spec a (seen s r) H). f_equal.
      rewrite <- (sum_nth (seen s r) 0%nat (fun j => exp (score s M r j))). apply sum_ext. intros i Hi. rewrite scores_over by exact Hi. reflexivity.
    Qed.

    Variable h : nat.
    Hypothesis sense : Whole.sensible_rules (width s) (columns s) (biases s) (e v) (b v) (rules_of s v tables h) = true.

    Lemma rule_in r : In r (rules s) -> head r = h -> In (rule_over s v tables r) (rules_of s v tables h).
    Proof. intros R H. unfold rules_of. apply in_map, filter_In. split; [exact R | apply Nat.eqb_eq, H]. Qed.

    Lemma target_seen r a p : In r (rules s) -> head r = h -> In (a, p) (no_less r ++ no_more r) -> (index a (seen s r) < length (seen s r))%nat.
    Proof.
      intros R H I. assert (F := Whole.sense_rule _ _ _ _ _ _ sense _ (rule_in r R H)).
      unfold Whole.rule_fits in F. rewrite !andb_true_iff, !forallb_forall in F. destruct F as [_ W].
      specialize (W (index a (seen s r), (Qnum p, Zpos (Qden p)))). simpl in W. rewrite !andb_true_iff in W.
      apply Nat.ltb_lt. apply W. rewrite <- map_app. apply in_map_iff. exists (a, p). split; [reflexivity | exact I].
    Qed.

    Lemma attends_over M : attends s h M <-> Whole.attends (width s) (columns s) (biases s) (e v) (b v) (rules_of s v tables h) M.
    Proof.
      split.
      - intros A r' R a' p' I. unfold rules_of in R. apply in_map_iff in R. destruct R as (r & <- & R). apply filter_In in R.
        destruct R as [R H]. apply Nat.eqb_eq in H. simpl in I. apply in_map_iff in I. destruct I as ([a p] & E & I).
        injection E as <- <-. simpl. rewrite weight_over; [exact (A r R H a p I)|].
        apply (target_seen r a p R H), in_or_app. left. exact I.
      - intros A r R H a p I. rewrite <- weight_over by (apply (target_seen r a p R H), in_or_app; left; exact I).
        apply (A _ (rule_in r R H) (index a (seen s r)) (Qnum p, Zpos (Qden p))).
        simpl. apply in_map_iff. exists (a, p). split; [reflexivity | exact I].
    Qed.

    Lemma avoids_over M : Whole.avoids (width s) (columns s) (biases s) (e v) (b v) (rules_of s v tables h) M -> avoids s h M.
    Proof.
      intros A r R H a p I. rewrite <- weight_over by (apply (target_seen r a p R H), in_or_app; right; exact I).
      apply (A _ (rule_in r R H) (index a (seen s r)) (Qnum p, Zpos (Qden p))).
      simpl. apply in_map_iff. exists (a, p). split; [reflexivity | exact I].
    Qed.
  End Correct.

  Theorem check_heads_sound s v : check_heads s v = true -> kept s.
  Proof.
    unfold check_heads. rewrite !andb_true_iff. intros [[[[[E R] F] H] L] B]. split; [|split].
    - rewrite forallb_forall in R. intros r I. apply Nat.ltb_lt, R, I.
    - intros h g G. rewrite forallb_forall in H. apply Nat.eqb_eq in F.
      assert (HL : (h < length (heads s))%nat) by (apply nth_error_Some; rewrite G; discriminate).
      assert (X := H (h, (g, nth h (f v) 0%Z))). unfold check_head in X. rewrite !andb_true_iff in X.
      destruct X as [[[[[P XK] XQ] LQ] S] C].
      { assert (LC : length (combine (heads s) (f v)) = length (heads s)) by (rewrite combine_length, F; apply Nat.min_id).
        assert (N : nth h (combine (seq 0 (length (heads s))) (combine (heads s) (f v))) (0%nat, (g, 0%Z)) = (h, (g, nth h (f v) 0%Z))).
        { rewrite combine_nth by (rewrite seq_length; congruence). rewrite seq_nth by exact HL. rewrite combine_nth by congruence.
          rewrite (nth_error_nth (heads s) h g G). reflexivity. }
        rewrite <- N. apply nth_In. rewrite combine_length, seq_length, LC, Nat.min_id. exact HL. }
      apply Z.ltb_lt, IZR_pos in P. apply Nat.eqb_eq in LQ.
      assert (K := Whole.kept_correct _ _ _ _ _ _ _ S _ _ _ C).
      assert (M : Whole.the_product (nth h (f v) 0%Z) (map (map (over (nth h (f v) 0%Z))) (W_K g)) (map (map (over (nth h (f v) 0%Z))) (asked s g)) = product s g).
      { unfold Whole.the_product, product. rewrite map_length, LQ, !table_over by assumption. reflexivity. }
      rewrite M in K. destruct K as [A V]. split; [apply (attends_over s v E h S), A | apply (avoids_over s v E h S), V].
    - intros h least I M A. rewrite forallb_forall in B. apply Nat.eqb_eq in L.
      apply (In_nth _ _ (0%nat, 0%Q)) in I. destruct I as (i & Hi & N).
      assert (X := B (nth i (combine (bounds s) (shown v)) ((0%nat, 0%Q), {| common := 0; entries := [] |}))).
      rewrite combine_nth in X by congruence. rewrite N in X. unfold check_bound in X. rewrite andb_true_iff in X. destruct X as [S C].
      + rewrite <- N, <- combine_nth by congruence. apply nth_In. rewrite combine_length, L, Nat.min_id. exact Hi.
      + simpl fst in S, C. simpl snd in C. apply (Whole.none_smaller_correct _ _ _ _ _ _ _ S _ _ _ _ C M). apply (attends_over s v E h S), A.
  Qed.

  Theorem check_no_heads_sound s h v : check_no_heads s h v = true -> none s h.
  Proof.
    unfold check_no_heads. rewrite andb_true_iff. intros [E C] M A. destruct (shown v) as [|c [|? ?]]; try discriminate.
    unfold check_nothing in C. rewrite andb_true_iff in C. destruct C as [S C].
    apply (Whole.no_matrix_correct _ _ _ _ _ _ _ S _ _ C M). apply (attends_over s v E h S), A.
  Qed.
End Whole_heads.

(** * All statements *)

Inductive statement :=
| About_keys (s : Keys.statement)
| About_heads (s : Whole_heads.statement)
| About_no_heads (s : Whole_heads.statement) (h : nat).

Inductive evidence :=
| Of_keys (v : Keys.evidence)
| Of_heads (v : Whole_heads.evidence).

Definition meaning (s : statement) : Prop :=
  match s with
  | About_keys s => Keys.meaning s
  | About_heads s => Whole_heads.kept s
  | About_no_heads s h => Whole_heads.none s h
  end.

Definition check (s : statement) (v : evidence) : bool :=
  match s, v with
  | About_keys s, Of_keys v => Keys.check_keys s v
  | About_heads s, Of_heads v => Whole_heads.check_heads s v
  | About_no_heads s h, Of_heads v => Whole_heads.check_no_heads s h v
  | _, _ => false
  end.

Theorem check_sound s v : check s v = true -> meaning s.
Proof.
  destruct s as [s|s|s h], v as [v|v]; simpl; try discriminate.
  - apply Keys.check_keys_sound.
  - apply Whole_heads.check_heads_sound.
  - apply Whole_heads.check_no_heads_sound.
Qed.
