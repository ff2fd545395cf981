"""The verdicts on many answers as JSON, for scripts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from headwright.check.running.run import Checked
from headwright.check.running.wire import to_json
from headwright.check.sheets.handed import Complaint, Note
from headwright.check.verdict import WORST_FIRST


def results(
    checked: Sequence[Checked], complaints: Sequence[Complaint] = (), seed: int = 0, notes: Sequence[Note] = ()
) -> dict[str, Any]:
    """What `headwright check --json` prints.

    >>> results([])["answers"]
    []
    """
    counts = Counter(each.verdict.word for each in checked)
    return {
        "answers": [as_json(each) for each in checked],
        "complaints": [{"file": c.file, "line": c.line, "sentence": c.sentence} for c in complaints],
        "notes": [{"file": n.file, "line": n.line, "sentence": n.sentence, "unjudged": n.unjudged} for n in notes],
        "counts": {word: counts[word] for word in reversed(WORST_FIRST)},
        "seed": seed,
    }


def as_json(each: Checked) -> dict[str, Any]:
    """One answer with its verdict.

    >>> from headwright.check.reading.written import Formula
    >>> from headwright.check.sheets.handed import Handed
    >>> from headwright.check.verdict import Verdict
    >>> found = as_json(Checked(Handed("a.md", 1, "copying", (Formula("c = v_j", 2),)), Verdict("proved", "so"), 0.5))
    >>> found["line"], found["answer"], found["verdict"]
    (1, 'c = v_j', 'proved')
    """
    answer = each.answer
    return {
        "file": answer.file,
        "line": answer.line,
        "exercise": answer.exercise_id,
        "chosen": answer.chosen,
        "answer": answer.text,
        "formulas": [{"text": formula.text, "line": formula.line} for formula in answer.formulas],
        **to_json(each.verdict),
        "seconds": round(each.seconds, 3),
    }
