"""Statements about keys: queries that grant a wish, that none shorter do, or none at all."""

from __future__ import annotations

import math
from collections.abc import Sequence

from headwright.errors import InputError
from headwright.rocq.evidence import Evidence, Item, digits, entries, evidence_of
from headwright.rocq.syntax import comment, numbers, over, places, ratio, table, whole, z
from headwright.trusted.certificate import CERTAIN, Certificate, Spread, Statement
from headwright.trusted.keys import Keys
from headwright.trusted.words import in_words

BITS = 120  # of the kernel's intervals, for least weights of few digits


def about_keys(certificate: Certificate, keys: Sequence[Keys]) -> str:
    """The file for a certificate about these keys, one matrix for each scenario; refused by name if not covered."""
    statement = certificate.statement
    if any(spread.random for spread in statement.world):
        raise InputError("keys of this certificate are random, which the theorems in Rocq do not cover")
    written = [_opening(statement, keys)]
    if statement.queries:
        written.append(_granted(statement))
    if certificate.bound is not None:
        evidence = evidence_of(certificate, keys)
        written.append(_alone(statement, evidence) if statement.heads == 1 else _together(statement, evidence))
    return "\n".join([*written, _ending(certificate)])


def _ending(certificate: Certificate) -> str:
    """All that is claimed as one theorem, and what it rests on."""
    bound = "impossible" if certificate.statement.claim == "impossible" else "none_shorter"
    proved = ["granted"] * bool(certificate.statement.queries) + [bound] * (certificate.bound is not None)
    return f"""
Definition the_statement := {"conj granted none_shorter" if len(proved) == 2 else proved[0]}.
Print Assumptions the_statement.
"""


def _opening(statement: Statement, keys: Sequence[Keys]) -> str:
    named, spreads = statement.keys[0], statement.world
    columns = [x.denominator for w in spreads for column in w.factor for x in column]
    e = math.lcm(1 << max(scenario.bits for scenario in keys), *columns)
    tables = ";\n  ".join(table(_rows(scenario, e)) for scenario in keys)
    wish = "; ".join(f"({target}%nat, {ratio(p)})" for target, p in statement.wish.items())
    times = f"{len(keys)} time{'s' * (len(keys) > 1)}"
    return f"""{comment(in_words(statement))}

Require Import Reals List ZArith.
From Headwright Require Import Sums Attention Certificate Worlds Numbers Exponential Bounding Checking Shortest.
Import ListNotations.
Open Scope Z_scope.

(** {named.n} keys in dimension {named.d}, {times}: numerators over e. *)
Definition d : nat := {named.d}.
Definition n : nat := {named.n}.
Definition e : Z := {z(e)}.
Definition scenarios : list (list (list Z)) := [
  {tables}].
{_world(statement, e)}
Definition wish : list demand := [{wish}].
Definition scale_numerator : Z := {z(statement.scale.numerator)}.
Definition scale_denominator : Z := {z(statement.scale.denominator)}.

{_wish(statement)}

Lemma sense : sensible d n e scenarios g spreads scale_denominator wish = true.
Proof. vm_cast_no_check (eq_refl true). Qed.

Definition precision : method := {{| accuracy := Floats.PtoP {BITS + digits(statement)}; whole_numbers := false |}}.
"""


def _wish(statement: Statement) -> str:
    terms = "d n{} (IZR scale_numerator / IZR scale_denominator) the_keys (length wish) (target wish) (least wish) q"
    said = "scores are scale <k_i, q>; whatever the keys are, each target has at least its weight"
    if statement.heads == 1:
        return f"""(** What is to be granted: {said}. *)
Definition grants_it (q : vector) : Prop :=
  grants {terms.format("")}."""
    return f"""(** What is to be granted together: {said} on average. *)
Definition grant_it (q : nat -> vector) : Prop :=
  grant_together {terms.format(f" {statement.heads}")}."""


def _world(statement: Statement, e: int) -> str:
    if not statement.world:
        return """Definition g : Z := 1.
Definition spreads : list spread := certain.
Definition which : list nat := [].

(** The keys are one of these tables. *)
Definition the_keys : world := one_of d n (map (table e) scenarios).

Lemma as_checked k : one_around d n (map (table e) scenarios) (rooms e g spreads which) k <-> the_keys k.
Proof. apply certain_keys. Qed.
"""
    spreads = (*statement.world, CERTAIN)
    g = math.lcm(*(x.denominator for w in spreads for x in (w.low, w.high, w.ball)))
    listed = ";\n  ".join(_spread(w, e, g) for w in spreads)
    return f"""
(** What keys may be: c k + v + E u with low <= c <= high, |v| <= ball and |u| <= 1.
    Low, high and ball are over g, the columns of E over e. *)
Definition g : Z := {z(g)}.
Definition spreads : list spread := [
  {listed}].
(** The number of what each key may be. *)
Definition which : list nat := {places(entries(statement))}.
Definition the_keys : world := one_around d n (map (table e) scenarios) (rooms e g spreads which).

Lemma as_checked k : one_around d n (map (table e) scenarios) (rooms e g spreads which) k <-> the_keys k.
Proof. apply iff_refl. Qed.
"""


def _spread(w: Spread, e: int, g: int) -> str:
    low, high, ball = map(z, over(g, (w.low, w.high, w.ball)))
    factor = table(over(e, column) for column in w.factor)
    return f"{{| low := {low}; high := {high}; ball := {ball}; factor := {factor} |}}"


