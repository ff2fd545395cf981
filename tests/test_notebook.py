"""Results as notebooks show them: short, true, and without the keys."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np
import pytest

import headwright as hw
from headwright.grading import check
from headwright.head_design import build, parse_rules
from headwright.notebook import card
from headwright.query_design import average, copy, design
from headwright.simulation import simulate
from headwright.uncertainty import Noise, Normal, Uncertainty

IMAGE = re.compile(r"<img [^>]*>")


def html_of(result: object) -> str:
    shown = result._repr_html_()  # type: ignore[attr-defined]
    assert isinstance(shown, str)
    assert len(shown) < 60_000
    assert len(IMAGE.sub("", shown)) < 6000
    assert (
        re.search(r"[0-9a-f]{13}", IMAGE.sub("", shown)) is None
    )  # digests are shortened
    assert "http" not in shown
    assert "<script" not in shown
    return shown


EYE = np.eye(3)
RULES = "tokens = [[1.0, 0.0], [0.0, 1.0]]\n[[rule]]\ntoken = 0\ncopy = 1"
RESULTS: dict[str, Callable[[], object]] = {
    "attend": lambda: hw.attend(np.eye(40), np.eye(40)),
    "attend in batches": lambda: hw.attend(np.ones((2, 3, 4)), np.ones((2, 1, 4))),
    "design": lambda: design(EYE, copy(0)),
    "design of many targets": lambda: design(np.eye(40), average(list(range(40)))),
    "design, impossible": lambda: design(np.array([[1.0], [0.0], [-1.0]]), copy(1)),
    "verify": lambda: hw.verify(str(design(EYE, copy(0)).certificate)),
    "verify, unreadable": lambda: hw.verify("{}"),
    "heads": lambda: hw.heads(parse_rules(RULES)),
    "simulate": lambda: simulate(
        EYE, EYE, Uncertainty({0: Noise(scale=Normal(1.0, 0.5))}), [0, 1, 2], samples=9
    ),
    "truncate": lambda: hw.truncate(EYE, rank=1),
    "positions": lambda: hw.positions.report(
        hw.Sinusoidal(8), 300, hw.Precision(index="bfloat16")
    ),
    "every text": lambda: hw.every_text(
        hw.load_model("builtin:induction"), 6, heads=[0], queries=[3]
    )[0],
    "a model": lambda: hw.load_model("builtin:induction"),
    "a layer": lambda: hw.random_layer(16),
    "the layer of heads": lambda: hw.head_design.build(parse_rules(RULES)).layer,
    "rules": lambda: parse_rules(RULES),
    "row statistics": lambda: hw.row_statistics(
        np.ones((1, 50, 4)), np.ones((1, 50, 4))
    ),
    "rows of positions": lambda: hw.positions.preview(
        hw.Sinusoidal(8), 100, hw.Precision(), 0
    ),
    "audit": lambda: hw.audit(
        hw.load_model("builtin:induction"), tokens=200, every_text=False
    ),
}


@pytest.mark.parametrize("name", RESULTS)
def test_a_result_is_printed_in_one_to_five_lines(name: str) -> None:
    found = RESULTS[name]()
    printed = str(found).splitlines()
    assert 1 <= len(printed) <= 5
    assert all(len(line) <= 240 for line in printed)
    assert re.search(r"[0-9a-f]{13}", str(found)) is None
    assert repr(found) == str(found)


@pytest.mark.parametrize("name", ["attend", "design", "heads"])
def test_a_card_has_a_picture_where_there_is_one(name: str) -> None:
    assert "<img" in html_of(RESULTS[name]())


def test_text_is_never_markup() -> None:
    shown = card("<b>", "<script>alert(1)</script>", [("<i>", "&")])
    assert "<script" not in shown
    assert "&lt;i&gt;" in shown
    assert "&amp;" in shown


def test_a_design_shows_its_length_and_bound_rounded_outwards_and_not_its_keys() -> (
    None
):
    keys = np.random.default_rng(0).normal(size=(300, 20))
    found = design(keys, copy(3))
    shown = html_of(found)
    assert "300 in R^20" in shown
    assert "<img" in shown
    assert "verified by the exact and floating-point checkers" in shown
    assert f"{keys[0, 0]:.4f}" not in shown


def test_many_targets_are_counted_and_not_listed() -> None:
    shown = html_of(design(np.eye(50), average(list(range(40)))))
    assert "more</p>" in shown


def test_an_impossible_targets_says_what_is_possible() -> None:
    shown = html_of(design(np.array([[1.0], [0.0], [-1.0]]), copy(1)))
    assert "impossible" in shown
    assert "smallest tolerance eps" in shown


def test_a_simulation_says_what_was_sampled_and_what_was_proven() -> None:
    shown = html_of(
        simulate(
            np.eye(3),
            10 * np.eye(3)[:2],
            Uncertainty({0: Noise(scale=Normal(1.0, 0.5))}),
            [0, 1],
        )
    )
    assert "sampled (" in shown
    assert "proven" in shown


def test_a_simulation_without_a_proof_does_not_speak_of_one() -> None:
    noisy = {0: Noise(scale=Normal(1.0, 0.5)), 1: Noise(scale=Normal(1.0, 0.5))}
    shown = html_of(
        simulate(
            np.eye(3), 10 * np.ones((1, 3)), Uncertainty(noisy), [0, 1, 2], samples=100
        )
    )
    assert "proven" not in shown


def test_a_verdict_shows_its_word_and_its_counterexample() -> None:
    shown = html_of(check("averaging-two", r"q = \frac{1}{\sqrt 2}(k_a + k_b)"))
    assert "refuted" in shown
    assert "n = 3, epsilon = 1/10, left side = 0.4011" in shown
    assert "works from lambda" in shown  # what would mend it
    assert "refuted: q = (1/sqrt(2)) (k_a + k_b)" in shown
    assert "\\" not in shown


def test_heads_show_their_sizes_and_not_their_weights() -> None:
    found = build(
        parse_rules("tokens = [[1.0, 0.0], [0.0, 1.0]]\n[[rule]]\ntoken = 0\ncopy = 1")
    )
    shown = html_of(found)
    assert "head dimension" in shown
    assert found.layer is not None
    assert str(found.layer.heads[0].W_Q[0, 0])[:8] not in shown


def test_an_audit_shows_its_summary() -> None:
    from headwright.auditing import audit
    from headwright.models import load_model

    assert "4 heads" in html_of(audit(load_model("builtin:induction"), tokens=400))
