"""The calls of FlexAttention, which torch compiles even where a model is not compiled.

What it is asked for are functions of one score and its place. While torch traces a call, these
functions are traced once more, over all places: `mask_mod` becomes a mask, and `score_mod` the
scores that it makes of the products. An operator in the same graph hands them on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from headwright.errors import InputError
from headwright.models.compiled_calls import call_place, hand_on

FLEX: Any = torch.ops.higher_order.flex_attention
PARAMETERS = ("query", "key", "value", "score_mod", "block_mask", "scale")
# Places in the tuple that a BlockMask becomes.
KEY_BLOCKS, KEY_INDEX, WHOLE_BLOCKS, WHOLE_INDEX = 2, 3, 4, 5
ROWS_OF_A_BLOCK, KEYS_OF_A_BLOCK, MASK_FUNCTION = -3, -2, -1


def flex_in_a_graph(args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """Torch traces this: the attention, and an operator that hands the call on."""
    call_place.taken = True
    output = FLEX(*args, **kwargs)
    call_place.taken = False
    arguments = dict(zip(PARAMETERS, args, strict=False)) | dict(kwargs)
    query, key = arguments["query"].detach(), arguments["key"].detach()
    blocks = arguments["block_mask"]
    scores = _changed_scores(query, key, arguments["score_mod"], arguments["scale"])
    see_flex(
        query,
        key,
        _visible(query, key, blocks),
        scores,
        blocks[KEY_BLOCKS],
        blocks[KEY_INDEX],
        blocks[WHOLE_BLOCKS],
        blocks[WHOLE_INDEX],
        [blocks[ROWS_OF_A_BLOCK], blocks[KEYS_OF_A_BLOCK]],
        arguments["scale"],
        call_place.place,
    )
    return output


def _visible(query: Tensor, key: Tensor, blocks: Any) -> Tensor:
    """What the mask's function says of each place: (batch or 1, heads or 1, rows, keys)."""
    from torch._dynamo._trace_wrapped_higher_order_op import TransformGetItemToIndex
    from torch.nn.attention.flex_attention import _vmap_for_bhqkv

    over_all_places = _vmap_for_bhqkv(blocks[MASK_FUNCTION], prefix=())
    texts, heads = blocks[KEY_BLOCKS].shape[:2]
    places = _places((texts, heads, query.shape[-2], key.shape[-2]), query.device)
    with TransformGetItemToIndex():
        visible: Tensor = over_all_places(*places)
    return visible


def _changed_scores(
    query: Tensor, key: Tensor, score_function: Any, scale: float
) -> Tensor | None:
    """The scores as a function makes them of products; None where they stay as they are."""
    from torch._dynamo._trace_wrapped_higher_order_op import TransformGetItemToIndex
    from torch.nn.attention.flex_attention import _identity, _vmap_for_bhqkv

    if score_function is _identity:
        return None
    wide = torch.float64 if query.dtype == torch.float64 else torch.float32
    shared = query.shape[1] // key.shape[1]
    keys = key.to(wide).repeat_interleave(shared, dim=1)
    scores = (query.to(wide) @ keys.transpose(-2, -1)) * scale
    over_all_places = _vmap_for_bhqkv(score_function, prefix=(0,))
    places = _places(tuple(scores.shape), query.device)
    with TransformGetItemToIndex():
        changed: Tensor = over_all_places(scores, *places)
    return changed.detach()


def _places(shape: tuple[int, ...], device: torch.device) -> list[Tensor]:
    return [torch.arange(size, device=device) for size in shape]


@torch.library.custom_op("headwright::see_flex_attention", mutates_args=("place",))
def see_flex(
    query: Tensor,
    key: Tensor,
    visible: Tensor,
    scores: Tensor | None,
    key_blocks: Tensor,
    key_index: Tensor,
    whole_blocks: Tensor | None,
    whole_index: Tensor | None,
    block_size: list[int],
    scale: float,
    place: Tensor,
) -> None:
    """Hand a call on. It says that it changes `place`, so that no compiler leaves it out."""
    mask = visible
    some = _spread(key_blocks, key_index, block_size, visible)
    if whole_blocks is not None and whole_index is not None:
        whole = _spread(whole_blocks, whole_index, block_size, visible)
        said = (some & visible) | whole
    else:
        said = some & visible
    if not torch.equal(said, visible):
        raise InputError(
            "the blocks of the BlockMask and its mask_mod say different things, and a kernel goes by the blocks: "
            "expected those of create_block_mask"
        )
    queries = query
    if scores is not None:
        # All that is known of the scores are their numbers: products of zeros, and these added.
        queries = torch.zeros_like(query)
        mask = torch.where(visible, scores, -torch.inf)
    hand_on(
        {
            "query": queries,
            "key": key,
            "value": key,
            "attn_mask": mask,
            "scale": scale,
        },
        place,
    )


@see_flex.register_fake
def _(
    query: Tensor,
    key: Tensor,
    visible: Tensor,
    scores: Tensor | None,
    key_blocks: Tensor,
    key_index: Tensor,
    whole_blocks: Tensor | None,
    whole_index: Tensor | None,
    block_size: list[int],
    scale: float,
    place: Tensor,
) -> None:
    """It has no result."""


def _spread(
    counts: Tensor, index: Tensor, block_size: list[int], like: Tensor
) -> Tensor:
    """Which places lie in a block of a list: its first `counts` blocks of keys, for each block of rows."""
    blocks = index.shape[-1]
    listed = torch.arange(blocks, device=index.device) < counts[..., None]
    members = torch.zeros(
        (*index.shape[:-1], blocks + 1), dtype=torch.bool, device=index.device
    )
    # What is not listed goes to a column of its own, which is left out.
    where = torch.where(listed, index.long(), blocks)
    members.scatter_(-1, where, True)
    members = members[..., :blocks]
    rows = torch.arange(like.shape[-2], device=index.device) // block_size[0]
    keys = torch.arange(like.shape[-1], device=index.device) // block_size[1]
    return members[..., rows, :][..., keys]
