"""The checker with a machine-checked proof, over the corpus. Without the program these tests are skipped, loudly."""

from __future__ import annotations

import hashlib
import io
import json
import math
import struct
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from headwright import copy, design
from headwright.certificates import proved_checker
from headwright.certificates.exact.verify import verify
from headwright.errors import InputError
from tests.effort import ALL
from tests.referee.numbers import number
from tests.referee.queries import judge

CORPUS = Path(__file__).parents[1] / "certificates" / "corpus"
WORDS = {
    "accept": {"verified", "not covered"},
    "head-accept": {"verified", "not covered"},
    "reject": {"rejected", "not covered", "undecided"},
    "head-reject": {"rejected", "unreadable", "not covered", "undecided"},
    "malformed": {"unreadable"},
    "head-malformed": {"unreadable", "not covered"},
}
COUNTS = {"accept": 42, "head-accept": 22}  # how many are covered, at least

needs_program = pytest.mark.skipif(
    proved_checker.program() is None,
    reason="the proved checker is not built (make proof builds it, with Rocq and OCaml)",
)


@pytest.fixture
def no_program(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(proved_checker.VARIABLE, "/nowhere")


@pytest.mark.usefixtures("no_program")
def test_without_the_program_it_says_how_to_build_it() -> None:
    assert proved_checker.program() is None
    with pytest.raises(InputError, match="make proof"):
        proved_checker.verify("{}")


@needs_program
@pytest.mark.parametrize("folder", WORDS)
def test_the_corpus_gets_its_verdicts(folder: str) -> None:
    found = {
        path.stem: proved_checker.verify(path.read_text(), seconds=60)
        for path in sorted((CORPUS / folder).glob("*.json"))
    }
    assert {name: v for name, v in found.items() if v.word not in WORDS[folder]} == {}
    assert [v.word for v in found.values()].count("verified") >= COUNTS.get(folder, 0)


@needs_program
@pytest.mark.parametrize("folder", ["accept", "head-accept"])
def test_the_digest_and_the_words_are_those_of_the_exact_checker(folder: str) -> None:
    for path in sorted((CORPUS / folder).glob("*.json")):
        text = path.read_text()
        mine, exact = proved_checker.verify(text), verify(text)
        assert mine.digest is not None
        assert mine.digest in exact.words
        if mine.word == "verified" and folder == "accept":
            assert mine.words == exact.words


def npy(keys: np.ndarray) -> bytes:
    file = io.BytesIO()
    np.save(file, keys)
    return file.getvalue()


def designed(n: int, d: int = 64) -> tuple[str, np.ndarray]:
    keys = np.random.default_rng(n).standard_normal((n, d))
    return str(design(keys, copy(1)).certificate), keys


@needs_program
def test_keys_may_be_given_beside() -> None:
    text, keys = designed(600, 12)
    assert json.loads(text)["statement"]["keys"][0]["rows"] is None
    file = npy(keys)
    assert proved_checker.verify(text, [file]).word == "verified"
    assert proved_checker.verify(text).word == "unreadable"
    assert proved_checker.verify(text, [b"not a file"]).word == "unreadable"
    assert proved_checker.verify(text, [file[:-8]]).word == "unreadable"
    assert proved_checker.verify(text, [npy(keys.astype(">f8"))]).word != "verified"
    assert proved_checker.verify(text, [npy(keys + 1)]).word != "verified"
    assert proved_checker.verify(text, [file, npy(keys + 1)]).word == "rejected"


@needs_program
def test_a_query_that_is_halved_is_not_accepted() -> None:
    document = json.loads((CORPUS / "accept" / "copy.json").read_text())
    query = document["statement"]["queries"][0]
    document["statement"]["queries"][0] = [(float.fromhex(x) / 2).hex() for x in query]
    assert proved_checker.verify(json.dumps(document)).word == "rejected"


@needs_program
@pytest.mark.parametrize("folder", ["accept/copy", "head-accept/alibi"])
def test_weights_of_very_many_digits_are_rejected_at_once(folder: str) -> None:
    document = json.loads((CORPUS / f"{folder}.json").read_text())
    fine = f"0x{'f' * 19_999}e/0x{'f' * 20_000}"
    said = document["statement"]
    for targets in (
        [said["targets"]]
        if "targets" in said
        else [rule["attend"] for rule in said["rules"]]
    ):
        targets.update(dict.fromkeys(targets, fine))
    found = proved_checker.verify(json.dumps(document), seconds=60)
    assert (found.word, "digits" in found.words) == ("rejected", True)


@needs_program
@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('"version": 3', '"version": 3.0'),
        ('"version": 3', '"version": 03'),
        ('"version": 3', '"version": 3, "version": 3'),
        ('"version": 3', '"version": 3 /* two */'),
        ('"version"', "version"),
        ('"version": 3', '"version": NaN'),
        ('"heads": 1', '"heads": true'),
        ('"heads": 1', '"heads": "1"'),
        ('"heads": 1', '"heads": 1, "more": 1'),
        ('"scale": "1"', '"scale": 1'),
        ('"scale": "1"', '"scale": " 1"'),
        ('"scale": "1"', '"scale": "+1"'),
        ('"scale": "1"', '"scale": "1/0"'),
        ('"scale": "1"', '"scale": "0x1.8"'),
        ('"scale": "1"', '"scale": "1."'),
        ('"scale": "1"', '"scale": "1e1000"'),
        ('"scale": "1"', '"scale": "0x1/0x0"'),
        ('"scale": "1"', '"scale": "\\u0661"'),
    ],
)
def test_what_is_not_of_the_format_is_unreadable(before: str, after: str) -> None:
    text = json.dumps(json.loads((CORPUS / "accept" / "copy.json").read_text()))
    assert text.count(before) == 1
    assert proved_checker.verify(text.replace(before, after)).word == "unreadable"


