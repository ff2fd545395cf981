"""The report: one HTML file without external resources, for screen, dark mode, phone and paper.

Every word that comes from a model or a text is escaped: a vocabulary may hold anything.
"""

from __future__ import annotations

import base64
import html
import json
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from importlib.resources import files
from statistics import median
from typing import TYPE_CHECKING

from headwright import theme
from headwright.enclosure import fixed_above, fixed_below
from headwright.models.explain import Example, Row
from headwright.models.findings.definitions import AWAY, INTERVAL, MEANINGS, ROLES
from headwright.models.findings.heads import ENOUGH, Head
from headwright.models.findings.rounding import FORMATS
from headwright.models.report.every_text import section as every_text
from headwright.models.report.sentences import ball, sentences
from headwright.pictures.head_maps import head_map, maps_chart
from headwright.pictures.style import Chart

if TYPE_CHECKING:
    from headwright.models.auditor import Audit


INDUCTION_TITLES = {"induction": "Induction", "induction_long": "Long induction"}
LONGEST_TOKEN = 24
_LESS = "\\u003c"  # in a string of a script
POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'unsafe-inline'"
LEAST_TV = 0.05  # has the full colour in the map of rounding where all is less
FAR = 0.01  # weight of a key far back that is shown among the tokens
HEAVY = 0.1  # from this weight on a token is underlined as well as coloured


@dataclass(frozen=True)
class Column:
    """A number of a head: for a map, for the table, or both."""

    title: str
    short: str
    value: Callable[[Head], float | None]
    shown: str = ".2f"
    most: float | None = 1.0  # what has the full colour in a map; None: the largest value there is
    mapped: str = ""  # the caption of its map; no map if empty
    mean: str = ""  # the name of the mean that it is, if it is one
    unit: str = "weight"


def _of_mean(
    name: str, title: str, short: str, shown: str = ".2f", most: float | None = 1.0, mapped: str = "",
    unit: str = "weight",
) -> Column:  # fmt: skip
    return Column(title, short, lambda head: head.value(name), shown, most, mapped, name, unit)


def _quantile(name: str) -> Callable[[Head], float | None]:
    def value(head: Head) -> float | None:
        held = head.quantiles.get(name)
        return None if held is None or held.values[0.5] == float("inf") else held.values[0.5]

    return value


def _tv(name: str) -> Callable[[Head], float | None]:
    return lambda head: head.rounding[name].tv.value if name in head.rounding else None


def _rank(name: str) -> Callable[[Head], float | None]:
    return lambda head: float(head.spectra[name].rank) if name in head.spectra else None


COLUMNS = (
    _of_mean("sink", "First token", "first", mapped="mean weight of the first token"),
    _of_mean("previous_away", "Previous token", "prev.", mapped="mean weight of the token before*"),
    _of_mean("self_away", "Own token", "self", mapped="mean weight of the row's own token*"),
    _of_mean("duplicate_away", "Equal tokens", "equal", mapped="mean weight of earlier equal tokens*"),
    _of_mean("induction_away", "Induction", "induct.",
           mapped="on repeated random tokens: what followed the same token before*"),
    _of_mean("induction_long_away", "Long induction", "long ind.",
           mapped="the same on random tokens that fill the longest context*"),
    _of_mean("copying_away", "Copying", "copies", mapped="rows that give one key 10/11 or more*",
           unit="of rows"),
    _of_mean("averaging_away", "Averaging", "avg.", mapped="rows that are even over 3 keys or more*",
           unit="of rows"),
    _of_mean("largest_away", "Largest weight", "largest", mapped="mean of the largest weight*"),
    _of_mean("entropy_away", "Entropy", "entropy", most=None, mapped="mean entropy of a row, nats*", unit="nats"),
    _of_mean("distance_away", "Distance", "dist.", ".1f", None, "mean places back*", "tokens"),
    Column("Margin", "margin", _quantile("margin_away"), ".2f", None, "", unit="nats"),
    Column("Key ball", "ball", ball, ".2%", None,
           "how far all keys may move, of their length, before half of the rows may change their winner",
           unit="of |k|"),
    Column("int8 a token", "int8", _tv("int8 a token"), ".3f", None, "", unit="TV"),
    Column("int4 a token", "int4", _tv("int4 a token"), ".3f", None, "total variation when keys are rounded to int4",
           unit="TV"),
    Column("QK rank", "QK", _rank("qk"), ".0f", None, "smallest rank that keeps 90 % of QK (proven)", unit="rank"),
    Column("OV rank", "OV", _rank("ov"), ".0f", None, "smallest rank that keeps 90 % of OV (proven)", unit="rank"),
    Column("Written", "written", lambda head: head.share, ".2f", 1.0, "share of what the layer writes", unit="share"),
)  # fmt: skip


