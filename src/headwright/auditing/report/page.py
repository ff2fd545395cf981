"""The report: one HTML file without external resources, for screen, dark mode, phone and paper.

Every word that comes from a model or a text is escaped: a vocabulary may hold anything.
"""

from __future__ import annotations

import base64
import html
import json
import unicodedata
from collections.abc import Sequence
from importlib.resources import files
from typing import TYPE_CHECKING

from headwright import theme
from headwright.auditing.explain import ExplainedRow, HeadExample
from headwright.auditing.head_findings import HeadFindings, summarise_rounding
from headwright.auditing.measures.circuits import Spectrum
from headwright.auditing.measures.roles import ROLES
from headwright.auditing.measures.summary import Mean
from headwright.auditing.measures.table import (
    BY_NAME,
    DEFINITIONS,
    MEASURES,
    ROUNDINGS,
)
from headwright.auditing.report.columns import (
    Column,
    HeadMap,
    head_maps,
    head_numbers,
    measured_on,
    table_columns,
)
from headwright.auditing.report.every_text import section as every_text_section
from headwright.auditing.report.sentences import (
    INDUCTION_NAMES,
    describe_intervals,
    headline,
    sentences,
)
from headwright.auditing.result import AuditResult
from headwright.numerics.enclosure import fixed_above, fixed_below

if TYPE_CHECKING:
    from headwright.pictures import Chart

LONGEST_TOKEN = 24
LESS_THAN = "\\u003c"  # in a string of a script
POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'unsafe-inline'"
FAR = 0.01  # weight of a key far back that is shown among the tokens
HEAVY = 0.1  # from this weight on a token is underlined as well as coloured


def page(audit: AuditResult) -> str:
    """The whole report.

    >>> from headwright.auditing.auditor import audit
    >>> from headwright.models import load_model
    >>> page(audit(load_model("builtin:induction"), tokens=400)).startswith("<!doctype html>")
    True
    """
    folder = files("headwright.auditing.report")
    style = theme.css() + (folder / "report.css").read_text(encoding="utf-8")
    script = (folder / "report.js").read_text(encoding="utf-8")
    title = html.escape(f"What the heads of {audit.title} do")
    text = audit.text or "the random tokens"
    sections = [
        ("summary", "In short", _summary(audit)),
        ("maps", "Maps", _maps(audit)),
        ("gallery", "Heads worth looking at", _gallery(audit)),
        ("heads", "All heads", _table(audit)),
        ("rounding", "Rounding the keys", _rounding(audit.heads)),
        ("rank", "Rank of the circuits", _ranks(audit)),
        ("order", "Order of the tokens", _order(audit)),
        (
            "texts",
            "For every text",
            every_text_section(audit.every_text, text, show_token),
        ),
        ("definitions", "What the numbers mean", _definitions()),
        ("again", "How to reproduce", _reproduce(audit)),
    ]
    links = ""
    bodies = []
    for name, heading, body in sections:
        if body:
            links += f'<a href="#{name}">{heading}</a>'
            bodies.append(f'<section id="{name}"><h2>{heading}</h2>\n{body}</section>')
    main = "\n".join(bodies)
    return f"""<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="{POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark">
<title>{title}</title>
<style>
{style}</style></head>
<body>
<header><h1>{title}</h1>
{_subtitle(audit)}<nav aria-label="Sections">{links}</nav></header>
<main>
{main}
</main>
<footer>Made by Headwright.</footer>
<script>
{script}</script>
</body>
</html>
"""


