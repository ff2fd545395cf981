"""headwright design, for rules with layers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from headwright.cli.console import next_step, progress, say, show_json, show_line

if TYPE_CHECKING:
    from headwright.weights.circuit import Circuit, CircuitRules


def design_circuit(circuit: CircuitRules, minimise: str, dtype: str, out: Path | None, *, json: bool) -> str:
    """Design a circuit, say what was found, and write its certificate; the verdict."""
    from headwright.files import write_whole
    from headwright.weights.circuit import build_circuit

    with progress("designing") as report:
        found = build_circuit(circuit, minimise=minimise, dtype=dtype, progress=report)
    written = str(out) if out is not None and found.certificate is not None else None
    if out is not None and found.certificate is not None:
        write_whole(out, found.certificate.encode())
    if json:
        show_json(_as_json(found, written))
    else:
        _print(found, written)
    return found.word


def _as_json(found: Circuit, written: str | None) -> dict[str, object]:
    return {
        "verdict": found.word,
        "errors": list(found.errors),
        "layers": [
            {
                "frobenius": built.frobenius,
                "head_dim": built.head_dim,
                "heads": [
                    {
                        name: W.tolist()
                        for name in ("W_Q", "W_K", "W_V", "b_Q", "b_V")
                        if (W := getattr(head, name)) is not None
                    }
                    for head in (built.layer.heads if built.layer else ())
                ],
            }
            for built in found.layers
        ],
        "checkers": list(found.checkers),
        "certificate": written,
        "words": found.words,
        "kinds": {"errors": "proven", "layers.frobenius": "proven", "layers.heads": "exact"},
    }


def _print(found: Circuit, written: str | None) -> None:
    from headwright.enclosure import shown_above
    from headwright.verification import in_words

    by = f" ({in_words(found.checkers)})" if found.checkers else ""
    show_line(f"{found.word}{by}: {found.words}")
    for number, built in enumerate(found.layers):
        show_line(
            f"layer {number}: head dimension {built.head_dim}, Frobenius norm of W_K^T W_Q at most "
            f"{shown_above(built.frobenius, 8)}"
        )
    for number, error in enumerate(found.errors):
        show_line(
            f"tokens come out of layer {number} within {shown_above(error)} of where layer {number + 1} expects them"
        )
    if written is not None:
        say(f"The certificate is in {written}; check it with:", next_step("verify", written))
