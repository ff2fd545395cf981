"""What an answer says in words about what it counts: 'with biases', 'ignoring softmax', '... per layer'.

Such words change the question. Where the exercise says the same they are meant so; otherwise what was counted is not
what was asked for, or may not be, and nothing is proved or refuted of it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

_WITH = r"with|including|includes|incl|plus|counting|adding"
_WITHOUT = r"without|ignoring|ignore|excluding|excl|neglecting|neglect|omitting|omit|leaving out|except|no"
_PHRASE = re.compile(
    rf"\b(?:(?P<without>{_WITHOUT})|(?P<with>{_WITH}))\b(?:\s+(?:the|all|any|a|an|its))*\s+"
    r"(?P<what>[a-z0-9][a-z0-9 ,-]*)",
    re.IGNORECASE,
)
_PER = re.compile(
    r"^[^$]*?\b(?:per|for each|for every|for one|for a single|in each|in one|of each|of one)\s+"
    r"(?:of the\s+)?(?P<what>[a-z]+)",
    re.IGNORECASE,
)
_PRECISION = re.compile(
    r"\b(?:in|at|using)\s+(?P<what>fp\d+|bf16|float\d+|int\d+|(?:half|single|double|mixed) precision)"
)
_PERCENT = re.compile(r"\d+(?:\.\d+)?\s*(?:percent|per cent|\\?%)", re.IGNORECASE)
_STOPS = re.compile(
    r"\b(?:is|are|we|it|this|that|so|then|hence|there|the number|gives?|gets?|has|have|of)\b"
)


def unused_words(
    before: str, after: str, meant: Collection[str], left_out: Collection[str]
) -> Iterator[str]:
    """Words around a formula that change what it counts, and that the exercise does not say itself.

    >>> list(unused_words("With biases,", "", [], ["biases"]))
    ['With biases']
    >>> list(unused_words("Ignoring the biases,", "in all", [], ["biases"]))
    []
    >>> list(unused_words("So", "per layer", [], []))
    ['per layer']
    """
    for part in (before, after):
        for match in _PHRASE.finditer(part):
            known = left_out if match["without"] else meant
            what = _STOPS.split(match["what"])[0]
            things = [thing.strip() for thing in re.split(r",|\band\b|\bor\b", what)]
            if any(thing and not _is_among(thing, known) for thing in things):
                yield match[0].strip(" ,")
        for match in _PRECISION.finditer(part):
            if not _is_among(match["what"], meant):
                yield match[0]
    percent = _PERCENT.search(before)
    if percent is not None:
        yield percent[0]
    each = _PER.search(after)
    if each is not None and not _is_among(each["what"], meant):
        yield each[0].strip()


def _is_among(thing: str, known: Collection[str]) -> bool:
    words = set(map(_stem, thing.lower().split()))
    return any(set(map(_stem, one.lower().split())) <= words for one in known)


def _stem(word: str) -> str:
    return re.sub(r"(?:es|s)$", "", word)
