"""A certificate as a proof that Rocq's kernel accepts: the theorems of proofs/ applied to this statement.

What is written is a file of whole numbers (keys, queries, multipliers and shares over common denominators), the
statement in the theorems' own terms, and a script that lets the kernel compute: `coqc -Q proofs Headwright FILE.v`
accepts it, or the statement was not proved. Nothing here is trusted; a mistake makes a file that is not accepted.

Shares that a certificate leaves to be computed are rounded to whole numbers here: every distribution gives a bound.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction

from headwright.errors import InputError
from headwright.trusted.certificate import Certificate, Constraint, Part, Statement, about_heads, document, read
from headwright.trusted.keys import Keys
from headwright.trusted.words import in_words

BITS = 120  # of the kernel's intervals, and
FINE = 80  # of shares that are rounded here, for least weights of few digits
SMALLEST = -700.0  # exponents below have no share worth a digit

Rows = list[list[int]]


def from_document(text: str, files: Sequence[bytes] = ()) -> str:
    """The file for a certificate's document; the keys that it does not hold are given, contents of .npy."""
    said, proof = document(text)
    if about_heads(said):
        raise InputError("this certificate is about whole heads, which files for Rocq do not cover yet")
    certificate = read(said, proof)
    given = {(keys.n, keys.d, keys.digest): keys for keys in map(Keys.of_npy, files)}
    named = certificate.statement.keys
    missing = [name for name in named if name.rows is None and (name.n, name.d, name.digest) not in given]
    if missing:
        raise InputError(f"it is about {missing[0]}, which it does not hold: give their file, --keys FILE.npy")
    return as_rocq(certificate, [name.rows or given[name.n, name.d, name.digest] for name in named])


def as_rocq(certificate: Certificate, keys: Sequence[Keys]) -> str:
    """The file for a certificate about these keys, one matrix for each scenario; refused by name if not covered."""
    statement = certificate.statement
    _covered(certificate)
    shift = max(scenario.bits for scenario in keys)
    scenarios = [_rows(scenario, shift) for scenario in keys]
    targets = list(statement.wish)
    parts = [_opening(statement, shift, scenarios)]
    if statement.queries:
        f, query = _whole(statement.queries[0])
        parts.append(_granted(f, query))
    if certificate.bound is not None:
        shares = [
            (one, _shares(statement, part, one, keys[one.scenario]))
            for part in certificate.bound.parts
            for one in part.constraints
        ]
        parts.append(_bound(statement, shares, targets))
    return "\n".join(parts)


def _covered(certificate: Certificate) -> None:
    statement = certificate.statement
    if any(spread.random for spread in statement.world):
        raise InputError("keys of this certificate are random, which the theorems in Rocq do not cover")
    if statement.world:
        raise InputError("keys of this certificate lie in sets, which files for Rocq do not cover yet: expected "
                         "certain keys or scenarios")  # fmt: skip
    if statement.heads != 1:
        raise InputError(f"this certificate is about {statement.heads} heads together, which files for Rocq do not "
                         "cover yet: expected one")  # fmt: skip


def _rows(keys: Keys, shift: int) -> Rows:
    numbers = [whole << (shift - keys.bits) for whole in keys.whole(0, keys.n * keys.d)]
    return [numbers[start : start + keys.d] for start in range(0, len(numbers), keys.d)] if keys.d else [[]] * keys.n


