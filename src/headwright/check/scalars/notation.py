r"""Two ways to write the same: plain text, and LaTeX for a page."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

SUM, PRODUCT, POWER, ATOM = range(4)  # how tightly a piece of text holds together

GREEK = frozenset(
    (
        "alpha",
        "beta",
        "gamma",
        "delta",
        "epsilon",
        "zeta",
        "eta",
        "theta",
        "iota",
        "kappa",
        "lambda",
        "mu",
        "nu",
        "xi",
        "rho",
        "sigma",
        "tau",
        "phi",
        "chi",
        "psi",
        "omega",
        "Gamma",
        "Delta",
        "Theta",
        "Lambda",
        "Xi",
        "Sigma",
        "Phi",
        "Psi",
        "Omega",
    )
)


@dataclass(frozen=True)
class Piece:
    """Text, and how tightly it holds together."""

    text: str
    level: int = ATOM

    def __len__(self) -> int:
        return len(self.text)


class Plain:
    """n/epsilon, e^(2 lambda), sqrt(2)."""

    def name(self, name: str) -> Piece:
        """A name."""
        return Piece(name)

    def pi(self) -> Piece:
        """The number pi."""
        return Piece("pi")

    def held(self, piece: Piece, level: int) -> str:
        """The text, in brackets where it does not hold together tightly enough."""
        return piece.text if piece.level >= level else f"({piece.text})"

    def product(self, factors: list[Piece]) -> Piece:
        """Factors side by side."""
        if len(factors) == 1:
            return factors[0]
        return Piece(" ".join(self.held(one, POWER) for one in factors), PRODUCT)

    def fraction(self, over: Piece, under: Piece) -> Piece:
        """over / under."""
        return Piece(f"{self.held(over, PRODUCT)}/{self.held(under, POWER)}", PRODUCT)

    def rational(self, value: Fraction) -> Piece:
        """A rational number that is not negative."""
        if value.denominator == 1:
            return Piece(str(value.numerator))
        return self.fraction(Piece(str(value.numerator)), Piece(str(value.denominator)))

    def power(self, base: Piece, exponent: Piece) -> Piece:
        """base ^ exponent."""
        return Piece(f"{self.held(base, ATOM)}^{self.held(exponent, ATOM)}", POWER)

    def root(self, body: Piece) -> Piece:
        """A square root."""
        return Piece(f"sqrt({body.text})")

    def call(self, function: str, body: Piece) -> Piece:
        """A function of something."""
        return Piece(f"|{body.text}|") if function == "abs" else Piece(f"{function}({body.text})")

    def sum(self, terms: list[tuple[bool, Piece]]) -> Piece:
        """Terms, each with whether it is subtracted."""
        text = ""
        for minus, piece in terms:
            shown = self.held(piece, PRODUCT)
            text += f"{' - ' if minus else ' + '}{shown}" if text else f"{'-' if minus else ''}{shown}"
        return Piece(text, SUM if len(terms) > 1 or terms[0][0] else terms[0][1].level)


class Latex(Plain):
    r"""\frac{n}{\epsilon}, e^{2 \lambda}, \sqrt{2}."""

    def name(self, name: str) -> Piece:
        r"""A name: lambda is \lambda, k_1 is k_{1}."""
        base, _, index = name.partition("_")
        stem = base.rstrip("'")
        shown = f"\\{stem}" if stem in GREEK else stem if len(stem) == 1 else f"\\mathrm{{{stem}}}"
        shown += base[len(stem) :]
        return Piece(f"{shown}_{{{index.strip('{}')}}}" if index else shown)

    def pi(self) -> Piece:
        """The number pi."""
        return Piece("\\pi")

    def held(self, piece: Piece, level: int) -> str:
        """The text, in brackets where it does not hold together tightly enough."""
        return piece.text if piece.level >= level else f"\\left({piece.text}\\right)"

    def fraction(self, over: Piece, under: Piece) -> Piece:
        """over / under."""
        return Piece(f"\\frac{{{over.text}}}{{{under.text}}}", POWER)

    def power(self, base: Piece, exponent: Piece) -> Piece:
        """base ^ exponent."""
        return Piece(f"{self.held(base, ATOM)}^{{{exponent.text}}}", POWER)

    def root(self, body: Piece) -> Piece:
        """A square root."""
        return Piece(f"\\sqrt{{{body.text}}}")

    def call(self, function: str, body: Piece) -> Piece:
        """A function of something."""
        if function == "abs":
            return Piece(f"\\left|{body.text}\\right|")
        if body.level == ATOM:
            return Piece(f"\\{function} {body.text}", POWER)
        return Piece(f"\\{function}\\left({body.text}\\right)")
