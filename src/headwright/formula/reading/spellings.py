"""The words and signs of the formula language, and the many ways in which each is written."""

from __future__ import annotations

from typing import Final


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _list(text: str) -> tuple[str, ...]:
    return tuple(text.split())


GREEK: Final = _list(
    "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi pi rho sigma tau upsilon phi chi psi "
    "omega Gamma Delta Theta Lambda Xi Pi Sigma Upsilon Phi Psi Omega"
)

# Names that are longer than a letter, with or without a backslash.
NAMES: Final[dict[str, str]] = {
    **{word: word for word in GREEK},
    "varepsilon": "epsilon",
    "eps": "epsilon",
    "vartheta": "theta",
    "varphi": "phi",
    "varrho": "rho",
    "varsigma": "sigma",
    "varpi": "pi",
    "varkappa": "kappa",
    "ell": "ell",
    "infty": "infinity",
    "infinity": "infinity",
    "oo": "infinity",
    "ones": "ones",
}

FUNCTIONS: Final[dict[str, str]] = {
    "exp": "exp",
    "ln": "ln",
    "log": "ln",
    "sqrt": "sqrt",
    "sin": "sin",
    "cos": "cos",
    "trace": "trace",
    "tr": "trace",
    "Tr": "trace",
    "softmax": "softmax",
    "relu": "relu",
    "ReLU": "relu",
    "RELU": "relu",
    "Relu": "relu",
    "rank": "rank",
    "max": "max",
    "min": "min",
    "abs": "abs",
    "diag": "diag",
    "Pr": "P",
    "Var": "Var",
    "expectation": "E",
    "norm": "norm",
    "inner": "inner",
    "transpose": "transpose",
}

RELATIONS: Final[dict[str, str]] = {
    "coloneqq": "=",
    "equiv": "=",
    "ne": "!=",
    "neq": "!=",
    "notin": "!=",
    "lt": "<",
    "gt": ">",
    "le": "<=",
    "leq": "<=",
    "leqslant": "<=",
    "ge": ">=",
    "geq": ">=",
    "geqslant": ">=",
    "approx": "~",
    "sim": "~",
    "simeq": "~",
    "cong": "~",
    "gg": ">>",
    "ll": "<<",
    "to": "->",
    "rightarrow": "->",
    "longrightarrow": "->",
}

LOGIC: Final[dict[str, str]] = {
    "land": "and",
    "wedge": "and",
    "lor": "or",
    "vee": "or",
    "neg": "not",
    "lnot": "not",
    "Rightarrow": "implies",
    "Longrightarrow": "implies",
    "implies": "implies",
    "iff": "iff",
    "Leftrightarrow": "iff",
    "Longleftrightarrow": "iff",
}

# Words that are read without a backslash, besides names and functions.
SPOKEN: Final[dict[str, tuple[str, str]]] = {
    "and": ("logic", "and"),
    "or": ("logic", "or"),
    "not": ("logic", "not"),
    "implies": ("logic", "implies"),
    "imply": ("logic", "implies"),
    "iff": ("logic", "iff"),
    "then": ("then", "then"),
    "to": ("relation", "->"),
    "for": ("condition", "for"),
    "when": ("condition", "when"),
    "whenever": ("condition", "when"),
    "if": ("condition", "if"),
    "as": ("condition", "as"),
    "given": ("condition", "given"),
    "where": ("condition", "where"),
    "with": ("condition", "where"),
    "sum": ("command", "sum"),
    "lim": ("command", "lim"),
}

# Commands that become one word of a kind of their own.
COMMANDS: Final[dict[str, tuple[str, str]]] = {
    **{word: ("name", base) for word, base in NAMES.items() if word not in ("oo", "eps", "ones", "infinity")},
    **{
        word: ("function", name)
        for word, name in FUNCTIONS.items()
        if word
        in ("exp", "ln", "log", "sin", "cos", "max", "min", "Pr", "tr", "Tr", "trace", "softmax", "rank", "diag")
    },
    **{word: ("relation", sign) for word, sign in RELATIONS.items()},
    **{word: ("logic", word_) for word, word_ in LOGIC.items()},
    "forall": ("condition", "for"),
    "frac": ("command", "frac"),
    "tfrac": ("command", "frac"),
    "dfrac": ("command", "frac"),
    "cfrac": ("command", "frac"),
    "sqrt": ("function", "sqrt"),
    "sum": ("command", "sum"),
    "lim": ("command", "lim"),
    "top": ("top", "top"),
    "intercal": ("top", "top"),
    "prime": ("prime", "'"),
    "cdot": ("sign", "."),
    "times": ("sign", "*"),
    "ast": ("sign", "*"),
    "div": ("sign", "/"),
    "colon": ("sign", ":"),
    "langle": ("open", "<"),
    "rangle": ("close", "<"),
    "lVert": ("open", "||"),
    "rVert": ("close", "||"),
    "lvert": ("open", "|"),
    "rvert": ("close", "|"),
    "Vert": ("bar", "||"),
    "vert": ("bar", "|"),
    "lbrace": ("open", "\\{"),
    "rbrace": ("close", "\\{"),
    "lbrack": ("open", "["),
    "rbrack": ("close", "["),
    "quad": ("quad", "quad"),
    "qquad": ("quad", "quad"),
    "cr": ("line", "line"),
    "newline": ("line", "line"),
}

