"""The report's section on every text: what is proven, how far it goes, and the texts that attain it."""

from __future__ import annotations

import html
from collections.abc import Callable, Iterator, Sequence

from headwright.enclosure import shown_above, shown_below
from headwright.models.every_text_summary import Extreme, FirstLayerBounds, OnEveryText, PairsOnEveryText

DIGITS = 4  # of a proven bound
WIDE, HIGH = 160, 14  # of the picture of a band
FEW_HEADS, FEW_PAIRS = 6, 3  # named in a line
WHERE = {"self": "the row's own token", "previous": "the previous token", "first": "the first token"}

Word = Callable[[str], str]  # a token as it is shown, safe in HTML


def section(found: FirstLayerBounds, text: str, word: Word) -> str:
    """Sentences, a table with a band for each head and place, pairs, and the texts themselves."""
    if found.missing:
        return f"<p>Nothing is said of all texts there are: {html.escape(found.missing)}.</p>{_safe(found, text, word)}"
    lines = "".join(f"<li>{line}</li>" for line in bound_sentences(found))
    summary = f'<ul class="summary">{lines}</ul>\n' if lines else ""
    pairs = f"{_pairs(found, text, word)}{_safe(found, text, word)}"
    return f"{_about(found, text)}\n{summary}{_bands(found)}\n{pairs}{_witnesses(found, word)}"


def _about(found: FirstLayerBounds, text: str) -> str:
    one = found.places[0]
    row = (
        f"whichever of all {found.choices} tokens stands there"
        if found.whole
        else f"with any of {found.queries} tokens there, the first that occur in {html.escape(text)}"
    )
    left = (
        f" Heads {_names(found.left_out)} were left out, for the work it takes; <code>headwright every-text MODEL "
        f"--length {one.length}</code> looks at them." if found.left_out else ""
    )  # fmt: skip
    return (
        "<p>In the first layer, a token's query and key depend on the token and its place alone, so the worst text is "
        f"found place by place. This is proven for <b>every text of {one.length} tokens</b>, special ones where the "
        f"model always puts them, and any of {found.choices} tokens at each other place: the row at place {one.at}, "
        f"{row}, gives a place no less than the least and no more than the most.{left}</p>\n"
        '<p class="quiet">Proven for the weights in exact arithmetic: rounding is bounded (scores are known to '
        f"{shown_above(found.slack, 2)}) and added. Special tokens inside a text, and unused ones, are left out. "
        "The bars reach from least to most; the line in the middle is one half. "
        "Never, always: for how many of the row's tokens no "
        "text, or every text, gives the place one half. Over a large vocabulary floors are low, as some token "
        "somewhere outscores the rest: there, what informs is ceilings and pairs.</p>"
    )


def bound_sentences(found: FirstLayerBounds) -> list[str]:
    """What the numbers come to, in sentences: floors, ceilings, pairs."""
    return [*_floors_told(found), *_ceilings_told(found), *_pairs_told(found)]


def headline(found: FirstLayerBounds) -> str | None:
    """The one sentence for those who read no further: a floor, or else what pairs keep, or else a ceiling."""
    firm = _pairs_told(found) if any(one.kept for one in found.pairs) else []
    lines = [*_floors_told(found), *firm, *_ceilings_told(found)]
    return f"Proven: {lines[0][0].lower()}{lines[0][1:]}" if lines else None


def _by_place(found: FirstLayerBounds) -> Iterator[tuple[str, list[OnEveryText]]]:
    yield from ((said, [one for one in found.places if one.place == place]) for place, said in WHERE.items())


def _every(found: FirstLayerBounds) -> str:
    which = "" if found.whole else f", whichever of the {found.queries} tokens the row has"
    return f"of {found.places[0].length} tokens{which}" if found.places else ""


