"""Verify a certificate of any kind: the `format` of the document chooses the checkers, and nothing else does.

Those about keys, whole heads and circuits go to `checkers`. Those about every text need the model, and have a checker
of their own.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from headwright.argument_types import check_argument
from headwright.certificates.checkers import (
    RANGES_CHECKER,
    TEXTS_CHECKER,
    CertificateVerdict,
    run_checkers,
)
from headwright.certificates.exact.cost import BUDGET
from headwright.certificates.exact.keys import Malformed
from headwright.certificates.exact.values import Json, parse_json
from headwright.certificates.formats import (
    ABOUT_MODELS,
    FIRST_LAYER,
    MODEL_NAME,
    RANGES,
)
from headwright.errors import InputError

if TYPE_CHECKING:
    from headwright.models import Model

Progress = Callable[[float], None]
LOG = logging.getLogger(__name__)


def verify(
    text: str | None,
    files: Sequence[bytes] = (),
    checker: str | None = None,
    progress: Progress | None = None,
    *,
    model: str | Model | None = None,
    budget: float = BUDGET,
) -> CertificateVerdict:
    """The verdict on a certificate of any kind.

    Each of the files, .npy contents of float64, must be keys that it names. `checker` is 'both', 'exact', 'float' or
    'proved'; None: both up to 10^6 key entries, above that the exact one. A certificate about every text needs the
    `model`, or its name, and has a checker of its own. A certificate about keys or heads that would take longer than
    the `budget`, in estimated seconds, is rejected before anything is checked.

    >>> verify("{}").word, verify("{}").checkers
    ('unreadable', ('exact', 'float'))
    """
    if text is None:
        raise InputError("there is no certificate: a design that is undecided has none")
    check_argument("text", text, str)
    check_argument("files", files, Sequence[bytes])
    if not all(isinstance(content, bytes) for content in files):
        raise InputError(
            "files: expected a list of the contents of .npy files, as bytes"
        )
    if not budget > 0:
        raise InputError(f"budget is {budget}: expected a number of seconds above 0")
    document = _parsed_or_none(text)
    if _format_of(document) in ABOUT_MODELS:
        if files or checker is not None:
            raise InputError(
                "keys or a checker beside a certificate about every text: expected the model alone"
            )
        verdict = _verify_every_text(text, document, model, progress)
    else:
        if model is not None:
            raise InputError(
                "a model beside a certificate about keys or heads: it goes with one about every text"
            )
        verdict = run_checkers(text, files, checker, progress, budget)
    LOG.info("%s (%s)", verdict.word, verdict.by)
    return verdict


def model_named(text: str) -> str | None:
    """The model that a certificate about every text is about, as it is called there; None for other certificates.

    >>> model_named('{"format": "headwright every-text certificate", "statement": {"model": "builtin:induction"}}')
    'builtin:induction'
    >>> model_named('{"format": "headwright certificate"}') is None
    True
    """
    document = _parsed_or_none(text)
    if _format_of(document) not in ABOUT_MODELS:
        return None
    return _model_in(document)


def _parsed_or_none(text: str) -> Json:
    """The document; None if it is not strict JSON: then the checkers say why."""
    try:
        return parse_json(text)
    except Malformed:
        return None


def _format_of(document: Json) -> str | None:
    """What kind of certificate a document says it is."""
    name = document.get("format") if isinstance(document, dict) else None
    return name if isinstance(name, str) else None


def _model_in(document: Json) -> str:
    """What a certificate about every text calls its model; a word in place of what is no name."""
    statement = document.get("statement") if isinstance(document, dict) else None
    name = statement.get("model") if isinstance(statement, dict) else None
    if isinstance(name, str) and MODEL_NAME.fullmatch(name):
        return name
    return "MODEL"


def _verify_every_text(
    text: str, document: Json, model: str | Model | None, progress: Progress | None
) -> CertificateVerdict:
    """Such a statement is looked at again from the weights, which the model has."""
    if model is None:
        name = _model_in(document)
        raise InputError(
            f'the certificate is about a model: add --model {name} (in Python, model="{name}")'
        )
    if _format_of(document) == RANGES:
        from headwright.value_ranges.verify_certificate import verify_ranges

        word, words, runs = verify_ranges(text, model, progress)
        return CertificateVerdict(word, words, (RANGES_CHECKER,), runs)
    from headwright.text_bounds.verify_certificate import (
        verify_first_layer,
        verify_next_token,
    )

    if _format_of(document) == FIRST_LAYER:
        word, words, runs = verify_first_layer(text, model, progress)
    else:
        word, words, runs = verify_next_token(text, model, progress)
    return CertificateVerdict(word, words, (TEXTS_CHECKER,), runs)
