"""The checker with a machine-checked proof: a program that `make proof` extracts from the theorems of proofs/.

It reads the certificate itself, recomputes the statement's digest, and runs a function of which Rocq's kernel has
accepted that what it accepts is true (`check_sound` in proofs/Checker.v). Its reader of JSON and the sentence that is
shown are outside of that theorem; docs/explanation/trust.md says what else is.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from headwright.certificates.exact.certificate import (
    about_heads,
    read_certificate,
    read_document,
)
from headwright.certificates.exact.cost import BUDGET
from headwright.certificates.exact.keys import Reject
from headwright.certificates.exact.words import in_words
from headwright.errors import InputError

NAME = "headwright-proved"
VARIABLE = "HEADWRIGHT_PROVED"
BUILT = Path(__file__).parents[3] / "proofs" / "build" / NAME  # in a clone


@dataclass(frozen=True)
class ProvedVerdict:
    """'verified', 'rejected', 'unreadable', 'not covered' or 'undecided', and in words what was proved or why not.

    The digest of the statement is the one that the program computed; None if it could not read it.
    """

    word: str
    words: str
    digest: str | None = None


def program() -> Path | None:
    """Where the program is: named by HEADWRIGHT_PROVED, built in this clone, or on the path; None if nowhere."""
    path = os.environ.get(VARIABLE)
    if path is not None:
        return Path(path) if Path(path).is_file() else None
    if BUILT.is_file():
        return BUILT
    on_path = shutil.which(NAME)
    return Path(on_path) if on_path else None


def verify(
    text: str, files: Sequence[bytes] = (), seconds: float = BUDGET
) -> ProvedVerdict:
    """The program's verdict on a certificate; the files, .npy contents of float64, must be keys that it names."""
    path = program()
    if path is None:
        raise InputError(
            "the proved checker is not built: `make proof` in a clone of Headwright builds it (Rocq, OCaml)"
        )
    try:
        ran = _run_program(path, text, files, seconds)
    except subprocess.TimeoutExpired:
        return ProvedVerdict(
            "undecided",
            f"the proved checker did not end within {seconds:g} s: raise --budget",
        )
    try:
        answer = json.loads(ran.stdout)
        word = answer["verdict"]
        reason = answer["reason"]
        digest = answer["digest"]
    except (ValueError, TypeError, KeyError):
        error = ran.stderr[:200].decode(errors="replace")
        return ProvedVerdict("undecided", f"the proved checker stopped: {error}")
    if word != "accepted":
        return ProvedVerdict(word, f"{reason}", digest)
    return _verdict_in_words(text, digest)


def _run_program(
    path: Path, text: str, files: Sequence[bytes], seconds: float
) -> subprocess.CompletedProcess[bytes]:
    """The program on files of these contents."""
    with tempfile.TemporaryDirectory() as folder:
        certificate = Path(folder) / "certificate.json"
        certificate.write_bytes(text.encode("utf-8", "surrogatepass"))
        key_files = []
        for number, content in enumerate(files):
            key_file = Path(folder) / f"{number}.npy"
            key_file.write_bytes(content)
            key_files.append(key_file)
        return subprocess.run(  # noqa: S603  (the program is the one that was built here)
            [path, certificate, *key_files],
            capture_output=True,
            timeout=seconds,
            check=False,
        )


def _verdict_in_words(text: str, digest: str) -> ProvedVerdict:
    """The statement that was accepted, as the Python reader words it, if that read the same one."""
    try:
        statement_json, evidence_json = read_document(text)
        if about_heads(statement_json):
            return ProvedVerdict(
                "verified",
                f"The statement about whole heads with sha256 {digest} is true.",
                digest,
            )
        statement = read_certificate(statement_json, evidence_json).statement
    except Reject as error:
        return ProvedVerdict(
            "undecided",
            f"the proved checker reads what the other checkers do not: {error}",
            digest,
        )
    if statement.digest != digest:
        return ProvedVerdict(
            "undecided",
            f"two readers disagree about the statement: {statement.digest} and {digest}",
            digest,
        )
    return ProvedVerdict("verified", in_words(statement), digest)