ACCENTS: Final[dict[str, str]] = {
    "hat": "hat",
    "widehat": "hat",
    "tilde": "tilde",
    "widetilde": "tilde",
    "bar": "bar",
    "overline": "bar",
}

STYLES: Final = _set("mathbf boldsymbol bm mathbb mathcal mathscr mathfrak vec pmb bold mathds mathbbm mathit symbf")
TEXTS: Final = _set("text textrm textit textbf textnormal mbox mathrm mathsf mathtt operatorname")
LEFTS: Final = _set("left bigl Bigl biggl Biggl")
RIGHTS: Final = _set("right bigr Bigr biggr Biggr")
DROPPED: Final = _set(
    "big Big bigg Bigg bigm middle displaystyle textstyle scriptstyle limits nolimits nonumber notag enspace enskip "
    "thinspace medspace thickspace negthinspace hfill noindent ensuremath mathstrut strut boxed"
)
DROPPED_WITH_ARGUMENT: Final = _set("label tag hspace vspace color phantom hphantom vphantom")
DROPPED_ENVIRONMENTS: Final = _set("aligned align gather gathered split equation multline alignat displaymath math")
MATRICES: Final = _set("matrix pmatrix bmatrix Bmatrix smallmatrix")

# What people write and the language has no place for, each with its own remedy.
UNREAD: Final[dict[str, str]] = {
    "dots": "write the sum out with \\sum, or list every term",
    "prod": "products over an index are not read; write the factors, or \\exp of a \\sum of logarithms",
    "int": "integrals are not read; write the expectation as \\mathbb{E}[x] or the value itself",
    "partial": "derivatives are not read; write the value itself",
    "nabla": "derivatives are not read; write the value itself",
    "in": "membership is not read; write the bounds as inequalities, such as 0 < x < 1",
    "pm": "write the two cases as two statements",
    "mp": "write the two cases as two statements",
    "odot": "entrywise products are not read; write the entries with indices",
    "circ": "compositions are not read; write f(g(x))",
    "otimes": "tensor products are not read; write u v^\\top",
    "oplus": "direct sums are not read",
    "propto": "write the constant as a name: x = c y",
    "exists": "existence is not read; state the value that exists",
    "cup": "sets are not read; write the conditions as inequalities",
    "cap": "sets are not read; write the conditions as inequalities",
    "subset": "sets are not read; write the conditions as inequalities",
    "mid": "conditional probabilities are not read; write 'given' after the statement",
    "bmod": "remainders are not read; write t = s + 2 k",
    "tan": "write \\sin(x)/\\cos(x)",
    "tanh": "write it with \\exp",
    "sinh": "write it with \\exp",
    "cosh": "write it with \\exp",
    "det": "determinants are not read",
    "dim": "dimensions are not read; use the name the exercise gives",
    "sup": "suprema are not read; state the inequality for all values",
    "inf": "infima are not read; state the inequality for all values",
    "arg": "state the inequality instead",
    "sigmoid": "write 1/(1 + \\exp(-x))",
    "binom": "write the number",
    "lfloor": "rounding is not read",
    "lceil": "rounding is not read",
    "stackrel": "write the sign alone",
    "overset": "write the sign alone",
    "underset": "write the sign alone",
    "underbrace": "write the expression alone",
    "overbrace": "write the expression alone",
    "cases": "write each case as a statement with its condition: x = 1 for c = 3/2; x = 2 for c = 1/2",
    "array": "write the matrix with \\begin{pmatrix}",
}
DOTS: Final = _set("dots ldots cdots dotsc dotsb vdots ddots")

# Short words of prose: never a product of letters.
PROSE: Final = _set(
    "is of the in by so we let has are any all its on at be an it no via cov var mod arg sgn but can may one two that "
    "than this such over each every which hence thus since gives"
)


