"""The report's section on every text: what is proven, how far it goes, and the texts that attain it."""

from __future__ import annotations

import html
from collections.abc import Callable, Iterator, Sequence

from headwright.auditing.every_text_summary import (
    ExtremeWeight,
    FirstLayerBounds,
    PairBounds,
    WeightBounds,
)
from headwright.numerics.enclosure import shown_above, shown_below

DIGITS = 4  # of a proven bound
# Of the picture of a band.
WIDTH = 160
HEIGHT = 14
# Named in a line.
FEW_HEADS = 6
FEW_PAIRS = 3
KEYS = {
    "self": "the row's own token",
    "previous": "the previous token",
    "first": "the first token",
}
MARKS = {"proved": "&#10003; ", "false": "&#10007; ", "open": "? "}

ShowToken = Callable[[str], str]  # a token as it is shown, safe in HTML


def section(bounds: FirstLayerBounds, text: str, show_token: ShowToken) -> str:
    """Sentences, a table with a band for each head and key, pairs, and the texts themselves."""
    safe = _safe_pairs(bounds, text, show_token)
    if bounds.missing:
        why = html.escape(bounds.missing)
        return f"<p>Nothing is said of all texts there are: {why}.</p>{safe}"
    lines = "".join(f"<li>{line}</li>" for line in bound_sentences(bounds))
    summary = f'<ul class="summary">{lines}</ul>\n' if lines else ""
    pairs = f"{_pairs(bounds, text, show_token)}{safe}"
    witnesses = _witnesses(bounds, show_token)
    return f"{_about(bounds, text)}\n{summary}{_bands(bounds)}\n{pairs}{witnesses}"


def _about(bounds: FirstLayerBounds, text: str) -> str:
    any_weight = bounds.weights[0]
    if bounds.whole:
        row = f"whichever of all {bounds.choices} tokens stands there"
    else:
        row = f"with any of {bounds.queries} tokens there, the first that occur in {html.escape(text)}"
    left_out = ""
    if bounds.left_out:
        left_out = (
            f" Heads {_names(bounds.left_out)} were left out, for the work it takes; <code>headwright every-text MODEL "
            f"--length {any_weight.length}</code> looks at them."
        )
    return (
        "<p>In the first layer, a token's query and key depend on the token and its position alone, so the worst text "
        f"is found position by position. This is proven for <b>every text of {any_weight.length} tokens</b>, special "
        f"ones where the model always puts them, and any of {bounds.choices} tokens at each other position: the row at "
        f"position {any_weight.row}, {row}, gives a key no less than the least and no more than the most."
        f"{left_out}</p>\n"
        '<p class="quiet">Proven for the weights in exact arithmetic: rounding is bounded (scores are known to '
        f"{shown_above(bounds.slack, 2)}) and added. Special tokens inside a text, and unused ones, are left out. "
        "The bars reach from least to most; the line in the middle is one half. "
        "Never, always: for how many of the row's tokens no "
        "text, or every text, gives the key one half. Over a large vocabulary least weights are low, as some token "
        "somewhere outscores the rest: there, what informs is largest weights and pairs.</p>"
    )


def bound_sentences(bounds: FirstLayerBounds) -> list[str]:
    """What the numbers come to, in sentences: lower bounds, upper bounds, pairs."""
    return [
        *_lower_bounds(bounds),
        *_upper_bounds(bounds),
        *_pair_sentences(bounds),
    ]


def headline(bounds: FirstLayerBounds) -> str | None:
    """The one sentence for those who read no further: a lower bound, else what pairs have, else an upper bound."""
    of_pairs = []
    if any(pair.above_half for pair in bounds.pairs):
        of_pairs = _pair_sentences(bounds)
    lines = [*_lower_bounds(bounds), *of_pairs, *_upper_bounds(bounds)]
    return f"Proven: {lines[0][0].lower()}{lines[0][1:]}" if lines else None


def _by_key(bounds: FirstLayerBounds) -> Iterator[tuple[str, list[WeightBounds]]]:
    """The words for each key, and the bounds of all heads for it."""
    for key, words in KEYS.items():
        yield words, [weight for weight in bounds.weights if weight.key == key]


def _which_texts(bounds: FirstLayerBounds) -> str:
    if not bounds.weights:
        return ""
    length = f"of {bounds.weights[0].length} tokens"
    if bounds.whole:
        return length
    return f"{length}, whichever of the {bounds.queries} tokens the row has"


