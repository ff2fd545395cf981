"""A certificate as a proof that Rocq's kernel accepts: the theorems of proofs/ applied to this statement.

What is written is a file of whole numbers (keys, queries, multipliers and shares over common denominators), the
statement in the theorems' own terms, and a script that lets the kernel compute: `coqc -Q proofs Headwright FILE.v`
accepts it, or the statement was not proved. Nothing here is trusted; a mistake makes a file that is not accepted.

keys       statements about keys: queries that grant a wish, that none shorter do, or none at all
heads      statements about whole heads
evidence   the evidence of a bound in whole numbers
syntax     numbers, lists and comments in Rocq syntax
extracted_checker  the checker that `make proof` extracts from the theorems
"""

from __future__ import annotations

from collections.abc import Sequence

from headwright.errors import InputError
from headwright.rocq.heads import about_whole_heads
from headwright.rocq.keys import about_keys
from headwright.trusted.certificate import about_heads, document, read
from headwright.trusted.heads.head import check_heads
from headwright.trusted.keys import Keys


def from_document(text: str, files: Sequence[bytes] = ()) -> str:
    """The file for a certificate's document; the keys that it does not hold are given, contents of .npy."""
    said, proof = document(text)
    if about_heads(said):
        return about_whole_heads(said, proof, check_heads(said, proof))
    certificate = read(said, proof)
    given = {(keys.n, keys.d, keys.digest): keys for keys in map(Keys.of_npy, files)}
    named = certificate.statement.keys
    missing = [name for name in named if name.rows is None and (name.n, name.d, name.digest) not in given]
    if missing:
        raise InputError(f"it is about {missing[0]}, which it does not hold: give their file, --keys FILE.npy")
    return about_keys(certificate, [name.rows or given[name.n, name.d, name.digest] for name in named])
