"""What designing heads from rules gives: the weights with what was proved of them, as data, JSON, a card or a chart."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from headwright.certificates.checkers import in_words
from headwright.errors import InputError
from headwright.extras import install_line, is_installed
from headwright.head_design.exact_bounds import frobenius_above
from headwright.head_design.head import HeadLayer
from headwright.head_design.rules import Rule, Rules
from headwright.notebook import card, lines
from headwright.numerics.enclosure import shown_above

if TYPE_CHECKING:
    from headwright.pictures import Chart

COARSE = (
    "The certificate is about these bfloat16 weights in exact arithmetic. Sums that are themselves rounded to bfloat16 "
    "may miss tight tolerances; exports run these weights in float32."
)
# By what the numbers in the JSON are known.
KINDS = {
    "frobenius": "proven",
    "nuclear": "proven",
    "lower_bound": "proven",
    "outputs": "proven",
    "patterns": "proven",
    "heads": "exact",
}


@dataclass(frozen=True, eq=False)
class HeadsResult:
    """What `build` found. All numbers are proven by the certificate or in exact arithmetic.

    With several heads, frobenius^2 is the sum of their squares, nuclear and head_dim the sum and the largest.

    >>> from headwright.head_design.builder import build
    >>> from headwright.head_design.rules_file import parse_rules
    >>> found = build(parse_rules("tokens = [[1.0, 0.0], [0.0, 1.0]]\\n[[rule]]\\ntoken = 0\\ncopy = 1"))
    >>> found.word, found.head_dim, found.frobenius / found.lower_bound - 1 < 1e-9
    ('designed', 1, True)
    """

    rules: Rules
    word: str  # "designed", "impossible" or "undecided"
    words: str  # what was proved, or why nothing was
    layer: HeadLayer | None = None  # the weights as deployed; None unless designed
    certificate: str | None = None  # JSON, as the checker accepted it
    minimise: str = "size"
    head_dim: int = 0
    # No smaller head gives the claimed weights; looked for where the dimension matters.
    head_dim_lower_bound: int = 1
    frobenius: float = math.inf  # |W_K^T W_Q|_F, rounded up
    # (|W_Q|_F^2 + |W_K|_F^2) / 2, rounded up: at least the nuclear norm of W_K^T W_Q.
    nuclear: float = math.inf
    # For the norm that is minimised: none smaller gives the claimed weights; 0 if not proven.
    lower_bound: float = 0.0
    # For each claim, how far its output is from what is wanted at most; 0 if no output.
    outputs: tuple[float, ...] = ()
    # For each claim, what each target gets at least.
    patterns: tuple[dict[int, float], ...] = ()
    claims: tuple[Rule, ...] = ()  # the rules, with all floors that are claimed
    assignment: tuple[str, ...] = ()  # who attends to whom, in words

    @property
    def checkers(self) -> tuple[str, ...]:
        """Who verified the certificate: the exact checker, which is the one that whole heads have."""
        return () if self.certificate is None else ("exact",)

    def to_json(
        self, certificate: str | None = None, exported: Sequence[str] = ()
    ) -> dict[str, Any]:
        """All of it in JSON's own types; the caller says where the certificate and the exports are."""
        fields: dict[str, Any] = {
            "verdict": self.word,
            "head_dim": None,
            "head_dim_lower_bound": None,
            "frobenius": None,
            "nuclear": None,
            "minimised": self.minimise,
            "lower_bound": None,
            "outputs": self._outputs_json(),
            "patterns": self._patterns_json(),
            "assignment": list(self.assignment),
            "dtype": None,
            "heads": [],
            "checkers": list(self.checkers),
            "certificate": certificate,
            "exported": list(exported),
            "note": None,
            "words": self.words,
            "kinds": KINDS,
        }
        if self.layer is not None:
            fields["head_dim"] = self.head_dim
            fields["head_dim_lower_bound"] = self.head_dim_lower_bound
            fields["frobenius"] = self.frobenius
            fields["nuclear"] = self.nuclear
            fields["lower_bound"] = self.lower_bound
            fields["dtype"] = self.layer.dtype
            fields["heads"] = self.layer.to_json()
            if self.layer.dtype == "bfloat16":
                fields["note"] = COARSE
        return fields

    def _outputs_json(self) -> list[dict[str, Any]]:
        """The claims that want an output, with its error."""
        entries = []
        for rule, error in zip(self.claims, self.outputs, strict=True):
            if rule.output is not None:
                entries.append({**_place_json(rule), "error": error})
        return entries

    def _patterns_json(self) -> list[dict[str, Any]]:
        """All claims, with what each target gets at least."""
        entries = []
        for rule, pattern in zip(self.claims, self.patterns, strict=True):
            weights = {str(token): least for token, least in pattern.items()}
            entries.append({**_place_json(rule), "least": weights})
        return entries

    @property
    def _facts(self) -> list[tuple[str, str]]:
        """What a card shows."""
        facts = []
        if self.certificate is not None:
            verifiers = in_words(self.checkers)
            facts.append(("certificate", f"verified by the {verifiers}"))
        if self.layer is None:
            return facts
        facts.append(("head dimension", str(self.head_dim)))
        norm = shown_above(self.frobenius, 4)
        facts.append(("norm of W_K^T W_Q, at most", norm))
        if any(rule.output is not None for rule in self.claims):
            error = shown_above(max(self.outputs), 4)
            facts.append(("errors of outputs, at most", error))
        return facts

    def __repr__(self) -> str:
        """The verdict and the sizes in a few lines, never the weights."""
        return lines(self.word, self.words, self._facts)

    def _repr_html_(self) -> str:
        """For notebooks: the same as a card, with the picture of the first head."""
        facts = self._facts
        if self.layer is None:
            return card(self.word, self.words, facts, certificate=self.certificate)
        if not is_installed("plots"):
            facts.append(("picture", install_line("plots")))
            return card(self.word, self.words, facts, certificate=self.certificate)
        from headwright.pictures import render, told

        chart = self.picture()
        drawn = render(chart, ".svg")
        return card(self.word, self.words, facts, drawn, told(chart), self.certificate)

    def picture(self, head: int = 0, sequence: int = 0) -> Chart:
        """One head as a chart: its pattern for one sequence, and its queries and keys."""
        from headwright.head_design.picture import picture

        if self.layer is None:
            raise InputError(
                f"there is no head to draw, since the verdict is {self.word}: {self.words}"
            )
        norm = shown_above(frobenius_above(self.layer.heads[head]), 3)
        subtitle = f"norm of W_K^T W_Q at most {norm}"
        errors = []
        with_rule = set()
        for rule, error in zip(self.claims, self.outputs, strict=True):
            if rule.output and rule.head == head:
                errors.append(error)
            if rule.sequence == sequence and rule.head in (head, None):
                with_rule.add(rule.token)
        if errors:
            subtitle += f"; outputs proven to be within {shown_above(max(errors), 3)}"
        X = self.rules.sequences[sequence]
        free = set(range(len(X))) - with_rule
        labels = self.rules.labels(sequence)
        return picture(self.layer, X, head, labels, subtitle, free)


def _place_json(rule: Rule) -> dict[str, Any]:
    return {"sequence": rule.sequence, "token": rule.token, "head": rule.head}
