r"""What stands right before a formula: 'a longer query has $a = b$' does not say that a = b here.

What a formula is said of, or when, may be in those words. Where the lexicon does not know them, the formula is judged
neither way.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from headwright.check.reading.lexicon import lexicon
from headwright.check.reading.predicates import VERBS
from headwright.check.reading.sentences import Token

CONSEQUENCES = frozenset({"so", "hence", "thus", "therefore", "consequently", "then"})
LABEL = re.compile(r"\d+[a-z]?|[ivx]{1,4}")
CAUSES = frozenset({"because", "since"})
CASES = frozenset({"if", "when", "whenever", "for", "once", "unless", "where", "with", "in", "at", "under"})


def leading(tokens: Sequence[Token], formula: Token) -> str:
    r"""The words right before a formula, in its sentence, where the lexicon does not know them; '' where it does.

    What the formula is said of, or when, may be in them. A consequence ('so ...') and a reason ('since ..., ') are not.

    >>> said = [*(Token("word", word, 1) for word in "a longer query has".split()), Token("formula", "a = b", 1)]
    >>> leading(said, said[-1]), leading(said[:1] + said[-1:], said[-1])
    ('a longer query has', '')
    """
    at = next((number for number, one in enumerate(tokens) if one is formula), 0)
    stretch: list[str] = []
    kept: list[str] = []
    start = _previous(tokens, at)
    reason, behind, sized = False, start > 0, False
    for token in tokens[start:at]:
        if token.kind == "mark":
            ended = behind and stretch[:1] != [] and stretch[0] in CASES  # '$a = b$ for all others, ...'
            kept = [] if reason or ended or (token.text == "," and _is_clause(stretch)) else [*kept, *stretch]
            stretch, reason, behind = [], False, False
        elif token.kind == "word" and token.text in CONSEQUENCES | CAUSES:
            kept, stretch, reason = [], [], token.text in CAUSES
        elif token.kind == "word" and (token.line < formula.line - 1 or LABEL.fullmatch(token.text)):
            continue  # of another paragraph, or '1a)'
        elif token.kind == "word":
            stretch.append(token.text)
        elif token.kind == "term":
            del stretch[len(stretch) - _described(stretch) :]
            sized = True
    words = [*kept, *stretch]
    if words in (["all"], ["first"], ["second"], ["third"], ["both"]):
        return ""  # 'all $x_i > 0$', 'first $a = b$, then ...'
    return "" if lexicon().leads_in(words, sized=sized) and not _misnamed(words, formula.text) else " ".join(words)


def _misnamed(words: Sequence[str], formula: str) -> bool:
    """'The weights are $k_a^T q = t$': a score is none."""
    weighs = re.search(r"alpha|α|softmax", formula) is not None
    varies = re.search(r"Var|variance", formula) is not None
    return any(
        (word in ("weight", "weights") and not weighs)
        or (
            word in ("score", "scores", "logit", "logits", "key", "keys")
            and weighs
            and not re.search("q|[kx]_", formula)
        )
        or (word in ("mean", "average") and varies)
        for word in words
    )


def _previous(tokens: Sequence[Token], at: int) -> int:
    """Where the words before a formula begin: behind another one."""
    return next((number + 1 for number in range(at - 1, -1, -1) if tokens[number].kind == "formula"), 0)


def _described(stretch: Sequence[str]) -> int:
    """How many words call the term behind them large or small, which is read."""
    found = ((size, lexicon().adjective(stretch[len(stretch) - size :])) for size in range(len(stretch), 0, -1))
    return next((size for size, one in found if one is not None and one.words == size), 0)


def _is_clause(stretch: Sequence[str]) -> bool:
    """A clause of its own, and no case: 'the query is long, ...'."""
    case = bool(stretch) and stretch[0] in CASES
    return not case and any(word in VERBS or word in lexicon().verbs for word in stretch)
