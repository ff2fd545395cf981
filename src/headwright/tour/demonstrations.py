"""The chapters of the tour: queries, answers, whole heads, trained models, positions and rank."""

from __future__ import annotations  # noqa: I001

import math
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from headwright import (
    attention,
    head_design,
    lowrank,
    pictures,
    positions,
    simulation,
    uncertainty,
)
from headwright.auditing import audit
from headwright.auditing.report.page import page
from headwright.auditing.report.sentences import sentences
from headwright.verification.verify import verify
from headwright.errors import HeadwrightError
from headwright.files import write_whole
from headwright.grading import check
from headwright.head_design.export import export
from headwright.models import load_model
from headwright.numerics.enclosure import shown_above, shown_below
from headwright.query_design import Design, average, copy, design
from headwright.text_bounds.checker import check_statement
from headwright.text_bounds.every_text import every_length, every_text
from headwright.text_bounds.make_statement import statement_of
from headwright.text_bounds.read_layer import first_layer
from headwright.text_bounds.statement import write_statement
from headwright.tour.chapter import Chapter, save

N, A, B = 10, 0, 1  # ten orthonormal keys, two of them to be averaged
EPS = 0.01
LENGTHS = (0.5, 1.5)  # of key A, in the chapter about uncertainty
LAMBDA = math.log(
    (N - 2) / EPS
)  # the shortest multiple of k_a + k_b that meets 1/(2 + eps) to both
BRITTLE = uncertainty.Uncertainty(
    {A: uncertainty.Noise(scale=uncertainty.Normal(1.0, 0.5))}
)
RIGHT, WRONG = r"q = \lambda(k_a + k_b)", r"q = \frac{1}{\sqrt{2}}(k_a + k_b)"
RULES = """\
dimension = 8
directions = { a = 2.0, b = 2.0, c = 2.0, d = 2.0 }
tokens = ["d + b", "a", "c + b"]

[[rule]]
token = 0
output = "b - c"
tolerance = 0.01

[[rule]]
token = 1
output = "b"
tolerance = 0.01
"""
MODEL, TOKENS = "builtin:induction", 2000
LENGTH = 64
SHOWN = {
    "first": "sink",
    "previous": "previous_away",
    "own": "self_away",
    "equal": "duplicate_away",
    "what followed": "induction_away",
}


def large_enough(out: Path) -> Chapter:
    """How large is large enough?"""
    keys = np.eye(N)
    both = keys[A] + keys[B]
    save(out, "keys.npy", keys)
    save(out, "short.npy", both / math.sqrt(2))
    save(out, "long.npy", LAMBDA * both)
    short, long = attention.attend(
        keys, np.stack([both / math.sqrt(2), LAMBDA * both])
    ).pattern
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
            np.stack([short, long]),
            "A short query, and one that is long enough",
            ["short", "long"],
            targets=[A, B],
        ),
        "large-enough",
        (
            f"headwright attend --keys {out}/keys.npy --query {out}/short.npy --query {out}/long.npy",
        ),
    )


def shortest(out: Path) -> Chapter:
    """The shortest query, and one that does not exist."""
    keys = np.array(
        [[1.2, 0.3], [0.2, 1.1], [-0.9, 0.6], [-0.5, -1.0], [0.9, -0.8], [0.3, 0.2]]
    )
    save(out, "plane.npy", keys)
    best = design(keys, copy(0))
    hopeless = design(keys, copy(5))
    write_whole(out / "certificate.json", (best.certificate or "").encode())
    verdict = verify(best.certificate or "")
    low, high = hopeless.best_eps or (0.0, 0.0)
    return Chapter(
        "The shortest query, with a certificate",
        rf"Six keys in the plane; copy key 0, that is, give it a weight of at least "
        rf"$\frac{{1}}{{1 + \epsilon}}|1/(1 + eps)$ with $\epsilon|eps$ = {EPS}. The shortest query that does so has "
        rf"length «{shown_above(best.norm)}», and none shorter than «{shown_below(best.norm_lower_bound)}» does "
        rf"(proven). The verdict on the certificate, by the {verdict.by}: {verdict.word}."
        "\n\n"
        rf"Key 5 lies inside the hull of the others, so it cannot be copied: {hopeless.word}, proven. The best that "
        rf"can be had is $\epsilon|eps$ = «{shown_above(high, 4)}@2»; none below «{shown_below(low, 4)}@2».",
        pictures.stacked(best.picture(), hopeless.picture()),
        "shortest",
        (
            f"headwright design --keys {out}/plane.npy --copy 0 --out {out}/certificate.json",
            f"headwright design --keys {out}/plane.npy --copy 5",
            f"headwright verify {out}/certificate.json",
        ),
    )


