"""Heads at the borders of what is claimed and of what is read, each with its exact verdict."""

from __future__ import annotations

import copy
import hashlib
import json
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from headwright.certificates.exact.certificate import FORMAT, VERSION
from headwright.certificates.exact.heads.run import (
    CERTAIN,
    ExactHead,
    HeadRule,
    HeadRun,
)
from headwright.certificates.exact.numbers import ln_below
from headwright.certificates.exact.verify import ExactVerdict, verify

CORPUS = Path(__file__).parents[2] / "corpus" / "head-accept"


def rule(token: int = 0, head: int | str = 0, **said: Any) -> dict[str, Any]:
    plain = {"sequence": 0, "attend": {}, "at_most": {}, "output": [], "tolerance": "0"}
    return {"token": token, "head": head, **plain, **said}


def head(Q: str = "0", K: str = "0", V: str = "1", **more: Any) -> dict[str, Any]:
    return {"W_Q": [[Q]], "W_K": [[K]], "W_V": [[V]], "b_Q": [], "b_V": [], **more}


def document(tokens: list[str], *rules: Any, **more: Any) -> Any:
    """A certificate about tokens in one dimension; heads that look at all alike, unless others are given."""
    statement = {
        "claim": "heads",
        "mask": "none",
        "sequences": [[[x] for x in tokens]],
        "uncertainty": {"ball": "0", "scale": ["1", "1"]},
        "biases": False,
        "bias": [],
        "rules": list(rules),
        "dtype": "float64",
        "heads": [head()],
        "bounds": [],
    }
    return _file(statement | more, {"bounds": []})


def none(
    tokens: list[str], *rules: Any, attend: Any = (), output: Any = (), **more: Any
) -> Any:
    """A certificate that no head keeps the rules."""
    statement = document(tokens, *rules, claim="no heads", **more)["statement"]
    for name in ("dtype", "heads", "bounds"):
        del statement[name]
    return _file(statement, {"attend": list(attend), "output": list(output)})


def _file(statement: Any, evidence: Any) -> Any:
    return {
        "format": FORMAT,
        "version": VERSION,
        "statement": statement,
        "evidence": evidence,
    }


def judged(given: Any) -> ExactVerdict:
    return verify(json.dumps(given))


EVEN = {"0": "1/2"}
KEPT = document(["1", "-1"], rule(attend=EVEN))


def test_the_certificate_that_is_changed_is_good() -> None:
    assert judged(KEPT).word == "verified"


Change = Callable[[dict[str, Any]], Any]
CHANGED: dict[str, tuple[Change, str]] = {
    "no rules": (lambda s: s.update(rules=[]), "unreadable"),
    "no heads": (lambda s: s.update(heads=[]), "unreadable"),
    "no values": (lambda s: s["heads"][0].update(W_V=[]), "unreadable"),
    "a second sequence without tokens": (
        lambda s: s["sequences"].append([]),
        "unreadable",
    ),
    "a second sequence with one": (
        lambda s: s["sequences"].append([["1"]]),
        "verified",
    ),
    "a sequence beyond the last": (
        lambda s: s["rules"][0].update(sequence=1),
        "unreadable",
    ),
    "two beyond the last": (lambda s: s["rules"][0].update(sequence=2), "unreadable"),
    "a weight of at least nothing": (
        lambda s: s["rules"][0].update(attend={"0": "0"}),
        "rejected",
    ),
    "a weight of at most nothing": (
        lambda s: s["rules"][0].update(attend={}, at_most={"0": "0"}),
        "rejected",
    ),
    "a weight of at most what it is": (
        lambda s: s["rules"][0].update(at_most=EVEN),
        "verified",
    ),
    "a weight of at most less": (
        lambda s: s["rules"][0].update(at_most={"0": "0.49999999999999"}),
        "rejected",
    ),
    "a scale from 0": (lambda s: s["uncertainty"].update(scale=["0", "1"]), "rejected"),
    "a scale from almost 0": (
        lambda s: s["uncertainty"].update(scale=["1/1000", "1"]),
        "verified",
    ),
    "a tolerance without an output": (
        lambda s: s["rules"][0].update(tolerance="1"),
        "rejected",
    ),
    "a tolerance below 0": (
        lambda s: s["rules"][0].update(output=["0"], tolerance="-1"),
        "rejected",
    ),
    "an output with values that are 0": (
        lambda s: s["rules"][0].update(output=["0"]),
        "verified",
    ),
}


