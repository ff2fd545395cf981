"""Chapters about queries: the shortest one, random keys, and robust designs."""

from __future__ import annotations

import math
from pathlib import Path
from statistics import NormalDist

import numpy as np

from headwright import attention, noise, pictures
from headwright.design import Design, Wish, average, copy, design
from headwright.enclosure import shown_above, shown_below
from headwright.files import write_whole
from headwright.tour.chapter import Chapter, save
from headwright.verification import verify

N, A, B = 10, 0, 1  # ten orthonormal keys, two of them to be averaged
EPS = 0.01
LENGTHS = (0.5, 1.5)  # factors of key A in the chapter about robust designs
LAMBDA = math.log((N - 2) / EPS)  # the smallest multiple of k_a + k_b that gives both at least 1/(2 + eps)
COPIED = 0.95  # from this weight on a key counts as copied
BRITTLE = noise.World({A: noise.Noise(scale=noise.Normal(1.0, 0.5))})


def large_enough(out: Path) -> Chapter:
    """How long a query must be."""
    keys = np.eye(N)
    both = keys[A] + keys[B]
    save(out, "keys.npy", keys)
    save(out, "short.npy", both / math.sqrt(2))
    save(out, "long.npy", LAMBDA * both)
    short, long = attention.attend(keys, np.stack([both / math.sqrt(2), LAMBDA * both])).pattern
    return Chapter(
        "How long must the query be?",
        rf"There are {N} orthonormal keys, and keys {A} and {B} should be averaged. The query "
        rf"$q = \frac{{1}}{{\sqrt 2}}(k_a + k_b)|q = (k_a + k_b)/sqrt(2)$, a published answer, gives them weights "
        rf"«{short[A]:.3f}» and «{short[B]:.3f}». The other {N - 2} keys get {1 - short[A] - short[B]:.0%}."
        "\n\n"
        rf"With $q = \ln\!\left(\frac{{n - 2}}{{\epsilon}}\right)(k_a + k_b)|q = ln((n-2)/eps)(k_a + k_b)$ and "
        rf"$\epsilon|eps$ = {EPS} the weights are «{long[A]:.4f}» each (floating-point), as required: "
        rf"$\frac{{1}}{{2 + \epsilon}}|1/(2 + eps)$ = {1 / (2 + EPS):.4f}.",
        pictures.pattern_bars(
            np.stack([short, long]), "A short query, and one that is long enough", ["short", "long"], targets=[A, B]
        ),
        "large-enough",
        (f"headwright attend --keys {out}/keys.npy --query {out}/short.npy --query {out}/long.npy",),
    )


def shortest(out: Path) -> Chapter:
    """The shortest query, and a target that is impossible."""
    keys = np.array([[1.2, 0.3], [0.2, 1.1], [-0.9, 0.6], [-0.5, -1.0], [0.9, -0.8], [0.3, 0.2]])
    save(out, "plane.npy", keys)
    found, hopeless = design(keys, copy(0)), design(keys, copy(5))
    write_whole(out / "certificate.json", (found.certificate or "").encode())
    verdict = verify(found.certificate or "")
    low, high = hopeless.best_eps or (0.0, 0.0)
    return Chapter(
        "The shortest query, with a certificate",
        rf"Six keys in the plane. The target: key 0 gets a weight of at least "
        rf"$\frac{{1}}{{1 + \epsilon}}|1/(1 + eps)$ with $\epsilon|eps$ = {EPS}. A query of length "
        rf"«{shown_above(found.norm, 4)}» meets it, and no query shorter than "
        rf"«{shown_below(found.norm_lower_bound, 4)}» does (proved). The verdict on the certificate, by the "
        rf"{verdict.by}: {verdict.word}."
        "\n\n"
        rf"Key 5 lies inside the convex hull of the other keys. As a target it is {hopeless.word} (proved). The best "
        rf"possible tolerance is $\epsilon|eps$ = «{shown_above(high, 4)}@2»; below «{shown_below(low, 4)}@2» there is "
        rf"no query.",
        pictures.stacked(found.picture(), hopeless.picture()),
        "shortest",
        (
            f"headwright design --keys {out}/plane.npy --copy 0 --out {out}/certificate.json",
            f"headwright design --keys {out}/plane.npy --copy 5",
            f"headwright verify {out}/certificate.json",
        ),
    )


