"""Functions with their arguments, with and without brackets."""

from __future__ import annotations

from headwright.formula.reading.grammar import Grammar
from headwright.formula.reading.numerals import value
from headwright.formula.reading.scanner import Word
from headwright.formula.reading.spellings import FUNCTIONS
from headwright.formula.tree import Call, Inner, Name, Negative, Node, Norm, Number, Power, Product, Quotient, Transpose


class Applied(Grammar):
    """ln(x), \\cos^2 t, norm_F(A), \\sqrt[3]{x}."""

    def call(self) -> Node:
        """A function with its exponent, its index and its arguments."""
        word = self.take()
        power: Node | None = None
        index: Node | None = None
        while self.sees("^", "**", "_"):
            if self.sees("_") and index is None:
                self.take()
                index = self.index()
            elif not self.sees("_") and power is None:
                self.take()
                power = self.upper(Number(value("1")), None)
            else:
                self.fail("a second index or exponent on a function", self.next.span, "use brackets")
        if isinstance(power, Negative):
            self.fail("a negative exponent on a function can mean its inverse", power.span, "write 1/f(x)")
        basic = isinstance(index, Number) or (isinstance(index, Name) and index.base not in FUNCTIONS)
        if index is not None and word.text != "norm" and not (word.text == "ln" and basic):
            self.fail(f"an index on {self.shown(word)} is not read", index.span, "write all arguments in brackets")
        arguments, root = self.arguments(word)
        node = self.applied(word, index, arguments)
        if root is not None:
            one = Number(value("1"), span=root.span)
            node = self.new(Power(arguments[0], Quotient(one, root, span=root.span), span=node.span))
        return node if power is None else self.new(Power(node, power, span=node.span))

    def applied(self, word: Word, index: Node | None, arguments: tuple[Node, ...]) -> Node:
        """A function of its arguments."""
        span = self.since(word.span.start)
        if word.text == "inner" and len(arguments) == 2:
            return self.new(Inner(*arguments, span=span))
        if len(arguments) != 1 and word.text not in ("max", "min"):
            self.fail(
                f"{self.shown(word)} takes one argument, and here are {len(arguments)}", span, "remove the others"
            )
        if word.text == "norm":
            return self.normed(self.new(Norm(arguments[0], span=span)), index)
        if word.text == "transpose":
            return self.new(Transpose(arguments[0], span=span))
        node: Node = self.new(Call(word.text, arguments, span=span))
        if index is not None:
            base = self.new(Call("ln", (index,), span=index.span))
            node = self.new(Quotient(node, base, span=span))
        return node

    def arguments(self, word: Word) -> tuple[tuple[Node, ...], Node | None]:
        r"""What the function is applied to, and n for \sqrt[n]{x}."""
        opener = self.at
        if self.next.kind != "open" or self.next.text not in ("(", "[", "{", "\\{"):
            self.deeper()
            node = self.bare(word)
            self.shallower()
            return (node,), None
        text = self.take().text
        self.bars.append("")
        if self.at == self.pairs[opener]:
            self.fail(f"{self.shown(word)} has no argument", word.span.to(self.next.span), "write it in the brackets")
        if word.text == "P":
            found = [self.inside()]
        else:
            found = [self.expression()]
            while self.sees(","):
                self.take()
                found.append(self.expression())
            self.no_aside()
        self.bars.pop()
        self.close(opener)
        if word.text == "sqrt" and text == "[" and self.next.kind == "open" and self.next.text == "{":
            return (self.bracket(),), found[0]
        return tuple(found), None

    def bare(self, word: Word) -> Node:
        """An argument without brackets: one factor; for sin and cos the whole product of names and numbers."""
        first = self.next
        if word.text == "sqrt":
            node = self.primary()
            if first.kind == "name" and (self.sees("_") or self.next.kind == "prime"):
                node = self.attached(node, first, raised=False)
            return node
        node = self.factor()
        if first.kind not in ("number", "name"):
            return node
        if word.text in ("sin", "cos"):
            factors = [node]
            while self.next.kind in ("number", "name"):
                factors.append(self.factor())
            if len(factors) == 1:
                return node
            return self.new(Product(tuple(factors), span=factors[0].span.to(factors[-1].span)))
        if self.next.kind in ("number", "name"):
            shown, written = self.shown(word), self.source[node.span.start : node.span.stop]
            fix = f"write {shown}({written}) {self.shown(self.next)}, or put all of the argument in the brackets"
            self.fail(f"the argument of {shown} may end in two places", word.span.to(self.next.span), fix)
        return node
