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
from typing import NamedTuple

from headwright.check.reading.lexicon import lexicon
from headwright.check.reading.sentences import Loose
from headwright.check.reading.things import Objects, UnfitError, sides
from headwright.check.reading.values import Values

Made = tuple[list[str], Loose]


class Keys(NamedTuple):
    """Keys that are referred to, and whether that is a guess."""

    refs: tuple[str, ...]
    guessed: bool = True


Slots = Mapping[str, str | Keys]  # what stands in the places of a pattern


@dataclass(frozen=True)
class Choice:
    """Patterns of which one must fit; `[...]` in rules.toml may be missing, `<name>*` may come several times."""

    patterns: tuple[Pattern, ...]
    least: int = 1
    most: int = 1


@dataclass(frozen=True)
class Place:
    """`<name>`: a phrase of that table of the lexicon; `{name:kind}`: a thing of that kind; `$x$`: that very term."""

    sort: str  # word, table, slot or term
    text: str
    kind: str = ""


Pattern = tuple["Place | Choice", ...]


@dataclass(frozen=True)
class Rule:
    """What may be said in the exercises that it is for, and the formulas that say the same; none, where it is so."""

    guards: tuple[str, ...]
    says: Pattern
    means: tuple[str, ...] = ()
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
    "separated": lambda one: one.separated,
    "a random length": lambda one: len(one.scaled) == 1,
    "even cases": lambda one: one.even,
    "singular values": lambda one: any("singular values" in facts for facts in one.facts.values()),
    "a permutation": lambda one: any("permutation" in facts for facts in one.facts.values()),
    "turns": lambda one: "orthogonal" in one.facts.get("R_m", ()),
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
            held.append(Place("term", _bare(part["term"])))
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


def _bare(term: str) -> str:
    """A term without blanks and braces, and with one spelling of a half."""
    return re.sub(r"[\s{}]", "", term).replace(r"\tfrac", r"\frac").replace(r"\frac12", "1/2")


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
            if bool(rule.means) != meaning or not rule.fits(self.objects):
                continue
            for slots in self._fit(rule.says, {}):
                try:
                    self.need(not rule.when or WHEN[rule.when](self, slots))
                    made = self._made(rule, slots)
                    self.need(self.closed() if rule.closed else self.ends() or self.word() in ("gives", "yields", "we"))
                except UnfitError:
                    continue
                return made
        raise UnfitError

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
                    self.need(_bare(self.next("term")) == place.text)
                case _:
                    slots = {**slots, place.text: SLOTS[place.kind](self)}
        except UnfitError:
            return
        yield slots

    def _made(self, rule: Rule, slots: Slots) -> Made:
        made: list[str] = []
        room = not rule.certain
        for text in rule.means:
            said = _OF_KEYS.fullmatch(self._filled(text, slots))
            if said is None:
                made.append(self._filled(text, slots))
                continue
            keys, head = slots.get(said["keys"], Keys(self.targets())), slots.get(said["head"] or "", "")
            self.need(isinstance(keys, Keys))
            self.head = int(head) if isinstance(head, str) and head else self.head
            subject = self.of_keys(said["kind"], *keys)
            self.last, self.sign = subject, said["sign"] or self.is_said(subject)
            made += self.for_each(subject, self.sign, said["value"])
            room = room or subject.guessed
        return made, "room" if room else "nearly"

    def _filled(self, text: str, slots: Slots) -> str:
        """A meaning with what stands in the places; `<asked>` is what the exercise asks for, `<is>` what 'is' says."""
        known = {"asked": self.objects.asked, "is": "", **slots}
        known["target"] = "".join(self.objects.keys[:1])
        known["scaled"] = "".join([*self.objects.scaled.values()][:1])
        named = [key for one in slots.values() if isinstance(one, Keys) for key in one.refs]
        known["other"] = "".join(key for key in self.objects.keys if key not in named)
        return re.sub(r"<(\w+)>", lambda one: _text(known[one[1]]), text)

    def stated(self) -> list[str]:
        """The formulas before this place, in this sentence and those before it."""
        return [*self.before, *(one.text for one in self.out if one.kind == "formula")]

    def coming(self) -> list[str]:
        """The formulas behind this place, in this sentence."""
        return [one.text for one in self.tokens[self.at :] if one.kind == "formula"]


