r"""The same mathematics, spelled otherwise, and clauses that settle a name of an answer's own.

An answer and its respellings must not get verdicts of which one is `proved` and the other `refuted`. `restricted` puts
a value for an own name into an answer in many ways; what is right for a large value only is then not `proved`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from headwright.formulas import FormulaError, latex, parse, plain

_INLINE = re.compile(r"(?<![\\$])\$(?!\$)([^$\n]+)(?<!\\)\$(?!\$)")
_UNICODE = {
    r"\lambda": "λ",
    r"\epsilon": "ε",
    r"\alpha": "α",
    r"\beta": "β",
    r"\mu": "μ",
    r"\tau": "τ",
    r"\sigma": "σ",
    r"\ge": "≥",
    r"\le": "≤",
    r"\geq": "≥",
    r"\leq": "≤",
    r"\ne": "≠",
    r"\neq": "≠",
    r"\gg": "≫",
    r"\approx": "≈",
    r"\infty": "∞",
    r"\to": "→",
}
# a number and its name, where a whole sentence binds a name behind the formula
_CLAUSE = re.compile(
    r"(?P<object>\$[^$\n]+\$),? (?P<binder>where|with) (?P<condition>\$[^$\n]*(?:=|\\ge?q?|\\gg)[^$\n]*\$)(?=[.,]|$)"
)


def in_formulas(text: str, change: Callable[[str], str]) -> str:
    """A text with the formulas within its lines changed."""
    return _INLINE.sub(lambda match: f"${change(match[1])}$", text)


def _renamed(text: str) -> str:
    """The answer's own Greek letters by other names."""
    for letter, other in ((r"\lambda", r"\zeta"), (r"\beta", r"\kappa")):
        if other not in text:
            text = re.sub(
                re.escape(letter) + r"(?![A-Za-z])", other.replace("\\", r"\\"), text
            )
    return text


def _without_fractions(formula: str) -> str:
    braced = r"\{([^{}]*)\}"
    formula = re.sub(rf"\\[td]?frac\s*{braced}\s*{braced}", r"((\1)/(\2))", formula)
    return re.sub(r"\\[td]?frac\s*(\d)\s*(\d)(?!\d)", r"(\1/\2)", formula)


def _with_fractions(formula: str) -> str:
    return re.sub(
        r"(?<![\w}])(\d|n)/(\\epsilon|\\delta|\d)(?![\w])", r"\\frac{\1}{\2}", formula
    )


def _with_logarithms(formula: str) -> str:
    if r"\log" in formula:
        return re.sub(r"\\log(?![A-Za-z_])", r"\\ln ", formula)
    return re.sub(r"\\ln(?![A-Za-z])", r"\\log ", formula)


def _with_dots(formula: str) -> str:
    return re.sub(
        r"(\\(?:lambda|beta|gamma|eta|tau|zeta|kappa))\s*\(", r"\1 \\cdot (", formula
    )


def _with_left_right(formula: str) -> str:
    if r"\left" in formula or formula.count("(") != formula.count(")"):
        return formula
    return formula.replace("(", r"\left(").replace(")", r"\right)")


def _in_unicode(formula: str) -> str:
    for command, sign in _UNICODE.items():
        formula = re.sub(re.escape(command) + r"(?![A-Za-z])", sign, formula)
    return formula


def _reprinted(formula: str) -> str:
    try:
        return latex(parse(formula))
    except FormulaError:
        return formula


def _displayed(text: str) -> str:
    """Each formula that defines something as a display of its own."""
    return re.sub(
        r"\$((?:q|M|B|K|Q|V|c|r|s|\\tau)(?:_[12ab])? = [^$\n]+)\$",
        lambda match: f"\n$${match[1]}$$\n",
        text,
    )


def _aligned(text: str) -> str:
    return re.sub(
        r"\$((?:q|M|B|K|Q|V|c|r|s|\\tau)(?:_[12ab])?) = ([^$\n]+)\$",
        lambda match: (
            f"\n\\begin{{align*}}\n{match[1]} &= {match[2]}\n\\end{{align*}}\n"
        ),
        text,
    )


def _in_code(text: str) -> str:
    """Definitions as code spans in plain text."""

    def span(match: re.Match[str]) -> str:
        try:
            return f"`{plain(parse(match[1]))}`"
        except FormulaError:
            return match[0]

    pattern = r"\$((?:q|M|B|K|Q|V|\\tau)(?:_[12ab])? = [^$\n]+)\$"
    return re.sub(pattern, span, text)


def _by_macro(text: str) -> str:
    if r"\newcommand" in text or r"\lambda" not in text:
        return text
    return "\\newcommand{\\scaling}{\\lambda}\n\n" + re.sub(
        r"\\lambda(?![A-Za-z])", r"\\scaling", text
    )


