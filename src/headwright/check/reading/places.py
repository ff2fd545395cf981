r"""What may stand in the places of a rule's pattern, and what must have been stated besides.

A place `{k:keys}` is filled by the function of its kind: it takes words of the sentence, and gives up where they do not
fit. Conditions (`when`) look at what was stated before, or comes behind.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import NamedTuple

from headwright.check.reading.lexicon import lexicon
from headwright.check.reading.things import KINDS, Subject, UnfitError, sides
from headwright.check.reading.values import Values
from headwright.check.reading.written import leads_on


class Keys(NamedTuple):
    """Keys that are referred to, and whether that is a guess."""

    refs: tuple[str, ...]
    guessed: bool = True


Slots = Mapping[str, str | Keys | Subject]  # what stands in the places of a pattern
Found = str | Keys | Subject | Slots  # in one place; several things where it is made of several


def bare(term: str) -> str:
    """A term without blanks, braces and fonts, and with one spelling of a half."""
    return (
        re.sub(r"\\(?:mathrm|text|operatorname)(?![a-z])|[\s{}]", "", term)
        .replace(r"\tfrac", r"\frac")
        .replace(r"\frac12", "1/2")
    )


def as_text(found: str | Keys | Subject) -> str:
    """What stands in a place, in a formula: the text itself, or the first key."""
    return found if isinstance(found, str) else found.refs[0]


# What may stand in the places of a pattern.


def _keys(reader: Values) -> Keys:
    return Keys(*reader.indices())


def _one_key(reader: Values) -> Keys:
    found = _keys(reader)
    reader.need(len(found.refs) == 1 and found.refs[0] in reader.objects.keys)
    return found


def _kind(reader: Values) -> str:
    found = next((kind for kind in ("score", "weight") if reader.take_from(kind)), "")
    reader.need(found)
    return found


CONTINUING = ("and", "but", "while", ",")


def _giver(reader: Values) -> str:
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


def _wanted_key(reader: Values) -> Keys:
    found = _keys(reader)
    reader.need(set(found.refs) == set(reader.targets()))
    return found


def _key_labelled(reader: Values) -> Keys:
    reader.skip("a key")
    return Keys(tuple(reader.labels()), guessed=False)


def _key_of_length(reader: Values) -> Keys:
    """Of a random length, as a term or a word, the key that has it."""
    name = reader.text() if reader.kind() in ("term", "word") else ""
    reader.need(name in reader.objects.scaled)
    reader.at += 1
    return Keys((reader.objects.scaled[name],))


def _term_like(pattern: str) -> Callable[[Values], str]:
    def found(reader: Values) -> str:
        term = reader.next("term")
        reader.need(re.fullmatch(pattern, bare(term)))
        return term

    return found


def _terms(reader: Values) -> str:
    """'$U$ and $V$'."""
    found = [reader.next("term")]
    while reader.word() == "and" and reader.at + 1 < len(reader.tokens) and reader.tokens[reader.at + 1].kind == "term":
        reader.at += 1
        found.append(reader.next("term"))
    return ", ".join(found)


def _token(reader: Values) -> Slots:
    """'token 2', 'the query $x_2$'; '$x_2 = u_a + u_d$' says besides what it is now."""
    reader.take("the token", "the query", "the query vector")
    changed, old = reader.objects.changed
    if changed and reader.kind() == "formula" and bare(reader.text()).startswith(f"{changed}="):
        reader.head, new = int(changed[-1]), {"new": reader.next("formula")}
    elif changed and reader.kind() == "term" and bare(reader.text()) == old:
        reader.head, new = int(changed[-1]), {}
        reader.at += 1
    else:
        reader.head, new = reader.head_named(), {}
    return {"": str(reader.head), **new}


def _phrase(table: str) -> Callable[[Values], str]:
    def found(reader: Values) -> str:
        meaning = reader.phrase(getattr(lexicon(), table))
        reader.need(meaning)
        return meaning

    return found


def _how_many_others(reader: Values) -> str:
    wanted = reader.objects.first or str(len(reader.objects.keys) or "")
    term = reader.next("term")
    reader.need(wanted and bare(term) == f"n-{wanted}")
    return term


def _even_case(reader: Values) -> str:
    case = reader.next("formula")
    reader.need(bare(case) in reader.objects.even)
    return case


def _orthonormal(reader: Values) -> str:
    """'orthogonal and of unit length', the longest stretch that is understood."""
    most = next((ahead for ahead in range(12) if not reader.word(ahead)), 12)
    for length in range(most, 0, -1):
        if lexicon().of_vector([reader.word(ahead) for ahead in range(length)]):
            reader.at += length
            return ""
    raise UnfitError


def _half(reader: Values) -> str:
    value = reader.value()
    reader.need(bare(value) in ("1/2", "0.5"))
    return value


def _other_tokens(reader: Values) -> Keys:
    """'itself', 'the other two', '$x_1$': of the token that was just named."""
    if reader.take("itself"):
        return Keys((str(reader.head),))
    if reader.take_from("the other tokens"):
        return Keys(tuple(str(at) for at in range(1, reader.objects.tokens + 1) if at != reader.head))
    return _keys(reader)


def _itself(reader: Values) -> str:
    reader.need(reader.take_from("to itself"))
    return str(reader.head)


def _the_token(reader: Values) -> str:
    """The token that may be changed, by its name or as 'the second token'."""
    changed = reader.objects.changed[0]
    if bare(reader.text()) == changed:
        return reader.next("term")
    reader.need(str(reader.head_named()) == changed[-1])
    return changed


def _own_weight(reader: Values) -> str:
    """'its weight', of a token that was just said to see nothing but itself."""
    last = _OF_ITSELF.fullmatch(bare("".join(reader.stated()[-1:])))
    reader.need(last and reader.take_from("its own weight"))
    return rf"\alpha_{{{last[1]},{last[1]}}}" if last else ""


def _whose(reader: Values) -> str:
    """The token that was just said to be attended to."""
    last = _ATTENDED.fullmatch(bare("".join(reader.stated()[-1:])))
    reader.need(last and reader.take("whose"))
    return last[1] if last else ""


def _matching_key(reader: Values) -> str:
    """'$K x_1 = u_b$ matches the query $x_2$': the token whose key that is."""
    before = "".join(one.text for one in reader.out[-1:] if one.kind in ("formula", "term"))
    found = _KEY_OF.match(bare(before))
    reader.need(found and reader.take("matches", "hits", "finds", "meets", "is found by", "fits"))
    return found[1] if found else ""


def _matching_query(reader: Values) -> str:
    """'$q_2 = u_a$, which matches the first key': the token whose query that is."""
    found = _QUERY_OF.match(bare("".join(reader.stated()[-1:])))
    reader.need(found and reader.take("which matches", "which hits", "which finds", "which points at", "which meets"))
    return found[1] if found else ""


def _turning(reader: Values) -> str:
    """'$Q = ...$ turns $x_1$ into $u_c$': the matrix that was just set."""
    found = _SET.match(bare("".join(one.text for one in reader.out[-1:] if one.kind == "formula")))
    reader.need(found and reader.take("turns", "maps", "sends", "takes", "which turns", "which maps", "which sends"))
    return found[1] if found else ""


def _one_token(reader: Values) -> Keys:
    reader.skip("a key")
    found = Keys(tuple(reader.labels()))
    reader.need(len(found.refs) == 1)
    return found


def _of_a_row(reader: Values) -> Slots:
    r"""'$\sigma_k^2$': one of the $\sigma_i^2$."""
    term = reader.next("term")
    found = re.fullmatch(r"(\\sigma)_k((?:\^2)?)", bare(term))
    reader.need(found)
    return {"": term, "entry": f"{found[1]}_i{found[2]}"} if found else {}


def _going_on(reader: Values) -> str:
    reader.need(reader.kind() == "formula" and leads_on(reader.text()))
    return reader.next("formula")


def _sequence(reader: Values) -> Slots:
    r"""'$\sigma_1^2, \dots, \sigma_k^2$': what stands at place i, and where it ends."""
    found = _SEQUENCE.fullmatch(bare(reader.next("term")))
    reader.need(found)
    return {"entry": f"{found['base']}_i{found['power']}", "end": found["end"]} if found else {}


def _any_term(reader: Values) -> str:
    return reader.next("formula" if reader.kind() == "formula" else "term")


_QUERY_OF = re.compile(r"(?:q|Qx)_(\d)(?!\d)")
_SET = re.compile(r"([QKV])=")
_KEY_OF = re.compile(r"(?:Kx|k)_(\d)(?!\d)")
_OF_ITSELF = re.compile(r"\\?alpha_(\d),?\1=1")
_ATTENDED = re.compile(r"\\?alpha_\d,?(\d)(?:=|\\approx)1")
_SEQUENCE = re.compile(
    r"(?P<base>\\[a-z]+)_1(?P<power>(?:\^\d)?),(?:(?P=base)_2(?P=power),)?\\[lc]?dots,(?P=base)_(?P<end>\w)(?P=power)"
)


SLOTS: Mapping[str, Callable[[Values], Found]] = {
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


def _is_given(reader: Values, slots: Slots) -> bool:
    any_of = set(str(slots["fact"]).split("/"))
    return all(any_of & set(reader.objects.facts.get(name, ())) for name in str(slots["names"]).split(", "))


def _given_to_others(reader: Values, slots: Slots) -> bool:
    """'gives $k_a$ the score $x$ and all others the score $0$'."""
    return bool(reader.out and reader.out[-1].text in CONTINUING and reader.last and reader.last.kind == slots["kind"])


def _of_a_relation(reader: Values, _: Slots) -> bool:
    """'divide by $k$' is a step where a relation was stated; of the object that is asked for, it would be another."""
    left = sides(reader.stated()[-1])[0] if reader.stated() else reader.objects.asked
    return reader.objects.asked not in (left, left.lstrip("\\"))


def _output_follows(reader: Values, _: Slots) -> bool:
    """'with $x_2 = u_a + u_d$ it would be $c_2 \\approx ...$': of a case that was just named."""
    named = any(one.kind == "formula" for one in reader.out)
    return named and reader.kind() == "formula" and bare(reader.text()).startswith(reader.objects.output)


def _such_a_sum(reader: Values, slots: Slots) -> bool:
    """'we keep only the first $k$ terms: ...', if a sum of so many follows."""
    return any(rf"\sum_i=1^{bare(as_text(slots['many']))}" in bare(text) for text in reader.coming())


def _is_reply(reader: Values, _: Slots) -> bool:
    """'No, ...', and a full stop that was taken for that of an abbreviation; 'no two rows ...' is none."""
    return not reader.out and (reader.tokens[reader.at - 1].text == "no." or reader.kind() in ("", "mark"))


def _its_own_angle(_: Values, slots: Slots) -> bool:
    """'$(\\sin t, \\cos t)$ is on the unit circle at angle $t$'."""
    angle = bare(as_text(slots.get("angle", "")))
    return not angle or re.fullmatch(rf"\(\\?sin\(?{re.escape(angle)}\)?,.*", bare(as_text(slots["point"]))) is not None


def _different_inputs(reader: Values, _: Slots) -> bool:
    return any("Phi" in text and re.search(r"\\ne|!=|≠", text) for text in reader.stated())


def _quotient_of_weights(reader: Values, _: Slots) -> bool:
    return any(text.count("alpha_") > 1 and ("frac" in text or "/" in text) for text in reader.stated())


def _key_for_each_query(reader: Values, _: Slots) -> bool:
    """The two queries are made from one key each; the direction u is that of key 1."""
    made = [text.partition("=")[2] for text in (*reader.stated(), *reader.coming()) if _QUERIES.match(text)]
    keys = [{key for key in reader.objects.keys if _made_from(key, text)} for text in made]
    return len(keys) == 2 and all(len(one) == 1 for one in keys) and keys[0] != keys[1]


def _made_from(key: str, text: str) -> bool:
    direction = key == "1" and re.search(r"(?<![a-zA-Z\\])u(?![a-zA-Z_])", text) is not None
    return direction or re.search(rf"(?:k|mu)_\{{?{key}\}}?", text) is not None


def _sum_of_wanted(reader: Values, _: Slots) -> bool:
    told = bare("".join(reader.coming()[:1]).partition("=")[2])
    first, keys = reader.objects.first, {f"k_{key}" for key in reader.objects.keys}
    dots = rf"k_1\+(?:k_2\+)?\\?[lc]?dots\+k_{first}|\\sum_i=1\^{first}k_i|\\sum_i\\leq?{first}k_i"
    return bool(keys and set(told.split("+")) == keys) or bool(first and re.fullmatch(dots, told))


def _of_first_token(reader: Values, _: Slots) -> bool:
    """All that is stated in the sentence speaks of the first token."""
    said = [one.text for one in (*reader.out, *reader.tokens[reader.at :]) if one.kind == "formula"]
    return bool(said) and all(_OF_FIRST.match(text) for text in said)


def _queries_set_last(reader: Values, _: Slots) -> bool:
    return [found[1] for text in reader.before for found in (_QUERIES.match(text),) if found] == ["1", "2"]


def _weight_spoken_of(reader: Values, _: Slots) -> bool:
    term = rf"\alpha_{next(iter(reader.objects.scaled.values()))}"
    return any(term in bare(text) for text in reader.stated()[-3:])


WHEN: Mapping[str, Callable[[Values, Slots], bool]] = {
    "it is given": _is_given,
    "it is diagonal": lambda reader, slots: _is_given(reader, {**slots, "fact": "diagonal"}),
    "a multiple was stated": lambda reader, _: any(r"\pi" in text for text in reader.stated()[-2:]),
    "the angle is its own": _its_own_angle,
    "the output was spoken of": lambda reader, _: any(reader.objects.output in bare(one) for one in reader.stated()),
    "the output follows": _output_follows,
    "the turn is gone": lambda reader, _: any(re.match(r"M=(?!.*R_m)", bare(text)) for text in reader.stated()),
    "such a sum follows": _such_a_sum,
    "the identity was stated": lambda reader, _: bare("".join(reader.stated()[-1:])).endswith("=I"),
    "the queries stay": lambda reader, _: "Q=I" in [bare(text) for text in (*reader.stated(), *reader.coming())],
    "it is a token's own weight": lambda reader, _: (
        _OF_ITSELF.fullmatch(bare("".join(reader.stated()[-1:]))) is not None
    ),
    "a score was spoken of": lambda reader, _: bool(reader.head and reader.last and reader.last.kind == "score"),
    "no positions are added": lambda reader, _: not any("Phi" in text for text in (*reader.stated(), *reader.coming())),
    "it is a reply": _is_reply,
    "it is said precisely": lambda reader, _: reader.text() == ":" and bool(reader.coming()),
    "the sentence ends": lambda reader, _: not reader.kind(),
    "it has that length": lambda _, slots: as_text(slots["k"]) == as_text(slots["c"]),
    "the same was given to others": _given_to_others,
    "the first is wanted": lambda reader, _: reader.objects.keys == ("1",),
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
