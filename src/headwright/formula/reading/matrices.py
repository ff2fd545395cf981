"""Matrices, as LaTeX and as Python write them."""

from __future__ import annotations

from headwright.formula.reading.grammar import Grammar
from headwright.formula.tree import Listing, Matrix, Node, Span


class Matrices(Grammar):
    """\\begin{pmatrix}, [[1, 0], [0, 1]]."""

    def matrix(self) -> Node:
        r"""\begin{pmatrix} a & b \\ c & d \end{pmatrix}."""
        opener = self.at
        word = self.take()
        self.bars.append("")
        rows: list[list[Node]] = [[]]
        while self.at != self.pairs[opener]:
            if self.next.kind == "line":
                self.take()
                rows.append([])
                continue
            if rows[-1]:
                if self.next.kind != "amp":
                    self.unexpected()
                self.take()
            rows[-1].append(self.expression())
            self.no_aside()
        self.bars.pop()
        self.take()
        return self.table([row for row in rows if row], self.since(word.span.start))

    def is_rows(self) -> bool:
        """Whether a bracket holds nothing but brackets: [[1, 0], [0, 1]]."""
        place, end = self.at + 1, self.pairs[self.at]
        while place < end:
            if (self.found[place].kind, self.found[place].text) != ("open", "["):
                return False
            place = self.pairs[place] + 1
            if place == end:
                return True
            if (self.found[place].kind, self.found[place].text) != ("sign", ","):
                return False
            place += 1
        return False

    def rows(self) -> Node:
        """[[1, 0], [0, 1]]."""
        opener = self.at
        word = self.take()
        self.bars.append("")
        rows: list[list[Node]] = []
        while self.at != self.pairs[opener]:
            start = self.at
            self.take()
            row = [self.expression()]
            while self.sees(","):
                self.take()
                row.append(self.expression())
            self.no_aside()
            self.close(start)
            rows.append(row)
            if self.sees(","):
                self.take()
        self.bars.pop()
        self.take()
        return self.table(rows, self.since(word.span.start))

    def table(self, rows: list[list[Node]], span: Span) -> Node:
        """Rows of one length."""
        if not rows or len({len(row) for row in rows}) != 1:
            lengths = ", ".join(str(len(row)) for row in rows[:9]) or "no"
            self.fail(f"the rows of a matrix have {lengths} entries", span, "give every row the same number of entries")
        made = [self.new(Listing(tuple(row), span=row[0].span.to(row[-1].span))) for row in rows]
        return self.new(Matrix(tuple(made), span=span))
