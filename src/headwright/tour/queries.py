"""Chapters about queries: long enough, shortest, brittle, robust."""

from __future__ import annotations

import math
from pathlib import Path
from statistics import NormalDist

import numpy as np

from headwright import attention, noise, pictures
from headwright.enclosure import shown_above, shown_below
from headwright.files import write_whole
from headwright.queries import Design, Wish, average, copy, design
from headwright.tour.chapter import Chapter, save
from headwright.verification import verify

N, A, B = 10, 0, 1  # ten orthonormal keys, two of them to be averaged
EPS = 0.01
LENGTHS = (0.5, 1.5)  # of key A, in the chapter about worlds
LAMBDA = math.log((N - 2) / EPS)  # the shortest multiple of k_a + k_b that grants 1/(2 + eps) to both
COPIED = 0.95  # a key with so much weight is as good as copied
BRITTLE = noise.World({A: noise.Noise(scale=noise.Normal(1.0, 0.5))})


def large_enough(out: Path) -> Chapter:
    """How large is large enough?"""
    keys = np.eye(N)
    both = keys[A] + keys[B]
    save(out, "keys.npy", keys)
    save(out, "short.npy", both / math.sqrt(2))
    save(out, "long.npy", LAMBDA * both)
    short, long = attention.attend(keys, np.stack([both / math.sqrt(2), LAMBDA * both])).pattern
    return Chapter(
        "'Choose q large enough': how large?",
        rf"There are {N} orthonormal keys, and keys {A} and {B} should be averaged. A published answer is "
        rf"$q = \frac{{1}}{{\sqrt 2}}(k_a + k_b)|q = (k_a + k_b)/sqrt(2)$. Its weights are «{short[A]:.3f}» and "
        rf"«{short[B]:.3f}»: the other {N - 2} keys keep {1 - short[A] - short[B]:.0%}."
        "\n\n"
        rf"With $q = \ln\!\left(\frac{{n - 2}}{{\epsilon}}\right)(k_a + k_b)|q = ln((n-2)/eps)(k_a + k_b)$ and "
        rf"$\epsilon|eps$ = {EPS} they are «{long[A]:.5f}» each (floating-point); asked for was "
        rf"$\frac{{1}}{{2 + \epsilon}}|1/(2 + eps)$ = {1 / (2 + EPS):.5f}.",
        pictures.pattern_bars(
            np.stack([short, long]), "A short query, and one that is long enough", ["short", "long"], targets=[A, B]
        ),
        "large-enough",
        (f"headwright attend --keys {out}/keys.npy --query {out}/short.npy --query {out}/long.npy",),
    )


def shortest(out: Path) -> Chapter:
    """The shortest query, and one that does not exist."""
    keys = np.array([[1.2, 0.3], [0.2, 1.1], [-0.9, 0.6], [-0.5, -1.0], [0.9, -0.8], [0.3, 0.2]])
    save(out, "plane.npy", keys)
    found, hopeless = design(keys, copy(0)), design(keys, copy(5))
    write_whole(out / "certificate.json", (found.certificate or "").encode())
    verdict = verify(found.certificate or "")
    low, high = hopeless.best_eps or (0.0, 0.0)
    return Chapter(
        "The shortest query, with a certificate",
        rf"Six keys in the plane; copy key 0, that is, give it a weight of at least "
        rf"$\frac{{1}}{{1 + \epsilon}}|1/(1 + eps)$ with $\epsilon|eps$ = {EPS}. The shortest query that does so has "
        rf"length «{shown_above(found.norm)}», and none shorter than «{shown_below(found.norm_lower_bound)}» does "
        rf"(proven). The verdict on the certificate, by the {verdict.by}: {verdict.word}."
        "\n\n"
        rf"Key 5 lies inside the hull of the others, so it cannot be copied: {hopeless.word}, proven. The best that "
        rf"can be had is $\epsilon|eps$ = «{shown_above(high)}@2»; none below «{shown_below(low)}@2».",
        pictures.stacked(found.picture(), hopeless.picture()),
        "shortest",
        (
            f"headwright design --keys {out}/plane.npy --copy 0 --out {out}/certificate.json",
            f"headwright design --keys {out}/plane.npy --copy 5",
            f"headwright verify {out}/certificate.json",
        ),
    )


