"""Mistakes that are often made, each tried as an explanation of a wrong output.

A hypothesis changes the problem (another mask, scale, rounded keys) so that a right
kernel would give the wrong output. It fits if the output is within the bound of the
changed problem. To add one, write a function that yields candidates, and put it into
the table at the end.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from headwright.conformance.arrays import Array, like, namespace_of, to_numpy
from headwright.conformance.candidates import (
    Candidate,
    Case,
    Strength,
    change_spec,
    exact_blocks,
    make_case,
)
from headwright.conformance.contracts import Contract
from headwright.conformance.estimated_keys import TILES, estimated_keys
from headwright.conformance.judging import Comparison, RowScale, compare
from headwright.conformance.reference import (
    Block,
    ExactRows,
    Problem,
    exact_rows,
    take_rows,
)
from headwright.conformance.verdict import FittingHypothesis

FIRST_ROWS = 4  # the worst rows, on which most candidates fail at once
WORST_ROWS = 12  # of those on which candidates are tried
SPREAD_ROWS = 20  # and so many evenly spread ones
ROWS_OF_A_FIT = 6  # on which a factor is estimated
MOST_REPORTED = 4


def fitting_hypotheses(
    problem: Problem,
    out: Array,
    contracts: Sequence[Contract],
    comparison: Comparison,
    rows: np.ndarray,
) -> tuple[FittingHypothesis, ...]:
    """The strongest hypotheses that fit, under the strictest contract that allows it."""
    worst_rows, rows_to_try = _rows_to_try(comparison, rows)
    case = make_case(problem, out, comparison, rows, rows_to_try)
    tried_rows = (worst_rows, rows_to_try, rows)
    for strength, proposals in HYPOTHESES.items():
        candidates: list[Candidate] = []
        # What overflows under a hypothesis does not fit: NumPy need not warn of it.
        with np.errstate(all="ignore"):
            for propose in proposals:
                candidates.extend(propose(case))
        for contract in contracts:
            fitting = _fitting(case, candidates, contract, tried_rows, strength)
            if fitting:
                return tuple(fitting[:MOST_REPORTED])
    return ()


def _fitting(
    case: Case,
    candidates: Sequence[Candidate],
    contract: Contract,
    tried_rows: Sequence[np.ndarray],
    strength: Strength,
) -> list[FittingHypothesis]:
    """The candidates that fit under a contract; of a family the first."""
    fitting: list[FittingHypothesis] = []
    families: set[str] = set()
    for candidate in candidates:
        family = candidate.family or candidate.name
        if family in families:
            continue
        # First where most fail at once; where it fits, on all rows that were judged.
        ratio = math.inf
        for rows in tried_rows:
            ratio = _ratio_of(case, candidate, contract, rows)
            if ratio > 1:
                break
        if ratio > 1:
            continue
        families.add(family)
        hypothesis = FittingHypothesis(
            candidate.name,
            candidate.sentence,
            contract.name,
            ratio,
            len(tried_rows[-1]),
            lenient=strength is Strength.LENIENT,
        )
        fitting.append(hypothesis)
    if strength is Strength.LENIENT:
        # Those that widen the bound least come first.
        fitting.sort(key=lambda hypothesis: -hypothesis.ratio)
    return fitting


def _ratio_of(
    case: Case, candidate: Candidate, contract: Contract, rows: np.ndarray
) -> float:
    """Error / bound under a hypothesis; infinite where its bound says nothing."""
    if candidate.contract is not None:
        contract = candidate.contract(contract)
    same_rows = candidate.problem.shape == case.problem.shape
    if not same_rows:
        rows = np.arange(candidate.problem.shape.rows)
    comparison = compare(
        candidate.problem,
        candidate.out,
        [contract],
        rows,
        row_scale=candidate.row_scale,
    )[0]
    if comparison.unjudged:
        return math.inf
    # A row to which the hypothesis leaves no key is not judged. It is explained if it
    # is what kernels return then: zeros or NaN.
    emptied = comparison.empty
    if same_rows:
        emptied = emptied & ~case.empty[:, :, rows]
    if emptied.any():
        values = to_numpy(candidate.out)[:, :, rows][emptied]
        if not bool(((values == 0) | np.isnan(values)).all()):
            return math.inf
    return comparison.ratio


def _rows_to_try(
    comparison: Comparison, rows: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The very worst rows; and the worst ones with some that are evenly spread."""
    by_row = np.nan_to_num(comparison.ratios, nan=0.0).max(axis=(0, 1, 3))
    worst = np.argsort(-by_row, kind="stable")[:WORST_ROWS]
    spread = np.linspace(0, len(rows) - 1, min(len(rows), SPREAD_ROWS)).astype(int)
    both = np.unique(np.concatenate((worst, spread)))
    return np.sort(rows[worst[:FIRST_ROWS]]), rows[both]


