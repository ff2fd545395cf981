"""A fuzzer for the formula language, run by `make fuzz` and never by the tests.

    python fuzz/parse.py -max_total_time=3600

It needs the package atheris. Whatever is given must be read or refused with a FormulaError; what is read must be
written and read again as the same tree.
"""

from __future__ import annotations

import re
import sys
from importlib import import_module
from typing import Any

atheris: Any = import_module("atheris")

with atheris.instrument_imports(include=["headwright.formulas"]):
    from headwright.formulas import FormulaError, latex, parse, plain
    from headwright.formulas.spellings import FUNCTIONS
    from headwright.formulas.tree import Name, walk

# Separated by spaces, as they would be in a formula.
WORDS = (
    r"\frac \sqrt{ } ( ) [ ] | || \| \left( \right) \langle \rangle < > <= = != ~ -> => \\ & \begin{pmatrix} "
    r"\end{pmatrix} , ; : . ' ^ _ ** * / + - 1 12 0.5 1e3 x y T k_a e \lambda eps λ \top .T ² ₁ \sum_{i=1}^n \sum_ "
    r"\lim_{x\to0} \text{for every} \text{and} for when if then and or not \quad \mathbf{1} \mathbf \hat{x} \ln sin "
    r"\operatorname{tr} log2 softmax( max( norm_F( \Pr( \mathbb{E}[ \dots % $ @ PQ QK^T k1 [[1,0],[0,1]] ᵀ ‖ ∑ "
    r"\left| \right| \in \notin \mathbb{R} \perp \propto \not \begin{cases} \end{cases} \text{otherwise} "
    r"(\text{since} \max_{i\ne1} \arg\max_i \underbrace{ \overset{1}{=} ½ q^* k^{(1)} Z^{\text{perm}} "
    r"\mathcal{N}(a,b) large integer \exists i=1,\dots,n \in[0,1) \quad(5) \newcommand{\a}{x} \a \def\b{\b} \b"
)
PIECES = re.split(" ", WORDS)


def one(data: bytes) -> None:
    """One input: half of them are raw text, half are words of the language."""
    provider = atheris.FuzzedDataProvider(data)
    if provider.ConsumeBool():
        source = provider.ConsumeUnicodeNoSurrogates(2000)
    else:
        pieces = [
            PIECES[provider.ConsumeIntInRange(0, len(PIECES) - 1)]
            for _ in range(provider.ConsumeIntInRange(0, 60))
        ]
        source = (" " if provider.ConsumeBool() else "").join(pieces)
    try:
        tree = parse(source)
    except FormulaError as error:
        str(error)
        return
    names = {
        node.base
        for node in walk(tree)
        if isinstance(node, Name) and len(node.base) > 1
    } - FUNCTIONS.keys()
    for text, known in ((latex(tree), set[str]()), (plain(tree), names)):
        try:
            again = parse(text, names=known)
        except FormulaError as error:
            raise AssertionError(
                f"{source!r} was written as {text!r}, which is not read"
            ) from error
        if again != tree:
            raise AssertionError(
                f"{source!r} was written as {text!r}, which is read otherwise"
            )


if __name__ == "__main__":
    atheris.Setup(sys.argv, one)
    atheris.Fuzz()
