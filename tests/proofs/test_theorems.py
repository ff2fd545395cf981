"""The theorems as Rocq's kernel sees them. Without coqc these tests are skipped, loudly."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CLASSICAL = {
    "ClassicalDedekindReals.sig_forall_dec",
    "ClassicalDedekindReals.sig_not_dec",
    "Classical_Prop.classic",
    "FunctionalExtensionality.functional_extensionality_dep",
}
WHOLE_NUMBERS = re.compile(r"(PrimInt63|Uint63)\.\w+")


def _there() -> bool:
    if shutil.which("coqc") is None:
        return False
    where = subprocess.run(
        ["coqc", "-where"], capture_output=True, text=True, check=True
    ).stdout.strip()
    return (Path(where) / "user-contrib" / "Interval").is_dir()


needs_rocq = pytest.mark.skipif(
    not _there(),
    reason="no Rocq: the proofs are not checked (Debian: apt-get install coq libcoq-coquelicot libcoq-interval)",
)


@pytest.fixture(scope="session")
def printed(tmp_path_factory: pytest.TempPathFactory) -> str:
    """What the kernel prints of them; what `make proof` compiled of the same sources is used."""
    folder = tmp_path_factory.mktemp("proofs")
    for file in [
        *(ROOT / "proofs").glob("*.v"),
        *(ROOT / "proofs").glob("*.vo"),
        ROOT / "proofs" / "_CoqProject",
    ]:
        if file.name != "Assumptions.vo":
            shutil.copy2(
                file, folder
            )  # with its time, by which make sees what is out of date
    subprocess.run(
        ["coq_makefile", "-f", "_CoqProject", "-o", "Makefile.coq"],
        cwd=folder,
        check=True,
        capture_output=True,
    )
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith("MAKE")
    }
    ran = subprocess.run(
        ["make", "-s", "-f", "Makefile.coq"],
        cwd=folder,
        capture_output=True,
        text=True,
        env=environment,
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def assumed(printed: str) -> set[str]:
    return set(re.findall(r"^([\w.]+) :", printed, flags=re.MULTILINE)) | set(
        re.findall(r"^([A-Z]\w*\.\w+)$", printed, flags=re.MULTILINE)
    )


def test_nothing_is_assumed_in_the_sources() -> None:
    for file in (ROOT / "proofs").glob("*.v"):
        found = re.findall(
            r"\b(Admitted|admit|Axiom|Parameter|Conjecture)\b", file.read_text()
        )
        assert not found, f"{file.name}: {found}"
        assert file.name in (ROOT / "proofs" / "_CoqProject").read_text()


@needs_rocq
def test_the_kernel_accepts_the_theorems_on_the_axioms_of_the_reals_alone(
    printed: str,
) -> None:
    found = assumed(printed)
    assert "ClassicalDedekindReals.sig_forall_dec" in found
    assert {name for name in found if not WHOLE_NUMBERS.fullmatch(name)} <= CLASSICAL