def robust(out: Path) -> Chapter:
    """One query that works for two lengths of a key."""
    write_whole(out / "half.toml", b"[[noise]]\nkey = 0\nscale = { one_of = [0.5, 1.5] }\n")
    wish = average([A, B], EPS)
    world = noise.World({A: noise.Noise(scale=noise.OneOf(LENGTHS))})
    fixed = design(np.eye(N), wish)
    one, two = (design(np.eye(N), wish, world=world, heads=heads) for heads in (1, 2))
    return Chapter(
        "A robust design with one head",
        f"Key {A} may be multiplied by 0.5 or by 1.5. One query averages both targets in either case (proved): it is "
        f"orthogonal to them, and gives the other keys negative scores. It has length "
        f"«{shown_above(one.norm, 4)}», and "
        f"no single query shorter than «{shown_below(one.norm_lower_bound, 4)}» does this."
        "\n\n"
        f"For a known length of key {A} a query of length «{shown_above(fixed.norm, 4)}@2» suffices, but it fails for "
        f"other lengths. Two heads need queries of length «{shown_above(two.norm, 4)}@3».",
        _compared({"designed for one length": fixed, "designed for both lengths": one, "two heads": two}, wish),
        "robust",
        (
            f"headwright design --keys {out}/keys.npy --average {A},{B} --world {out}/half.toml",
            f"headwright design --keys {out}/keys.npy --average {A},{B}",
            f"headwright design --keys {out}/keys.npy --average {A},{B} --world {out}/half.toml --heads 2",
        ),
    )


def _compared(designs: dict[str, Design], wish: Wish) -> pictures.Chart:
    """The weights of each design for both lengths of key A."""
    shares = {
        name: {f"key {A} × {scale}": _weights(found.queries, scale) for scale in LENGTHS}
        for name, found in designs.items()
    }
    return pictures.worlds_picture(
        shares, (f"key {A}", f"key {B}"), float(wish.least[A]), f"Weights when key {A} is multiplied by 0.5 and by 1.5"
    )


def _weights(queries: np.ndarray, scale: float) -> tuple[float, float]:
    keys = np.eye(N)
    keys[A] *= scale
    pattern = attention.attend(keys, queries).pattern.mean(axis=0)
    return float(pattern[A]), float(pattern[B])


def one_head(out: Path) -> Chapter:
    """One head, with a key of random length."""
    write_whole(out / "world.toml", b"[[noise]]\nkey = 0\nscale = { normal = [1.0, 0.5] }   # mean and variance\n")
    result, near = _near_average(LAMBDA * (np.eye(N)[[A]] + np.eye(N)[[B]]))
    return Chapter(
        "One head and a key of random length",
        f"The length of key {A} is normally distributed with mean 1 and variance 1/2. The query of the first example "
        f"gives both targets a weight within 0.05 of 1/2 with probability «{near}» (proved). In "
        f"{result.samples} samples "
        f"the frequency is «{result.near_average:.4f}». With probability {_copied():.2f} one target gets "
        f"weight {COPIED} "
        f"or more (floating-point); otherwise the targets are mixed unevenly.",
        pictures.noise_picture(result, "One head, one key of random length"),
        "one-head",
        (f"{_simulate(out)} --query {out}/long.npy --targets {A},{B}",),
    )


def two_heads(out: Path) -> Chapter:
    """Two heads, with the same random key."""
    queries = LAMBDA * np.eye(N)[[A, B]]
    save(out, "head-a.npy", queries[0])
    save(out, "head-b.npy", queries[1])
    result, near = _near_average(queries)
    _, longer = _near_average(100 * queries)
    heads = f"--query {out}/head-a.npy --query {out}/head-b.npy"
    command = f"{_simulate(out)} {heads} --targets {A},{B}"
    backwards = math.erfc(1.0) / 2  # P(g < 0) for g ~ N(1, 1/2)
    return Chapter(
        "Two heads and a key of random length",
        f"With one head for each target, and queries as long as before, the probability is «{near}» (proved). "
        f"Queries a "
        f"hundred times as long give «{longer}@2». Such heads cannot exceed {1 - backwards:.4f} at any length: with "
        f"probability {backwards:.4f} key {A} has the opposite direction.",
        pictures.noise_picture(result, "Two heads, one key of random length"),
        "two-heads",
        (command, f"{command} --scale 100"),
    )


def _simulate(out: Path) -> str:
    return f"headwright simulate --keys {out}/keys.npy --world {out}/world.toml"


def _copied() -> float:
    """The probability that the long query copies key A or key B, when key A is multiplied by a normal g.

    Key A has the weight c where e^(lambda g) = c/(1 - c) (e^lambda + n - 2), and key B where the two change places.
    """
    odds, other, law = COPIED / (1 - COPIED), math.exp(LAMBDA), NormalDist(1, math.sqrt(0.5))
    long, short = math.log(odds * (other + N - 2)) / LAMBDA, math.log(other / odds - (N - 2)) / LAMBDA
    return law.cdf(short) + 1 - law.cdf(long)


def _near_average(queries: np.ndarray) -> tuple[noise.Simulation, str]:
    result = noise.simulate(np.eye(N), queries, BRITTLE, [A, B])
    near = result.exact.near_average.midpoint if result.exact else result.near_average
    return result, f"{near:.4f}"