@pytest.mark.parametrize("name", CHANGED)
def test_what_is_read_and_what_is_kept(name: str) -> None:
    change, word = CHANGED[name]
    given = copy.deepcopy(KEPT)
    change(given["statement"])
    assert judged(given).word == word, judged(given).words


TENTH = (0.1).hex()  # a number of type float64, and of no shorter one


@pytest.mark.parametrize(
    ("b_Q", "b_V", "word"),
    [
        ("0.5", "0.5", "verified"),
        (TENTH, "0.5", "rejected"),
        ("0.5", TENTH, "rejected"),
    ],
)
def test_biases_are_of_the_type(b_Q: str, b_V: str, word: str) -> None:
    given = copy.deepcopy(KEPT)
    given["statement"] |= {
        "biases": True,
        "dtype": "float32",
        "heads": [head(b_Q=[b_Q], b_V=[b_V])],
    }
    assert judged(given).word == word


@pytest.mark.parametrize(
    ("tokens", "rules", "said"),
    [
        (4096, 1, "the weights are of type"),
        (4097, 1, "expected at most 4096 tokens and rules"),
        (1, 4096, "the weights are of type"),
        (1, 4097, "expected at most 4096 tokens and rules"),
    ],
)
def test_so_many_tokens_and_rules_are_read(tokens: int, rules: int, said: str) -> None:
    given = document(
        ["1"] * tokens, *[rule(attend={"0": "1"})] * rules, mask="causal", dtype="other"
    )
    assert said in judged(given).words


# Bounds. In one dimension |G|_F is a number, so that the best bound is one as well.
THREE = ["1", "0", "-1"]


def _bounded(
    least: str, *constraints: Any, norm: str = "frobenius", number: int = 0
) -> Any:
    rules = [rule(attend={"0": "3/5", "1": "1/10"}), rule(2, attend={"2": "1/2"})]
    given = document(
        THREE,
        *rules,
        heads=[head("1", "1.5")],
        bounds=[{"head": number, "norm": norm, "least": least}],
    )
    given["evidence"]["bounds"] = [
        {"W_Q": None, "W_K": None, "constraints": list(constraints)}
    ]
    return given


def _best() -> Fraction:
    """right / |G| for the first rule's first target, with the pattern of the head itself as the distribution."""
    tokens, number = [(Fraction(x),) for x in THREE], Fraction
    ran = HeadRun(
        [tokens],
        CERTAIN,
        ExactHead(((number(1),),), ((number(3, 2),),), ((number(1),),)),
    )
    pi = ran.pattern_below(HeadRule(0, 0, 0, {}, {}, (), number(0), (0, 1, 2)))
    pi[0] += 1 - sum(pi)
    entropy = sum((a * ln_below(1 / a) for a in pi), number(0))
    return (entropy + ln_below(number(3, 5))) / (1 - pi[0] + pi[2])


def of(target: int = 0, multiplier: str = "1", number: int = 0) -> dict[str, Any]:
    return {"rule": number, "target": target, "multiplier": multiplier}


def _hex(x: Fraction) -> str:
    return f"{x.numerator:#x}/{x.denominator:#x}"


@pytest.mark.parametrize("norm", ["frobenius", "nuclear"])
def test_a_bound_is_proved_up_to_the_best_and_no_further(norm: str) -> None:
    best = _best()
    assert judged(_bounded(_hex(best), of(), norm=norm)).word == "verified"
    assert (
        judged(_bounded(_hex(best), of(), of(1, "0"), norm=norm)).word == "verified"
    )  # a multiplier of 0
    assert (
        judged(_bounded(_hex(best * (1 + Fraction(1, 2**400))), of(), norm=norm)).word
        == "rejected"
    )
    digits = int(best * 10**6) / 10**6
    said = judged(_bounded(_hex(best), of(), norm=norm)).words
    assert (
        f"no W_K^T W_Q whose {norm} norm is below {digits} makes head 0 attend as much"
        in said
    )


