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

from headwright.errors import InputError
from headwright.trusted.certificate import about_heads, document, read
from headwright.trusted.cost import BUDGET
from headwright.trusted.keys import Reject
from headwright.trusted.words import in_words

NAME, VARIABLE = "headwright-proved", "HEADWRIGHT_PROVED"
BUILT = Path(__file__).parents[2] / "proofs" / "build" / NAME  # in a clone


@dataclass(frozen=True)
class Verdict:
    """'verified', 'rejected', 'unreadable', 'not covered' or 'undecided', and in words what was proved or why not.

    The digest of the statement is the one that the program computed; None if it could not read it.
    """

    word: str
    words: str
    digest: str | None = None


def program() -> Path | None:
    """Where the program is: named by HEADWRIGHT_PROVED, built in this clone, or on the path; None if nowhere."""
    named = os.environ.get(VARIABLE)
    if named is not None:
        return Path(named) if Path(named).is_file() else None
    found = shutil.which(NAME)
    return BUILT if BUILT.is_file() else Path(found) if found else None


def verify(text: str, files: Sequence[bytes] = (), seconds: float = BUDGET) -> Verdict:
    """The program's verdict on a certificate; the files, .npy contents of float64, must be keys that it names."""
    path = program()
    if path is None:
        raise InputError(
            "the proved checker is not built: `make proof` in a clone of Headwright builds it (Rocq, OCaml)"
        )
    with tempfile.TemporaryDirectory() as folder:
        certificate = Path(folder) / "certificate.json"
        certificate.write_bytes(text.encode("utf-8", "surrogatepass"))
        beside = [Path(folder) / f"{number}.npy" for number in range(len(files))]
        for path_of_keys, content in zip(beside, files, strict=True):
            path_of_keys.write_bytes(content)
        try:
            ran = subprocess.run(  # noqa: S603  (the program is the one that was built here)
                [path, certificate, *beside], capture_output=True, timeout=seconds, check=False
            )
        except subprocess.TimeoutExpired:
            return Verdict("undecided", f"the proved checker did not end within {seconds:g} s: raise --budget")
    try:
        said = json.loads(ran.stdout)
        word, reason, digest = said["verdict"], said["reason"], said["digest"]
    except (ValueError, TypeError, KeyError):
        return Verdict("undecided", f"the proved checker stopped: {ran.stderr[:200].decode(errors='replace')}")
    if word != "accepted":
        return Verdict(word, f"{reason}", digest)
    try:
        statement, evidence = document(text)
        if about_heads(statement):
            return Verdict("verified", f"The statement about whole heads with sha256 {digest} is true.", digest)
        named = read(statement, evidence).statement
    except Reject as error:
        return Verdict("undecided", f"the proved checker reads what the other checkers do not: {error}", digest)
    if named.digest != digest:
        return Verdict("undecided", f"two readers disagree about the statement: {named.digest} and {digest}", digest)
    return Verdict("verified", in_words(named), digest)
