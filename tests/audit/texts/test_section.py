"""What a report shows about every text."""

from __future__ import annotations

from pathlib import Path

from headwright.audit.models import load_model
from headwright.audit.texts.section import section
from tests.audit.texts.test_models import tiny


def test_a_table_by_head_and_place() -> None:
    model = load_model("builtin:induction")
    found = section(model, model.encode("the quick brown fox"))
    assert found.missing is None and len(found.rows) == 6
    assert all(len(row) == len(found.columns) for row in found.rows)
    assert "every text of 16 tokens" in found.about


def test_a_family_that_is_not_covered_says_why(tmp_path: Path) -> None:
    model, _ = tiny("neox", tmp_path)
    found = section(model, model.ordinary())
    assert found.missing is not None and "gpt_neox" in found.missing and not found.rows


def test_a_text_without_ordinary_tokens_says_why() -> None:
    model = load_model("builtin:induction")
    assert "no query token" in str(section(model, model.opening()).missing)
