"""Statements about whole heads: W_Q and W_K that keep rules, that no smaller product does, or none at all."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from headwright.errors import InputError
from headwright.rocq.syntax import comment, numbers, over, places, ratio, rounded, table, z
from headwright.trusted.certificate import Json, listed, named, rational, vector, whole
from headwright.trusted.certificate import table as by_index

BITS, FINE = 120, 80  # binary digits of the kernel's intervals, and of shares; as many more as least weights have
NONE = Fraction(0)
CERTAIN = {"ball": "0", "scale": ["1", "1"]}

Rows = list[tuple[Fraction, ...]]


@dataclass(frozen=True)
class Rule:
    """A token of a sequence, what it sees, and weights of what is seen."""

    sequence: int
    token: int
    head: int
    seen: list[int]
    attend: dict[int, Fraction]
    at_most: dict[int, Fraction]


@dataclass(frozen=True)
class Scene:
    """What the statement is about; e, b and f make tokens, what is added to scores, and weights whole."""

    sequences: list[Rows]
    biases: bool
    bias: list[Rows]
    rules: list[Rule]
    digits: int

    @property
    def e(self) -> int:
        """A denominator of the tokens."""
        return math.lcm(*(x.denominator for X in self.sequences for row in X for x in row))

    @property
    def b(self) -> int:
        """A denominator of what is added to scores."""
        return math.lcm(1, *(x.denominator for B in self.bias for row in B for x in row))

    def added(self, rule: Rule) -> list[Fraction]:
        """What is added to the scores of what is seen."""
        return [self.bias[rule.head][rule.token][j] if self.bias else NONE for j in rule.seen]

    def of(self, head: int) -> list[Rule]:
        """The rules of a head."""
        return [rule for rule in self.rules if rule.head == head]


def about_whole_heads(said: Json, proof: Json, words: str) -> str:
    """The file for a statement about whole heads, with these words above it; refused by name if not covered."""
    s = said if isinstance(said, dict) else {}
    if s.get("claim") == "circuit":
        raise InputError("this certificate is about a circuit, which files for Rocq do not cover")
    scene = _scene(s)
    if s["claim"] == "no heads":
        return _no_heads(scene, proof, words)
    if s["world"] != CERTAIN:
        raise InputError("tokens of this certificate's heads lie in a world, which files for Rocq do not cover")
    heads = [_matrices(head, scene) for head in listed(s["heads"], "heads")]
    written = [_opening(scene, words, range(len(heads)))]
    proved = []
    for head, (K, Q) in enumerate(heads):
        written.append(_kept(scene, head, K, Q))
        proved.append(f"kept_{head}")
    evidence = listed(named(proof, "the evidence", "bounds")["bounds"], "bounds")
    for number, (claim, shown) in enumerate(zip(listed(s["bounds"], "bounds"), evidence, strict=True)):
        written.append(_bound(scene, number, claim, shown, heads))
        proved.append(f"none_smaller_{number}")
    return "\n".join([*written, _ending(proved)])


def _scene(s: Mapping[str, Json]) -> Scene:
    sequences = [_rows(X) for X in listed(s["sequences"], "sequences")]
    bias = [_rows(B) for B in listed(s["bias"], "bias")]
    rules = []
    for given in listed(s["rules"], "rules"):
        r = named(given, "a rule", "sequence", "token", "head", "attend", "at_most", "output", "tolerance")
        if s["claim"] != "no heads" and (r["output"] or r["head"] == "sum"):
            raise InputError("rules of this certificate are about outputs, which files for Rocq do not cover")
        sequence, token = (
            whole(r["sequence"], 0, len(sequences) - 1, "a sequence"),
            whole(r["token"], 0, 4096, "a token"),
        )
        T = len(sequences[sequence])
        attend, at_most = by_index(r["attend"], T, "attend"), by_index(r["at_most"], T, "at_most")
        seen = _seen(s["mask"], token, T)
        if not {*attend, *at_most} <= set(seen):
            raise InputError("a rule is about a token that the mask hides")
        rules.append(Rule(sequence, token, whole(r["head"], 0, 4096, "a head"), seen, attend, at_most))
    floors = [p for rule in rules for p in (*rule.attend.values(), *rule.at_most.values())]
    digits = max((p.denominator.bit_length() for p in floors), default=0)
    return Scene(sequences, s["biases"] is True, bias, rules, digits)


def _seen(mask: Json, token: int, T: int) -> list[int]:
    if mask in ("none", "causal"):
        return list(range(token + 1 if mask == "causal" else T))
    return [j for j, digit in enumerate(str(listed(mask, "a mask")[token])[:T]) if digit == "1"]


def _rows(given: Json) -> Rows:
    return [tuple(map(rational, listed(row, "a row"))) for row in listed(given, "rows")]


def _matrices(given: Json, scene: Scene) -> tuple[Rows, Rows]:
    """W_K, and W_Q with b_Q as a last column where there are biases."""
    h = named(given, "a head", "W_Q", "W_K", "W_V", "b_Q", "b_V")
    K, Q = _rows(h["W_K"]), _rows(h["W_Q"])
    if scene.biases:
        b_Q = vector(h["b_Q"], len(Q), "b_Q")
        Q = [(*row, x) for row, x in zip(Q, b_Q, strict=True)]
    return K, Q


def _opening(scene: Scene, words: str, heads: Iterable[int]) -> str:
    D, e = len(scene.sequences[0][0]), scene.e
    tokens = "\n".join(
        f"Definition sequence_{number} : list (list Z) := {table(over(e, row) for row in X)}."
        for number, X in enumerate(scene.sequences)
    )
    rules = "\n".join(_rules(scene, head) for head in heads)
    return f"""{comment(words)}

