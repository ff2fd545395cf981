"""The result of an audit: what was found about each head, and on what. Data only; `report` shows it."""

from __future__ import annotations

from dataclasses import dataclass

from headwright.auditing.documents import Document, draws_of, repeated_tokens
from headwright.auditing.every_text_summary import FirstLayerBounds
from headwright.auditing.explain import HeadExample
from headwright.auditing.head_findings import HeadFindings
from headwright.auditing.measures.shuffling import OrderRuns
from headwright.auditing.measures.summary import Draws, Mean, RepeatedTokens


@dataclass(frozen=True, eq=False)
class AuditResult:
    """What was found, and on what."""

    model: str
    title: str  # the model's name without the folders that lead to it
    digest: str
    shape: tuple[int, int]  # layers and heads of the model
    layers: tuple[int, ...]  # those that were measured
    documents: tuple[Document, ...]
    text: str | None  # the name of the text; None if all documents are random tokens
    text_digest: str | None
    seed: int
    heads: tuple[HeadFindings, ...]
    order: OrderRuns
    not_measured: dict[str, str]  # what is missing, and why
    circuits_leave_out: tuple[str, ...]
    cache: str | None  # whether it may be kept in 8 bits, on every text
    examples: tuple[HeadExample, ...]
    every_text: FirstLayerBounds
    command: str
    date: str
    versions: dict[str, str]

    @property
    def measured_documents(self) -> tuple[Document, ...]:
        """The documents that everything is measured on; the others are for induction alone."""
        return tuple(document for document in self.documents if document.everything)

    @property
    def context(self) -> int:
        """How many tokens the longest of these documents has."""
        return max(len(document.tokens) for document in self.measured_documents)

    @property
    def draws(self) -> Draws:
        """What these documents are draws of."""
        return draws_of(self.measured_documents)

    @property
    def induction(self) -> dict[str, RepeatedTokens]:
        """The random tokens that induction was measured on, by the name of the measure."""
        return repeated_tokens(self.documents)

    @property
    def rows(self) -> int:
        """How many rows of each head the text, or what stands for it, has."""
        sink = self.heads[0].result("sink", Mean) if self.heads else None
        return 0 if sink is None else sink.rows
