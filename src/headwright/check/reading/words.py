r"""What words say that no formula states: so nothing judges it, and it must not be lost.

'$q = t k_a$, and half of it would do' claims two things, of which one is a formula (`said_in_words`). Of the words
behind a term, '$a$ dominates $b$', or behind a formula, '$a > b$ is out of reach', it is not known what they make of it
(`not_understood`); nor of those right before one, 'a longer query has $a = b$' (`leading`). The lexicon has the words
that claim nothing, and that leave a formula as it stands: whether any others are a claim, and a true one, nobody has
decided, and what was judged besides cannot pass on its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from headwright.check.reading.clauses import LIGHT, Clause
from headwright.check.reading.lexicon import lexicon
from headwright.check.reading.predicates import VERBS
from headwright.check.reading.sentences import Token, shown
from headwright.check.reading.written import leads_on

JOINING = frozenset({"and", "but", "while", "yet", "though", "although"})
STARTING = frozenset({"and", "but", "while", "whereas", "so"})  # a new clause begins there
REASONS = frozenset({"as", "by", "from", "using"})
COUNTING = frozenset({"first", "last", "largest", "smallest", "top", "other", "remaining"})
RELATIVE = frozenset({"which", "that"})
CONSEQUENCES = frozenset({"so", "hence", "thus", "therefore", "consequently", "then"})
CAUSES = frozenset({"because", "since"})
CASES = frozenset({"if", "when", "whenever", "for", "once", "unless", "where", "with", "in", "at", "under"})
LABEL = re.compile(r"\d+[a-z]?|[ivx]{1,4}")


TAIL = frozenset(
    {
        "to",
        "on",
        "onto",
        "at",
        "into",
        "so",
        "also",
        "namely",
        "the",
        "does",
        "do",
        "too",
        "one",
        "token",
        "head",
        "key",
    }
)
ORDINAL = frozenset({"first", "second", "third", "fourth", "itself", "both"})
NAMES = re.compile(r"(?:\s*\\?[a-zA-Z]+'?(?:_(?:\w|\{[^{}]*\}))?\s*,?)+")


def said_in_words(clauses: Sequence[Clause]) -> Iterator[tuple[str, int]]:
    r"""The stretches of a sentence that say something without a formula: the words, and the line.

    >>> from headwright.check.reading.clauses import clauses
    >>> from headwright.check.reading.sentences import sentences
    >>> from headwright.check.reading.written import Written
    >>> one, = sentences(Written("$q = k_a$ works, and a smaller $q$ would do as well"))
    >>> list(said_in_words(clauses(one)))
    [('a smaller $q$ would do as well', 1)]
    """
    wordy = not any(clause.formulas for clause in clauses)
    behind = False  # a formula: then a noun is said of it, '$c = u_a$, the first token'
    for clause in clauses:
        if clause.part == "if" and not wordy:
            continue  # a condition that is not understood goes with what is said under it
        if clause.part == "claim" and clause.cue and all(token.kind in ("term", "mark") for token in clause.tokens):
            if any(token.kind == "term" for token in clause.tokens):  # 'it is $1$', 'hence $u_b$': of what, is not said
                yield f"{clause.cue} {shown(clause.tokens)}", clause.tokens[0].line
            continue
        for number, stretch in enumerate(_stretches(clause.tokens)):
            if clause.part == "goal" and number == 0:
                behind = behind or any(token.kind == "formula" for token in stretch)
                continue
            cue = clause.cue if number == 0 else ""
            alone = behind and clause.part in ("claim", "reason", "goal") and _is_tail(stretch)
            if alone or _claims_something(stretch, cue, named=behind):
                yield f"{cue} {shown(stretch)}".lstrip(), stretch[0].line
            behind = behind or any(token.kind == "formula" for token in stretch)


def _is_tail(stretch: Sequence[Token]) -> bool:
    """'..., and to $k_b$', '... and the second', '$c = v_a$ and $v_b$', 'and so it is': of more things, or again."""
    words = {token.text for token in stretch if token.kind == "word"}
    if any(token.kind in ("formula", "mark") for token in stretch) or not words <= TAIL | ORDINAL:
        return False
    return any(token.kind == "term" for token in stretch) or bool(words & ORDINAL) or {"so", "it"} <= words


def ends_in_words(clause: Clause) -> bool:
    """Whether the last stretch of a clause says something without a formula: '$a = b$, which vanishes'."""
    *_, last = _stretches(clause.tokens)
    return _claims_something(last)


def _stretches(tokens: Sequence[Token]) -> Iterator[list[Token]]:
    """Cut at commas, at colons, at 'and', and where a formula is followed by a reason or a case in words."""
    held: list[Token] = []
    for token in tokens:
        word = token.text if token.kind == "word" else ""
        if token.kind == "mark" or word in JOINING:
            yield held
            held = []
            continue
        light = word in LIGHT and any(one.kind == "formula" for one in held)  # '$q = k_a$ as the weights are equal'
        if light or (token.kind == "formula" and leads_on(token.text)):  # 'a = b, as U is the identity, = c'
            yield held
            held = []
        held.append(token)
    yield held


def _claims_something(stretch: Sequence[Token], cue: str = "", *, named: bool = False) -> bool:
    kinds = {token.kind for token in stretch}
    if "formula" in kinds:
        return False
    if "word" not in kinds:  # '$a = b$, $5$': a value, of what stands before it
        return named and any(not NAMES.fullmatch(token.text) for token in stretch)
    words = [token.text for token in stretch if token.kind == "word"]
    if words in (["exactly"], ["copied"], ["copy"]):
        return False  # '$a = b$, exactly', 'copied when $a = b$', 'copy: $a = b$'
    phrase = lexicon().part(words)
    if phrase is not None and phrase.part == "idle" and phrase.words == len(words):
        return "term" in kinds and "integer" not in words  # 'by symmetry', 'for some integer $k$'
    valued = any(token.kind == "term" and not NAMES.fullmatch(token.text) for token in stretch)  # 'of length $2$'
    predicate = [] if cue in lexicon().table("connecting") else cue.split()  # 'is equal to' says something itself
    return not lexicon().claims_nothing([*predicate, *words], beside_a_term="term" in kinds, named=named or valued)


def not_understood(tokens: Sequence[Token]) -> Iterator[tuple[Token, str]]:
    r"""What the words of a clause say of a formula or a term, where the lexicon does not know them.

    >>> said = [Token("term", "a", 1), Token("word", "dominates", 1), Token("term", "b", 1)]
    >>> [(token.text, words) for token, words in not_understood(said)]
    [('a', 'dominates')]
    """
    subject: Token | None = None
    before: Token | None = None  # the last subject: '$a$, as we saw, is prime'
    run: list[str] = []
    for number, token in enumerate(tokens):
        if token.kind == "word":
            run.append(token.text)
            continue
        following = tokens[number + 1] if number + 1 < len(tokens) else None
        if token.text == "," and not run and following is not None and following.text in RELATIVE:
            continue  # '$a$, which ...' goes on with $a$
        yield from _said_of(subject or _resumed(before, run), run, token)
        counts = token.kind == "term" and bool(run) and run[-1] in COUNTING  # 'the first $k$ rows are ...'
        run = []
        before = subject or before
        subject = None if token.kind == "mark" or counts else token
    yield from _said_of(subject or _resumed(before, run), run, None)


def _resumed(before: Token | None, run: Sequence[str]) -> Token | None:
    return before if run and run[0] in VERBS else None


def _said_of(subject: Token | None, run: list[str], following: Token | None) -> Iterator[tuple[Token, str]]:
    last = run[len(run) - run[::-1].index("and") :] if "and" in run else run  # what stands right before the next one
    before_term = following is not None and following.kind == "term"
    joined = next((at for at, word in enumerate(run) if word in STARTING), len(run))  # a new clause begins there
    if following is not None and before_term and last and (_predicates(last) or _compares(last)):
        yield following, " ".join(run)
    elif subject is not None and not lexicon().adds_nothing(_without_reason(run[:joined])):
        yield subject, " ".join(run)
    elif following is not None and before_term and _acts(run):
        yield following, " ".join(run)


def _without_reason(run: Sequence[str]) -> Sequence[str]:
    """'holds as the keys are orthonormal': a reason in words is not said of the formula."""
    return run[: next((at for at, word in enumerate(run) if word in REASONS), len(run))]


def _predicates(run: Sequence[str]) -> bool:
    """'the denominator is', before a term."""
    return any(word in VERBS for word in run) and run[-1] not in ("large", "small", "big", "a", "scalar", "constant")


def _acts(run: Sequence[str]) -> bool:
    """'the softmax picks', before a term."""
    return any(word in lexicon().verbs for word in run)


def _compares(run: Sequence[str]) -> bool:
    """'at most' before a term, without what it is said of."""
    return any(lexicon().sign(run[start:]) is not None for start in range(len(run)))


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
    if words in (["all"], ["each"], ["every"], ["first"], ["second"], ["third"], ["both"]):
        return ""  # 'all $x_i > 0$', 'first $a = b$, then ...'
    return "" if lexicon().leads_in(words, sized=sized) and not _misnamed(words, formula.text) else " ".join(words)


def _misnamed(words: Sequence[str], formula: str) -> bool:
    """'The weights are $k_a^T q = t$': a score is none."""
    weighs = re.search(r"alpha|α|softmax", formula) is not None
    scored = re.search("q|[kx]_", formula) is not None
    wrong = set() if weighs else {"weight", "weights"}
    wrong |= {"score", "scores", "logit", "logits", "key", "keys"} if weighs and not scored else set()
    wrong |= {"mean", "average"} if re.search(r"Var|variance", formula) else set()
    return not wrong.isdisjoint(words)


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
