"""The words and signs of the formula language, and the many ways in which each is written."""

from __future__ import annotations

from typing import Final


def _list(text: str) -> list[str]:
    return text.split()


def _spelt(table: dict[str, str]) -> dict[str, str]:
    """From what is meant and all its spellings: each spelling with what it means."""
    return {word: meaning for meaning, words in table.items() for word in words.split()}


def _kinds(*table: tuple[str, str, str]) -> dict[str, tuple[str, str]]:
    """From kind, meaning and spellings: each spelling with its kind and what it means."""
    return {
        word: (kind, meaning)
        for kind, meaning, words in table
        for word in words.split()
    }


GREEK: Final = _list(
    "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi pi rho sigma tau upsilon phi chi psi "
    "omega Gamma Delta Theta Lambda Xi Pi Sigma Upsilon Phi Psi Omega"
)

# Names that are longer than a letter, with or without a backslash.
NAMES: Final = {word: word for word in GREEK} | _spelt(
    {
        "epsilon": "varepsilon eps",
        "theta": "vartheta",
        "phi": "varphi",
        "rho": "varrho",
        "sigma": "varsigma",
        "pi": "varpi",
        "kappa": "varkappa",
        "ell": "ell",
        "infinity": "infty infinity oo",
        "ones": "ones",
    }
)

_FUNCTIONS = _list(
    "exp ln sqrt sin cos trace softmax relu rank max min abs diag Var Cov norm inner"
)
FUNCTIONS: Final = {word: word for word in _FUNCTIONS} | _spelt(
    {
        "ln": "log",
        "trace": "tr Tr",
        "relu": "ReLU RELU Relu",
        "P": "Pr",
        "E": "expectation",
    }
)

# By the sign of the tree, or 'in', 'perp', 'propto'; a ! before a sign denies it.
RELATIONS: Final = _spelt(
    {
        "=": "coloneqq equiv triangleq doteq",
        "!=": "ne neq",
        "<": "lt",
        ">": "gt",
        "<=": "le leq leqslant leqq",
        ">=": "ge geq geqslant geqq",
        "~": "approx sim simeq cong",
        ">>": "gg",
        "<<": "ll",
        "->": "to rightarrow longrightarrow",
        "in": "in",
        "!in": "notin",
        "perp": "perp",
        "propto": "propto varpropto",
    }
)

# Words that are read without a backslash, besides names and functions.
SPOKEN: Final = _kinds(
    *(("logic", word, word) for word in ("and", "or", "not", "iff")),
    ("logic", "implies", "implies imply"),
    *(("condition", word, word) for word in ("for", "if", "as", "given")),
    ("condition", "when", "when whenever"),
    ("condition", "where", "where with"),
    ("condition", "otherwise", "otherwise else"),
    ("then", "then", "then"),
    ("relation", "->", "to"),
    ("relation", "in", "in"),
    ("integer", "Z", "integer integers"),
    ("command", "sum", "sum"),
    ("command", "lim", "lim"),
)
PHRASES: Final[
    tuple[tuple[str, tuple[str, str]], ...]
] = (  # several words that mean one
    (r"for\s+(?:all|every|each|any)\b", ("condition", "for")),
    (
        r"(?:for\s+some|there\s+(?:is|exists))(?:\s+an?|\s+some)?\b",
        ("condition", "some"),
    ),
    (r"as\s+long\s+as\b|provided(?:\s+that)?\b", ("condition", "when")),
    (r"such\s+that\b", ("condition", "where")),
    (r"assuming(?:\s+that)?\b", ("condition", "given")),
)

# Commands that become one word of a kind of their own.
COMMANDS: Final = {
    **{
        word: ("name", base)
        for word, base in NAMES.items()
        if word not in ("oo", "eps", "ones", "infinity")
    },
    **{
        word: ("function", FUNCTIONS[word])
        for word in _list("exp ln log sin cos max min Pr tr Tr trace softmax")
    },
    **{word: ("relation", sign) for word, sign in RELATIONS.items()},
    **{word: ("domain", word) for word in "RZN"},
    **{word: ("command", word) for word in ("sum", "lim")},
    **_kinds(
        ("function", "diag", "diag"),
        ("function", "rank", "rank"),
        ("function", "sqrt", "sqrt"),
        ("function", "E", "E"),
        ("logic", "and", "land wedge"),
        ("logic", "or", "lor vee"),
        ("logic", "not", "neg lnot"),
        ("logic", "implies", "Rightarrow Longrightarrow implies"),
        ("logic", "iff", "iff Leftrightarrow Longleftrightarrow"),
        ("condition", "for", "forall"),
        ("condition", "some", "exists"),
        ("command", "frac", "frac tfrac dfrac cfrac"),
        ("command", "partial", "partial"),
        ("command", "nabla", "nabla"),
        ("dots", "...", "dots ldots cdots dotsc dotsb dotsm vdots ddots"),
        ("star", "*", "star"),
        ("top", "top", "top intercal"),
        ("prime", "'", "prime"),
        ("sign", ".", "cdot"),
        ("sign", "⊙", "odot"),
        ("sign", "*", "times ast"),
        ("sign", "/", "div"),
        ("sign", ":", "colon"),
        ("open", "<", "langle"),
        ("close", "<", "rangle"),
        ("open", "||", "lVert"),
        ("close", "||", "rVert"),
        ("open", "|", "lvert"),
        ("close", "|", "rvert"),
        ("bar", "||", "Vert"),
        ("bar", "|", "vert"),
        ("open", "\\{", "lbrace"),
        ("close", "\\{", "rbrace"),
        ("open", "[", "lbrack"),
        ("close", "[", "rbrack"),
        ("quad", "quad", "quad qquad"),
        ("line", "line", "cr newline"),
    ),
}

