"""The theorems as Rocq's kernel sees them, and certificates as proofs. Without coqc these tests are skipped, loudly."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
from array import array
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwright.errors import InputError
from headwright.rocq import from_document
from headwright.rocq.heads import about_whole_heads
from headwright.rocq.syntax import comment, z
from headwright.trusted.certificate import document
from headwright.trusted.keys import Malformed, Reject
from headwright.trusted.verify import verify

ROOT = Path(__file__).parents[2]
CORPUS = ROOT / "tests" / "certificates"
CLASSICAL = {
    "ClassicalDedekindReals.sig_forall_dec", "ClassicalDedekindReals.sig_not_dec", "Classical_Prop.classic",
    "FunctionalExtensionality.functional_extensionality_dep",
}  # fmt: skip
# what coqc says where a check computes to false
NOT_PROVED = 'The term "eq_refl" has type "true = true" while it is expected to have type'
QUICK = {"bound-raised-by-a-millionth", "balls-widened", "heads-bound-raised", "almost-cancelling"}
WHOLE_NUMBERS = re.compile(r"(PrimInt63|Uint63)\.\w+")


def _there() -> bool:
    if shutil.which("coqc") is None:
        return False
    where = subprocess.run(["coqc", "-where"], capture_output=True, text=True, check=True).stdout.strip()
    return (Path(where) / "user-contrib" / "Interval").is_dir()


needs_rocq = pytest.mark.skipif(
    not _there(),
    reason="no Rocq: the proofs are not checked (Debian: apt-get install coq libcoq-coquelicot libcoq-interval)",
)


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """The theorems, and what the kernel prints of them; what `make proof` compiled of the same sources is used."""
    folder = tmp_path_factory.mktemp("proofs")
    for file in [*(ROOT / "proofs").glob("*.v"), *(ROOT / "proofs").glob("*.vo"), ROOT / "proofs" / "_CoqProject"]:
        if file.name != "Assumptions.vo":
            shutil.copy2(file, folder)  # with its time, by which make sees what is out of date
    subprocess.run(
        ["coq_makefile", "-f", "_CoqProject", "-o", "Makefile.coq"], cwd=folder, check=True, capture_output=True
    )
    environment = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    ran = subprocess.run(
        ["make", "-s", "-f", "Makefile.coq"], cwd=folder, capture_output=True, text=True, env=environment
    )
    assert ran.returncode == 0, ran.stderr
    return folder, ran.stdout


@pytest.fixture
def accepts(built: tuple[Path, str], tmp_path: Path) -> Callable[[str], bool]:
    def ask(text: str) -> bool:
        file = tmp_path / "certificate.v"
        file.write_text(text)
        ran = subprocess.run(["coqc", "-Q", built[0], "Headwright", file], capture_output=True, text=True)
        assert ran.returncode == 0 or NOT_PROVED in ran.stderr, ran.stderr
        if ran.returncode == 0:
            assert assumed(ran.stdout) <= CLASSICAL | {a for a in assumed(ran.stdout) if WHOLE_NUMBERS.fullmatch(a)}
        return ran.returncode == 0

    return ask


def assumed(printed: str) -> set[str]:
    return set(re.findall(r"^([\w.]+) :", printed, flags=re.MULTILINE)) | set(
        re.findall(r"^([A-Z]\w*\.\w+)$", printed, flags=re.MULTILINE)
    )


def test_nothing_is_assumed_in_the_sources() -> None:
    for file in (ROOT / "proofs").glob("*.v"):
        found = re.findall(r"\b(Admitted|admit|Axiom|Parameter|Conjecture)\b", file.read_text())
        assert not found, f"{file.name}: {found}"
        assert file.name in (ROOT / "proofs" / "_CoqProject").read_text()


@needs_rocq
def test_the_kernel_accepts_the_theorems_on_the_axioms_of_the_reals_alone(built: tuple[Path, str]) -> None:
    found = assumed(built[1])
    assert "ClassicalDedekindReals.sig_forall_dec" in found
    assert {name for name in found if not WHOLE_NUMBERS.fullmatch(name)} <= CLASSICAL


def _covered(folder: str) -> dict[str, str]:
    """The files for all certificates of a folder that are covered, by name."""
    written = {}
    for path in sorted((CORPUS / folder).glob("*.json")):
        with suppress(InputError, Reject):
            written[path.stem] = from_document(path.read_text())
    return written


def _covered_heads(folder: str) -> dict[str, str]:
    """The same for whole heads, written whether they are accepted or not."""
    written = {}
    for path in sorted((CORPUS / folder).glob("*.json")):
        with suppress(InputError, Reject, LookupError, TypeError, ValueError):  # some are not even well formed
            said, proof = document(path.read_text())
            written[path.stem] = about_whole_heads(said, proof, "Not verified.")
    return written


ACCEPTED, HEADS, REJECTED = _covered("accept"), _covered("head-accept"), _covered("reject")
REJECTED |= {f"head-{name}": text for name, text in _covered_heads("head-reject").items()}
# Rejected for their form or the type of their weights, of which the formal statement says nothing; no file is written.
FORM = {
    "alibi-for-one-head-of-two", "alibi-for-two-heads", "at-most-above-one", "bfloat16-below-its-smallest",
    "dtype-a-list", "dtype-float16", "float32-below-its-smallest",
}  # fmt: skip
# Scores so far apart that the kernel's exponentials do not end: not accepted, but not rejected in a minute either.
FAR = {"float32-beyond-its-range", "scores-beyond-all-digits", "token-beyond-floats"}


def test_no_file_is_written_for_heads_that_are_rejected() -> None:
    for path in (CORPUS / "head-reject").glob("*.json"):
        with pytest.raises(Exception):  # noqa: B017  (whatever the checker rejects or stops at)
            from_document(path.read_text())


def test_every_kind_of_certificate_but_random_keys_is_covered() -> None:
    names = {path.stem for path in (CORPUS / "accept").glob("*.json")} - set(ACCEPTED)
    documents = {name: (CORPUS / "accept" / f"{name}.json").read_text() for name in names}
    assert all('"random": true' in text for text in documents.values())
    assert len(ACCEPTED) > 35


@needs_rocq
def test_all_certificates_that_are_covered_become_proofs(accepts: Callable[[str], bool]) -> None:
    assert accepts(_together(ACCEPTED))


@needs_rocq
def test_all_certificates_about_heads_that_are_covered_become_proofs(accepts: Callable[[str], bool]) -> None:
    assert len(HEADS) >= 22
    assert accepts(_together(HEADS))


def _together(files: dict[str, str]) -> str:
    """Many files as modules of one; what they use is loaded once, and what they rest on is not printed."""
    opening, bodies = "", []
    for name, text in files.items():
        start = text.index("Require Import")
        end = text.index("Open Scope Z_scope.")
        opening, module = text[start:end], "C_" + name.replace("-", "_")
        body = text[end:].replace("Print Assumptions the_statement.", "")
        bodies.append(f"Module {module}.\n{body}\nEnd {module}.\n")
    return opening + "\n".join(bodies)


@needs_rocq
def test_a_certificate_rests_on_the_axioms_of_the_reals_alone(accepts: Callable[[str], bool]) -> None:
    assert accepts(ACCEPTED["world-balls-impossible"])
    assert "Print Assumptions the_statement." in ACCEPTED["world-balls-impossible"]


@needs_rocq
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[] if name in QUICK else pytest.mark.slow)
        for name in sorted(REJECTED.keys() - {f"head-{name}" for name in FORM | FAR})
    ],
)
def test_a_rejected_certificate_is_not_accepted_by_the_kernel(accepts: Callable[[str], bool], name: str) -> None:
    assert not accepts(REJECTED[name])


@needs_rocq
@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("average", {"none_shorter": "100"}),
        ("average", {"wish": {"0": "49/100", "1": "4999/10000"}}),
        ("midpoint", {"wish": {"0": "1/3"}}),
    ],
)
def test_a_tampered_certificate_is_not_accepted(
    accepts: Callable[[str], bool], name: str, change: dict[str, object]
) -> None:
    document = json.loads((CORPUS / "accept" / f"{name}.json").read_text())
    if "wish" in change:
        change = {"wish": dict(zip(document["statement"]["wish"], change["wish"].values(), strict=False))}  # type: ignore[attr-defined]
    document["statement"] |= change
    assert not accepts(from_document(json.dumps(document)))


def test_random_keys_are_refused_by_name() -> None:
    with pytest.raises(InputError, match="random"):
        from_document((CORPUS / "accept" / "gaussian-pairs.json").read_text())


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("circuit", "about a circuit"),
        ("world-scale", "lie in a world"),
        ("biases", "about outputs"),
        ("route-nuclear", "about outputs"),
        ("two-bounds-of-one-head", "nuclear kind"),
        ("dimension-two", "dimension kind"),
        ("no-heads-output-twins", "because of outputs"),
    ],
)
def test_what_is_not_covered_of_heads_is_refused_by_name(name: str, reason: str) -> None:
    with pytest.raises(InputError, match=reason):
        from_document((CORPUS / "head-accept" / f"{name}.json").read_text())


@pytest.mark.parametrize(
    ("folder", "name"),
    [*(("accept", name) for name in sorted(ACCEPTED)), *(("head-accept", name) for name in sorted(HEADS))],
)
def test_the_statement_stands_in_the_file_word_for_word(folder: str, name: str) -> None:
    text = (CORPUS / folder / f"{name}.json").read_text()
    assert from_document(text).startswith(f"(** {verify(text).words} *)\n")


@pytest.mark.parametrize("words", ["a *) Axiom a : False. (*", "(* open", 'a "string', "ends with *", "two\nlines"])
def test_words_that_would_leave_their_comment_are_refused(words: str) -> None:
    with pytest.raises(InputError, match="comment"):
        comment(words)


@given(st.integers())
def test_whole_numbers_are_written_exactly(number: int) -> None:
    text = z(number)
    assert int(text.strip("()").replace("(-", "-"), 0) == number
    assert re.fullmatch(r"\(-(0x[0-9a-f]+|[0-9]+)\)|0x[0-9a-f]+|[0-9]+", text)


ODD: dict[str, tuple[list[list[float]], dict[int, str]]] = {
    # keys, wish, query: equality at the edge, and just beyond it
    "one key": ([[3.0, -4.0]], {0: "1"}),
    "one key of nothing": ([[0.0]], {0: "1"}),
    "zero keys": ([[0.0, 0.0], [0.0, 0.0], [0.0, 0.0]], {0: "1/3", 2: "1/3"}),
    "zero keys, too much": ([[0.0, 0.0], [0.0, 0.0], [0.0, 0.0]], {0: "1000000000000000000001/3000000000000000000000"}),
    "one key, more than all": ([[1.0], [0.0]], {0: "1"}),
    "subnormal keys": ([[5e-324], [-5e-324]], {0: "49/100"}),
    "keys far apart": ([[3000.0], [-3000.0]], {0: "999999/1000000"}),
}


@needs_rocq
def test_the_kernel_and_the_trusted_checker_agree_at_the_edges(accepts: Callable[[str], bool]) -> None:
    yes: dict[str, str] = {}
    no: dict[str, str] = {}
    for name, (keys, wish) in ODD.items():
        text = _granting(keys, wish)
        (yes if verify(text).word == "verified" else no)[re.sub(r"\W+", "_", name)] = from_document(text)
    assert set(no) == {"zero_keys_too_much", "one_key_more_than_all"}
    assert accepts(_together(yes))
    assert not any(accepts(text) for text in no.values())


def _granting(keys: list[list[float]], wish: dict[int, str]) -> str:
    """A certificate that the query (1, 0, ..) grants a wish."""
    d = len(keys[0])
    content = array("d", [x for row in keys for x in row]).tobytes()
    named = {
        "n": len(keys),
        "d": d,
        "sha256": hashlib.sha256(content).hexdigest(),
        "rows": [[x.hex() for x in k] for k in keys],
    }
    statement = {
        "claim": "designed", "heads": 1, "keys": [named], "scale": "1", "wish": {str(a): p for a, p in wish.items()},
        "world": [], "confidence": "1", "queries": [["1"] + ["0"] * (d - 1)], "none_shorter": "0",
    }  # fmt: skip
    evidence = {"guard": None, "bound": None}
    return json.dumps({"format": "headwright certificate", "version": 2, "statement": statement, "evidence": evidence})


@pytest.mark.parametrize(("n", "d", "scale"), [(0, 1, "1"), (1, 0, "1"), (1, 1, "0")])
def test_no_keys_no_dimension_and_a_scale_of_zero_are_no_certificates(n: int, d: int, scale: str) -> None:
    document = json.loads(_granting([[1.0]], {0: "1"}))
    document["statement"]["keys"][0] |= {"n": n, "d": d}
    document["statement"]["scale"] = scale
    with pytest.raises(Malformed):
        from_document(json.dumps(document))


def test_an_empty_wish_is_no_certificate() -> None:
    with pytest.raises(Malformed, match="wish"):
        from_document(_granting([[1.0]], {}))
