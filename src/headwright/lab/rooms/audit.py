"""Audit: what the heads of a trained model do. The built-in model is audited here; reports of others are opened."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field

from headwright.errors import InputError
from headwright.lab.asking import Tell
from headwright.lab.room import Call, RequestBody, Room

if TYPE_CHECKING:
    from headwright.models.documents import Document
    from headwright.models.loading.model import Model

MODEL = "builtin:induction"
TOKENS = 4000  # random ones, as the command line has it
LONGEST, MOST_PLACES = 96, 48  # tokens of a text that is shown; of every text
Name = Annotated[str, Field(pattern=r"^[0-9]{1,3}\.[0-9]{1,3}$")]


class AuditRequest(RequestBody):
    """The options of `headwright audit builtin:induction`.

    >>> AuditRequest().tokens
    4000
    """

    tokens: int = Field(TOKENS, ge=400, le=20_000, description="Random tokens that repeat, on which it is measured.")
    seed: int = Field(0, ge=0, le=10**6, description="Random seed.")


class ExplainRequest(RequestBody):
    """The options of `headwright audit builtin:induction --explain LAYER.HEAD`, with the text itself.

    >>> ExplainRequest(head="1.0", text="to be or not to be").row is None
    True
    """

    head: Name = Field(description="LAYER.HEAD")
    text: str = Field(min_length=1, max_length=400, description="What the model reads.")
    row: Annotated[int, Field(ge=2, lt=LONGEST)] | None = Field(None, description="This row; else the most telling.")


class EveryTextRequest(RequestBody):
    """The options of `headwright every-text builtin:induction --length T`.

    >>> EveryTextRequest(length=16).length
    16
    """

    length: int = Field(ge=2, le=MOST_PLACES, description="Tokens of the texts.")


def audit(asked: AuditRequest, progress: Tell | None = None) -> dict[str, Any]:
    """What `headwright audit builtin:induction --json` says.

    >>> found = audit(AuditRequest(tokens=400))
    >>> [(head["layer"], head["head"]) for head in found["heads"]]
    [(0, 0), (0, 1), (1, 0), (1, 1)]
    """
    from headwright.models.auditor import audit as run
    from headwright.models.report.data import data

    command = f"headwright audit {MODEL} --tokens {asked.tokens} --seed {asked.seed} --json"
    return data(run(_model(), tokens=asked.tokens, seed=asked.seed, command=command, progress=progress))


def explain(asked: ExplainRequest) -> dict[str, Any]:
    """One row of a head as `--explain --json` says it, with all tokens and the whole pattern for a picture.

    >>> found = explain(ExplainRequest(head="0.0", text="the dog, the dog, the dog"))
    >>> row = found["rows"][0]
    >>> row["best"][0]["position"] == row["position"] - 1, row["shortest"]["verdict"]
    (True, 'designed')
    """
    from dataclasses import asdict

    import numpy as np

    from headwright.models.explain import explain_layer, parse_head
    from headwright.models.findings.first_token import rows_away
    from headwright.models.findings.rounding import looked_at

    model = _model()
    number, head = parse_head(asked.head, model)
    document = _document(model, asked.text)
    layer = next(layer for layer in model.run(document.tokens) if layer.index == number)
    away = rows_away(layer, (0,))
    telling = None
    if asked.row is not None:
        telling = (away.positions == asked.row).astype(np.float64)
        if not telling.any():
            raise InputError(f"row {asked.row}, and the text has {len(document.tokens)} tokens: expected 2 to "
                             f"{len(document.tokens) - 1}")  # fmt: skip
    found = explain_layer(model, document, layer, head, rows=1, telling=telling)
    looked = looked_at(away, head, most=len(away.positions))
    return {
        **asdict(found),
        "tokens": list(model.words(document.tokens)),
        "positions": [int(position) for position in away.positions],
        "pattern": looked.pattern.round(6).tolist(),
    }


def every_text(asked: EveryTextRequest, progress: Tell | None = None) -> dict[str, Any]:
    """What is proven of the first layer on every text of a length, as the report says it.

    >>> found = every_text(EveryTextRequest(length=8))["every_text"]
    >>> [(one["head"], one["place"]) for one in found if one["least"]["bound"] > 0.5]
    [(0, 'previous'), (1, 'first')]
    """
    from dataclasses import asdict

    from headwright.models.every_text_summary import everywhere

    model = _model()
    found = everywhere(model, [0], list(range(model.heads)), asked.length, progress=progress)
    if found.missing:
        raise InputError(f"length {asked.length}: {found.missing}")
    return {"every_text": [asdict(one) for one in found.places]}


def _model() -> Model:
    from headwright.models.loading import load_model

    return load_model(MODEL)


def _document(model: Model, text: str) -> Document:
    from headwright.models.documents import text_documents

    return text_documents(model, text, "text", LONGEST)[0]


ROOM = Room(
    "audit",
    "Audit",
    "What each head of a trained model does, row by row; and what it does on every text, proved, with the worst one.",
    (
        Call(
            "audit",
            "What every head of the built-in model does.",
            AuditRequest,
            audit,
            {
                "summary": "sentences",
                "model": "its name, sizes and the digest of its weights",
                "measured_on": "text, tokens and rows",
                "heads": "all that was measured of each head: sampled, with intervals; ranks are proven",
                "order": "what shuffling the tokens does",
                "positions": "whether positions are told apart",
                "not_measured": "what was not, and why",
                "circuits_leave_out": "parts of the model that the circuits leave out",
                "examples": "rows that show what heads do",
                "every_text": "what is proven of the first layer on every text",
                "every_text_pairs": "pairs of adjacent tokens that keep more than half on the previous one, proven",
                "every_text_drawn": "the tokens that have the largest score most often, counted in floating point",
                "every_text_left_out": "heads that were not looked at, for the work it takes",
                "no_every_text": "why nothing is, where nothing is",
                "meanings": "what each name means",
                "reproduce": "the command, seed and versions",
            },
            seconds=60.0,
            tells=True,
        ),
        Call(
            "explain",
            "A row of a head of the built-in model on a text, and the shortest query that does the same.",
            ExplainRequest,
            explain,
            {
                "layer": "of the head",
                "head": "its number in the layer",
                "document": "what was read",
                "rows": "the row: its best keys (floating-point) and the shortest query that does the same (proven)",
                "tokens": "all tokens of the text",
                "positions": "the rows of the pattern",
                "pattern": "a row for each of them: floating-point",
            },
            seconds=30.0,
        ),
        Call(
            "every_text",
            "What the first layer of the built-in model does on every text of a length.",
            EveryTextRequest,
            every_text,
            {"every_text": "for each head and place: proven bounds, the texts that attain them, and the model on them"},
            seconds=30.0,
            tells=True,
        ),
    ),
)