SIGNS: Final[dict[str, tuple[str, str]]] = {
    "<=>": ("logic", "iff"),
    "==>": ("logic", "implies"),
    "-->": ("relation", "->"),
    "...": ("dots", "..."),
    "**": ("sign", "**"),
    "==": ("relation", "="),
    ":=": ("relation", "="),
    "=:": ("relation", "="),
    "!=": ("relation", "!="),
    "<=": ("relation", "<="),
    ">=": ("relation", ">="),
    "=>": ("logic", "implies"),
    "<<": ("relation", "<<"),
    ">>": ("relation", ">>"),
    "->": ("relation", "->"),
    "||": ("bar", "||"),
    "..": ("dots", ".."),
    "=": ("relation", "="),
    "<": ("relation", "<"),
    ">": ("relation", ">"),
    "|": ("bar", "|"),
    "+": ("sign", "+"),
    "-": ("sign", "-"),
    "*": ("sign", "*"),
    "/": ("sign", "/"),
    "@": ("sign", "*"),
    "^": ("sign", "^"),
    "_": ("sign", "_"),
    ",": ("sign", ","),
    ";": ("sign", ";"),
    ":": ("sign", ":"),
    "'": ("prime", "'"),
    "(": ("open", "("),
    ")": ("close", "("),
    "[": ("open", "["),
    "]": ("close", "["),
    "{": ("open", "{"),
    "}": ("close", "{"),
    "&": ("amp", "&"),
    # Unicode
    "\u2212": ("sign", "-"),
    "\u2013": ("sign", "-"),
    "\u2010": ("sign", "-"),
    "\u00b7": ("sign", "."),
    "\u22c5": ("sign", "."),
    "\u2219": ("sign", "."),
    "\u00d7": ("sign", "*"),
    "\u2217": ("sign", "*"),
    "\u00f7": ("sign", "/"),
    "\u2215": ("sign", "/"),
    "\u2044": ("sign", "/"),
    "\u2264": ("relation", "<="),
    "\u2a7d": ("relation", "<="),
    "\u2265": ("relation", ">="),
    "\u2a7e": ("relation", ">="),
    "\u2260": ("relation", "!="),
    "\u2248": ("relation", "~"),
    "\u223c": ("relation", "~"),
    "\u2243": ("relation", "~"),
    "\u2261": ("relation", "="),
    "\u2254": ("relation", "="),
    "\u226b": ("relation", ">>"),
    "\u226a": ("relation", "<<"),
    "\u2192": ("relation", "->"),
    "\u27f6": ("relation", "->"),
    "\u21d2": ("logic", "implies"),
    "\u27f9": ("logic", "implies"),
    "\u21d4": ("logic", "iff"),
    "\u27fa": ("logic", "iff"),
    "\u2227": ("logic", "and"),
    "\u2228": ("logic", "or"),
    "\u00ac": ("logic", "not"),
    "\u2200": ("condition", "for"),
    "\u2026": ("dots", "..."),
    "\u22ef": ("dots", "..."),
    "\u2016": ("bar", "||"),
    "\u2225": ("bar", "||"),
    "\u2223": ("bar", "|"),
    "\u27e8": ("open", "<"),
    "\u27e9": ("close", "<"),
    "\u2329": ("open", "<"),
    "\u232a": ("close", "<"),
    "\u2032": ("prime", "'"),
    "\u2019": ("prime", "'"),
    "\u2033": ("prime", "''"),
    "\u221a": ("function", "sqrt"),
    "\u2211": ("command", "sum"),
    "\u221e": ("name", "infinity"),
    "\u22a4": ("top", "top"),
    "\U0001d7cf": ("name", "ones"),
    "\U0001d7d9": ("name", "ones"),
}

_RAISED = "⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺ⁿⁱᵀ⁽⁾ʲᵏᵗ"
_LOWERED = "₀₁₂₃₄₅₆₇₈₉₋₊ₙᵢⱼₖₐₜ₍₎ₘₓₑₗₚₛᵣ"
RAISED: Final[dict[str, str]] = dict(zip(_RAISED, "0123456789-+niT()jkt", strict=True))
LOWERED: Final[dict[str, str]] = dict(zip(_LOWERED, "0123456789-+nijkat()mxelpsr", strict=True))

LETTERS: Final[dict[str, str]] = {
    **dict(zip("αβγδεζηθικλμνξπρστυφχψω", [word for word in GREEK if word[0].islower()], strict=True)),
    **dict(zip("ΓΔΘΛΞΠΣΥΦΨΩ", [word for word in GREEK if word[0].isupper()], strict=True)),
    "ϵ": "epsilon",
    "ϑ": "theta",
    "ϕ": "phi",
    "ϖ": "pi",
    "ς": "sigma",
    "ϱ": "rho",
    "µ": "mu",
    "ℓ": "ell",
}