_OF_KEYS = re.compile(r"(?P<kind>score|weight)\((?P<keys>\w+)(?:, (?P<head>\w+))?\) (?P<sign>\S*) (?P<value>.+)")


def _text(found: str | Keys) -> str:
    return found if isinstance(found, str) else found.refs[0]


# What may stand in the places of a pattern.


def _keys(reader: Rules) -> Keys:
    return Keys(*reader.indices())


def _one_key(reader: Rules) -> Keys:
    found = _keys(reader)
    reader.need(len(found.refs) == 1 and found.refs[0] in reader.objects.keys)
    return found


def _kind(reader: Rules) -> str:
    found = next((kind for kind in ("score", "weight") if reader.take_from(kind)), "")
    reader.need(found)
    return found


def _key_labelled(reader: Rules) -> Keys:
    reader.skip("a key")
    return Keys(tuple(reader.labels()), guessed=False)


def _key_of_length(reader: Rules) -> Keys:
    """Of a random length, as a term or a word, the key that has it."""
    name = reader.text() if reader.kind() in ("term", "word") else ""
    reader.need(name in reader.objects.scaled)
    reader.at += 1
    return Keys((reader.objects.scaled[name],))


def _term_like(pattern: str) -> Callable[[Rules], str]:
    def found(reader: Rules) -> str:
        term = reader.next("term")
        reader.need(re.fullmatch(pattern, _bare(term)))
        return term

    return found


def _terms(reader: Rules) -> str:
    """'$U$ and $V$'."""
    found = [reader.next("term")]
    while reader.word() == "and" and reader.at + 1 < len(reader.tokens) and reader.tokens[reader.at + 1].kind == "term":
        reader.at += 1
        found.append(reader.next("term"))
    return ", ".join(found)


def _phrase(table: str) -> Callable[[Rules], str]:
    def found(reader: Rules) -> str:
        meaning = reader.phrase(getattr(lexicon(), table))
        reader.need(meaning)
        return meaning

    return found


def _how_many_others(reader: Rules) -> str:
    wanted = reader.objects.first or str(len(reader.objects.keys) or "")
    term = reader.next("term")
    reader.need(wanted and _bare(term) == f"n-{wanted}")
    return term


def _even_case(reader: Rules) -> str:
    case = reader.next("formula")
    reader.need(_bare(case) in reader.objects.even)
    return case


def _half(reader: Rules) -> str:
    value = reader.value()
    reader.need(_bare(value) in ("1/2", "0.5"))
    return value


SLOTS: Mapping[str, Callable[[Rules], str | Keys]] = {
    "keys": _keys,
    "key": _one_key,
    "labelled key": _key_labelled,
    "key of length": _key_of_length,
    "head": lambda reader: str(reader.head_named()),
    "value": lambda reader: reader.value(),
    "sign": lambda reader: reader.sign_said(),
    "kind": _kind,
    "weight": _term_like(r"\\?alpha_\w"),
    "term": lambda reader: reader.next("term"),
    "terms": _terms,
    "not zero": _term_like("(?!0$).+"),
    "vector": _term_like(r"[vabxw]_\w"),
    "point on the circle": _term_like(r"\(\\?sin(\(?[a-z]'?\)?),\\?cos\1\)"),
    "of one": _phrase("of_ones"),
    "fact of matrices": _phrase("matrix_facts"),
    "how many others": _how_many_others,
    "even case": _even_case,
    "half": _half,
}


# What must have been stated, or must follow, besides.


def _is_given(reader: Rules, slots: Slots) -> bool:
    any_of = set(str(slots["fact"]).split("/"))
    return all(any_of & set(reader.objects.facts.get(name, ())) for name in str(slots["names"]).split(", "))


