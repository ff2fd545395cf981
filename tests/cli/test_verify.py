"""headwright verify, as a stranger runs it: keys of any type, and is it about what I think it is about?"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.cli.running import Headwright, Ran
from tests.verification.test_verify import only_exact

CORPUS = Path(__file__).parents[1] / "certificates" / "corpus" / "head-accept"
BOTH = [(), ("--checker", "exact"), ("--checker", "float")]
FILES = {
    "sets.toml": '[[noise]]\nkey = 0\nscale = { between = [0.5, 1.5] }\n[[noise]]\nkey = "*"\nball = 0.1\n',
    "same-sets.toml": "[[noise]]\nkey = [1, 2, 3]\nball = 0.10\n[[noise]]\nkey = 0\nscale = { one_of = [1.5, 0.5] }\n",
    "wider.toml": '[[noise]]\nkey = 0\nscale = { between = [0.5, 1.5] }\n[[noise]]\nkey = "*"\nball = 0.2\n',
    "gauss.toml": "[[noise]]\nkey = 0\nisotropic = 0.01\n",
    "more.toml": "[[noise]]\nkey = 0\nisotropic = 0.02\n",
    "scenarios.toml": 'scenarios = ["K.npy", "K2.npy"]\n',
    "other-scenarios.toml": 'scenarios = ["K.npy", "K3.npy"]\n',
    "turned-scenarios.toml": 'scenarios = ["K2.npy", "K.npy"]\n',
    "covariance.toml": '[[noise]]\nkey = 0\ncovariance = "S.npy"\n',
    "route.toml": (
        "directions = { a = 2.0, b = 2.0, c = 2.0, d = 2.0 }\n"
        'tokens = ["d + b", "a", "c + b"]\n'
        'rule = [{ token = 0, output = "b - c" }, { token = 1, output = "b" }, { token = 2, copy = 0 }]\n'
    ),
    "twins.toml": "tokens = [[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]]\nrule = [{ token = 2, copy = 0 }]\n",
}


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    np.save("K.npy", np.eye(4))
    np.save("K2.npy", np.eye(4) + np.eye(4)[::-1] / 4)
    np.save("K3.npy", 2 * np.eye(4))
    np.save(
        "S.npy", np.array(0.01 * (np.eye(4) + np.outer([1, 2, 0, 1], [1, 2, 0, 1])))
    )
    for name, text in FILES.items():
        Path(name).write_text(text)


def _design(headwright: Headwright, *arguments: str) -> Ran:
    ran = headwright("design", "--keys", "K.npy", *arguments, "--out", "c.json")
    assert ran.code in (0, 1), ran.out + ran.err
    return ran


SMALL, LARGE = (5, 3), (700, 8)  # written into the certificate; named by it


@pytest.mark.parametrize(
    ("dtype", "order", "size"),
    [
        *(
            (dtype, "C", SMALL)
            for dtype in ("<f4", "<f2", ">f8", ">f4", "<i8", ">i4", "<u1", "bool")
        ),
        *((dtype, "F", size) for dtype in (">f8", "bool") for size in (SMALL, LARGE)),
        ("<f4", "C", LARGE),
    ],
)
def test_keys_of_any_type_verify_against_their_own_file(
    headwright: Headwright, dtype: str, order: Any, size: tuple[int, int]
) -> None:
    numbers = np.random.default_rng(3).integers(
        0, 2 if dtype == "bool" else 5, size=size
    )
    numbers[0] = 1 if dtype == "bool" else 5
    numbers[1:, 0] = 0
    np.save("T.npy", np.asarray(numbers.astype(dtype), order=order))
    said = headwright("design", "--keys", "T.npy", "--copy", "0", "--out", "c.json")
    assert said.code == 0, said.out + said.err
    assert ("--keys T.npy" in said.err) == (numbers.size > 4096)
    np.save("same.npy", numbers.astype(np.float64))
    for more in BOTH:
        assert headwright("verify", "c.json", "--keys", "T.npy", *more).code == 0
        assert headwright("verify", "c.json", "--keys", "same.npy", *more).code == 0


@pytest.mark.parametrize("suffix", ["csv", "json", "npz"])
def test_keys_of_any_suffix_verify_against_their_own_file(
    headwright: Headwright, suffix: str
) -> None:
    numbers = (
        np.random.default_rng(3).normal(size=(700, 8))
        * np.r_[4.0, np.ones(699)][:, None]
    )
    match suffix:
        case "csv":
            np.savetxt("T.csv", numbers, delimiter=",")
        case "json":
            Path("T.json").write_text(json.dumps(numbers.tolist()))
        case "npz":
            np.savez("T.npz", keys=numbers)
    assert (
        headwright(
            "design", "--keys", f"T.{suffix}", "--copy", "0", "--out", "c.json"
        ).code
        == 0
    )
    assert headwright("verify", "c.json", "--keys", f"T.{suffix}").code == 0
    assert (
        headwright(
            "verify", "c.json", "--keys", f"T.{suffix}", "--checker", "float"
        ).code
        == 0
    )


@pytest.mark.parametrize("more", BOTH)
def test_keys_are_compared_although_the_certificate_holds_them(
    headwright: Headwright, more: tuple[str, ...]
) -> None:
    _design(headwright, "--copy", "1")
    assert headwright("verify", "c.json", "--keys", "K.npy", *more).code == 0
    other = headwright("verify", "c.json", "--keys", "K3.npy", *more)
    assert other.code == 1
    assert other.out.startswith("rejected")


def test_which_checkers_ran_is_said(headwright: Headwright) -> None:
    _design(headwright, "--copy", "1")
    for choice, names, words in (
        ((), ["exact", "float"], "exact and floating-point checkers"),
        (
            ("--checker", "both"),
            ["exact", "float"],
            "exact and floating-point checkers",
        ),
        (("--checker", "exact"), ["exact"], "exact checker"),
        (("--checker", "float"), ["float"], "floating-point checker"),
    ):
        assert (
            headwright("verify", "c.json", "--json", *choice).json["checkers"] == names
        )
        assert headwright("verify", "c.json", *choice).out.startswith(
            f"verified ({words}): For these"
        )
        made = ("design", "--keys", "K.npy", "--copy", "1", *choice)
        assert headwright(*made, "--json").json["checkers"] == names
        assert headwright(*made).out.startswith(f"designed ({words}): For these")


def test_whole_heads_have_one_checker(headwright: Headwright) -> None:
    made = headwright("heads", "route.toml", "--out", "h.json")
    assert made.out.startswith("designed (exact checker): For these")
    assert headwright("heads", "route.toml", "--json").json["checkers"] == ["exact"]
    assert headwright("verify", "h.json").out.startswith(
        "verified (exact checker): For these"
    )
    assert headwright("verify", "h.json", "--json").json["checkers"] == ["exact"]
    for choice in ("both", "float"):
        ran = headwright("verify", "h.json", "--checker", choice)
        assert (ran.code, "whole heads" in ran.err) == (2, True)


@pytest.mark.parametrize(
    "command", [("verify", "c.json"), ("design", "--keys", "K.npy", "--copy", "1")]
)
def test_a_checker_that_there_is_not_is_refused(
    headwright: Headwright, command: tuple[str, ...]
) -> None:
    _design(headwright, "--copy", "1")
    for option, words in (
        (("--fast",), "No such option: --fast"),
        (("--checker", "fast"), "expected one of both, exact, float, proved"),
    ):
        ran = headwright(*command, *option)
        assert (ran.code, ran.out) == (2, "")
        assert words in ran.err


def test_what_one_checker_alone_accepts_is_not_confirmed(
    headwright: Headwright,
) -> None:
    text = json.dumps(only_exact())
    Path("hair.json").write_text(text)
    ran = headwright("verify", "hair.json")
    assert ran.code == 3
    assert ran.out.startswith(
        "not confirmed (exact and floating-point checkers): the exact checker accepts it"
    )
    assert (
        "the floating-point checker cannot accept it: key 0 is not certain to get a weight"
        in ran.out
    )
    assert (
        headwright("verify", "hair.json", "--json").json["verdict"] == "not confirmed"
    )
    assert headwright("verify", "hair.json", "--checker", "exact").code == 0
    assert headwright("verify", "hair.json", "--checker", "float").code == 1
    shorter = json.loads(text)
    shorter["statement"]["queries"] = [["4.5"]]
    Path("short.json").write_text(json.dumps(shorter))
    assert headwright("verify", "short.json").code == 1  # neither
    Path("cut.json").write_text(text[:-1])
    assert headwright("verify", "cut.json").code == 2


AGREES = [
    (("--copy", "1"), ("--copy", "1"), ""),
    (("--copy", "1"), ("--at-least", "1=100/101"), ""),
    (
        ("--copy", "1"),
        ("--copy", "1", "--eps", "0.02"),
        "it gives key 1 at least 100/101, and at least 50/51",
    ),
    (
        ("--average", "0,1"),
        ("--at-least", "0=0.4"),
        "it gives key 1 at least 100/201, and nothing was asked",
    ),
    (("--copy", "1", "--scale", "1/2"), ("--scale", "0.5"), ""),
    (("--copy", "1"), ("--confidence", "0.9"), "nothing is random"),
    (
        ("--copy", "0", "--uncertainty", "sets.toml"),
        ("--uncertainty", "sets.toml", "--copy", "0"),
        "",
    ),
    (
        ("--copy", "0", "--uncertainty", "sets.toml"),
        ("--uncertainty", "same-sets.toml"),
        "",
    ),
    (
        ("--copy", "0", "--uncertainty", "gauss.toml"),
        ("--uncertainty", "gauss.toml", "--confidence", "19/20"),
        "",
    ),
    (
        ("--copy", "0", "--uncertainty", "gauss.toml"),
        ("--confidence", "0.9"),
        "it has the confidence 19/20, and 9/10 was",
    ),
    (
        ("--copy", "0", "--uncertainty", "scenarios.toml"),
        ("--uncertainty", "turned-scenarios.toml"),
        "",
    ),
    (
        ("--copy", "0", "--uncertainty", "covariance.toml"),
        ("--uncertainty", "covariance.toml"),
        "",
    ),
]


@pytest.mark.parametrize(
    ("made", "asked", "words"),
    AGREES,
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_what_was_asked_is_what_was_proved(
    headwright: Headwright, made: tuple[str, ...], asked: tuple[str, ...], words: str
) -> None:
    _design(headwright, *made)
    for more in BOTH:
        ran = headwright("verify", "c.json", *asked, *more)
        assert ran.code == 0, ran.out
        assert words in ran.out
        assert ("and more" in ran.out) == bool(words)
        assert (
            headwright("verify", "c.json", *asked, "--json").json["differences"] == []
        )


DIFFERS = [
    (
        ("--copy", "1"),
        ("--copy", "2"),
        "it gives key 2 nothing, and at least 100/101 was asked for",
    ),
    (
        ("--copy", "1"),
        ("--copy", "1", "--eps", "0.001"),
        "and at least 1000/1001 was asked for",
    ),
    (("--copy", "1"), ("--average", "0,1"), "it gives key 0 nothing"),
    (
        ("--copy", "1"),
        ("--scale", "2"),
        "its scores have the scale 1, and 2 was asked for",
    ),
    (
        ("--copy", "0"),
        ("--uncertainty", "sets.toml"),
        "for key 0 its uncertainty says: certain, and the one asked for: scale 1/2 to",
    ),
    (
        ("--copy", "0", "--uncertainty", "sets.toml"),
        ("--uncertainty", "wider.toml"),
        "radius 1/10 around its place, and the one",
    ),
    (
        ("--copy", "0", "--uncertainty", "sets.toml"),
        ("--uncertainty", "gauss.toml"),
        "for every other key its uncertainty says: radius",
    ),
    (
        ("--copy", "0", "--uncertainty", "gauss.toml"),
        ("--uncertainty", "more.toml"),
        "standard deviation",
    ),
    (
        ("--copy", "0", "--uncertainty", "gauss.toml"),
        ("--confidence", "0.99"),
        "it has the confidence 19/20, and 99/100 was",
    ),
    (
        ("--copy", "0", "--uncertainty", "gauss.toml"),
        ("--uncertainty", "covariance.toml"),
        "a factor of 4 columns",
    ),
    (
        ("--copy", "0", "--uncertainty", "scenarios.toml"),
        ("--uncertainty", "sets.toml"),
        "it is about 2 scenarios, and the uncertainty",
    ),
    (
        ("--copy", "0"),
        ("--rules", "route.toml"),
        "it is about keys, and not about the tokens",
    ),
]


@pytest.mark.parametrize(
    ("made", "asked", "words"),
    DIFFERS,
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_what_was_not_proved_is_rejected_and_named(
    headwright: Headwright, made: tuple[str, ...], asked: tuple[str, ...], words: str
) -> None:
    _design(headwright, *made)
    for more in BOTH:
        ran = headwright("verify", "c.json", *asked, *more)
        assert ran.code == 1, ran.out
        assert ran.out.startswith("rejected")
        assert "proves something else than was asked" in ran.out
        assert words in ran.out
    assert (
        headwright("verify", "c.json", *asked, "--json").json["verdict"] == "rejected"
    )


def test_keys_of_a_scenario_that_the_certificate_does_not_know_are_rejected(
    headwright: Headwright,
) -> None:
    _design(headwright, "--copy", "0", "--uncertainty", "scenarios.toml")
    ran = headwright("verify", "c.json", "--uncertainty", "other-scenarios.toml")
    assert ran.code == 1
    assert "sha256" in ran.out


def test_a_uncertainty_with_scenarios_brings_the_keys(headwright: Headwright) -> None:
    rng = np.random.default_rng(0)
    for name in ("K.npy", "K2.npy"):
        np.save(name, rng.normal(size=(600, 8)) * np.r_[9.0, np.ones(599)][:, None])
    np.save("K2.npy", np.load("K.npy") + 0.01 * np.load("K2.npy"))
    said = _design(headwright, "--copy", "0", "--uncertainty", "scenarios.toml")
    assert "headwright verify c.json --uncertainty scenarios.toml" in said.err
    assert headwright("verify", "c.json").code == 2
    for more in BOTH:
        assert (
            headwright(
                "verify", "c.json", "--uncertainty", "scenarios.toml", *more
            ).code
            == 0
        )


def test_a_covariance_is_compared_up_to_the_rounding_of_its_factor(
    headwright: Headwright,
) -> None:
    _design(headwright, "--copy", "0", "--uncertainty", "covariance.toml")
    S = np.load("S.npy")
    S[0, 0] *= 1 + 2**-50
    np.save("S.npy", S)
    near = headwright("verify", "c.json", "--uncertainty", "covariance.toml")
    assert near.code == 0
    assert "the covariance of key 0 is within" in near.out
    S[0, 0] *= 1 + 1e-9
    np.save("S.npy", S)
    assert headwright("verify", "c.json", "--uncertainty", "covariance.toml").code == 1


@pytest.mark.parametrize("more", BOTH)
def test_a_checker_that_stops_is_a_bug_and_no_verdict(
    headwright: Headwright, monkeypatch: pytest.MonkeyPatch, more: tuple[str, ...]
) -> None:
    _design(headwright, "--copy", "0")

    def broken(*arguments: Any) -> None:
        raise RuntimeError("of the library")

    monkeypatch.setattr(
        "headwright.certificates.exact.certificate.read_integer", broken
    )
    ran = headwright("verify", "c.json", *more)
    assert ran.code == 4
    assert ran.out.startswith("internal error")
    assert "please report it with the certificate, whose sha256 is " in ran.out
    assert "verified" not in ran.out


def test_impossible_turns_more_and_less_round(headwright: Headwright) -> None:
    np.save("K.npy", np.zeros((2, 1)))
    assert (
        headwright(
            "design",
            "--keys",
            "K.npy",
            "--copy",
            "0",
            "--eps",
            "0.5",
            "--out",
            "c.json",
        ).code
        == 1
    )
    assert headwright("verify", "c.json", "--copy", "0", "--eps", "0.5").code == 0
    harder = headwright("verify", "c.json", "--copy", "0", "--eps", "0.1")
    assert harder.code == 0
    assert (
        "and more: it gives key 0 at least 2/3, and at least 10/11 was asked for"
        in harder.out
    )
    assert headwright("verify", "c.json", "--copy", "0", "--eps", "0.9").code == 1
    assert (
        headwright("verify", "c.json", "--at-least", "0=0.7,1=0.1").code == 0
    )  # still harder
    assert headwright("verify", "c.json", "--copy", "1").code == 1


def test_a_length_is_about_the_statements_own_targets(headwright: Headwright) -> None:
    _design(headwright, "--copy", "1")
    ran = headwright("verify", "c.json", "--copy", "1", "--eps", "0.5")
    assert (
        "that no shorter query does it is said of the statement's question" in ran.out
    )


def test_rules_are_compared(headwright: Headwright) -> None:
    assert headwright("heads", "route.toml", "--out", "c.json").code == 0
    agrees = headwright("verify", "c.json", "--rules", "route.toml")
    assert agrees.code == 0, agrees.out
    assert "its rules say more" in agrees.out  # where an output comes from

    def changed(old: str, new: str) -> Ran:
        assert old in FILES["route.toml"]
        Path("other.toml").write_text(FILES["route.toml"].replace(old, new))
        return headwright("verify", "c.json", "--rules", "other.toml")

    assert changed("copy = 0", "copy = 0, eps = 0.5").code == 0
    assert changed('{ token = 1, output = "b" }, ', "").code == 0
    assert changed('output = "b" }', 'output = "b", tolerance = 0.1 }').code == 0
    for old, new, words in [
        (
            "copy = 0",
            "copy = 0, eps = 0.001",
            "for token 2 of sequence 0 in head 0 it says less: attend",
        ),
        ("copy = 0", "copy = 1", "says less: attend"),
        (
            'output = "b" }',
            'output = "b", tolerance = 0.001 }',
            "says less: tolerance 1/100 instead of 1/1000",
        ),
        ('output = "b" }', 'output = "b + c" }', "says less: output"),
        (
            "token = 2, copy",
            "token = 2, head = 1, copy",
            "it has no rule for token 2 of sequence 0 in head 1",
        ),
        (
            'tokens = ["d + b", "a"',
            'tokens = ["d + b", "a + a"',
            "its sequences are not that of the rules",
        ),
        ("rule =", 'mask = "causal"\nrule =', "is not that of the rules"),
        (
            "rule =",
            "uncertainty = { ball = 0.001 }\nrule =",
            "its uncertainty is not that of the rules",
        ),
    ]:
        ran = changed(old, new)
        assert ran.code == 1, (old, new, ran.out)
        assert words in ran.out
    assert (
        "it is about whole heads" in headwright("verify", "c.json", "--copy", "0").out
    )


def test_a_rule_that_no_head_keeps_is_found_in_its_file(headwright: Headwright) -> None:
    assert headwright("heads", "twins.toml", "--out", "c.json").code == 1
    assert headwright("verify", "c.json", "--rules", "twins.toml").code == 0
    Path("other.toml").write_text(FILES["twins.toml"].replace("copy = 0", "copy = 2"))
    assert headwright("verify", "c.json", "--rules", "other.toml").code == 1


def _against(headwright: Headwright, name: str, rules: str) -> Ran:
    Path("asked.toml").write_text(rules)
    return headwright("verify", str(CORPUS / f"{name}.json"), "--rules", "asked.toml")


TWO = "tokens = [[1.0, 0.0], [0.0, 1.0]]\n"


def test_impossible_together_is_not_impossible_alone(headwright: Headwright) -> None:
    """The statement has two rules for one token: at least 0.9 for each of two."""
    one = _against(
        headwright,
        "no-heads-two-rules-at-one-place",
        TWO + "rule = [{token = 0, attend = { 1 = 0.95 }}]",
    )
    assert one.code == 1
    assert "the file says less: attend" in one.out
    other = (
        TWO.replace("0.0, 1.0", "0.0, 2.0")
        + "rule = [{token = 0, attend = { 1 = 0.95 }}]"
    )
    assert _against(headwright, "no-heads-two-rules-at-one-place", other).code == 1


@pytest.mark.parametrize(
    ("rule", "code"),
    [
        ("attend = { 0 = 0.2, 1 = 0.2 }", 0),
        ("attend = { 0 = 0.25, 1 = 0.25 }", 0),
        ("attend = { 0 = 0.2, 1 = 0.3 }", 1),
        ("attend = { 0 = 0.2 }, at_most = { 1 = 0.9 }", 1),
        ("attend = { 0 = 0.2 }, output = [1.0, 0.0]", 1),
    ],
)
def test_what_two_rules_say_of_one_place_counts_together(
    headwright: Headwright, rule: str, code: int
) -> None:
    ran = _against(
        headwright, "two-rules-at-one-place", f"{TWO}rule = [{{ token = 0, {rule} }}]"
    )
    assert ran.code == code, ran.out


def test_a_largest_weight_is_compared(headwright: Headwright) -> None:
    Path("most.toml").write_text(TWO + "rule = [{ token = 0, at_most = { 1 = 0.3 } }]")
    headwright("heads", "most.toml", "--out", "c.json")
    for most, code in ((0.4, 0), (0.3, 0), (0.2, 1)):
        Path("asked.toml").write_text(
            f"{TWO}rule = [{{ token = 0, at_most = {{ 1 = {most} }} }}]"
        )
        assert headwright("verify", "c.json", "--rules", "asked.toml").code == code


def test_the_sum_of_two_heads_is_not_that_of_one(headwright: Headwright) -> None:
    rules = TWO + "rule = [{ token = 0, copy = 1 }%s]"
    name, total = (
        "sum-of-two-heads-one-of-them-idle",
        ', { token = 0, head = "sum", output = [0.0, 1.0] }',
    )
    ran = _against(headwright, name, rules % total)
    assert ran.code == 1
    assert "it has 2 heads, and the rules are about the sum of 1" in ran.out
    assert _against(headwright, name, rules % "").code == 0  # of head 0 alone


@pytest.mark.parametrize(
    "rules",
    [
        "tokens = [[5.0, 1.0], [1.0, 0.0], [2.0, 0.0], [3.0, 0.0]]\nmask = ['1111', '1111', '1111', '0111']\n"
        "rule = [{ token = 3, copy = 1 }]",
        "tokens = [[1.0, 0.0], [2.0, 0.0], [3.0, 0.0]]\nalibi = 60\nrule = [{ token = 1, copy = 1 }]",
    ],
    ids=["a mask that moves the tokens", "places that add to scores"],
)
def test_what_no_query_does_is_no_proof_about_a_head(
    headwright: Headwright, rules: str
) -> None:
    np.save("three.npy", np.array([[1.0, 0.0], [2.0, 0.0], [3.0, 0.0]]))
    assert (
        headwright(
            "design", "--keys", "three.npy", "--copy", "1", "--out", "c.json"
        ).code
        == 1
    )
    Path("asked.toml").write_text(rules)
    ran = headwright("verify", "c.json", "--rules", "asked.toml")
    assert ran.code == 1
    assert "it is about keys" in ran.out


CIRCUIT = """
directions = { x = 2.0, y = 2.0, after_x = 2.0 }
tokens = ["x", "y", "x"]
layer = [{ mask = "causal", rule = [{ token = 1, copy = 0, output = "after_x" }] },{ rule = [{ token = 2, copy = 1 }] }]
"""


def test_circuits_are_compared_layer_by_layer(headwright: Headwright) -> None:
    Path("circuit.toml").write_text(CIRCUIT)
    assert headwright("heads", "circuit.toml", "--out", "c.json").code == 0
    agrees = headwright("verify", "c.json", "--rules", "circuit.toml")
    assert agrees.code == 0, agrees.out
    assert "That is what was asked" in agrees.out
    for old, new, words in [
        ("token = 2, copy = 1", "token = 2, copy = 1, eps = 0.5", None),
        (
            "token = 2, copy = 1",
            "token = 2, copy = 0",
            "in layer 1 for token 2 of sequence 0 in head 0 it says less",
        ),
        (
            'output = "after_x"',
            'output = "y"',
            "in layer 0 for token 1 of sequence 0 in head 0 it says less: output",
        ),
        (
            '"x", "y", "x"]',
            '"x", "y", "y"]',
            "in layer 0 its sequences are not that of the rules",
        ),
        (
            "{ rule = [{ token = 2",
            '{ mask = "causal", rule = [{ token = 2',
            "in layer 1 its mask is not that",
        ),
        (
            "copy = 1 }] }]",
            "copy = 1 }] }, { rule = [{ token = 2, copy = 1 }] }]",
            "of 2 layers, and the rules have 3",
        ),
    ]:
        assert old in CIRCUIT
        Path("other.toml").write_text(CIRCUIT.replace(old, new))
        ran = headwright("verify", "c.json", "--rules", "other.toml")
        assert ran.code == (0 if words is None else 1), (new, ran.out)
        assert (words or "verified") in ran.out
    headwright("heads", "route.toml", "--out", "heads.json")
    assert (
        "a single layer, and"
        in headwright("verify", "heads.json", "--rules", "circuit.toml").out
    )
    assert (
        "a circuit, and the rules"
        in headwright("verify", "c.json", "--rules", "route.toml").out
    )
    assert headwright("verify", "c.json", "--copy", "0").code == 1


def test_without_a_first_layer_there_is_no_circuit(headwright: Headwright) -> None:
    text = CIRCUIT.replace("copy = 0", "copy = 1").replace(
        '"x", "y", "x"]', '"x", "x", "y"]'
    )
    Path("circuit.toml").write_text(text)
    assert headwright("heads", "circuit.toml", "--out", "c.json").code == 1
    assert headwright("verify", "c.json", "--rules", "circuit.toml").code == 0
    Path("circuit.toml").write_text(text.replace('"x", "x", "y"]', '"x", "y", "y"]'))
    assert headwright("verify", "c.json", "--rules", "circuit.toml").code == 1


def test_an_output_told_by_a_token_whose_place_was_not_proved_is_not_agreed_to(
    headwright: Headwright,
) -> None:
    """Where nobody looks at a token of a later layer, a statement may put it anywhere."""
    text = CIRCUIT.replace(
        "{ rule = [{ token = 2", '{ mask = "causal", rule = [{ token = 1'
    ).replace("copy = 1 }", "%s }")
    Path("circuit.toml").write_text(text % 'copy = 1, output = "token 0"')
    assert headwright("heads", "circuit.toml", "--out", "c.json").code == 0
    assert (
        "where all of these are was not proved"
        in headwright("verify", "c.json", "--rules", "circuit.toml").out
    )


def test_nothing_that_a_terminal_obeys_is_printed(headwright: Headwright) -> None:
    ran = headwright("verify", "\x1b[2Kverified\u202e\udcff.json")
    assert ran.code == 2
    assert r"\x1b[2Kverified\u202e\udcff.json" in ran.err
    assert ran.err.removesuffix("\n").isprintable()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--confidence", "1.5"), "--confidence 1.5: expected a probability"),
        (("--confidence", "abc"), "--confidence is 'abc': expected a number"),
        (("--eps", "0.1"), "expected it with --copy or --average"),
        (("--rules", "route.toml", "--copy", "0"), "--rules beside"),
        (("--rules", "missing.toml"), "there is no such file"),
        (("--uncertainty", "missing.toml"), "there is no such file"),
        (("--keys", "missing.npy"), "keys missing.npy: there is no such file"),
        (("--keys", "."), "keys .: "),
        (("--copy", "0", "--average", "0,1"), "expected one target"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_questions_that_cannot_be_read_are_refused(
    headwright: Headwright, arguments: tuple[str, ...], words: str
) -> None:
    _design(headwright, "--copy", "1")
    ran = headwright("verify", "c.json", *arguments)
    assert ran.code == 2
    assert words in ran.err
    assert ran.err.count("\n") == 1


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "JSON"),
        (b"\xff\xfe\x00", "not text in UTF-8"),
        (b"{}", "names"),
        (b"[" * 100_000, "JSON"),
        (
            b'{"format": "headwright certificate", "version": 1, "statement": {}, "evidence": {}}',
            "version 1: expected",
        ),
        (
            b'{"format": "headwright certificate", "version": 2, "statement": {}, "evidence": {}}',
            "version 3",
        ),
        (
            b'{"format": "headwright certificate", "version": 1e400, "statement": {}, "evidence": {}}',
            "bare number",
        ),
    ],
)
@pytest.mark.parametrize("more", BOTH)
def test_what_is_no_certificate_is_unreadable(
    headwright: Headwright, content: bytes, words: str, more: tuple[str, ...]
) -> None:
    Path("bad.json").write_bytes(content)
    ran = headwright("verify", "bad.json", *more)
    assert ran.code == 2
    assert words in ran.out + ran.err


def test_a_bound_about_a_range_is_none_about_a_list(headwright: Headwright) -> None:
    np.save("m.npy", np.array([[0.1, 0.0], [-0.5, 0.0], [0.25, 0.5], [0.25, -0.5]]))
    for kind in ("between", "one_of"):
        Path(f"{kind}.toml").write_text(
            f"[[noise]]\nkey = 0\nscale = {{ {kind} = [-30.0, 30.0] }}\n"
        )
    targets = ("--at-least", "0=0.45")
    assert (
        headwright(
            "design",
            "--keys",
            "m.npy",
            *targets,
            "--heads",
            "2",
            "--uncertainty",
            "between.toml",
            "--out",
            "m.json",
        ).code
        == 1
    )
    assert (
        headwright("verify", "m.json", "--uncertainty", "between.toml", *targets).code
        == 0
    )
    listed = headwright("verify", "m.json", "--uncertainty", "one_of.toml", *targets)
    assert listed.code == 1
    assert "the uncertainty lists a few" in listed.out


def test_what_does_not_fit_a_certificate_is_refused_by_name(
    headwright: Headwright,
) -> None:
    headwright(
        "every-text",
        "builtin:induction",
        "--length",
        "4",
        "--heads",
        "0",
        "--out",
        "texts.json",
    )
    for options in (
        ("--copy", "0"),
        ("--keys", "K.npy"),
        ("--scale", "3"),
        ("--checker", "float"),
    ):
        ran = headwright(
            "verify", "texts.json", "--model", "builtin:induction", *options
        )
        assert ran.code == 2
        assert f"{options[0]} beside a certificate about every text" in ran.err
    _design(headwright, "--copy", "0")
    ran = headwright("verify", "c.json", "--model", "builtin:induction")
    assert ran.code == 2
    assert "--model beside a certificate about keys" in ran.err


def test_what_a_statement_speaks_of_and_nobody_asked_about_is_told(
    headwright: Headwright,
) -> None:
    Path("wide.toml").write_text('[[noise]]\nkey = "*"\nball = 1\n')
    assert (
        "impossible"
        in _design(headwright, "--copy", "0", "--uncertainty", "wide.toml").out
    )
    ran = headwright("verify", "c.json", "--keys", "K.npy", "--copy", "0")
    assert (
        "Not asked about: what its keys may be (--uncertainty)." in ran.out
    )  # for keys that stand still it is possible
    assert (
        "Not asked"
        not in headwright(
            "verify", "c.json", "--copy", "0", "--uncertainty", "wide.toml"
        ).out
    )
    _design(headwright, "--copy", "0", "--uncertainty", "gauss.toml", "--scale", "1/2")
    told = json.loads(headwright("verify", "c.json", "--copy", "0", "--json").out)
    assert told["unasked"] == [
        "what its keys may be (--uncertainty)",
        "its probability, 19/20 (--confidence)",
        "the scale of its scores, 1/2 (--scale)",
    ]
    _design(headwright, "--average", "0,1", "--heads", "2")
    assert (
        "that it is about 2 heads together"
        in headwright("verify", "c.json", "--average", "0,1").out
    )


def test_a_deviation_that_a_statement_has_to_round_is_told(
    headwright: Headwright,
) -> None:
    _design(headwright, "--copy", "0", "--uncertainty", "more.toml")  # the root of 0.02
    assert (
        "is the next float above"
        in headwright(
            "verify", "c.json", "--uncertainty", "more.toml", "--copy", "0"
        ).out
    )
    _design(
        headwright, "--copy", "0", "--uncertainty", "gauss.toml"
    )  # the root of 0.01
    assert (
        "next float"
        not in headwright(
            "verify", "c.json", "--uncertainty", "gauss.toml", "--copy", "0"
        ).out
    )


def test_a_budget_is_given_and_its_refusal_says_how_to_raise_it(
    headwright: Headwright,
) -> None:
    path = str(CORPUS.parent / "accept" / "copy.json")
    ran = headwright("verify", path, "--budget", "1e-6")
    assert ran.code == 1
    assert ran.out.startswith(
        "rejected (exact and floating-point checkers): too expensive: checking it takes about"
    )
    assert "raise --budget to" in " ".join(ran.out.split())
    assert headwright("verify", path, "--budget", "5").code == 0
    ran = headwright("verify", path, "--budget", "0")
    assert (
        ran.code == 2
        and "budget is 0.0: expected a number of seconds above 0" in ran.err
    )


def test_a_scale_of_very_many_digits_is_no_internal_error(
    headwright: Headwright, tmp_path: Path
) -> None:
    document = json.loads((CORPUS.parent / "accept" / "copy.json").read_text())
    document["statement"]["scale"] = f"0x{'8' * 5000}/0x{'8' * 4999}7"
    path = tmp_path / "long.json"
    path.write_text(json.dumps(document))
    assert headwright("verify", str(path), "--copy", "0").code in (0, 1)
    assert headwright("verify", str(path), "--scale", "1").code == 1


def test_all_digits_of_the_statement_are_in_json(headwright: Headwright) -> None:
    path = str(CORPUS.parent / "accept" / "copy.json")
    whole = headwright("verify", path, "--json").json["words"]
    digest = re.search(r"Statement sha256 ([0-9a-f]{64})\.$", whole)
    assert digest is not None
    shown = headwright("verify", path).out
    assert digest[1] not in shown and f"Statement sha256 {digest[1][:12]}" in shown