def _assigned(text: str) -> str:
    return in_formulas(
        text, lambda formula: re.sub(r"^(q|M|B|\\tau) = ", r"\1 := ", formula)
    )


def _clause(template: str) -> Callable[[str], str]:
    """'$q = ...$ where $b = ...$' with the clause in another place."""

    def moved(text: str) -> str:
        def put(match: re.Match[str]) -> str:
            first, condition = match["object"], match["condition"]
            return (
                template.replace("OBJECT", first)
                .replace("INNER", first[1:-1])
                .replace("CONDITION", condition)
                .replace("SAID", condition[1:-1])
            )

        return _CLAUSE.sub(put, text)

    return moved


def _factor_behind(formula: str) -> str:
    """The factor of a sum behind it: (k_a + k_b) lambda."""
    own = r"\\(?:lambda|beta|gamma|eta|tau|zeta|kappa)(?![A-Za-z])"
    return re.sub(rf"(= ?)({own})\s*(\([^()=]*\))(?=\s*$)", r"\1\3\\,\2", formula)


def _scores_turned(formula: str) -> str:
    """q^T k for k^T q."""
    return re.sub(
        r"(k_(?:\w|\{\w\}))\^(?:\\top|T) (q(?:_\w)?)", r"\2^\\top \1", formula
    )


def _scores_as_inner_products(formula: str) -> str:
    return re.sub(
        r"(k_(?:\w|\{\w\}))\^(?:\\top|T) (q(?:_\w)?)",
        r"\\langle \1, \2\\rangle",
        formula,
    )


def _with_spaces(formula: str) -> str:
    return formula.replace(" = ", r"\;=\;").replace(" + ", r"\,+\,")


def _without_spaces(formula: str) -> str:
    return re.sub(r"(?<![A-Za-z]) (?=[=+\\<>-])|(?<=[=+<>-]) ", "", formula)


def _with_short_fractions(formula: str) -> str:
    return formula.replace(r"\frac", r"\tfrac")


def _with_slanted_signs(formula: str) -> str:
    formula = re.sub(r"\\geq?(?![A-Za-z])", r"\\geqslant", formula)
    return re.sub(r"\\leq?(?![A-Za-z])", r"\\leqslant", formula)


def _bold(formula: str) -> str:
    """Vectors in bold type."""
    return re.sub(r"(?<![A-Za-z\\{])([qkvu])(?=_|\b(?!\w))", r"\\mathbf{\1}", formula)


def _on_one_line(text: str) -> str:
    """Line breaks within paragraphs as spaces."""
    if "```" in text:
        return text
    return re.sub(r"(?<!\n)\n(?![\n\\|>-]|\d\.)", " ", text)


def _around(before: str, after: str) -> Callable[[str], str]:
    return lambda text: f"{before}{text}{after}"


def _bound_by(binder: str) -> Callable[[str], str]:
    """'where' and 'with' in running text by another binding word."""
    return lambda text: re.sub(
        r"(?<=\$)(,? )(?:where|with)(?= \$)", rf"\1{binder}", text
    )


RESPELLINGS: dict[str, Callable[[str], str]] = {
    "factor behind": lambda text: in_formulas(text, _factor_behind),
    "scores turned": lambda text: in_formulas(text, _scores_turned),
    "inner products": lambda text: in_formulas(text, _scores_as_inner_products),
    "spaces": lambda text: in_formulas(text, _with_spaces),
    "no spaces": lambda text: in_formulas(text, _without_spaces),
    "short fractions": lambda text: in_formulas(text, _with_short_fractions),
    "slanted signs": lambda text: in_formulas(text, _with_slanted_signs),
    "bold vectors": lambda text: in_formulas(text, _bold),
    "square marks": lambda text: re.sub(
        r"\$\$(.+?)\$\$", lambda match: rf"\[{match[1]}\]", text, flags=re.DOTALL
    ),
    "inline": lambda text: re.sub(r"\$\$([^$\n]+)\$\$", r"$\1$", text),
    "an answer's heading": _around("**Answer.** ", ""),
    "a sentence before": _around("Here is my solution to this part. ", ""),
    "a sentence after": _around("", "\n\nThis is what we wanted."),
    "a numbered item": _around("1. ", ""),
    "quoted block": lambda text: "> " + text.replace("\n", "\n> "),
    "one line": _on_one_line,
    "where by with": _bound_by("with"),
    "where by for": _bound_by("for"),
    "where by if": _bound_by("if"),
    "where by when": _bound_by("when"),
    "where by provided": _bound_by("provided"),
    "clause is": lambda text: re.sub(
        r"(?<= where )\$(\\?[a-z]+)\s*=\s*([^$]+)\$", r"$\1$ is $\2$", text
    ),
    "clause far behind": _clause(r"$INNER \qquad (\text{where } SAID)$"),
    "clause in words": _clause("OBJECT. We choose CONDITION"),
    "clause with such that": _clause("OBJECT such that CONDITION"),
    "renamed": _renamed,
    "without fractions": lambda text: in_formulas(text, _without_fractions),
    "with fractions": lambda text: in_formulas(text, _with_fractions),
    "ln or log": lambda text: in_formulas(text, _with_logarithms),
    "dots": lambda text: in_formulas(text, _with_dots),
    "left and right": lambda text: in_formulas(text, _with_left_right),
    "unicode": lambda text: in_formulas(text, _in_unicode),
    "printed again": lambda text: in_formulas(text, _reprinted),
    "round marks": lambda text: _INLINE.sub(lambda match: rf"\({match[1]}\)", text),
    "varepsilon": lambda text: text.replace(r"\epsilon", r"\varepsilon"),
    "transposed": lambda text: text.replace(r"^\top", "^T"),
    "displayed": _displayed,
    "aligned": _aligned,
    "code": _in_code,
    "macro": _by_macro,
    "assigned": _assigned,
    "clause in front": _clause("let CONDITION and OBJECT"),
    "clause in brackets": _clause("OBJECT (CONDITION)"),
    "clause behind": _clause("OBJECT. Here CONDITION"),
    "clause inside": _clause(r"$INNER \text{ where } SAID$"),
    "clause at a distance": _clause(r"$INNER, \quad SAID$"),
    "clause with for": _clause("OBJECT for CONDITION"),
}


