"""The least weight on places of one text when a few of its tokens may be replaced."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Int

from headwright.errors import InputError
from headwright.models.loading.model import Model, Tokens
from headwright.models.texts.check_against_model import Attained, attained
from headwright.models.texts.every_text import counted
from headwright.models.texts.first_layer import head_of, texts_of
from headwright.models.texts.head import Head, Texts
from headwright.models.texts.read_layer import first_layer
from headwright.models.texts.sweep import doubt_of, scores_along, share, summed


@dataclass(frozen=True, eq=False)
class Replaced:
    """One text whose other tokens may be replaced, a few of them: what the places keep at least, and the worst text."""

    before: float  # proved of the text as it is: not less
    least: float  # proved: no replacement of so many tokens leaves less
    text: Int[np.ndarray, " length"]


def budgeted(
    head: Head, texts: Texts, text: Int[np.ndarray, " length"], places: Sequence[int], budget: int
) -> Replaced:
    """The least weight on places of one text if up to `budget` of its other tokens are replaced, and how.

    The weight falls with the sum over the other places, and each replacement adds its own gain to that sum: the largest
    gains are the worst. The sum over the others with the worst replacement is the largest of sums that each grow with
    the scores: scores off by a little leave it off by a factor. The same holds of gains that are off by a little.
    """
    table = np.array([scores for _, scores in scores_along(head, texts, int(text[texts.place]))])
    asking = text[texts.place : texts.place + 1]
    slack = max(head.queries(texts.place, at, asking).slack(head.keys(at)) for at in texts.seen)
    at_place = {at: index for index, at in enumerate(texts.seen)}
    present, largest = table[np.arange(len(table)), text[list(texts.seen)]], table[:, : head.free].max(axis=1)
    inside = np.isin(np.array(texts.seen), list(places))
    free = np.array([at_place[at] for at in texts.free if at not in places], dtype=int)
    top = largest[free].max(initial=-np.inf)  # a text holds a free token at a free place: not below what is there
    gains = np.exp(largest[free] - top) - np.exp(present[free] - top)
    worst = free[np.argsort(-gains, kind="stable")[:budget]]
    changed = np.array(text)
    changed[np.array(texts.seen)[worst]] = table[worst][:, : head.free].argmax(axis=1)
    replaced = np.where(np.isin(np.arange(len(table)), worst), largest, present)
    doubt = doubt_of(np.array([2 * slack]), len(table) + 8)
    least = share(summed(replaced[inside][:, None]), summed(replaced[~inside][:, None]), doubt).lower
    before = share(summed(present[inside][:, None]), summed(present[~inside][:, None]), doubt).lower
    return Replaced(float(before[0]), float(least[0]), changed)


@dataclass(frozen=True, eq=False)
class OnBudget:
    """A head's weight on the previous token at the end of a text: as it is, and after the worst few replacements."""

    head: int
    budget: int  # tokens that may be replaced: no more than there are
    before: Attained
    after: Attained


def on_budget(
    model: Model, length: int, text: Tokens, budget: int, heads: Sequence[int] | None = None
) -> list[OnBudget]:  # fmt: skip
    """The first `length` tokens of a text, any `budget` of which may be replaced but the last two and those held."""
    layer = first_layer(model, length)
    texts = texts_of(layer, length)
    if budget < 0:
        raise InputError(f"a budget of {budget} tokens: expected 0 or more")
    inner = length - len(layer.closing)
    if len(text) < inner:
        raise InputError(f"the text has {len(text)} tokens: expected {inner} or more")
    if texts.place - 1 not in texts.free:
        raise InputError(f"texts of {length} tokens: the place before the last is held; expected longer ones")
    at = {int(token): index for index, token in enumerate(layer.tokens)}
    ids = np.array([*text[:inner], *layer.closing])
    counted(layer, [int(ids[place]) for place in (*texts.free, texts.place)])
    mine, found = np.array([at[int(token)] for token in ids]), []
    budget = min(budget, len(texts.free) - 1)  # all but the place asked about
    for number in range(len(layer.queries)) if heads is None else heads:
        worst = budgeted(head_of(layer, number), texts, mine, [texts.place - 1], budget)

        def run(given: Tokens, bound: float, number: int = number) -> Attained:
            return attained(model, number, given, texts, [texts.place - 1], "least", bound)

        found.append(OnBudget(number, budget, run(ids, worst.before), run(layer.tokens[worst.text], worst.least)))
    return found
