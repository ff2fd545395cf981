"""Sentences: the text of an answer as words, marks and formulas in order, cut where sentences end.

A sentence may run over a displayed formula and over the end of a paragraph: 'we set', a display, 'where lambda is
large'. Formulas without marks, as people type them in plain text, are found by their looks.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Literal

from headwright.grading.markdown import (
    Written,
    blocks,
    compares,
    find_formulas,
    is_table,
    leads_on,
)

if TYPE_CHECKING:
    from markdown_it.token import Token as Block

MOST_TOKENS = 400  # of one sentence; a longer one is not understood
LONGEST, LONGEST_QUESTION = (
    200_000,
    5000,
)  # characters of one answer, of one paragraph; what is beyond is not read
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
)
MATHEMATICS = (
    "",
    "math",
    "latex",
    "tex",
    "text",
    "txt",
)  # what a fenced block with formulas may be called

Kind = Literal["word", "mark", "formula", "term"]


@dataclass(frozen=True)
class Token:
    """A word in lower case, a mark such as a comma, a formula that compares, or a term that states nothing ($n$)."""

    kind: Kind
    text: str
    line: int
    display: bool = False


@dataclass(frozen=True)
class Sentence:
    """Tokens up to a full stop; `item` where it begins an item of a list, `paragraph` counts the blocks."""

    tokens: tuple[Token, ...]
    paragraph: int
    item: bool = False
    heading: bool = False
    end: str = ""  # the mark that ended it: . ; : ? or none; ... where it is too long; | for a table

    @property
    def text(self) -> str:
        """For showing: what was written, more or less."""
        parts = (
            f"${one.text}$" if one.kind in ("formula", "term") else one.text
            for one in self.tokens
        )
        return re.sub(r" ([,:)])", r"\1", " ".join(parts).replace("( ", "("))


_NAMED, _WITH = r"(\\?[A-Za-z]+)", r"\\text\{\s*(?:for|with|where|and)"
_SIZE = re.compile(  # '..., \qquad \lambda \text{ large}' at the end of a display
    r"[,;]?(?:\s|~|\\[,;:! ]|\\q?quad\b)*"
    rf"(?:(?:{_WITH}|\\text\{{)\s*(?:a |any |all )?(?:sufficiently |very )?large(?: enough)?\s*\}}\s*{_NAMED}"
    rf"|(?:{_WITH}\s*\}}\s*)?{_NAMED}(?:\s|~|\\[,;:! ])*"
    r"\\text\{\s*(?:is |sufficiently |very )*large(?: enough)?\s*\.?\s*\})"
    r"\s*[.,]?\s*(\$\$|\\\])(?=(\s*(?:[A-Z]|$))?)"
)
_STRUCK = re.compile(r"~~[^~]{1,2000}~~")  # what is crossed out is not said
_BULLET = re.compile(
    r"\s*(?:>\s*)*(?:(?:[-+*•]|\(?[0-9]{1,3}[.)]|\(?[a-zA-Z][.)]|\(?[ivx]{1,4}[.)])\s|\**(?:Step|Part|Case)\s+\w\b)"
)
_COMMANDS = re.compile(
    r"\\(?:emph|textbf|textit|underline|textsc|paragraph\*?)\{([^{}$]*)\}"
)
_ITEMS = re.compile(r"(?m)^\s*\\item(?:\[[^\]\n]{0,20}\])?")
_STRUCTURE = re.compile(
    r"\\(?:begin|end)\{(?:itemize|enumerate|proof|solution|quote|document|center)\}(?:\[[^\]\n]*\])?"
)


def sentences(written: Written) -> tuple[Sentence, ...]:
    """The sentences of an answer."""
    text = _STRUCK.sub(
        lambda found: re.sub(r"[^\n]", " ", found[0]), written.text[:LONGEST]
    )
    if (
        written.form == "latex"
    ):  # commands that only dress words; lines stay where they are
        text = _ITEMS.sub("- ", _STRUCTURE.sub("", _COMMANDS.sub(r"\1", text)))
    text = _SIZE.sub(_sized, text)
    text = _HALF_MARKED.sub(_marked, text)
    lines = text.split("\n")
    found: list[Sentence] = []
    number, heading = 0, False
    for block in blocks(text, latex=written.form == "latex"):
        if block.type == "heading_open":
            heading = True
            continue
        first = (block.map or [0])[0]
        if (
            block.type == "fence"
            and (block.info.split() or [""])[0].lower() not in MATHEMATICS
        ):
            found += _assignments(block, written.line + first + 1, number)
            continue
        tokens = tuple(_tokens(block, written.line + first + (block.type == "fence")))
        bullet = first < len(lines) and _BULLET.match(lines[first]) is not None
        lower = re.sub(r"^[\s*_>]+", "", block.content)[:1].islower()
        for place, sentence in enumerate(_cut(tokens, number, bullet, heading)):
            last = found[-1] if found else None
            if is_table(block.content):  # what its cells say of each other is not read
                cells = _beside_names(sentence.tokens)
                found.append(replace(sentence, tokens=cells, end="|"))
            elif last is not None and not place and _continues(last, sentence, lower):
                found[-1] = replace(
                    last, tokens=last.tokens + sentence.tokens, end=sentence.end
                )
            else:
                found.append(sentence)
        number += bool(tokens)
        heading = False
    return tuple(found)


_HALF_MARKED = re.compile(  # '$x$ = 1': the sign and the other side stand outside the marks
    r"(?<![\\$])\$(?![\s$])([^$\n]+)(?<![\s\\])\$[ ]?([=≥≤≫≈])[ ]?(\$[^$\n]+\$|[\w./]*\w)"
)


def _marked(found: re.Match[str]) -> str:
    return f"${found[1]} {found[2]} {found[3].strip('$')}$"


def _sized(found: re.Match[str]) -> str:
    """The size of a name in words after the display; lines stay where they are."""
    end = "." if found[4] is not None else ""
    return (
        "\n" * found[0].count("\n")
        + f"{found[3]} with ${found[1] or found[2]}$ large{end}"
    )


_ASSIGNMENT = re.compile(r"\s*[A-Za-z]\w* = [^=].*")


def _assignments(block: Block, line: int, number: int) -> Iterator[Sentence]:
    """The assignments of a program, which may be the answer: they are quoted."""
    for at, row in enumerate(block.content.split("\n"), line):
        if _ASSIGNMENT.fullmatch(row):
            token = Token("formula", row.strip(), at)
            yield Sentence((token,), number, end="|")


def _beside_names(tokens: Sequence[Token]) -> tuple[Token, ...]:
    """The tokens of a table, where a value in the cell beside a name is an equation."""
    found: list[Token] = []
    for token in tokens:
        last = found[-1] if found else None
        named = (
            last is not None
            and last.line == token.line
            and _SHORT.fullmatch(last.text.strip()) is not None
            and (last.kind == "term" or len(last.text) == 1)
        )
        if last is not None and named and token.kind == "term":
            found[-1] = Token("formula", f"{last.text} = {token.text}", token.line)
        else:
            found.append(token)
    return tuple(found)


_ANEW = re.compile(r"\s*[A-Z][a-z]+ ")
_GOES_ON = re.compile(r"\s*[a-z,;:(.]")


def _tokens(block: Block, line: int) -> Iterator[Token]:
    text = block.content
    pieces, _ = find_formulas(text)
    if not pieces:
        yield from _typed(text, line, block.type in ("fence", "code_block"))
        return
    done = 0
    for piece in pieces:
        yield from _words(text[done : piece.begin], line)
        at = line + text.count("\n", done, piece.start)
        display = text[piece.begin : piece.begin + 2] in (
            "$$",
            r"\[",
        ) or text.startswith(r"\begin", piece.begin)
        yield Token(
            "formula" if compares(piece.text) else "term", piece.text, at, display
        )
        ended = piece.text.endswith(".") and not _GOES_ON.match(
            text, piece.end
        )  # '$$q = k_a.$$ Then ...'
        if ended or (display and _ANEW.match(text, piece.end)):
            yield Token("mark", ".", at + piece.text.count("\n"))
        line += text.count("\n", done, piece.end)
        done = piece.end
    yield from _words(text[done:], line)


_WORD = re.compile(r"<=>|==?>|\d+/\d+|\w[\w.'’-]*\w\.?|\w|[,;:.!?()]|\S")
ARROW = re.compile(
    r"\\(?:Long|long)?[rR]ightarrow|\\implies|\\iff|\\(?:Long)?[lL]eftrightarrow|⇒|⟹|⇔|⟺|<=>|==?>"
)


def _words(text: str, line: int) -> Iterator[Token]:
    """The words and marks of prose; an arrow between formulas is a term."""
    for number, row in enumerate(text.split("\n"), line):
        done = 0
        for span in _CODE.finditer(row):
            yield from _words_without_code(row[done : span.start()], number)
            yield from _code_span(span[1], number)
            done = span.end()
        yield from _words_without_code(row[done:], number)


_CODE = re.compile(r"`+([^`]*)`+")
_SHORT = re.compile(r"\\?[A-Za-z]{1,7}(?:_\w)?|[\d./]+")  # a name, or a number


def _code_span(text: str, line: int) -> Iterator[Token]:
    """`q = 2*k_a` in running text is a formula, and `q` a term; other code is not read."""
    if compares(text) and not _PROGRAM.search(text):
        yield Token("formula", text.strip(), line)
    elif _SHORT.fullmatch(text.strip()):
        yield Token("term", text.strip(), line)


_PROGRAM = re.compile(r"==|[\w\]]\.[a-z]\w*\(|\w\[[^\]]*[:,]|@|;|\breturn\b|\bdef\b")


_UNMARKED = re.compile(r"(?<![=<>!:-])=(?![=>])|[≥≤≫≈]")  # no word of English


def _words_without_code(row: str, number: int) -> Iterator[Token]:
    if _UNMARKED.search(row):  # a formula that was left without its marks
        yield from _typed_row(row, number)
    elif row:
        for found in _WORD.finditer(row.replace("**", " ")):
            word = found[0].replace("’", "'").strip("_").lower()
            if re.fullmatch(r"[,;:.!?()]", word):
                yield Token("mark", word, number)
            elif ARROW.fullmatch(word):
                yield Token("term", word, number)
            elif word.endswith(".") and word not in ABBREVIATIONS:
                yield Token("word", word[:-1], number)
                yield Token("mark", ".", number)
            elif re.search(r"\w", word):
                yield Token(
                    "word",
                    word + "." * ("." in word and word + "." in ABBREVIATIONS),
                    number,
                )


# What is typed without marks: formulas are what does not look like English.
_FORMULA = re.compile(
    r"[=<>≤≥≠≈≫≪→~]|\w_\w|\w\^|\b(?:ln|exp|sqrt|log)\(|\b(?:lambda|epsilon|alpha|beta|tau|mu)\b|\d/\d"
)
_ENGLISH = re.compile(r"[A-Za-z][a-z]+(?:[-'][a-z]{2,})*(?:'[a-z]+)?[.,;:]?|[aAI]")
_MATHEMATICAL = re.compile(
    r"(?:exp|ln|log|sqrt|sin|cos|abs|tr|relu|ReLU|norm_F|eps|epsilon|lambda|beta"
    r"|alpha|gamma|delta|mu|sigma|theta|phi|Phi|pi|tol|oo|inf|infinity|ones|lim|kappa|tau|omega|[a-zA-Z]{1,2}|PX|PZ|PH)"
)
_LITTLE = re.compile(
    r"(?:[aI]|is|so|we|if|as|to|by|in|of|or|no|it|at|be|an|on|do|my|me|us|up|go|he|ok|vs|am)",
    re.IGNORECASE,
)
_LEFT_OUT = re.compile(r"(?:!=|≠)\s*\w(?:,\s+\w(?=\s*(?:[,;.:)]|$)))+")  # 'i != a, b'
_ASIDE = re.compile(
    r"(?<!\S)\(((?:[^()]|\([^()]*\))*)\)([.,;:]*)(?!\S)"
)  # not the bracket of f(x)
_JOINING = (
    "if",
    "for",
    "as",
    "when",
    "where",
    "and",
    "to",
    "all",
    "with",
    "then",
    "implies",
    "given",
    "or",
    "not",
)


def _is_english(part: str) -> bool:
    return bool(_ENGLISH.fullmatch(part)) and not _MATHEMATICAL.fullmatch(
        part.rstrip(".,;:")
    )


def _typed(text: str, line: int, code: bool) -> Iterator[Token]:
    """Text without marks; a block of code without words in it is one formula of several lines."""
    if code:
        parts = [
            part for part in text.split() if part.strip(".,;:").lower() not in _JOINING
        ]
        if not any(map(_is_english, parts)):
            line += len(text) - len(text.lstrip("\n"))
            yield Token(
                "formula" if compares(text) else "term",
                text.strip(),
                line,
                display=True,
            )
            return
    for number, row in enumerate(text.split("\n"), line):
        if not code and _CODE.search(row):
            done = 0
            for span in _CODE.finditer(row):
                yield from _typed(row[done : span.start()], number, code)
                yield from _code_span(span[1], number)
                done = span.end()
            yield from _typed(row[done:], number, code)
            continue
        at, plain = 0, not code and not _FORMULA.search(row)
        for aside in _ASIDE.finditer(row) if not plain else ():
            if any(map(_is_english, aside[1].split())):
                yield from _typed_row(row[at : aside.start()], number)
                yield Token("mark", "(", number)
                yield from _typed_row(aside[1], number)
                yield from (Token("mark", mark, number) for mark in ")" + aside[2])
                at = aside.end()
        yield from _words(row, number) if plain else _typed_row(row[at:], number)
        if code and row.strip():
            yield Token("mark", ".", number)


def _typed_row(row: str, line: int) -> Iterator[Token]:
    """One line of plain text."""
    run: list[str] = []
    for part, following in pairwise([*row.split(), "", ""]):
        bare = part.rstrip(".,;:")
        # a name and no article: 'K = I', '2 a t^2', 'U U^T A', 'a -> 0'
        goes_on = bool(run) and run[-1][-1] not in ".,;:" and not _is_english(following)
        unfinished = bare in ("I", "A", "a", "i") and (
            goes_on or (bool(run) and run[-1][-1] in "=+-*/<>")
        )
        little = (
            _LITTLE.fullmatch(bare) is not None
            and bare != "i"
            and following not in ("->", "→")
        )
        if part and (unfinished or not (_is_english(part) or little)):
            run.append(part)
            continue
        together = _LEFT_OUT.sub(
            lambda found: re.sub(r"\s", "", found[0]), " ".join(run)
        )
        for formula in re.split(r"(?<=[,;:])\s+|(?<=[^.]\.)\s+|(?<=[,;.:])$", together):
            inner = formula.rstrip(",;.:")
            if inner.strip():
                yield Token(
                    "formula" if compares(inner) else "term", inner.strip(), line
                )
            yield from (Token("mark", mark, line) for mark in formula[len(inner) :])
        run = []
        yield from _words(part, line)


def _cut(
    tokens: Sequence[Token], number: int, item: bool, heading: bool
) -> Iterator[Sentence]:
    """Cut at full stops, question marks and semicolons."""
    held: list[Token] = []
    for token in tokens:
        stops = token.kind == "mark" and token.text in ".!?;"
        if held and (stops or len(held) >= MOST_TOKENS):
            yield Sentence(
                tuple(held), number, item, heading, token.text if stops else "..."
            )
            held, item = [], False
        if not stops:
            held.append(token)
    if held:
        yield Sentence(
            tuple(held), number, item, heading, ":" if held[-1].text == ":" else ""
        )


def _continues(last: Sentence, sentence: Sentence, lower: bool) -> bool:
    """Whether a sentence goes on in the block that follows; `lower`: that begins with a small letter."""
    if (
        last.paragraph == sentence.paragraph
        or last.heading
        or sentence.heading
        or last.end not in ("", ":")
    ):
        return False
    if sentence.item or len(last.tokens) + len(sentence.tokens) > MOST_TOKENS:
        return False
    ending, opening = last.tokens[-1], sentence.tokens[0]
    if (
        opening.kind == "formula"
        and ending.kind == "formula"
        and not leads_on(opening.text)
    ):
        before = last.tokens[-2].text if len(last.tokens) > 1 else ""
        return (
            before in ("for", "if", "when") and opening.display and not ending.display
        )  # or two, one below the other
    if last.end == ":" or ending.text == "," or opening.text == ",":
        return True
    if ending.kind == "word":
        return opening.kind == "formula"
    return (lower and opening.kind == "word") or (
        opening.kind == "formula" and leads_on(opening.text)
    )


_ASKS = re.compile(
    r"(?i)(?:^|, )\W{0,20}(?:(?:then|now|please|next|finally|also|hence|and)\b,?\s*)?(?:\([^)]{0,60}\)\s*)?\W{0,20}"
    r"(?:find|show|prove|describe|explain|design|construct|give|derive|compute|calculate|determine|state|justify|discuss"
    r"|verify|summari[sz]e|argue|write down|briefly|think about|identify|name|propose|suggest|provide|compare)\b"
    r"|\?\W{0,20}$|\bwe want to (?:find|show|prove|choose)|\b(?:justify|explain) your"
    r"|^\W{0,20}(?:hint|note|figure|recall|footnote|due|to (?:show|prove))\b\W*[:.\d]"
)


def asks(text: str) -> bool:
    """Whether a paragraph asks: it has a question, a hint, or an order such as 'Find'."""
    return any(
        _ASKS.search(sentence)
        for sentence in re.split(r"(?<=[.?!:])[*_)\]'\"”]*\s+", text[:LONGEST_QUESTION])
    )
