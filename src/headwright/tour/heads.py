"""A chapter about designing a whole head from rules."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import numpy as np

from headwright import weights
from headwright.enclosure import shown_above, shown_below
from headwright.errors import HeadwrightError
from headwright.files import write_whole
from headwright.tour.chapter import Chapter
from headwright.verification import verify
from headwright.weights.export import export

RULES = """\
dimension = 8
directions = { a = 2.0, b = 2.0, c = 2.0, d = 2.0 }
tokens = ["d + b", "a", "c + b"]

[[rule]]
token = 0
output = "b - c"
tolerance = 0.01

[[rule]]
token = 1
output = "b"
tolerance = 0.01
"""


def whole_head(out: Path) -> Chapter:
    """A head designed from rules, verified, exported and run."""
    write_whole(out / "route.toml", RULES.encode())
    built = weights.build(weights.parse_rules(RULES), dtype="float32")
    if built.layer is None or built.certificate is None:
        raise HeadwrightError(f"the head of the tour was not built: {built.words}")
    folder = out / "route"
    export(built, folder)
    tokens = built.rules.sequences[0]
    library, ran = _run(built.layer, folder, tokens)
    worst = float(np.abs(ran - weights.outputs(built.layer, tokens)).max())
    return Chapter(
        "Design a whole head from rules",
        f"The rules: token 0 outputs b - c, and token 1 outputs b. The designed head has dimension "
        f"«{built.head_dim}» and "
        rf"$\Vert W_K^\top W_Q\Vert_F||W_K^T W_Q|_F$ = «{shown_above(built.frobenius, 4)}». Every head with the same "
        f"attention weights has at least «{shown_below(built.lower_bound, 4)}» (proved). The verdict on the "
        f"certificate: "
        f"{verify(built.certificate).word}."
        "\n\n"
        f"The weights are exported to {folder}. Run by {library}, they give the certified outputs up to {worst:.0e} "
        f"(floating-point).",
        built.picture(),
        "whole-head",
        (f"headwright design --rules {out}/route.toml --dtype float32 --export {out}/route",),
    )


def _run(layer: weights.HeadLayer, folder: Path, tokens: np.ndarray) -> tuple[str, np.ndarray]:
    """The outputs of the exported weights, run by PyTorch if it is installed, otherwise by NumPy."""
    if find_spec("torch") is None:
        from headwright.weights.export import load_layer

        return "NumPy", weights.outputs(load_layer(folder), tokens)
    from headwright.weights.export import load_torch, run_torch
    from headwright.weights.export.torch_layer import TORCH

    module, shape = load_torch(folder / TORCH)
    del layer
    return "a stock torch.nn.MultiheadAttention", np.asarray(run_torch(module, shape, tokens)[0])
