"""Which groups of texts two attention layers get right: searched, checked, and run.

What the search claims counts as proved when `induction.checker` has verified it. The worst text that was found is run
in the model itself. If the model predicts another token there, or gives at most half to the place, the group is false.
If the run contradicts what was proved, that is an error.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import pairwise

import numpy as np

from headwright.errors import InputError
from headwright.models.model import Model
from headwright.numerics.enclosure import assert_within
from headwright.text_bounds.checker.doubt import DoubtError
from headwright.text_bounds.induction.checker import check_claims
from headwright.text_bounds.induction.groups import (
    InductionGoal,
    TextGroup,
    unnamed_groups,
)
from headwright.text_bounds.induction.parts import GroupPartStore, PartQuestion
from headwright.text_bounds.induction.results import (
    GroupResult,
    opening_of,
    statement_of,
)
from headwright.text_bounds.induction.run import run_group
from headwright.text_bounds.induction.search import SearchTables, find_claim, worst_text
from headwright.text_bounds.induction.weights import (
    Weights,
    weights_digest,
    weights_of,
)
from headwright.text_bounds.progress import Progress, part_of
from headwright.workers import available_memory, code

MOST_BOUNDS = 4096  # that are tried for a group
SHORTEST = 4
LONGEST = 64  # tables grow with the length
# Memory for each number of the tables, measured: copies are made.
BYTES_OF_SCORES = 130
BYTES_OF_LOGITS = 8
SEARCH_SHARE = 0.5  # of the work; the rest is to check it


def all_groups(model: Model, length: int) -> list[TextGroup]:
    """All groups in which no token before the end is named."""
    tokens = len(weights_of(model)["embed"])
    return list(unnamed_groups(length, tokens, opening_of(model)))


def prove_groups(
    model: Model,
    length: int,
    groups: Iterable[TextGroup] | None = None,
    *,
    heads: Sequence[int | None] = (None,),
    most_bounds: int = MOST_BOUNDS,
    store: GroupPartStore | None = None,
    progress: Progress | None = None,
) -> list[GroupResult]:
    """Of some groups, or all: the margins of b (None), or the weights on j in heads of the second layer."""
    weights = weights_of(model)
    opening = opening_of(model)
    longest = LONGEST if model.max_length is None else min(LONGEST, model.max_length)
    if not SHORTEST <= length <= longest:
        raise InputError(
            f"texts of {length} tokens: expected {SHORTEST} to {longest} for {model.name}"
        )
    chosen = all_groups(model, length) if groups is None else list(groups)
    for group in chosen:
        group.check(length, len(weights["embed"]), opening)
    second_layer_heads = weights["query"].shape[1]
    for head in heads:
        if head is not None and not 0 <= head < second_layer_heads:
            raise InputError(
                f"head {head} of the second layer: expected 0 to {second_layer_heads - 1}"
            )
    _check_memory(weights, length, chosen, opening)
    # Where weights are so large that float32 overflows, bounds of the search are worth nothing, and so is their claim:
    # proved is what the checker accepts.
    with np.errstate(all="ignore"):
        try:
            tables = SearchTables(weights, length)
            run = ProofRun(model, weights, opening, tables, most_bounds)
            return run.prove_parts(chosen, heads, store or GroupPartStore(), progress)
        except MemoryError as error:
            raise InputError(
                _too_large(weights, length, "there is not enough memory for its tables")
            ) from error


@dataclass(frozen=True, eq=False)
class ProofRun:
    """A model, and the tables for texts of one length."""

    model: Model
    weights: Weights
    opening: int | None
    tables: SearchTables
    most_bounds: int

    def prove_parts(
        self,
        groups: Sequence[TextGroup],
        heads: Sequence[int | None],
        store: GroupPartStore,
        progress: Progress | None,
    ) -> list[GroupResult]:
        """Part by part: a part has one goal, and all groups with the same a."""
        results: list[GroupResult] = []
        whole = len(groups) * len(heads)
        for head in heads:
            goal = InductionGoal(head)
            for a in sorted({group.a for group in groups}):
                part = [group for group in groups if group.a == a]
                report = part_of(progress, len(results), len(part), whole)
                results += self._prove_part(part, goal, store, report)
        return results

    def _prove_part(
        self,
        part: Sequence[TextGroup],
        goal: InductionGoal,
        store: GroupPartStore,
        report: Progress,
    ) -> list[GroupResult]:
        """From the store, or by a search; run again and verified in any case."""
        name = self._part_name(part, goal)
        tokens = len(self.weights["embed"])
        question = PartQuestion(part, goal, self.tables.length, tokens, self.opening)
        results = store.get(name, question)
        if results is None:
            results = self._search(part, goal, report)
            store.put(name, results)
        ran = []
        for result in results:
            run = run_group(self.model, result.text, result.group, result.head)
            ran.append(replace(result, run=run))
        proved = _verified(self.model, self.tables.length, ran)
        for result in proved:
            if result.least is not None:
                assert_within(result.run, str(result), least=float(result.least))
        report(1.0)
        return proved

    def _part_name(self, part: Sequence[TextGroup], goal: InductionGoal) -> str:
        """All that its results depend on."""
        about = [
            "next token",
            code(),
            weights_digest(self.weights),
            self.tables.length,
            self.most_bounds,
            goal.head,
            [asdict(group) for group in part],
        ]
        return hashlib.sha256(json.dumps(about).encode()).hexdigest()

    def _search(
        self, part: Sequence[TextGroup], goal: InductionGoal, report: Progress
    ) -> list[GroupResult]:
        """The worst text that was found of each group, and what is claimed of it: nothing is proved yet."""
        results = []
        for number, group in enumerate(part):
            text = worst_text(self.tables, group, goal, self.opening)
            run = run_group(self.model, text, group, goal.head)
            least = None
            cuts = None
            if run > goal.target:
                claim = find_claim(
                    self.tables, group, goal, self.most_bounds, self.opening
                )
                if claim is not None:
                    least = _decimal_below(claim.least, goal.digits)
                    cuts = claim.cuts
            ids = tuple(map(int, text))
            results.append(
                GroupResult(
                    group.a, group.b, group.c, group.j, goal.head, least, cuts, ids, run
                )
            )
            report(SEARCH_SHARE * (number + 1) / len(part))
        return results


def _verified(
    model: Model, length: int, results: list[GroupResult]
) -> list[GroupResult]:
    """What the checker does not accept is not proved: together, and one by one where some are not."""
    statement = statement_of(model, length, results)
    if statement is None:
        return results
    try:
        check_claims(statement, weights_of(model))
    except DoubtError:
        if len(results) == 1:
            return [replace(results[0], least=None, cuts=None)]
        verified = []
        for result in results:
            verified += _verified(model, length, [result])
        return verified
    return results


def _decimal_below(number: float, digits: int) -> str:
    """So many decimals, rounded down."""
    unit = 10**digits
    return f"{math.floor(number * unit) / unit:.{digits}f}"


def _check_memory(
    weights: Weights, length: int, groups: Sequence[TextGroup], opening: int | None
) -> None:
    """Refuse tables that are larger than the memory that is free, before any of them is made."""
    sizes = [_table_bytes(weights, length, group, opening) for group in groups]
    needed = max(sizes, default=0)
    free = available_memory()
    if free is not None and needed > free:
        why = f"its tables take about {needed / 1e9:.0f} GB of memory, and {free / 1e9:.0f} GB are free"
        raise InputError(_too_large(weights, length, why))


def _too_large(weights: Weights, length: int, why: str) -> str:
    return (
        f"texts of {length} tokens of a model with {len(weights['embed'])} tokens: {why}; "
        "expected shorter texts or fewer tokens (tables grow with the cube of the tokens)"
    )


def _table_bytes(
    weights: Weights, length: int, group: TextGroup, opening: int | None
) -> int:
    """About as many bytes as the largest tables of the checker take; those of the search take a third of them.

    For each token at the end's row, spot and head, and for each pair of tokens that two neighbouring places may hold,
    there is a number; as there is for each place, each other token and each such pair.
    """
    tokens = len(weights["embed"])
    heads = int(weights["query"].shape[1])
    spots = length if len(weights["place"]) else 1
    allowed = group.allowed(length, tokens, opening)
    pairs = max(len(before) * len(after) for before, after in pairwise(allowed))
    bytes_each = BYTES_OF_SCORES * heads * spots + BYTES_OF_LOGITS * length
    return pairs * tokens * bytes_each