ACCENTS: Final = _spelt(
    {"hat": "hat widehat", "tilde": "tilde widetilde", "bar": "bar overline"}
)
STYLES: Final = _list(
    "overrightarrow mathbf boldsymbol bm mathbb mathcal mathscr mathfrak vec pmb bold mathds mathbbm mathit symbf"
)
TEXTS: Final = _list(
    "text textrm textit textbf textnormal mbox mathrm mathsf mathtt operatorname"
)
LONG_ARROWS: Final = _list("xrightarrow xlongrightarrow")
LEFTS: Final = _list("left bigl Bigl biggl Biggl")
RIGHTS: Final = _list("right bigr Bigr biggr Biggr")
DROPPED: Final = _list(
    "big Big bigg Bigg bigm middle displaystyle textstyle scriptstyle limits nolimits nonumber notag enspace enskip "
    "thinspace medspace thickspace negthinspace hfill noindent ensuremath mathstrut strut boxed therefore underline "
    "blacksquare square qed qedhere Box blacklozenge checkmark"
)
MATRICES: Final = _list("matrix pmatrix bmatrix smallmatrix psmallmatrix bsmallmatrix")
DROPPED_ENVIRONMENTS: Final = _list(
    "aligned align gather gathered split equation multline alignat alignedat flalign eqnarray displaymath math"
)
# Short words of prose, and of mathematics that is not read: never a product of letters.
PROSE: Final = _list(
    "is of the so we let has are any all its on at be an it no via by cov var mod arg sgn but can may one two that "
    "than this such over each every some which hence thus gives int lg pm mp mid cup cap tan det dim sup inf big real"
)


# Signs by what they mean: kind, one spelling, and all the ways to write it.
SIGNS: Final = _kinds(
    ("logic", "iff", "<=> ⇔ ⟺"),
    ("logic", "implies", "==> => ⇒ ⟹"),
    ("logic", "and", "∧"),
    ("logic", "or", "∨"),
    ("logic", "not", "¬"),
    ("relation", "=", "= == := =: ≡ ≔ ≜"),
    ("relation", "!=", "!= ≠"),
    ("relation", "<", "<"),
    ("relation", ">", ">"),
    ("relation", "<=", "<= ≤ ⩽ ≦"),
    ("relation", ">=", ">= ≥ ⩾ ≧"),
    ("relation", "<<", "<< ≪"),
    ("relation", ">>", ">> ≫"),
    ("relation", "->", "-> --> → ⟶"),
    ("relation", "~", "≈ \u223c ≃ ≅ ~"),
    ("relation", "!~", "≉"),
    ("relation", "in", "∈"),
    ("relation", "!in", "∉"),
    ("relation", "perp", "⊥ ⟂"),
    ("relation", "propto", "∝"),
    ("condition", "for", "∀"),
    ("condition", "some", "∃"),
    ("sign", "+", "+"),
    ("sign", "-", "- \u2212 \u2013 \u2010"),
    ("sign", "*", "* @ × ∗"),
    ("sign", "**", "**"),
    ("sign", "/", "/ ÷ \u2215 \u2044"),
    ("sign", ".", "· ⋅ ∙"),
    ("sign", "⊙", "⊙"),
    ("sign", "^", "^"),
    ("sign", "_", "_"),
    ("sign", ",", ","),
    ("sign", ";", ";"),
    ("sign", ":", ":"),
    ("prime", "'", "' \u2032 \u2019"),
    ("prime", "''", "\u2033"),
    ("transposed", ".T", "⊤"),
    ("star", "*", "⋆"),
    ("open", "(", "("),
    ("close", "(", ")"),
    ("open", "[", "["),
    ("close", "[", "]"),
    ("open", "{", "{"),
    ("close", "{", "}"),
    ("open", "<", "⟨ \u2329"),
    ("close", "<", "⟩ \u232a"),
    ("bar", "|", "| \u2223"),
    ("bar", "||", "|| ‖ \u2225"),
    ("amp", "&", "&"),
    ("dots", "...", "... .. … ⋯"),
    ("stop", ".", "."),
    ("open", "\\{", "\\{"),
    ("close", "\\{", "\\}"),
    ("bar", "||", "\\|"),
    ("function", "sqrt", "√"),
    ("function", "N", "𝒩"),
    ("command", "sum", "∑"),
    ("command", "partial", "∂"),
    ("command", "nabla", "∇"),
    ("name", "infinity", "∞"),
    ("name", "ones", "\U0001d7cf \U0001d7d9"),
    ("domain", "R", "ℝ"),
    ("domain", "Z", "ℤ"),
    ("domain", "N", "ℕ"),
)
LETTERS: Final[dict[str, str]] = {
    **dict(
        zip(
            "αβγδεζηθικλμνξπρστυφχψω",
            [word for word in GREEK if word[0].islower()],
            strict=True,
        )
    ),
    **dict(
        zip("ΓΔΘΛΞΠΣΥΦΨΩ", [word for word in GREEK if word[0].isupper()], strict=True)
    ),
    **dict(
        zip(
            "ϵϑϕϖςϱµℓ",
            ("epsilon", "theta", "phi", "pi", "sigma", "rho", "mu", "ell"),
            strict=True,
        )
    ),
}
