"""Chapters about a trained model: what its heads do, and what one does on every text there is."""

from __future__ import annotations

from pathlib import Path

from headwright import pictures
from headwright.enclosure import shown_below
from headwright.files import write_whole
from headwright.models import audit, load_model
from headwright.models.report.page import page
from headwright.models.report.sentences import sentences
from headwright.models.texts.checker import check
from headwright.models.texts.every_text import along_text, every_text
from headwright.models.texts.make_statement import statement_of
from headwright.models.texts.read_layer import first_layer
from headwright.models.texts.statement import written
from headwright.tour.chapter import Chapter

MODEL, TOKENS = "builtin:induction", 2000
LENGTH, SENTENCE = 64, "the keeper counted the boats, and the boats counted the keeper"
SHOWN = {
    "first": "sink", "previous": "previous_away", "own": "self_away", "equal": "duplicate_away",
    "what followed": "induction_away",
}  # fmt: skip


def trained(out: Path) -> Chapter:
    """The built-in model audited, and the report written."""
    report = out / "audit.html"
    command = f"headwright audit {MODEL} --tokens {TOKENS} --out {report}"
    found = audit(load_model(MODEL), tokens=TOKENS, command=command)
    write_whole(report, page(found).encode())
    values = {head.name: {what: head.value(name) or 0.0 for what, name in SHOWN.items()} for head in found.heads}
    said = [line for line in sentences(found) if "previous-token" in line or "induction" in line]
    return Chapter(
        "What the heads of a trained model do",
        f"Headwright brings a model of two layers, trained to continue sequences that repeat. Read on «{found.rows}» "
        f"rows of random tokens: {' '.join(said)} The first layer looks one place back; so the second finds where its "
        f"token stood before, and reads what followed. The report, with margins, rounding and ranks: {report}.",
        pictures.heads_chart(values, "Where attention goes", "away from the first token, but for the first column"),
        "audit",
        (command,),
    )


def every(out: Path) -> Chapter:
    """One statement about the built-in model, proved for every text, with the text that attains it."""
    model = load_model(MODEL)
    path = out / "every-text.json"
    found = every_text(model, LENGTH, heads=[0])[0]
    previous = next(places for places in found.places if places.name == "previous")
    layer = first_layer(model, LENGTH)
    statement = statement_of(model.name, layer, found, previous, "least")
    write_whole(path, written(statement).encode())
    check(statement, layer)
    tokens = model.encode(SENTENCE)
    bands = along_text(model, 0, tokens)
    worst = "".join(model.words(previous.least.text[-12:]))
    return Chapter(
        "For every text",
        f"On a text, head 0.0 looks one place back. On every text? In its layer a query and a key depend on token and "
        f"place alone, so the worst text is found place by place: of all texts of {LENGTH} tokens none takes its "
        f"weight on the previous token below «{shown_below(previous.least.bound, 4)}», and the one that ends in "
        f"{worst} comes that far (the model, run on it, says {previous.least.run:.4f}). A second checker has looked "
        f"at every token at every place again; the statement is in {path}.",
        pictures.band_picture(
            [band.place for band in bands], [band.least for band in bands], [band.most for band in bands],
            [band.measured for band in bands], [model.words(tokens)[band.place] for band in bands],
            "On one text, and on every text that shares a token with it",
            "blue: the weight on this text; green: on every text that has the same token at this place",
        ),
        "every-text",
        (f"headwright every-text {MODEL} --length {LENGTH} --out {path}",),
    )  # fmt: skip