def robust(out: Path) -> Chapter:
    """One head that a key of two lengths does not disturb."""
    write_whole(
        out / "half.toml", b"[[noise]]\nkey = 0\nscale = { one_of = [0.5, 1.5] }\n"
    )
    targets = average([A, B], EPS)
    two_lengths = uncertainty.Uncertainty(
        {A: uncertainty.Noise(scale=uncertainty.OneOf(LENGTHS))}
    )
    fixed = design(np.eye(N), targets)
    single = design(np.eye(N), targets, uncertainty=two_lengths)
    pair = design(np.eye(N), targets, uncertainty=two_lengths, heads=2)
    return Chapter(
        "Is one head brittle? Not if it is designed",
        f"Let key {A} be half or one and a half times as long. One query averages both in either case (proven): "
        f"it does not look at them, and pushes the others away. It has length «{shown_above(single.norm)}», and no "
        f"single query shorter than «{shown_below(single.norm_lower_bound)}» can do it."
        "\n\n"
        f"Keys of a known length need no more than «{shown_above(fixed.norm)}@2»; but that query fails as soon as the "
        f"length is another. Two heads do it with queries of length «{shown_above(pair.norm)}@3».",
        _compared(
            {"designed for one length": fixed, "designed for both lengths": single}
        ),
        "robust",
        (
            f"headwright design --keys {out}/keys.npy --average {A},{B} --uncertainty {out}/half.toml",
            f"headwright design --keys {out}/keys.npy --average {A},{B}",
            f"headwright design --keys {out}/keys.npy --average {A},{B} --uncertainty {out}/half.toml --heads 2",
        ),
    )


def _compared(designs: dict[str, Design]) -> pictures.Chart:
    """The pattern of each of the designs, with key A half and one and a half times as long."""
    rows = []
    names = []
    for name, design_shown in designs.items():
        for scale in LENGTHS:
            keys = np.eye(N)
            keys[A] *= scale
            pattern = attention.attend(keys, design_shown.queries).pattern
            rows.append(pattern.mean(axis=0))
            names.append(f"{name}, key {A} × {scale}")
    title = f"Key {A} half and one and a half times as long"
    return pictures.pattern_bars(np.stack(rows), title, names, targets=[A, B])


def one_head(out: Path) -> Chapter:
    """One head and a key of random length."""
    write_whole(
        out / "uncertainty.toml",
        b"[[noise]]\nkey = 0\nscale = { normal = [1.0, 0.5] }   # mean and variance\n",
    )
    result, near = _near_average(LAMBDA * (np.eye(N)[[A]] + np.eye(N)[[B]]))
    return Chapter(
        "One head is brittle",
        f"Now the length of key {A} is random, with mean 1 and variance 1/2. The same long query averages them, "
        f"each within 0.05 of 1/2, with probability «{near}» (proven); {result.samples} draws say "
        f"«{result.near_average:.4f}». Otherwise it copies one of them, or mixes them unevenly.",
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
        "Two heads fix most of it, not all",
        f"With one head for each key, and queries just as long, the probability is «{near}» (proven). Queries a "
        f"hundred times as long reach «{longer}@2». More than {1 - backwards:.5f} is out of reach for such heads at "
        f"any length: with probability {backwards:.5f} the key points backwards.",
        pictures.noise_picture(result, "Two heads, one key of random length"),
        "two-heads",
        (command, f"{command} --scale 100"),
    )


def _simulate(out: Path) -> str:
    return f"headwright simulate --keys {out}/keys.npy --uncertainty {out}/uncertainty.toml"