Require Import Reals List ZArith.
From Headwright Require Import Sums Attention Certificate Heads Numbers Exponential Bounding Checking Whole.
Import ListNotations.
Open Scope Z_scope.

(** Tokens of {D} numbers each: numerators over e; what is added to scores is over b. *)
Definition D : nat := {D}.
Definition w : nat := {D + scene.biases}.
Definition biases : bool := {str(scene.biases).lower()}.
Definition e : Z := {z(e)}.
Definition b : Z := {z(scene.b)}.
{tokens}
{rules}
Definition precision : method := {{| accuracy := Floats.PtoP {BITS + scene.digits}; whole_numbers := false |}}.
"""


def _rules(scene: Scene, head: int) -> str:
    def demands(rule: Rule, them: Mapping[int, Fraction]) -> str:
        return "[" + "; ".join(f"({rule.seen.index(a)}%nat, {ratio(p)})" for a, p in them.items()) + "]"

    lines = ";\n  ".join(
        f"{{| tokens := sequence_{rule.sequence}; token := {rule.token}%nat; seen := {places(rule.seen)}; "
        f"given := {numbers(over(scene.b, scene.added(rule)))};\n"
        f"     attend := {demands(rule, rule.attend)}; at_most := {demands(rule, rule.at_most)} |}}"
        for rule in scene.of(head)
    )
    return f"""
(** The rules of head {head}: the token that looks, what it sees, and for some of these, counted as seen, the least
    and the largest weight. *)
Definition rules_{head} : list rule := [
  {lines}].

Lemma sense_{head} : sensible_rules D w biases e b rules_{head} = true.
Proof. vm_cast_no_check (eq_refl true). Qed.
"""


def _kept(scene: Scene, head: int, K: Rows, Q: Rows) -> str:
    f = math.lcm(*(x.denominator for row in (*K, *Q) for x in row))
    product = f"(product_of {len(Q)} (table f_{head} W_K_{head}) (table f_{head} W_Q_{head}))"
    return f"""
(** W_K and W_Q of head {head} over f{", W_Q with b_Q as its last column" * scene.biases}: they keep the rules. *)
Definition f_{head} : Z := {z(f)}.
Definition W_K_{head} : list (list Z) := {table(over(f, row) for row in K)}.
Definition W_Q_{head} : list (list Z) := {table(over(f, row) for row in Q)}.

Theorem kept_{head} : attends D w biases e b rules_{head} {product}
  /\\ avoids D w biases e b rules_{head} {product}.
Proof.
  apply (kept_correct precision D w biases e b rules_{head} sense_{head} f_{head} W_K_{head} W_Q_{head}).
  vm_cast_no_check (eq_refl true).
Qed.
"""


def _bound(scene: Scene, number: int, claimed: Json, shown: Json, heads: Sequence[tuple[Rows, Rows]]) -> str:
    claim = named(claimed, "a bound", "head", "norm", "least")
    if claim["norm"] != "frobenius":
        raise InputError(
            f"a bound of this certificate is of the {str(claim['norm'])[:20]} kind, which files for Rocq do not cover: "
            "expected a Frobenius norm"
        )
    head, least = whole(claim["head"], 0, len(heads) - 1, "a head"), rational(claim["least"])
    given = named(shown, "a bound's evidence", "W_Q", "W_K", "constraints")
    K, Q = heads[head] if given["W_Q"] is None else (_rows(given["W_K"]), _rows(given["W_Q"]))
    lines, used = [], set()
    for entry in listed(given["constraints"], "constraints"):
        c = named(entry, "a constraint", "rule", "target", "multiplier")
        index, target = whole(c["rule"], 0, len(scene.rules) - 1, "a rule"), whole(c["target"], 0, 4096, "a target")
        rule = scene.rules[index]
        if rule.head != head or target not in rule.attend or (index, target) in used:
            raise InputError("a constraint is of another head, has no target, or is used twice")
        used.add((index, target))
        lines.append((rule, target, rational(c["multiplier"]), _pattern(scene, rule, K, Q)))
    L = least
    return f"""{_entries(scene, head, f"entries_{number}", lines)}