def _whole(numbers: Sequence[Fraction]) -> tuple[int, list[int]]:
    """A common denominator, and the numerators over it."""
    common = math.lcm(1, *(number.denominator for number in numbers))
    return common, [number.numerator * (common // number.denominator) for number in numbers]


def _shares(statement: Statement, part: Part, one: Constraint, keys: Keys) -> list[Fraction]:
    """A distribution over the keys: the one that is written out, or that of the scores at the part's query, rounded."""
    if one.distribution is not None:
        total = sum(one.distribution.values(), Fraction(0))
        return [one.distribution.get(key, Fraction(0)) / total for key in range(keys.n)]
    scores = [
        float(statement.scale * sum((q * k for q, k in zip(part.query, row, strict=True)), Fraction(0)) / 2**keys.bits)
        for row in _rows(keys, keys.bits)
    ]
    top = max(scores)
    weights = [math.exp(s - top) if s - top > SMALLEST else 0.0 for s in scores]
    whole = math.fsum(weights)
    unit = 2 ** (FINE + _digits(statement))
    counts = [int(Fraction(weight) / Fraction(whole) * unit) for weight in weights]
    counts[weights.index(max(weights))] += unit - sum(counts)
    return [Fraction(count, unit) for count in counts]


def _digits(statement: Statement) -> int:
    """Binary digits of the least weights: 1/(1 + 1e-30) needs as many more."""
    return max(p.denominator.bit_length() for p in statement.wish.values())


def _opening(statement: Statement, shift: int, scenarios: Sequence[Rows]) -> str:
    words = in_words(statement).replace("(*", "( *").replace("*)", "* )")
    tables = ";\n  ".join(_table(rows) for rows in scenarios)
    wish = "; ".join(f"({target}%nat, ({p.numerator}, {p.denominator}))" for target, p in statement.wish.items())
    s, named = statement.scale, statement.keys[0]
    size = f"{named.n} keys in dimension {named.d}, {len(scenarios)} time{'s' * (len(scenarios) > 1)}"
    return f"""(** {words} *)

Require Import Reals List ZArith.
From Headwright Require Import Sums Attention Certificate Checking.
Import ListNotations.
Open Scope Z_scope.

(** {size}: numerators over {1 << shift}. *)
Definition d : nat := {named.d}.
Definition n : nat := {named.n}.
Definition e : Z := {1 << shift}.
Definition scenarios : list (list (list Z)) := [
  {tables}].
Definition wish : list demand := [{wish}].

(** What is to be granted: scores are {s} <k_i, q>; in each scenario each target has at least its weight. *)
Definition grants_it (q : vector) : Prop :=
  grants d n (IZR {_z(s.numerator)} / IZR {s.denominator}) (one_of d n (map (table e) scenarios))
    (length wish) (target wish) (least wish) q.

Lemma sense : sensible d n e scenarios {s.denominator} wish = true.
Proof. vm_compute. reflexivity. Qed.

Definition precision := Floats.PtoP {BITS + _digits(statement)}.
Definition scale_numerator : Z := {_z(s.numerator)}.
Definition scale_denominator : Z := {s.denominator}.
"""


def _granted(f: int, query: Sequence[int]) -> str:
    return f"""
(** The query grants the wish. *)
Definition query : list Z := {_list(query)}.

Theorem granted : grants_it (row {f} query).
Proof.
  apply (granted_correct precision d n e scenarios scale_numerator scale_denominator wish sense).
  vm_compute. reflexivity.
Qed.
Print Assumptions granted.
"""


def _bound(statement: Statement, shares: Sequence[tuple[Constraint, list[Fraction]]], targets: Sequence[int]) -> str:
    common = math.lcm(*(share.denominator for _, row in shares for share in row))
    _, multipliers = _whole([one.multiplier for one, _ in shares])
    lines = ";\n  ".join(
        f"{{| scenario := {one.scenario}; demanded := {targets.index(one.target)}; multiplier := {multiplier}; "
        f"shares := {_list(int(share * common) for share in row)} |}}"
        for (one, row), multiplier in zip(shares, multipliers, strict=True)
    )
    start = f"""
(** The constraints that are added up, with distributions over {common}. *)
Definition constraints : list constraint := [
  {lines}].
"""
    if statement.claim == "impossible":
        return f"""{start}
(** No query whatever grants the wish. *)
Theorem impossible : forall q, ~ grants_it q.
Proof.
  apply (impossible_correct precision d n e scenarios scale_numerator scale_denominator wish sense
    {common} constraints).
  vm_compute. reflexivity.
Qed.
Print Assumptions impossible.
"""
    L = statement.none_shorter
    return f"""{start}
(** No query shorter than this grants the wish. *)
Theorem none_shorter : forall q, grants_it q -> (IZR {L.numerator} / IZR {L.denominator} <= norm d q)%R.
Proof.
  apply (none_shorter_correct precision d n e scenarios scale_numerator scale_denominator wish sense
    {common} constraints).
  vm_compute. reflexivity.
Qed.
Print Assumptions none_shorter.
"""


def _table(rows: Rows) -> str:
    return "[" + ";\n   ".join(_list(row) for row in rows) + "]"


def _list(numbers: Iterable[int]) -> str:
    return "[" + "; ".join(_z(number) for number in numbers) + "]"


def _z(number: int) -> str:
    return str(number) if number >= 0 else f"({number})"
