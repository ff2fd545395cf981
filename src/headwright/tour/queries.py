"""The tour: a short story of what there is, on data that it makes itself; every number is computed on the spot."""

from __future__ import annotations

import html
import io
import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from headwright import attention, design, layer, lowrank, noise, pictures, positions
from headwright.enclosure import shown_above, shown_below
from headwright.files import write_whole
from headwright.trusted.verify import verify


@dataclass(frozen=True)
class Chapter:
    """One thing shown: what is said, its picture, and the command that shows it again."""

    title: str
    text: str
    picture: pictures.Chart
    name: str
    command: str


def chapters(out: Path) -> Iterator[Chapter]:
    """Chapter after chapter; the files that their commands read are written to the folder.

    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> next(chapters(folder)).title
    "'Choose q large enough': how large?"
    """
    yield _large_enough(out)
    yield _shortest(out)
    yield _one_head(out)
    yield _two_heads(out)
    yield _robust(out)
    yield _order()
    yield _positions()
    yield _rank(out)


def page(story: list[Chapter]) -> str:
    """The tour as an HTML page beside its pictures.

    >>> page([]).startswith("<!doctype html>")
    True
    """
    parts = "\n".join(
        f"<section><h2>{html.escape(chapter.title)}</h2><p>{html.escape(chapter.text)}</p>"
        f'<img src="{chapter.name}.svg" alt="{html.escape(chapter.title)}">'
        f"<pre>{html.escape(chapter.command)}</pre></section>"
        for chapter in story
    )
    style = (
        "body{font:16px/1.5 sans-serif;max-width:56rem;margin:2rem auto;padding:0 1rem;color:#222}"
        "img{max-width:100%}p{white-space:pre-line}pre{background:#f4f4f4;padding:.6rem;white-space:pre-wrap}"
    )
    return (
        f'<!doctype html>\n<html lang="en"><meta charset="utf-8"><title>Headwright: a tour</title>'
        f'<meta name="viewport" content="width=device-width"><style>{style}</style>\n'
        f"<h1>Headwright: a tour</h1>\n{parts}\n</html>\n"
    )


N, A, B = 10, 0, 1  # ten orthonormal keys, two of them to be averaged
EPS = 0.01
LAMBDA = math.log((N - 2) / EPS)  # the shortest multiple of k_a + k_b that grants 1/(2 + eps) to both
BRITTLE = noise.World({A: noise.Noise(scale=noise.Normal(1.0, 0.5))})


def _large_enough(out: Path) -> Chapter:
    keys = np.eye(N)
    both = keys[A] + keys[B]
    _save(out, "keys.npy", keys)
    _save(out, "short.npy", both / math.sqrt(2))
    _save(out, "long.npy", LAMBDA * both)
    short, long = attention.attend(keys, np.stack([both / math.sqrt(2), LAMBDA * both])).pattern
    return Chapter(
        "'Choose q large enough': how large?",
        f"There are {N} orthonormal keys, and keys {A} and {B} should be averaged. A published answer is "
        f"q = (k_a + k_b)/sqrt(2). Its weights are {short[A]:.3f} and {short[B]:.3f}: the other {N - 2} keys keep "
        f"{1 - short[A] - short[B]:.0%}. With q = ln((n-2)/eps)(k_a + k_b) and eps = {EPS} they are {long[A]:.5f} "
        f"each (floating-point); asked for was 1/(2 + eps) = {1 / (2 + EPS):.5f}.",
        pictures.pattern_bars(np.stack([short, long]), "A short query (head 0) and one that is long enough (head 1)"),
        "1-large-enough",
        f"headwright attend --keys {out}/keys.npy --query {out}/short.npy --query {out}/long.npy",
    )


def _shortest(out: Path) -> Chapter:
    keys = np.array([[1.2, 0.3], [0.2, 1.1], [-0.9, 0.6], [-0.5, -1.0], [0.9, -0.8], [0.3, 0.2]])
    _save(out, "plane.npy", keys)
    found, hopeless = design.design(keys, design.copy(0)), design.design(keys, design.copy(5))
    write_whole(out / "certificate.json", (found.certificate or "").encode())
    verdict = verify(found.certificate or "")
    low, high = hopeless.best_eps or (0.0, 0.0)
    return Chapter(
        "The shortest query, with a certificate",
        f"Six keys in the plane; copy key 0. The checker, with nothing but Python's standard library, says: "
        f"{verdict.word}. {verdict.words} For key 5, which lies inside the hull of the others: {hopeless.words} "
        f"The best that can be had is 1/(1 + eps) with eps = {shown_above(high)}; none below {shown_below(low)}.",
        found.picture(),
        "2-shortest",
        f"headwright design --keys {out}/plane.npy --copy 0 --out {out}/certificate.json",
    )


def _robust(out: Path) -> Chapter:
    write_whole(out / "half.toml", b"[[noise]]\nkey = 0\nscale = { one_of = [0.5, 1.5] }\n")
    wish = design.average([A, B], EPS)
    world = noise.World({A: noise.Noise(scale=noise.OneOf((0.5, 1.5)))})
    fixed = design.design(np.eye(N), wish)
    one, two = (design.design(np.eye(N), wish, world=world, heads=heads) for heads in (1, 2))
    return Chapter(
        "Is one head brittle? Not if it is designed",
        f"Let key {A} be half or one and a half times as long. One query averages both in either case (proven): "
        f"it does not look at them, and pushes the others away. It has length {shown_above(one.norm)}; certain keys "
        f"need {shown_above(fixed.norm)}, and two heads {shown_above(two.norm)}. No single query shorter than "
        f"{shown_below(one.norm_lower_bound)} can do it.",
        one.picture(),
        "5-robust",
        f"headwright design --keys {out}/keys.npy --average {A},{B} --world {out}/half.toml",
    )