def respellings(text: str) -> Iterator[tuple[str, str]]:
    """The name of each respelling that changes a text, and what it makes of it."""
    for name, respell in RESPELLINGS.items():
        changed = respell(text)
        if changed != text:
            yield name, changed


# Ways to say that the name NAME has the value VALUE, around the object '$OBJECT$' which has the name.
SETTLING = (
    r"$OBJECT$ where $NAME = VALUE$.",
    r"$OBJECT$ with $NAME = VALUE$.",
    r"$OBJECT$ for $NAME = VALUE$.",
    r"$OBJECT$ if $NAME = VALUE$.",
    r"$OBJECT$ when $NAME = VALUE$.",
    r"$OBJECT$ whenever $NAME = VALUE$.",
    r"$OBJECT$, $NAME = VALUE$.",
    r"$OBJECT$; $NAME = VALUE$.",
    r"$OBJECT$ and $NAME = VALUE$.",
    r"$OBJECT$ ($NAME = VALUE$).",
    r"$OBJECT$ (with $NAME = VALUE$).",
    r"$OBJECT$ (so $NAME = VALUE$).",
    r"$OBJECT$. Here $NAME = VALUE$.",
    r"$OBJECT$. We take $NAME = VALUE$.",
    r"$OBJECT$. I chose $NAME = VALUE$ for this.",
    r"$OBJECT$. In the end $NAME = VALUE$.",
    r"$NAME = VALUE$, $OBJECT$.",
    r"Let $NAME = VALUE$. Then $OBJECT$.",
    r"With $NAME = VALUE$, $OBJECT$.",
    r"For $NAME = VALUE$ we set $OBJECT$.",
    r"$OBJECT \text{ where } NAME = VALUE$",
    r"$OBJECT \text{ with } NAME = VALUE$",
    r"$OBJECT \text{ for } NAME = VALUE$",
    r"$OBJECT \text{ if } NAME = VALUE$",
    r"$OBJECT \quad (NAME = VALUE)$",
    r"$OBJECT, \quad NAME = VALUE$",
    r"$OBJECT,\; NAME := VALUE$",
    r"$$OBJECT, \qquad \text{where } NAME = VALUE.$$",
    "$$OBJECT$$\n\nwhere $NAME = VALUE$.",
    "$$OBJECT$$\n\nwith $NAME$ equal to VALUE.",
    "$$NAME = VALUE$$\n\n$$OBJECT$$",
    "\\begin{align}\nNAME &= VALUE \\\\\nOBJECT\n\\end{align}",
    "\\begin{align}\nOBJECT, && NAME = VALUE\n\\end{align}",
    "$OBJECT$\n\n- $NAME = VALUE$",
    "$OBJECT$, in which $NAME$ is VALUE.",
    "$OBJECT$ where $NAME$ is $VALUE$.",
    "$OBJECT$ where $NAME$ equals $VALUE$.",
    "$OBJECT$ where $NAME$ is equal to $VALUE$.",
    "$OBJECT$ where $NAME$ has the value $VALUE$.",
    "$OBJECT$ where $NAME$ stands for $VALUE$.",
    "$OBJECT$ in which $NAME$ denotes the number $VALUE$.",
    "$OBJECT$, and the value of $NAME$ is $VALUE$.",
    "$OBJECT$; I use the value $VALUE$ for $NAME$.",
    "$OBJECT$, setting $NAME$ to $VALUE$.",
    "$OBJECT$ with $NAME$ set to $VALUE$.",
    "$OBJECT$ with $NAME$ chosen as $VALUE$.",
    "$OBJECT$ with $NAME$ chosen to be $VALUE$.",
    "$OBJECT$. The scalar $NAME$ is just $VALUE$.",
    "$OBJECT$. Let $NAME$ be $VALUE$.",
    "$OBJECT$. My choice for $NAME$ is $VALUE$.",
    "$OBJECT$. We can use $VALUE$ as $NAME$.",
    "$OBJECT$, $NAME$ being $VALUE$.",
    "$OBJECT$ where $VALUE = NAME$.",
    "`OBJECT`, where `NAME = VALUE`",
    "$OBJECT$, where `NAME = VALUE`.",
    "$OBJECT$.\n\n```\nNAME = VALUE\n```\n",
    "$OBJECT$ where $NAME$ is the constant $VALUE$ from above.",
    "$OBJECT$ with $NAME \\le VALUE$.",
    "$OBJECT$ with $NAME < VALUE$.",
    "$OBJECT$ with $0 < NAME \\le VALUE$.",
    "$OBJECT$, $NAME \\in (0, VALUE]$.",
    "$OBJECT$ with $NAME \\in \\{VALUE, 2\\}$.",
    "$OBJECT$ with $NAME \\approx VALUE$.",
    "$OBJECT$ with $NAME$ about $VALUE$.",
    "$OBJECT$ with $NAME$ at most $VALUE$.",
    "$OBJECT$ for every $NAME > 0$.",
    "$OBJECT$ for any $NAME$.",
    "$OBJECT$ whatever $NAME$ is.",
)


