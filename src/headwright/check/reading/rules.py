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
from headwright.check.reading.things import KINDS, Objects, Subject, UnfitError, sides
from headwright.check.reading.values import Values
from headwright.check.reading.written import leads_on

Made = tuple[list[str], Loose]
# Words with which a clause begins right after a formula, or after a reason, without a comma.
BEGIN_BARE = ("the", "all", "every", "each", "both", "it", "head", "key", "which", "whose", "we", "whatever")
BEGINS = ("it", "the", "this", "they", "then")  # what is said under an assumption


class Keys(NamedTuple):
    """Keys that are referred to, and whether that is a guess."""

    refs: tuple[str, ...]
    guessed: bool = True


Slots = Mapping[str, str | Keys | Subject]  # what stands in the places of a pattern
Found = str | Keys | Subject | Slots  # in one place; several things where it is made of several


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
    """A term without blanks, braces and fonts, and with one spelling of a half."""
    return (
        re.sub(r"\\(?:mathrm|text|operatorname)(?![a-z])|[\s{}]", "", term)
        .replace(r"\tfrac", r"\frac")
        .replace(r"\frac12", "1/2")
    )


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
                    self.need(_bare(self.next("term")) == place.text)
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
            put = {name: ref if several and one is several[0] else _text(one) for name, one in known.items()}
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

    def stated(self) -> list[str]:
        """The formulas before this place, in this sentence and those before it."""
        return [*self.before, *(one.text for one in self.out if one.kind == "formula")]

    def coming(self) -> list[str]:
        """The formulas behind this place, in this sentence."""
        return [one.text for one in self.tokens[self.at :] if one.kind == "formula"]


_EQUAL = re.compile(r"(?P<kind>score|weight|each)\((?P<keys>\w+)\) equal (?P<sign>\S+)")
_OF_KEYS = re.compile(
    r"(?P<kind>score|weight|gap|each)\((?P<keys>\w+)(?:, (?P<head>\w+))?\) (?P<sign>\S*) (?P<value>.+)"
)


# A place of a meaning: <x>, or the keys of score(x, h).
_PLACES = re.compile(r"(?<=<)\w+(?=>)|(?<=score\()\w+|(?<=weight\()\w+")


def _text(found: str | Keys | Subject) -> str:
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


CONTINUING = ("and", "but", "while", ",")


def _giver(reader: Rules) -> str:
    """What scores and weights come from: the query, named or just written down."""
    if reader.take_from("head", "the query") or (
        reader.text() == "q" and reader.kind() == "term" and reader.next("term")
    ):
        return ""
    reader.need(reader.out)
    if reader.out[-1].text in CONTINUING and reader.last is not None and reader.last.kind in KINDS:
        reader.need(reader.word() in (*lexicon().table("gives"), *lexicon().table("moves")))
        return ""  # '... gives $k_a$ the score $x$ and leaves the others at $0$'
    reader.need(reader.out[-1].kind == "formula")
    reader.need(reader.objects.asked and re.match(rf"\s*\\?{reader.objects.asked}\s*=", reader.out[-1].text))
    return ""


def _wanted_key(reader: Rules) -> Keys:
    found = _keys(reader)
    reader.need(set(found.refs) == set(reader.targets()))
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


def _token(reader: Rules) -> Slots:
    """'token 2', 'the query $x_2$'; '$x_2 = u_a + u_d$' says besides what it is now."""
    reader.take("the token", "the query", "the query vector")
    changed, old = reader.objects.changed
    if changed and reader.kind() == "formula" and _bare(reader.text()).startswith(f"{changed}="):
        reader.head, new = int(changed[-1]), {"new": reader.next("formula")}
    elif changed and reader.kind() == "term" and _bare(reader.text()) == old:
        reader.head, new = int(changed[-1]), {}
        reader.at += 1
    else:
        reader.head, new = reader.head_named(), {}
    return {"": str(reader.head), **new}


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


def _orthonormal(reader: Rules) -> str:
    """'orthogonal and of unit length', the longest stretch that is understood."""
    most = next((ahead for ahead in range(12) if not reader.word(ahead)), 12)
    for length in range(most, 0, -1):
        if lexicon().of_vector([reader.word(ahead) for ahead in range(length)]):
            reader.at += length
            return ""
    raise UnfitError


def _half(reader: Rules) -> str:
    value = reader.value()
    reader.need(_bare(value) in ("1/2", "0.5"))
    return value


def _other_tokens(reader: Rules) -> Keys:
    """'itself', 'the other two', '$x_1$': of the token that was just named."""
    if reader.take("itself"):
        return Keys((str(reader.head),))
    if reader.take_from("the other tokens"):
        return Keys(tuple(str(at) for at in range(1, reader.objects.tokens + 1) if at != reader.head))
    return _keys(reader)


def _itself(reader: Rules) -> str:
    reader.need(reader.take_from("to itself"))
    return str(reader.head)


def _the_token(reader: Rules) -> str:
    """The token that may be changed, by its name or as 'the second token'."""
    changed = reader.objects.changed[0]
    if _bare(reader.text()) == changed:
        return reader.next("term")
    reader.need(str(reader.head_named()) == changed[-1])
    return changed


