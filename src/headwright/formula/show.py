r"""A tree written out again: LaTeX, plain text, MathML. What is written is read back as the same tree.

>>> from headwright.formula.parse import parse
>>> tree = parse(r"q = \log(t)(k_a + k_b)")
>>> print(latex(tree))
q = \ln(t) (k_{a} + k_{b})
>>> print(plain(tree))
q = ln(t) (k_a + k_b)
"""

from __future__ import annotations

from headwright.errors import InputError
from headwright.formula.tree import Node
from headwright.formula.writing.notation import LATEX, PLAIN
from headwright.formula.writing.writer import written


def latex(node: Node) -> str:
    r"""The formula in LaTeX.

    >>> from headwright.formula.parse import parse
    >>> print(latex(parse("alpha_a = e^lambda/(2e^lambda + n - 2)")))
    \alpha_{a} = \frac{e^{\lambda}}{2 e^{\lambda} + n - 2}
    """
    return written(node, LATEX)


def plain(node: Node) -> str:
    r"""The formula on one line, with Greek letters spelt out.

    >>> from headwright.formula.parse import parse
    >>> print(plain(parse(r"\lambda(k_a + k_b) \quad \forall a \ne b")))
    lambda (k_a + k_b) for a != b
    """
    return written(node, PLAIN)


def mathml(node: Node) -> str:
    r"""The formula in MathML, for a browser.

    >>> from headwright.formula.parse import parse
    >>> mathml(parse(r"\lambda k_a"))[:6]
    '<math '
    """
    try:
        from latex2mathml.converter import convert
    except ModuleNotFoundError as error:
        raise InputError("MathML needs the package latex2mathml, which is not installed: use latex or plain") from error
    return str(convert(latex(node)))
