"""A Trainer logs statistics of attention, and trains as it does without them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers as hf

import headwright as hw
from headwright.errors import InputError
from tests.watching.eager import batch, tiny


def _trainer(folder: Path, **more: Any) -> Any:
    model = tiny("llama").float().train()
    ids = torch.randint(3, 50, (8, 12), generator=torch.Generator().manual_seed(0))
    rows = [{"input_ids": row, "labels": row} for row in ids]
    how: dict[str, Any] = {
        "max_steps": 6,
        "per_device_train_batch_size": 2,
        "report_to": [],
        "use_cpu": True,
        "save_strategy": "no",
        "logging_steps": 1,
        "disable_tqdm": True,
        "seed": 0,
    }
    arguments = hf.TrainingArguments(output_dir=str(folder), **(how | more))
    return hf.Trainer(model, arguments, train_dataset=rows)


def _losses(trainer: Any) -> list[float]:
    return [line["loss"] for line in trainer.state.log_history if "loss" in line]


class Reported(hf.TrainerCallback):
    """Stands in the place of W&B or TensorBoard: it keeps what it is handed to report."""

    def __init__(self) -> None:
        self.lines: list[tuple[int, dict[str, float]]] = []

    def on_log(
        self, args: Any, state: Any, control: Any, logs: Any = None, **_: Any
    ) -> None:
        self.lines.append((state.global_step, dict(logs)))


def test_every_second_step_is_logged_and_the_losses_are_the_same(
    tmp_path: Path,
) -> None:
    plain = _trainer(tmp_path)
    plain.train()
    trainer, reported = _trainer(tmp_path), Reported()
    trainer.add_callback(reported)
    callback = hw.AttentionCallback(trainer, every=2, heads=True)
    trainer.add_callback(callback)
    trainer.train()
    assert _losses(trainer) == _losses(plain) and len(_losses(plain)) == 6
    lines = [(step, logs) for step, logs in reported.lines if "loss" not in logs]
    lines = [(step, logs) for step, logs in lines if "train_runtime" not in logs]
    assert [step for step, _ in lines] == [2, 4, 6]
    for number, (_, logs) in enumerate(lines):
        summary = callback.history[number]
        assert logs["attention/largest_score_max"] == summary["largest_score"].max()
        assert logs["attention/entropy_mean"] == pytest.approx(
            summary["entropy"].mean()
        )
        assert logs["attention/first_min"] == summary["first"].min()
        assert logs["attention/entropy/1.3"] == summary["entropy"][7]
    table = callback.table()
    assert table["step"].tolist() == [2] * 8 + [4] * 8 + [6] * 8
    assert trainer.model.config._attn_implementation == "sdpa"


@pytest.mark.filterwarnings("ignore")
def test_a_compiled_model_stays_compiled_if_it_is_watched_as_a_module(
    tmp_path: Path,
) -> None:
    compiled = {"torch_compile": True, "torch_compile_backend": "aot_eager"}
    torch._dynamo.reset()
    plain = _trainer(tmp_path, **compiled)
    plain.train()
    torch._dynamo.reset()
    trainer = _trainer(tmp_path, **compiled)
    callback = hw.AttentionCallback(trainer, every=2, as_module=True)
    trainer.add_callback(callback)
    torch._dynamo.utils.counters.clear()
    trainer.train()
    assert _losses(trainer) == _losses(plain)
    assert not torch._dynamo.utils.counters["graph_break"]
    table = callback.table()
    assert set(table["step"].tolist()) == {2, 4, 6}
    assert len(table["entropy"]) == 3 * 2 * 4
    eager = _trainer(tmp_path)
    of_eager = hw.AttentionCallback(eager, every=2)
    eager.add_callback(of_eager)
    eager.train()
    for name in ("entropy", "largest_score", "first"):
        np.testing.assert_allclose(table[name], of_eager.table()[name], atol=1e-3)


def test_what_is_logged_is_of_the_rows_of_that_step_alone(tmp_path: Path) -> None:
    """Two batches make a step here; the parameters of a first step are those before training."""
    trainer = _trainer(tmp_path, gradient_accumulation_steps=2, max_steps=1)
    callback = hw.AttentionCallback(trainer, every=1)
    trainer.add_callback(callback)
    model, texts = trainer.model, []
    hook = model.register_forward_pre_hook(
        lambda _module, _args, kwargs: texts.append(kwargs["input_ids"].clone()),
        with_kwargs=True,
    )
    before = tiny("llama").float().train()
    trainer.train()
    hook.remove()
    with torch.no_grad(), hw.watch(before, ["entropy"], keep="means") as seen:
        for text in texts:
            before(text)
    assert len(texts) == 2 and callback.history[0]["rows"].tolist() == [48] * 8
    np.testing.assert_allclose(
        callback.history[0]["entropy"], seen.summary()["entropy"], rtol=1e-6
    )


def test_after_an_error_within_a_step_the_model_can_be_given_back(
    tmp_path: Path,
) -> None:
    trainer = _trainer(tmp_path)
    callback = hw.AttentionCallback(trainer, every=1)
    trainer.add_callback(callback)

    def fail(*_: Any) -> None:
        raise RuntimeError("out of luck")

    hook = trainer.model.lm_head.register_forward_hook(fail)
    with pytest.raises(RuntimeError, match="out of luck"):
        trainer.train()
    hook.remove()
    callback.close()
    assert trainer.model.config._attn_implementation == "sdpa"
    trainer.train()
    assert len(callback.history) == 6


def test_what_cannot_be_logged_is_refused(tmp_path: Path) -> None:
    trainer = _trainer(tmp_path)
    with pytest.raises(InputError, match="every = 0"):
        hw.AttentionCallback(trainer, every=0)
    with pytest.raises(InputError, match="winner has no mean over rows"):
        hw.AttentionCallback(trainer, statistics=["winner"])
    with pytest.raises(InputError, match="received has no mean over rows"):
        hw.AttentionCallback(trainer, statistics=["received"])
    with pytest.raises(InputError, match="the trainer is int"):
        hw.AttentionCallback(100)


FAMILIES = ("llama", "gpt2", "mistral", "opt", "bert", "phi3", "qwen3", "gemma2")
CLIPPED = ("llama", "gpt2", "mistral", "opt", "bert")


def _scores(model: Any, inputs: dict[str, torch.Tensor]) -> np.ndarray:
    with torch.no_grad(), hw.watch(model, ["largest_score"]) as seen:
        model(**inputs)
    scores: np.ndarray = seen.layer(0).largest_score
    return scores


@pytest.mark.parametrize("family", CLIPPED)
def test_scores_of_heads_above_the_limit_are_scaled_and_no_others(family: str) -> None:
    model, inputs = tiny(family), batch("left")
    with torch.no_grad(), hw.watch(model, ["largest_score"], keep="means") as seen:
        model(**inputs)
        largest = seen.summary()["largest_score"].reshape(-1, 4)
        before = _scores(model, inputs)
        limit = float(np.sort(largest[0])[-2:].mean())
        assert limit > 0
        clipped = hw.qk_clip_(model, seen, limit=limit)
        assert not seen.parts
    head = int(largest[0].argmax())
    of_first = [each for each in clipped if each.layer == 0]
    assert [each.head for each in of_first] == [head]
    after = _scores(model, inputs)
    factor = np.ones(4)
    factor[head] = of_first[0].factor
    np.testing.assert_allclose(after, before * factor[None, :, None], rtol=1e-9)
    assert np.nanmax(after) == pytest.approx(limit)
    # Nothing is above it any more.
    with torch.no_grad(), hw.watch(model, ["largest_score"], keep="means") as seen:
        model(**inputs)
        assert [
            each
            for each in hw.qk_clip_(model, seen, limit=limit * 1.000001)
            if each.layer == 0
        ] == []


@pytest.mark.parametrize(
    ("family", "words"),
    [
        ("qwen3", "q_norm, which normalises queries or keys"),
        ("gemma2", "attn_logit_softcapping"),
        ("phi3", "expected one module with projections called"),
        ("distilbert", "expected one module with projections called"),
        ("albert", "expected one module with projections called"),
        ("deepseek-v3", "expected one module with projections called"),
    ],
)
def test_models_whose_scores_do_not_follow_are_refused_and_unchanged(
    family: str, words: str
) -> None:
    model, inputs = tiny(family), batch(None)
    before = [parameter.clone() for parameter in model.parameters()]
    with torch.no_grad(), hw.watch(model, ["largest_score"]) as seen:
        model(**inputs)
    with pytest.raises(InputError, match=words):
        hw.qk_clip_(model, seen, limit=1e-3)
    assert all(
        torch.equal(old, new)
        for old, new in zip(before, model.parameters(), strict=True)
    )


def test_clipping_needs_finite_largest_scores() -> None:
    model, inputs = tiny("llama"), batch(None)
    with torch.no_grad(), hw.watch(model, ["entropy"]) as seen:
        model(**inputs)
    with pytest.raises(InputError, match="largest_score was not recorded"):
        hw.qk_clip_(model, seen)
    with pytest.raises(InputError, match="limit = 0"):
        hw.qk_clip_(model, seen, limit=0)
    with torch.no_grad():
        model.model.layers[0].self_attn.q_proj.weight[0] = torch.nan
    with torch.no_grad(), hw.watch(model, ["largest_score"]) as seen:
        model(**inputs)
    with pytest.raises(InputError, match="are NaN or infinite"):
        hw.qk_clip_(model, seen)