def robust(out: Path) -> Chapter:
    """One head that a key of two lengths does not disturb."""
    write_whole(out / "half.toml", b"[[noise]]\nkey = 0\nscale = { one_of = [0.5, 1.5] }\n")
    wish = average([A, B], EPS)
    world = noise.World({A: noise.Noise(scale=noise.OneOf(LENGTHS))})
    fixed = design(np.eye(N), wish)
    one, two = (design(np.eye(N), wish, world=world, heads=heads) for heads in (1, 2))
    return Chapter(
        "Is one head brittle? Not if it is designed",
        f"Let key {A} be half or one and a half times as long. One query averages both in either case (proven): "
        f"it does not look at them, and pushes the others away. It has length «{shown_above(one.norm)}», and no single "
        f"query shorter than «{shown_below(one.norm_lower_bound)}» can do it."
        "\n\n"
        f"Keys of a known length need no more than «{shown_above(fixed.norm)}@2»; but that query fails as soon as the "
        f"length is another. Two heads do it with queries of length «{shown_above(two.norm)}@3».",
        _compared({"designed for one length": fixed, "designed for both lengths": one, "two heads": two}, wish),
        "robust",
        (
            f"headwright design --keys {out}/keys.npy --average {A},{B} --world {out}/half.toml",
            f"headwright design --keys {out}/keys.npy --average {A},{B}",
            f"headwright design --keys {out}/keys.npy --average {A},{B} --world {out}/half.toml --heads 2",
        ),
    )


def _compared(designs: dict[str, Design], wish: Wish) -> pictures.Chart:
    """What each of the designs does, key A half and one and a half times as long."""
    shares = {
        name: {f"key {A} × {scale}": _weights(found.queries, scale) for scale in LENGTHS}
        for name, found in designs.items()
    }
    return pictures.worlds_picture(
        shares, (f"key {A}", f"key {B}"), float(wish.least[A]), f"Key {A} half and one and a half times as long"
    )


def _weights(queries: np.ndarray, scale: float) -> tuple[float, float]:
    keys = np.eye(N)
    keys[A] *= scale
    pattern = attention.attend(keys, queries).pattern.mean(axis=0)
    return float(pattern[A]), float(pattern[B])


def one_head(out: Path) -> Chapter:
    """One head and a key of random length."""
    write_whole(out / "world.toml", b"[[noise]]\nkey = 0\nscale = { normal = [1.0, 0.5] }   # mean and variance\n")
    result, near = _near_average(LAMBDA * (np.eye(N)[[A]] + np.eye(N)[[B]]))
    return Chapter(
        "One head is brittle",
        f"Now the length of key {A} is random, with mean 1 and variance 1/2. The same long query averages them, "
        f"each within 0.05 of 1/2, with probability «{near}» (proven); {result.samples} draws say "
        f"«{result.near_average:.4f}». It copies one of them, with a weight of {COPIED} or more, with "
        f"probability {_copied():.2f} (floating-point); in between, it mixes them unevenly.",
        pictures.noise_picture(result, "One head, one key of random length"),
        "one-head",
        (f"{_simulate(out)} --query {out}/long.npy --targets {A},{B}",),
    )


def two_heads(out: Path) -> Chapter:
    """Two heads and the same key."""
    queries = LAMBDA * np.eye(N)[[A, B]]
    save(out, "head-a.npy", queries[0])
    save(out, "head-b.npy", queries[1])
    result, near = _near_average(queries)
    _, longer = _near_average(100 * queries)
    heads = f"--query {out}/head-a.npy --query {out}/head-b.npy"
    command = f"{_simulate(out)} {heads} --targets {A},{B}"
    backwards = math.erfc(1.0) / 2  # P(g < 0) for g ~ N(1, 1/2)
    return Chapter(
        "Two heads mend most of it, not all",
        f"With one head for each key, and queries just as long, the probability is «{near}» (proven). Queries a "
        f"hundred times as long reach «{longer}@2». More than {1 - backwards:.5f} is out of reach for such heads at "
        f"any length: with probability {backwards:.5f} the key points backwards.",
        pictures.noise_picture(result, "Two heads, one key of random length"),
        "two-heads",
        (command, f"{command} --scale 100"),
    )


def _simulate(out: Path) -> str:
    return f"headwright simulate --keys {out}/keys.npy --world {out}/world.toml"


def _copied() -> float:
    """How likely the long query copies key A or key B, when key A is g times as long and g is normal.

    Key A has the weight c where e^(lambda g) = c/(1 - c) (e^lambda + n - 2), and key B where the two change places.
    """
    odds, other, law = COPIED / (1 - COPIED), math.exp(LAMBDA), NormalDist(1, math.sqrt(0.5))
    long, short = math.log(odds * (other + N - 2)) / LAMBDA, math.log(other / odds - (N - 2)) / LAMBDA
    return law.cdf(short) + 1 - law.cdf(long)


def _near_average(queries: np.ndarray) -> tuple[noise.Simulation, str]:
    result = noise.simulate(np.eye(N), queries, BRITTLE, [A, B])
    near = result.exact.near_average.midpoint if result.exact else result.near_average
    return result, f"{near:.5f}"