def page(found: Audit) -> str:
    """The whole report.

    >>> from headwright.models.auditor import audit
    >>> from headwright.models.loading import load_model
    >>> page(audit(load_model("builtin:induction"), tokens=400)).startswith("<!doctype html>")
    True
    """
    title = f"What the heads of {found.title} do"
    style, script = (
        (files("headwright.models.report") / name).read_text(encoding="utf-8") for name in ("report.css", "report.js")
    )
    style = theme.css() + style
    said = _text(title)
    sections = [
        ("summary", "In short", _summary(found)),
        ("maps", "Maps", _maps(found)),
        ("gallery", "Heads worth looking at", _gallery(found)),
        ("heads", "All heads", _table(found)),
        ("rounding", "Rounding the keys", _rounding(found.heads)),
        ("rank", "Rank of the circuits", _ranks(found.heads, found.circuits_leave_out)),
        ("order", "Order of the tokens", _order(found)),
        ("texts", "For every text", every_text(found.every_text, found.text or "the random tokens", word)),
        ("definitions", "What the numbers mean", _definitions()),
        ("again", "How to reproduce", _again(found)),
    ]
    links = "".join(f'<a href="#{name}">{said}</a>' for name, said, body in sections if body)
    bodies = "\n".join(
        f'<section id="{name}"><h2>{said}</h2>\n{body}</section>' for name, said, body in sections if body
    )
    return f"""<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="{POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark">
<title>{said}</title>
<style>
{style}</style></head>
<body>
<header><h1>{said}</h1>
{_subtitle(found)}<nav aria-label="Sections">{links}</nav></header>
<main>
{bodies}
</main>
<footer>Made by Headwright.</footer>
<script>
{script}</script>
</body>
</html>
"""


def _subtitle(found: Audit) -> str:
    count = len(found.documents)
    tokens = sum(len(document.tokens) for document in found.documents if document.everything)
    what = "random tokens that repeat" if found.text is None else found.text
    repeated = sum(bool(document.period) and not document.everything for document in found.documents)
    extra = f", and {repeated} sequences of random tokens that repeat" if repeated else ""
    measured = "".join(
        f" {INDUCTION_TITLES[name]} on {tokens.sequences} sequence{'s' if tokens.sequences != 1 else ''} of "
        f"{tokens.context} tokens with period {tokens.period}."
        for name, tokens in found.induction.items()
    )
    documents = count - repeated
    return (
        f'<p class="quiet">{len(found.heads)} heads in {len(found.layers)} layers, measured on {_text(what)}: {tokens} '
        f"tokens in {documents} document{'s' if documents != 1 else ''} of up to {found.context}, "
        f"{found.rows} rows of each head{extra}.{measured} {_text(found.intervals)} "
        f"{found.date}.</p>\n"
    )


def _summary(found: Audit) -> str:
    lines = "".join(f"<li>{_text(line)}</li>" for line in sentences(found))
    missing = "".join(
        f"<li>Not measured: {_text(what)}; {_text(why)}.</li>" for what, why in found.not_measured.items()
    )
    return (
        f'<ul class="summary">{lines}{missing}</ul>\n<p class="quiet">Heads are named layer.head, from 0. Numbers are '
        f"floating-point means over rows, unless they are called proven; intervals are in the table below, and every "
        f"word is defined at the end.</p>"
    )


