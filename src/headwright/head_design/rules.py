"""Rules: what the tokens of some sequences should attend to, or output, in a head or in the sum of all heads."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from jaxtyping import Float

from headwright.certificates.exact.words import six_digits
from headwright.errors import InputError
from headwright.head_design.head import Table, Vector
from headwright.query_design.targets import Targets

MOST_HEADS = 64
MOST_TOKENS = 4096  # in all sequences; the checker reads no more
MOST_NUMBERS = 1024  # in a token or an output: W_V has the product of both, and every one of them is checked
LARGEST = Fraction(10**75)  # of a number: squares of scores are then still floats
TIGHTEST = Fraction(1, 10**30)  # tolerance
# Of an output, unless said: its Euclidean distance from what is wanted.
TOLERANCE = Fraction(1, 100)


@dataclass(frozen=True)
class Rule:
    """What one token should do in one head: attend (least and largest weights), output a vector within a tolerance.

    The output is that of this head alone, or where head is None that of the layer: the sum of all heads' outputs.

    >>> Rule(token=1, attend={0: Fraction(9, 10)}).place
    (0, 1, 0)
    """

    token: int
    sequence: int = 0
    head: int | None = 0
    attend: dict[int, Fraction] | None = (
        None  # token -> the least weight that it must get
    )
    output: Vector | None = None
    tolerance: Fraction = TOLERANCE
    at_most: dict[int, Fraction] | None = (
        None  # token -> the largest weight that it may get
    )

    @property
    def place(self) -> tuple[int, int, int | None]:
        """Sequence, token and head: two rules of one place speak of the same thing."""
        return self.sequence, self.token, self.head

    @property
    def name(self) -> str:
        """Whom it is about, for words.

        >>> Rule(token=1, sequence=2, attend={0: Fraction(1, 2)}).name
        'token 1 of sequence 2'
        """
        sequence = f" of sequence {self.sequence}" if self.sequence else ""
        where = ""  # in head 0, which may be the only one
        if self.head is None:
            where = " in the sum of all heads"
        elif self.head:
            where = f" in head {self.head}"
        return f"token {self.token}{sequence}{where}"


@dataclass(frozen=True, eq=False)
class Rules:
    """Tokens in one or more sequences, the mask, what is uncertain about tokens, and the rules; checked.

    >>> rules = Rules((np.eye(3),), (Rule(token=2, attend={0: Fraction(9, 10)}),), causal=True)
    >>> rules.heads, rules.seen(rules.rules[0])
    (1, (0, 1, 2))
    """

    sequences: tuple[Float[np.ndarray, "T D"], ...]
    rules: tuple[Rule, ...]
    causal: bool = False
    # A token may be anywhere within the ball of c times its place, for any c in the scale.
    ball: Fraction = Fraction(0)
    scale: tuple[Fraction, Fraction] = (Fraction(1), Fraction(1))
    # Of the tokens in each sequence, for pictures.
    names: tuple[tuple[str, ...], ...] = ()
    # Rows of 0 and 1, such as '110' for a token 0 that sees 0 and 1; or none at all.
    mask: tuple[str, ...] = ()
    biases: bool = False  # heads may have b_Q and b_V
    # For each head, or none: what is added to scores, by place.
    bias: tuple[Table, ...] = ()

    def __repr__(self) -> str:
        """The sizes, not the tokens."""
        return f"Rules({len(self.rules)} rules for {sum(map(len, self.sequences))} tokens in R^{self.dimension})"

    def __post_init__(self) -> None:
        self._check_tokens()
        check_mask(self.mask, max(map(len, self.sequences)), causal=self.causal)
        if not self.rules:
            raise InputError("there is no rule: expected at least one [[rule]]")
        if self.ball < 0 or not 0 < self.scale[0] <= 1 <= self.scale[1]:
            low, high = map(float, self.scale)
            raise InputError(
                f"an uncertainty with ball = {float(self.ball):g} and scale = [{low:g}, {high:g}]: expected a "
                "radius of 0 or more, and a range above 0 that holds 1"
            )
        for rule in self.rules:
            self._check_rule(rule)
        check_bias(self.bias, max(map(len, self.sequences)), self.heads)
        object.__setattr__(self, "rules", _merged(self.rules))
        widths = {len(rule.output) for rule in self.rules if rule.output is not None}
        if len(widths) > 1:
            raise InputError(
                f"outputs have {', '.join(map(str, sorted(widths)))} numbers: expected as many in each"
            )
        for rule in self.rules:
            self._check_sum(rule)
            self._check_shared(rule)
        self._check_twins()

    @property
    def dimension(self) -> int:
        """D: how long a token is."""
        return int(self.sequences[0].shape[1])

    @property
    def heads(self) -> int:
        """How many heads the rules speak of: head 0 up to the last that is named."""
        return 1 + max(
            (rule.head for rule in self.rules if rule.head is not None), default=-1
        )

    @property
    def width(self) -> int:
        """m: how long an output is; as long as a token where no rule says."""
        return next(
            (len(rule.output) for rule in self.rules if rule.output is not None),
            self.dimension,
        )

    @property
    def certain(self) -> bool:
        """Every token is where it is given."""
        return self.ball == 0 and all(end == 1 for end in self.scale)

    def labels(self, sequence: int) -> list[str]:
        """What to call the tokens of a sequence.

        >>> Rules((np.eye(2),), (Rule(token=1, attend={0: Fraction(9, 10)}),)).labels(0)
        ['token 0', 'token 1']
        """
        if self.names:
            return list(self.names[sequence])
        return [f"token {i}" for i in range(len(self.sequences[sequence]))]

    def seen(self, rule: Rule) -> tuple[int, ...]:
        """The tokens of its sequence that the rule's token sees."""
        T = len(self.sequences[rule.sequence])
        if self.mask:
            return tuple(j for j in range(T) if self.mask[rule.token][j] == "1")
        return tuple(range(rule.token + 1 if self.causal else T))

    def asking(self, X: Float[np.ndarray, "*n D"]) -> Float[np.ndarray, "*n k"]:
        """Tokens as W_Q and W_V take them: with a 1 after each, for b_Q and b_V, where heads have biases."""
        return (
            np.concatenate([X, np.ones((*X.shape[:-1], 1))], axis=-1)
            if self.biases
            else X
        )

    def added(self, rule: Rule) -> Float[np.ndarray, " n"]:
        """What is added to the scores of the tokens that the rule's token sees."""
        seen = self.seen(rule)
        return np.array(
            [
                float(self.bias[rule.head or 0][rule.token][j]) if self.bias else 0.0
                for j in seen
            ]
        )

    def tokens(self, rule: Rule) -> Float[np.ndarray, "n D"]:
        """The tokens that the rule's token sees, in their order."""
        return self.sequences[rule.sequence][list(self.seen(rule))]

    def _check_tokens(self) -> None:
        if not self.sequences or any(
            X.ndim != 2 or 0 in X.shape or not np.isfinite(X).all()
            for X in self.sequences
        ):
            raise InputError(
                "tokens: expected at least one sequence, and rows of finite numbers in each"
            )
        if len({X.shape[1] for X in self.sequences}) > 1:
            raise InputError(
                "the sequences have tokens of different lengths: expected one dimension for all"
            )
        if self.names and [len(names) for names in self.names] != [
            len(X) for X in self.sequences
        ]:
            raise InputError(
                "the names of tokens are not as many as the tokens: expected one for each, or none at all"
            )
        if (T := sum(map(len, self.sequences))) > MOST_TOKENS:
            raise InputError(f"there are {T} tokens: expected at most {MOST_TOKENS}")
        if self.dimension > MOST_NUMBERS:
            raise InputError(
                f"tokens have {self.dimension} numbers: expected at most {MOST_NUMBERS}, since every "
                "number of W_V is checked"
            )
        if (most := max(float(np.abs(X).max()) for X in self.sequences)) > LARGEST:
            raise InputError(
                f"a token holds a number of size {most:g}: expected at most {float(LARGEST):g}; "
                "divide all of them by a common number"
            )

    def _check_rule(self, rule: Rule) -> None:
        """Everything that can be said of one rule by itself."""
        self._check_place(rule)
        _check_wants_something(rule)
        if rule.output is not None:
            _check_output(rule, rule.output)
        for key in (*(rule.attend or ()), *(rule.at_most or ())):
            self._check_is_seen(rule, key)
        for key, most in (rule.at_most or {}).items():
            if not 0 < most < 1:
                raise InputError(
                    f"{rule.name} should give token {key} at most {float(most):g}: expected a weight "
                    "above 0 and below 1, since a softmax leaves every token a little"
                )

    def _check_place(self, rule: Rule) -> None:
        """There is such a token in such a head, and it sees something."""
        count = len(self.sequences)
        if not 0 <= rule.sequence < count:
            raise InputError(
                f"a rule is about sequence {rule.sequence}, and there are {count}: expected 0 to {count - 1}"
            )
        T = len(self.sequences[rule.sequence])
        if not 0 <= rule.token < T:
            raise InputError(
                f"a rule is about token {rule.token}, and sequence {rule.sequence} has {T} tokens: "
                f"expected 0 to {T - 1}"
            )
        if rule.head is not None and not 0 <= rule.head < MOST_HEADS:
            raise InputError(
                f"the rule of {rule.name} is for head {rule.head}: expected 0 to {MOST_HEADS - 1}"
            )
        if not self.seen(rule):
            raise InputError(
                f"the rule of {rule.name} is about a token that sees nothing under the mask: expected a 1 "
                f"among the first {T} digits of row {rule.token}"
            )

    def _check_is_seen(self, rule: Rule, key: int) -> None:
        """A token can only attend to what it sees."""
        T = len(self.sequences[rule.sequence])
        wanted = f"{rule.name} should attend to token {key}"
        if not 0 <= key < T:
            raise InputError(
                f"{wanted}, and its sequence has {T} tokens: expected 0 to {T - 1}"
            )
        if self.causal and key > rule.token:
            raise InputError(
                f"{wanted}, which a causal mask hides from it: "
                f'expected 0 to {rule.token}, or mask = "none"'
            )
        seen = self.seen(rule)
        if key not in seen:
            first_seen = ", ".join(map(str, seen[:8]))
            raise InputError(
                f"{wanted}, which the mask hides from it: expected one of {first_seen}"
            )

    def _check_sum(self, rule: Rule) -> None:
        """Weights of at least and at most so much must leave a sum of 1 possible."""
        seen = self.seen(rule)
        attend = rule.attend or {}
        at_most = rule.at_most or {}
        for key, most in at_most.items():
            if attend.get(key, 0) > most:
                raise InputError(
                    f"{rule.name} should give token {key} more than it may at most: expected weights "
                    "that agree"
                )
        ceiling = sum(at_most.values())
        if len(at_most) == len(seen) and ceiling < 1:
            raise InputError(
                f"{rule.name} may give all that it sees only {float(ceiling):g} together: "
                "expected 1 or more, since weights sum to 1"
            )
        if rule.attend is None:
            return
        targets = {seen.index(key): p for key, p in rule.attend.items()}
        try:
            Targets(targets).check_fits(len(seen))
        except InputError as error:
            raise InputError(
                f"the rules of {rule.name} contradict each other: {error}"
            ) from error

    def _check_shared(self, rule: Rule) -> None:
        """An output of all heads together is made of what each of them attends to."""
        if rule.head is not None:
            return
        heads_with_rule = set()
        for other in self.rules:
            same_token = other.place[:2] == rule.place[:2]
            if same_token and other.attend:
                heads_with_rule.add(other.head)
        for head in range(max(1, self.heads)):
            if head not in heads_with_rule:
                raise InputError(
                    f"the rule of {rule.name} needs to know where token {rule.token} attends in head "
                    f"{head}: expected a rule with copy, average or attend for each"
                )

    def _check_twins(self) -> None:
        """Two tokens that are the same and see the same do the same, whatever the head."""
        if self.bias:
            return
        first_of_kind: dict[tuple[object, ...], Rule] = {}
        for rule in self.rules:
            if rule.output is None:
                continue
            token = tuple(self.sequences[rule.sequence][rule.token].tolist())
            seen = sorted(tuple(x) for x in self.tokens(rule).tolist())
            kind = (rule.head, token, tuple(seen))
            other = first_of_kind.setdefault(kind, rule)
            if _outputs_contradict(rule, other):
                raise InputError(
                    f"{other.name} and {rule.name} are the same and see the same, and should output "
                    "different vectors: no head does that; expected positions that tell them apart, "
                    "or rules that agree"
                )