def _own_weight(reader: Rules) -> str:
    """'its weight', of a token that was just said to see nothing but itself."""
    last = _OF_ITSELF.fullmatch(_bare("".join(reader.stated()[-1:])))
    reader.need(last and reader.take_from("its own weight"))
    return rf"\alpha_{{{last[1]},{last[1]}}}" if last else ""


def _whose(reader: Rules) -> str:
    """The token that was just said to be attended to."""
    last = _ATTENDED.fullmatch(_bare("".join(reader.stated()[-1:])))
    reader.need(last and reader.take("whose"))
    return last[1] if last else ""


def _matching_key(reader: Rules) -> str:
    """'$K x_1 = u_b$ matches the query $x_2$': the token whose key that is."""
    before = "".join(one.text for one in reader.out[-1:] if one.kind in ("formula", "term"))
    found = _KEY_OF.match(_bare(before))
    reader.need(found and reader.take("matches", "hits", "finds", "meets", "is found by", "fits"))
    return found[1] if found else ""


def _matching_query(reader: Rules) -> str:
    """'$q_2 = u_a$, which matches the first key': the token whose query that is."""
    found = _QUERY_OF.match(_bare("".join(reader.stated()[-1:])))
    reader.need(found and reader.take("which matches", "which hits", "which finds", "which points at", "which meets"))
    return found[1] if found else ""


def _turning(reader: Rules) -> str:
    """'$Q = ...$ turns $x_1$ into $u_c$': the matrix that was just set."""
    found = _SET.match(_bare("".join(one.text for one in reader.out[-1:] if one.kind == "formula")))
    reader.need(found and reader.take("turns", "maps", "sends", "takes", "which turns", "which maps", "which sends"))
    return found[1] if found else ""


def _one_token(reader: Rules) -> Keys:
    reader.skip("a key")
    found = Keys(tuple(reader.labels()))
    reader.need(len(found.refs) == 1)
    return found


def _of_a_row(reader: Rules) -> Slots:
    r"""'$\sigma_k^2$': one of the $\sigma_i^2$."""
    term = reader.next("term")
    found = re.fullmatch(r"(\\sigma)_k((?:\^2)?)", _bare(term))
    reader.need(found)
    return {"": term, "entry": f"{found[1]}_i{found[2]}"} if found else {}


def _going_on(reader: Rules) -> str:
    reader.need(reader.kind() == "formula" and leads_on(reader.text()))
    return reader.next("formula")


def _sequence(reader: Rules) -> Slots:
    r"""'$\sigma_1^2, \dots, \sigma_k^2$': what stands at place i, and where it ends."""
    found = _SEQUENCE.fullmatch(_bare(reader.next("term")))
    reader.need(found)
    return {"entry": f"{found['base']}_i{found['power']}", "end": found["end"]} if found else {}


def _any_term(reader: Rules) -> str:
    return reader.next("formula" if reader.kind() == "formula" else "term")


_QUERY_OF = re.compile(r"(?:q|Qx)_(\d)(?!\d)")
_SET = re.compile(r"([QKV])=")
_KEY_OF = re.compile(r"(?:Kx|k)_(\d)(?!\d)")
_OF_ITSELF = re.compile(r"\\?alpha_(\d),?\1=1")
_ATTENDED = re.compile(r"\\?alpha_\d,?(\d)(?:=|\\approx)1")
_SEQUENCE = re.compile(
    r"(?P<base>\\[a-z]+)_1(?P<power>(?:\^\d)?),(?:(?P=base)_2(?P=power),)?\\[lc]?dots,(?P=base)_(?P<end>\w)(?P=power)"
)


SLOTS: Mapping[str, Callable[[Rules], Found]] = {
    "keys": _keys,
    "key": _one_key,
    "labelled key": _key_labelled,
    "key of length": _key_of_length,
    "head": lambda reader: str(reader.head_named()),
    "value": lambda reader: reader.value(),
    "sign": lambda reader: reader.sign_said(),
    "kind": _kind,
    "giver": _giver,
    "wanted": _wanted_key,
    "subject": lambda reader: reader.subject(),
    "weight": _term_like(r"\\?alpha_\w"),
    "term": lambda reader: reader.next("term"),
    "terms": _terms,
    "not zero": _term_like("(?!0$).+"),
    "vector": _term_like(r"[vabxw]_\w|[AB][a-z]"),
    "point on the circle": _term_like(r"\(\\?sin(\(?[a-z]'?\)?),\\?cos\1\)"),
    "made of integers": _term_like(r"[tskm]'?(?:[-+,][tskm]'?)*"),
    "token": _token,
    "other tokens": _other_tokens,
    "self": _itself,
    "the token": _the_token,
    "added": _term_like(r"u_\w"),
    "direction": _term_like(r"u_\w"),
    "directions": _term_like(r"u_\w(?:,u_\w)*"),
    "weight of its own": _own_weight,
    "whose": _whose,
    "sequence": _sequence,
    "matching key": _matching_key,
    "matching query": _matching_query,
    "turning": _turning,
    "one key": _one_token,
    "of a row": _of_a_row,
    "going on": _going_on,
    "formula": lambda reader: reader.next("formula"),
    "term or formula": _any_term,
    "of one": _phrase("of_ones"),
    "fact of matrices": _phrase("matrix_facts"),
    "how many others": _how_many_others,
    "even case": _even_case,
    "half": _half,
    "orthonormal": _orthonormal,
}


