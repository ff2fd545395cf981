r"""What words refer to: 'the sum of $a$ and $b$', names given to the weights of a head, 'the difference' just written.

'If the $\alpha_i$ are the weights corresponding to $q_1$' says how $\alpha_i$ is to be read from here on;
'the difference is $(c - 1) t$' is said of the two scores before it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

from headwright.check.reading.sentences import Token
from headwright.formula.tree import Listing, Name, Node, Number, mapped

_WEIGHTS = re.compile(r"(?:are|denote|be) the (?:attention )?weights (?:corresponding to|belonging to|for|from|of)")
_WEIGHT = re.compile(r"\s*\\([a-z]+)_(?:[a-z]|\{[a-z]\})\s*")
_HEAD = re.compile(r"\s*q_(?:\{(\d)\}|(\d))\s*")
_DIFFERENCE = re.compile(r"(?:the )?difference (?:(?:in|of|between)(?: the)? (?:logits|scores) )?is")
_SCORE = re.compile(r"\s*(s_(?:\w|\{\w+\})|k_(?:\w|\{\w+\})\^(?:\\top|T|\{\\top\}) ?q)\s*=")
OPENING = ("if", "let", "where", "the", "and", "here", ",", "that")


def weights_named(tokens: Sequence[Token]) -> tuple[dict[str, int], tuple[Token, ...]]:
    r"""Which names are given to the weights of which head, and the tokens without that.

    >>> said = [Token("term", r"\beta_i", 1), *(Token("word", w, 1) for w in "are the weights of".split())]
    >>> weights_named([*said, Token("term", "q_2", 1)])
    ({'beta': 2}, ())
    """
    named: dict[str, int] = {}
    kept: list[Token] = []
    end = 0
    for number, token in enumerate(tokens, 1):
        kept.append(token)
        head = _HEAD.fullmatch(token.text) if token.kind == "term" else None
        at = len(kept) - 2
        while at >= 0 and kept[at].kind == "word":
            at -= 1
        weight = _WEIGHT.fullmatch(kept[at].text) if head and at >= 0 and kept[at].kind == "term" else None
        if head and weight and _WEIGHTS.fullmatch(" ".join(one.text for one in kept[at + 1 : -1])):
            named[weight[1]], end = int(head[1] or head[2]), number
            del kept[at:]
            while kept and kept[-1].text in OPENING:
                kept.pop()
    more = end < len(tokens) and tokens[end].text not in (",", ":", ")", "then")
    if not named or (more and tokens[0].text == "if"):
        return {}, tuple(tokens)  # 'if the beta_i are ... and n > 2': there is a condition besides
    return named, tuple(kept[1:] if kept and kept[0].text == "," else kept)


def with_heads(node: Node, named: Mapping[str, int]) -> Node:
    """A formula with the weights of heads in place of the names that were given to them."""
    if isinstance(node, Name) and node.base in named and node.index is not None and not isinstance(node.index, Listing):
        index = Listing((Number(Fraction(named[node.base])), node.index), span=node.span)
        return replace(node, base="alpha", index=index)
    return mapped(node, lambda part: with_heads(part, named))


_TWO = {"sum": "({}) + ({})", "ratio": r"\frac{{{}}}{{{}}}", "difference": "({}) - ({})", "product": "({}) ({})"}
_JOINED = {"sum": "and", "ratio": "to", "difference": "and", "product": "and"}


def phrases(tokens: Sequence[Token]) -> tuple[Token, ...]:
    r"""'the sum of $a$ and $b$ is $x$' as a formula; 'is' may mean 'is nearly'.

    >>> said = [*(Token("word", w, 1) for w in "the sum of".split()), Token("term", "a", 1), Token("word", "and", 1)]
    >>> [token.text for token in phrases([*said, Token("term", "b", 1), Token("word", "is", 1), Token("term", "2", 1)])]
    ['(a) + (b) = 2']
    """
    found = list(tokens)
    for at in range(len(found) - 5, -1, -1):
        the, noun, of, first, *rest = found[at : at + 8]
        words = (the.text, of.text) in (("the", "of"), ("the", "between")) and the.kind == of.kind == "word"
        if not words or first.kind != "term":
            continue
        if noun.text in _TWO and len(rest) > 1 and rest[0].text == _JOINED[noun.text] and rest[1].kind == "term":
            term, size = _TWO[noun.text].format(first.text.strip(), rest[1].text.strip()), 6
        else:
            continue
        is_it, value = (*found[at + size : at + size + 2], None, None)[:2]
        if is_it is not None and value is not None and is_it.text in ("is", "equals") and value.kind != "word":
            said = f"{term} = {value.text}"
            found[at : at + size + 2] = [
                Token("formula", said, first.line, loose="nearly" if is_it.text == "is" else "")
            ]
    return tuple(found)


def differences(tokens: Sequence[Token], before: Sequence[str]) -> tuple[Token, ...]:
    """'the difference is $x$', as a formula about the two scores that were written last.

    >>> said = [*(Token("word", w, 1) for w in "the difference is".split()), Token("term", "t", 1)]
    >>> [token.text for token in differences(said, ["s_1 = 2 t", "s_2 = t"])]
    ['s_1 - s_2 = t']
    """
    words = [one.text for one in tokens if one.kind == "word"]
    last = tokens[-1] if tokens else None
    scores = [_SCORE.match(text) for text in before[-2:]]
    alone = last is not None and last.kind in ("term", "formula") and len(words) == len(tokens) - 1
    if last is None or not alone or len(scores) < 2 or not _DIFFERENCE.fullmatch(" ".join(words)):
        return tuple(tokens)
    if scores[0] is None or scores[1] is None or scores[0][1] == scores[1][1]:
        return tuple(tokens)
    said = f"{scores[0][1]} - {scores[1][1]} = {last.text}"
    return (replace(last, kind="formula", text=said, loose="room"),)
