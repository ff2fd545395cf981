"""A verdict in plain words, line by line: for terminals, and for graders that show text."""

from __future__ import annotations

import re

from headwright.check.reading.marks import find_formulas
from headwright.check.running.run import Checked
from headwright.check.sheets.text import clean, shortened
from headwright.check.telling.report import in_words
from headwright.check.verdict import Part, Verdict
from headwright.formula import FormulaError, parse
from headwright.formula.show import plain

_SPELLED = [
    (re.compile(r"\\(?:operatorname|mathrm|mathbf|mathbb|text|boldsymbol|mathcal)\*?\{([^{}]*)\}"), r"\1"),
    (re.compile(r"\\(?:left|right|big|Big|bigl|bigr|displaystyle|quad|qquad)(?![a-zA-Z])"), ""),
    (re.compile(r"\\sqrt\{([^{}]*)\}"), r"sqrt(\1)"),
    (re.compile(r"\\sqrt\s*(\w)"), r"sqrt(\1)"),
    (re.compile(r"\\d?frac\{(\w+)\}\{(\w+)\}"), r"\1/\2"),
    (re.compile(r"\\d?frac\{([^{}]*)\}\{([^{}]*)\}"), r"(\1)/(\2)"),
    (re.compile(r"\^\{?\\top\}?"), "^T"),
    (re.compile(r"\\geq?(?![a-zA-Z])"), ">="),
    (re.compile(r"\\leq?(?![a-zA-Z])"), "<="),
    (re.compile(r"\\neq?(?![a-zA-Z])"), "!="),
    (re.compile(r"\\(?:approx|sim)(?![a-zA-Z])"), "~"),
    (re.compile(r"\\gg(?![a-zA-Z])"), ">>"),
    (re.compile(r"\\ll(?![a-zA-Z])"), "<<"),
    (re.compile(r"\\(?:to|rightarrow)(?![a-zA-Z])"), "->"),
    (re.compile(r"\\(?:l|c)?dots(?![a-zA-Z])"), "..."),
    (re.compile(r"\\cdot(?![a-zA-Z])"), "*"),
    (re.compile(r"\\\|"), "|"),
    (re.compile(r"\\[,;:! ]"), " "),
    (re.compile(r"([_^])\{(\w+)\}"), r"\1\2"),
    (re.compile(r"\\([a-zA-Z]+)\s*"), r"\1 "),
]
ROUNDS = 4  # fractions within fractions, so deep


def readable(latex: str) -> str:
    r"""A formula in plain spelling.

    >>> readable(r"\alpha_a \ge \frac{1}{2 + \epsilon}")
    'alpha_a >= 1/(2 + epsilon)'
    """
    try:
        return plain(parse(latex))
    except FormulaError:  # words and dots, say: spelt out as well as can be
        return _spelt(latex)


def _spelt(latex: str) -> str:
    for _ in range(ROUNDS):
        before = latex
        for pattern, spelling in _SPELLED:
            latex = pattern.sub(spelling, latex)
        if latex == before:
            break
    return re.sub(r"\s+", " ", re.sub(r"\s+([_^,.)])", r"\1", latex)).strip()


def readable_text(markdown: str) -> str:
    """Prose with its formulas in plain spelling.

    >>> readable_text("Find $q$ with $x \\\\ge 0$.")
    'Find q with x >= 0.'
    """
    parts, done = [], 0
    for piece in find_formulas(markdown)[0]:
        before = markdown[done : piece.start].rstrip()
        parts += [re.sub(r"(\$\$?|\\[(\[])$", "", before), readable(piece.text)]
        done = piece.start + len(piece.text)
        done += len(re.match(r"\s*(?:\$\$?|\\[)\]])?", markdown[done:])[0])  # type: ignore[index]
    return " ".join("".join([*parts, markdown[done:]]).split())


MOST_FORMULAS = 6
MOST_PARTS = 40
WIDE = 15  # of the names on the left


def told(each: Checked) -> list[str]:
    """Where the answer stands, what it is, the verdict and why; steps only where they say more.

    >>> from headwright.check.answer import Formula
    >>> from headwright.check.sheets.handed import Handed
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
        ("counterexample", in_words(verdict.counterexample or {})),
        ("works from", verdict.threshold),
        ("suggestion", verdict.suggestion),
    ):
        if said:
            lines.append(f"  {name:<{WIDE}} {clean(said)}")
    failing = next((part for part in verdict.parts if part.word in ("refuted", "unreadable")), None)
    if len(verdict.parts) > 1 or (failing is not None and failing.reason != verdict.reason):
        heard = {verdict.reason}  # nothing is told twice
        for part in verdict.parts[:MOST_PARTS]:
            lines += _part(part, heard, failing is part and part.counterexample != verdict.counterexample)
            heard.add(part.reason)
    return lines


def shown_word(verdict: Verdict) -> str:
    """The verdict as it is said: of a true statement that does not answer, that it is true.

    >>> shown_word(Verdict("no answer", "nothing is said of c", (Part("1 = 1", "statement", "proved", ""),)))
    'true, but no answer'
    """
    true = bool(verdict.parts) and all(part.word == "proved" for part in verdict.parts)
    return f"true, but {verdict.word}" if verdict.word == "no answer" and true else verdict.word


def _part(part: Part, heard: set[str], failing: bool) -> list[str]:
    new = part.reason and not any(part.reason in other for other in heard) and "\n" not in part.reason
    statement = readable(part.statement)
    reason = part.reason.removeprefix(statement)  # a reason may start with what it is about
    why = (f": {reason}" if reason == part.reason else reason) if new else ""
    by = f" (by {part.used})" if part.used and new else ""
    lines = [clean(f"    {part.word:<10} {shortened(statement, 90)}{why}{by}")]
    if failing and part.counterexample:
        lines.append(clean(f"    {'':<10} with {in_words(part.counterexample)}"))
    return lines