# What must have been stated, or must follow, besides.


def _is_given(reader: Rules, slots: Slots) -> bool:
    any_of = set(str(slots["fact"]).split("/"))
    return all(any_of & set(reader.objects.facts.get(name, ())) for name in str(slots["names"]).split(", "))


def _given_to_others(reader: Rules, slots: Slots) -> bool:
    """'gives $k_a$ the score $x$ and all others the score $0$'."""
    return bool(reader.out and reader.out[-1].text in CONTINUING and reader.last and reader.last.kind == slots["kind"])


def _of_a_relation(reader: Rules, _: Slots) -> bool:
    """'divide by $k$' is a step where a relation was stated; of the object that is asked for, it would be another."""
    left = sides(reader.stated()[-1])[0] if reader.stated() else reader.objects.asked
    return reader.objects.asked not in (left, left.lstrip("\\"))


def _output_follows(reader: Rules, _: Slots) -> bool:
    """'with $x_2 = u_a + u_d$ it would be $c_2 \\approx ...$': of a case that was just named."""
    named = any(one.kind == "formula" for one in reader.out)
    return named and reader.kind() == "formula" and _bare(reader.text()).startswith(reader.objects.output)


def _such_a_sum(reader: Rules, slots: Slots) -> bool:
    """'we keep only the first $k$ terms: ...', if a sum of so many follows."""
    return any(rf"\sum_i=1^{_bare(_text(slots['many']))}" in _bare(text) for text in reader.coming())


def _is_reply(reader: Rules, _: Slots) -> bool:
    """'No, ...', and a full stop that was taken for that of an abbreviation; 'no two rows ...' is none."""
    return not reader.out and (reader.tokens[reader.at - 1].text == "no." or reader.kind() in ("", "mark"))


def _its_own_angle(_: Rules, slots: Slots) -> bool:
    """'$(\\sin t, \\cos t)$ is on the unit circle at angle $t$'."""
    angle = _bare(_text(slots.get("angle", "")))
    return not angle or re.fullmatch(rf"\(\\?sin\(?{re.escape(angle)}\)?,.*", _bare(_text(slots["point"]))) is not None


def _different_inputs(reader: Rules, _: Slots) -> bool:
    return any("Phi" in text and re.search(r"\\ne|!=|≠", text) for text in reader.stated())


def _quotient_of_weights(reader: Rules, _: Slots) -> bool:
    return any(text.count("alpha_") > 1 and ("frac" in text or "/" in text) for text in reader.stated())


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
    "it is diagonal": lambda reader, slots: _is_given(reader, {**slots, "fact": "diagonal"}),
    "a multiple was stated": lambda reader, _: any(r"\pi" in text for text in reader.stated()[-2:]),
    "the angle is its own": _its_own_angle,
    "the output was spoken of": lambda reader, _: any(reader.objects.output in _bare(one) for one in reader.stated()),
    "the output follows": _output_follows,
    "the turn is gone": lambda reader, _: any(re.match(r"M=(?!.*R_m)", _bare(text)) for text in reader.stated()),
    "such a sum follows": _such_a_sum,
    "the identity was stated": lambda reader, _: _bare("".join(reader.stated()[-1:])).endswith("=I"),
    "the queries stay": lambda reader, _: "Q=I" in [_bare(text) for text in (*reader.stated(), *reader.coming())],
    "it is a token's own weight": lambda reader, _: (
        _OF_ITSELF.fullmatch(_bare("".join(reader.stated()[-1:]))) is not None
    ),
    "a score was spoken of": lambda reader, _: bool(reader.head and reader.last and reader.last.kind == "score"),
    "no positions are added": lambda reader, _: not any("Phi" in text for text in (*reader.stated(), *reader.coming())),
    "it is a reply": _is_reply,
    "it is said precisely": lambda reader, _: reader.text() == ":" and bool(reader.coming()),
    "the sentence ends": lambda reader, _: not reader.kind(),
    "it has that length": lambda _, slots: _text(slots["k"]) == _text(slots["c"]),
    "the same was given to others": _given_to_others,
    "something was stated": lambda reader, _: bool(reader.stated()),
    "a relation was stated": _of_a_relation,
    "different inputs were stated": _different_inputs,
    "a quotient of weights was stated": _quotient_of_weights,
    "each query has a key": _key_for_each_query,
    "the sum is of the wanted keys": _sum_of_wanted,
    "it is of the first token": _of_first_token,
    "the queries were set last": _queries_set_last,
    "the weight was spoken of": _weight_spoken_of,
}
_QUERIES = re.compile(r"\s*q_\{?([12])\}?\s*=")
_OF_FIRST = re.compile(r"\s*(?:c_\{?1\}?|\\?alpha_\{?1,?1\}?)(?!\d)")
