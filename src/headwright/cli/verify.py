"""headwright verify."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from headwright.cli.console import progress, show_json, show_line
from headwright.cli.options import (
    ARRAY,
    AtLeast,
    Average,
    Checker,
    Copy,
    Eps,
    Json,
    check_checker,
    read_keys,
    read_number,
    read_text,
    read_wish,
)
from headwright.errors import InputError

if TYPE_CHECKING:
    import numpy as np

    from headwright.comparison import Comparison, Expected
    from headwright.verification import Verdict

SHORT = "Verify a certificate against your inputs."
EXAMPLES = (
    "headwright verify copy.json --keys keys.npy --copy 3",
    "headwright verify heads.json --rules previous.toml",
    "headwright verify copy.json --keys keys.npy --checker exact",
)
EXIT = {"verified": 0, "rejected": 1, "unreadable": 2, "not confirmed": 3, "internal error": 4}
EVERY_TEXT = ('"headwright every-text certificate"', '"headwright next-token certificate"')


def verify(
    certificate: Annotated[
        Path, typer.Argument(metavar="CERTIFICATE", help="The certificate (.json), or - for standard input.")
    ],
    keys: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="<path>",
            help=f"Keys it must be about {ARRAY}; needed where the certificate does not hold them.",
        ),
    ] = None,
    world: Annotated[Path | None, typer.Option(help="Uncertainty model for the keys it must be about (.toml).")] = None,
    rules: Annotated[Path | None, typer.Option(help="Rules for heads it must be about (.toml).")] = None,
    copy: Copy = None,
    average: Average = None,
    at_least: AtLeast = None,
    eps: Eps = None,
    scale: Annotated[str | None, typer.Option(help="Factor of the scores it must be about, such as 1/8.")] = None,
    confidence: Annotated[str | None, typer.Option(help="Probability it must hold with.")] = None,
    model: Annotated[str | None, typer.Option(help="The model, for a certificate of `headwright every-text`.")] = None,
    checker: Checker = None,
    json: Json = False,
) -> None:
    """Verify a certificate: is its statement true, and is it about the keys, wish or rules that you give?"""
    check_checker(checker)
    text = read_text(certificate, "certificate")
    if any(name in text for name in EVERY_TEXT):
        given = {
            "--keys": keys, "--world": world, "--rules": rules, "--copy": copy, "--average": average, "--eps": eps,
            "--at-least": at_least, "--scale": scale, "--confidence": confidence, "--checker": checker,
        }  # fmt: skip
        for option, value in given.items():
            if value is not None:
                raise InputError(f"{option} beside a certificate about every text: expected --model alone")
        (_every_text if EVERY_TEXT[0] in text else _next_token)(text, model, json=json)
    if model is not None:
        raise InputError("--model beside a certificate about keys or heads: it goes with one about every text")
    from headwright.verification import verify as check

    asked = _asked(world, rules, copy, average, at_least, eps, scale, confidence)
    files = [_npy(path) for path in keys or []]
    if asked is not None and asked.world is not None:
        files += [_as_npy(scenario) for scenario in asked.world.scenarios]
    with progress("checking") as report:
        verdict = check(text, files, checker, report)
    compared = None
    if verdict.word == "verified" and asked is not None:
        from headwright.comparison import compare

        compared = compare(text, asked)
    _show(verdict, compared, json=json)
    raise typer.Exit(EXIT["rejected" if compared is not None and compared.differences else verdict.word])


def _every_text(text: str, model: str | None, *, json: bool) -> NoReturn:
    """A statement about every text is looked at again from the weights, which the model has."""
    from headwright.models.loading import load_model
    from headwright.models.texts.checker import judged
    from headwright.models.texts.read_layer import first_layer
    from headwright.models.texts.run_statement import run_against
    from headwright.models.texts.statement import read

    statement = read(text)
    if model is None:
        raise InputError(f"the certificate is about a model: add --model {statement.model}")
    loaded = load_model(model)
    layer = first_layer(loaded, min(statement.length, loaded.longest or statement.length))  # or it is rejected
    with progress("looking at every token at every place") as fraction:
        word, words = judged(statement, layer, fraction)
    _show_every_text(word, words, run_against(loaded, layer, statement) if word == "verified" else 0, json=json)


def _next_token(text: str, model: str | None, *, json: bool) -> NoReturn:
    """What induction does is bounded again, part by part, from the weights."""
    from headwright.models.loading import load_model
    from headwright.models.texts.checker import DoubtError
    from headwright.models.texts.checker.next_token import check_claims
    from headwright.models.texts.next_token_proof import run_against_claims
    from headwright.models.texts.next_token_statement import read, weights_of

    statement = read(text)
    if model is None:
        raise InputError(f"the certificate is about a model: add --model {statement.model}")
    loaded = load_model(model)
    weights = weights_of(loaded)
    try:
        with progress(f"bounding {len(statement.claims)} groups") as fraction:
            check_claims(statement, weights, fraction)
    except DoubtError as error:
        _show_every_text("rejected", str(error), 0, json=json)
    _show_every_text("verified", statement.words(), run_against_claims(loaded, statement), json=json)


def _show_every_text(word: str, words: str, runs: int, *, json: bool) -> NoReturn:
    if json:
        show_json({"verdict": word, "words": words, "checkers": ["every text"], "runs": runs})
    else:
        agrees = f". The model itself, run in float64 on {runs} such texts, agrees" if runs else ""
        show_line(f"{word} (every-text checker): {words}{agrees}")
    raise typer.Exit(EXIT[word])


def _asked(
    world: Path | None, rules: Path | None, copy: int | None, average: str | None, at_least: str | None,
    eps: str | None, scale: str | None, confidence: str | None,
) -> Expected | None:  # fmt: skip
    """What is thought to be proved; None where nothing is said about it."""
    wish = read_wish(copy, average, at_least, eps)
    if wish is None and all(option is None for option in (world, rules, scale, confidence)):
        return None
    from headwright.comparison import Expected
    from headwright.noise import read_world
    from headwright.weights import read_rules
    from headwright.weights.circuit import read_circuit

    if rules is not None and not (wish is None and world is None and scale is None and confidence is None):
        raise InputError("--rules beside --world, --scale, --confidence or a wish: these are about keys, expected one")
    sure = None if confidence is None else read_number(confidence, "--confidence")
    if sure is not None and not 0 < sure <= 1:
        raise InputError(f"--confidence {confidence}: expected a probability above 0, at most 1")
    return Expected(
        wish,
        None if world is None else read_world(world),
        None if scale is None else read_number(scale, "--scale"),
        sure,
        None if rules is None else read_circuit(rules) or read_rules(rules),
    )


def _npy(path: Path) -> bytes:
    """Keys as the checkers take them: rows of float64. Nothing is rounded, or the file is refused."""
    return _as_npy(read_keys(path))


def _as_npy(keys: np.ndarray) -> bytes:
    from headwright.queries.certify import as_npy

    return as_npy(keys)


def _show(verdict: Verdict, compared: Comparison | None, *, json: bool) -> None:
    differs = compared is not None and bool(compared.differences)
    word = "rejected" if differs else verdict.word
    words = verdict.words
    if compared is not None and differs:
        words = f"it proves something else than was asked: {'; '.join(compared.differences)}. What it proves: {words}"
    elif compared is not None:
        words += " That is what was asked" + (
            f", and more: {'; '.join(compared.notes)}." if compared.notes else "."
        )  # fmt: skip
        words += f" Not asked about: {'; '.join(compared.unasked)}." if compared.unasked else ""
    if json:
        told: dict[str, object] = {"verdict": word, "words": words, "checkers": list(verdict.checkers)}
        if compared is not None:
            told |= {"differences": compared.differences, "notes": compared.notes, "unasked": compared.unasked}
        show_json(told)
    else:
        show_line(f"{word} ({verdict.by}): {words}")