def _near_average(queries: np.ndarray) -> tuple[simulation.Simulation, str]:
    result = simulation.simulate(np.eye(N), queries, BRITTLE, [A, B])
    near = result.exact.near_average.midpoint if result.exact else result.near_average
    return result, f"{near:.5f}"


def right_and_wrong(out: Path) -> Chapter:
    """Two answers to one exercise, and a picture of why one of them fails."""
    sheet = f"## averaging-two\n\n$${RIGHT}$$\n\n## averaging-two\n\n$${WRONG}$$\n"
    write_whole(out / "answers.md", sheet.encode())
    good, bad = (check("averaging-two", answer) for answer in (RIGHT, WRONG))
    where = bad.counterexample or {}
    if bad.curve is None:
        raise HeadwrightError("the wrong answer has no picture of its failure")
    return Chapter(
        "Is this answer right?",
        f"To 'average two of n orthonormal keys' one student writes ${RIGHT}|q = lambda (k_a + k_b)$ and another "
        f"${WRONG}|q = (k_a + k_b)/sqrt(2)$. The first is {good.word}, for all n and epsilon, from {good.threshold}."
        "\n\n"
        f"The second is {bad.word}: with n = «{where['n']}» and epsilon = {where['epsilon']} key a has weight "
        f"«{where['left']}», and should have «{where['right']}». Suggested repair: {bad.suggestion}.",
        pictures.curve_picture(bad.curve, "A published answer"),
        "answers",
        (f"headwright check {out}/answers.md",),
    )


def whole_head(out: Path) -> Chapter:
    """A head that routes, built, checked, exported and run."""
    write_whole(out / "route.toml", RULES.encode())
    built = head_design.build(head_design.parse_rules(RULES), dtype="float32")
    if built.layer is None or built.certificate is None:
        raise HeadwrightError(f"the head of the tour was not built: {built.words}")
    folder = out / "route"
    export(built, folder)
    tokens = built.rules.sequences[0]
    library, ran = _run(folder, tokens)
    worst = float(np.abs(ran - head_design.outputs(built.layer, tokens)).max())
    return Chapter(
        "A whole head from rules",
        f"Token 0 should output b - c and token 1 should output b: which weights do that? Built: "
        f"«{built.head_dim}» numbers for each query and key, "
        rf"$\Vert W_K^\top W_Q\Vert_F||W_K^T W_Q|_F$ = «{shown_above(built.frobenius)}», "
        f"and none below «{shown_below(built.lower_bound)}» attends as this one does (proven). The exact checker says: "
        f"{verify(built.certificate).word}. The weights are in {folder}; run by {library}, the outputs agree with "
        f"the certified ones to {worst:.0e} (floating-point).",
        built.picture(),
        "whole-head",
        (f"headwright heads {out}/route.toml --dtype float32 --export {out}/route",),
    )


def _run(folder: Path, tokens: np.ndarray) -> tuple[str, np.ndarray]:
    """The outputs of the exported weights: by PyTorch where it is installed, otherwise by NumPy."""
    if find_spec("torch") is None:
        from headwright.head_design.export import load_layer

        return "NumPy", head_design.outputs(load_layer(folder), tokens)
    from headwright.head_design.export import load_torch, run_torch
    from headwright.head_design.export.torch_layer import TORCH

    module, shape = load_torch(folder / TORCH)
    return "a stock torch.nn.MultiheadAttention", np.asarray(
        run_torch(module, shape, tokens)[0]
    )


def trained(out: Path) -> Chapter:
    """The built-in model audited, and the report written."""
    report = out / "audit.html"
    command = f"headwright audit {MODEL} --tokens {TOKENS} --out {report}"
    found = audit(load_model(MODEL), tokens=TOKENS, command=command)
    write_whole(report, page(found).encode())
    layers, heads = (range(count) for count in found.shape)
    at = {(head.layer, head.head): head for head in found.heads}
    maps = {
        what: (
            [[at[layer, head].value(name) for head in heads] for layer in layers],
            1.0,
        )
        for what, name in SHOWN.items()
    }
    said = [
        line
        for line in sentences(found)
        if "previous-token" in line or "induction" in line
    ]
    return Chapter(
        "What the heads of a trained model do",
        f"Headwright brings a model of two layers, trained to continue sequences that repeat. Read on «{found.rows}» "
        f"rows of random tokens: {' '.join(said)} The first layer looks one place back; so the second finds where its "
        f"token stood before, and reads what followed. The report, with margins, rounding and ranks: {report}.",
        pictures.maps_chart(
            maps,
            layers,
            heads,
            "Where attention goes; all but 'first': away from the first token",
        ),
        "audit",
        (command,),
    )


