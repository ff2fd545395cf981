"""Induction in every text: held against a brute force of its own, on the trained models and random ones."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from headwright.errors import InputError
from headwright.models import load_model
from headwright.models.induction import InductionModel, induction_model
from headwright.models.induction16 import Induction16, induction16_model
from headwright.models.model import LayerActivations, Tokens
from headwright.statistics.attention_config import AttentionConfig
from headwright.text_bounds.induction.groups import InductionGoal, TextGroup
from headwright.text_bounds.induction.parts import GroupPartStore
from headwright.text_bounds.induction.prove import all_groups, prove_groups
from headwright.text_bounds.induction.run import run_group
from headwright.text_bounds.induction.search import (
    SearchTables,
    lower_bound,
    worst_text,
)
from headwright.text_bounds.induction.weights import MATRICES, weights_of

torch = pytest.importorskip("torch")
brute = pytest.importorskip("tests.text_bounds.induction.brute_induction")

NAMES = ("embed", "place", "query", "key", "value", "output", "unembed")
TwoLayers = Induction16 | InductionModel


def fewer(tokens: int) -> Induction16:
    """The trained model, with its first tokens only."""
    model = induction16_model()
    return replace(
        model,
        digest=f"first {tokens}",
        embed=model.embed[:tokens],
        unembed=model.unembed[:, :tokens],
    )


def fewer_of_two_heads(tokens: int) -> InductionModel:
    """The other one, with its opening token and the ones after it."""
    model = induction_model()
    return replace(
        model,
        digest=f"first {tokens}",
        embed=model.embed[:tokens],
        unembed=model.unembed[:, :tokens],
    )


def random_model(
    seed: int, size: float, tokens: int = 4, width: int = 6, d: int = 4
) -> Induction16:
    rng = np.random.default_rng(seed)

    def numbers(*shape: int) -> np.ndarray:
        return rng.normal(size=shape) * size

    return Induction16(
        f"random {seed} {size}",
        numbers(tokens, width),
        numbers(7, width),
        numbers(2, width, d),
        numbers(2, width, d),
        numbers(2, width, d),
        numbers(2, d, width),
        numbers(width, tokens),
    )


def random_rotary(
    seed: int, size: float, heads: int, tokens: int = 5, width: int = 6
) -> InductionModel:
    rng = np.random.default_rng(seed)

    def numbers(*shape: int) -> np.ndarray:
        return rng.normal(size=shape) * size

    return InductionModel(
        f"random {seed} {size}",
        numbers(tokens, width),
        numbers(2, heads, width, 32),
        numbers(2, heads, width, 32),
        numbers(2, heads, width, 32),
        numbers(2, heads, 32, width),
        numbers(width, tokens),
        heads=heads,
    )


@dataclass(frozen=True, eq=False)
class Learned(InductionModel):
    """Several heads and learned positions, no opening token."""

    place: np.ndarray = field(default_factory=lambda: np.zeros((0, 0)))

    def bos_tokens(self) -> Tokens:
        return np.array([], dtype=np.int64)

    def _start(self, tokens: Tokens) -> np.ndarray:
        return self.embed[tokens] + self.place[: len(tokens)]

    def _layer(self, index: int, x: np.ndarray) -> LayerActivations:
        q, k, v = (x @ matrix[index] for matrix in (self.query, self.key, self.value))
        return LayerActivations(
            index, q, k, v, AttentionConfig.of(q.shape, k.shape, causal=True)
        )


def random_learned(seed: int, size: float, heads: int) -> Learned:
    made = random_rotary(seed, size, heads, tokens=4)
    place = size * np.random.default_rng([seed, 1]).normal(size=(6, 6))
    arrays = {
        name: getattr(made, name) for name in ("digest", "embed", *MATRICES, "unembed")
    }
    return Learned(**arrays, heads=heads, angles=(), max_length=6, place=place)


def blended(seed: int, noise: float) -> Induction16:
    """The trained model with noise: some groups are true and some are not."""
    model, rng = fewer(4), np.random.default_rng(seed)
    moved = {
        name: getattr(model, name) + noise * rng.normal(size=getattr(model, name).shape)
        for name in NAMES
    }
    return replace(model, digest=f"noise {seed}", **moved)


@dataclass(frozen=True, eq=False)
class Case:
    """A model, a length and the groups that are asked about: the margins, or the weights of heads."""

    model: TwoLayers
    length: int
    heads: tuple[int | None, ...] = (None,)
    named: bool = False  # each token before the end, one at a time

    @property
    def opening(self) -> int | None:
        return next((int(token) for token in self.model.bos_tokens()), None)

    def groups(self) -> list[TextGroup]:
        found = all_groups(self.model, self.length)
        if not self.named:
            return found
        others = [
            token for token in range(len(self.model.embed)) if token != self.opening
        ]
        return [
            replace(one, c=c)
            for one in found
            if one.j < self.length - 2
            for c in others
            if c != one.a
        ]

    def least(self, group: TextGroup, head: int | None) -> float:
        """Over all its texts."""
        weights = {
            name: torch.tensor(getattr(self.model, name))
            for name in NAMES
            if hasattr(self.model, name)
        }
        if isinstance(self.model, InductionModel) and self.model.angles:
            weights["angles"] = torch.tensor(self.model.angles, dtype=torch.float64)
        found, _ = brute.least_margin(
            weights,
            self.length,
            group.a,
            group.b,
            group.j,
            len(self.model.embed),
            c=group.c,
            opening=self.opening,
            head=head,
        )
        return float(found)


def cases() -> Iterator[tuple[str, Case]]:
    for length in (4, 5, 6, 7):
        yield f"trained, 4 tokens, length {length}", Case(fewer(4), length, (None, 0))
    yield "trained, 6 tokens, length 5", Case(fewer(6), 5)
    for length in (4, 5, 6, 7):
        yield (
            f"two heads, 5 tokens, length {length}",
            Case(fewer_of_two_heads(5), length, (None, 0, 1)),
        )
    yield (
        "two heads, 6 tokens, c named, length 6",
        Case(fewer_of_two_heads(6), 6, (None, 1), named=True),
    )
    for seed in range(4):
        yield f"random {seed}", Case(random_model(seed, 0.7), 5, (None, 0))
        yield f"noise {seed}", Case(blended(seed, 0.25), 5, (None, 0))
        yield (
            f"random, rotary {seed}",
            Case(random_rotary(seed, 0.5, 1 + seed % 2), 6, (None, 0)),
        )
        yield (
            f"random, learned {seed}",
            Case(random_learned(seed, 0.5, 2), 5, (None, 1)),
        )


CASES = dict(cases())


@cache
def truth(name: str) -> dict[tuple[TextGroup, int | None], float]:
    case = CASES[name]
    return {
        (group, head): case.least(group, head)
        for group in case.groups()
        for head in case.heads
    }


@pytest.mark.parametrize("name", CASES)
def test_what_is_proved_is_so_in_all_texts_and_what_is_false_is_not(name: str) -> None:
    case, true = CASES[name], truth(name)
    found = prove_groups(
        case.model, case.length, case.groups(), heads=case.heads, most_bounds=200
    )
    assert len(found) == len(true)
    for one in found:
        least = true[one.group, one.head]
        assert one.run >= least - 1e-9
        assert one.run == pytest.approx(
            run_group(case.model, one.text, one.group, one.head)
        )
        if one.verdict == "proved":
            assert one.least is not None
            assert InductionGoal(one.head).target < float(one.least) <= least
        elif one.verdict == "false":
            assert least <= InductionGoal(one.head).target
            assert one.text[one.j - 1] == one.text[-1] == one.a
            assert one.text[one.j] == one.b
            assert one.c in (None, one.text[-2])
            if one.head is None:
                assert int(case.model.logits(np.array(one.text))[-1].argmax()) != one.b


@pytest.mark.parametrize("head", [None, 0])
def test_noise_makes_cases_of_every_kind(head: int | None) -> None:
    """Or the test above would have compared little."""
    found = [
        one
        for seed in range(4)
        for one in prove_groups(blended(seed, 0.25), 5, heads=[head], most_bounds=200)
    ]
    assert {one.verdict for one in found} >= {"proved", "false"}


@pytest.mark.parametrize("name", CASES)
def test_a_bound_of_the_search_is_below_all_texts(name: str) -> None:
    """It proves nothing, and is right up to the rounding of float32."""
    case, true = CASES[name], truth(name)
    tables = SearchTables(weights_of(case.model), case.length)
    for (group, head), least in true.items():
        allowed = group.allowed(case.length, tables.tokens, case.opening)
        assert (
            lower_bound(tables, allowed, group, InductionGoal(head)).least
            <= least + 1e-3
        )


@pytest.mark.parametrize("head", [None, 0, 1])
def test_with_no_free_place_the_bound_is_the_truth(head: int | None) -> None:
    model, group, text = fewer_of_two_heads(6), TextGroup(1, 3, 2), (0, 1, 3, 2, 1)
    bound = lower_bound(
        SearchTables(weights_of(model), 5),
        [np.array([token]) for token in text],
        group,
        InductionGoal(head),
    )
    assert bound.least == pytest.approx(run_group(model, text, group, head), abs=1e-3)


def test_the_descent_finds_the_worst_text_of_most_groups() -> None:
    case = Case(fewer(5), 6)
    tables = SearchTables(weights_of(case.model), 6)
    found = []
    for one in case.groups():
        run = run_group(case.model, worst_text(tables, one, InductionGoal()), one, None)
        found.append(run - case.least(one, None))
    assert min(found) >= -1e-9
    assert np.mean(np.array(found) < 1e-6) > 0.8


def test_finished_parts_are_kept_and_taken(tmp_path: Path) -> None:
    class StopError(Exception):
        pass

    def stop(done: float) -> None:
        if done > 0.5:
            raise StopError

    model = fewer(4)
    whole = prove_groups(model, 5)
    with pytest.raises(StopError):
        prove_groups(model, 5, store=GroupPartStore(tmp_path), progress=stop)
    parts = list(tmp_path.glob("*.json"))
    assert 0 < len(parts) < 4
    parts[0].write_text("[{")  # not written to its end
    shares: list[float] = []
    kept = GroupPartStore(tmp_path, resume=True)
    assert prove_groups(model, 5, store=kept, progress=shares.append) == whole
    assert shares == sorted(shares)
    assert shares[-1] == 1.0
    kept.clear()
    assert not list(tmp_path.glob("*.json"))


@pytest.mark.parametrize(
    ("model", "length", "group", "head", "why"),
    [
        ("builtin:induction16", 3, None, None, "expected 4 to 10"),
        ("builtin:induction16", 11, None, None, "expected 4 to 10"),
        ("builtin:induction", 65, None, None, "expected 4 to 64"),
        ("builtin:induction16", 6, TextGroup(2, 2, 1), None, "two different tokens"),
        ("builtin:induction16", 6, TextGroup(2, 16, 1), None, "from 0 to 15"),
        ("builtin:induction", 6, TextGroup(2, 0, 2), None, "from 1 to 47"),
        ("builtin:induction", 6, TextGroup(2, 3, 2, 2), None, "not the first of them"),
        ("builtin:induction", 6, TextGroup(2, 3, 1), None, "expected 2 to 4"),
        (
            "builtin:induction",
            6,
            TextGroup(2, 3, 4, 5),
            None,
            "no other token before the end",
        ),
        ("builtin:induction", 6, TextGroup(2, 3, 2), 2, "expected 0 to 1"),
    ],
)
def test_refused(
    model: str, length: int, group: TextGroup | None, head: int | None, why: str
) -> None:
    with pytest.raises(InputError, match=why):
        prove_groups(
            load_model(model), length, None if group is None else [group], heads=[head]
        )


def test_other_models_are_refused() -> None:
    class Other:
        name = "other"

    with pytest.raises(InputError, match="two attention layers and nothing else"):
        weights_of(Other())


def test_a_kept_part_that_claims_too_much_is_not_proved(tmp_path: Path) -> None:
    model = fewer(4)
    prove_groups(model, 5, store=GroupPartStore(tmp_path))
    for path in tmp_path.iterdir():
        rows = json.loads(path.read_text())
        path.write_text(
            json.dumps([row | {"least": "900.000", "cuts": 0} for row in rows])
        )
    assert all(
        one.verdict != "proved"
        for one in prove_groups(model, 5, store=GroupPartStore(tmp_path, resume=True))
    )


def _drop(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return rows[:1]


def _double(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return rows + rows


def _other_text(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """A text without b at place j, called false."""
    a, b, length = rows[0]["a"], rows[0]["b"], len(rows[0]["text"])
    text = [next(token for token in range(4) if token not in (a, b))] * (length - 1) + [
        a
    ]
    return [row | {"least": None, "cuts": None, "text": text} for row in rows]


def _fraction(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [row | {"a": float(row["a"])} for row in rows]


def _short_text(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [row | {"text": row["text"][:-1]} for row in rows]


def _other_head(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [row | {"head": 0} for row in rows]


def _nothing_proved(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """A bound of 0 says nothing, and would count as proved."""
    return [row | {"least": "0.000"} for row in rows]


@pytest.mark.parametrize(
    ("edit", "why"),
    [
        (_drop, "holds other groups than were asked about"),
        (_double, "holds other groups than were asked about"),
        (_fraction, "holds other groups than were asked about"),
        (_other_text, "which is none of the group"),
        (_short_text, "which is none of the group"),
        (_other_head, "is about head 0"),
        (_nothing_proved, "claims a bound of '0.000'"),
    ],
)
def test_a_kept_part_that_is_not_what_was_asked_is_refused_by_name(
    tmp_path: Path,
    edit: Callable[[list[dict[str, Any]]], list[dict[str, Any]]],
    why: str,
) -> None:
    model = fewer(4)
    prove_groups(model, 5, store=GroupPartStore(tmp_path))
    path = min(tmp_path.iterdir())
    path.write_text(json.dumps(edit(json.loads(path.read_text()))))
    with pytest.raises(InputError, match=why) as refused:
        prove_groups(model, 5, store=GroupPartStore(tmp_path, resume=True))
    assert str(refused.value).startswith(f"{path}: ")
    assert "delete the file" in str(refused.value)


def test_tables_that_do_not_fit_in_memory_are_refused_in_a_sentence() -> None:
    model = replace(random_model(0, 0.3, tokens=4000), digest="wide")
    with pytest.raises(
        InputError,
        match=r"4000 tokens.* about 5\d{4} GB .*expected shorter texts or fewer tokens",
    ):
        prove_groups(model, 6, [TextGroup(0, 1, 1)])


@pytest.mark.parametrize("scale", [0.0, 1e-200, 1e10, 1e30, 1e100])
@pytest.mark.parametrize("name", ["embed", "query", "value", "unembed"])
@pytest.mark.filterwarnings("error")
def test_weights_of_any_size_cause_no_warnings_and_nothing_false(
    name: str, scale: float
) -> None:
    model = random_model(1, 0.5)
    hostile = replace(model, digest="hostile", **{name: getattr(model, name) * scale})
    for head in (None, 0):
        for one in prove_groups(hostile, 5, [TextGroup(0, 1, 2)], heads=[head]):
            texts = product(*one.group.allowed(5, 4))
            least = min(run_group(hostile, text, one.group, head) for text in texts)
            assert one.least is None or least >= float(one.least)
            assert one.verdict != "false" or one.run <= InductionGoal(head).target