def map_values(found: Audit) -> Iterator[tuple[Column, list[list[float | None]], float]]:
    """Each number that has a map, its values by layer and head, and what has the full colour."""
    numbers = sorted({head.head for head in found.heads})
    at = {(head.layer, head.head): head for head in found.heads}
    for column in COLUMNS:
        values = [[_mapped_value(column, at[layer, number]) for number in numbers] for layer in found.layers]
        known = [value for line in values for value in line if value is not None]
        if column.mapped and known:
            column = _with_tokens(column, found)
            yield column, values, column.most or max(*known, LEAST_TV if "a token" in column.title else 0.0) or 1.0


def _mapped_value(column: Column, head: Head) -> float | None:
    """A number for a map; none where it would be about the little that a head does away from the first token."""
    away = column.mean.endswith("_away") and not column.mean.startswith("induction")
    sink = head.value("sink")
    if away and sink is not None and 1 - sink < ENOUGH:
        return None
    return column.value(head)


def _with_tokens(column: Column, found: Audit) -> Column:
    """A column of induction with what it was measured on in its title and its unit; any other as it is."""
    tokens = found.induction.get(column.mean.removesuffix("_away"))
    if tokens is None:
        return column
    title = f"{column.title} (period {tokens.period}, {tokens.context} tokens)"
    return replace(column, title=title, unit=f"at {tokens.context}")


def columns(found: Audit) -> list[Column]:
    """The columns of the table of heads, but for those that were not measured at all."""
    return [
        _with_tokens(column, found)
        for column in COLUMNS
        if column.mean != "induction_long_away" or "induction_long" in found.induction
    ]


def picture(found: Audit) -> Chart:
    """The same maps as a chart, for a file."""
    maps = {column.title: (values, most) for column, values, most in map_values(found)}
    numbers = sorted({head.head for head in found.heads})
    return maps_chart(maps, found.layers, numbers, f"What the heads of {found.title} do: {found.headline}")


def _maps(found: Audit) -> str:
    numbers = sorted({head.head for head in found.heads})
    figures = []
    for column, values, most in map_values(found):
        picture = head_map(values, found.layers, numbers, column.title, most=most, shown=column.shown)
        scale = f'<div class="scale" aria-hidden="true">0<i></i>{most:{column.shown}}</div>'
        figures.append(
            f"<figure><figcaption><b>{column.title}</b>{column.mapped}</figcaption>{picture}{scale}</figure>"
        )
    return (
        "<p>A row for each layer, from the first; a column for each head. Point at a cell for its number; all of them "
        "are in the table below. * away from the first token; left empty for heads that give it more than nine tenths, "
        "but for induction, which is measured on other tokens.</p>\n"
        f'<div class="maps">{"".join(figures)}</div>'
    )


def _gallery(found: Audit) -> str:
    """The cards, and the tokens of their documents, for who points at a map."""
    examples = found.examples
    names = {example.document: f"words-{k}" for k, example in enumerate(examples)}
    tokens = {names[example.document]: [html.unescape(word(token)) for token in example.words] for example in examples}
    held = "".join(
        f'<script type="application/json" id="{name}">{json.dumps(words).replace("<", _LESS)}</script>'
        for name, words in tokens.items()
    )
    cards = "".join(_card(found, example, names[example.document]) for example in examples)
    return f'<div class="cards">{cards}</div>{held}' if examples else ""


def _map(example: Example, words: str) -> str:
    """The pattern over the whole document, averaged over bins, as a picture."""
    drawn = example.map
    image = base64.b64encode(drawn.png()).decode()
    said = f"The pattern of head {example.layer}.{example.head} on {example.document}, rows down and keys across"
    bins = f'data-rows="{json.dumps(drawn.rows.tolist())}" data-keys="{json.dumps(drawn.keys.tolist())}"'
    picture = f'<img src="data:image/png;base64,{image}" alt="{_text(said)}">'
    return (
        f'<div class="pattern" data-words="{words}" {bins}>{picture}'
        "<output>The whole pattern, rows down and keys across: point at it for its tokens.</output></div>"
    )


