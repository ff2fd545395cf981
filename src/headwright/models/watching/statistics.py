"""The statistics of one call of the attention of a batch, for any mask, where its tensors are.

Blocks of whole rows: a few rows of scores are in memory at a time, never the pattern. On a CPU, many rows under a mask
that is causal or full, with or without a window, go to the compiled code of `rows`. On a GPU they go there too if the
kernel knows the scoring.

Rows that see nothing are NaN, and so are rows whose scores hold NaN or +inf, of which the softmax is NaN. Only the
latter are marked by SPOILT.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from headwright.models.rows.blocked import can_compile, second_pass
from headwright.models.rows.blocked import statistics as in_blocks
from headwright.models.rows.products import torch_product
from headwright.models.rows.scoring import Scoring
from headwright.models.watching.names import ENDS, POSITIONS, RECEIVED, SETS, SPOILT, TOP, Wanted

UNSEEN = -torch.inf  # the score of a key that is not seen
HIDDEN = -1e4  # what is added to a score and is not above this hides a key: the least number, or a large negative one
MOST_SCORES = {"cpu": 2**21, "cuda": 2**25}  # held at once
MANY_ROWS = 64  # from here on the compiled code is worth its start


@dataclass(frozen=True, eq=False)
class Attention:
    """One call of the attention: queries (batch, heads, rows, d) and keys (batch, key heads, keys, d).

    A mask broadcasts to (batch, heads, rows, keys); it holds True where a key is seen, or what is added to a score.
    Without one, rows see all keys or, if `causal`, those up to their own, the last row ends with the last key.
    """

    query: Tensor
    key: Tensor
    scale: float
    softcap: float | None = None
    sinks: Tensor | None = None  # one for each head
    mask: Tensor | None = None
    bias: Tensor | None = None  # added to scores, as the mask is
    causal: bool = False
    window: int | None = None
    key_mask: Tensor | None = None  # batch, keys
    counted: Tensor | None = None  # batch, rows: False for padding
    padding: Tensor | None = None  # batch, positions of keys: False for padding
    first: Tensor | None = None  # for each text, the position of its first token
    row_position: int = 0  # of the first row
    key_position: int = 0  # of the first key
    sets: dict[str, Tensor] = field(default_factory=dict)  # batch, keys
    cross: bool = False


Step = tuple[Tensor, Tensor | None, Tensor | None]  # of one row: the query, the mask, which texts count


def statistics_of(call: Attention, wanted: Wanted) -> dict[str, Tensor]:
    """By name: (batch, heads, rows), (batch, heads, rows, k) or (batch, heads, keys). NaN for rows that see nothing."""
    quick = _by_kernel if _kernel_fits(call, wanted) else _compiled if _compiled_fits(call, wanted) else None
    scoring = None if quick is None else _as_scoring(call)
    if quick is not None and scoring is not None:
        return quick(call, wanted, *scoring)
    batch, heads, rows, _ = call.query.shape
    count, wide = call.key.shape[2], torch.promote_types(call.query.dtype, torch.float32)
    keys = call.key.to(wide).mT
    step = max(1, MOST_SCORES.get(call.query.device.type, 2**21) // (batch * heads * count))
    latest = _latest(call, wanted.last_rows) if "received_last" in wanted.names else None
    parts: list[dict[str, Tensor]] = []
    total = {name: torch.zeros((batch, heads, count), dtype=wide, device=keys.device) for name in RECEIVED}
    for start in range(0, rows, step):
        part = slice(start, min(start + step, rows))
        s = _scores(call, keys, part)
        found, alpha = _block(call, wanted, s, part)
        parts.append(found)
        if "received" in wanted.names:
            total["received"] += alpha.sum(2)
        if "received_most" in wanted.names:
            total["received_most"] = torch.maximum(total["received_most"], alpha.amax(2))
        if latest is not None:
            total["received_last"] += alpha.masked_fill(~latest[:, None, part, None], 0.0).sum(2)
    joined = {name: torch.cat([part[name] for part in parts], dim=2) for name in parts[0]}
    return joined | {name: total[name] for name in RECEIVED if name in wanted.names}


def steps_together(steps: Sequence[Step], last: Attention) -> Attention:
    """Decode steps as one call: the keys are those of the last step, and each step saw one more."""
    keys, count, mask = last.key, last.key.shape[2], None
    if any(mine is not None for _, mine, _ in steps):
        masks = []
        for number, (_, mine, _) in enumerate(steps):
            seen = count - len(steps) + number + 1
            mine = keys.new_ones((1, 1, 1, seen), dtype=torch.bool) if mine is None else mine[..., :seen]
            hidden = False if mine.dtype == torch.bool else torch.finfo(mine.dtype).min
            mine = torch.nn.functional.pad(mine, (0, count - mine.shape[3]), value=hidden)
            masks.append(mine.expand(len(keys), -1, -1, -1))
        mask = torch.cat(masks, dim=2)
    counted = [one for _, _, one in steps if one is not None]
    return replace(
        last, query=torch.cat([query for query, _, _ in steps], dim=2), mask=mask, causal=mask is None,
        counted=torch.cat(counted, dim=1) if len(counted) == len(steps) else None,
    )  # fmt: skip


def _latest(call: Attention, count: int) -> Tensor:
    """Which rows are among the last so many of their text."""
    rows = call.query.shape[2]
    if call.counted is None:
        return (torch.arange(rows, device=call.query.device) >= rows - count)[None]
    after = call.counted.long().flip(1).cumsum(1).flip(1)
    return call.counted & (after <= count)


def _scores(call: Attention, keys: Tensor, rows: slice) -> Tensor:
    """The scores of these rows: UNSEEN where a key is not seen, and everywhere in rows of padding."""
    batch, heads, _, d = call.query.shape
    groups, count = call.key.shape[1:3]
    q = call.query[:, :, rows].to(keys.dtype) * call.scale
    s = (q.reshape(batch, groups, -1, d) @ keys).view(batch, heads, -1, count)
    if call.softcap is not None:
        s = call.softcap * torch.tanh(s / call.softcap)
    hidden = None if call.counted is None else ~call.counted[:, None, rows, None]
    for mask in (call.mask, call.bias):
        if mask is None:
            continue
        mask = mask[..., rows if mask.shape[-2] > 1 else slice(None), :count]
        if mask.dtype == torch.bool:
            unseen = ~mask
        else:
            unseen = mask <= HIDDEN
            s = s + mask
        hidden = unseen if hidden is None else hidden | unseen
    if call.key_mask is not None:
        hidden = ~call.key_mask[:, None, None] if hidden is None else hidden | ~call.key_mask[:, None, None]
    if call.causal or call.window is not None:
        shift = count - call.query.shape[2]  # the last row stands at the last key
        place = torch.arange(rows.start + shift, rows.stop + shift, device=s.device)
        apart = place[:, None] - torch.arange(count, device=s.device)
        seen = apart >= 0 if call.causal else torch.ones_like(apart, dtype=torch.bool)
        seen = seen if call.window is None else seen & (apart.abs() < call.window)
        hidden = ~seen if hidden is None else hidden | ~seen
    return s if hidden is None else s.masked_fill(hidden, UNSEEN)


def _block(call: Attention, wanted: Wanted, s: Tensor, rows: slice) -> tuple[dict[str, Tensor], Tensor]:
    """The statistics of some whole rows of scores, each by its definition; and the weights that keys receive."""
    best, winner = s.max(-1)
    seen = best != UNSEEN
    spoilt = ~(best < torch.inf)  # NaN or +inf
    lse = torch.logsumexp(s, -1)
    sinks = None if call.sinks is None else call.sinks.to(s.dtype)[:, None]
    if sinks is not None:
        spoilt = spoilt | ~(sinks < torch.inf)
        lse = torch.logaddexp(lse, sinks)
    least = torch.finfo(s.dtype).min  # stands for -inf in products with a weight, which is 0
    alpha = torch.exp(s - lse.masked_fill(~seen, 0.0)[..., None])
    largest = torch.exp(best - lse)
    found: dict[str, Tensor] = {"lse": lse, "largest": largest, "largest_score": best}
    if "entropy" in wanted.names:
        entropy = lse - (alpha * s.clamp_min(least)).sum(-1)
        if sinks is not None:
            entropy = entropy - torch.exp(sinks - lse) * sinks.clamp_min(least)
        found["entropy"] = entropy
    if "margin" in wanted.names:
        second = s.scatter(-1, winner[..., None], UNSEEN).amax(-1)
        found["margin"] = (best - second).masked_fill(second == UNSEEN, torch.inf)
    if "sensitivity" in wanted.names:
        slope = best
        if call.softcap is not None:
            t = (best / call.softcap).clamp(-1 + 1e-7, 1 - 1e-7)
            slope = call.softcap * torch.atanh(t) * (1 - t * t)
        found["sensitivity"] = largest * (1 - largest) * slope
    start, count = call.row_position + rows.start, s.shape[3]
    position = torch.arange(start, start + s.shape[2], device=s.device)
    key = torch.arange(call.key_position, call.key_position + count, device=s.device)
    if "distance" in wanted.names and not call.cross:
        found["distance"] = (alpha * (position[:, None] - key)).sum(-1)
    if "first" in wanted.names:
        first = torch.zeros(len(s), dtype=torch.long, device=s.device) if call.first is None else call.first
        found["first"] = _at(alpha, first[:, None] - call.key_position)
    for offset, name in enumerate(("self", "previous")):
        if name in wanted.names and not call.cross:
            found[name] = _at(alpha, (position - offset - call.key_position)[None])
    for name, members in call.sets.items():
        found[name] = (alpha @ members[:, None, :count, None].to(alpha.dtype))[..., 0]
    if wanted.asks(TOP):
        weights, places = alpha.topk(min(wanted.top, count))
        missing = (0, wanted.top - weights.shape[3])
        places = torch.where(weights > 0, places + call.key_position, -1)
        found["top_weights"] = torch.nn.functional.pad(weights, missing)
        found["top_keys"] = torch.nn.functional.pad(places, missing, value=-1)
        found["top"] = weights.sum(-1)
    if wanted.asks(ENDS):
        visible = s != UNSEEN
        number = visible.cumsum(-1) - 1
        first_keys = number < wanted.ends[0]
        last_keys = ~first_keys & (number >= visible.sum(-1, keepdim=True) - wanted.ends[1])
        found["start"], found["recent"] = (alpha * first_keys).sum(-1), (alpha * last_keys).sum(-1)
        found["middle"] = (alpha.sum(-1) - found["start"] - found["recent"]).clamp_min(0.0)
    spoilt = spoilt & seen
    nothing = ~seen | spoilt
    told = {SPOILT: spoilt}
    for name in wanted.rows:
        if name == "winner":
            told[name] = (winner + call.key_position).masked_fill(nothing, -1)
        elif name == "top_keys":
            told[name] = found[name].masked_fill(nothing[..., None], -1)
        elif name in found:
            value = found[name]
            told[name] = value.masked_fill(nothing[..., None] if value.ndim == 4 else nothing, torch.nan)
    if wanted.asks(RECEIVED):
        alpha = alpha.masked_fill(nothing[..., None], 0.0)
        alpha = alpha.masked_fill(spoilt[..., None] & (s != UNSEEN), torch.nan)
    return told, alpha


def _at(alpha: Tensor, place: Tensor) -> Tensor:
    """The weights of one key for each row, at places (batch or 1, rows or 1): 0 where it is not among the keys."""
    inside = (place >= 0) & (place < alpha.shape[3])
    index = place.clamp(0, alpha.shape[3] - 1)[:, None, :, None].expand(*alpha.shape[:3], 1)
    return alpha.gather(-1, index)[..., 0] * inside[:, None]


def _compiled_fits(call: Attention, wanted: Wanted) -> bool:
    on_cpu = call.query.device.type == "cpu" and call.query.dtype == torch.float32
    return on_cpu and call.query.shape[2] >= MANY_ROWS and not wanted.asks(TOP) and can_compile()


def _kernel_fits(call: Attention, wanted: Wanted) -> bool:
    """The kernel knows no sets and no top keys; and the last rows of all texts are to be the last of the batch."""
    fits = call.query.is_cuda and call.query.element_size() < 8 and call.query.shape[3] <= 256
    return fits and not wanted.asks((*TOP, *ENDS, *SETS)) and (call.counted is None or not wanted.asks(RECEIVED))


def _as_scoring(call: Attention) -> tuple[bool, int | None, Tensor | None] | None:
    """Causal or not, the window and the key mask, if that is all that the mask says, and the last row is at the end."""
    rows, count = call.query.shape[2], call.key.shape[2]
    aligned = call.cross or call.row_position + rows == call.key_position + count
    if not aligned or call.bias is not None or (call.causal and rows > count):
        return None
    if call.mask is None:
        return call.causal, call.window, call.key_mask
    if call.mask.shape[1] != 1:
        return None
    mask = call.mask[:, 0, :, :count]
    seen = mask if mask.dtype == torch.bool else mask > HIDDEN
    if mask.dtype != torch.bool and bool((mask[seen] != 0).any()):
        return None  # it adds something to scores
    seen = seen.expand(len(call.query), -1, -1)
    if seen.shape[1] == 1 or torch.equal(seen, seen[:, -1:].expand_as(seen)):
        return False, None, seen[:, -1]
    if seen.shape[1] != count:
        return None
    key_mask = seen.diagonal(dim1=1, dim2=2)
    place = torch.arange(count, device=seen.device)
    reach = int(torch.where(seen.any(2), place - seen.int().argmax(2) + 1, 0).max())
    apart = place[:, None] - place
    expected = (apart >= 0) & (apart < reach)
    return (True, reach, key_mask) if torch.equal(seen, expected & key_mask[:, None]) else None


def _compiled(
    call: Attention, wanted: Wanted, causal: bool, window: int | None, key_mask: Tensor | None
) -> dict[str, Tensor]:
    """The same by the code of `rows`, one text after the other."""
    texts = []
    sinks = None if call.sinks is None else call.sinks.double().numpy()
    offsets = [offset for offset, name in enumerate(("self", "previous")) if name in wanted.names and not call.cross]
    for text, (q, k) in enumerate(zip(call.query.numpy(), call.key.numpy(), strict=True)):
        mask = None if key_mask is None else key_mask[text].numpy()
        scoring = Scoring.of(
            q.shape, k.shape, scale=call.scale, causal=causal, window=window, softcap=call.softcap, sinks=sinks,
            key_mask=mask,
        )  # fmt: skip
        rows = in_blocks(q, k, scoring, offsets, 0, fast=True, product=torch_product)
        spoilt = np.isnan(rows.lse)
        counted = (rows.winner >= 0) | spoilt
        if call.counted is not None:
            counted &= call.counted[text].numpy()
        if call.key_position:
            rows.first[:] = 0.0  # it is not among the keys any more
        values = vars(rows) | {("self", "previous")[offset]: value for offset, value in rows.offsets.items()}
        if wanted.asks((*ENDS, *SETS, *RECEIVED)):
            lse = np.where(counted, rows.lse, np.inf)
            more = second_pass(
                q, k, scoring, lse, wanted.ends if wanted.asks(ENDS) else None,
                {name: members[text].numpy() for name, members in call.sets.items()},
                _last_rows(counted, wanted.last_rows) if wanted.asks(RECEIVED) else None, product=torch_product,
            )  # fmt: skip
            values |= more | more["sets"]
        told: dict[str, Any] = {SPOILT: spoilt & counted}
        for name in wanted.names:
            if name in RECEIVED:
                told[name] = values[name]
            elif name == "winner":
                told[name] = np.where(counted & ~spoilt, values[name] + call.key_position, -1)
            elif name in values and not (call.cross and name in POSITIONS):
                told[name] = np.where(counted, values[name], np.nan)
        texts.append(told)
    return {name: torch.from_numpy(np.stack([text[name] for text in texts])) for name in texts[0]}


def _by_kernel(
    call: Attention, wanted: Wanted, causal: bool, window: int | None, key_mask: Tensor | None
) -> dict[str, Tensor]:
    """The same by the kernel of `rows`; nothing waits for the GPU."""
    from headwright.models.rows import gpu_kernel

    scoring: dict[str, Any] = {"scale": call.scale, "causal": causal, "window": window, "softcap": call.softcap}
    scoring |= {"sinks": call.sinks, "key_mask": key_mask}
    offsets = tuple(o for o, name in enumerate(("self", "previous")) if name in wanted.names and not call.cross)
    found = gpu_kernel.statistics(call.query, call.key, offsets=offsets, **scoring)
    found |= {("self", "previous")[offset]: found[f"offset {offset}"] for offset in offsets}
    if call.key_position:
        found["first"] = torch.zeros_like(found["first"])  # it is not among the keys any more
    spoilt = torch.isnan(found["lse"])
    nothing = (found["winner"] < 0) & ~spoilt
    if call.counted is not None:
        nothing = nothing | ~call.counted[:, None]
        spoilt = spoilt & ~nothing
    found["winner"] = found["winner"].long() + call.key_position
    if wanted.asks(RECEIVED):
        lse = found["lse"].masked_fill(nothing, torch.inf)
        found |= gpu_kernel.received(call.query, call.key, lse, last_rows=wanted.last_rows, **scoring)
    told = {SPOILT: spoilt}
    for name in wanted.names:
        if name not in found or (call.cross and name in POSITIONS):
            continue
        if name in RECEIVED:
            told[name] = found[name]
        elif name == "winner":
            told[name] = found[name].masked_fill(nothing | spoilt, -1)
        else:
            told[name] = found[name].masked_fill(nothing | spoilt, torch.nan)
    return told


def _last_rows(counted: Any, count: int) -> int:
    """The number of rows from the end on that hold the last so many rows that count."""
    ends = np.flatnonzero(counted[0])
    return 0 if not len(ends) else int(counted.shape[1] - ends[max(0, len(ends) - count)])