def _one_head(out: Path) -> Chapter:
    write_whole(out / "world.toml", b"[[noise]]\nkey = 0\nscale = { normal = [1.0, 0.5] }   # mean and variance\n")
    result, near = _near_average(LAMBDA * (np.eye(N)[[A]] + np.eye(N)[[B]]))
    return Chapter(
        "One head is brittle",
        f"Now the length of key {A} is random, with mean 1 and variance 1/2. The same long query averages them, "
        f"each within 0.05 of 1/2, with probability {near} (proven); {result.samples} draws say "
        f"{result.near_average:.4f}. Otherwise it copies one of them.",
        pictures.noise_picture(result, "One head, one key of random length"),
        "3-one-head",
        f"headwright simulate --keys {out}/keys.npy --world {out}/world.toml --query {out}/long.npy --targets {A},{B}",
    )


def _two_heads(out: Path) -> Chapter:
    queries = LAMBDA * np.eye(N)[[A, B]]
    _save(out, "head-a.npy", queries[0])
    _save(out, "head-b.npy", queries[1])
    result, near = _near_average(queries)
    _, longer = _near_average(100 * queries)
    backwards = math.erfc(1.0) / 2  # P(g < 0) for g ~ N(1, 1/2)
    return Chapter(
        "Two heads mend most of it, not all",
        f"With one head for each key, and queries just as long, the probability is {near} (proven). Queries a hundred "
        f"times as long reach {longer}. More than {1 - backwards:.5f} is out of reach for such heads at any length: "
        f"with probability {backwards:.5f} the key points backwards.",
        pictures.noise_picture(result, "Two heads, one key of random length"),
        "4-two-heads",
        f"headwright simulate --keys {out}/keys.npy --world {out}/world.toml "
        f"--query {out}/head-a.npy --query {out}/head-b.npy --targets {A},{B}",
    )


def _order() -> Chapter:
    tokens = np.random.default_rng(0).normal(size=(5, 16))
    scheme, exactly = positions.Sinusoidal(16), positions.Precision()
    without = layer.equivariance_defect(layer.random_layer(16), tokens)
    placed = layer.equivariance_defect(layer.random_layer(16, positions=scheme), tokens)
    return Chapter(
        "Order enters only through positions",
        f"A layer without positions has Z(PX) = P Z(X): over all {without.tried} permutations of 5 tokens the worst "
        f"defect is {without.relative:.0e} of its output, which is rounding. With sinusoids added it is "
        f"{placed.relative:.2f}, at the permutation {list(placed.permutation)}.",
        pictures.position_picture(*positions.preview(scheme, 64, exactly), "Sinusoidal positions", "dimension 16"),
        "6-order",
        'python -c "import headwright; help(headwright.equivariance_defect)"',
    )


def _positions() -> Chapter:
    scheme, length, start = positions.Sinusoidal(64), 4096, 240
    coarse = positions.Precision(index="bfloat16")
    exact, rounded = positions.report(scheme, length), positions.report(scheme, length, coarse)
    return Chapter(
        "Positions that coincide",
        f"Exactly, any two of {length} sinusoidal positions are at least {shown_below(exact.distance.lower)} apart "
        f"(proven). With the index kept in bfloat16, {rounded.collisions} of them coincide with an earlier one; "
        f"the first two to do so are {rounded.first_pair}.",
        pictures.position_picture(
            *positions.preview(scheme, length, coarse, start),
            "Sinusoidal positions, index in bfloat16",
            "beyond 256, neighbours have the same row",
            start,
        ),
        "7-positions",
        f"headwright positions --length {length} --dim 64 --index-dtype bfloat16",
    )


def _rank(out: Path) -> Chapter:
    rng = np.random.default_rng(0)
    matrix = rng.normal(size=(96, 8)) @ rng.normal(size=(8, 64)) + 0.1 * rng.normal(size=(96, 64))
    _save(out, "matrix.npy", matrix)
    result = lowrank.truncate(matrix, rank=8)
    return Chapter(
        "A cut to small rank, with its error certified",
        f"A 96 x 64 matrix cut to rank 8 is missed by at most {shown_above(result.error_upper_bound)} in spectral "
        f"norm, a bound that does not trust the SVD. Theory alone promises {shown_above(result.guarantee)}.",
        pictures.spectrum(result, "Singular values"),
        "8-rank",
        f"headwright lowrank {out}/matrix.npy --rank 8",
    )


def _near_average(queries: np.ndarray) -> tuple[noise.Simulation, str]:
    result = noise.simulate(np.eye(N), queries, BRITTLE, [A, B])
    near = result.exact.near_average.midpoint if result.exact else result.near_average
    return result, f"{near:.5f}"


def _save(out: Path, name: str, array: np.ndarray) -> None:
    content = io.BytesIO()
    np.save(content, array)
    write_whole(out / name, content.getvalue())
