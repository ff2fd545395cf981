"""Which of two sizes is smaller, and whether polynomials in sizes are never negative: decided with z3.

z3 is loaded on first use. A claim is 'always' true when z3 finds no integers that satisfy the assumptions and break it;
'unknown' counts as not proved.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from importlib import import_module
from typing import Any

from headwright.check.rooms.matrices.forms import Form, Symbol, atom, atoms_in, minus, number, plus, text
from headwright.check.rooms.matrices.known import NoForm

MILLISECONDS = 3000


@dataclass
class Integers:
    """Names of integers, those of them that are at least 1, and forms that are known not to be negative."""

    names: set[str]
    positive: frozenset[str]
    given: frozenset[str] = frozenset()  # names that the exercise gives: nothing may be assumed about them
    nonnegative: list[Form] = field(default_factory=list)
    doubts: list[str] = field(default_factory=list)  # members that were taken to exist
    _answers: dict[tuple[Form, int], bool] = field(default_factory=dict)

    def assume_at_most(self, low: Form, high: Form) -> None:
        """Take low <= high for granted."""
        form = minus(high, low)
        if form.constant is None and form not in self.nonnegative:
            self.nonnegative.append(form)

    def exists(self, low: Form, high: Form) -> None:
        """A member of a family exists where low <= high: that is taken for granted, and noted where it is not known.

        A free index runs over the members there are; where no member can ever exist, nothing is granted.
        """
        spoken = {item.name for form in (low, high) for item in atoms_in(form) if isinstance(item, Symbol)}
        if spoken <= self.given and not self.at_most(low, high):
            if self.below(high, low):
                raise NoForm("a member is spoken of that never exists")
            self.doubts.append("a member is spoken of that does not exist for all sizes")
        self.assume_at_most(low, high)

    def assume_integer(self, form: Form) -> None:
        """The names in an index are those of integers."""
        self.names |= {item.name for item in atoms_in(form) if isinstance(item, Symbol) and "@" not in item.name}

    def is_nonnegative(self, name: str) -> bool:
        """Whether an integer is known not to be negative."""
        return name in self.positive or (name in self.names and self.at_most(number(0), atom(Symbol(name))))

    def at_most(self, low: Form, high: Form) -> bool:
        """Whether low <= high for all integers that are allowed."""
        form = minus(high, low)
        if form.constant is not None:
            return form.constant >= 0
        if form in self.nonnegative:
            return True
        key = form, len(self.nonnegative)
        if key not in self._answers:
            self._answers[key] = self.always(lambda language: [language.real(form) >= 0])
        return self._answers[key]

    def below(self, low: Form, high: Form) -> bool:
        """Whether low < high, for integers."""
        return self.at_most(plus(low, number(1)), high)

    def always(self, claims: Callable[[Language], Iterable[Any]]) -> bool:
        """Whether all claims hold for all integers that satisfy the assumptions."""
        solver, language = self._asked(claims)
        return solver is not None and bool(solver.check() == language.z3.unsat)

    def breaking(self, claims: Callable[[Language], Iterable[Any]], largest: int) -> dict[str, int] | None:
        """Small integers, none above largest, that satisfy the assumptions and break a claim: where to look."""
        solver, language = self._asked(claims)
        if solver is None:
            return None
        for limit in range(1, largest + 1):
            solver.push()
            solver.add(*(symbol <= limit for symbol in language.symbols.values()))
            if solver.check() == language.z3.sat:
                model = solver.model()
                return {name: model.eval(symbol, True).as_long() for name, symbol in language.symbols.items()}
            solver.pop()
        return None

    def _asked(self, claims: Callable[[Language], Iterable[Any]]) -> tuple[Any, Language]:
        """A solver that looks for integers that break a claim; None where a claim cannot be said."""
        z3: Any = import_module("z3")
        language = Language(z3, frozenset(self.names))
        try:
            wanted = z3.And(*claims(language))
            known = [language.real(form) >= 0 for form in self.nonnegative if language.speaks_of(form)]
        except NoForm:
            return None, language
        solver = z3.Solver()
        solver.set("timeout", MILLISECONDS)
        sizes = (symbol >= 1 for name, symbol in language.symbols.items() if name in self.positive)
        solver.add(*known, *sizes, z3.Not(wanted))
        return solver, language


@dataclass
class Language:
    """Forms said in z3's words."""

    z3: Any
    names: frozenset[str]
    symbols: dict[str, Any] = field(default_factory=dict)

    def speaks_of(self, form: Form) -> bool:
        """Whether a form is made of integers alone."""
        try:
            self.real(form)
        except NoForm:
            return False
        return True

    def real(self, form: Form) -> Any:
        """A form in integers, as a real number."""
        total = self.z3.RealVal(0)
        for monomial, word, coefficient in form.terms:
            if word:
                raise NoForm("a matrix stands where an integer is needed")
            value = self.z3.RealVal(str(coefficient))
            for item, exponent in monomial:
                if not isinstance(item, Symbol) or item.name not in self.names or exponent.denominator != 1:
                    raise NoForm(f"{text(item)} is not an integer")
                value = self._times(value, item.name, exponent)
            total = total + value
        return total

    def _times(self, value: Any, name: str, exponent: Fraction) -> Any:
        symbol = self.z3.ToReal(self.symbols.setdefault(name, self.z3.Int(name)))
        for _ in range(abs(int(exponent))):
            value = value * symbol if exponent > 0 else value / symbol
        return value