def _check_wants_something(rule: Rule) -> None:
    """A rule is about weights of one head, or about an output."""
    about_weights = rule.attend is not None or bool(rule.at_most)
    if not about_weights and rule.output is None:
        raise InputError(
            f"the rule of {rule.name} wants nothing: expected attend, copy, average, "
            "at_most or output"
        )
    if rule.head is None and about_weights:
        raise InputError(
            f"the rule of {rule.name} is about weights, and the sum of heads has none: expected an "
            "output alone, and rules of single heads that say where they attend"
        )


def _check_output(rule: Rule, output: Vector) -> None:
    """An output has a tolerance that can be kept, and numbers that can be checked."""
    if rule.tolerance <= 0:
        raise InputError(
            f"the tolerance of {rule.name} is {float(rule.tolerance):g}: expected more than 0, "
            "since a softmax leaves every token a little"
        )
    if rule.tolerance < TIGHTEST:
        raise InputError(
            f"the tolerance of {rule.name} is {six_digits(rule.tolerance)}: expected {float(TIGHTEST):g} "
            "or more"
        )
    if len(output) > MOST_NUMBERS:
        raise InputError(
            f"the output of {rule.name} has {len(output)} numbers: expected at most "
            f"{MOST_NUMBERS}, since every number of W_V is checked"
        )
    check_sizes(output, f"the output of {rule.name}")