def _lower_bounds(bounds: FirstLayerBounds) -> list[str]:
    """Keys that get one half or more in every text."""
    lines = []
    for key, weights in _by_key(bounds):
        always = [weight for weight in weights if weight.always_half == weight.queries]
        if always:
            weakest = min(always, key=lambda weight: weight.least.bound)
            heads = _heads([weight.head for weight in always], "gives", "give")
            lines.append(
                f"In every text {_which_texts(bounds)}, {heads} {key} at "
                f"least {shown_below(weakest.least.bound, DIGITS)}{_of_head(always, weakest)}."
            )
    return lines


def _upper_bounds(bounds: FirstLayerBounds) -> list[str]:
    """Keys that get less than one half in every text."""
    comma = "" if bounds.whole else ","
    lines = []
    for key, weights in _by_key(bounds):
        never = [weight for weight in weights if weight.never_half == weight.queries]
        if never:
            highest = max(never, key=lambda weight: weight.most.bound)
            heads = _heads([weight.head for weight in never])
            lines.append(
                f"No text {_which_texts(bounds)}{comma} lets {heads} give {key} one half; "
                f"the most there is {shown_above(highest.most.bound, DIGITS)}{_of_head(never, highest)}."
            )
    return lines


def _pair_sentences(bounds: FirstLayerBounds) -> list[str]:
    if not bounds.pairs:
        return []
    length = bounds.weights[0].length
    some = [pair for pair in bounds.pairs if pair.above_half]
    none = [pair.head for pair in bounds.pairs if not pair.above_half]
    if not some:
        return [
            f"No head keeps more than one half on the previous token in every text of {length} tokens, for any of "
            f"{bounds.pairs[0].pairs} pairs of adjacent tokens."
        ]
    some.sort(key=lambda pair: -pair.above_half / pair.pairs)
    lines = [
        f"For {pair.above_half} of {pair.pairs} pairs of adjacent tokens, head 0.{pair.head} gives the previous token "
        f"more than one half in every text of {length} tokens, whatever the others are."
        for pair in some[:FEW_HEADS]
    ]
    if none:
        lines.append(f"For none of these pairs: {_heads(none)}.")
    return lines


def _of_head(several: Sequence[WeightBounds], weight: WeightBounds) -> str:
    return f" (head 0.{weight.head})" if len(several) > 1 else ""


def _names(heads: Sequence[int]) -> str:
    return ", ".join(f"0.{head}" for head in heads)


def _heads(heads: Sequence[int], singular: str = "", plural: str = "") -> str:
    """'head 0.1', or 'heads 0.1 and 0.2', with the verb that goes with it."""
    if len(heads) == 1:
        return f"head 0.{heads[0]} {singular}".rstrip()
    named = f"{_names(heads[:-1])} and 0.{heads[-1]}"
    return f"heads {named} {plural}".rstrip()


def _bands(bounds: FirstLayerBounds) -> str:
    lines = "".join(
        f'<tr><th scope="row">0.{weight.head}</th><td class="words">{weight.key}</td>'
        f'<td class="words">{_band(weight)}</td>'
        f"<td>{shown_below(weight.least.bound, DIGITS)}</td><td>{shown_above(weight.most.bound, DIGITS)}</td>"
        f"<td>{weight.never_half} of {weight.queries}</td><td>{weight.always_half} of {weight.queries}</td></tr>"
        for weight in bounds.weights
    )
    return _table(
        "For every text",
        lines,
        [
            ("head", ""),
            ("key", "words"),
            ("from 0 to 1", "words"),
            ("least", ""),
            ("most", ""),
            ("never half", ""),
            ("always half", ""),
        ],
    )


def _band(weight: WeightBounds) -> str:
    least = weight.least.bound
    most = weight.most.bound
    left = least * WIDTH
    width = max(most * WIDTH - left, 1.5)
    label = f"from {shown_below(least, DIGITS)} to {shown_above(most, DIGITS)}"
    return (
        f'<svg class="band" width="{WIDTH}" height="{HEIGHT}" role="img" aria-label="{label}">'
        f'<line class="track" x1="0" y1="{HEIGHT / 2}" x2="{WIDTH}" y2="{HEIGHT / 2}"/>'
        f'<rect x="{left:.2f}" y="2" width="{width:.2f}" height="{HEIGHT - 4}" rx="2"/>'
        f'<line class="half" x1="{WIDTH / 2}" y1="0" x2="{WIDTH / 2}" y2="{HEIGHT}"/></svg>'
    )