# Outputs that do not depend on the scores


def trivial_outputs(case: Case) -> Iterator[Candidate]:
    """Zeros, the values themselves, their mean."""
    q = case.problem.q
    xp = namespace_of(q)
    shape = case.problem.shape
    nothing = replace(case.problem, v=xp.zeros_like(case.problem.v))
    yield Candidate("zeros", "an output of zeros", nothing, case.out)
    if shape.rows == shape.keys:
        own_key = xp.eye(shape.rows, device=getattr(q, "device", None)) > 0
        yield change_spec(
            case,
            "own value",
            "each row returning the value of its own key",
            mask=own_key[None, None],
            causal=False,
            keys_before=None,
            keys_after=None,
        )
    if case.spec.scale != 0:
        yield change_spec(
            case,
            "scores ignored",
            "equal weights for all keys that are seen, as with scores of 0",
            scale=0.0,
            bias=None,
            alibi=None,
        )


def unwritten_rows(case: Case) -> Iterator[Candidate]:
    """Some rows that are zeros, as memory is that was never written."""
    xp = namespace_of(case.out)
    written = xp.any(case.out != 0, axis=-1, keepdims=True)
    if bool(xp.all(written)):
        return
    mask = written
    if case.spec.mask is not None:
        mask = mask & like(case.spec.mask, case.out)
    # A row that sees no key under a hypothesis is explained if it is zeros.
    where = _name_rows(~to_numpy(written)[..., 0])
    yield change_spec(
        case, "never written", f"zeros in {where}, and all else right", mask=mask
    )


def _name_rows(chosen: np.ndarray) -> str:
    """Rows (batch, heads, rows) in words: whole texts, heads or rows where it can.

    >>> rows = np.zeros((1, 2, 8), dtype=bool)
    >>> rows[:, :, 5:] = True
    >>> _name_rows(rows)
    'rows 5, 6, 7'
    """
    for axis, name in enumerate(("text", "head", "row")):
        other_axes = tuple(other for other in range(3) if other != axis)
        numbers = np.asarray(chosen.all(axis=other_axes))
        if int(numbers.sum()) * chosen.size == int(chosen.sum()) * len(numbers):
            names = name if numbers.sum() == 1 else f"{name}s"
            return f"{names} {_list_numbers(np.flatnonzero(numbers).tolist())}"
    text, head, row = np.argwhere(chosen)[0].tolist()
    count = int(chosen.sum())
    return f"{count:,} rows, first in text {text}, head {head}, row {row}"


def _list_numbers(numbers: list[int]) -> str:
    if len(numbers) <= MOST_REPORTED:
        return ", ".join(str(number) for number in numbers)
    first, last = numbers[0], numbers[-1]
    if last - first + 1 == len(numbers):
        return f"{first} to {last}"
    return f"{first}, ..., {last}"


# Masks


