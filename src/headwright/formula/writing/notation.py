"""The two notations in which a tree is written, as data: LaTeX and plain text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from headwright.formula.reading.spellings import FUNCTIONS, GREEK
from headwright.formula.tree import Comparison

_ACCENTS: Final = ("hat", "tilde", "bar")


@dataclass(frozen=True)
class Notation:
    """How signs and words are spelt; whether fractions and exponents are set with braces."""

    is_latex: bool
    signs: Mapping[Comparison, str]
    words: Mapping[str, str]
    times: str
    dot: str
    calls: Mapping[str, str]


LATEX: Final = Notation(
    True,
    {
        "=": "=",
        "!=": r"\neq",
        "<": "<",
        ">": ">",
        "<=": r"\leq",
        ">=": r"\geq",
        "~": r"\approx",
        "<<": r"\ll",
        ">>": r"\gg",
        "->": r"\to",
    },
    {
        "and": r"\text{ and }",
        "or": r"\text{ or }",
        "not": r"\lnot ",
        "implies": r" \implies ",
        "iff": r" \iff ",
        "for": r"\text{ for }",
    },
    r" \times ",
    r" \cdot ",
    {
        "ln": r"\ln",
        "exp": r"\exp",
        "sin": r"\sin",
        "cos": r"\cos",
        "max": r"\max",
        "min": r"\min",
        "trace": r"\operatorname{tr}",
        "P": r"\Pr",
        "E": r"\mathbb{E}",
    },
)
PLAIN: Final = Notation(
    False,
    {sign: sign for sign in LATEX.signs},
    {"and": " and ", "or": " or ", "not": "not ", "implies": " => ", "iff": " <=> ", "for": " for "},
    " * ",
    " · ",
    {"P": "Pr", "E": "expectation"},
)


def called(function: str, notation: Notation) -> str:
    """The name of a function.

    >>> called("softmax", LATEX), called("softmax", PLAIN)
    ('\\\\operatorname{softmax}', 'softmax')
    """
    if function in notation.calls:
        return notation.calls[function]
    return rf"\operatorname{{{function}}}" if notation.is_latex else function


def base(name: str, notation: Notation) -> str:
    r"""A name without its index.

    >>> print(base("alphahat", LATEX), base("tol", LATEX), base("tol", PLAIN))
    \hat{\alpha} \mathrm{tol} tol
    """
    if not notation.is_latex or len(name) == 1:
        return name
    special = {"infinity": r"\infty", "ones": r"\mathbf{1}", "ell": r"\ell"}
    if name in special:
        return special[name]
    if name in GREEK:
        return f"\\{name}"
    for accent in _ACCENTS:
        stem = name.removesuffix(accent)
        if stem != name and (len(stem) == 1 or stem in GREEK):
            return rf"\{accent}{{{base(stem, notation)}}}"
    return rf"\mathrm{{{name}}}"


def label(name: str, notation: Notation) -> str:
    r"""A word in an index: k_{max}, d_{model}.

    >>> print(label("max", LATEX), label("max", PLAIN), label("a", LATEX))
    \text{max} max a
    """
    if name in FUNCTIONS and notation.is_latex:
        return rf"\text{{{name}}}"
    return base(name, notation)


def number(value: Fraction) -> str:
    """A number as it can be read again: 21, 0.1, 1e-400; other fractions are written as quotients.

    >>> number(Fraction(1, 10)), number(Fraction(10**30)), number(Fraction(-1, 3))
    ('0.1', '1e30', '-1/3')
    """
    under = value.denominator
    twos, fives = _power(under, 2), _power(under, 5)
    if 2**twos * 5**fives != under:
        return f"{value.numerator}/{under}"
    places = max(twos, fives)
    sign, digits = "-" * (value < 0), str(abs(value.numerator) * 10**places // under)
    stripped = digits.rstrip("0")
    if stripped and (places > 20 or len(digits) - len(stripped) > 20):
        exponent = len(digits) - 1 - places
        rest = f".{stripped[1:]}" if len(stripped) > 1 else ""
        return f"{sign}{stripped[0]}{rest}e{exponent}"
    if not places:
        return sign + digits
    digits = digits.rjust(places + 1, "0")
    return f"{sign}{digits[:-places]}.{digits[-places:]}"


def _power(whole: int, prime: int) -> int:
    """How often the prime divides the number."""
    count = 0
    while whole % prime == 0:
        whole //= prime
        count += 1
    return count
