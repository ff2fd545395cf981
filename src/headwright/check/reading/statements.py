"""The statements of an answer: its sentences one by one, put into plainer words, cut into clauses, and said."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import replace

from headwright.check.reading.cases import as_cases
from headwright.check.reading.clauses import clauses
from headwright.check.reading.discourse import Discourse, Read, Statement
from headwright.check.reading.grammar import in_words
from headwright.check.reading.paraphrase import paraphrased
from headwright.check.reading.predicates import VERBS
from headwright.check.reading.references import bounded, differences, resumed, weights_named
from headwright.check.reading.saying import IN_WORDS, say
from headwright.check.reading.sentences import LONGEST, Sentence, Token, sentences, shown
from headwright.check.reading.sizes import spoken_of
from headwright.check.reading.things import Objects
from headwright.check.reading.words import said_in_words
from headwright.check.reading.written import Written, leads_on
from headwright.formula import macros
from headwright.formula.tree import Relation

__all__ = ["Read", "Statement", "read"]

MOST_STATEMENTS = 400
SAYING = frozenset({"is", "are", "have", "has", "get", "gets", "gives", "becomes", "it", "this", "we"})
BESIDE = -1  # the number of what is said in words alone: it has no place among the statements
STATING = frozenset({"sum", "add", "vanish", "differ", "commute", "coincide", "agree", "depend", "depends"})
FEW_WORDS = frozenset({"the", "condition", "is", "for", "all", "every", "each", "any", "and", "we", "need"})


def read(written: Written, names: Collection[str] = (), objects: Objects | None = None) -> Read:
    r"""The statements of an answer; `names` are words of several letters that the exercise knows.

    `objects` are the things of the exercise that words may refer to.

    >>> found = read(Written(r"If $g > 1$ then $c \approx v_a$. To show: $c = 0$."))
    >>> [(one.role, one.text, len(one.under)) for one in found.statements]
    [('claim', 'c \\approx v_a', 1), ('goal', 'c = 0', 0)]
    """
    discourse = Discourse(tuple(names), macros(written.text), objects or Objects())
    for sentence in sentences(written):
        if len(discourse.found) > MOST_STATEMENTS:
            break
        _hear(discourse, sentence)
    found = discourse.found[:MOST_STATEMENTS]
    if len(discourse.found) > MOST_STATEMENTS:
        why = f"there are more than {MOST_STATEMENTS} statements, and the rest is not read"
        found.append(replace(discourse.found[MOST_STATEMENTS], role="unclear", why=why))
    if len(written.text) > LONGEST:
        why = f"there are more than {LONGEST} characters, and the rest is not read"
        found.append(Statement("unclear", "...", written.line, sentence="...", why=why))
    numbered = tuple(replace(one, number=number) for number, one in enumerate(found))
    beside, sizes = tuple(discourse.beside), tuple(discourse.sizes)
    return Read(numbered, frozenset(discourse.own), _is_terse(written.text), beside, sizes)


def _hear(discourse: Discourse, sentence: Sentence) -> None:
    """One sentence, after those that were heard before it."""
    text, before = sentence.text, [one.text for one in discourse.found[-4:]]
    plainly = paraphrased(sentence.tokens, discourse.names)
    told = in_words(resumed(plainly), discourse.objects, before)
    named, kept = weights_named(as_cases(bounded(told)))
    discourse.heads |= named
    tokens, asides = _without_asides(differences(kept, before[-2:]))
    sentence = replace(sentence, tokens=_needed(tokens))
    found = clauses(sentence)
    discourse.turn_to(sentence)
    spoken = {word for clause in found for word in clause.words}
    heading = sentence.heading and not spoken & (VERBS | STATING)
    beside = [(shown(aside), aside[0].line) for aside in asides]
    for said, line in (*beside, *(said_in_words(found) if not heading else ())):
        one = Statement("unclear", said, line, sentence=sentence.text, why=IN_WORDS, number=BESIDE)
        discourse.beside.append(replace(one, paragraph=sentence.paragraph))
    start = len(discourse.found)
    say(discourse, sentence, found)
    discourse.found[start:] = [replace(one, paragraph=sentence.paragraph) for one in discourse.found[start:]]
    limits = [one for one in discourse.found[start:] if isinstance(one.node, Relation) and "->" in one.node.comparisons]
    if spoken_of(text) > len(limits):
        discourse.sizes.append(text)


def _without_asides(tokens: Sequence[Token]) -> tuple[tuple[Token, ...], list[list[Token]]]:
    """Without brackets that say something for a case of their own: '$B = x$ (for $k = 1$ this is $B = 0$)'."""
    kept: list[Token] = []
    asides: list[list[Token]] = []
    held: list[Token] | None = None
    for token in tokens:
        mark = token.text if token.kind == "mark" else ""
        if mark == "(" and held is None:
            held = []
        elif mark == ")" and held is not None:
            case = bool(held) and held[0].text in ("for", "if", "when", "in", "e.g.", "with")
            aside = case and sum(one.kind in ("formula", "term") for one in held) > 1
            aside = aside and any(one.text in SAYING if one.kind == "word" else leads_on(one.text) for one in held)
            if aside:
                asides.append(held)
            else:
                kept += [Token("mark", "(", token.line), *held, token]
            held = None
        elif held is not None:
            held.append(token)
        else:
            kept.append(token)
    return (*kept, *([] if held is None else [Token("mark", "(", tokens[0].line), *held])), asides


def _needed(tokens: Sequence[Token]) -> tuple[Token, ...]:
    """What is said to be needed may be so or not; it is not held against the answer, and is not given to it either."""
    found, needed = [], False
    for token in tokens:
        needed = (needed or token.text in ("need", "needs")) and not (token.kind == "mark" and token.text in ";:")
        found.append(replace(token, loose="room") if needed and token.kind == "formula" else token)
    return tuple(found)


def _is_terse(text: str) -> bool:
    words = re.findall(r"[^\W\d_]+", re.sub(r"\$[^$]*\$", " ", text))
    return all(word.lower() in FEW_WORDS for word in words)
