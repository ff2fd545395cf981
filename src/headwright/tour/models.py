"""A chapter about a trained model: what its heads do."""

from __future__ import annotations

from pathlib import Path

from headwright import pictures
from headwright.audit import audit, load_model
from headwright.audit.report.page import page
from headwright.audit.report.sentences import sentences
from headwright.files import write_whole
from headwright.tour.chapter import Chapter

MODEL, TOKENS = "builtin:induction", 2000
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
        f"Headwright brings a model of two layers, trained to continue sequences that repeat. Read on {found.rows} "
        f"rows of random tokens: {' '.join(said)} The first layer looks one place back; so the second finds where its "
        f"token stood before, and reads what followed. The report, with margins, rounding and ranks: {report}.",
        pictures.heads_chart(values, "Where attention goes", "away from the first token, but for the first column"),
        "audit",
        command,
    )