@pytest.mark.parametrize(
    ("least", "constraints", "number", "word"),
    [
        ("0.01", [of()], 0, "verified"),
        ("0", [of()], 0, "rejected"),
        ("-1", [of()], 0, "rejected"),
        ("0.01", [], 0, "unreadable"),
        ("0.01", [of()], 1, "unreadable"),
        ("0.01", [of()], 2, "unreadable"),
        ("0.01", [of(number=2)], 0, "unreadable"),
        ("0.01", [of(number=3)], 0, "unreadable"),
        ("0.01", [of(1, "0")], 0, "rejected"),
        ("0.01", [of(2)], 0, "rejected"),
    ],
)
def test_bounds_at_their_borders(
    least: str, constraints: Any, number: int, word: str
) -> None:
    assert judged(_bounded(least, *constraints, number=number)).word == word


# No head keeps them: by what is attended to.
def share(multipliers: Any, distribution: Any, number: int = 0) -> dict[str, Any]:
    return {"rule": number, "multipliers": multipliers, "distribution": distribution}


TWINS = ["1", "1", "0"]
MORE = rule(attend={"0": "0.6", "2": "0.1"})
HALVES = {"0": "1/2", "1": "1/2"}


@pytest.mark.parametrize(
    ("entries", "word"),
    [
        ([share({"0": "1"}, HALVES)], "verified"),
        (
            [share({"0": "1", "2": "0"}, {**HALVES, "2": "0"})],
            "verified",
        ),  # nothing of something
        ([share({"0": "1"}, HALVES, 1)], "unreadable"),
        ([share({"0": "1"}, HALVES, 2)], "unreadable"),
        ([share({"0": "0"}, HALVES)], "rejected"),
        ([], "unreadable"),
    ],
)
def test_twins_cannot_both_have_more_than_half(entries: Any, word: str) -> None:
    assert judged(none(TWINS, MORE, attend=entries)).word == word


def test_a_token_that_is_alone_gets_all_of_the_weight() -> None:
    assert (
        judged(
            none(["1"], rule(attend={"0": "1"}), attend=[share({"0": "1"}, {"0": "1"})])
        ).word
        == "rejected"
    )


@pytest.mark.parametrize("number", [0, 1])
def test_each_head_has_its_own_biases_of_places(number: int) -> None:
    given = json.loads((CORPUS / "no-heads-alibi.json").read_text())
    table, opposite = (
        given["statement"]["bias"][0],
        [["0"] * 3, ["0"] * 3, ["9", "0", "0"]],
    )
    given["statement"]["bias"] = [table, opposite] if number == 0 else [opposite, table]
    given["statement"]["rules"][0]["head"] = number
    assert judged(given).word == "verified"
    given["statement"]["rules"][0]["head"] = 1 - number
    assert judged(given).word == "rejected"


# No head keeps them: by outputs.
def mu(number: int, multiplier: str) -> dict[str, Any]:
    return {"rule": number, "multiplier": multiplier}


def wanted(
    token: int, output: str, tolerance: str = "0.1", sequence: int = 0
) -> dict[str, Any]:
    return rule(token, output=[output], tolerance=tolerance, sequence=sequence)


OPPOSITE = [mu(0, "1"), mu(1, "-1")]


def test_what_a_token_looks_at_is_not_known() -> None:
    """Token 0 may look at itself, and output 1."""
    assert (
        judged(none(["1", "-1"], wanted(0, "1"), output=[mu(0, "1")])).word
        == "rejected"
    )
    assert (
        judged(none(["0", "-1", "1"], wanted(0, "1"), output=[mu(0, "1")])).word
        == "verified"
    )  # the token 0


def test_equal_tokens_of_which_one_sees_more_output_the_same() -> None:
    """Under a causal mask the first sees itself, and the second both, which are equal."""
    rules = (wanted(0, "1"), wanted(1, "-1"))
    assert (
        judged(none(["1", "1"], *rules, mask="causal", output=OPPOSITE)).word
        == "verified"
    )
    assert (
        judged(none(["1", "2"], *rules, mask="causal", output=OPPOSITE)).word
        == "rejected"
    )


