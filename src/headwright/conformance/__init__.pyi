from .checking import assert_attention, conform
from .contracts import CONTRACTS, Contract
from .inputs import attention_inputs
from .models import conforming, expect
from .probes import visible_keys

__all__ = [
    "CONTRACTS",
    "Contract",
    "assert_attention",
    "attention_inputs",
    "conform",
    "conforming",
    "expect",
    "visible_keys",
]
