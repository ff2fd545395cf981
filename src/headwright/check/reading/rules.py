r"""What people say beyond 'subject, sign, value', as rules kept in rules.toml: what is said, and what that means.

'the first key wins' says that its weight is the larger one: a rule with a meaning makes formulas of a clause, which are
judged like any other. 'relu works on each entry' is so whatever was answered, and '$P$ is a permutation matrix' where
that is given: a rule without a meaning passes over its words, for they claim nothing of the answer.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from headwright.check.reading.places import SLOTS, WHEN, Keys, Slots, as_text, bare
from headwright.check.reading.sentences import Loose
from headwright.check.reading.things import Objects, Subject, UnfitError
from headwright.check.reading.values import Values

Made = tuple[list[str], Loose]
# Words with which a clause begins right after a formula, or after a reason, without a comma.
BEGIN_BARE = ("the", "all", "every", "each", "both", "it", "head", "key", "which", "whose", "we", "whatever")
BEGINS = ("it", "the", "this", "they", "then")  # what is said under an assumption


@dataclass(frozen=True)
class Choice:
    """Patterns of which one must fit; `[...]` in rules.toml may be missing, `<name>*` may come several times."""

    patterns: tuple[Pattern, ...]
    least: int = 1
    most: int = 1


@dataclass(frozen=True)
class Place:
    """`<name>`: a phrase of that table of the lexicon; `{name:kind}`: a thing of that kind; `$x$`: that very term."""

    sort: str  # word, mark, table, slot or term
    text: str
    kind: str = ""


Pattern = tuple["Place | Choice", ...]


@dataclass(frozen=True)
class Rule:
    """What may be said in the exercises that it is for, and the formulas that say the same; none, where it is so."""

    guards: tuple[str, ...]
    says: Pattern
    means: tuple[str, ...] = ()
    under: str = ""  # what it assumes, and what follows it in the sentence
    when: str = ""  # what must have been stated besides
    closed: bool = False  # nothing may be added to it: neither a case, nor 'and the second'
    certain: bool = False  # what the words refer to is not guessed

    def fits(self, objects: Objects) -> bool:
        """Whether it is for an exercise with these objects."""
        return all(GUARDS[guard](objects) for guard in self.guards)


GUARDS: Mapping[str, Callable[[Objects], object]] = {
    "keys": lambda one: bool(one.queries) and not one.tokens,
    "one head": lambda one: one.heads == 1,
    "two heads": lambda one: one.heads == 2,
    "several heads": lambda one: one.heads > 1 or one.tokens,
    "one key": lambda one: len(one.keys) == 1,
    "two keys": lambda one: len(one.keys) == 2,
    "several keys": lambda one: len(one.keys) > 1,
    "other keys": lambda one: not one.complete,
    "tokens": lambda one: one.tokens,
    "matrices": lambda one: one.matrices,
    "q is asked": lambda one: one.asked == "q",
    "B is asked": lambda one: one.asked == "B",
    "tau is asked": lambda one: one.asked == "tau",
    "a matrix is asked": lambda one: one.matrices and re.fullmatch("[A-Z]", one.asked),
    "noise": lambda one: one.noise,
    "nearly": lambda one: one.nearly,
    "exact keys": lambda one: one.keys and not one.nearly and not one.scaled,
    "separated": lambda one: one.separated,
    "a random length": lambda one: len(one.scaled) == 1,
    "even cases": lambda one: one.even,
    "singular values": lambda one: any("singular values" in facts for facts in one.facts.values()),
    "a permutation": lambda one: any("permutation" in facts for facts in one.facts.values()),
    "turns": lambda one: "orthogonal" in one.facts.get("R_m", ()),
    "positions": lambda one: one.pair and one.pair[0].startswith(r"\Phi"),
    "a question": lambda one: one.pair or one.changed[0],
    "two parts": lambda one: one.asked == "M" and "orthogonal ranges" in one.facts.get("A,B", ()),
    "an output": lambda one: one.output,
    "in a hope": lambda one: one.hoped,
    "a token may be changed": lambda one: one.output and one.changed[0],
    "the same word": lambda one: one.pair and one.pair[0].startswith("x"),
}


@cache
def rules() -> tuple[Rule, ...]:
    """The rules that come with Headwright.

    >>> len({rule.says for rule in rules()}) == len(rules())
    True
    """
    with Path(__file__).with_name("rules.toml").open("rb") as file:
        given = tomllib.load(file)
    found = []
    for one in given["rules"]:
        meant = one.get("means", ())
        found += [
            Rule(
                tuple(filter(None, one.get("for", "").split(", "))),
                pattern(says),
                (meant,) if isinstance(meant, str) else tuple(meant),
                one.get("under", ""),
                one.get("when", ""),
                one.get("closed", False),
                one.get("certain", False),
            )
            for says in ([one["says"]] if isinstance(one["says"], str) else one["says"])
        ]
    return tuple(found)


_PART = re.compile(
    r"<(?P<table>[^>]+)>(?P<times>[?*]?)|\{(?P<slot>\w+)(?::(?P<kind>[^}]+))?\}|\$(?P<term>[^$]+)\$"
    r"|(?P<mark>[()\[\]|])|(?P<word>[^\s()\[\]|]+)"
)


def pattern(says: str) -> Pattern:
    """A pattern as it is written in rules.toml.

    >>> pattern("(it|this) [now] {value}")[1]
    Choice(patterns=((Place(sort='word', text='now', kind=''),),), least=0, most=1)
    """
    stack: list[list[list[Place | Choice]]] = [[[]]]
    for part in _PART.finditer(says):
        held = stack[-1][-1]
        if part["table"]:
            place = Place("table", part["table"])
            held.append(place if not part["times"] else Choice(((place,),), 0, 9 if part["times"] == "*" else 1))
        elif part["slot"]:
            held.append(Place("slot", part["slot"], part["kind"] or part["slot"]))
        elif part["term"]:
            held.append(Place("term", bare(part["term"])))
        elif part["word"]:
            held.append(Place("mark" if part["word"] == "," else "word", part["word"]))
        elif part["mark"] in "([":
            stack.append([[]])
        elif part["mark"] == "|":
            stack[-1].append([])
        else:
            choice = Choice(tuple(map(tuple, stack.pop())), int(part["mark"] == ")"))
            stack[-1][-1].append(choice)
    return tuple(stack[0][0])


class Rules(Values):
    """Reads what the rules say."""

    def passed_over(self) -> bool:
        """Whether a fact stands here, or what is given, or a step that is only announced: then behind it."""
        back = self.at
        try:
            self._ruled(meaning=False)
        except UnfitError:
            self.at = back
        return self.at > back

    def meant(self) -> Made:
        """What a rule makes of the clause at hand."""
        return self._ruled(meaning=True)

    def _ruled(self, *, meaning: bool) -> Made:
        for rule in rules():
            if bool(rule.means or rule.under) != meaning or not rule.fits(self.objects):
                continue
            for slots in self._fit(rule.says, {}):
                try:
                    self.need(not rule.when or WHEN[rule.when](self, slots))
                    made = self._made(rule, slots)
                    opens = self.word() in BEGINS and bool(rule.under and not rule.means)
                    self.need(self.closed() if rule.closed else opens or self._over())
                except UnfitError:
                    continue
                self.under = "".join(self._filled(rule.under, slots))
                return made
        raise UnfitError

    def _over(self) -> bool:
        """Whether a clause ends here; a reason may also be followed by its consequence, without a comma."""
        reason = bool(self.out) and self.out[-1].text in ("because", "since", "as")
        return self.ends() or self.word() in (("gives", "yields", "we") if not reason else (*BEGIN_BARE, "this"))

    def _fit(self, parts: Pattern, slots: Slots) -> Iterator[Slots]:
        """All ways in which a pattern fits the words at hand; while one is looked at, the place is behind them."""
        if not parts:
            yield slots
            return
        back, first = self.at, parts[0]
        for found in self._chosen(first, slots) if isinstance(first, Choice) else self._placed(first, slots):
            yield from self._fit(parts[1:], found)
        self.at = back

    def _chosen(self, choice: Choice, slots: Slots) -> Iterator[Slots]:
        again = (Choice(choice.patterns, 0, choice.most - 1),) if choice.most > 1 else ()
        for one in choice.patterns:
            yield from self._fit((*one, *again), slots)
        if not choice.least:
            yield slots

    def _placed(self, place: Place, slots: Slots) -> Iterator[Slots]:
        try:
            match place.sort:
                case "word":
                    self.need(self.take(place.text))
                case "mark":
                    self.need(self.next("mark") == place.text)
                case "table":
                    self.need(self.take_from(place.text))
                case "term":
                    self.need(bare(self.next("term")) == place.text)
                case _:
                    found = SLOTS[place.kind](self)
                    several = {"": found} if isinstance(found, str | Keys | Subject) else found
                    slots = {**slots, **{name or place.text: one for name, one in several.items()}}
        except UnfitError:
            return
        yield slots

    def _made(self, rule: Rule, slots: Slots) -> Made:
        made: list[str] = []
        room = not rule.certain
        for text in (filled for means in rule.means for filled in self._filled(means, slots)):
            equal, said = _EQUAL.fullmatch(text), _OF_KEYS.fullmatch(text)
            if equal is not None:
                made.append(self._equal(self._subject(equal["kind"], slots[equal["keys"]]), equal["sign"]))
                continue
            if said is None:
                made.append(text)
                continue
            head = slots.get(said["head"] or "", "")
            self.head = int(head) if isinstance(head, str) and head else self.head
            subject = self._subject(said["kind"], slots.get(said["keys"], Keys(self.targets())))
            self.need(subject.terms)
            self.last, self.sign = subject, said["sign"] or self.is_said(subject)
            made += self.for_each(subject, self.sign, said["value"])
            room = room or subject.guessed
        return made, "room" if room else "nearly"

    def _subject(self, kind: str, found: str | Keys | Subject) -> Subject:
        if kind == "gap":
            return self.gap_of_wanted()
        self.need(not isinstance(found, str))
        return found if isinstance(found, Subject) else self.of_keys(kind, *found)

    def _equal(self, subject: Subject, sign: str) -> str:
        """That all terms of a subject are equal; of the first m keys, equal to that of the first."""
        (term, where), *others = subject.terms or (("", ""),)
        if not others and where.startswith(r"i \le"):
            return rf"{term} {sign} {term.replace('{i}', '1')} \text{{ for all }} {where}"
        self.need(others and not any(where for _, where in subject.terms))
        return f" {sign} ".join(term for term, _ in subject.terms)

    def _filled(self, text: str, slots: Slots) -> list[str]:
        """A meaning with what stands in the places, for each key that it names; none where one is not filled."""
        known: dict[str, str | Keys | Subject] = {**self._known(slots), **slots}
        if not {*_PLACES.findall(text)} <= {*known}:
            return []
        if re.match(r"[\w<>]+\(", text) is None:  # a formula, and not score(k), which knows what 'is' says
            known["sign"] = known.get("sign") or "="
        several = [one for name, one in slots.items() if isinstance(one, Keys) and f"<{name}>" in text]
        found = []
        for ref in several[0].refs if several else ("",):
            put = {name: ref if several and one is several[0] else as_text(one) for name, one in known.items()}
            found.append(re.sub(r"<(\w+)>", lambda one, put=put: put[one[1]], text))  # type: ignore[misc]
        return found

    def _known(self, slots: Slots) -> dict[str, str]:
        """What a meaning may name without a place for it; 'wanted' are the keys that the exercise is about."""
        named = [key for one in slots.values() if isinstance(one, Keys) for key in one.refs]
        return {
            "asked": self.objects.asked,
            "output": self.objects.output,
            "row": re.sub(r"\D", "", self.objects.output),
            "hoped": self.objects.hoped,
            "head": str(self.head or ""),
            "one": (self.objects.pair or ("", ""))[0],
            "two": (self.objects.pair or ("", ""))[1],
            "token": self.objects.changed[0],
            "old": self.objects.changed[1],
            "is": "",
            "wanted": "",
            "part": rf"\frac{{1}}{{{self.objects.first or len(self.objects.keys)}}}",
            "sum": " + ".join(f"k_{key}" for key in self.objects.keys),
            "target": "".join(self.objects.keys[:1]),
            "scaled": "".join([*self.objects.scaled.values()][:1]),
            "other": "".join(key for key in self.objects.keys if key not in named),
        }


_EQUAL = re.compile(r"(?P<kind>score|weight|each)\((?P<keys>\w+)\) equal (?P<sign>\S+)")
_OF_KEYS = re.compile(
    r"(?P<kind>score|weight|gap|each)\((?P<keys>\w+)(?:, (?P<head>\w+))?\) (?P<sign>\S*) (?P<value>.+)"
)


# A place of a meaning: <x>, or the keys of score(x, h).
_PLACES = re.compile(r"(?<=<)\w+(?=>)|(?<=score\()\w+|(?<=weight\()\w+")