def _floors_told(found: FirstLayerBounds) -> list[str]:
    lines = []
    for said, mine in _by_place(found):
        floors = [one for one in mine if one.always_half == one.queries]
        if floors:
            weakest = min(floors, key=lambda one: one.least.bound)
            lines.append(
                f"In every text {_every(found)}, {_heads([one.head for one in floors], 'gives', 'give')} {said} at "
                f"least {shown_below(weakest.least.bound, DIGITS)}{_weakest(floors, weakest)}."
            )
    return lines


def _ceilings_told(found: FirstLayerBounds) -> list[str]:
    lines, comma = [], "" if found.whole else ","
    for said, mine in _by_place(found):
        ceilings = [one for one in mine if one.never_half == one.queries]
        if ceilings:
            highest = max(ceilings, key=lambda one: one.most.bound)
            lines.append(
                f"No text {_every(found)}{comma} lets {_heads([one.head for one in ceilings])} give {said} one half; "
                f"the most there is {shown_above(highest.most.bound, DIGITS)}{_weakest(ceilings, highest)}."
            )
    return lines


def _pairs_told(found: FirstLayerBounds) -> list[str]:
    if not found.pairs:
        return []
    length = found.places[0].length
    firm = sorted((one for one in found.pairs if one.kept), key=lambda one: -one.kept / one.pairs)
    none = [one.head for one in found.pairs if not one.kept]
    if not firm:
        return [f"No head keeps more than one half on the previous token in every text of {length} tokens, for any of "
                f"{found.pairs[0].pairs} pairs of adjacent tokens."]  # fmt: skip
    lines = [
        f"For {one.kept} of {one.pairs} pairs of adjacent tokens, head 0.{one.head} gives the previous token more than "
        f"one half in every text of {length} tokens, whatever the others are."
        for one in firm[:FEW_HEADS]
    ]
    return lines + ([f"For none of these pairs: {_heads(none)}."] if none else [])


def _weakest(several: Sequence[OnEveryText], one: OnEveryText) -> str:
    return f" (head 0.{one.head})" if len(several) > 1 else ""


def _names(heads: Sequence[int]) -> str:
    return ", ".join(f"0.{head}" for head in heads)


def _heads(heads: Sequence[int], one: str = "", many: str = "") -> str:
    """'head 0.1', or 'heads 0.1 and 0.2', with the verb that goes with it."""
    if len(heads) == 1:
        return f"head 0.{heads[0]}{f' {one}' if one else ''}"
    named = _names(heads[:-1]) + f" and 0.{heads[-1]}"
    return f"heads {named}{f' {many}' if many else ''}"


def _bands(found: FirstLayerBounds) -> str:
    lines = "".join(
        f'<tr><th scope="row">0.{each.head}</th><td class="words">{each.place}</td><td class="words">{_band(each)}</td>'
        f"<td>{shown_below(each.least.bound, DIGITS)}</td><td>{shown_above(each.most.bound, DIGITS)}</td>"
        f"<td>{each.never_half} of {each.queries}</td><td>{each.always_half} of {each.queries}</td></tr>"
        for each in found.places
    )
    return _table(
        "For every text", lines,
        [("head", ""), ("place", "words"), ("from 0 to 1", "words"), ("least", ""), ("most", ""), ("never half", ""),
         ("always half", "")],
    )  # fmt: skip


def _band(one: OnEveryText) -> str:
    left, right = one.least.bound * WIDE, one.most.bound * WIDE
    said = f"from {shown_below(one.least.bound, DIGITS)} to {shown_above(one.most.bound, DIGITS)}"
    return (
        f'<svg class="band" width="{WIDE}" height="{HIGH}" role="img" aria-label="{said}">'
        f'<line class="track" x1="0" y1="{HIGH / 2}" x2="{WIDE}" y2="{HIGH / 2}"/>'
        f'<rect x="{left:.2f}" y="2" width="{max(right - left, 1.5):.2f}" height="{HIGH - 4}" rx="2"/>'
        f'<line class="half" x1="{WIDE / 2}" y1="0" x2="{WIDE / 2}" y2="{HIGH}"/></svg>'
    )


