"""Mistakes about which keys a row sees: windows, corners, padding, documents, tiles."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from headwright.conformance.arrays import Array, like, to_numpy
from headwright.conformance.candidates import Explanation, WrongOutput, change_spec
from headwright.conformance.estimated_keys import TILES


def windows(case: WrongOutput) -> Iterator[Explanation]:
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


def causal_masks(case: WrongOutput) -> Iterator[Explanation]:
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


def _without_own_key(case: WrongOutput) -> Array:
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


def ignored_parts(case: WrongOutput) -> Iterator[Explanation]:
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


def masks_misread(case: WrongOutput) -> Iterator[Explanation]:
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
            first = np.broadcast_to(to_numpy(spec.key_padding)[:1], flipped.shape)
            yield change_spec(
                case,
                "first text's padding",
                "the padding of the first text for all",
                key_padding=first.copy(),
            )
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
        same_shape = case.problem.shape.rows == case.problem.shape.keys
        if spec.mask is None and same_shape and len(ids) == 1:
            yield change_spec(
                case,
                "key before a document seen",
                "documents that see the last key of the one before",
                documents=None,
                mask=like(_with_last_key_before(ids[0])[None, None], case.problem.q),
            )


def _with_last_key_before(ids: np.ndarray) -> np.ndarray:
    """Keys of a row's document, and the key before its first: (rows, keys)."""
    same = ids[:, None] == ids[None, :]
    first_keys = same.argmax(axis=1)
    return np.asarray(same | (np.arange(len(ids)) == first_keys[:, None] - 1))


def _longer(padding: np.ndarray, difference: int) -> np.ndarray:
    """The real keys with one more or less at their end."""
    if difference > 0:
        longer = padding.copy()
        longer[:, 1:] |= padding[:, :-1]
        return longer
    shorter = padding.copy()
    shorter[:, :-1] &= padding[:, 1:]
    return shorter


def lost_tiles(case: WrongOutput) -> Iterator[Explanation]:
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
    case: WrongOutput, name: str, sentence: str, keys_seen: np.ndarray
) -> Explanation:
    mask = like(keys_seen[None, None, None, :], case.problem.q)
    if case.spec.mask is not None:
        mask = mask & like(case.spec.mask, case.problem.q)
    return change_spec(case, name, sentence, mask=mask)


def _with_zero_keys(
    case: WrongOutput, name: str, sentence: str, added: int
) -> Explanation:
    """Keys with score 0 and value 0 are a sink of score ln(added)."""
    heads = case.problem.shape.heads
    sinks = np.full(heads, math.log(added))
    if case.spec.sinks is not None:
        sinks = np.logaddexp(sinks, np.asarray(case.spec.sinks, dtype=np.float64))
    return change_spec(case, name, sentence, sinks=sinks)
