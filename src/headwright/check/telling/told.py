"""Verdicts in plain words, line by line, and how an answer was read: for terminals and graders; as JSON for scripts.

How much of a verdict is told is one of three `Hints`:

full        the reasons, the counterexample, from where on an answer works, what a teacher would add
direction   which statement fails and at which instance; not what is true instead, and nothing that would mend it
none        the word; of a formula that cannot be read, the place

What an answer defines is its author's own, so numbers that a goal comes to under it give nothing away. What is true
instead of a claim does: 'c tends to u_a, not to u_b' answers the question what c tends to.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

from headwright.check.running.run import Checked
from headwright.check.sheets.text import Complaint, Note, clean, shortened
from headwright.check.telling.typeset import SIDES, in_words, instance, readable
from headwright.check.verdict import WORST_FIRST, Part, Reading, Verdict, Word, by_what, to_json

MOST_FORMULAS = 6
MOST_PARTS = 40
WIDE = 15  # of the names on the left


def told(each: Checked) -> list[str]:
    """Where the answer stands, what it is, the verdict and why; steps only where they say more.

    >>> from headwright.check.reading.written import Formula
    >>> from headwright.check.sheets.text import Handed
    >>> answer = Handed("sheet.md", 3, "averaging-two", (Formula("q = k_a", 4),))
    >>> verdict = Verdict("refuted", "key b gets too little", counterexample={"n": 2, "alpha_b": 0.26894142})
    >>> print("\\n".join(told(Checked(answer, verdict, 0.1))))
    sheet.md:3  averaging-two
        q = k_a
      refuted: key b gets too little
      counterexample  n = 2, alpha_b = 0.268941
    """
    answer, verdict = each.answer, each.verdict
    lines = [f"{answer.place}  {answer.exercise_id}"]
    if answer.chosen:
        lines.append(clean(f"  taken for it: {answer.chosen}"))
    lines += [f"    {shortened(formula.text)}" for formula in answer.formulas[:MOST_FORMULAS]]
    if len(answer.formulas) > MOST_FORMULAS:
        lines.append(f"    ... and {len(answer.formulas) - MOST_FORMULAS} more formulas")
    reason = clean(verdict.reason)
    if "\n" in reason:  # an error that points into the formula stays as it is
        lines += [f"  {verdict.word}:", *(f"    {line}" for line in reason.split("\n"))]
    else:
        lines.append(f"  {shown_word(verdict)}: {reason}")
    for name, said in (
        ("counterexample", in_words(instance(verdict.counterexample))),
        ("works from", verdict.threshold),
        ("suggestion", verdict.suggestion),
    ):
        if said and said not in reason:
            lines.append(f"  {name:<{WIDE}} {clean(said)}")
    failing = next((part for part in verdict.parts if part.word in ("refuted", "unreadable")), None)
    if len(verdict.parts) > 1 or (failing is not None and failing.reason != verdict.reason):
        heard = {verdict.reason}  # nothing is told twice
        for part in verdict.parts[:MOST_PARTS]:
            shown = _part(part, heard, failing is part and part.counterexample != verdict.counterexample)
            shown = _numbered(shown, part.line) if answer.chosen else shown
            lines += [line for line in shown if line not in lines]  # the cases of one claim read alike
            heard.add(part.reason)
    return lines


def shown_word(verdict: Verdict) -> str:
    """The verdict as it is said: of a true statement that does not answer, that it is true.

    >>> shown_word(Verdict("no answer", "nothing is said of c", (Part("1 = 1", "statement", "proved", ""),)))
    'true, but no answer'
    """
    true = bool(verdict.parts) and all(part.word == "proved" for part in verdict.parts)
    return f"true, but {verdict.word}" if verdict.word == "no answer" and true else verdict.word


def _numbered(shown: list[str], line: int) -> list[str]:
    """With the line of the document in which it stands; what is asked for stands in none."""
    return [f"{line or '':>6}{shown[0][2:]}", *(f"      {each[2:]}" for each in shown[1:])]


def _part(part: Part, heard: set[str], failing: bool) -> list[str]:
    new = part.reason and not any(part.reason in other for other in heard) and "\n" not in part.reason
    statement = readable(part.statement)
    bare = statement.partition(" for ")[0]  # without what it is said for
    reason = part.reason.removeprefix(statement).removeprefix(bare)  # a reason may start with what it is about
    why = (f": {reason}" if reason == part.reason else reason) if new else ""
    by = by_what(part.used) if new else ""
    lines = [clean(f"    {part.word:<10} {shortened(statement, 90)}{why}{by}")]
    if failing and part.counterexample:
        lines.append(clean(f"    {'':<10} with {in_words(instance(part.counterexample))}"))
    return lines


ROLES = {
    "definition": "defined", "claim": "claimed", "reason": "a reason", "where": "said more closely",
    "assumption": "assumed", "condition": "a condition", "example": "an example", "goal": "wanted",
    "unclear": "not judged",
}  # fmt: skip
WIDEST_ROLE = max(map(len, ROLES.values()))
MOST_STATEMENTS = 200


def how(read: Sequence[Reading]) -> list[str]:
    r"""The statements of an answer as they were read.

    >>> print("\n".join(how([Reading(3, "claim", r"c \approx v_a", ("g > 1",), "proved")])))
      how it was read
        line 3  claimed            c ~ v_a, for g > 1: proved
    """
    lines = ["  how it was read"] if read else []
    for one in read[:MOST_STATEMENTS]:
        said = readable(one.statement) + (f", for {' and '.join(map(readable, one.under))}" if one.under else "")
        end = f": {one.word}" if one.word else f": {one.why}" if one.why else ""
        lines.append(
            clean(f"    line {one.line}  {role(one):<{WIDEST_ROLE}}  {shortened(said, 120)}{shortened(end, 160)}")
        )
    return lines


def role(one: Reading) -> str:
    r"""The role of a statement, in a word or two."""
    return ROLES["unclear"] if one.why and one.role not in ("goal", "unclear") else ROLES.get(one.role, one.role)


def results(
    checked: Sequence[Checked], complaints: Sequence[Complaint] = (), seed: int = 0, notes: Sequence[Note] = ()
) -> dict[str, Any]:
    """What `headwright check --json` prints."""
    counts = Counter(each.verdict.word for each in checked)
    return {
        "answers": [as_json(each) for each in checked],
        "complaints": [{"file": c.file, "line": c.line, "sentence": c.sentence} for c in complaints],
        "notes": [{"file": n.file, "line": n.line, "sentence": n.sentence, "unjudged": n.unjudged} for n in notes],
        "counts": {word: counts[word] for word in reversed(WORST_FIRST)},
        "seed": seed,
    }


def as_json(each: Checked) -> dict[str, Any]:
    """One answer with its verdict.

    >>> from headwright.check.reading.written import Formula
    >>> from headwright.check.sheets.text import Handed
    >>> from headwright.check.verdict import Verdict
    >>> found = as_json(Checked(Handed("a.md", 1, "copying", (Formula("c = v_j", 2),)), Verdict("proved", "so"), 0.5))
    >>> found["line"], found["answer"], found["verdict"]
    (1, 'c = v_j', 'proved')
    """
    answer = each.answer
    return {
        "file": answer.file,
        "line": answer.line,
        "exercise": answer.exercise_id,
        "chosen": answer.chosen,
        "answer": answer.text,
        "formulas": [{"text": formula.text, "line": formula.line} for formula in answer.formulas],
        **to_json(each.verdict),
        "seconds": round(each.seconds, 3),
    }


Hints = Literal["none", "direction", "full"]
BARE: Mapping[Word, str] = {
    "proved": "it is right",
    "holds": "no counterexample was found, and no proof",
    "no answer": "what was asked for is missing",
    "refuted": "something in it is false",
    "unreadable": "it could not be read",
    "undecided": "no verdict was reached",
}
PROVED = "it holds for all parameters in range"


def hinted(each: Checked, hints: Hints) -> Checked:
    """The same answer with as much of its verdict as these hints tell.

    >>> from headwright.check.sheets.text import Handed
    >>> claim = Part("c = u_b", "statement", "refuted", "c is u_a, not u_b", counterexample={"n": 2, "left": "u_a"})
    >>> answer = Checked(Handed("a.md", 1, "copying", ()), Verdict("refuted", "c is u_a, not u_b", (claim,)), 0.0)
    >>> [hinted(answer, hints).verdict.reason for hints in ("none", "direction")]
    ['something in it is false', 'c = u_b is false, for instance with n = 2']
    """
    if hints == "full":
        return each
    return replace(each, verdict=_bare(each.verdict) if hints == "none" else _directed(each.verdict))


def _bare(verdict: Verdict) -> Verdict:
    unread = verdict.word == "unreadable"
    return Verdict(verdict.word, _without_fix(verdict.reason, "fix: ") if unread else BARE[verdict.word])


def _directed(verdict: Verdict) -> Verdict:
    parts = tuple(_part_directed(part) for part in verdict.parts)
    failing = next((part for part in parts if part.word == "refuted"), None)
    return replace(
        verdict,
        reason=_reason(verdict, failing),
        parts=parts,
        counterexample=None if failing is None else failing.counterexample,
        threshold=None,
        probability=None,
        suggestion=verdict.hint,
        details={},
    )


def _reason(verdict: Verdict, failing: Part | None) -> str:
    if verdict.word == "proved":
        return PROVED
    if verdict.word == "refuted" and failing is not None:
        goals = [part for part in verdict.parts if part.role == "goal"]
        met = bool(goals) and all(part.word == "proved" for part in goals)
        return f"it does what is asked, but what it says besides is false: {failing.reason}" if met else failing.reason
    # A remedy for spelling gives nothing away; one for shapes does ('is A^T meant?').
    return _without_fix(verdict.reason, "fix: " if verdict.word == "refuted" else "fix: is ")


def _part_directed(part: Part) -> Part:
    if part.word != "refuted":
        return replace(part, reason="", used="")
    where = instance(part.counterexample)
    if "shapes" in (part.counterexample or {}) or (part.role == "goal" and where):
        return replace(part, reason=_without_fix(part.reason, "fix: "))
    where = {name: value for name, value in where.items() if name not in SIDES.values()}
    said = f"{readable(part.statement)} is false" + (f", for instance with {in_words(where)}" if where else "")
    return replace(part, reason=said, counterexample=where or None)


def _without_fix(reason: str, start: str) -> str:
    return "\n".join(line for line in reason.split("\n") if not line.startswith(start))
