"""Keys beside a certificate must be those of its statement, for each checker: shape, order, type and numbers."""

from __future__ import annotations

import io
import json

import numpy as np
import pytest

from headwright import copy, design
from headwright.certificates import proved_checker
from headwright.verification.verify import verify
from tests.effort import tried
from tests.referee.mutate_files import changed_headers, npy, wrong_files

KEYS = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0]])
needs_program = pytest.mark.skipif(
    proved_checker.program() is None,
    reason="the proved checker is not built (make proof builds it, with Rocq and OCaml)",
)
CHECKERS = ["exact", "float", pytest.param("proved", marks=needs_program)]


def certificate(keys: np.ndarray, rows: bool) -> str:
    """About these keys; they are written out, or the file is needed."""
    found = json.loads(str(design(keys, copy(0)).certificate))
    if not rows:
        found["statement"]["keys"][0]["rows"] = None
    return json.dumps(found)


@pytest.mark.parametrize("rows", [True, False], ids=["written out", "named"])
@pytest.mark.parametrize("checker", CHECKERS)
def test_a_file_of_other_keys_is_not_accepted(checker: str, rows: bool) -> None:
    text = certificate(KEYS, rows)
    assert verify(text, [npy(KEYS)], checker).word == "verified"
    found = {
        name: verify(text, [file], checker).word
        for name, file in wrong_files(KEYS).items()
    }
    assert {
        name: word
        for name, word in found.items()
        if word not in ("rejected", "unreadable")
    } == {}


@pytest.mark.parametrize("checker", CHECKERS)
def test_a_certificate_about_the_same_bytes_in_another_shape_is_rejected(
    checker: str,
) -> None:
    text = certificate(KEYS.reshape(2, 3), rows=False)
    verdict = verify(text, [npy(KEYS)], checker)
    assert verdict.word == "rejected"
    assert "3 x 2 keys" in verdict.words


@pytest.mark.parametrize("checker", CHECKERS)
def test_a_file_that_is_accepted_is_read_by_numpy_as_the_same_keys(
    checker: str,
) -> None:
    text = certificate(KEYS, rows=False)
    accepted = 0
    for file in changed_headers(KEYS, tried(400), seed=7):
        if verify(text, [file], checker).word == "verified":
            accepted += 1
            assert np.load(io.BytesIO(file)).tolist() == KEYS.tolist(), file
    assert accepted  # with a space more or less, and its length set right


@pytest.mark.parametrize("checker", CHECKERS)
@pytest.mark.parametrize("version", [(1, 0), (2, 0), (3, 0)])
def test_every_version_of_the_format_is_read(
    checker: str, version: tuple[int, int]
) -> None:
    content = io.BytesIO()
    np.lib.format.write_array(content, KEYS, version=version)
    assert (
        verify(certificate(KEYS, rows=False), [content.getvalue()], checker).word
        == "verified"
    )