def _card(found: Audit, example: Example, words: str) -> str:
    rows = "".join(map(_row, example.rows))
    shown = f"{example.value:.2f}" if example.value < 100 else f"{example.value:.0f}"
    tokens = found.induction.get(example.measure.removesuffix("_away"))
    on = "" if tokens is None else f" (period {tokens.period}, {tokens.context} tokens)"
    return (
        f"<article><h3>{example.layer}.{example.head}: {_text(example.title)}</h3>"
        f'<p class="quiet">{_text(MEANINGS[example.measure])}: {shown}{on}. Shown on {_text(example.document)}.</p>'
        f"{_map(example, words)}{rows}</article>\n"
    )


def _row(row: Row) -> str:
    """Tokens around the row, coloured by weight, and the keys with most in a table."""
    weights = {key.position: key.weight for key in row.best}
    start = row.position - len(row.before)
    far = "".join(
        _token(key.token, key.weight) + '<span class="gap">…</span>'
        for key in sorted(row.best, key=lambda key: key.position)
        if key.position < start and key.weight >= FAR
    )
    near = "".join(_token(token, weights.get(start + k, 0.0)) for k, token in enumerate(row.before))
    here = _token(row.token, weights.get(row.position, 0.0), row=True)
    lines = "".join(
        f'<tr><td>{key.position}</td><td class="tok">{word(key.token)}</td><td>{key.score:.2f}</td>'
        f"<td>{key.weight:.3f}</td></tr>"
        for key in row.best
    )
    return (
        f'<p class="strip">{far}{near}{here}</p>'
        f"<table><caption>Row {row.position}, token <code>{word(row.token)}</code>: the keys with most weight</caption>"
        '<thead><tr><th scope="col">place</th><th scope="col" class="tok">token</th><th scope="col">score</th>'
        f'<th scope="col">weight</th></tr></thead><tbody>{lines}</tbody></table>'
    )


def _token(token: str, weight: float, row: bool = False) -> str:
    kind = " ".join(name for name, holds in (("row", row), ("heavy", weight >= HEAVY)) if holds)
    said = f' class="{kind}"' if kind else ""
    return f'<span{said} style="--w:{weight:.2f}" title="weight {weight:.3f}">{word(token)}</span>'


def word(token: str) -> str:
    """A token as it is shown: what cannot be seen as an escape, cut if it is very long, safe in HTML."""
    seen = "".join(_visible(letter) for letter in token[: LONGEST_TOKEN + 1])
    short = seen if len(token) <= LONGEST_TOKEN else f"{seen[:LONGEST_TOKEN]}…"
    return html.escape(short or "∅")


def _visible(letter: str) -> str:
    if letter == " ":
        return "·"
    if unicodedata.category(letter)[0] in "CZ":
        return letter.encode("unicode_escape", "surrogatepass").decode()
    return letter


def _table(found: Audit) -> str:
    shown = columns(found)
    head = "".join(f'<th scope="col" title="{_text(column.title)}">{column.short}</th>' for column in shown)
    lines = "".join(_line(each, shown) for each in found.heads)
    return (
        '<div class="wide" tabindex="0" role="region" aria-label="All heads"><table class="sortable"><thead><tr>'
        f'<th scope="col">head</th><th scope="col" class="words">what it does</th>{head}</tr></thead>\n'
        f"<tbody>{lines}</tbody></table></div>\n"
        '<p class="quiet">Point at a number for its interval. prev. to dist. are away from the first token; margin and '
        "ball are medians over the rows that it does not win; int8 and int4 are mean total variations; QK and OV are "
        f"ranks. A question mark: the interval reaches below one half. {_text(found.intervals)}</p>"
    )


