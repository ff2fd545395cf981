"""The next token in every text: held against a brute force of its own, on the trained model and random ones."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from headwright.errors import InputError
from headwright.models.loading import load_model
from headwright.models.loading.induction16 import Induction16, induction16_model
from headwright.models.texts.next_token import Group, Tables, groups, lower_bound, worst_text
from headwright.models.texts.next_token_proof import Kept, predictions, run_margin

torch = pytest.importorskip("torch")
brute = pytest.importorskip("tests.models.texts.brute_next_token")

NAMES = ("embed", "place", "query", "key", "value", "output", "unembed")


def fewer(tokens: int) -> Induction16:
    """The trained model, with its first tokens only."""
    model = induction16_model()
    return replace(model, digest=f"first {tokens}", embed=model.embed[:tokens], unembed=model.unembed[:, :tokens])


def random_model(seed: int, size: float, tokens: int = 4, width: int = 6, d: int = 4) -> Induction16:
    rng = np.random.default_rng(seed)

    def numbers(*shape: int) -> np.ndarray:
        return rng.normal(size=shape) * size

    return Induction16(
        f"random {seed} {size}", numbers(tokens, width), numbers(7, width), numbers(2, width, d), numbers(2, width, d),
        numbers(2, width, d), numbers(2, d, width), numbers(width, tokens),
    )  # fmt: skip


def blended(seed: int, noise: float) -> Induction16:
    """The trained model with noise: some groups are true and some are not."""
    model, rng = fewer(4), np.random.default_rng(seed)
    moved = {name: getattr(model, name) + noise * rng.normal(size=getattr(model, name).shape) for name in NAMES}
    return replace(model, digest=f"noise {seed}", **moved)


def truth(model: Induction16, length: int) -> dict[tuple[int, int, int], float]:
    """The least margin of each group, over all its texts."""
    weights = {name: torch.tensor(getattr(model, name)) for name in NAMES}
    tokens = len(model.embed)
    return {
        (one.a, one.b, one.j): brute.least_margin(weights, length, one.a, one.b, one.j, tokens)[0]
        for one in groups(length, tokens)
    }


def cases() -> Iterator[tuple[str, Induction16, int]]:
    for length in (4, 5, 6, 7):
        yield f"trained, 4 tokens, length {length}", fewer(4), length
    yield "trained, 6 tokens, length 5", fewer(6), 5
    for seed in range(4):
        yield f"random {seed}", random_model(seed, 0.7), 5
        yield f"noise {seed}", blended(seed, 0.25), 5


CASES = {name: (model, length) for name, model, length in cases()}


@pytest.mark.parametrize("name", CASES)
def test_what_is_proved_is_so_in_all_texts_and_what_is_false_is_not(name: str) -> None:
    model, length = CASES[name]
    true = truth(model, length)
    for one in predictions(model, length, most=200):
        least = true[one.a, one.b, one.j]
        assert one.run >= least - 1e-9
        assert one.run == pytest.approx(run_margin(model, one.text, one.b))
        if one.word == "proved":
            assert one.least is not None
            assert 0 < float(one.least) <= least
        elif one.word == "false":
            assert least <= 0
            assert one.text[one.j - 1] == one.text[-1] == one.a
            assert one.text[one.j] == one.b
            assert int(model.logits(np.array(one.text))[-1].argmax()) != one.b


def test_noise_makes_cases_of_every_kind() -> None:
    """Or the test above would have compared little."""
    found = [one for seed in range(4) for one in predictions(blended(seed, 0.25), 5, most=200)]
    assert {one.word for one in found} >= {"proved", "false"}


@pytest.mark.parametrize("name", CASES)
def test_a_bound_of_the_search_is_below_all_texts(name: str) -> None:
    """It proves nothing, and is right up to the rounding of float32."""
    model, length = CASES[name]
    tables, true = Tables(model, length), truth(model, length)
    for group in groups(length, tables.tokens):
        bound = lower_bound(tables, group.allowed(length, tables.tokens), group).margin
        assert bound <= true[group.a, group.b, group.j] + 1e-3


def test_with_no_free_place_the_bound_is_the_margin() -> None:
    model = fewer(5)
    tables = Tables(model, 4)
    group = Group(1, 3, 1)
    allowed = [np.array([token]) for token in (1, 3, 2, 1)]
    margin = run_margin(model, (1, 3, 2, 1), 3)
    assert lower_bound(tables, allowed, group).margin == pytest.approx(margin, abs=1e-3)


def test_the_descent_finds_the_worst_text_of_most_groups() -> None:
    model, length = fewer(5), 6
    true, tables = truth(model, length), Tables(model, length)
    found = [run_margin(model, worst_text(tables, one), one.b) - true[one.a, one.b, one.j] for one in groups(length, 5)]
    assert min(found) >= -1e-9
    assert np.mean(np.array(found) < 1e-6) > 0.8


def test_finished_parts_are_kept_and_taken(tmp_path: Path) -> None:
    class StopError(Exception):
        pass

    def stop(done: float) -> None:
        if done > 0.5:
            raise StopError

    model = fewer(4)
    whole = predictions(model, 5)
    with pytest.raises(StopError):
        predictions(model, 5, kept=Kept(tmp_path), progress=stop)
    parts = list(tmp_path.glob("*.json"))
    assert 0 < len(parts) < 4
    parts[0].write_text("[{")  # not written to its end
    shares: list[float] = []
    kept = Kept(tmp_path, resume=True)
    assert predictions(model, 5, kept=kept, progress=shares.append) == whole
    assert shares == sorted(shares)
    assert shares[-1] == 1.0
    kept.clear()
    assert not list(tmp_path.glob("*.json"))


@pytest.mark.parametrize(
    ("model", "length", "pairs", "why"),
    [
        ("builtin:induction", 6, None, "two attention layers of one head"),
        ("builtin:induction16", 3, None, "expected 4 to 10"),
        ("builtin:induction16", 11, None, "expected 4 to 10"),
        ("builtin:induction16", 6, [(2, 2)], "two different tokens"),
        ("builtin:induction16", 6, [(2, 16)], "from 0 to 15"),
    ],
)
def test_refused(model: str, length: int, pairs: list[tuple[int, int]] | None, why: str) -> None:
    with pytest.raises(InputError, match=why):
        predictions(load_model(model), length, pairs)


def test_a_kept_part_that_claims_too_much_is_not_proved(tmp_path: Path) -> None:
    model = fewer(4)
    predictions(model, 5, kept=Kept(tmp_path))
    for path in tmp_path.iterdir():
        rows = json.loads(path.read_text())
        path.write_text(json.dumps([row | {"least": "900.000", "cuts": 0} for row in rows]))
    assert all(one.word != "proved" for one in predictions(model, 5, kept=Kept(tmp_path, resume=True)))