def _pairs(bounds: FirstLayerBounds, text: str, show_token: ShowToken) -> str:
    if not bounds.pairs:
        return ""
    lines = "".join(
        f'<tr><th scope="row">0.{pair.head}</th><td>{pair.above_half} of {pair.pairs}</td>'
        f'<td class="tok many">{_weakest_pairs(pair, show_token)}</td></tr>'
        for pair in bounds.pairs
    )
    table = _table(
        "Pairs",
        lines,
        [("head", ""), ("more than half", ""), ("those with the least", "words")],
    )
    return (
        f"<h3>Pairs of {html.escape(text)}</h3>\n<p>A token and the one before it stay, every other position may hold "
        "any token: how many pairs have more than one half on the previous token, and the least weights of those that "
        f"have least (proven).</p>\n{table}"
    )


def _weakest_pairs(pairs: PairBounds, show_token: ShowToken) -> str:
    return ", ".join(
        f"{show_token(pair.before)}&nbsp;{show_token(pair.token)} {shown_below(pair.least, DIGITS)}"
        for pair in pairs.weakest[:FEW_PAIRS]
    )


def _safe_pairs(bounds: FirstLayerBounds, text: str, show_token: ShowToken) -> str:
    """Through both layers: after which pairs the second token is predicted, and up to which length."""
    if not bounds.safe:
        return ""
    lines = ""
    for pair in bounds.safe:
        cells = "".join(
            f'<td class="words">{MARKS[verdict]}{verdict}, {run:.3g}</td>'
            for _, verdict, run in pair.lengths
        )
        tokens = f"{show_token(pair.before)}&nbsp;{show_token(pair.token)}"
        lines += f'<tr><th scope="row" class="tok">{tokens}</th>{cells}</tr>'
    lengths = [(f"{length} tokens", "words") for length, _, _ in bounds.safe[0].lengths]
    table = _table("Safe pairs", lines, [("pair", "words"), *lengths])
    return (
        f"<h3>Which pairs are safe at which length</h3>\n<p>Pairs a b of {html.escape(text)}. A text has a b once, "
        "wherever that is, ends in a, and holds any other token elsewhere: does the model predict b after it, in every "
        "such text? Proved: by the checker of certificates, through both layers, for every position of a b. False: a "
        "run predicts another token. Beside it is the least that b was ahead by on the texts that were run. "
        "<code>headwright every-text MODEL --length T --predict AB</code> has the bounds and a certificate.</p>\n"
        f"{table}"
    )


def _witnesses(bounds: FirstLayerBounds, show_token: ShowToken) -> str:
    lines = ""
    for weight in bounds.weights:
        lines += _witness(weight, "least", weight.least, shown_below, show_token)
        lines += _witness(weight, "most", weight.most, shown_above, show_token)
    table = _table(
        "Texts that attain the bounds",
        lines,
        [
            ("head", ""),
            ("key", "words"),
            ("", "words"),
            ("proven", ""),
            ("run", ""),
            ("text", "tok"),
        ],
    )
    return (
        "\n<details><summary>The texts that attain these bounds, and what the model itself does on them</summary>\n"
        f"<p>As token ids: read again, the words need not come out as the same tokens.</p>{table}</details>"
    )


def _witness(
    weight: WeightBounds,
    name: str,
    extreme: ExtremeWeight,
    round_bound: Callable[[float, int], str],
    show_token: ShowToken,
) -> str:
    text = " ".join(show_token(token) for token in extreme.text)
    return (
        f'<tr><th scope="row">0.{weight.head}</th><td class="words">{weight.key}</td><td class="words">{name}</td>'
        f"<td>{round_bound(extreme.bound, DIGITS)}</td><td>{extreme.run:.4g}</td>"
        f'<td class="tok">{text}</td></tr>'
    )


def _table(name: str, lines: str, columns: Sequence[tuple[str, str]]) -> str:
    """A table whose columns have a heading and a class each."""
    heading = ""
    for title, css_class in columns:
        attribute = f' class="{css_class}"' if css_class else ""
        heading += f'<th scope="col"{attribute}>{title}</th>'
    return (
        f'<div class="wide" tabindex="0" role="region" aria-label="{name}"><table><thead><tr>{heading}</tr></thead>'
        f"<tbody>{lines}</tbody></table></div>"
    )