def check_bias(bias: tuple[Table, ...], T: int, heads: int) -> None:
    """Refuse biases of places that are not a table of T x T numbers for each head."""
    if bias and (
        len(bias) != heads
        or any([len(row) for row in table] != [T] * T for table in bias)
    ):
        raise InputError(
            f"biases of places: expected a table of {T} x {T} numbers for each of the heads, {heads} in all"
        )
    for table in bias:
        for row in table:
            check_sizes(row, "a bias of places")


def check_sizes(vector: Iterable[Fraction], what: str) -> None:
    """Refuse numbers that are too large to compute with."""
    for x in vector:
        if abs(x) > LARGEST:
            raise InputError(
                f"{what} holds a number of size {six_digits(abs(x))}: expected at most {float(LARGEST):g}"
            )


def _outputs_contradict(rule: Rule, other: Rule) -> bool:
    """No vector is within the tolerance of both wanted outputs."""
    wanted = rule.output or ()
    other_wanted = other.output or ()
    if len(wanted) != len(other_wanted):
        return True
    square = Fraction(0)
    for x, y in zip(wanted, other_wanted, strict=True):
        square += (x - y) ** 2
    return square > (rule.tolerance + other.tolerance) ** 2


def _merged(rules: Iterable[Rule]) -> tuple[Rule, ...]:
    """One rule for each place: of several floors the highest counts, of several ceilings the lowest.

    A second output is refused.
    """
    by_place: dict[tuple[int, int, int | None], Rule] = {}
    for rule in rules:
        other = by_place.get(rule.place)
        by_place[rule.place] = rule if other is None else _merge(other, rule)
    return tuple(by_place.values())