def test_equal_tokens_with_other_biases_of_places_look_elsewhere() -> None:
    tokens, rules = ["1", "1", "2", "-2"], (wanted(0, "2"), wanted(1, "-2"))
    same, other = ["0", "0", "99", "0"], ["0", "0", "0", "99"]
    rest = [["0"] * 4] * 2
    assert (
        judged(none(tokens, *rules, bias=[[same, same, *rest]], output=OPPOSITE)).word
        == "verified"
    )
    assert (
        judged(none(tokens, *rules, bias=[[same, other, *rest]], output=OPPOSITE)).word
        == "rejected"
    )
    assert judged(none(tokens, *rules, output=OPPOSITE)).word == "verified"


@pytest.mark.parametrize(
    ("output", "word"), [("2.01", "verified"), ("2", "rejected"), ("1.6", "rejected")]
)
def test_tolerances_add_up_before_they_are_squared(output: str, word: str) -> None:
    """Twice the output must be more than 4."""
    rules = (wanted(0, output, "2"), wanted(1, f"-{output}", "2"))
    assert judged(none(["1", "1"], *rules, output=OPPOSITE)).word == word


@pytest.mark.parametrize("number", [2, 3])
def test_an_output_of_no_rule_is_unreadable(number: int) -> None:
    rules = (wanted(0, "1"), wanted(1, "-1"))
    assert (
        judged(none(["1", "1"], *rules, output=[mu(0, "1"), mu(number, "-1")])).word
        == "unreadable"
    )


# In words.
@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("biases", ", these W_Q, W_K, W_V, b_Q, b_V of type float64 (sha256 "),
        ("two-heads", ", these W_Q, W_K, W_V of type float64 (sha256 "),
        ("two-heads", " in head 1 attends to token "),
        ("sum-of-heads", " in the sum of all heads outputs ("),
        (
            "no-heads-with-biases",
            ", no W_Q, W_K, W_V and biases b_Q and b_V whatever make sure that ",
        ),
        ("no-heads-twins", ", no W_Q, W_K and W_V whatever make sure that "),
        (
            "circuit",
            "In a circuit of 2 layers, each of which adds its output to its tokens and hands them on: For ",
        ),
    ],
)
def test_every_part_is_told(name: str, said: str) -> None:
    assert said in verify((CORPUS / f"{name}.json").read_text()).words


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("previous-token-causal", ") under a causal mask, "),
        ("mask-window", ") under the mask "),
        ("uncertainty-ball", "), wherever in this uncertainty they are ("),
        ("alibi", ", with biases of places in the scores (sha256 "),
    ],
)
def test_all_else_is_told_after_the_tokens(name: str, said: str) -> None:
    told = verify((CORPUS / f"{name}.json").read_text()).words
    assert told.startswith("For these ")
    assert said in told


def test_the_digest_of_a_circuit_is_that_of_its_statement() -> None:
    text = (CORPUS / "circuit.json").read_text()
    written = json.dumps(
        json.loads(text)["statement"], sort_keys=True, separators=(",", ":")
    )
    assert verify(text).words.endswith(
        f"(Statement: sha256 {hashlib.sha256(written.encode()).hexdigest()}.)"
    )


def _outputs(*numbers: str) -> str:
    heads = [{**head(), "W_V": [["1"]] * len(numbers)}]
    return judged(
        document(["1"], rule(output=list(numbers), tolerance="1e99"), heads=heads)
    ).words


def test_numbers_of_160_bits_are_told_and_longer_ones_are_not() -> None:
    assert f"outputs ({2**158}) within" in _outputs(
        str(2**158)
    )  # 159 bits, and one below
    assert "outputs (sha256 " in _outputs(str(2**159))


def test_the_digest_of_numbers_is_that_of_decimal_digits_or_of_hexadecimal_ones() -> (
    None
):
    numbers = [
        "1/1000000000",
        "1/999999999",
        "1000000000",
        "999999999",
        "-1000000000",
        "-1/90",
        "90",
        "91",
        "-1/91",
    ]
    told = "0x1/0x3b9aca00,1/999999999,0x3b9aca00/0x1,999999999,-0x3b9aca00/0x1,-1/90,90,91,-1/91"
    assert (
        f"outputs (sha256 {hashlib.sha256(told.encode()).hexdigest()[:16]}...) within"
        in _outputs(*numbers)
    )
