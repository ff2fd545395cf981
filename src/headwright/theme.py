"""The one place that says which colours and which type there are: for charts, reports, the tour, the site and the lab.

Each colour has a name for what it stands for, a value in the light and one in the dark. A page takes them as custom
properties of CSS (`css`); a chart takes those of the light, and carries the rules that turn it dark (`darkened`).
The hues are Okabe and Ito's, which everyone can tell apart; a test holds what is read to a contrast of 4.5 to 1.
"""

from __future__ import annotations

FONT = 'system-ui, -apple-system, "Segoe UI", Helvetica, Arial, sans-serif'
DRAWN = "Helvetica, Arial, sans-serif"  # in charts, whose labels are laid out before anyone knows the reader's fonts
MONO = 'ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace'
# Fonts with a MATH table, which says where an index stands: on macOS and iOS, Windows, Linux; then the browser's own.
MATH = '"STIX Two Math", "Cambria Math", "Latin Modern Math", "DejaVu Math TeX Gyre", "Noto Sans Math", math'

COLOURS: dict[str, tuple[str, str]] = {
    # the page
    "paper": ("#fdfdfc", "#16181a"),
    "card": ("#ffffff", "#1d2023"),
    "code": ("#f3f4f4", "#272b2e"),
    "line": ("#dfe2e4", "#34393d"),
    "none": ("#c9cdd0", "#4a5055"),  # what is not there: not measured, disabled
    "ink": ("#1d1f21", "#e6e7e8"),
    "quiet": ("#575d62", "#a9b0b6"),
    "accent": ("#0072b2", "#6cc0f2"),
    "accent-ink": ("#005f96", "#8fd0f7"),
    "on-accent": ("#ffffff", "#10242f"),
    # what is written on the accent at middling strength
    "between": ("#1d1f21", "#16181a"),
    # verdicts
    "good": ("#00664c", "#4ccfa6"),
    "fair": ("#00588c", "#6fbef0"),
    "bad": ("#a33c00", "#ff9a5c"),
    "odd": ("#7a3d63", "#e3a3cb"),
    "open": ("#6b5900", "#e0c64f"),
    "mark": ("#a33c00", "#ff9a5c"),
    # what is drawn
    "key": ("#0072b2", "#56b4e9"),
    "target": ("#e69f00", "#f0b429"),
    "on-target": ("#1d1f21", "#1d1f21"),
    "target-deep": ("#c45a00", "#ff9d4d"),
    "target-ink": ("#7a4f00", "#ffd479"),
    "meet": ("#009e73", "#2bc79a"),
    "meet-soft": ("#cfe8d5", "#17412f"),
    "yours": ("#a8487f", "#e79cc6"),
    "output": ("#d55e00", "#ff8c42"),
}
TEXT = (
    "ink",
    "quiet",
    "accent-ink",
    "good",
    "fair",
    "bad",
    "odd",
    "open",
    "mark",
    "target-ink",
    "yours",
)
OTHERS: dict[str, tuple[str, str]] = {
    "shadow": ("0 1px 2px rgb(0 0 0 / 5%), 0 4px 14px rgb(0 0 0 / 4%)", "none"),
    "deep": ("60%", "44%"),  # how much of the accent a weight of one has behind a word
    "font": (FONT, FONT),
    "mono": (MONO, MONO),
    "math": (MATH, MATH),
}
# Verdicts where nobody knows the ground: a notebook's output cannot tell whether it lies on light or on dark.
EITHER = {"good": "#008763", "bad": "#cc5200", "open": "#8a7700", "quiet": "#6b7780"}
LIGHT, DARK = 0, 1


def colour(name: str, mode: int = LIGHT) -> str:
    """One colour, in the light or in the dark.

    >>> colour("ink"), colour("ink", DARK)
    ('#1d1f21', '#e6e7e8')
    """
    return COLOURS[name][mode]


def properties(mode: int) -> str:
    """All of it as custom properties of CSS.

    >>> properties(DARK).startswith(" --paper: #16181a; --card: #1d2023;")
    True
    """
    everything = {**COLOURS, **OTHERS}
    return "".join(f" --{name}: {pair[mode]};" for name, pair in everything.items())


def css() -> str:
    """The custom properties of a page: by the reader's choice of light or dark, or by `data-theme`; on paper light.

    >>> css().count("--ink: #e6e7e8")
    2
    """
    light, dark = properties(LIGHT), properties(DARK)
    return (
        f":root, :host {{ color-scheme: light;{light} }}\n"  # :host is a notebook's widget
        f'@media screen and (prefers-color-scheme: dark) {{ :root:not([data-theme="light"]) '
        f"{{ color-scheme: dark;{dark} }} }}\n"
        f'@media screen {{ :root[data-theme="dark"], :host([data-theme="dark"]) {{ color-scheme: dark;{dark} }} }}\n'
    )


def darkened() -> str:
    """Rules that turn a drawing with the colours of the light dark, where its reader likes it dark.

    >>> '[fill="#1d1f21"]{fill:#e6e7e8}' in darkened()
    True
    """
    turned: dict[str, str] = {}
    for light, dark in COLOURS.values():
        # Of two names with one colour in the light, the first.
        turned.setdefault(light, dark)
    rules = "".join(
        f'[{kind}="{light}"]{{{kind}:{dark}}}'
        for light, dark in turned.items()
        for kind in ("fill", "stroke")
    )
    return f"@media screen and (prefers-color-scheme:dark){{{rules}}}"
