"""One call of torch's attention with the statistics of its pattern."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from headwright.errors import InputError
from headwright.models.attention_calls import without_autocast
from headwright.models.sdpa_calls import SDPA, check_tensor, describe_sdpa, of_four_axes
from headwright.statistics.attention_rows import AttentionRows
from headwright.statistics.request import StatisticsRequest
from headwright.watching.names import SPOILT
from headwright.watching.statistics import statistics_of


def attend_with_statistics(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    wanted: StatisticsRequest,
    **options: Any,
) -> tuple[Tensor, dict[str, Tensor]]:
    """What scaled_dot_product_attention returns with these options; by name, (batch, heads, rows) and so on."""
    if wanted.asks(("special", "keys")):
        raise InputError(
            "the tokens are not known: expected other statistics than special, keys"
        )
    check_tensor(query)
    output = SDPA(query, key, value, **options)
    arguments = {"query": query, "key": key, "value": value, **options}
    with torch.no_grad(), without_autocast(query.device.type):
        call = of_four_axes(describe_sdpa(None, arguments, output)).to_last_key()
        rows, keys = call.queries.shape[2], call.keys.shape[2]
        attention = AttentionRows(
            call.queries,
            call.keys,
            call.scale,
            mask=call.mask,
            causal=call.causal,
            row_position=max(0, keys - rows),
        )
        computed = statistics_of(attention, wanted)
    statistics = {name: computed[name] for name in computed if name != SPOILT}
    return output, statistics