def every(out: Path) -> Chapter:
    """One statement about the built-in model, proved for every text, with the text that attains it."""
    model = load_model(MODEL)
    path = out / "every-text.json"
    found = every_text(model, LENGTH, heads=[0])[0]
    previous = next(places for places in found.places if places.name == "previous")
    layer = first_layer(model, LENGTH)
    statement = statement_of(model.name, layer, found, previous, "least")
    write_whole(path, write_statement(statement).encode())
    check_statement(statement, layer)
    curve = next(
        one for one in every_length(model, LENGTH, heads=[0]) if one.name == "previous"
    )
    lengths, least, most = zip(
        *((point.length, point.least, point.most) for point in curve.points),
        strict=True,
    )
    worst = "".join(model.token_strings(previous.least.text[-12:]))
    return Chapter(
        "For every text",
        f"On a text, head 0.0 looks one place back. On every text? In its layer a query and a key depend on token and "
        f"place alone, so the worst text is found place by place: of all texts of {LENGTH} tokens none takes its "
        f"weight on the previous token below «{shown_below(previous.least.bound, 4)}», and the one that ends in "
        f"{worst} comes that far (the model, run on it, says {previous.least.run:.4f}). A second checker has looked "
        f"at every token at every place again; the statement is in {path}.",
        pictures.length_picture(
            [("0.0", "previous token", lengths, least, most)],
            "Head 0.0 on every text",
            "where its weight on the previous token lies, by the length of the text (proven)",
        ),
        "every-text",
        (f"headwright every-text {MODEL} --length {LENGTH} --out {path}",),
    )


def coinciding(_: Path) -> Chapter:
    """Positions that rounding makes equal."""
    scheme, length, start = positions.Sinusoidal(64), 4096, 240
    coarse = positions.Precision(index="bfloat16")
    exact, rounded = (
        positions.report(scheme, length),
        positions.report(scheme, length, coarse),
    )
    first = rounded.first_pair or (0, 0)
    return Chapter(
        "Positions that coincide",
        f"With the index kept in bfloat16, «{rounded.collisions}» of {length} sinusoidal positions coincide with an "
        f"earlier one; the first two to do so are «{first[0]}» and «{first[1]}». Exactly, any two of them are at least "
        f"«{shown_below(exact.distance.lower)}@2» apart (proven).",
        pictures.position_picture(
            positions.preview(scheme, length, coarse, start),
            "Sinusoidal positions, index in bfloat16",
            f"{rounded.collisions} of {length} positions coincide with an earlier one",
            rounded.first_pair,
        ),
        "positions",
        (
            f"headwright positions --length {length} --dim 64 --index-dtype bfloat16",
            f"headwright positions --length {length} --dim 64",
        ),
    )


def rank(out: Path) -> Chapter:
    """A matrix cut to small rank."""
    rng = np.random.default_rng(0)
    matrix = rng.normal(size=(96, 8)) @ rng.normal(size=(8, 64)) + 0.1 * rng.normal(
        size=(96, 64)
    )
    save(out, "matrix.npy", matrix)
    result = lowrank.truncate(matrix, rank=8)
    return Chapter(
        "Truncation to low rank, with a certified error",
        f"A 96 x 64 matrix cut to rank 8 is missed by at most «{shown_above(result.error_upper_bound, 4)}» in spectral "
        f"norm, a bound that does not trust the SVD. Theory alone promises «{shown_above(result.guarantee, 4)}».",
        pictures.spectrum(result, "Singular values"),
        "rank",
        (f"headwright lowrank {out}/matrix.npy --rank 8",),
    )