def _line(head: Head, shown_columns: Sequence[Column]) -> str:
    cells = []
    for column in shown_columns:
        value, mean = column.value(head), head.means.get(column.mean)
        told = ""
        if mean is not None and mean.low is not None and mean.high is not None:
            decimals = int(column.shown.strip(".f"))  # every mean has such a format
            low, high = fixed_below(mean.low, decimals), fixed_above(mean.high, decimals)
            told = f' title="{low} to {high}, {mean.interval}"'
        elif mean is not None:
            told = f' title="{mean.interval}"'
        shown = "–" if value is None else f"{value:{column.shown}}"
        cells.append(f'<td data-value="{"" if value is None else repr(float(value))}"{told}>{shown}</td>')
    said = ", ".join(role.label for role in head.roles)
    order = head.layer * 10_000 + head.head
    return (
        f'<tr><th scope="row" data-value="{order}">{head.name}</th><td class="words">{said}</td>{"".join(cells)}</tr>\n'
    )


def _rounding(heads: Sequence[Head]) -> str:
    lines = []
    for name in FORMATS:
        mine = [head for head in heads if name in head.rounding]
        if not mine:
            return ""
        worst = max(mine, key=lambda head: head.rounding[name].tv.value)
        held = [head.rounding[name] for head in mine]
        middle = [
            median(values) for values in zip(*((one.tv.value, one.bound, one.flips) for one in held), strict=True)
        ]
        lines.append(
            f'<tr><th scope="row" class="words">{name}</th><td>{middle[0]:.4f}</td>'
            f"<td>{worst.rounding[name].tv.value:.4f} ({worst.name})</td><td>{fixed_above(middle[1], 4)}</td>"
            f"<td>{middle[2]:.2%}</td></tr>"
        )
    heading = "".join(
        f'<th scope="col">{said}</th>'
        for said in ("TV, median head", "worst head", "proven bound, median head", "rows with another winner")
    )
    return (
        f"<p>{_sentence(MEANINGS['rounding'])}</p>\n"
        f'<div class="wide" tabindex="0" role="region" aria-label="Rounding"><table><thead><tr>'
        f'<th scope="col" class="words">keys in</th>{heading}</tr></thead><tbody>{"".join(lines)}</tbody></table></div>'
    )


def _ranks(heads: Sequence[Head], left_out: Sequence[str]) -> str:
    if not any(head.spectra for head in heads):
        return ""
    told = f" In this model, {'; '.join(left_out)}." if left_out else ""
    return f"<p>{_sentence(MEANINGS['rank'])}{_text(told)}</p>"


def _order(found: Audit) -> str:
    worst = found.order.moved.max(axis=1)
    layers = ", ".join(f"layer {layer}: {value:.2g}" for layer, value in zip(found.layers, worst, strict=True))
    return (
        f"<p>{found.order.shuffles} shuffles of the tokens between the first and the last of {found.order.tokens}: "
        f"the output of a head at the last place, before W_O, moves by up to this much, relatively. {layers}.</p>"
    )


def _definitions() -> str:
    rows = [("away", AWAY), ("intervals", INTERVAL), *MEANINGS.items(), *((f"'{k}'", v) for k, v in ROLES.items())]
    shown = "".join(f"<dt>{_text(name.replace('_', ' '))}</dt><dd>{_text(said)}</dd>" for name, said in rows)
    return f"<dl>{shown}</dl>"


def _again(found: Audit) -> str:
    rows = [
        ("weights", f"sha256 {found.digest}"),
        ("text", "none: random tokens" if found.text_digest is None else f"sha256 {found.text_digest}"),
        ("seed", str(found.seed)),
        ("date", found.date),
        ("versions", ", ".join(f"{name} {number}" for name, number in found.versions.items())),
    ]
    shown = "".join(f"<dt>{name}</dt><dd>{_text(said)}</dd>" for name, said in rows)
    return f"<pre>{_text(found.command)}</pre>\n<dl>{shown}</dl>"


def _text(said: str) -> str:
    return html.escape(said)


def _sentence(meaning: str) -> str:
    """A meaning as a sentence: its first letter is a capital, and no other is touched (|A|_F is not |a|_f)."""
    return f"{_text(meaning[0].upper() + meaning[1:])}."
