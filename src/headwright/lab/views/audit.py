"""Audit: what the heads of a trained model do. The built-in model is audited here; others come from files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field

from headwright.errors import InputError
from headwright.lab.view import ApiCall, RequestModel, View

if TYPE_CHECKING:
    from headwright.auditing.documents import Document
    from headwright.models.model import Model

MODEL = "builtin:induction"
TOKENS = 4000  # random tokens, as on the command line
LONGEST = 96  # tokens of a text that is shown
MOST_TOKENS = 48  # of texts that bounds are about
Name = Annotated[str, Field(pattern=r"^[0-9]{1,3}\.[0-9]{1,3}$")]


class AuditRequest(RequestModel):
    """The options of `headwright audit builtin:induction`.

    >>> AuditRequest().tokens
    4000
    """

    tokens: int = Field(
        TOKENS,
        ge=400,
        le=20_000,
        description="Number of repeated random tokens to measure on.",
    )
    seed: int = Field(0, ge=0, le=10**6, description="Random seed.")


class ExplainRequest(RequestModel):
    """The options of `headwright audit builtin:induction --explain LAYER.HEAD`, with the text itself.

    >>> ExplainRequest(head="1.0", text="to be or not to be").row is None
    True
    """

    head: Name = Field(description="LAYER.HEAD")
    text: str = Field(min_length=1, max_length=400, description="The text.")
    row: Annotated[int, Field(ge=2, lt=LONGEST)] | None = Field(
        None, description="The row; by default the one with the clearest pattern."
    )


class EveryTextRequest(RequestModel):
    """The options of `headwright every-text builtin:induction --length T`.

    >>> EveryTextRequest(length=16).length
    16
    """

    length: int = Field(
        ge=2, le=MOST_TOKENS, description="Number of tokens of the texts."
    )


def audit(request: AuditRequest) -> dict[str, Any]:
    """The output of `headwright audit builtin:induction --json`.

    >>> result = audit(AuditRequest(tokens=400))
    >>> [(head["layer"], head["head"]) for head in result["heads"]]
    [(0, 0), (0, 1), (1, 0), (1, 1)]
    """
    from headwright.auditing.auditor import AuditOptions, run_audit

    command = f"headwright audit {MODEL} --tokens {request.tokens} --seed {request.seed} --json"
    options = AuditOptions(tokens=request.tokens, seed=request.seed, command=command)
    return run_audit(_model(), options).to_dict()


def explain(request: ExplainRequest) -> dict[str, Any]:
    """One row of a head, as in `--explain --json`, with all tokens and the whole pattern for a picture.

    >>> result = explain(ExplainRequest(head="0.0", text="the dog, the dog, the dog"))
    >>> row = result["rows"][0]
    >>> row["best"][0]["position"] == row["position"] - 1, row["shortest"]["verdict"]
    (True, 'designed')
    """
    from dataclasses import asdict

    import numpy as np

    from headwright.auditing.explain import explain_layer, parse_head
    from headwright.auditing.measures.first_token import rows_away
    from headwright.auditing.measures.rounding import sample_rows
    from headwright.models.model import layer_at

    model = _model()
    number, head = parse_head(request.head, model)
    document = _document(model, request.text)
    layer = layer_at(model, document.tokens, number)
    rows = rows_away(layer, (0,))
    clarity = None
    if request.row is not None:
        clarity = (rows.positions == request.row).astype(np.float64)
        if not clarity.any():
            raise InputError(
                f"row {request.row}, and the text has {len(document.tokens)} tokens: expected 2 to "
                f"{len(document.tokens) - 1}",
                field="row",
            )
    explained = explain_layer(model, document, layer, head, rows=1, clarity=clarity)
    every_row = sample_rows(rows, head, range(len(rows.positions)))
    return {
        **asdict(explained),
        "tokens": list(model.token_strings(document.tokens)),
        "positions": [int(position) for position in rows.positions],
        "pattern": every_row.pattern.round(6).tolist(),
    }


def every_text(request: EveryTextRequest) -> dict[str, Any]:
    """Proved bounds for the first layer over all texts of a length, as in the report.

    >>> weights = every_text(EveryTextRequest(length=8))["every_text"]
    >>> [(weight["head"], weight["key"]) for weight in weights if weight["least"]["bound"] > 0.5]
    [(0, 'previous'), (1, 'first')]
    """
    from dataclasses import asdict

    from headwright.auditing.every_text_summary import first_layer_bounds

    model = _model()
    bounds = first_layer_bounds(model, [0], list(range(model.heads)), request.length)
    if bounds.missing:
        raise InputError(f"length {request.length}: {bounds.missing}", field="length")
    return {"every_text": [asdict(weight) for weight in bounds.weights]}


def _model() -> Model:
    from headwright.models import load_model

    return load_model(MODEL)


def _document(model: Model, text: str) -> Document:
    from headwright.auditing.documents import text_documents

    return text_documents(model, text, "text", LONGEST)[0]


VIEW = View(
    "audit",
    "Audit",
    "See what each head of a trained model does, row by row, and bounds that are proved for all texts of a length.",
    (
        ApiCall(
            "audit",
            AuditRequest,
            audit,
            seconds=60.0,
        ),
        ApiCall(
            "explain",
            ExplainRequest,
            explain,
            seconds=30.0,
        ),
        ApiCall(
            "every_text",
            EveryTextRequest,
            every_text,
            seconds=30.0,
        ),
    ),
)