def _merge(first: Rule, second: Rule) -> Rule:
    """Two rules of one place as one."""
    if first.output is not None and second.output is not None:
        contradict = _outputs_contradict(second, first)
        why = "which contradict each other" if contradict else "which is one too many"
        raise InputError(
            f"two rules want an output of {second.name}, {why}: expected one"
        )
    attend = dict(first.attend or {})
    for key, p in (second.attend or {}).items():
        attend[key] = max(p, attend.get(key, p))
    at_most = dict(first.at_most or {})
    for key, p in (second.at_most or {}).items():
        at_most[key] = min(p, at_most.get(key, p))
    with_output = second if second.output is not None else first
    return replace(
        with_output,
        attend=attend or None,
        at_most=at_most or None,
    )


def check_mask(mask: tuple[str, ...], T: int, *, causal: bool) -> None:
    """Refuse rows that do not say for each of T tokens which of them it sees."""
    if mask and causal:
        raise InputError("a causal mask and another one: expected one of the two")
    if mask and len(mask) != T:
        raise InputError(
            f"a mask of {len(mask)} rows for a sequence of {T} tokens: expected a row for each"
        )
    for number, row in enumerate(mask):
        if len(row) != T or not set(row) <= {"0", "1"} or "1" not in row:
            raise InputError(
                f"row {number} of the mask is {row[:40]!r}: expected {T} digits 0 and 1, and a 1 among them"
            )
