"""hw.conforming and hw.expect: every attention call of a model that is running, judged.

Calls of torch's scaled_dot_product_attention and those of transformers' eager attention
come from the hooks in `headwright.models`. What is judged is the call with the mask that
reaches the kernel; whether that is the mask one wants is what `expect` asks.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from headwright.extras import require

require("torch", "conforming")
import torch
from torch import Tensor, nn

from headwright.argument_types import checked_arguments
from headwright.conformance.arrays import to_numpy
from headwright.conformance.checking import conform
from headwright.conformance.contracts import Contract
from headwright.conformance.description import visible_block
from headwright.conformance.reading import AttentionOptions, read_problem
from headwright.conformance.verdict import ConformanceVerdict, VerdictWord
from headwright.errors import HeadwrightError, InputError
from headwright.models.attention_calls import AttentionCall
from headwright.models.sdpa_calls import sdpa_calls

ROWS_OF_A_CALL = 64  # that are judged unless all are asked for


@dataclass(frozen=True, eq=False)
class JudgedCall:
    """One call of attention inside a model, judged or not."""

    module: str
    verdict: ConformanceVerdict | None
    skipped: str = ""  # why it was not judged
    visible: np.ndarray | None = None  # (batch or 1, heads or 1, rows, keys)

    def __str__(self) -> str:
        name = self.module or "the model"
        if self.verdict is None:
            return f"{name}: not judged, {self.skipped}"
        return f"{name}: {self.verdict}"


@dataclass(eq=False)
class ModelVerdicts:
    """What was seen while a model ran."""

    calls: list[JudgedCall] = field(default_factory=list)
    # Parts that torch.compile had compiled: they ran as they are written.
    run_eagerly: list[str] = field(default_factory=list)

    @property
    def word(self) -> VerdictWord:
        """Outside if a call is; within if all are; undecided if none was judged."""
        words = [call.verdict.word for call in self.calls if call.verdict is not None]
        if VerdictWord.OUTSIDE in words:
            return VerdictWord.OUTSIDE
        if words and all(word is VerdictWord.WITHIN for word in words):
            return VerdictWord.WITHIN
        return VerdictWord.UNDECIDED

    def __iter__(self) -> Iterator[JudgedCall]:
        return iter(self.calls)

    def __len__(self) -> int:
        return len(self.calls)

    def __getitem__(self, index: int) -> JudgedCall:
        return self.calls[index]

    def __str__(self) -> str:
        judged = [call for call in self.calls if call.verdict is not None]
        lines = [f"{self.word}: {len(judged)} of {len(self.calls)} calls judged"]
        if not self.calls:
            lines.append(
                "No call of scaled_dot_product_attention or of transformers' eager "
                "attention was seen: give the kernel to hw.conform."
            )
        if self.run_eagerly:
            names = ", ".join(name or "the model" for name in self.run_eagerly)
            lines.append(f"Compiled, and run eagerly while they were judged: {names}.")
        for call in self.calls:
            if call.verdict is None or call.verdict.word is not VerdictWord.WITHIN:
                lines.append(str(call))
        return "\n".join(lines[:12])


@dataclass(frozen=True)
class CallOptions:
    """How the calls of a model are looked at."""

    contract: str | Contract | None
    rows: int | None
    explain: bool
    keep_masks: bool


@checked_arguments
@contextmanager
def conforming(
    model: nn.Module,
    *,
    contract: str | Contract | None = None,
    rows: int | None = ROWS_OF_A_CALL,
    explain: bool = True,
) -> Iterator[ModelVerdicts]:
    """Judge every attention call of a model while it runs; it computes as before.

    Of each call, `rows` rows are judged, evenly spread; None is all of them. Parts that
    torch.compile has compiled run eagerly here, and the result names them.

    >>> class Layer(nn.Module):
    ...     def forward(self, x):
    ...         return nn.functional.scaled_dot_product_attention(x, x, x)
    >>> model = Layer()
    >>> with conforming(model) as verdicts:
    ...     _ = model(torch.eye(4)[None, None])
    >>> print(verdicts)
    within: 1 of 1 calls judged
    """
    options = CallOptions(contract, rows, explain, keep_masks=False)
    with _watching(model, options) as verdicts:
        yield verdicts


@contextmanager
def _watching(model: nn.Module, options: CallOptions) -> Iterator[ModelVerdicts]:
    if not isinstance(model, nn.Module):
        kind = type(model).__name__
        raise InputError(f"the model is {kind}: expected a torch.nn.Module")
    verdicts = ModelVerdicts()
    names = {module: _readable_name(name) for name, module in model.named_modules()}
    judge = CallJudge(verdicts, options, names)
    with ExitStack() as undo:
        if "torch._dynamo" in sys.modules:
            # Compiled code calls no Python, and so would not be seen.
            undo.enter_context(torch.compiler.set_stance("force_eager"))
        for name, module in model.named_modules():
            if _is_compiled(module):
                verdicts.run_eagerly.append(_readable_name(name))
        undo.enter_context(sdpa_calls(model, judge.visit))
        if _uses_eager_attention(model):
            from headwright.models.transformers_calls import transformers_calls

            undo.enter_context(transformers_calls(model, judge.visit, "eager"))
        yield verdicts


def _uses_eager_attention(model: nn.Module) -> bool:
    """Whether it is, or holds, a model of transformers that uses eager attention."""
    configs = (getattr(module, "config", None) for module in model.modules())
    return any(
        getattr(config, "_attn_implementation", None) == "eager" for config in configs
    )


def _is_compiled(module: nn.Module) -> bool:
    """Whether torch.compile(module) made it, or module.compile() changed it."""
    wraps_another = "_orig_mod" in module._modules
    return wraps_another or getattr(module, "_compiled_call_impl", None) is not None


def _readable_name(name: str) -> str:
    """The name of a module without what torch.compile puts around it."""
    parts = [part for part in name.split(".") if part != "_orig_mod"]
    return ".".join(parts)


@dataclass(frozen=True, eq=False)
class CallJudge:
    """Judges calls and keeps what was found."""

    verdicts: ModelVerdicts
    options: CallOptions
    names: Mapping[nn.Module, str]

    def visit(self, call: AttentionCall) -> None:
        """Judge one call; what cannot be judged is kept with the reason."""
        name = self.names.get(call.module, "")
        if call.dropout:
            reason = "dropout is random: call model.eval()"
            self.verdicts.calls.append(JudgedCall(name, None, reason))
            return
        if call.output is None:
            reason = "it returns its weights, and so calls no kernel"
            self.verdicts.calls.append(JudgedCall(name, None, reason))
            return
        q, k, v = call.queries, call.keys, call.values
        described = describe(call)
        try:
            verdict = conform(
                call.output,
                q,
                k,
                v,
                contract=self.options.contract,
                rows=self.options.rows,
                explain=self.options.explain,
                **described,
            )
        except HeadwrightError as error:
            self.verdicts.calls.append(JudgedCall(name, None, str(error)))
            return
        visible = None
        if self.options.keep_masks:
            visible = visible_mask(q, k, v, described)
        self.verdicts.calls.append(JudgedCall(name, verdict, "", visible))


def visible_mask(
    q: Tensor, k: Tensor, v: Tensor, described: dict[str, Any]
) -> np.ndarray:
    """Which keys a call sees, (batch, heads or 1, rows, keys)."""
    problem = read_problem(q, k, v, AttentionOptions(**described))
    shape = problem.shape
    pairs = np.arange(shape.batch * shape.key_heads)
    keys = slice(0, shape.keys)
    visible = visible_block(
        problem.spec, shape, pairs, np.arange(shape.rows), keys, problem.q
    )
    seen = to_numpy(visible)
    if problem.spec.bias is not None:
        seen = seen & (to_numpy(problem.spec.bias) > -np.inf)[:, :1]
    first_heads = seen[:: shape.key_heads, :1] if len(seen) > 1 else seen[:, :1]
    return np.asarray(first_heads)


def describe(call: AttentionCall) -> dict[str, Any]:
    """A call in the words of `hw.conform`."""
    described = describe_mask_argument(call.mask)
    if call.bias is not None:
        bias = call.bias.double()
        described["bias"] = bias + described.get("bias", 0.0)
    return described | {
        "scale": call.scale,
        "softcap": call.softcap,
        "sinks": call.sinks,
        "causal": call.causal,
        "corner": "start" if call.from_first_key else "end",
        "window": call.window,
        "key_padding": call.key_mask,
    }


def describe_mask_argument(mask: Tensor | None) -> dict[str, Any]:
    """A mask of True and False, or of numbers; the least number hides a key."""
    if mask is None:
        return {}
    if mask.dtype == torch.bool:
        return {"mask": mask}
    # Adding the least number leaves no weight to a key beside any other. A row that
    # has nothing else sees nothing, and is not judged.
    hidden = mask <= torch.finfo(mask.dtype).min / 2
    return {"bias": mask.double().masked_fill(hidden, -torch.inf)}


@dataclass(frozen=True)
class MaskExpectation:
    """Whether a model's attention sees what it should.

    `mask_difference` is (module, text, row, key) of the first call that sees something
    else. `changed_row` is the first row whose output changed when only keys changed
    that it must not see: that is tested on one change, not proved.
    """

    met: bool
    calls: int
    mask_difference: tuple[str, int, int, int] | None
    sees: bool  # at mask_difference: the row sees the key
    changed_row: tuple[int, int] | None

    def __str__(self) -> str:
        if self.mask_difference is not None:
            module, text, row, key = self.mask_difference
            verb = "sees" if self.sees else "does not see"
            place = f"{module or 'the model'}, text {text}"
            return f"not met: in {place}, row {row} {verb} key {key}"
        if self.changed_row is not None:
            text, row = self.changed_row
            return (
                f"not met: the output of text {text}, row {row} depends on tokens that "
                "it must not see"
            )
        return (
            f"met: the masks of {self.calls} calls are as expected, and outputs do not "
            "depend on hidden tokens (tested with one change of them)"
        )


@checked_arguments
def expect(
    model: nn.Module,
    batch: Mapping[str, Any],
    *,
    causal: bool = True,
    window: int | Sequence[int] | None = None,
    documents: Any = None,
    key_padding: Any = None,
) -> MaskExpectation:
    """Whether every attention call of a model sees the keys that it should.

    First the masks that reach the kernels are compared with what is described. Then
    the model is run as a black box: tokens that some rows must not see are changed, and
    the outputs of these rows must be the same to the last bit.

    >>> class Layer(nn.Module):
    ...     def forward(self, input_ids):
    ...         x = nn.functional.one_hot(input_ids, 9).float()[:, None]
    ...         attend = nn.functional.scaled_dot_product_attention
    ...         return attend(x, x, x, is_causal=True)[:, 0]
    >>> batch = {"input_ids": torch.arange(9)[None]}
    >>> expect(Layer(), batch, causal=True).met
    True
    >>> print(expect(Layer(), batch, causal=True, window=4))
    not met: in the model, text 0, row 4 sees key 0
    """
    token_ids = batch.get("input_ids")
    if not isinstance(token_ids, Tensor) or token_ids.ndim != 2:
        raise InputError("batch has no input_ids of shape (texts, tokens)")
    options = CallOptions(None, 1, explain=False, keep_masks=True)
    with torch.no_grad(), _watching(model, options) as verdicts:
        before = model(**batch)
    texts, tokens = token_ids.shape
    nothing = token_ids.new_zeros((texts, 1, tokens, 1)).double()
    question = {
        "causal": causal,
        "window": window,
        "documents": documents,
        "key_padding": key_padding,
    }
    wanted = visible_mask(nothing, nothing, nothing, question)
    wanted = np.broadcast_to(wanted, (texts, 1, tokens, tokens))
    real_rows = np.ones((texts, tokens), dtype=bool)
    if key_padding is not None:  # what padding itself sees does not matter
        real_rows = wanted[:, 0].diagonal(axis1=1, axis2=2)
    for call in verdicts.calls:
        difference = _first_difference(call, wanted, real_rows)
        if difference is not None:
            text, row, key = difference
            assert call.visible is not None  # noqa: S101  (it was compared)
            sees = bool(call.visible[min(text, len(call.visible) - 1), 0, row, key])
            where = (call.module, text, row, key)
            return MaskExpectation(False, len(verdicts), where, sees, None)
    changed = _changed_row(model, batch, before, wanted, real_rows)
    return MaskExpectation(changed is None, len(verdicts), None, False, changed)


def _first_difference(
    call: JudgedCall, wanted: np.ndarray, real_rows: np.ndarray
) -> tuple[int, int, int] | None:
    if call.visible is None or call.visible.shape[2:] != wanted.shape[2:]:
        return None
    differs = (call.visible != wanted)[:, 0] & real_rows[:, :, None]
    places = np.argwhere(differs)
    if len(places) == 0:
        return None
    text, row, key = (int(index) for index in places[0])
    return text, row, key


def _changed_row(
    model: nn.Module,
    batch: Mapping[str, Any],
    before: Any,
    wanted: np.ndarray,
    real_rows: np.ndarray,
) -> tuple[int, int] | None:
    """Change the tokens of the second half; rows that see none of them must stay."""
    token_ids: Tensor = batch["input_ids"]
    tokens = token_ids.shape[1]
    half = tokens // 2
    changed_ids = token_ids.clone()
    changed_ids[:, half:] = changed_ids[:, half:].roll(1, dims=1)
    differs = to_numpy(changed_ids != token_ids)
    with torch.no_grad():
        after = model(**{**batch, "input_ids": changed_ids})
    first = _main_output(before)
    second = _main_output(after)
    moved = to_numpy((first != second).any(dim=-1))
    # What a row depends on through several layers: the transitive closure of the mask.
    reach = _closure(wanted[:, 0])
    may_move = (reach & differs[:, None, :]).any(axis=2)
    places = np.argwhere(moved & ~may_move & real_rows)
    if len(places) == 0:
        return None
    return int(places[0][0]), int(places[0][1])


def _closure(mask: np.ndarray) -> np.ndarray:
    reach = mask | np.eye(mask.shape[1], dtype=bool)
    while True:
        further = (reach.astype(np.float32) @ reach.astype(np.float32)) > 0
        if np.array_equal(further, reach):
            return reach
        reach = further


def _main_output(output: Any) -> Tensor:
    for name in ("logits", "last_hidden_state"):
        value = getattr(output, name, None)
        if isinstance(value, Tensor):
            return value
    if isinstance(output, tuple):
        output = output[0]
    if isinstance(output, Tensor):
        return output
    kind = type(output).__name__
    raise InputError(f"the model returns {kind}: expected logits or a tensor")
