"""Chapters about a trained model: an audit of its heads, and a bound for all texts of a length."""

from __future__ import annotations

from pathlib import Path

from headwright import pictures
from headwright.audit import audit, load_model
from headwright.audit.report.page import page
from headwright.audit.report.sentences import sentences
from headwright.audit.texts.certificate import statement_of
from headwright.audit.texts.checker import check
from headwright.audit.texts.every_text import along_text, every_text
from headwright.audit.texts.reading import first_layer
from headwright.audit.texts.statement import written
from headwright.enclosure import shown_below
from headwright.files import write_whole
from headwright.tour.chapter import Chapter

MODEL, TOKENS = "builtin:induction", 2000
LENGTH, SENTENCE = 64, "the keeper counted the boats, and the boats counted the keeper"
SHOWN = {
    "first": "sink", "previous": "previous_away", "own": "self_away", "equal": "duplicate_away",
    "what followed": "induction_away",
}  # fmt: skip


def trained(out: Path) -> Chapter:
    """An audit of the built-in model, and its report."""
    report = out / "audit.html"
    command = f"headwright audit {MODEL} --tokens {TOKENS} --out {report}"
    found = audit(load_model(MODEL), tokens=TOKENS, command=command)
    write_whole(report, page(found).encode())
    values = {head.name: {what: head.value(name) or 0.0 for what, name in SHOWN.items()} for head in found.heads}
    said = [line for line in sentences(found) if "previous-token" in line or "induction" in line]
    return Chapter(
        "Audit a trained model",
        f"The built-in model has two layers and was trained to continue repeated sequences. On «{found.rows}» rows of "
        f"random tokens: {' '.join(said)} A head of the first layer attends to the previous token. With its "
        f"output, heads "
        f"of the second layer attend to the token after the previous occurrence of the current one. The full report: "
        f"{report}.",
        pictures.heads_chart(values, "Mean attention weights", "first token excluded, except in the first column"),
        "audit",
        (command,),
    )


def every(out: Path) -> Chapter:
    """A bound for the built-in model over all texts of a length, with the text that attains it."""
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
        "A bound for all texts",
        f"Head 0.0 attends to the previous token. On all texts of {LENGTH} tokens its weight on the previous "
        f"token is at "
        f"least «{shown_below(previous.least.bound, 4)}» (proved, and verified by a second checker). The text that "
        f"attains the bound ends in {worst}; on it, the model itself gives {previous.least.run:.4f} "
        f"(floating-point). In "
        f"the first layer a query and a key depend only on token and position, so the worst text is found position by "
        f"position. The certificate: {path}.",
        pictures.band_picture(
            [band.place for band in bands], [band.least for band in bands], [band.most for band in bands],
            [band.measured for band in bands], [model.words(tokens)[band.place] for band in bands],
            "Weight on the previous token: one text, and bounds for all texts",
            "blue: this text; green: bounds over all texts with the same token at this position",
        ),
        "every-text",
        (f"headwright audit {MODEL} --every-text {LENGTH} --certificate {path}",),
    )  # fmt: skip
