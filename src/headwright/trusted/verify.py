"""Is the statement of a certificate true? Yes is said only when it certainly is; any doubt or exception says no.

Granted: alpha_a >= p_a in every admissible world, that is, sum over i != a of exp(s_i - s_a) <= 1/p_a - 1 with every
s_i at its highest and s_a at its lowest. exp is bounded from above, everything else is exact. Random keys are taken at
so many deviations from their places that all of them are nearer with the probability that is claimed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from headwright.trusted.bound import Pull, check
from headwright.trusted.certificate import Certificate, Guard, KeysName, Vector, about_heads, document, read
from headwright.trusted.heads.head import check_heads
from headwright.trusted.keys import Keys, Malformed, Reject
from headwright.trusted.numbers import exp_above, normal_tail
from headwright.trusted.passes import Job, Sums, add_up
from headwright.trusted.words import in_words, shown
from headwright.trusted.world import Kind, Scene, Sight, ways_to_fail


@dataclass(frozen=True)
class Verdict:
    """What the checker says: 'verified', 'rejected' or 'unreadable', and in words what was proved or why not."""

    word: str
    words: str


def verify(text: str, files: Sequence[bytes] = (), progress: Callable[[float], None] | None = None) -> Verdict:
    """The verdict on a certificate; each of the files, contents of .npy, must be keys that its statement names.

    >>> verify("{}").word
    'unreadable'
    """
    try:
        said, proof = document(text)
        certificate = None if about_heads(said) else read(said, proof)
    except Exception as error:  # noqa: BLE001  (whatever goes wrong, it is no certificate)
        return Verdict("unreadable", _reason(error))
    try:
        if certificate is None and files:
            raise Reject("it is about whole heads, and names no keys")  # noqa: TRY301
        if certificate is None:
            return Verdict("verified", check_heads(said, proof))
        _check(certificate, _keys(certificate.statement.keys, files), progress or (lambda _: None))
    except Exception as error:  # noqa: BLE001  (a doubt of any kind rejects)
        return Verdict("unreadable" if isinstance(error, Malformed) else "rejected", _reason(error))
    return Verdict("verified", in_words(certificate.statement))


def _reason(error: Exception) -> str:
    if isinstance(error, Reject):
        return str(error)
    if isinstance(error, ArithmeticError):
        return "a number in it, or one that follows from it, is too large or too small to be checked"
    return f"the checker stopped, which proves nothing: {type(error).__name__} {error}"[:300]


def _keys(names: Sequence[KeysName], files: Sequence[bytes]) -> list[Keys]:
    """The keys of each scenario, as written out or given; whatever is given must be among them."""
    given = {(keys.n, keys.d, keys.digest): keys for keys in map(Keys.of_npy, files)}
    for shape in given.keys() - {(name.n, name.d, name.digest) for name in names}:
        raise Reject(f"it is about {' and '.join(map(str, names))}, and given were {KeysName(*shape, None)}")
    for name in names:
        if name.rows is None and (name.n, name.d, name.digest) not in given:
            raise Malformed(f"it is about {name}, which it does not hold: give their file, --keys FILE.npy")
    return [name.rows or given[name.n, name.d, name.digest] for name in names]


def _check(certificate: Certificate, keys: list[Keys], progress: Callable[[float], None]) -> None:
    """Every scenario in one pass over its keys, for all queries and parts of the bound; then what they add up to."""
    statement, guard, bound = certificate.statement, certificate.guard, certificate.bound
    ways = statement.heads * ways_to_fail(statement, guard.kind) if guard else 0  # each query may fail at another key
    if guard and ways * normal_tail(guard.deviations)[1] > 1 - statement.confidence:
        raise Reject("the deviations guarded against do not have the probability that is claimed")
    pulls = [Pull(statement, bound, part) for part in bound.parts] if bound else []
    for number, scenario in enumerate(keys):
        scene, by_scores = Scene(certificate, scenario), []
        for pull in pulls:
            constraints = [c for c in pull.part.constraints if c.scenario == number and c.multiplier]
            if constraints and constraints[0].distribution is not None:
                pull.explicit(scene, constraints)
            elif constraints:
                by_scores.append((pull, pull.job(scene, constraints), constraints))
        jobs, looks = [job for _, job, _ in by_scores], [_look(scene, query) for query in statement.queries]
        jobs += {look.view: look for look in looks if look.view not in {job.view for job in jobs}}.values()

        def report(done: float, before: int = number) -> None:
            progress((before + done) / len(keys))

        found = add_up(scene, jobs, report)
        for (pull, job, constraints), sums in zip(by_scores, found, strict=False):
            pull.implicit(job, sums, constraints)
        rivals = dict(zip((job.view for job in jobs), found, strict=True))
        weights = [_weights(look, rivals[look.view], guard) for look in looks]
        for target, least in statement.wish.items() if looks else ():
            if not sum(weight[target] for weight in weights) >= statement.heads * least:
                raise Reject(f"key {target} is not certain to get a weight of {shown(least)} in scenario {number}")
    for together in [pulls] if statement.heads == 1 and pulls else [[pull] for pull in pulls]:
        check(statement, together)


def _look(scene: Scene, query: Vector) -> Job:
    """A query that is to grant the wish: exponentials are measured from the target whose lowest score is highest."""
    sight, fine = Sight(scene, query), scene.fine
    ends = [(int(spread.low * fine), int(spread.high * fine)) for spread in scene.spreads]
    return Job(sight, max(_ends(sight, target)[0] for target in scene.statement.wish), ends, {})


def _ends(sight: Sight, key: int) -> list[int]:
    """The lowest and the highest score of a key, but for deviations."""
    place, spread = sight.dot(sight.scene.row(key)), sight.scene.spread(key)
    return sorted((sight.score(place, spread.low), sight.score(place, spread.high)))


def _weights(job: Job, sums: Sums, guard: Guard | None) -> dict[int, Fraction]:
    """What each target gets at least: 1 / (1 + what competes with it at worst)."""
    sight, scene, weights = job.sight, job.sight.scene, {}
    ends = {target: _ends(sight, target) for target in scene.statement.wish}
    kinds = {target: sight.kind(target) for target in ends}
    highest = {target: job.exponential(high)[1] for target, (_, high) in ends.items()}
    others = {(entry, dot): number for (name, entry, dot), number in sums.items() if name == "rivals"}
    for target, (low, _) in ends.items():
        rivals: dict[Kind, int] = dict(others)
        for key, kind in kinds.items():
            rivals[kind] = rivals.get(kind, 0) + highest[key] * (key != target)
        start, apart = Fraction(job.top - low, sight.unit), sight.apart(kinds[target], guard)
        worst = sum(amount * exp_above(start + apart(kind), scene.bits) for kind, amount in rivals.items())
        weights[target] = 1 / (1 + Fraction(worst, 4**scene.bits))
    return weights
