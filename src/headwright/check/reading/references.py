r"""What words refer to: '$a = b$, which is at most $c$', 'this gives $d$', 'the difference is $e$'.

A value that is said of 'which', 'this' or 'that' goes on with the chain before it, as a line that begins with '=' does;
'the difference is $(c - 1) t$' is said of the two scores before it; and 'if the $\alpha_i$ are the weights
corresponding to $q_1$' says how $\alpha_i$ is to be read from here on.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

from headwright.check.reading.lexicon import lexicon
from headwright.check.reading.sentences import Loose, Token, words_before
from headwright.check.reading.written import leads_on
from headwright.formula.tree import Listing, Name, Node, Number, mapped

WHO = re.compile(
    r"which|(?:this|that)(?: (?:quantity|expression|sum|number|ratio|value|product|bound|quotient|norm))?|the latter"
)
IT = "it"  # what was said before, if it was said for a case: 'for $c = 1/2$ it is $x$'
BOUNDS = (r"\le", r"\ge", "<", ">")
VERBS = frozenset({"is", "are", "becomes", "gives", "equals"})
# Words behind the verb that add nothing: 'which is then $\\ge x$'.
PASSING = frozenset(
    {"then", "now", "thus", "hence", "therefore", "also", "again", "still", "indeed", "clearly", "certainly"}
)
# Words after which what is said goes on; any others before 'this' may make something else of it.
OPENING = frozenset(
    {"and", "so", "but", "then", "hence", "thus", "therefore", "because", "since", "now", "while", "as"}
)
CASES = frozenset({"for", "if", "when", "otherwise", "else"})
_WEIGHTS = re.compile(r"(?:are|denote|be) the (?:attention )?weights (?:corresponding to|belonging to|for|from|of)")
_WEIGHT = re.compile(r"\s*\\([a-z]+)_(?:[a-z]|\{[a-z]\})\s*")
_HEAD = re.compile(r"\s*q_(?:\{(\d)\}|(\d))\s*")
_DIFFERENCE = re.compile(r"(?:the )?difference (?:(?:in|of|between)(?: the)? (?:logits|scores) )?is")
_SCORE = re.compile(r"\s*(s_(?:\w|\{\w+\})|k_(?:\w|\{\w+\})\^(?:\\top|T|\{\\top\}) ?q)\s*=")
INTRODUCING = ("if", "let", "where", "the", "and", "here", ",", "that")
COMPOUND = re.compile(r"[\^+]|\\frac|\\sum|\\ln|\\exp|/|\\alpha_|\|")


HANDED = frozenset({"score", "scores", "weight", "weights"})


def resumed(tokens: Sequence[Token]) -> tuple[Token, ...]:
    r"""Values said of 'which', 'this' or 'that', as formulas that begin with a relation.

    >>> said = [Token("formula", "a = b", 1), *(Token("word", word, 1) for word in "which is at most".split())]
    >>> [token.text for token in resumed([*said, Token("term", "c", 1)])]
    ['a = b', '\\le c']
    """
    found: list[Token] = []
    for number, token in enumerate(tokens):
        found.append(token)
        if token.kind == "word" and (
            number + 1 == len(tokens) or tokens[number + 1].kind == "mark" or tokens[number + 1].text in OPENING
        ):
            _of_nothing(found)
            continue
        if token.kind not in ("term", "formula"):
            continue
        words = words_before(found, len(found) - 1)
        start = len(found) - 1 - len(words)
        if _is_another(found, start, words, tokens[number + 1 :]):
            found[-1] = replace(token, kind="formula", text=f"= {token.text}", loose="nearly", goes_on="instead")
            continue
        handed = any(one.text in HANDED for one in tokens[number + 1 : number + 6])  # 'gives $k_a$ a score of $x$'
        for at in range(len(words) if not (handed and words[-1:] in (["gives"], ["giving"])) else 0):
            made = _made(words[at:], token, case=_in_a_case(found, start))
            if made is None or not all(word in OPENING for word in words[:at]):
                continue
            if words[at] == "which" and (at or not _stands_behind_a_formula(found, start)):
                break  # 'the other scores, which are $0$'
            term = _term_before(found, start)
            if words[at] == "which" and not at and term is not None:
                before = found[term]
                if COMPOUND.search(before.text) is None:
                    break  # 'the score of $k_a$, which is $t$'
                found[term:] = [replace(made, text=f"{before.text} {made.text}", goes_on="")]
            else:
                found[start + at :] = [made]
            break
    return tuple(found)


def bounded(tokens: Sequence[Token]) -> tuple[Token, ...]:
    r"""'$a = b$, below $c$': a bound in words behind a formula goes on with it, perhaps.

    >>> said = [Token("formula", "a = b", 1), Token("mark", ",", 1), Token("word", "below", 1), Token("term", "c", 1)]
    >>> [token.text for token in bounded(said)]
    ['a = b', ',', '< c']
    """
    found: list[Token] = []
    for token in tokens:
        found.append(token)
        words = words_before(found, len(found) - 1) if token.kind == "term" else []
        start = len(found) - 1 - len(words)
        behind = start > 1 and found[start - 1].text == "," and found[start - 2].kind == "formula"
        sign = lexicon().sign(words) if behind and words and words[0] not in VERBS else None
        if sign in BOUNDS:
            found[start:] = [replace(token, kind="formula", text=f"{sign} {token.text}", loose="room", goes_on="end")]
    return tuple(found)


def _made(words: Sequence[str], token: Token, *, case: bool) -> Token | None:
    """'which is at most' and a term, as what a chain goes on with."""
    for size in range(min(3, len(words)), 0, -1):
        who = " ".join(words[:size])
        if (WHO.fullmatch(who) or (who == IT and case)) and words[size:]:
            break
    else:
        return None
    told = [word for word in words[size:] if word not in PASSING] if words[size] in VERBS else words[size:]
    said, table = " ".join(told), lexicon().table
    nearly = said in table("perhaps_nearly")
    loose: Loose = "room" if who == IT else "nearly" if nearly else ""
    sign = "=" if nearly or said in table("equal") else lexicon().sign(told)
    if said in table("unequal"):
        loose, sign = "room", r"\ne"
    if leads_on(token.text):
        return replace(token, goes_on="end") if said in ("is", "are") else None
    if (
        sign is None
        or sign[-1] in "23"
        or (token.kind == "formula" and (who != "which" or said not in ("is", "equals")))
    ):
        return None  # 'that is $a = b$', 'which gives $a = b$'
    return replace(token, kind="formula", text=f"{sign} {token.text}", loose=loose or token.loose, goes_on="end")


def _of_nothing(found: list[Token]) -> None:
    """'which is not zero', with no term behind it."""
    start = len(found)
    while start > 0 and found[start - 1].kind == "word" and found[start - 1].text not in OPENING:
        start -= 1
    who, _, said = " ".join(one.text for one in found[start:]).partition(" ")
    sign = lexicon().of_one(said.split()) if said.startswith(("is ", "are ")) else None
    for known, meant in (("not_zero", r"\ne 0"), ("to_zero", r"\to 0")):
        sign = meant if said in lexicon().table(known) else sign
    if who == "which" and not _stands_behind_a_formula(found, start):
        return
    if sign is not None and WHO.fullmatch(who) and sign.split()[-1] in ("0", "1"):
        term = _term_before(found, start) if who == "which" else None
        if term is not None:  # 'the noise has variance $2 a t^2$, which goes to zero'
            before = found[term]
            if COMPOUND.search(before.text) is not None:
                found[start:] = [replace(before, kind="formula", text=f"{before.text} {sign}", loose="room")]
            return
        found[start:] = [Token("formula", sign, found[start].line, goes_on="end")]


def _term_before(found: Sequence[Token], at: int) -> int | None:
    """Where the term stands that 'which' is said of, with a comma between them or none; None where it is a formula."""
    at -= at > 0 and found[at - 1].text == ","
    return at - 1 if at > 0 and found[at - 1].kind == "term" else None


def _stands_behind_a_formula(found: Sequence[Token], at: int) -> bool:
    """Whether 'which' here goes on with a formula, or a term: with a comma between them, or none."""
    at -= at > 0 and found[at - 1].text == ","
    return at > 0 and found[at - 1].kind in ("formula", "term")


def _in_a_case(found: Sequence[Token], start: int) -> bool:
    """Whether a case stands right before: 'for $c = 1/2$ it is ...'."""
    at = start - 1 if start and found[start - 1].text != "," else start - 2
    if at < 1 or found[at].kind != "formula":
        return False
    while at > 0 and found[at - 1].kind == "word" and found[at - 1].text not in CASES:
        at -= 1
    return at > 0 and found[at - 1].text in CASES


def _is_another(found: Sequence[Token], start: int, words: Sequence[str], after: Sequence[Token]) -> bool:
    """'that is $x$ for $c = 1$ and $y$ for $c = 2$': $y$ is another value of what $x$ is one of."""
    joined = words == ["and"] or (not words and start > 0 and found[start - 1].text == ",")
    if not joined or found[-1].kind != "term" or not after or after[0].text not in CASES:
        return False
    at = start - (2 if not words else 1)
    if at < 2 or found[at].kind != "formula" or found[at - 1].text not in CASES:
        return False
    return found[at - 2].goes_on in ("end", "instead") or (
        found[at - 2].kind == "formula" and "=" in found[at - 2].text
    )


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
        words = words_before(kept, len(kept) - 1)
        at = len(kept) - 2 - len(words)
        weight = _WEIGHT.fullmatch(kept[at].text) if head and at >= 0 and kept[at].kind == "term" else None
        if head and weight and _WEIGHTS.fullmatch(" ".join(words)):
            named[weight[1]], end = int(head[1] or head[2]), number
            del kept[at:]
            while kept and kept[-1].text in INTRODUCING:
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