@needs_program
@pytest.mark.parametrize(
    "scale",
    [
        "1.0",
        "1e0",
        "0x1p+0",
        "0x1.0p+0",
        "3/3",
        "0x2/0x2",
        "10e-1",
        "0x8p-3",
        "\\u0031",
    ],
)
def test_a_number_may_be_written_in_every_form(scale: str) -> None:
    text = json.dumps(
        json.loads((CORPUS / "accept" / "copy.json").read_text())
    ).replace('"scale": "1"', f'"scale": "{scale}"')
    found = proved_checker.verify(text)
    assert found.word == verify(text).word, (found, verify(text))
    assert found.word == ("unreadable" if scale == "0x8p-3" else "verified")
    if found.word == "verified":
        said = json.loads(text)["statement"]
        said["keys"][0]["rows"] = None
        written = json.dumps(said, sort_keys=True, separators=(",", ":"))
        assert found.digest == hashlib.sha256(written.encode()).hexdigest()


@needs_program
@pytest.mark.slow
def test_a_hundred_thousand_keys_take_less_than_a_minute() -> None:
    text, keys = designed(100_000)
    assert proved_checker.verify(text, [npy(keys)], seconds=60).word == "verified"


def mutants(text: str) -> Iterator[tuple[str, str]]:
    """Statements that are a little or much stronger than the one that is proved."""
    said = json.loads(text)["statement"]
    queries, scale, targets, length = (
        said["queries"],
        said["scale"],
        said["targets"],
        said["none_shorter"],
    )

    def changed(name: str, value: object) -> str:
        document = json.loads(text)
        document["statement"][name] = value
        return json.dumps(document)

    for name, factor in {
        "halved": Fraction(1, 2),
        "shorter": 1 - Fraction(1, 10**9),
        "minus": Fraction(-1),
    }.items():
        scaled = [[float(number(x) * factor).hex() for x in query] for query in queries]
        yield name, changed("queries", scaled)
        yield f"first {name}", changed("queries", scaled[:1] + queries[1:])
        yield f"scale {name}", changed("scale", str(number(scale) * factor))
    yield (
        "none shorter",
        changed("none_shorter", str(number(length) * (1 + Fraction(1, 10**6)))),
    )
    for name, part in {
        "targets": Fraction(1, 1000),
        "much targets": Fraction(1, 2),
    }.items():
        yield (
            name,
            changed(
                "targets",
                {
                    a: str(number(p) + (1 - number(p)) * part)
                    for a, p in targets.items()
                },
            ),
        )
    yield "keys in another order", _turned(text)


def _turned(text: str) -> str:
    document = json.loads(text)
    for keys in document["statement"]["keys"]:
        rows = keys["rows"][1:] + keys["rows"][:1]
        content = b"".join(struct.pack("<d", _float(x)) for row in rows for x in row)
        keys |= {"rows": rows, "sha256": hashlib.sha256(content).hexdigest()}
    return json.dumps(document)


def _float(x: str) -> float:
    return math.copysign(float(number(x)), -1 if x.startswith("-") else 1)


@needs_program
@pytest.mark.parametrize(
    "path",
    sorted((CORPUS / "accept").glob("*.json"))[:: 1 if ALL else 4],
    ids=lambda path: path.stem,
)
def test_what_is_accepted_of_mutants_is_true(path: Path) -> None:
    text = path.read_text()
    found = {
        name: (proved_checker.verify(mutant, seconds=60).word, mutant)
        for name, mutant in mutants(text)
    }
    accepted = [name for name, (word, _) in found.items() if word == "verified"]
    assert [
        name
        for name in accepted
        if judge(json.loads(found[name][1])["statement"]).word == "false"
    ] == []
