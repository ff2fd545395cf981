"""What is given about matrices, ready to be asked: shapes, facts, families of columns and of singular values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

from headwright.errors import InputError
from headwright.formulas import tree as t
from headwright.formulas.shapes import SCALAR, Shape, shape, spelt, typed
from headwright.grading.answer import Answer, comparisons, names_in
from headwright.grading.exercise import Exercise, parsed
from headwright.grading.kinds.matrices.table import Matrices

# What softmax and relu do: softmax(P X) = P softmax(X), softmax(X + c 1^T) = softmax(X), relu(2 X) = 2 relu(X).
LAWS = frozenset({"softmax permutes", "softmax shifts", "relu permutes", "relu scales"})


@dataclass(frozen=True)
class Given:
    """Names, their shapes and what is known of them.

    shapes        "P": T x T; "sigma_*": numbers with any index; the names of dimensions are numbers by themselves
    definitions   "Q": X W_Q and so on; expanded wherever the name occurs
    facts         of a name: permutation, orthogonal, orthonormal columns, diagonal, positive;
                  of a pair "A,B": orthogonal ranges; "U,u_*": columns; "S,sigma_*": singular values
    different     pairs given to be not equal: (P Phi, Phi)
    sizes         small sizes to try for each dimension (all combinations that the facts allow)
    assume        what integers satisfy: 1 <= k <= d
    laws          which laws of softmax and relu may be used
    """

    shapes: Mapping[str, Shape]
    definitions: Mapping[str, t.Node] = field(default_factory=dict)
    facts: Mapping[str, frozenset[str]] = field(default_factory=dict)
    different: tuple[tuple[t.Node, t.Node], ...] = ()
    sizes: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    assume: tuple[t.Relation, ...] = ()
    laws: frozenset[str] = LAWS

    @classmethod
    def of(cls, exercise: Exercise, table: Matrices, answer: Answer) -> Given:
        """What an exercise gives, with what an answer defines."""
        definitions = {
            name: parsed(source) for name, source in exercise.definitions.items()
        }
        definitions |= {name: said.node for name, said in answer.definitions.items()}
        assumed = (
            node
            for source in table.assume
            if isinstance(node := parsed(source), t.Relation)
        )
        return cls(
            shapes={name: Shape(*shape) for name, shape in table.shapes.items()},
            definitions=definitions,
            facts={name: frozenset(facts) for name, facts in table.facts.items()},
            different=tuple((parsed(x), parsed(y)) for x, y in table.different),
            sizes=table.sizes,
            assume=tuple(link for node in assumed for link in comparisons(node)),
        )

    def assuming(
        self, conditions: Sequence[t.Relation]
    ) -> tuple[Given, list[t.Relation]]:
        """With comparisons of numbers among what is assumed; and those that are left, which are about matrices."""
        kinds = [name for name, shape in self.shapes.items() if shape != SCALAR]
        # 't = s' makes R_t and R_s one
        matrices = {part for name in kinds for part in (name, name.partition("_")[2])}
        assumed: list[t.Relation] = []
        left: list[t.Relation] = []
        for link in conditions:
            of_numbers = not any(
                spelt(name) in matrices or name.index for name in names_in(link)
            )
            is_bound = link.comparisons[0] in ("=", "<", ">", "<=", ">=")
            (assumed if of_numbers and is_bound else left).append(link)
        return replace(self, assume=(*self.assume, *assumed)), left


MOST_NAMES = 600  # of a definition, once all others are put in
OF_ONE = frozenset(
    {"permutation", "orthogonal", "orthonormal columns", "diagonal", "positive"}
)
SQUARE = frozenset({"permutation", "orthogonal", "diagonal"})
OF_TWO = frozenset({"orthogonal ranges", "columns", "singular values"})


class NoForm(InputError):  # noqa: N818
    """The algebra has no form for this: nothing is proved about it, and nothing refuted."""


class NoMember(InputError):  # noqa: N818
    """A column or singular value that need not exist: the statement has no meaning for some sizes."""


@dataclass(frozen=True)
class Family:
    """Numbers or columns with an index: sigma_i of S, u_i of U. The index runs from 1 to size."""

    base: str
    of: str
    kind: str  # columns, singular values
    size: int | str


@dataclass
class Known:
    """A Given with its definitions typed, once."""

    given: Given
    statement: t.Node | None = (
        None  # what will be asked: names that it uses as indices are integers
    )
    _definitions: dict[str, t.Node] = field(default_factory=dict)
    _shapes: dict[str, Shape] = field(default_factory=dict)
    _open: set[str] = field(
        default_factory=set
    )  # definitions whose shape is being found
    doubts: list[str] = field(
        default_factory=list
    )  # members of families that were taken to exist
    shrunk: list[str] = field(
        default_factory=list
    )  # where that leaves out matrices: a sum up to n of d terms

    def __post_init__(self) -> None:
        """Look at everything once: words that nobody knows would be silently ignored."""
        given = self.given
        self._check()
        spoken = (
            *given.definitions.values(),
            *(() if self.statement is None else (self.statement,)),
        )
        parts = [part for tree in spoken for part in t.walk(tree)]
        sums = [part for part in parts if isinstance(part, t.BigSum | t.BigCall)]
        self.bound = {
            part.index for part in sums
        }  # the indices of all sums that are spoken of
        sizes = (
            size for one in given.shapes.values() for size in (one.rows, one.columns)
        )
        self.dimensions = sorted({size for size in sizes if isinstance(size, str)})
        assumed = {name.base for name in t.every_name(*given.assume)}
        self.sized = sorted({*self.dimensions, *given.sizes, *assumed})
        alone = {*given.shapes, *given.definitions}
        places: list[t.Node | None] = [
            part.index
            for part in parts
            if isinstance(part, t.Name)
            and f"{part.base}_*" in given.shapes
            and spelt(part) not in alone
        ]
        places += [
            place
            for part in sums
            for place in (part.lower, part.upper, *part.conditions)
        ]
        counting = {
            name.base for name in t.every_name(*places) if name.index is None
        } - self.bound
        numbers = {
            name for name in counting if given.shapes.get(name, SCALAR) == SCALAR
        } - {*given.definitions}
        self.integers = sorted(
            {*self.sized, *numbers}
        )  # those too that stand in an index, or at the end of a sum
        self.families: dict[str, Family] = {}
        for names, facts in given.facts.items():
            for kind in facts & {"columns", "singular values"}:
                matrix, family = (name.strip() for name in names.split(","))
                if not family.endswith("_*"):
                    raise InputError(
                        f"{names}: a family of {kind} is named as sigma_*, given {family}"
                    )
                self.families[family[:-2]] = Family(
                    family[:-2], matrix, kind, given.shapes[matrix].columns
                )

    def _check(self) -> None:
        """A name that is defined by itself has no meaning, and one that grows beyond bounds is not expanded."""
        for names, facts in self.given.facts.items():
            allowed, shape = (
                OF_TWO if "," in names else OF_ONE,
                self.given.shapes.get(names),
            )
            if not facts <= allowed:
                said = ", ".join(sorted(facts - allowed))
                raise InputError(
                    f"unknown fact about {names}: {said}; expected one of {', '.join(sorted(allowed))}"
                )
            if shape is not None and shape.rows != shape.columns and facts & SQUARE:
                said = ", ".join(sorted(facts & SQUARE))
                raise InputError(
                    f"{names} is {shape}, and only a square matrix can be {said}"
                )
        below = {
            key: [spelt(part) for part in names_in(tree)]
            for key, tree in self.given.definitions.items()
        }
        sizes: dict[str, int] = {}

        def visit(key: str, path: tuple[str, ...]) -> int:
            if key in path:
                raise InputError(
                    f"{key} is defined by itself: {' -> '.join((*path, key))}"
                )
            if key in below and key not in sizes:
                sizes[key] = 1 + sum(visit(part, (*path, key)) for part in below[key])
                if sizes[key] > MOST_NAMES:
                    raise InputError(
                        f"{key} becomes too long once all definitions are put in; use fewer of them"
                    )
            return sizes.get(key, 1)

        for key in below:
            visit(key, ())

    def fact(self, name: str, *facts: str) -> bool:
        """Whether one of these is known of a name."""
        return not self.given.facts.get(name, frozenset()).isdisjoint(facts)

    def pair(self, left: str, right: str, fact: str) -> bool:
        """Whether this is known of two names, in either order."""
        facts = self.given.facts
        return any(
            fact in facts.get(f"{x},{y}", frozenset())
            for x, y in ((left, right), (right, left))
        )

    def family(self, name: t.Name) -> Family | None:
        """The family of columns or singular values that a name belongs to; names given by themselves do not."""
        if (
            name.index is None
            or spelt(name) in self.given.shapes
            or spelt(name) in self.given.definitions
        ):
            return None
        return self.families.get(name.base)

    def has_orthogonal_range(self, name: str) -> bool:
        """Whether the columns of a matrix are orthogonal to those of another."""
        for about, facts in self.given.facts.items():
            names = [part.strip() for part in about.split(",")]
            if "orthogonal ranges" in facts and name in names:
                return True
        return False

    def is_spectrum(self, name: str) -> bool:
        """Whether the diagonal of a matrix holds singular values."""
        return any(
            family.of == name and family.kind == "singular values"
            for family in self.families.values()
        )

    def is_cut(self, name: t.Name) -> bool:
        """Whether this is a matrix without its last columns: U_{k-1}. U_1, and U_i in a sum over i, are not."""
        if (
            name.index is None
            or name.primes
            or isinstance(name.index, t.Number | t.Listing)
        ):
            return False
        spoken = {part.base for part in names_in(name.index)}
        cuttable = {family.of for family in self.families.values()}
        return (
            name.base in cuttable
            and bool(spoken)
            and spoken <= set(self.sized) - self.bound
        )

    def shape_of(self, name: t.Name) -> Shape | None:
        """The shape of a name: as given, by its family, or that of its definition."""
        key = spelt(name)
        if key in self.given.shapes:
            return self.given.shapes[key]
        if key in self.given.definitions:
            if key in self._open:  # B = B_k + ...
                raise InputError(f"{key} is defined by itself")
            if key not in self._shapes:
                self._open.add(key)
                try:
                    self._shapes[key] = shape(
                        self.given.definitions[key], self.shape_of
                    )
                finally:
                    self._open.remove(key)
            return self._shapes[key]
        if name.index is not None and not name.primes:
            whole = self.shape_of(t.Name(name.base))
            if (
                isinstance(name.index, t.Listing)
                and len(name.index.items) == 2
                and whole not in (None, SCALAR)
            ):
                return SCALAR  # an entry
            if f"{name.base}_*" in self.given.shapes:
                return self.given.shapes[f"{name.base}_*"]
            if self.is_cut(name) and whole is not None:
                size = spelt(name.index)
                return Shape(
                    size if self.fact(name.base, "diagonal") else whole.rows, size
                )
        return SCALAR if key in self.integers else None

    def definition(self, name: t.Name) -> t.Node | None:
        """What a name stands for, typed; FormulaError if it does not have the shape that is given for the name."""
        key = spelt(name)
        if key not in self.given.definitions:
            return None
        if key not in self._definitions:
            equation = self.typed(
                t.Relation((name, self.given.definitions[key]), ("=",))
            )
            assert isinstance(equation, t.Relation)  # noqa: S101  typed keeps the kind of a statement
            self._definitions[key] = equation.terms[1]
        return self._definitions[key]

    def typed(self, node: t.Node) -> t.Node:
        """A formula with its products given their meaning and its sums their bounds."""
        return self._bounded(typed(node, self.shape_of))

    def _bounded(self, node: t.Node) -> t.Node:
        """sum_i sigma_i runs over all singular values there are; sum_i a_i a_i^T over all columns; A_ij over both."""
        node = t.mapped(node, self._bounded)
        if not isinstance(node, t.BigSum | t.BigCall) or (
            node.lower is not None and node.upper is not None
        ):
            return node
        lower, upper, bound = (
            node.lower or t.Number(Fraction(1)),
            node.upper,
            t.Name(node.index),
        )
        if upper is None:
            sizes: set[int | str] = set()
            for name in (
                part for part in t.walk(node.body) if isinstance(part, t.Name)
            ):
                family, whole = (
                    self.family(name) if name.index == bound else None,
                    self.shape_of(t.Name(name.base)),
                )
                sizes |= {family.size} if family is not None else set()
                if (
                    isinstance(name.index, t.Listing)
                    and len(name.index.items) == 2
                    and whole is not None
                ):
                    sides = zip(
                        name.index.items, (whole.rows, whole.columns), strict=True
                    )
                    sizes |= {size for item, size in sides if item == bound}
            if len(sizes) != 1:
                return node
            (size,) = sizes
            upper = t.Name(size) if isinstance(size, str) else t.Number(Fraction(size))
        return replace(node, lower=lower, upper=upper)
