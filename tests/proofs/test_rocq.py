"""The theorems as Rocq's kernel sees them, and certificates as proofs. Without coqc these tests are skipped, loudly."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from headwright.errors import InputError
from headwright.rocq import from_document
from headwright.trusted.numbers import Reject
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
    not _there(), reason="NO ROCQ HERE: the proofs are not checked; apt-get install coq libcoq-interval"
)


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """The theorems built from nothing, and what was printed."""
    folder = tmp_path_factory.mktemp("proofs")
    for file in [*(ROOT / "proofs").glob("*.v"), ROOT / "proofs" / "_CoqProject"]:
        shutil.copy(file, folder)
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


ACCEPTED, REJECTED = _covered("accept"), _covered("reject")


def test_every_kind_of_certificate_but_random_keys_is_covered() -> None:
    names = {path.stem for path in (CORPUS / "accept").glob("*.json")} - set(ACCEPTED)
    documents = {name: (CORPUS / "accept" / f"{name}.json").read_text() for name in names}
    assert all('"random": true' in text for text in documents.values())
    assert len(ACCEPTED) > 35


@needs_rocq
def test_all_certificates_that_are_covered_become_proofs(accepts: Callable[[str], bool]) -> None:
    assert accepts(_together(ACCEPTED))


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
    [pytest.param(name, marks=[] if name in QUICK else pytest.mark.slow) for name in sorted(REJECTED)],
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


@pytest.mark.parametrize("name", sorted(ACCEPTED))
def test_the_statement_stands_in_the_file_word_for_word(name: str) -> None:
    text = (CORPUS / "accept" / f"{name}.json").read_text()
    assert ACCEPTED[name].startswith(f"(** {verify(text).words} *)\n")