def _of_a_relation(reader: Rules, _: Slots) -> bool:
    """'divide by $k$' is a step where a relation was stated; of the object that is asked for, it would be another."""
    left = sides(reader.stated()[-1])[0] if reader.stated() else reader.objects.asked
    return reader.objects.asked not in (left, left.lstrip("\\"))


def _different_inputs(reader: Rules, _: Slots) -> bool:
    return any("Phi" in text and re.search(r"\\ne|!=|≠", text) for text in reader.stated())


def _quotient_of_weights(reader: Rules, _: Slots) -> bool:
    return any(text.count("alpha_") > 1 and ("frac" in text or "/" in text) for text in reader.stated())


def _sum_goes_so_far(reader: Rules, slots: Slots) -> bool:
    sums = [found for text in reader.coming() for found in _CUT.findall(text)]
    return len(sums) == 1 and _bare(sums[0]) == _bare(str(slots["many"]))


def _key_for_each_query(reader: Rules, _: Slots) -> bool:
    """The two queries are made from one key each; the direction u is that of key 1."""
    made = [text.partition("=")[2] for text in (*reader.stated(), *reader.coming()) if _QUERIES.match(text)]
    keys = [{key for key in reader.objects.keys if _made_from(key, text)} for text in made]
    return len(keys) == 2 and all(len(one) == 1 for one in keys) and keys[0] != keys[1]


def _made_from(key: str, text: str) -> bool:
    direction = key == "1" and re.search(r"(?<![a-zA-Z\\])u(?![a-zA-Z_])", text) is not None
    return direction or re.search(rf"(?:k|mu)_\{{?{key}\}}?", text) is not None


def _sum_of_wanted(reader: Rules, _: Slots) -> bool:
    told = _bare("".join(reader.coming()[:1]).partition("=")[2])
    first, keys = reader.objects.first, {f"k_{key}" for key in reader.objects.keys}
    dots = rf"k_1\+(?:k_2\+)?\\?[lc]?dots\+k_{first}|\\sum_i=1\^{first}k_i|\\sum_i\\leq?{first}k_i"
    return bool(keys and set(told.split("+")) == keys) or bool(first and re.fullmatch(dots, told))


def _of_first_token(reader: Rules, _: Slots) -> bool:
    """All that is stated in the sentence speaks of the first token."""
    said = [one.text for one in (*reader.out, *reader.tokens[reader.at :]) if one.kind == "formula"]
    return bool(said) and all(_OF_FIRST.match(text) for text in said)


def _queries_set_last(reader: Rules, _: Slots) -> bool:
    return [found[1] for text in reader.before for found in (_QUERIES.match(text),) if found] == ["1", "2"]


def _weight_spoken_of(reader: Rules, _: Slots) -> bool:
    term = rf"\alpha_{next(iter(reader.objects.scaled.values()))}"
    return any(term in _bare(text) for text in reader.stated()[-3:])


WHEN: Mapping[str, Callable[[Rules, Slots], bool]] = {
    "it is given": _is_given,
    "it has that length": lambda _, slots: _text(slots["k"]) == _text(slots["c"]),
    "something was stated": lambda reader, _: bool(reader.stated()),
    "a relation was stated": _of_a_relation,
    "different inputs were stated": _different_inputs,
    "a quotient of weights was stated": _quotient_of_weights,
    "the sum goes so far": _sum_goes_so_far,
    "each query has a key": _key_for_each_query,
    "the sum is of the wanted keys": _sum_of_wanted,
    "it is of the first token": _of_first_token,
    "the queries were set last": _queries_set_last,
    "the weight was spoken of": _weight_spoken_of,
}
_CUT = re.compile(r"B\s*=\s*\\sum_\{[ij]\s*=\s*1\}\s*\^\s*(\{[^{}]*\}|\w)\s*\\sigma_")
_QUERIES = re.compile(r"\s*q_\{?([12])\}?\s*=")
_OF_FIRST = re.compile(r"\s*(?:c_\{?1\}?|\\?alpha_\{?1,?1\}?)(?!\d)")
