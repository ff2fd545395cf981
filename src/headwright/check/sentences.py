"""Sentences: the text of an answer as words, marks and formulas in order, cut where sentences end.

A sentence may run over a displayed formula and over the end of a paragraph: 'we set', a display, 'where lambda is
large'. Formulas without marks, as people type them in plain text, are found by their looks.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Literal

from headwright.check.markdown import (
    ENVIRONMENTS,
    Piece,
    Written,
    as_sentences,
    blocks,
    compares,
    find_formulas,
    is_table,
    leads_on,
)

if TYPE_CHECKING:
    from markdown_it.token import Token as Block

REACH = 60  # characters in which the mark of a formula is looked for
MOST_TOKENS = 400  # of one sentence; a longer one is not understood
LONGEST = 200_000  # characters of one answer; what is beyond is not read
ABBREVIATIONS = (
    "e.g.",
    "i.e.",
    "w.r.t.",
    "resp.",
    "cf.",
    "eq.",
    "w.l.o.g.",
    "a.s.",
    "vs.",
    "suff.",
    "approx.",
    "resp.",
)
MATHEMATICS = ("", "math", "latex", "tex", "text", "txt")  # what a fenced block with formulas may be called

Kind = Literal["word", "mark", "formula", "term"]


@dataclass(frozen=True)
class Token:
    """A word in lower case, a mark such as a comma, a formula that compares, or a term that states nothing ($n$)."""

    kind: Kind
    text: str
    line: int
    display: bool = False


def shown(tokens: Iterable[Token]) -> str:
    """Tokens as they were written, more or less."""
    return " ".join(f"${one.text}$" if one.kind in ("formula", "term") else one.text for one in tokens)


@dataclass(frozen=True)
class Sentence:
    """Tokens up to a full stop; `item` where it begins an item of a list, `paragraph` counts the blocks."""

    tokens: tuple[Token, ...]
    paragraph: int
    item: bool = False
    heading: bool = False
    end: str = ""  # the mark that ended it: . ; : ? or none; ... where it is too long

    @property
    def line(self) -> int:
        """Where it begins."""
        return self.tokens[0].line if self.tokens else 0

    @cached_property
    def text(self) -> str:
        """For showing: what was written, more or less."""
        return re.sub(r" ([,:)])", r"\1", shown(self.tokens).replace("( ", "("))


def sentences(written: Written) -> tuple[Sentence, ...]:
    r"""The sentences of an answer.

    >>> [one.text for one in sentences(Written("Take $q = k_a$. Then\n\n$$c = v_a$$\n\nwhere all is well."))]
    ['take $q = k_a$', 'then $c = v_a$ where all is well']
    """
    found: list[Sentence] = []
    for number, block in enumerate(_blocks(written)):
        for sentence in _cut(block, number):
            last = found[-1] if found else None
            if last is not None and _continues(last, sentence, block):
                found[-1] = replace(last, tokens=last.tokens + sentence.tokens, end=sentence.end)
            else:
                found.append(sentence)
    return tuple(found)


@dataclass(frozen=True)
class _Stretch:
    tokens: tuple[Token, ...]
    item: bool
    heading: bool
    lower: bool  # it begins with a small letter


def _blocks(written: Written) -> Iterator[_Stretch]:
    text = _STRUCK.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), written.text[:LONGEST])
    if written.form == "latex":
        text = _without_commands(text)
    text = _with_intertext(text)
    lines = text.split("\n")
    heading = False
    for block in blocks(text, latex=written.form == "latex"):
        if block.type == "heading_open":
            heading = True
            continue
        first = (block.map or [0])[0]
        if block.type == "fence" and (block.info.split() or [""])[0].lower() not in MATHEMATICS:
            continue
        line = written.line + first + (block.type == "fence")
        bullet = first < len(lines) and _BULLET.match(lines[first])
        tokens = tuple(_tokens(block, line))
        opening = re.sub(r"^[\s*_>]+", "", block.content)[:1]
        if tokens:
            yield _Stretch(tokens, bool(bullet), heading, opening.islower())
        heading = False


_STRUCK = re.compile(r"~~[^~]{1,2000}~~")  # what is crossed out is not said
_BULLET = re.compile(
    r"\s*(?:>\s*)*(?:(?:[-+*•]|\(?[0-9]{1,3}[.)]|\(?[a-zA-Z][.)]|\(?[ivx]{1,4}[.)])\s|\**(?:Step|Part|Case)\s+\w\b)"
)
_COMMANDS = re.compile(r"\\(?:emph|textbf|textit|underline|textsc|paragraph\*?)\{([^{}$]*)\}")
_ITEMS = re.compile(r"(?m)^\s*\\item(?:\[[^\]\n]{0,20}\])?")
_STRUCTURE = re.compile(
    r"\\(?:begin|end)\{(?:itemize|enumerate|proof|solution|quote|document|center)\}(?:\[[^\]\n]*\])?"
)


def _without_commands(text: str) -> str:
    """Commands of LaTeX that only dress words; lines stay where they are."""
    return _ITEMS.sub("- ", _STRUCTURE.sub("", _COMMANDS.sub(r"\1", text)))


_INTERTEXT = re.compile(r"(?:\\\\\s*)?\\(?:short)?intertext\{((?:[^{}]|\{[^{}]*\})*)\}[ \t]*(\n?)")
_OPENED = re.compile(r"\\(begin|end)\{(\w+\*?)\}")


def _with_intertext(text: str) -> str:
    r"""Words between the lines of a display as words between two displays; lines stay where they are.

    >>> _with_intertext(r"\begin{align} a &= b \\ \intertext{and so} &= c \end{align}")
    '\\begin{align} a &= b \\end{align} and so \\begin{align}&= c \\end{align}'
    """

    def apart(found: re.Match[str]) -> str:
        opened = [
            one for one in _OPENED.finditer(text, 0, found.start()) if one[2].rstrip("*") in ENVIRONMENTS.split("|")
        ]
        if not opened or opened[-1][1] == "end":
            return found[0]
        blank = "\n" * found[0].partition("{")[0].count("\n")
        return rf"{blank}\end{{{opened[-1][2]}}} {found[1]} {found[2]}\begin{{{opened[-1][2]}}}"

    return _INTERTEXT.sub(apart, text)


_ARROW = (
    r"(?:\\(?:Rightarrow|Longrightarrow|implies|iff|Leftrightarrow|Longleftrightarrow)(?![a-zA-Z])|⇒|⟹|⇔|⟺|<=>|==?>)"
)
_ARROWED = re.compile(rf"(?<![$\\])\$([^$\n]+)\$[ \t]*\$?[ \t]*({_ARROW})[ \t]*\$?[ \t]*\$([^$\n]+)\$(?!\$)")


def _with_arrows(text: str) -> str:
    r"""An arrow between two formulas joins them: what stands before it need not be claimed.

    >>> _with_arrows(r"$a = b$ $\Rightarrow$ $c = d$ ⇒ $e = f$")
    '$a = b \\Rightarrow c = d ⇒ e = f$'
    """

    def joined(found: re.Match[str]) -> str:
        return f"${found[1]} {found[2]} {found[3]}$" if compares(found[1]) and compares(found[3]) else found[0]

    while (after := _ARROWED.sub(joined, text)) != text:
        text = after
    return text


def _tokens(block: Block, line: int) -> Iterator[Token]:
    text = block.content
    if block.type == "inline" and is_table(text):
        text = "\n".join(as_sentences(text))
    text = _with_arrows(text)
    pieces, _ = find_formulas(text)
    if not pieces and block.type in ("fence", "code_block"):
        yield from _typed_block(text, line)
        return
    done = 0
    for piece in pieces:
        start, stop = _with_marks(text, piece)
        yield from _words(text[done:start], line, typed=not pieces)
        at = line + text.count("\n", done, piece.start)
        display = text[start : start + 2] in ("$$", r"\[") or text.startswith(r"\begin", start)
        yield from _set(piece.text, at, display)
        ended = piece.text.endswith(".") and not _GOES_ON.match(text, stop)  # '$$q = k_a.$$ Then ...'
        if ended or (display and _ANEW.match(text, stop)):
            yield Token("mark", ".", at + piece.text.count("\n"))
        line += text.count("\n", done, stop)
        done = stop
    yield from _words(text[done:], line, typed=not pieces)


_PROSE = re.compile(r"\\(?:text|textrm|mbox|textit|textbf)\{([^{}$]*)\}(?![_^(\[])")


_JOINED = re.compile(r"[,;.]?\s*\\q?quad\s*\\text\{\s*(so|hence|thus|therefore|then)\s*,?\s*\}")


def _set(text: str, line: int, display: bool) -> Iterator[Token]:
    r"""A formula, or several that 'so' joins within one.

    >>> [(one.kind, one.text) for one in _set(r"a = b \quad \text{so } b = a", 1, True)]
    [('formula', 'a = b'), ('mark', ','), ('word', 'so'), ('formula', 'b = a')]
    """
    while (joined := _JOINED.search(text)) is not None and compares(text[: joined.start()]):
        yield from _with_prose(text[: joined.start()], line, display)
        line += text.count("\n", 0, joined.start())
        yield Token("mark", ",", line)
        yield Token("word", joined[1], line)
        line += joined[0].count("\n")
        text = text[joined.end() :].lstrip(" ")
    yield from _with_prose(text, line, display)


def _with_prose(text: str, line: int, display: bool) -> Iterator[Token]:
    r"""A formula; prose that is set in one, before what it compares or around a term, is prose.

    >>> [(one.kind, one.text) for one in _with_prose(r"\text{all weights are } \frac12", 1, True)]
    [('word', 'all'), ('word', 'weights'), ('word', 'are'), ('term', '\\frac12')]
    """
    done = 0
    for found in _PROSE.finditer(text):
        opens = not text[done : found.start()].strip()
        if (compares(text) and not opens) or not re.search(r"[a-zA-Z]+\s", found[1]):
            break  # a name, \text{softmax}, or words within a comparison, which the parser reads
        if not opens:
            yield Token("term", text[done : found.start()].strip(), line, display)
        yield from _words(found[1], line, typed=False)
        done = found.end()
    rest = text[done:].strip() if done else text
    if rest:
        yield Token("formula" if compares(rest) else "term", rest, line, display)


def _with_marks(text: str, piece: Piece) -> tuple[int, int]:
    """From the mark that begins a formula to the one that ends it."""
    start, stop = piece.start, piece.start + len(piece.text)
    reach = max(0, start - REACH)
    before = re.search(r"(?:\$+|\\\(|\\\[|\\begin\{\w+\*?\})`?\s*$", text[reach:start])
    after = re.match(r"\s*`?(?:\$+|\\\)|\\\]|\\end\{\w+\*?\})", text[stop : stop + REACH])
    return (reach + before.start() if before else start), (stop + after.end() if after else stop)


_ANEW = re.compile(r"\s*[A-Z][a-z]+ ")
_GOES_ON = re.compile(r"\s*[a-z,;:(.]")
_WORD = re.compile(r"\b[a-zA-Z] ?[=<>] ?\d+(?:/\d+)?\b|\d+/\d+|\w[\w.'’-]*\w\.?|\w|[,;:.!?()]|\S")


def _words(text: str, line: int, *, typed: bool) -> Iterator[Token]:
    """The words and marks of prose; with `typed`, formulas in it that have no marks of their own."""
    for number, row in enumerate(text.split("\n")):
        if typed and (_SIGNED.search(row) or _TYPED.search(row)):
            yield from _typed(row, line + number)
            continue
        for found in _WORD.finditer(re.sub(r"`[^`]*`", " ", row).replace("**", " ")):
            yield from _word(found[0].replace("’", "'").strip("_").lower(), line + number)


def _word(word: str, line: int) -> Iterator[Token]:
    if re.search(r"[=<>]", word) and len(word) > 1:  # 'Case c = 1/2:', beside formulas with marks
        yield Token("formula", word, line)
    elif re.fullmatch(r"\d+(?:[./]\d+)?", word):
        yield Token("word", word, line)
    elif re.fullmatch(r"[,;:.!?()]", word):
        yield Token("mark", word, line)
    elif word.endswith(".") and word not in ABBREVIATIONS:
        yield Token("word", word[:-1], line)
        yield Token("mark", ".", line)
    elif "." in word.strip(".") and word not in ABBREVIATIONS and word + "." not in ABBREVIATIONS:
        for part in word.split("."):
            yield Token("word", part, line)
    elif re.search(r"\w", word):
        yield Token("word", word + ("." if word + "." in ABBREVIATIONS and "." in word else ""), line)


# What is typed without marks: formulas are what does not look like English.
_SIGNED = re.compile(r"[=<>≤≥≠≈≫≪→~]")
_TYPED = re.compile(r"\w_\w|\w\^|\b(?:ln|exp|sqrt|log)\(|\b(?:lambda|epsilon|alpha|beta|tau|mu)\b|\d/\d")
_ENGLISH = re.compile(r"[A-Za-z][a-z]+(?:[-'][a-z]{2,})*(?:'[a-z]+)?[.,;:]?|[aAI]")
_MATHEMATICAL = re.compile(
    r"(?:exp|ln|log|sqrt|sin|cos|abs|tr|relu|ReLU|norm_F|eps|epsilon|lambda|beta"
    r"|alpha|gamma|delta|mu|sigma|theta|phi|Phi|pi|tol|oo|inf|infinity|ones|lim|kappa|tau|omega|[a-zA-Z]{1,2}|PX|PZ|PH)"
)


_ASIDE = re.compile(r"(?<!\S)\((?P<said>(?:[^()]|\([^()]*\))*)\)(?P<marks>[.,;:]*)(?!\S)")  # not the bracket of f(x)
_CASE = re.compile(r"\s*(\w+\s*(?:=|<|>|<=|>=)\s*[\w./-]+)\s*:\s+(\S.*)")


def _typed_block(text: str, line: int) -> Iterator[Token]:
    """A block of formulas is one formula of several lines, unless there are words in it."""
    body = text.strip("\n")
    line += len(text) - len(text.lstrip("\n"))
    rows = body.split("\n")
    cases = [_CASE.fullmatch(row) for row in rows]
    if any(cases):  # c = 3/2: alpha_1 = ...
        for number, (row, case) in enumerate(zip(rows, cases, strict=True)):
            if case is not None:
                yield Token("word", "for", line + number)
                yield Token("formula", case[1].strip(), line + number)
                yield Token("mark", ":", line + number)
            yield from _typed(row if case is None else case[2], line + number)
            yield Token("mark", ".", line + number)
        return
    if not any(_has_words(row) for row in rows):
        inner = body.strip()
        if inner:
            yield Token("formula" if compares(inner) else "term", inner, line, display=True)
        return
    for number, row in enumerate(rows):
        yield from _typed(row, line + number)
        if row.strip():
            yield Token("mark", ".", line + number)


def _has_words(row: str) -> bool:
    known = {"if", "for", "as", "when", "where", "and", "to", "all", "with", "then", "implies", "given", "or", "not"}
    return any(_is_english(part) and part.strip(".,;:").lower() not in known for part in row.split())


def _is_english(part: str) -> bool:
    bare = part.rstrip(".,;:")
    return bool(_ENGLISH.fullmatch(part)) and not _MATHEMATICAL.fullmatch(bare)


def _typed(row: str, line: int) -> Iterator[Token]:
    r"""One line of plain text.

    >>> [token.text for token in _typed("take q = t*(k_a + k_b), where t is large", 1)]
    ['take', 'q = t*(k_a + k_b)', ',', 'where', 't', 'is', 'large']
    >>> [token.text for token in _typed("s = alpha_3 (the third weight)", 1)]
    ['s = alpha_3', '(', 'the', 'third', 'weight', ')']
    """
    at = 0
    for aside in _ASIDE.finditer(row):
        if any(map(_is_english, aside["said"].split())):
            yield from _stretch(row[at : aside.start()], line)
            yield Token("mark", "(", line)
            yield from _stretch(aside["said"], line)
            yield from (Token("mark", mark, line) for mark in ")" + aside["marks"])
            at = aside.end()
    yield from _stretch(row[at:], line)


def _stretch(row: str, line: int) -> Iterator[Token]:
    """Plain text without words in brackets."""
    run: list[str] = []
    parts = [*row.split(), "", ""]
    for part, following in pairwise(parts):
        bare = part.rstrip(".,;:")
        unfinished = bool(run) and run[-1][-1] in "=+-*/<>" and bare in ("I", "A", "a", "i")  # K = I
        unfinished |= bool(run) and _is_factor(run[-1], part, following)
        unfinished |= part == "a" and following in ("->", "→")
        little = _LITTLE.fullmatch(bare) is not None and bare != "i"
        words = bool(part) and not unfinished and (_is_english(part) or little)
        if part and not words:
            run.append(part)
            continue
        yield from _run(" ".join(run), line)
        run = []
        for found in _WORD.finditer(part):
            yield from _word(found[0].lower(), line)


def _is_factor(before: str, part: str, after: str) -> bool:
    """Whether 'a' or 'A' behind a formula is a name and no article: '2 a t^2', 'B = U U^T A'."""
    name = part.rstrip(".,;:")
    ends = not after or name != part
    return before[-1] not in ".,;:" and (name == "A" or (name == "a" and (ends or not _is_english(after))))


_LITTLE = re.compile(
    r"(?:[aI]|is|so|we|if|as|to|by|in|of|or|no|it|at|be|an|on|do|my|me|us|up|go|he|ok|vs|am)", re.IGNORECASE
)


_LEFT_OUT = re.compile(r"(?:!=|≠)\s*\w(?:,\s+\w(?=\s*(?:[,;.:)]|$)))+")  # 'i != a, b'


def _run(run: str, line: int) -> Iterator[Token]:
    together = _LEFT_OUT.sub(lambda found: re.sub(r"\s", "", found[0]), run)
    for part in re.split(r"(?<=[,;:])\s+|(?<=[^.]\.)\s+|(?<=[,;.:])$", together):
        bare = part.rstrip(",;.:")
        if bare.strip():
            yield Token("formula" if compares(bare) else "term", bare.strip(), line)
        for mark in part[len(bare) :]:
            yield Token("mark", mark, line)


def _cut(block: _Stretch, number: int) -> Iterator[Sentence]:
    """Cut at full stops, question marks and semicolons."""
    held: list[Token] = []
    first = True
    for place, token in enumerate(block.tokens):
        if held and held[-1].display and _between_steps(held[-1], block.tokens[place:]):
            yield Sentence(tuple(held), number, block.item and first, block.heading, "")
            held, first = [], False
        if token.kind == "mark" and token.text in ".!?;":
            if held:
                yield Sentence(tuple(held), number, block.item and first, block.heading, token.text)
                first = False
            held = []
        else:
            held.append(token)
        if len(held) >= MOST_TOKENS:
            yield Sentence(tuple(held), number, block.item and first, block.heading, "...")
            held, first = [], False
    if held:
        last = held[-1]
        end = ":" if last.kind == "mark" and last.text == ":" else ""
        yield Sentence(tuple(held), number, block.item and first, block.heading, end)


def _between_steps(display: Token, after: Sequence[Token]) -> bool:
    """Words on a line of their own between a display and one that begins with a relation: how the step is made."""
    opening = after[0]
    if opening.kind == "formula" or opening.line <= display.line + display.text.count("\n"):
        return False
    if opening.kind == "mark" or opening.text in ("if", "for", "when", "where", "with", "otherwise", "only", "as"):
        return False
    following = next((one for one in after if one.kind == "formula"), None)
    return following is not None and following.display and leads_on(following.text)


def _continues(last: Sentence, sentence: Sentence, block: _Stretch) -> bool:
    """Whether a sentence goes on in the block that follows."""
    if last.paragraph == sentence.paragraph or last.heading or sentence.heading or last.end not in ("", ":"):
        return False
    if sentence.tokens != block.tokens[: len(sentence.tokens)]:
        return False  # it does not begin its block
    if sentence.item or len(last.tokens) + len(sentence.tokens) > MOST_TOKENS:
        return False
    ending, opening = last.tokens[-1], sentence.tokens[0]
    if ending.display and _between_steps(ending, sentence.tokens):
        return False
    if opening.kind == "formula" and ending.kind == "formula" and not leads_on(opening.text):
        before = last.tokens[-2].text if len(last.tokens) > 1 else ""
        return before in ("for", "if", "when") and opening.display and not ending.display  # or two, one below the other
    if last.end == ":" or ending.text == ",":
        return True
    if ending.kind == "word":
        return opening.kind == "formula"
    return (block.lower and opening.kind == "word") or (opening.kind == "formula" and leads_on(opening.text))