ARGUMENTS = "precision d n e scenarios g spreads which scale_numerator scale_denominator wish sense"


def _granted(statement: Statement) -> str:
    f, _ = whole([x for query in statement.queries for x in query])
    queries = [over(f, query) for query in statement.queries]
    if statement.heads == 1:
        return f"""
(** The query grants the wish. *)
Definition query : list Z := {numbers(queries[0])}.

Theorem granted : grants_it (row {z(f)} query).
Proof.
  apply (grants_same _ _ _ _ _ _ _ _ _ as_checked).
  apply (granted_alone_correct {ARGUMENTS}).
  vm_cast_no_check (eq_refl true).
Qed.
"""
    return f"""
(** The queries grant the wish. *)
Definition queries : list (list Z) := {table(queries)}.

Theorem granted : grant_it (fun j => row {z(f)} (nth j queries [])).
Proof.
  apply (together_same _ _ _ _ _ _ _ _ _ _ as_checked).
  apply (granted_correct {ARGUMENTS} {z(f)} queries).
  vm_cast_no_check (eq_refl true).
Qed.
"""


def _moves(evidence: Evidence) -> str:
    moves = ";\n  ".join(
        f"{{| of := {m.of}%nat; shift := {numbers(m.shift)}; turn := {numbers(m.turn)} |}}" for m in evidence.moves
    )
    stands = "\n".join(
        f"Definition stands_{number} : list (Z * nat) := [{'; '.join(f'({z(c)}, {j}%nat)' for c, j in stands)}]."
        for number, stands in enumerate(evidence.stands)
    )
    return f"""
(** Where keys stand in the constraints: scales over r, and moves. *)
Definition r : Z := {z(evidence.r)}.
Definition moves : list move := [
  {moves}].
{stands}
"""


def _alone(statement: Statement, evidence: Evidence) -> str:
    targets = list(statement.wish)

    def line(item: Item) -> str:
        c, j = item.own_stand
        return (
            f"{{| scenario := {item.scenario}%nat; demanded := {targets.index(item.target)}%nat; "
            f"multiplier := {z(item.multiplier)}; stands := stands_{item.part}; own_stand := ({z(c)}, {j}%nat);\n"
            f"     weights := {numbers(item.weights)} |}}"
        )

    start = f"""{_moves(evidence)}
(** The constraints that are added up, with distributions over D. *)
Definition D : Z := {z(evidence.D)}.
Definition items : list item := [
  {(";" + chr(10) + "  ").join(map(line, evidence.items))}].
"""
    if statement.claim == "impossible":
        return f"""{start}
(** No query whatever grants the wish. *)
Theorem impossible : forall q, ~ grants_it q.
Proof.
  intros q G. refine (impossible_correct {ARGUMENTS}
    r moves D items _ q (grants_same _ _ _ _ _ _ _ _ _ (fun k => iff_sym (as_checked k)) G)).
  vm_cast_no_check (eq_refl true).
Qed.
"""
    L = statement.none_shorter
    return f"""{start}
(** No query shorter than this grants the wish. *)
Theorem none_shorter : forall q, grants_it q -> (IZR {z(L.numerator)} / IZR {z(L.denominator)} <= norm d q)%R.
Proof.
  intros q G. refine (none_shorter_correct {ARGUMENTS}
    r moves D items {z(L.numerator)} {z(L.denominator)} _ q
    (grants_same _ _ _ _ _ _ _ _ _ (fun k => iff_sym (as_checked k)) G)).
  vm_cast_no_check (eq_refl true).
Qed.
"""


def _together(statement: Statement, evidence: Evidence) -> str:
    targets, h, L = list(statement.wish), statement.heads, statement.none_shorter
    among = ";\n  ".join(f"({targets.index(item.target)}%nat, {numbers(item.weights)})" for item in evidence.items)
    start = f"""{_moves(evidence)}
(** The targets that compete as one, with distributions over D. *)
Definition D : Z := {z(evidence.D)}.
Definition among : list (nat * list Z) := [
  {among}].
"""
    rest = "(together_same _ _ _ _ _ _ _ _ _ _ (fun k => iff_sym (as_checked k)) G)"
    given = f"r moves D {evidence.items[0].scenario}%nat stands_0 among"
    if statement.claim == "impossible":
        return f"""{start}
(** No {h} queries whatever grant the wish. *)
Theorem impossible : forall q, ~ grant_it q.
Proof.
  intros q G. refine (together_impossible_correct {ARGUMENTS}
    {given} {h} _ _ q {rest}).
  - apply Nat.ltb_lt. reflexivity.
  - vm_cast_no_check (eq_refl true).
Qed.
"""
    return f"""{start}
(** No {h} queries all shorter than this grant the wish. *)
Theorem none_shorter : forall q, grant_it q ->
  exists j, (j < {h})%nat /\\ (IZR {z(L.numerator)} / IZR {z(L.denominator)} <= norm d (q j))%R.
Proof.
  intros q G. refine (together_longer_correct {ARGUMENTS}
    {given} {z(L.numerator)} {z(L.denominator)} {h} _ _ q {rest}).
  - apply Nat.ltb_lt. reflexivity.
  - vm_cast_no_check (eq_refl true).
Qed.
"""


def _rows(keys: Keys, e: int) -> list[list[int]]:
    step = e // (1 << keys.bits)
    return [[number * step for number in keys.row(row)] for row in range(keys.n)]
