r"""The source of a formula cut into words, whatever their spelling: \lambda, lambda and λ are one word.

A word knows where it was written and whether a space came before it. Running letters are cut here too: PQ is two
names, unless the exercise knows PQ; a word of prose is refused, since it is never a product of its letters.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection
from dataclasses import replace

from headwright.formula.reading import signs, spellings
from headwright.formula.reading.commands import Commands
from headwright.formula.reading.numerals import check_size
from headwright.formula.reading.scanner import Word, matched, printed
from headwright.formula.tree import Span

_NUMBER = re.compile(r"(?:[0-9]+(?:\.[0-9]+)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_DIGITS = re.compile(r"[0-9]+")
_INVISIBLE = frozenset("\u200b\u200c\u200d\u2060\u2061\u2062\u2063\ufeff\u00ad")


def words(source: str, names: Collection[str] = ()) -> list[Word]:
    r"""All words of the source, in order, ending with one of the kind 'end'.

    >>> [word.text for word in words(r"q = \lambda(k_a + k_b)")]
    ['q', '=', 'lambda', '(', 'k', '_', 'a', '+', 'k', '_', 'b', '(', '']
    """
    return Lexer(source, names).run()


class Lexer(Commands):
    """The whole lexer."""

    def run(self) -> list[Word]:
        """All words."""
        while self.at < len(self.source):
            self.step()
        self.add("end", "", 0)
        return self.found

    def step(self) -> None:
        """One word, or a space."""
        source, at = self.source, self.at
        c = source[at]
        if c == "\n":
            self.add("soft", "\n", 1)
            self.spaced = True
        elif c.isspace() or c in _INVISIBLE or c == "$" or at in self.ghosts:
            self.at += 1
            self.spaced = self.spaced or at not in self.ghosts
            if at in self.ghosts and c == "}" and self.found and self.found[-1].span.stop == at:
                last = self.found[-1]
                self.found[-1] = replace(last, span=Span(last.span.start, at + 1))
        elif c == "%":
            end = source.find("\n", at)
            self.skip((len(source) if end < 0 else end) - at)
        elif c == "\\":
            self.command()
        elif c in "0123456789" or (c == "." and source[at + 1 : at + 2].isdecimal() and source[at + 1].isascii()):
            self.number()
        elif c.isascii() and c.isalpha():
            self.letters()
        elif c == ".":
            self.point()
        elif c == "~":
            self.tilde()
        elif c in signs.RAISED or c in signs.LOWERED:
            self.shifted()
        else:
            self.sign()

    def sign(self) -> None:
        """A sign, or a letter that is not ASCII."""
        c = self.source[self.at]
        for length in (3, 2, 1):
            piece = self.source[self.at : self.at + length]
            if piece == "⊤" and not (self.is_after("^") or self.is_after("^", "{")):
                self.add("transposed", ".T", 1)  # K⊤, without a caret
                return
            if piece in signs.SIGNS:
                self.add(*signs.SIGNS[piece], len(piece))
                return
        if c in signs.LETTERS:
            self.add("name", signs.LETTERS[c], 1)
            return
        simple = unicodedata.normalize("NFKC", c)
        if len(simple) == 1 and simple.isascii() and simple.isalpha():
            self.add("name", simple, 1)
        elif simple in signs.LETTERS:
            self.add("name", signs.LETTERS[simple], 1)
        else:
            fixes = {
                "!": "factorials are not read; write the number",
                '"': "remove it",
                "#": "remove it",
                "?": "remove it",
                "`": "remove it, or write $ around the formula",
                "∈": spellings.UNREAD["in"],
                "∏": spellings.UNREAD["prod"],
                "∫": spellings.UNREAD["int"],
                "±": spellings.UNREAD["pm"],
            }
            raise self.error(f"{printed(c)} is not a sign of the formula language", 1, fixes.get(c, ""))

    def number(self) -> None:
        """A number; refused where it is glued to a name."""
        pattern = _DIGITS if self.is_after("_") else _NUMBER
        text = matched(pattern, self.source, self.at) or matched(_NUMBER, self.source, self.at)
        last = self.before()
        if last is not None and last.span.stop == self.at and last.kind == "name" and not self.is_argument():
            name = self.source[last.span.start : last.span.stop]
            raise self.error(
                f"{name}{text[:9]} can mean an index or a product",
                len(name) + len(text),
                f"write {name}_{text[:9]} for the index, or {name} * {text[:9]} for the product",
                start=last.span.start,
            )
        check_size(text, self.source, Span(self.at, self.at + len(text)))
        self.add("number", text, len(text))

    def is_argument(self) -> bool:
        r"""Whether the last word is the first argument of \frac, as in \frac n2."""
        earlier = self.before(2)
        return earlier is not None and earlier.kind == "command" and earlier.text == "frac"

    def point(self) -> None:
        """A full stop, .T, or dots."""
        if re.match(r"\.T(?![A-Za-z0-9_])", self.source[self.at : self.at + 3]):
            self.add("transposed", ".T", 2)
        elif self.source.startswith("..", self.at):
            self.sign()
        else:
            self.add("stop", ".", 1)

    def tilde(self) -> None:
        """~ is LaTeX's tied space where it is tight in a formula with commands, and 'about' elsewhere."""
        after = self.source[self.at + 1 : self.at + 2]
        tight = not self.spaced and not after.isspace()
        if tight and self.has_commands:
            self.skip(1)
        else:
            self.add("relation", "~", 1)

    def shifted(self) -> None:
        """A run of raised or lowered characters: x², k₁, Kᵀ."""
        table = signs.RAISED if self.source[self.at] in signs.RAISED else signs.LOWERED
        start = self.at
        while self.at < len(self.source) and self.source[self.at] in table:
            self.at += 1
        stop = self.at
        inner = "".join(table[c] for c in self.source[start:stop])
        self.found.append(Word("sign", "^" if table is signs.RAISED else "_", Span(start, start), self.spaced))
        self.found.append(Word("open", "{", Span(start, start)))
        for match in re.finditer(r"[0-9]+|.", inner):
            place = Span(start + match.start(), start + match.end())
            text = match.group()
            if text.isdigit():
                check_size(text, self.source, place)
                self.found.append(Word("number", text, place))
            elif text.isalpha():
                self.found.append(Word("name", text, place))
            else:
                self.found.append(Word(*signs.SIGNS[text], place))
        self.found.append(Word("close", "{", Span(stop, stop)))
        self.spaced = False