def _pairs(found: FirstLayerBounds, text: str, word: Word) -> str:
    if not found.pairs:
        return ""
    lines = "".join(
        f'<tr><th scope="row">0.{one.head}</th><td>{one.kept} of {one.pairs}</td>'
        f'<td class="tok many">{_broken(one, word)}</td></tr>'
        for one in found.pairs
    )
    return (
        f"<h3>Pairs of {html.escape(text)}</h3>\n<p>A token and the one before it stay, every other place may hold any "
        "token: how many pairs keep more than one half on the previous token, and what those keep that keep least "
        "(proven).</p>\n"
    ) + _table("Pairs", lines, [("head", ""), ("more than half", ""), ("those that keep least", "words")])


def _safe(found: FirstLayerBounds, text: str, word: Word) -> str:
    """Through both layers: after which pairs the second token is predicted, and up to which length."""
    if not found.safe:
        return ""
    marks = {"proved": "&#10003; ", "false": "&#10007; ", "open": "? "}
    lines = "".join(
        f'<tr><th scope="row" class="tok">{word(one.before)}&nbsp;{word(one.token)}</th>'
        + "".join(f'<td class="words">{marks[said]}{said}, {run:.3g}</td>' for _, said, run in one.lengths) + "</tr>"
        for one in found.safe
    )  # fmt: skip
    lengths = [length for length, _, _ in found.safe[0].lengths]
    return (
        f"<h3>Which pairs are safe at which length</h3>\n<p>Pairs a b of {html.escape(text)}. A text has a b once, "
        "wherever that is, ends in a, and holds any other token elsewhere: does the model predict b after it, in every "
        "such text? Proved: by the checker of certificates, through both layers, for every place of a b. False: a run "
        "predicts another token. Beside it is the least that b was ahead by on the texts that were run. "
        "<code>headwright every-text MODEL --length T --predict AB</code> has the bounds and a certificate.</p>\n"
    ) + _table("Safe pairs", lines, [("pair", "words"), *((f"{length} tokens", "words") for length in lengths)])


def _broken(one: PairsOnEveryText, word: Word) -> str:
    return ", ".join(
        f"{word(pair.before)}&nbsp;{word(pair.token)} {shown_below(pair.least, DIGITS)}"
        for pair in one.broken[:FEW_PAIRS]
    )


def _witnesses(found: FirstLayerBounds, word: Word) -> str:
    lines = "".join(
        f'<tr><th scope="row">0.{each.head}</th><td class="words">{each.place}</td><td class="words">{name}</td>'
        f"<td>{shown(extreme.bound, DIGITS)}</td><td>{extreme.run:.4g}</td>{_witness(extreme, word)}</tr>"
        for each in found.places
        for name, extreme, shown in (("least", each.least, shown_below), ("most", each.most, shown_above))
    )
    table = _table(
        "Texts that attain the bounds", lines,
        [("head", ""), ("place", "words"), ("", "words"), ("proven", ""), ("run", ""), ("text", "tok")],
    )  # fmt: skip
    return (
        "\n<details><summary>The texts that attain these bounds, and what the model itself does on them</summary>\n"
        f"<p>As token ids: read again, the words need not come out as the same tokens.</p>{table}</details>"
    )


def _witness(extreme: Extreme, word: Word) -> str:
    return f'<td class="tok">{" ".join(word(token) for token in extreme.text)}</td>'


def _table(name: str, lines: str, columns: Sequence[tuple[str, str]]) -> str:
    kinds = {"": "", "words": ' class="words"', "tok": ' class="tok"'}
    heading = "".join(f'<th scope="col"{kinds[kind]}>{said}</th>' for said, kind in columns)
    return (
        f'<div class="wide" tabindex="0" role="region" aria-label="{name}"><table><thead><tr>{heading}</tr></thead>'
        f"<tbody>{lines}</tbody></table></div>"
    )