(** No matrix W_K^T W_Q with a smaller Frobenius norm makes head {head} attend as much. *)
Theorem none_smaller_{number} : forall M, attends D w biases e b rules_{head} M ->
  (IZR {z(L.numerator)} / IZR {z(L.denominator)} <= frobenius D w M)%R.
Proof.
  apply (none_smaller_correct precision D w biases e b rules_{head} sense_{head} S_entries_{number} entries_{number}).
  vm_cast_no_check (eq_refl true).
Qed.
"""


def _no_heads(scene: Scene, proof: Json, words: str) -> str:
    given = named(proof, "the evidence", "attend", "output")
    if given["output"] != []:
        raise InputError("no heads keep these rules because of outputs, which files for Rocq do not cover")
    head = scene.rules[0].head
    if any(rule.head != head for rule in scene.rules):
        raise InputError("the rules are not of one head")
    lines = []
    for entry in listed(given["attend"], "attend"):
        c = named(entry, "an entry", "rule", "multipliers", "distribution")
        rule = scene.rules[whole(c["rule"], 0, len(scene.rules) - 1, "a rule")]
        shares = by_index(c["distribution"], 4096, "a distribution")
        if not set(shares) <= set(rule.seen):
            raise InputError("a distribution is over tokens that are not seen")
        for target, multiplier in by_index(c["multipliers"], 4096, "multipliers").items():
            if target not in rule.attend:
                raise InputError("a multiplier has no target")
            lines.append((rule, target, multiplier, [shares.get(j, NONE) for j in rule.seen]))
    return f"""{_opening(scene, words, [head])}
{_entries(scene, head, "entries", lines)}
(** No W_K and W_Q of any number of rows attend as the rules say{", W_Q with b_Q as its last column" * scene.biases}. *)
Theorem none : forall h W_K W_Q, ~ attends D w biases e b rules_{head} (product_of h W_K W_Q).
Proof.
  intros h W_K W_Q. apply (no_matrix_correct precision D w biases e b rules_{head} sense_{head} S_entries entries).
  vm_cast_no_check (eq_refl true).
Qed.
{_ending(["none"])}"""


def _entries(scene: Scene, head: int, name: str, lines: Sequence[tuple[Rule, int, Fraction, list[Fraction]]]) -> str:
    mine = scene.of(head)
    common = math.lcm(*(share.denominator for *_, shares in lines for share in shares))
    times = math.lcm(*(multiplier.denominator for _, _, multiplier, _ in lines))
    entries = ";\n  ".join(
        f"{{| of_rule := {next(i for i, one in enumerate(mine) if one is rule)}%nat; "
        f"of_target := {list(rule.attend).index(target)}%nat; "
        f"counted := {z(over(times, [multiplier])[0])}; parts := {numbers(over(common, shares))} |}}"
        for rule, target, multiplier, shares in lines
    )
    return f"""
(** The constraints that are added up, with distributions over S. *)
Definition S_{name} : Z := {z(common)}.
Definition {name} : list entry := [
  {entries}].
"""


def _pattern(scene: Scene, rule: Rule, K: Rows, Q: Rows) -> list[Fraction]:
    """What W_K and W_Q attend to, rounded: any distribution will do."""
    X = scene.sequences[rule.sequence]
    x = (*X[rule.token], Fraction(1)) if scene.biases else X[rule.token]
    asked = [sum(map(Fraction.__mul__, row, x), NONE) for row in Q]
    scores = []
    for j, added in zip(rule.seen, scene.added(rule), strict=True):
        key = [sum(map(Fraction.__mul__, row, X[j]), NONE) for row in K]
        scores.append(sum(map(Fraction.__mul__, asked, key), NONE) + added)
    return rounded(scores, FINE + scene.digits)


def _ending(proved: Sequence[str]) -> str:
    """All that is claimed as one theorem, and what it rests on."""
    together = proved[-1]
    for name in reversed(proved[:-1]):
        together = f"conj {name} ({together})"
    return f"""
Definition the_statement := {together}.
Print Assumptions the_statement.
"""