def _plural(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def _subtitle(audit: AuditResult) -> str:
    documents = audit.measured_documents
    tokens = sum(len(document.tokens) for document in documents)
    text = html.escape(audit.text or "random tokens that repeat")
    repeated = len(audit.documents) - len(documents)
    extra = ""
    if repeated:
        extra = f", and {_plural(repeated, 'sequence')} of random tokens that repeat"
    induction = ""
    for name, on in audit.induction.items():
        induction += (
            f" {INDUCTION_NAMES[name].capitalize()} on {_plural(on.sequences, 'sequence')} of "
            f"{on.context} tokens with period {on.period}."
        )
    return (
        f'<p class="quiet">{len(audit.heads)} heads in {len(audit.layers)} layers, measured on {text}: {tokens} '
        f"tokens in {_plural(len(documents), 'document')} of up to {audit.context}, "
        f"{audit.rows} rows of each head{extra}.{induction} {html.escape(describe_intervals(audit))} "
        f"{audit.date}.</p>\n"
    )


def _summary(audit: AuditResult) -> str:
    lines = "".join(f"<li>{html.escape(line)}</li>" for line in sentences(audit))
    missing = "".join(
        f"<li>Not measured: {html.escape(what)}; {html.escape(why)}.</li>"
        for what, why in audit.not_measured.items()
    )
    return (
        f'<ul class="summary">{lines}{missing}</ul>\n<p class="quiet">Heads are named layer.head, from 0. Numbers are '
        f"floating-point means over rows, unless they are called proven; intervals are in the table below, and every "
        f"word is defined at the end.</p>"
    )


def audit_picture(audit: AuditResult) -> Chart:
    """The maps as a chart, for a file."""
    from headwright.pictures import maps_chart

    maps = {
        drawn.column.title: (drawn.values, drawn.full_colour)
        for drawn in head_maps(audit)
    }
    title = f"What the heads of {audit.title} do: {headline(audit)}"
    return maps_chart(maps, audit.layers, head_numbers(audit), title)


def _maps(audit: AuditResult) -> str:
    figures = "".join(_map_figure(audit, drawn) for drawn in head_maps(audit))
    return (
        "<p>A row for each layer, from the first; a column for each head. Point at a cell for its number; all of them "
        "are in the table below. * away from the first token; left empty for heads that give it more than nine tenths, "
        "but for induction, which is measured on other tokens.</p>\n"
        f'<div class="maps">{figures}</div>'
    )


def _map_figure(audit: AuditResult, drawn: HeadMap) -> str:
    from headwright.pictures import head_map

    column = drawn.column
    picture = head_map(
        drawn.values,
        audit.layers,
        head_numbers(audit),
        column.title,
        full_colour=drawn.full_colour,
        number_format=column.display.number_format,
    )
    scale = f'<div class="scale" aria-hidden="true">0<i></i>{column.display.text(drawn.full_colour)}</div>'
    caption = f"<b>{column.title}</b>{column.display.caption}"
    return f"<figure><figcaption>{caption}</figcaption>{picture}{scale}</figure>"


def _gallery(audit: AuditResult) -> str:
    """The cards, and the tokens of their documents, for who points at a map."""
    script_ids: dict[str, str] = {}  # by document
    scripts = ""
    cards = ""
    for example in audit.examples:
        if example.document not in script_ids:
            script_id = f"words-{len(script_ids)}"
            script_ids[example.document] = script_id
            words = [html.unescape(show_token(token)) for token in example.words]
            content = json.dumps(words).replace("<", LESS_THAN)
            scripts += (
                f'<script type="application/json" id="{script_id}">{content}</script>'
            )
        cards += _card(audit, example, script_ids[example.document])
    return f'<div class="cards">{cards}</div>{scripts}' if cards else ""


def _card(audit: AuditResult, example: HeadExample, script_id: str) -> str:
    rows = "".join(_row(row) for row in example.rows)
    decimals = 2 if example.value < 100 else 0
    meaning = html.escape(BY_NAME[example.measure].meaning)
    value = f"{example.value:.{decimals}f}{measured_on(audit, example.measure)}"
    return (
        f"<article><h3>{example.layer}.{example.head}: {html.escape(example.title)}</h3>"
        f'<p class="quiet">{meaning}: {value}. Shown on {html.escape(example.document)}.</p>'
        f"{_pattern(example, script_id)}{rows}</article>\n"
    )


def _pattern(example: HeadExample, script_id: str) -> str:
    """The pattern over the whole document, averaged over bins, as a picture."""
    drawn = example.map
    image = base64.b64encode(drawn.png()).decode()
    label = f"The pattern of head {example.layer}.{example.head} on {example.document}, rows down and keys across"
    bins = f'data-rows="{json.dumps(drawn.rows.tolist())}" data-keys="{json.dumps(drawn.keys.tolist())}"'
    picture = f'<img src="data:image/png;base64,{image}" alt="{html.escape(label)}">'
    return (
        f'<div class="pattern" data-words="{script_id}" {bins}>{picture}'
        "<output>The whole pattern, rows down and keys across: point at it for its tokens.</output></div>"
    )


def _row(row: ExplainedRow) -> str:
    """Tokens around the row, coloured by weight, and the keys with most in a table."""
    weights = {key.position: key.weight for key in row.best}
    start = row.position - len(row.before)
    # Heavy keys before the window, then the window, then the row's own token.
    strip = ""
    for key in sorted(row.best, key=lambda key: key.position):
        if key.position < start and key.weight >= FAR:
            strip += f'{_token(key.token, key.weight)}<span class="gap">…</span>'
    for position, token in enumerate(row.before, start):
        strip += _token(token, weights.get(position, 0.0))
    strip += _token(row.token, weights.get(row.position, 0.0), is_row=True)
    lines = "".join(
        f'<tr><td>{key.position}</td><td class="tok">{show_token(key.token)}</td><td>{key.score:.2f}</td>'
        f"<td>{key.weight:.3f}</td></tr>"
        for key in row.best
    )
    token = show_token(row.token)
    return (
        f'<p class="strip">{strip}</p>'
        f"<table><caption>Row {row.position}, token <code>{token}</code>: the keys with most weight</caption>"
        '<thead><tr><th scope="col">position</th><th scope="col" class="tok">token</th><th scope="col">score</th>'
        f'<th scope="col">weight</th></tr></thead><tbody>{lines}</tbody></table>'
    )


def _token(token: str, weight: float, is_row: bool = False) -> str:
    classes = []
    if is_row:
        classes.append("row")
    if weight >= HEAVY:
        classes.append("heavy")
    attribute = f' class="{" ".join(classes)}"' if classes else ""
    return (
        f'<span{attribute} style="--w:{weight:.2f}" title="weight {weight:.3f}">'
        f"{show_token(token)}</span>"
    )


def show_token(token: str) -> str:
    """A token as it is shown: what cannot be seen as an escape, cut if it is very long, safe in HTML."""
    visible = "".join(_visible(letter) for letter in token[: LONGEST_TOKEN + 1])
    if len(token) > LONGEST_TOKEN:
        visible = f"{visible[:LONGEST_TOKEN]}…"
    return html.escape(visible or "∅")


def _visible(letter: str) -> str:
    if letter == " ":
        return "·"
    if unicodedata.category(letter)[0] in "CZ":
        return letter.encode("unicode_escape", "surrogatepass").decode()
    return letter


def _table(audit: AuditResult) -> str:
    columns = table_columns(audit)
    heading = "".join(
        f'<th scope="col" title="{html.escape(column.title)}">{column.display.heading}</th>'
        for column in columns
    )
    lines = "".join(_table_line(head, columns) for head in audit.heads)
    away = [column for column in columns if column.measure.name.endswith("_away")]
    means = [column for column in away if column.measure.kind == "mean"]
    return (
        '<div class="wide" tabindex="0" role="region" aria-label="All heads"><table class="sortable"><thead><tr>'
        f'<th scope="col">head</th><th scope="col" class="words">what it does</th>{heading}</tr></thead>\n'
        f"<tbody>{lines}</tbody></table></div>\n"
        f'<p class="quiet">Point at a number for its interval. {means[0].display.heading} to '
        f"{means[-1].display.heading} are away from the first token; margin and radius are medians over the rows that "
        "it does not win; int8 and int4 are mean total variations; QK and OV are ranks. A question mark: the interval "
        f"reaches below one half. {html.escape(describe_intervals(audit))}</p>"
    )


def _table_line(head: HeadFindings, columns: Sequence[Column]) -> str:
    cells = ""
    for column in columns:
        value = column.value(head)
        sort_key = "" if value is None else repr(float(value))
        interval = _interval(column, head)
        tooltip = f' title="{interval}"' if interval else ""
        cells += f'<td data-value="{sort_key}"{tooltip}>{column.text(head, missing="–")}</td>'
    roles = ", ".join(role.label for role in head.roles)
    order = head.layer * 10_000 + head.head
    return (
        f'<tr><th scope="row" data-value="{order}">{head.name}</th><td class="words">{roles}</td>'
        f"{cells}</tr>\n"
    )


def _interval(column: Column, head: HeadFindings) -> str:
    """The interval of a mean, rounded outward, or why there is none; nothing for other numbers."""
    mean = head.result(column.measure.name, Mean)
    if mean is None:
        return ""
    if mean.low is None or mean.high is None:
        return mean.interval
    low = fixed_below(mean.low, column.display.decimals)
    high = fixed_above(mean.high, column.display.decimals)
    return f"{low} to {high}, {mean.interval}"


def _rounding(heads: Sequence[HeadFindings]) -> str:
    lines = ""
    for measure in ROUNDINGS:
        effect = summarise_rounding(heads, measure.name)
        if effect is None:
            return ""
        lines += (
            f'<tr><th scope="row" class="words">{measure.number_format}</th><td>{effect.tv:.4f}</td>'
            f"<td>{effect.worst_tv:.4f} ({effect.worst_head})</td><td>{fixed_above(effect.bound, 4)}</td>"
            f"<td>{effect.flips:.2%}</td></tr>"
        )
    headings = (
        "TV, median head",
        "worst head",
        "proven bound, median head",
        "rows with another winner",
    )
    heading = "".join(f'<th scope="col">{title}</th>' for title in headings)
    return (
        f"<p>{_sentence(DEFINITIONS['rounding'])}</p>\n"
        f'<div class="wide" tabindex="0" role="region" aria-label="Rounding"><table><thead><tr>'
        f'<th scope="col" class="words">keys in</th>{heading}</tr></thead><tbody>{lines}</tbody></table></div>'
    )


def _ranks(audit: AuditResult) -> str:
    if not any(head.result("qk_rank", Spectrum) for head in audit.heads):
        return ""
    meaning = _sentence(BY_NAME["qk_rank"].meaning)
    left_out = ""
    if audit.circuits_leave_out:
        left_out = f" In this model, {'; '.join(audit.circuits_leave_out)}."
    return f"<p>{meaning}{html.escape(left_out)}</p>"


def _order(audit: AuditResult) -> str:
    worst = audit.order.moved.max(axis=1)
    layers = ", ".join(
        f"layer {layer}: {value:.2g}"
        for layer, value in zip(audit.layers, worst, strict=True)
    )
    return (
        f"<p>{audit.order.shuffles} shuffles of the tokens between the first and the last of {audit.order.tokens}: "
        f"the output of a head at the last position, before W_O, moves by up to this much, relatively. {layers}.</p>"
    )


def _definitions() -> str:
    """The measures, those with the same meaning together, and the roles."""
    names: dict[str, list[str]] = {}  # by meaning
    for measure in MEASURES:
        names.setdefault(measure.meaning, []).append(measure.name.replace("_", " "))
    rows = list(DEFINITIONS.items())
    rows += [(", ".join(same), meaning) for meaning, same in names.items()]
    rows += [(f"'{kind.name}'", kind.meaning) for kind in ROLES]
    return _definition_list(rows)


def _reproduce(audit: AuditResult) -> str:
    text = "none: random tokens"
    if audit.text_digest is not None:
        text = f"sha256 {audit.text_digest}"
    versions = ", ".join(f"{name} {number}" for name, number in audit.versions.items())
    rows = [
        ("weights", f"sha256 {audit.digest}"),
        ("text", text),
        ("seed", str(audit.seed)),
        ("date", audit.date),
        ("versions", versions),
    ]
    return f"<pre>{html.escape(audit.command)}</pre>\n{_definition_list(rows)}"


def _definition_list(rows: Sequence[tuple[str, str]]) -> str:
    lines = "".join(
        f"<dt>{html.escape(name)}</dt><dd>{html.escape(text)}</dd>"
        for name, text in rows
    )
    return f"<dl>{lines}</dl>"


def _sentence(meaning: str) -> str:
    """A meaning as a sentence: its first letter is a capital, and no other is touched (|A|_F is not |a|_f)."""
    return f"{html.escape(meaning[0].upper() + meaning[1:])}."