def restricted(definition: str, name: str, value: str) -> Iterator[str]:
    """Answers in which the name has the value in an object that needs it to be large."""
    for template in SETTLING:
        yield (
            template.replace("OBJECT", definition)
            .replace("NAME", name)
            .replace("VALUE", value)
        )


# Words beside the object that say something of it that is not so for a long query.
ABOUT_THE_OBJECT = (
    "$OBJECT$, scaled to unit length.",
    "$OBJECT$, normalised to length one.",
    "$OBJECT$ with $\\|q\\| = 1$.",
    "$OBJECT$, so that $\\|q\\| = 1$.",
    "$OBJECT$ where $q$ is a unit vector.",
    "$OBJECT$, and $q$ has norm 1.",
    "The unit vector $OBJECT$.",
    "The normalised query is $OBJECT$.",
    "$OBJECT$. Finally we normalise $q$.",
    "$OBJECT$. Then I divide $q$ by its length.",
    "$OBJECT$, up to normalisation of length 1.",
    "$OBJECT$ but only for $n = 3$.",
    "$OBJECT$ if there are three keys.",
    "$OBJECT$ for small $n$.",
    "$OBJECT$ provided $n \\le 5$.",
    "$OBJECT$ in the case of three keys.",
    "$OBJECT$ and $NAME$ is small.",
    "$OBJECT$ with small $NAME$.",
    "$OBJECT$ with $NAME$ not too large.",
    "$OBJECT$ with moderate $NAME$.",
    "$OBJECT$, with a fixed $NAME$ that does not depend on $n$.",
    "$OBJECT$. This is wrong.",
    "It is wrong to take $OBJECT$.",
    "One might take $OBJECT$.",
    "$OBJECT$, $1$ being the value of $NAME$.",
    "$OBJECT$ with $1$ for $NAME$.",
    "$OBJECT$ with $1$ in place of $NAME$.",
    "$OBJECT$, e.g. $NAME = 1$.",
    "$OBJECT$, say $NAME = 1$.",
    "$OBJECT$ where $NAME$ is a constant, $1$.",
    "$OBJECT$ where $NAME$ = 1.",
    "$OBJECT$ where $NAME$ = one.",
    "$OBJECT$ where NAME = 1.",
    "$OBJECT$ with $NAME$ between $1$ and $10$.",
    "$OBJECT$ with $NAME$ of order one.",
    "$OBJECT$ where $NAME$ is any positive number.",
    "$OBJECT$ for arbitrary $NAME$.",
    "$OBJECT$ with a universal constant $NAME$.",
    "$OBJECT$, where $NAME$ is the norm of $k_a$.",
    "And $NAME$ is $1$. $OBJECT$.",
    "$OBJECT$? I am not sure.",
    "$OBJECT$ does not work.",
)