def windows(case: Case) -> Iterator[Candidate]:
    """A window that is off by a few keys, half or twice as wide, or ignored."""
    reach = case.spec.keys_before
    if reach is None:
        return
    two_sided = case.spec.keys_after is not None and case.spec.keys_after > 0
    window = reach + 1
    half_and_twice = (window // 2 - window, window)
    for difference in (1, -1, 2, -2, 3, -3, 4, -4, *half_and_twice):
        if reach + difference < 0:
            continue
        changes: dict[str, Any] = {"keys_before": reach + difference}
        if two_sided:
            changes["keys_after"] = max(0, (case.spec.keys_after or 0) + difference)
        yield change_spec(
            case,
            f"window {difference:+d}",
            f"a window of {window + difference:,} keys, not {window:,}",
            **changes,
        )
    yield change_spec(
        case,
        "window ignored",
        "no window",
        keys_before=None,
        keys_after=None,
    )
    if case.spec.keys_after is not None and case.spec.keys_after != reach:
        yield change_spec(
            case,
            "window reversed",
            "a window whose keys before and after a row are exchanged",
            keys_before=case.spec.keys_after,
            keys_after=reach,
        )
    if two_sided:
        yield change_spec(
            case,
            "window before only",
            "a window that limits only the keys before a row",
            keys_after=None,
        )
        yield change_spec(
            case,
            "window one-sided",
            "a window in which a row sees no key after its own",
            keys_after=0,
        )


def causal_masks(case: Case) -> Iterator[Candidate]:
    """The other corner, no mask, or the diagonal moved."""
    shape = case.problem.shape
    spec = case.spec
    if spec.causal:
        yield change_spec(case, "not causal", "no causal mask", causal=False)
        yield change_spec(
            case,
            "future key seen",
            "each row seeing one key after its own",
            causal=False,
            keys_after=1,
        )
        yield change_spec(
            case,
            "own key hidden",
            "each row not seeing its own key",
            mask=_without_own_key(case),
        )
    else:
        yield change_spec(case, "causal", "a causal mask", causal=True)
    if shape.rows != shape.keys and (spec.causal or spec.keys_before is not None):
        other = "start" if spec.corner == "end" else "end"
        where = {"start": "row 0 at key 0", "end": "the last row at the last key"}
        yield change_spec(
            case,
            "other corner",
            f"the other causal corner: {where[other]}",
            corner=other,
        )
    positional = spec.causal or spec.keys_before is not None or spec.alibi is not None
    if positional:
        for offset in (1, -1, 2, -2):
            yield change_spec(
                case,
                f"position {offset:+d}",
                f"rows that stand {abs(offset)} key{'s' * (abs(offset) > 1)} too "
                f"{'late' if offset > 0 else 'early'} (the offset of a cache)",
                row_offset=offset,
            )


def _without_own_key(case: Case) -> Array:
    """Rows that see nothing else keep their own key."""
    shape = case.problem.shape
    rows = np.arange(shape.rows)[:, None]
    if case.spec.corner == "end":
        rows = rows + shape.keys - shape.rows
    others = (rows != np.arange(shape.keys)) | (rows == 0)
    mask = like(others, case.problem.q)[None, None]
    if case.spec.mask is not None:
        mask = mask & like(case.spec.mask, case.problem.q)
    return mask


def ignored_parts(case: Case) -> Iterator[Candidate]:
    """Padding, documents, a mask, a bias, ALiBi or sinks that were not looked at."""
    parts = {
        "key_padding": ("padding ignored", "padding being seen"),
        "documents": ("documents ignored", "documents seeing one another"),
        "mask": ("mask ignored", "the mask being ignored"),
        "bias": ("bias ignored", "the bias being ignored"),
        "alibi": ("alibi ignored", "ALiBi being ignored"),
        "sinks": ("sinks ignored", "the sinks being ignored"),
        "softcap": ("softcap missing", "no softcap"),
    }
    for field, (name, sentence) in parts.items():
        if getattr(case.spec, field) is not None:
            without: dict[str, Any] = {field: None}
            yield change_spec(case, name, sentence, **without)


def masks_misread(case: Case) -> Iterator[Candidate]:
    """A mask that is inverted, or a padding that is taken for one of the other side."""
    spec = case.spec
    if spec.mask is not None:
        inverted = ~like(spec.mask, case.problem.q)
        yield change_spec(
            case,
            "mask inverted",
            "a mask that hides what it should show",
            mask=inverted,
        )
        yield change_spec(
            case,
            "first text's mask",
            "the mask of the first text for all",
            mask=spec.mask[:1],
        )
    if spec.key_padding is not None:
        flipped = to_numpy(spec.key_padding)[:, ::-1].copy()
        yield change_spec(
            case,
            "padding side",
            "padding on the other side of the keys",
            key_padding=flipped,
        )
        if case.problem.shape.batch > 1:
            yield change_spec(
                case,
                "padding of another text",
                "each text having the padding of the one before",
                key_padding=np.roll(to_numpy(spec.key_padding), 1, axis=0),
            )
        for difference in (1, -1):
            moved = _longer(to_numpy(spec.key_padding), difference)
            yield change_spec(
                case,
                f"padding {difference:+d}",
                f"one key {'more' if difference > 0 else 'less'} than is real",
                key_padding=moved,
            )
    if spec.documents is not None:
        ids = np.asarray(spec.documents)
        yield change_spec(
            case,
            "document border",
            "documents that begin one key too late",
            documents=np.concatenate((ids[:, :1], ids[:, :-1]), axis=1),
        )
        yield change_spec(
            case,
            "document border early",
            "documents that begin one key too early",
            documents=np.concatenate((ids[:, 1:], ids[:, -1:]), axis=1),
        )


def _longer(padding: np.ndarray, difference: int) -> np.ndarray:
    """The real keys with one more or less at their end."""
    if difference > 0:
        longer = padding.copy()
        longer[:, 1:] |= padding[:, :-1]
        return longer
    shorter = padding.copy()
    shorter[:, :-1] &= padding[:, 1:]
    return shorter


def lost_tiles(case: Case) -> Iterator[Candidate]:
    """Keys of a tile that is left out, or that is filled up with zeros."""
    shape = case.problem.shape
    lost: dict[int, list[str]] = {}
    added: dict[int, list[str]] = {}
    for tile in TILES:
        whole = shape.keys // tile * tile
        if 0 < whole < shape.keys:
            lost.setdefault(shape.keys - whole, []).append(str(tile))
            added.setdefault(whole + tile - shape.keys, []).append(str(tile))
    for missing, tiles in lost.items():
        if missing > 1:  # the last key is tried below
            yield _with_mask(
                case,
                f"last {missing} keys lost",
                f"the last {missing} keys left out, which do not fill a tile of "
                f"{' or '.join(tiles)}",
                np.arange(shape.keys) < shape.keys - missing,
            )
    for number, tiles in added.items():
        yield _with_zero_keys(
            case,
            f"{number} zero keys seen",
            f"{number} keys of zeros being seen, which fill up a tile of "
            f"{' or '.join(tiles)}",
            number,
        )
    for tile in TILES:
        if tile < shape.keys:
            yield _with_mask(
                case,
                f"first {tile} keys lost",
                f"the first tile of {tile} keys left out",
                np.arange(shape.keys) >= tile,
            )
    for number, name in ((0, "first"), (shape.keys - 1, "last")):
        yield _with_mask(
            case,
            f"{name} key lost",
            f"the {name} key left out",
            np.arange(shape.keys) != number,
        )


def _with_mask(
    case: Case, name: str, sentence: str, keys_seen: np.ndarray
) -> Candidate:
    mask = like(keys_seen[None, None, None, :], case.problem.q)
    if case.spec.mask is not None:
        mask = mask & like(case.spec.mask, case.problem.q)
    return change_spec(case, name, sentence, mask=mask)


def _with_zero_keys(case: Case, name: str, sentence: str, added: int) -> Candidate:
    """Keys with score 0 and value 0 are a sink of score ln(added)."""
    heads = case.problem.shape.heads
    sinks = np.full(heads, math.log(added))
    if case.spec.sinks is not None:
        sinks = np.logaddexp(sinks, np.asarray(case.spec.sinks, dtype=np.float64))
    return change_spec(case, name, sentence, sinks=sinks)


# Scores


def scales(case: Case) -> Iterator[Candidate]:
    """A usual scale in place of the right one."""
    dim = case.problem.shape.dim
    value_dim = case.problem.shape.value_dim
    padded = 2 ** math.ceil(math.log2(dim))
    usual = (
        ("1", 1.0),
        ("1 / dim", 1 / dim),
        ("1 / sqrt(dim)", dim**-0.5),
        (f"1 / sqrt({padded}), of a padded dim", padded**-0.5),
        ("1 / sqrt(value dim)", value_dim**-0.5),
        ("1 / sqrt(heads * dim)", (case.problem.shape.heads * dim) ** -0.5),
        ("applied twice", case.spec.scale**2),
        ("log2(e) missing: exp2 for exp", case.spec.scale * math.log(2)),
        ("log2(e) twice", case.spec.scale / math.log(2)),
        ("with its sign turned", -case.spec.scale),
    )
    # Reasons for the same number are one hypothesis.
    reasons: dict[float, list[str]] = {}
    for reason, scale in usual:
        if not math.isclose(scale, case.spec.scale, rel_tol=1e-9):
            number = next((n for n in reasons if math.isclose(n, scale)), scale)
            reasons.setdefault(number, []).append(reason)
    for scale, names in reasons.items():
        sentence = f"another scale, {scale:.6g} instead of {case.spec.scale:.6g}"
        yield change_spec(
            case,
            f"scale {names[0]}",
            f"{sentence} ({', or '.join(names)})",
            scale=scale,
        )


def estimated_scale(case: Case) -> Iterator[Candidate]:
    """A scale that is off by any factor: the one that fits the worst rows best."""
    if case.spec.scale == 0:
        return
    small = replace(case, rows=case.rows[:ROWS_OF_A_FIT])
    factor = _best_factor(small)
    if factor is None:
        return
    scale = case.spec.scale * factor
    yield change_spec(
        case,
        "scale estimated",
        f"a scale of {scale:.6g}, {factor:.5g} times {case.spec.scale:.6g}",
        scale=scale,
    )


def _best_factor(case: Case) -> float | None:
    """By a grid over powers of 2, then by thirds of the interval around the best."""
    grid = np.linspace(-4, 4, 33)
    errors = [_squared_error(case, 2.0**exponent) for exponent in grid]
    best = int(np.argmin(errors))
    low, high = grid[max(0, best - 1)], grid[min(len(grid) - 1, best + 1)]
    for _ in range(30):
        third = (high - low) / 3
        left = _squared_error(case, 2.0 ** (low + third))
        right = _squared_error(case, 2.0 ** (high - third))
        if left < right:
            high -= third
        else:
            low += third
    factor = 2.0 ** float((low + high) / 2)
    return None if abs(factor - 1) < 1e-6 else factor


def _squared_error(case: Case, factor: float) -> float:
    spec = replace(case.spec, scale=case.spec.scale * factor)
    problem = replace(case.problem, spec=spec)
    total = 0.0
    for expected, actual in _rows_side_by_side(problem, case):
        total += float(((expected - actual) ** 2).sum())
    return total if math.isfinite(total) else math.inf


def _rows_side_by_side(
    problem: Problem, case: Case
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    for block, exact in exact_blocks(problem, case.rows):
        yield to_numpy(exact.output), to_numpy(take_rows(problem, block, case.out))


def softcaps(case: Case) -> Iterator[Candidate]:
    """A softcap before the scale; or on the wrong side of the bias."""
    if case.spec.softcap is None:
        return
    # scale * cap * tanh(q . k / cap) is a softcap of scale * cap on scaled scores.
    yield change_spec(
        case,
        "softcap before scale",
        "a softcap that is applied before the scale",
        softcap=case.spec.softcap * abs(case.spec.scale),
    )
    yield change_spec(
        case,
        "softcap doubled",
        "a softcap twice as large",
        softcap=2 * case.spec.softcap,
    )


def biases(case: Case) -> Iterator[Candidate]:
    """A bias or slopes with another sign or scale; slopes of other heads."""
    spec = case.spec
    if spec.bias is not None:
        yield change_spec(
            case,
            "bias scaled",
            "the bias being scaled, too",
            bias=spec.bias * spec.scale,
        )
        xp = namespace_of(spec.bias)
        yield change_spec(
            case, "bias doubled", "the bias being added twice", bias=2 * spec.bias
        )
        if spec.bias.shape[2] == spec.bias.shape[3]:
            yield change_spec(
                case,
                "bias transposed",
                "a bias with rows and keys exchanged",
                bias=xp.matrix_transpose(spec.bias),
            )
        turned = xp.where(spec.bias > -np.inf, -spec.bias, spec.bias)
        yield change_spec(case, "bias sign", "the bias being subtracted", bias=turned)
        yield change_spec(
            case, "first head's bias", "one head's bias for all", bias=spec.bias[:, :1]
        )
    if spec.alibi is not None:
        slopes = np.asarray(spec.alibi)
        yield change_spec(case, "alibi sign", "slopes of the other sign", alibi=-slopes)
        yield change_spec(
            case,
            "alibi reversed",
            "the slopes of the heads reversed",
            alibi=slopes[::-1],
        )
        yield change_spec(
            case, "alibi scaled", "slopes that are scaled", alibi=slopes * spec.scale
        )
    if spec.sinks is not None:
        yield change_spec(
            case, "sinks sign", "sinks of the other sign", sinks=-np.asarray(spec.sinks)
        )
        yield change_spec(
            case,
            "sinks scaled",
            "sinks that are scaled",
            sinks=np.asarray(spec.sinks) * spec.scale,
        )


# Heads, texts and tokens


def exchanged_axes(case: Case) -> Iterator[Candidate]:
    """Heads grouped the other way, reversed, shifted; texts, tokens, columns."""
    problem = case.problem
    shape = problem.shape
    xp = namespace_of(problem.q)
    if 1 < shape.key_heads < shape.heads:
        yield change_spec(
            case,
            "heads interleaved",
            "query head h reading key head h mod key heads",
            interleaved_heads=True,
        )
    if shape.key_heads < shape.heads or shape.heads > 1:
        first = replace(
            problem,
            k=xp.broadcast_to(problem.k[:, :1], problem.k.shape),
            v=xp.broadcast_to(problem.v[:, :1], problem.v.shape),
        )
        yield Candidate(
            "first key head", "all heads reading the first key head", first, case.out
        )
    if shape.heads > 1:
        turned = xp.flip(case.out, axis=1)
        yield Candidate("heads reversed", "heads in reverse order", problem, turned)
        moved = xp.roll(case.out, -1, axis=1)
        yield Candidate("heads shifted", "heads shifted by one", problem, moved)
    if shape.batch > 1:
        first = replace(
            problem,
            k=xp.broadcast_to(problem.k[:1], problem.k.shape),
            v=xp.broadcast_to(problem.v[:1], problem.v.shape),
        )
        yield Candidate(
            "first text", "all texts reading the keys of the first", first, case.out
        )
        moved = xp.roll(case.out, -1, axis=0)
        yield Candidate("texts shifted", "texts shifted by one", problem, moved)
    for shift in (1, -1):
        moved = xp.roll(case.out, -shift, axis=2)
        yield Candidate(f"rows {shift:+d}", f"rows shifted by {shift}", problem, moved)
        values = replace(problem, v=xp.roll(problem.v, shift, axis=2))
        yield Candidate(
            f"values {shift:+d}", f"values shifted by {shift} keys", values, case.out
        )
    yield Candidate(
        "columns reversed", "columns reversed", problem, xp.flip(case.out, axis=3)
    )
    if shape.dim > 1:
        half = shape.dim // 2
        numbers = np.arange(shape.dim) < half
        kept = like(numbers.astype(np.float64), problem.q)
        yield Candidate(
            "half of dim",
            "scores that use the first half of the columns only",
            replace(problem, q=problem.q * kept),
            case.out,
        )
    yield from _transposed(case)


def exchanged_tensors(case: Case) -> Iterator[Candidate]:
    """Keys that were taken for values, and values for keys."""
    problem = case.problem
    k, v = problem.k, problem.v
    if k.shape != v.shape:
        return
    exchanged = (
        ("keys for values", "keys that were taken for values", k, k),
        ("values for keys", "values that were taken for keys", v, v),
        ("keys and values exchanged", "keys and values that were exchanged", v, k),
    )
    for name, sentence, keys, values in exchanged:
        changed = replace(problem, k=keys, v=values)
        yield Candidate(name, sentence, changed, case.out)


def _transposed(case: Case) -> Iterator[Candidate]:
    """Heads and tokens taken for one another."""
    problem = case.problem
    shape = problem.shape
    xp = namespace_of(problem.q)
    exchanged = {
        field: xp.permute_dims(array, (0, 2, 1, 3))
        for field, array in (
            ("q", problem.q),
            ("k", problem.k),
            ("v", problem.v),
            ("out", case.out),
        )
    }
    if shape.heads == shape.rows:
        yield Candidate(
            "output in the other layout",
            "an output in the other layout: its axes of heads and tokens are exchanged",
            problem,
            exchanged["out"],
        )
    # Described by position only: masks and the like have the axes that were taken.
    by_position = all(
        getattr(case.spec, field) is None
        for field in ("sinks", "alibi", "bias", "mask", "documents", "key_padding")
    )
    if by_position and shape.rows % shape.keys == 0:
        out = exchanged.pop("out")
        yield Candidate(
            "other layout",
            "tensors in the other layout, heads and tokens exchanged: say "
            "layout='bthd' for (batch, tokens, heads, dim)",
            replace(problem, **exchanged),
            out,
        )
    # The same memory, another shape.
    if shape.heads == 1 or shape.heads != shape.key_heads:
        return
    batch, heads = shape.batch, shape.heads

    def misread(array: Array) -> Array:
        tokens, width = array.shape[2], array.shape[3]
        return xp.permute_dims(
            xp.reshape(array, (batch, tokens, heads, width)), (0, 2, 1, 3)
        )

    def write_back(array: Array) -> Array:
        tokens, width = array.shape[2], array.shape[3]
        return xp.reshape(
            xp.permute_dims(array, (0, 2, 1, 3)), (batch, heads, tokens, width)
        )

    misread_problem = replace(
        problem, q=misread(problem.q), k=misread(problem.k), v=misread(problem.v)
    )
    yield Candidate(
        "heads and tokens exchanged",
        "memory in which heads and tokens are exchanged",
        misread_problem,
        misread(case.out),
    )
    yield Candidate(
        "output transposed",
        "an output in which heads and tokens are exchanged",
        problem,
        misread(case.out),
    )
    yield Candidate(
        "output transposed back",
        "an output in which tokens and heads are exchanged",
        problem,
        write_back(case.out),
    )


# Rounding


def rounded_inputs(case: Case) -> Iterator[Candidate]:
    """Keys, values or queries rounded to eight bits, or to bfloat16."""
    roundings: dict[str, Callable[[np.ndarray], np.ndarray]] = {
        "float8_e4m3": _to_e4m3,
        "float8_e4m3 with one scale": _to_scaled_e4m3,
        "float8_e5m2": _to_e5m2,
        "int8 with one scale": _to_int8,
        "int8 with a scale for each token": _to_int8_by_token,
    }
    if case.problem.input_format.name in ("float32", "float16"):
        roundings["bfloat16"] = _to_bfloat16
    if case.problem.input_format.name in ("float32", "bfloat16"):
        roundings["float16"] = _to_float16
    parts = {
        "keys": ("k",),
        "values": ("v",),
        "keys and values": ("k", "v"),
        "queries": ("q",),
        "queries and keys": ("q", "k"),
        "queries, keys and values": ("q", "k", "v"),
    }
    for format_name, rounding in roundings.items():
        for part_name, fields in parts.items():
            changes = {}
            for field in fields:
                array = getattr(case.problem, field)
                with np.errstate(all="ignore"):
                    changes[field] = like(rounding(to_numpy(array)), array)
            finite = [
                bool(np.isfinite(to_numpy(array)).all()) for array in changes.values()
            ]
            if not all(finite):
                continue
            yield Candidate(
                f"{part_name} in {format_name}",
                f"{part_name} rounded to {format_name}",
                replace(case.problem, **changes),
                case.out,
            )


def prescaled_operands(case: Case) -> Iterator[Candidate]:
    """Queries, or both operands, that were scaled and rounded before their product."""
    scale = case.spec.scale
    if scale <= 0:
        return
    problem = case.problem
    log2e = math.log2(math.e)
    yield Candidate(
        "queries scaled first",
        "queries that were scaled and rounded before the product",
        replace(problem, q=_scaled_and_rounded(problem, problem.q, scale)),
        case.out,
    )
    yield Candidate(
        "queries scaled for exp2",
        "queries that were scaled with log2(e) and rounded before the product",
        replace(problem, q=_scaled_and_rounded(problem, problem.q, scale * log2e)),
        case.out,
    )
    root = math.sqrt(scale)
    yield Candidate(
        "queries and keys scaled first",
        "queries and keys that were scaled and rounded before their product",
        replace(
            problem,
            q=_scaled_and_rounded(problem, problem.q, root),
            k=_scaled_and_rounded(problem, problem.k, root),
        ),
        case.out,
    )


def _scaled_and_rounded(problem: Problem, array: Array, factor: float) -> Array:
    """The numbers whose multiples by the factor the input type has."""
    name = problem.input_format.name
    scaled = to_numpy(array) * factor
    if name == "bfloat16":
        rounded = _through(scaled, name)
    else:
        rounded = scaled.astype(name).astype(np.float64)
    return like(rounded / factor, array)


def _through(array: np.ndarray, name: str) -> np.ndarray:
    import ml_dtypes

    narrow = array.astype(getattr(ml_dtypes, name))
    return np.asarray(narrow.astype(np.float64))


def _to_e4m3(array: np.ndarray) -> np.ndarray:
    return _through(np.clip(array, -448, 448), "float8_e4m3fn")


def _to_scaled_e4m3(array: np.ndarray) -> np.ndarray:
    scale = max(float(np.abs(array).max()), 1e-300) / 448
    return _through(array / scale, "float8_e4m3fn") * scale


def _to_e5m2(array: np.ndarray) -> np.ndarray:
    return _through(array, "float8_e5m2")


def _to_bfloat16(array: np.ndarray) -> np.ndarray:
    return _through(array, "bfloat16")


def _to_float16(array: np.ndarray) -> np.ndarray:
    return array.astype(np.float16).astype(np.float64)


def _to_int8(array: np.ndarray) -> np.ndarray:
    scale = max(float(np.abs(array).max()), 1e-300) / 127
    return np.round(array / scale) * scale


def _to_int8_by_token(array: np.ndarray) -> np.ndarray:
    scale = np.maximum(np.abs(array).max(axis=-1, keepdims=True), 1e-300) / 127
    return np.asarray(np.round(array / scale) * scale)


def coarser_arithmetic(case: Case) -> Iterator[Candidate]:
    """An output in a narrower type, weights in eight bits, sums in float16."""
    if case.problem.input_format.name == "float32":
        for name in ("float16", "bfloat16"):
            yield Candidate(
                f"output in {name}",
                f"an output rounded to {name}",
                case.problem,
                case.out,
                contract=_changing(output_format=name, weight_format=name),
            )
    yield Candidate(
        "output in float8",
        "an output rounded to float8_e4m3",
        case.problem,
        case.out,
        contract=_changing(output_format="float8_e4m3"),
    )
    yield Candidate(
        "weights in float8",
        "weights rounded to float8_e4m3 before their product with the values",
        case.problem,
        case.out,
        contract=_changing(weight_format="float8_e4m3"),
    )
    for name in ("float16", "bfloat16"):
        yield Candidate(
            f"sums in {name}",
            f"sums kept in {name}",
            case.problem,
            case.out,
            contract=_changing(sum_format=name, weight_format=name),
        )


def _changing(**changes: Any) -> Callable[[Contract], Contract]:
    def change(contract: Contract) -> Contract:
        return replace(contract, **changes)

    return change


# The division


def normalisers(case: Case) -> Iterator[Candidate]:
    """Outputs that are not divided by the sum of the exponentials, or otherwise."""

    def sum_of_exponentials(exact: ExactRows, _block: Block) -> Array:
        xp = namespace_of(exact.output)
        return xp.exp(exact.log_sum_exp - exact.largest_score)

    def raw_sum(exact: ExactRows, _block: Block) -> Array:
        return namespace_of(exact.output).exp(exact.log_sum_exp)

    def inverse_sum(exact: ExactRows, block: Block) -> Array:
        return 1 / sum_of_exponentials(exact, block)

    def over_count(exact: ExactRows, block: Block) -> Array:
        return sum_of_exponentials(exact, block) / exact.seen

    def seen_of_all(exact: ExactRows, block: Block) -> Array:
        every_key = replace(block, keys=slice(0, case.problem.shape.keys))
        unmasked = exact_rows(_unmasked(case.problem), every_key)
        return namespace_of(exact.output).exp(exact.log_sum_exp - unmasked.log_sum_exp)

    factors = {
        "not normalised": ("no division by the sum", sum_of_exponentials),
        "exp not normalised": ("no maximum and no division by the sum", raw_sum),
        "normalised twice": ("a division by the sum twice", inverse_sum),
        "divided by count": ("a division by the number of keys", over_count),
        "masked after softmax": (
            "a mask that is applied after the softmax, which saw all keys",
            seen_of_all,
        ),
    }
    if case.spec.sinks is None:
        yield change_spec(
            case,
            "one added to the sum",
            "1 added to the sum of the exponentials, as a sink of score 0 is",
            sinks=np.zeros(case.problem.shape.heads),
        )
    for name, (sentence, factor) in factors.items():
        yield Candidate(
            name, sentence, case.problem, case.out, row_scale=RowScale(factor)
        )


def _unmasked(problem: Problem) -> Problem:
    """The same scores, and all keys seen."""
    spec = replace(
        problem.spec,
        causal=False,
        keys_before=None,
        keys_after=None,
        key_padding=None,
        documents=None,
        mask=None,
    )
    return replace(problem, spec=spec)


def estimated_factor(case: Case) -> Iterator[Candidate]:
    """An output that is a multiple of the right one."""
    products = squares = 0.0
    for expected, actual in _rows_side_by_side(case.problem, case):
        products += float((expected * actual).sum())
        squares += float((expected * expected).sum())
    if squares == 0 or not math.isfinite(products):
        return
    factor = products / squares
    if abs(factor) < 1e-3 or abs(factor - 1) < 1e-6:
        return

    def constant(exact: ExactRows, _block: Block) -> Array:
        return namespace_of(exact.seen).full_like(exact.seen, factor)

    yield Candidate(
        "output scaled",
        f"an output multiplied by {factor:.5g}",
        case.problem,
        case.out,
        row_scale=RowScale(constant),
    )


# By strength: weaker ones are tried only where no stronger one fits.
HYPOTHESES: dict[Strength, tuple[Callable[[Case], Iterator[Candidate]], ...]] = {
    Strength.SPECIFIC: (
        trivial_outputs,
        windows,
        causal_masks,
        ignored_parts,
        masks_misread,
        lost_tiles,
        scales,
        softcaps,
        biases,
        exchanged_axes,
        exchanged_tensors,
        normalisers,
        prescaled_operands,
        rounded_inputs,
    ),
    Strength.ESTIMATED: (
        unwritten_rows,
        estimated_factor,
        estimated_scale,
        estimated_keys,
    ),
    Strength.LENIENT: (coarser_arithmetic,),
}
