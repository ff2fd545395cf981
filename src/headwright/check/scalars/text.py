"""Scalars as a teacher would write them, in plain text: the shortest of a few equal ways."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from headwright.check.scalars.forms import (
    ONE,
    UNIT,
    Atom,
    Exp,
    Function,
    Monomial,
    Parameter,
    Prime,
    Scalar,
    Terms,
    Thing,
    atoms_in,
    factors,
    folded,
    interval_of_terms,
    monomial_of,
    number,
    shared_powers,
    terms_product,
)
from headwright.check.scalars.functions import power
from headwright.check.scalars.numbers import shown_name

SUM, PRODUCT, POWER, ATOM = range(4)  # how tightly a piece of text holds together


@dataclass(frozen=True)
class Piece:
    """Text, and how tightly it holds together."""

    text: str
    level: int = ATOM


def held(piece: Piece, level: int) -> str:
    """The text, in brackets where it does not hold together tightly enough."""
    return piece.text if piece.level >= level else f"({piece.text})"


def product(factors: list[Piece]) -> Piece:
    """Factors side by side."""
    return factors[0] if len(factors) == 1 else Piece(" ".join(held(one, POWER) for one in factors), PRODUCT)


def fraction(over: Piece, under: Piece) -> Piece:
    """over / under."""
    return Piece(f"{held(over, PRODUCT)}/{held(under, POWER)}", PRODUCT)


def rational(value: Fraction) -> Piece:
    """A rational number that is not negative."""
    over = Piece(str(value.numerator))
    return over if value.denominator == 1 else fraction(over, Piece(str(value.denominator)))


def to_the(base: Piece, exponent: Piece) -> Piece:
    """base ^ exponent."""
    return Piece(f"{held(base, ATOM)}^{held(exponent, ATOM)}", POWER)


def root(body: Piece) -> Piece:
    """A square root."""
    return Piece(f"sqrt({body.text})")


def total(terms: list[tuple[bool, Piece]]) -> Piece:
    """A sum of terms, each with whether it is subtracted."""
    text = ""
    for minus, piece in terms:
        shown = held(piece, PRODUCT)
        text += f"{' - ' if minus else ' + '}{shown}" if text else f"{'-' if minus else ''}{shown}"
    return Piece(text, SUM if len(terms) > 1 or terms[0][0] else terms[0][1].level)


HALF = Fraction(1, 2)


def _weight(monomial: Monomial) -> tuple[int, Fraction, str]:
    """Exponentials first, then higher powers, constants last."""
    if not monomial:
        return 2, Fraction(0), ""
    constant = all(
        isinstance(atom, Prime) or (not atom.depth and not isinstance(atom, Parameter)) for atom, _ in monomial
    )
    growing = any(isinstance(atom, Exp) for atom, _ in monomial)
    size = sum((exponent for _, exponent in monomial), Fraction(0))
    return (1 if constant else 0 if not growing else -1), -size, "".join(atom.key for atom, _ in monomial)


def ordered(terms: Terms) -> list[tuple[Monomial, Fraction]]:
    """The terms in the order in which they are written: the first one positive, if any is."""
    rows = sorted(terms.items(), key=lambda row: _weight(row[0]))
    first = next((place for place, (_, coefficient) in enumerate(rows) if coefficient > 0), 0)
    return [rows[first], *rows[:first], *rows[first + 1 :]]


def reads_negative(terms: Terms) -> bool:
    """Whether it is better written with all signs changed: it is negative, or the minus signs prevail."""
    if not terms:
        return False
    place = interval_of_terms(terms)
    if place.not_negative or place.not_positive:
        return not place.not_negative
    return sum(1 if value < 0 else -1 for value in terms.values()) > 0 or all(value < 0 for value in terms.values())


def denominator(terms: Terms) -> Monomial:
    """What to multiply with so that no term of a sum has a name below a bar."""
    if len(terms) == 1:
        return UNIT
    shared = shared_powers(terms).items()
    return monomial_of({a: -least for a, least in shared if least < 0 and not a.folds and not isinstance(a, Exp)})


HIGHEST = 6  # power of a name inside a logarithm that is taken together
LARGEST = 10**6  # number inside one


def with_logs_together(terms: Terms) -> Terms:
    """The same sum, for writing only: logarithms with the same factor in front have become one."""
    groups: dict[Monomial, list[tuple[Monomial, Function, Fraction]]] = {}
    for monomial, coefficient in terms.items():
        logs = [(atom, exponent) for atom, exponent in monomial if isinstance(atom, Function) and atom.kind == "ln"]
        if len(logs) == 1 and logs[0][1] == 1:
            rest = monomial_of({atom: exponent for atom, exponent in monomial if atom != logs[0][0]})
            groups.setdefault(rest, []).append((monomial, logs[0][0], coefficient))
    result = dict(terms)
    for rest, group in groups.items():
        if len(group) > 1:
            _join(result, rest, group)
    return result


def _join(result: Terms, rest: Monomial, group: list[tuple[Monomial, Function, Fraction]]) -> None:
    over = math.gcd(*(coefficient.numerator for _, _, coefficient in group))
    under = math.lcm(*(coefficient.denominator for _, _, coefficient in group))
    front = Fraction(over, under)
    if all(coefficient < 0 for _, _, coefficient in group):
        front = -front
    inside = number(1)
    for _, atom, coefficient in group:
        exponent = coefficient / front
        known = atom.body.rational
        high = abs(exponent) > (HIGHEST if known is None else 20)
        if high or (known is not None and known ** int(abs(exponent)) > LARGEST):
            return
        inside = inside * power(atom.body, exponent)
    value = inside.rational
    if value is not None and max(value.numerator, value.denominator) > LARGEST:
        return
    for monomial, _, _ in group:
        del result[monomial]
    if inside != 1:
        atom = Function("ln", inside)
        result[monomial_of({**dict(rest), atom: Fraction(1)})] = front


TIDY = 40  # terms; longer sums are written as they stand


def written(value: Scalar) -> str:
    """The number in plain text.

    >>> from headwright.check.scalars import Range, exp, ln, parameter
    >>> n, eps = parameter("n", Range(2)), parameter("epsilon", Range(0, 1, True, True))
    >>> written(2 * ln((n - 2) / eps)), written(n / (2 * n + (n - 2) * eps))
    ('2 ln((n - 2)/epsilon)', 'n/(2 n + (n - 2) epsilon)')
    """
    return _scalar(value).text


def _scalar(value: Scalar) -> Piece:
    if not value.over:
        return rational(Fraction(0))
    below = denominator(value.over)
    over = folded(terms_product(value.over, {below: Fraction(1)})) if below else Scalar(value.over, ONE)
    under = folded(terms_product(value.under, {below: Fraction(1)})) if below else Scalar(value.under, ONE)
    if not (over.whole and under.whole):
        over, under = Scalar(value.over, ONE), Scalar(value.under, ONE)
    if len(over.over) == 1 and len(under.over) == 1:
        return _single(value)
    if under != 1:  # (x/2 + 1/2)/y is (x + 1)/(2 y)
        common = math.lcm(*(coefficient.denominator for coefficient in over.over.values()))
        over, under = over * common, under * common
    if under == 1:
        return _terms(over.over)
    upper = _terms(over.over)
    if upper.text.startswith("-") and len(over.over) == 1:
        return total([(True, fraction(_terms((-over).over), _terms(under.over)))])
    return fraction(upper, _terms(under.over))


def _single(value: Scalar) -> Piece:
    ((monomial, coefficient),) = value.over.items()
    piece = _term(monomial, abs(coefficient))
    return total([(True, piece)]) if coefficient < 0 else piece


def _terms(terms: Terms) -> Piece:
    """The shortest of: as it stands, as a product, sorted by one of its names."""
    options = [_expanded(with_logs_together(terms))]
    if 1 < len(terms) <= TIDY:
        options += [piece for piece in (_factored(terms), *_collected(terms)) if piece is not None]
    return min(options, key=_length)


def _expanded(terms: Terms) -> Piece:
    return total([(coefficient < 0, _term(monomial, abs(coefficient))) for monomial, coefficient in ordered(terms)])


def _factored(terms: Terms) -> Piece | None:
    parts = factors(terms)
    if parts is None:
        return None
    ((monomial, coefficient),) = parts[0][0].items()
    pieces: list[Piece] = []
    for part, times in parts[1:]:
        if reads_negative(part):
            coefficient = -coefficient if times % 2 else coefficient
            part = {key: -value for key, value in part.items()}
        inner = _expanded(with_logs_together(part))
        pieces.append(to_the(inner, rational(Fraction(times))) if times > 1 else inner)
    if monomial or abs(coefficient) != 1:
        front = _term(monomial, abs(coefficient))
        pieces.insert(0 if not monomial else len(pieces), front)
    whole = product(pieces)
    return total([(True, whole)]) if coefficient < 0 else whole


def _collected(terms: Terms) -> Iterator[Piece]:
    for atom in atoms_in(terms):
        powers: dict[Fraction, Terms] = {}
        for monomial, coefficient in terms.items():
            found = dict(monomial)
            exponent = found.pop(atom, Fraction(0))
            powers.setdefault(exponent, {})[monomial_of(found)] = coefficient
        if isinstance(atom, Parameter) and any(len(rest) > 1 for exponent, rest in powers.items() if exponent):
            yield _sorted_by(atom, powers)


def _sorted_by(atom: Atom, powers: dict[Fraction, Terms]) -> Piece:
    pieces: list[tuple[bool, Piece]] = []
    for exponent, rest in sorted(powers.items()):
        if not exponent or len(rest) == 1:
            whole = {monomial_of({**dict(monomial), atom: exponent}): value for monomial, value in rest.items()}
            for monomial, coefficient in ordered(with_logs_together(whole)):
                pieces.append((coefficient < 0, _term(monomial, abs(coefficient))))
            continue
        minus = reads_negative(rest)
        inner = {monomial: -value if minus else value for monomial, value in rest.items()}
        pieces.append((minus, product([_expanded(with_logs_together(inner)), _term(((atom, exponent),), Fraction(1))])))
    first = next((place for place, (minus, _) in enumerate(pieces) if not minus), 0)
    return total([pieces[first], *pieces[:first], *pieces[first + 1 :]])


def _term(monomial: Monomial, coefficient: Fraction) -> Piece:
    """A product of powers with a positive rational in front."""
    exponents = [(atom, exponent) for atom, exponent in monomial if isinstance(atom, Exp)]
    others = [pair for pair in monomial if not isinstance(pair[0], Exp)]
    under_root = {atom: exponent for atom, exponent in others if abs(exponent) == HALF}
    for prime in [one for one in under_root if isinstance(one, Prime)]:
        if coefficient.denominator % prime.number == 0:  # sqrt(2)/2 is 1/sqrt(2)
            coefficient *= prime.number
            under_root[prime] = -HALF
    over: list[Piece] = [rational(Fraction(coefficient.numerator))] if coefficient.numerator > 1 else []
    under: list[Piece] = []
    if coefficient.denominator > 1:
        under.append(rational(Fraction(coefficient.denominator)))
    upper = [atom for atom, exponent in under_root.items() if exponent > 0]
    lower = [atom for atom, exponent in under_root.items() if exponent < 0]
    if upper and lower:
        over.append(root(fraction(_inside(upper), _inside(lower))))
    elif upper:
        over.append(root(_inside(upper)))
    elif lower:
        under.append(root(_inside(lower)))
    for atom, exponent in others:
        if atom not in under_root:
            (over if exponent > 0 else under).append(_power(atom, abs(exponent)))
    over += _exponentials(exponents)
    upper_piece = product(over or [rational(Fraction(1))])
    return fraction(upper_piece, product(under)) if under else upper_piece


def _inside(atoms: list[Atom]) -> Piece:
    whole = 1
    rest: list[Piece] = []
    for atom in atoms:
        if isinstance(atom, Prime):
            whole *= atom.number
        else:
            rest.append(_atom(atom))
    return product([rational(Fraction(whole)), *rest] if whole > 1 else rest)


def _power(atom: Atom, exponent: Fraction) -> Piece:
    if exponent == 1:
        return _atom(atom)
    return to_the(_atom(atom), rational(exponent))


def _exponentials(exponents: list[tuple[Exp, Fraction]]) -> list[Piece]:
    """All powers of e as one; powers of other numbers (2^n) by themselves."""
    together: Terms = {}
    pieces: list[Piece] = []
    for monomial, exponent in with_logs_together({atom.power: exponent for atom, exponent in exponents}).items():
        logs = [one for one, power in monomial if isinstance(one, Function) and one.kind == "ln" and power == 1]
        if len(logs) == 1:
            rest = monomial_of({one: power for one, power in monomial if one != logs[0]})
            pieces.append(to_the(_scalar(logs[0].body), _scalar(Scalar({rest: exponent}, ONE))))
        else:
            together[monomial] = exponent
    if together:
        power = _scalar(Scalar(together, ONE))
        pieces.append(Piece("e") if power.text == "1" else to_the(Piece("e"), power))
    return pieces


def _atom(atom: Atom) -> Piece:
    if isinstance(atom, Parameter):
        return Piece(shown_name(atom.name))
    if isinstance(atom, Thing):
        return Piece("x")
    if isinstance(atom, Prime):
        return rational(Fraction(atom.number))
    if isinstance(atom, Function):
        body = _scalar(atom.body)
        said = f"|{body.text}|" if atom.kind == "abs" else f"{atom.kind}({body.text})"
        return body if atom.kind == "sum" else Piece(said)
    return Piece("pi")


def _length(piece: Piece) -> int:
    """How long it is to read: a minus in front is worth a few characters."""
    return len(piece.text) + 10 * piece.text.startswith("-")
