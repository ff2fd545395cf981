"""Trees written out again: in LaTeX, and in plain text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Final

from headwright.formulas import tree as t
from headwright.formulas.parser import candidates
from headwright.formulas.spellings import FUNCTIONS, GREEK

_SPECIAL: Final = {"infinity": r"\infty", "ones": r"\mathbf{1}", "ell": r"\ell"}


# Signs and words: in LaTeX, and in plain text.
_SPELT: Final[Mapping[str, tuple[str, str]]] = {
    "=": ("=", "="),
    "!=": (r"\neq", "!="),
    "<": ("<", "<"),
    ">": (">", ">"),
    "<=": (r"\leq", "<="),
    ">=": (r"\geq", ">="),
    "~": (r"\approx", "~"),
    "<<": (r"\ll", "<<"),
    ">>": (r"\gg", ">>"),
    "->": (r"\to", "->"),
    "and": (r"\text{ and }", " and "),
    "or": (r"\text{ or }", " or "),
    "not": (r"\lnot ", "not "),
    "implies": (r" \implies ", " => "),
    "iff": (r" \iff ", " <=> "),
    "for": (r"\text{ for }", " for "),
    "some": (r"\text{ for some }", " for some "),
    "in": (r" \in ", " in "),
    "propto": (r" \propto ", " ∝ "),
    "drawn": (r" \sim ", " ~ "),
    "times": (r" \times ", " * "),
    "dot": (r" \cdot ", " · "),
    "entrywise": (r" \odot ", " ⊙ "),
}
_DOMAINS: Final[Mapping[str, str]] = {"R": "ℝ", "Z": "ℤ", "N": "ℕ"}
_WORDS: Final = tuple(
    {word: both[place] for word, both in _SPELT.items()} for place in (0, 1)
)
_CALLS: Final[Mapping[str, tuple[str, str]]] = {
    **{
        word: (f"\\{word}", word)
        for word in ("ln", "exp", "sin", "cos", "max", "min", "sum")
    },
    "trace": (r"\operatorname{tr}", "trace"),
    "P": (r"\Pr", "Pr"),
    "E": (r"\mathbb{E}", "E"),
    "N": (r"\mathcal{N}", "𝒩"),
}


def number(value: Fraction) -> str:
    """A number as it can be read again: 21, 0.1, 1e-400; other fractions are written as quotients."""
    under = value.denominator
    places = next(
        (count for count in range(under.bit_length()) if pow(10, count, under) == 0),
        None,
    )
    if places is None:
        return f"{value.numerator}/{under}"
    sign, digits = "-" * (value < 0), str(abs(value.numerator) * 10**places // under)
    if not places:
        return sign + digits
    digits = digits.rjust(places + 1, "0")
    return f"{sign}{digits[:-places]}.{digits[-places:]}"


STATEMENT, RELATION, SUM, DOT, PRODUCT, FACTOR, ATOM = range(
    7
)  # from what joins loosest to what joins tightest
_TALL: Final = (r"\frac", r"\sum", r"\begin")


def _is_dotted(left: t.Node, right: t.Node) -> bool:
    """Whether a dot is shown as one: 2 · 3, lambda · (k_a + k_b), v · 1/2, which may be an ordinary product."""
    return _is_number(left) or _is_number(right)


def _is_number(node: t.Node) -> bool:
    """Whether a term is a number by its looks: 2, 1/2, lambda, sqrt(2)."""
    match node:
        case t.Number():
            return True
        case t.Name():
            return t.is_letter(node) and node.base in GREEK
        case t.Quotient(over, under):
            return _is_number(over) and _is_number(under)
        case t.Call("sqrt" | "ln" | "exp", (body,)):
            return _is_number(body)
        case _:
            return False


@dataclass(frozen=True)
class _Writer:
    """Writes LaTeX or plain text."""

    latex: bool
    words: Mapping[str, str]

    def at(self, node: t.Node, level: int) -> str:
        """The node, in brackets if it joins looser than its place allows."""
        text = (
            self.statement(node) if isinstance(node, t.STATEMENTS) else self.term(node)
        )
        return text if self.level(node) >= level else self.bracketed(text)

    def bracketed(self, text: str) -> str:
        if self.latex and any(word in text for word in _TALL):
            return rf"\left({text}\right)"
        return f"({text})"

    def level(self, node: t.Node) -> int:
        """How tightly the text of a node holds together."""
        match node:
            case t.Relation() | t.Bond():
                return RELATION
            case t.Logic() | t.Quantified() | t.Exists():
                return STATEMENT
            case t.Sum() | t.Negative():
                return SUM
            case t.Number(value):
                return SUM if value < 0 else PRODUCT if "/" in number(value) else ATOM
            case t.BigSum() | t.BigCall() | t.Product((*_, t.BigSum() | t.BigCall())):
                return DOT
            case t.Inner(left, right) if _is_dotted(left, right):
                return DOT
            case t.Call(t.HADAMARD):
                return DOT
            case t.Product():
                return PRODUCT
            case t.Quotient() | t.Derivative():
                return FACTOR if self.latex else PRODUCT
            case t.Power() | t.Transpose():
                return FACTOR
            case t.Call("exp", argument) if self.latex and argument != (t.Name("T"),):
                return FACTOR
            case _:
                return ATOM

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
                return (
                    f"{{{inner}^{{*}}}}"
                    if accent == "star"
                    else rf"\{accent}{{{inner}}}"
                )
        return rf"\mathrm{{{name}}}"

    def index(self, node: t.Node) -> str:
        """What stands below a name."""
        items = []
        for item in t.listed(node):
            if (
                self.latex
                and t.is_letter(item)
                and isinstance(item, t.Name)
                and item.base in FUNCTIONS
            ):  # k_{max}
                items.append(rf"\text{{{item.base}}}")
            else:
                items.append(self.at(item, SUM))
        text = ",".join(items)
        if not text:  # the size of an I that is not known yet
            return ""
        short = (t.is_letter(node) and len(text) == 1) or text.isdigit()
        return f"_{text}" if not self.latex and short else f"_{{{text}}}"

    def product(self, factors: tuple[t.Node, ...]) -> str:
        text = ""
        for place, factor in enumerate(factors):
            last = place == len(factors) - 1 and isinstance(
                factor, t.BigSum | t.BigCall
            )
            part = self.at(factor, DOT if last else FACTOR)
            if place:
                match factors[place - 1], factor:
                    case t.Number(), t.Quotient(t.Number(), t.Number()):
                        needs_sign = True
                    case _:
                        needs_sign = part[0].isdigit()
                text += self.words["times"] if needs_sign else " "
            text += part
        return text

    def term(self, node: t.Node) -> str:
        """What has a value."""
        match node:
            case t.Number(value):
                return number(value)
            case t.Name(base, index, primes):
                below = "" if index is None else self.index(index)
                return self.base(base) + below + "'" * primes
            case t.Negative(body):
                return "-" + self.at(body, DOT)
            case t.Sum(terms):
                return self.sum(terms)
            case t.Product(factors):
                return self.product(factors)
            case t.Quotient(over, under):
                return self.quotient(over, under)
            case t.Power(base, exponent):
                return self.power(base, exponent)
            case t.Transpose(body):
                return self.transpose(body)
            case t.Inner(left, right):
                return self.inner(left, right)
            case t.Norm(body, kind):
                return self.norm(body, kind)
            case t.Call(t.HADAMARD, (left, right)):
                sign = self.words["entrywise"]
                return self.at(left, DOT) + sign + self.at(right, PRODUCT)
            case t.Call(function, arguments):
                return self.call(function, arguments)
            case t.BigSum() | t.BigCall():
                return self.big(node)
            case t.Listing(items):
                return self.bracketed(", ".join(self.at(item, SUM) for item in items))
            case t.Matrix(rows):
                return self.matrix(rows)
            case t.Derivative(body, by):
                return self.derivative(body, by)
            case t.Domain(letter):
                return rf"\mathbb{{{letter}}}" if self.latex else _DOMAINS[letter]
            case t.Dots():
                return r"\dots" if self.latex else "..."
            case _:
                return ""

    def sum(self, terms: tuple[t.Node, ...]) -> str:
        """a + b - c."""
        text = ""
        for place, term in enumerate(terms):
            is_negative = isinstance(term, t.Negative)
            body = self.at(term.body if isinstance(term, t.Negative) else term, DOT)
            if place:
                text += f" {'-' if is_negative else '+'} {body}"
            else:
                text = f"-{body}" if is_negative else body
        return text

    def quotient(self, over: t.Node, under: t.Node) -> str:
        if self.latex:
            return rf"\frac{{{self.at(over, SUM)}}}{{{self.at(under, SUM)}}}"
        return f"{self.at(over, PRODUCT)}/{self.at(under, FACTOR)}"

    def power(self, base: t.Node, exponent: t.Node) -> str:
        text = self.at(exponent, SUM)
        is_bare = isinstance(exponent, t.Number) or (
            t.is_letter(exponent) and not text.endswith("'")
        )
        if exponent == t.Name("T"):  # x^T would be a transpose
            text, is_bare = "(T)", True
        if isinstance(base, t.Domain) and isinstance(exponent, t.Product):
            sizes = [self.at(part, FACTOR) for part in exponent.factors]
            text, is_bare = self.words["times"].join(sizes), False  # R^{T x d}
        if self.latex:
            return f"{self.at(base, ATOM)}^{{{text}}}"
        return self.at(base, ATOM) + (f"^{text}" if is_bare else f"^({text})")

    def transpose(self, body: t.Node) -> str:
        if self.latex:
            return rf"{self.at(body, ATOM)}^\top"
        return self.at(body, ATOM) + (".T" if body == t.Name("e") else "^T")

    def inner(self, left: t.Node, right: t.Node) -> str:
        if _is_dotted(left, right):
            return self.at(left, PRODUCT) + self.words["dot"] + self.at(right, PRODUCT)
        inside = f"{self.at(left, SUM)}, {self.at(right, SUM)}"
        if self.latex:
            return rf"\langle {inside} \rangle"
        is_ambiguous = set("<>=,") & set(inside.replace(", ", "", 1))
        return f"inner({inside})" if is_ambiguous else f"<{inside}>"

    def norm(self, body: t.Node, kind: str) -> str:
        inside, below = self.at(body, SUM), f"_{kind}" if kind else ""
        if self.latex:
            return rf"\lVert {inside} \rVert{below}"
        return f"norm{below}({inside})"

    def derivative(self, body: t.Node, by: t.Node) -> str:
        if self.latex:
            numerator, denominator = self.at(body, FACTOR), self.at(by, FACTOR)
            return rf"\frac{{\partial {numerator}}}{{\partial {denominator}}}"
        return f"∂{self.at(body, ATOM)}/∂{self.at(by, ATOM)}"

    def matrix(self, rows: tuple[t.Listing, ...]) -> str:
        texts = [[self.at(entry, SUM) for entry in row.items] for row in rows]
        if self.latex:
            lines = r" \\ ".join(" & ".join(row) for row in texts)
            return rf"\begin{{pmatrix}} {lines} \end{{pmatrix}}"
        return "[" + ", ".join(f"[{', '.join(row)}]" for row in texts) + "]"

    def call(self, function: str, arguments: tuple[t.Node, ...]) -> str:
        inside = ", ".join(
            self.at(part, STATEMENT if function == "P" else SUM) for part in arguments
        )
        if (
            self.latex and function == "exp" and arguments != (t.Name("T"),)
        ):  # e^{T} would be a transpose
            return f"e^{{{inside}}}"
        if self.latex and function == "sqrt":
            return rf"\sqrt{{{inside}}}"
        if not self.latex and function == "E":
            return f"E[{inside}]"
        return _CALLS.get(function, (rf"\operatorname{{{function}}}", function))[
            not self.latex
        ] + self.bracketed(inside)

    def big(self, node: t.BigSum | t.BigCall) -> str:
        sign = _CALLS["sum" if isinstance(node, t.BigSum) else node.word][
            not self.latex
        ]
        index = self.base(node.index.rstrip("'")) + "'" * node.index.count("'")
        ranges = [self.at(condition, RELATION) for condition in node.conditions]
        if node.lower is not None:
            ranges.insert(0, f"{index} = {self.at(node.lower, SUM)}")
        elif (
            not node.conditions
            or next(candidates(node.conditions[0]), None) != node.index
        ):
            ranges.insert(0, index)
        upper = "" if node.upper is None else f"^{{{self.at(node.upper, SUM)}}}"
        return f"{sign}_{{{', '.join(ranges)}}}{upper} {self.at(node.body, DOT)}"

    def statement(self, node: t.Node) -> str:
        """What is true or false."""
        write = partial(self.at, level=RELATION)
        match node:
            case t.Relation((first, *terms), signs):
                links = [
                    f" {self.words[sign]} {self.at(term, SUM)}"
                    for sign, term in zip(signs, terms, strict=True)
                ]
                return "".join([self.at(first, SUM), *links]).lstrip()
            case t.Bond(word, left, right):
                last = self.at(right, SUM)
                if isinstance(right, t.Listing) and word == "in":
                    items = ", ".join(self.at(item, SUM) for item in right.items)
                    last = rf"\{{{items}\}}" if self.latex else f"{{{items}}}"
                return self.at(left, SUM) + self.words[word] + last
            case t.Logic("not", (item,)):
                return self.words["not"] + write(item)
            case t.Logic(word, items):
                return self.words[word].join(map(write, items)).lstrip()
            case t.Quantified(body, conditions) | t.Exists(body, conditions):
                said = self.words["some" if isinstance(node, t.Exists) else "for"]
                between = (
                    said if isinstance(body, t.Gap) else self.words["and"]
                )  # 'for a and b' alone would say b of a
                return (
                    write(body) + said + between.join(map(write, conditions))
                ).lstrip()
            case _:
                return ""


def latex(node: t.Node) -> str:
    r"""The formula in LaTeX.

    >>> from headwright.formulas.parse import parse
    >>> print(latex(parse("alpha_a = e^lambda/(2e^lambda + n - 2)")))
    \alpha_{a} = \frac{e^{\lambda}}{2 e^{\lambda} + n - 2}
    """
    return _Writer(True, _WORDS[0]).at(node, STATEMENT)


def plain(node: t.Node) -> str:
    r"""The formula on one line, with Greek letters spelt out.

    >>> from headwright.formulas import parse
    >>> plain(parse(r"\alpha_a \ge 1"))
    'alpha_a >= 1'
    """
    return _Writer(False, _WORDS[1]).at(node, STATEMENT)
