"""Trees written out again: in LaTeX, and in plain text."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import partial
from typing import Final

from headwright.formula import tree as t
from headwright.formula.parser import candidates
from headwright.formula.spellings import FUNCTIONS, GREEK

_SPECIAL: Final = {"infinity": r"\infty", "ones": r"\mathbf{1}", "ell": r"\ell"}


# Signs and words: in LaTeX, and in plain text.
_WORDS: Final[Mapping[str, tuple[str, str]]] = {
    "=": ("=", "="), "!=": (r"\neq", "!="), "<": ("<", "<"), ">": (">", ">"), "<=": (r"\leq", "<="),
    ">=": (r"\geq", ">="), "~": (r"\approx", "~"), "<<": (r"\ll", "<<"), ">>": (r"\gg", ">>"), "->": (r"\to", "->"),
    "and": (r"\text{ and }", " and "), "or": (r"\text{ or }", " or "), "not": (r"\lnot ", "not "),
    "implies": (r" \implies ", " => "), "iff": (r" \iff ", " <=> "), "for": (r"\text{ for }", " for "),
    "some": (r"\text{ for some }", " for some "), "in": (r" \in ", " in "), "propto": (r" \propto ", " ∝ "),
    "drawn": (r" \sim ", " ~ "), "times": (r" \times ", " * "), "dot": (r" \cdot ", " · "),
}  # fmt: skip
_CALLS: Final[Mapping[str, tuple[str, str]]] = {
    **{word: (f"\\{word}", word) for word in ("ln", "exp", "sin", "cos", "max", "min", "prod", "sum")},
    "trace": (r"\operatorname{tr}", "trace"), "P": (r"\Pr", "Pr"), "E": (r"\mathbb{E}", "E"),
    "N": (r"\mathcal{N}", "𝒩"), "argmax": (r"\arg\max", "argmax"), "argmin": (r"\arg\min", "argmin"),
}  # fmt: skip


def number(value: Fraction) -> str:
    """A number as it can be read again: 21, 0.1, 1e-400; other fractions are written as quotients."""
    under = value.denominator
    places = next((count for count in range(under.bit_length()) if pow(10, count, under) == 0), None)
    if places is None:
        return f"{value.numerator}/{under}"
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


STATEMENT, RELATION, SUM, DOT, PRODUCT, FACTOR, ATOM = range(7)  # from what joins loosest to what joins tightest
_TALL: Final = (r"\frac", r"\sum", r"\begin")


class _Writer:
    """Writes LaTeX or plain text; the methods are named after the nodes they write."""

    def __init__(self, *, latex: bool) -> None:
        self.latex = latex
        self.words = {word: spelt[not latex] for word, spelt in _WORDS.items()}

    def at(self, node: t.Node, level: int) -> str:
        """The node, in brackets if it joins looser than its place allows."""
        text: str = getattr(self, type(node).__name__.lower())(node)
        return text if self.level(node) >= level else self.bracketed(text)

    def bracketed(self, text: str) -> str:
        if self.latex and any(word in text for word in _TALL):
            return rf"\left({text}\right)"
        return f"({text})"

    def level(self, node: t.Node) -> int:
        """How tightly the text of a node holds together."""
        if isinstance(node, t.STATEMENTS):
            return RELATION if isinstance(node, t.Relation | t.Bond) else STATEMENT
        if isinstance(node, t.Sum | t.Negative) or (isinstance(node, t.Number) and node.value < 0):
            return SUM
        if isinstance(node, t.BigSum | t.BigCall) or (isinstance(node, t.Product) and _is_open(node.factors[-1])):
            return DOT
        if isinstance(node, t.Inner):
            return DOT if _has_number(node) else ATOM
        if isinstance(node, t.Product) or (isinstance(node, t.Number) and "/" in number(node.value)):
            return PRODUCT
        if isinstance(node, t.Quotient):
            return FACTOR if self.latex else PRODUCT
        if isinstance(node, t.Power | t.Transpose) or (self.latex and self.is_exponential(node)):
            return FACTOR
        return ATOM

    def is_exponential(self, node: t.Node) -> bool:
        """Whether it is written e^{x}; e^{T} would be a transpose."""
        return isinstance(node, t.Call) and node.function == "exp" and node.arguments != (t.Name("T"),)

    # -- leaves

    def number(self, node: t.Number) -> str:
        return number(node.value)

    def name(self, node: t.Name) -> str:
        return self.base(node.base) + self.index(node.index) + "'" * node.primes

    def base(self, name: str) -> str:
        """A name without its index: alphahat, tol."""
        if not self.latex or len(name) == 1:
            return name
        if name in _SPECIAL:
            return _SPECIAL[name]
        if name in GREEK:
            return f"\\{name}"
        for accent in ("hat", "tilde", "bar", "star"):
            stem = name.removesuffix(accent)
            if stem != name and (len(stem) == 1 or stem in GREEK):
                inner = self.base(stem)
                return f"{{{inner}^{{*}}}}" if accent == "star" else rf"\{accent}{{{inner}}}"
        return rf"\mathrm{{{name}}}"

    def dots(self, _: t.Dots) -> str:
        return r"\dots" if self.latex else "..."

    def gap(self, _: t.Gap) -> str:
        return ""

    def domain(self, node: t.Domain) -> str:
        return rf"\mathbb{{{node.letter}}}" if self.latex else {"R": "ℝ", "Z": "ℤ", "N": "ℕ"}[node.letter]

    def index(self, node: t.Node | None) -> str:
        if node is None:
            return ""
        if isinstance(node, t.Listing):
            return "_{" + ",".join(self.inside_index(item) for item in node.items) + "}"
        text = self.inside_index(node)
        short = isinstance(node, t.Name) and node.index is None and not node.primes and len(text) == 1
        return f"_{text}" if not self.latex and (short or text.isdigit()) else f"_{{{text}}}"

    def inside_index(self, node: t.Node) -> str:
        if isinstance(node, t.Name) and node.index is None and not node.primes:
            is_label = self.latex and node.base in FUNCTIONS  # k_{max}
            return rf"\text{{{node.base}}}" if is_label else self.base(node.base)
        return self.at(node, SUM)

    # -- arithmetic

    def negative(self, node: t.Negative) -> str:
        return "-" + self.at(node.body, DOT)

    def sum(self, node: t.Sum) -> str:
        signs = ["-" if isinstance(term, t.Negative) else "+" for term in node.terms]
        texts = [self.at(term.body if isinstance(term, t.Negative) else term, DOT) for term in node.terms]
        others = "".join(f" {sign} {text}" for sign, text in zip(signs[1:], texts[1:], strict=True))
        return ("-" if signs[0] == "-" else "") + texts[0] + others

    def product(self, node: t.Product) -> str:
        text = ""
        last: t.Node | None = None
        for place, factor in enumerate(node.factors):
            ends = place == len(node.factors) - 1 and _is_open(factor)
            part = self.at(factor, DOT if ends else FACTOR)
            if last is not None:
                text += self.words["times"] if _needs_sign(last, factor, part) else " "
            text += part
            last = factor
        return text

    def quotient(self, node: t.Quotient) -> str:
        if self.latex:
            return rf"\frac{{{self.at(node.over, SUM)}}}{{{self.at(node.under, SUM)}}}"
        return f"{self.at(node.over, PRODUCT)}/{self.at(node.under, FACTOR)}"

    def power(self, node: t.Power) -> str:
        if isinstance(node.base, t.Domain) and isinstance(node.exponent, t.Product):  # R^{T x d}
            sizes = self.words["times"].join(self.at(part, FACTOR) for part in node.exponent.factors)
            return self.at(node.base, ATOM) + (f"^{{{sizes}}}" if self.latex else f"^({sizes})")
        return self.at(node.base, ATOM) + self.upper(node.exponent)

    def upper(self, node: t.Node) -> str:
        text = self.at(node, SUM)
        if node == t.Name("T"):
            text = "(T)"
        if self.latex:
            return f"^{{{text}}}"
        alone = isinstance(node, t.Number) or (isinstance(node, t.Name) and node.index is None and not node.primes)
        return f"^{text}" if alone or text == "(T)" else f"^({text})"

    def transpose(self, node: t.Transpose) -> str:
        body = self.at(node.body, ATOM)
        if self.latex:
            return rf"{body}^\top"
        return f"{body}.T" if node.body == t.Name("e") else f"{body}^T"

    def inner(self, node: t.Inner) -> str:
        if _has_number(node):
            return self.at(node.left, PRODUCT) + self.words["dot"] + self.at(node.right, PRODUCT)
        inside = f"{self.at(node.left, SUM)}, {self.at(node.right, SUM)}"
        if self.latex:
            return rf"\langle {inside} \rangle"
        return f"inner({inside})" if "<" in inside or ">" in inside else f"<{inside}>"

    # -- functions

    def norm(self, node: t.Norm) -> str:
        inside = self.at(node.body, SUM)
        kind = f"_{node.kind}" if node.kind else ""
        return rf"\lVert {inside} \rVert{kind}" if self.latex else f"norm{kind}({inside})"

    def call(self, node: t.Call) -> str:
        level = STATEMENT if node.function == "P" else SUM
        inside = ", ".join(self.at(argument, level) for argument in node.arguments)
        if self.latex and self.is_exponential(node):
            return f"e^{{{inside}}}"
        if self.latex and node.function in ("ceil", "floor"):
            return rf"\l{node.function} {inside} \r{node.function}"
        if self.latex and node.function == "sqrt":
            return rf"\sqrt{{{inside}}}"
        if not self.latex and node.function == "E":
            return f"E[{inside}]"
        return self.called(node.function) + self.bracketed(inside)

    def called(self, function: str) -> str:
        return _CALLS.get(function, (rf"\operatorname{{{function}}}", function))[not self.latex]

    def bigsum(self, node: t.BigSum | t.BigCall) -> str:
        sign = self.called("sum" if isinstance(node, t.BigSum) else node.word)
        index = self.base(node.index.rstrip("'")) + "'" * node.index.count("'")
        ranges = [self.at(condition, RELATION) for condition in node.conditions]
        if node.lower is not None:
            ranges.insert(0, f"{index} = {self.at(node.lower, SUM)}")
        elif not node.conditions or next(candidates(node.conditions[0]), None) != node.index:
            ranges.insert(0, index)
        upper = "" if node.upper is None else f"^{{{self.at(node.upper, SUM)}}}"
        return f"{sign}_{{{', '.join(ranges)}}}{upper} {self.at(node.body, DOT)}"

    bigcall = bigsum

    def cases(self, node: t.Cases) -> str:
        write = partial(self.at, level=RELATION)
        rows = [(self.at(row.body, SUM), self.words["and"].join(map(write, row.conditions))) for row in node.branches]
        if self.latex:
            return r"\begin{cases} " + r" \\ ".join(f"{body} & {where}" for body, where in rows) + r" \end{cases}"
        return "cases(" + "; ".join(f"{body} for {where}" for body, where in rows) + ")"

    def listing(self, node: t.Listing) -> str:
        return self.bracketed(self.listed(node))

    def listed(self, node: t.Listing) -> str:
        return ", ".join(self.at(item, SUM) for item in node.items)

    def matrix(self, node: t.Matrix) -> str:
        rows = [[self.at(item, SUM) for item in row.items] for row in node.rows]
        if self.latex:
            return r"\begin{pmatrix} " + r" \\ ".join(" & ".join(row) for row in rows) + r" \end{pmatrix}"
        return "[" + ", ".join("[" + ", ".join(row) + "]" for row in rows) + "]"

    # -- statements

    def relation(self, node: t.Relation) -> str:
        text = self.at(node.terms[0], SUM)
        for sign, term in zip(node.comparisons, node.terms[1:], strict=True):
            text += f" {self.words[sign]} {self.at(term, SUM)}"
        return text.lstrip()

    def bond(self, node: t.Bond) -> str:
        right = self.at(node.right, SUM)
        if isinstance(node.right, t.Listing) and node.word == "in":
            right = rf"\{{{self.listed(node.right)}\}}" if self.latex else f"{{{self.listed(node.right)}}}"
        return self.at(node.left, SUM) + self.words[node.word] + right

    def logic(self, node: t.Logic) -> str:
        items = [self.at(item, RELATION) for item in node.items]
        word = self.words[node.word]
        return word + items[0] if node.word == "not" else word.join(items).lstrip()

    def quantified(self, node: t.Quantified | t.Exists) -> str:
        write = partial(self.at, level=RELATION)
        word = self.words["some" if isinstance(node, t.Exists) else "for"]
        between = word if isinstance(node.body, t.Gap) else self.words["and"]  # 'for a and b' alone would say b of a
        return (write(node.body) + word + between.join(map(write, node.conditions))).lstrip()

    exists = quantified


def _is_open(node: t.Node) -> bool:
    """Whether what follows would be read as a part of it."""
    return isinstance(node, t.BigSum | t.BigCall)


def _has_number(node: t.Inner) -> bool:
    """Whether a dot between numbers was meant: 2 · 3."""
    return isinstance(node.left, t.Number) or isinstance(node.right, t.Number)


def _needs_sign(last: t.Node, factor: t.Node, text: str) -> bool:
    """Whether two factors side by side would be read as something else."""
    match last, factor:
        case t.Number(), t.Quotient(t.Number(), t.Number()):
            return True
    return text[0].isdigit()


def latex(node: t.Node) -> str:
    r"""The formula in LaTeX.

    >>> from headwright.formula.parse import parse
    >>> print(latex(parse("alpha_a = e^lambda/(2e^lambda + n - 2)")))
    \alpha_{a} = \frac{e^{\lambda}}{2 e^{\lambda} + n - 2}
    """
    return _Writer(latex=True).at(node, STATEMENT)


def plain(node: t.Node) -> str:
    r"""The formula on one line, with Greek letters spelt out.

    >>> from headwright.formula import parse
    >>> plain(parse(r"\alpha_a \ge 1"))
    'alpha_a >= 1'
    """
    return _Writer(latex=False).at(node, STATEMENT)
