"""headwright verify."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

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
    read_targets,
    read_text,
)
from headwright.errors import InputError

if TYPE_CHECKING:
    import numpy as np

    from headwright.certificates.checkers import CertificateVerdict
    from headwright.verification.comparison import Expected, StatementComparison

SHORT = "Verify a certificate against your inputs."
EXAMPLES = (
    "headwright verify copy.json --keys keys.npy --copy 3",
    "headwright verify heads.json --rules previous.toml",
    "headwright verify copy.json --keys keys.npy --checker exact",
)
EXIT = {
    "verified": 0,
    "rejected": 1,
    "unreadable": 2,
    "not confirmed": 3,
    "internal error": 4,
}


def verify(
    certificate: Annotated[
        Path,
        typer.Argument(
            metavar="CERTIFICATE",
            help="The certificate (.json), or - for standard input.",
        ),
    ],
    keys: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="<path>",
            help=f"Keys it must be about {ARRAY}; needed where the certificate does not hold them.",
        ),
    ] = None,
    uncertainty: Annotated[
        Path | None,
        typer.Option(help="Uncertainty model for the keys it must be about (.toml)."),
    ] = None,
    rules: Annotated[
        Path | None, typer.Option(help="Rules for heads it must be about (.toml).")
    ] = None,
    copy: Copy = None,
    average: Average = None,
    at_least: AtLeast = None,
    eps: Eps = None,
    scale: Annotated[
        str | None,
        typer.Option(help="Factor of the scores it must be about, such as 1/8."),
    ] = None,
    confidence: Annotated[
        str | None, typer.Option(help="Probability it must hold with.")
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(help="The model, for a certificate of `every-text` or `ranges`."),
    ] = None,
    checker: Checker = None,
    budget: Annotated[
        float | None,
        typer.Option(
            metavar="<seconds>",
            help="Refuse what is estimated to take longer; 8 MiB of memory go with each second.",
            show_default="600",
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Verify a certificate: is its statement true, and is it about the keys, targets or rules that you give?"""
    check_checker(checker)
    text = read_text(certificate, "certificate")
    from headwright.certificates.exact.cost import BUDGET
    from headwright.verification.verify import model_named
    from headwright.verification.verify import verify as check

    if model_named(text) is not None:
        of_keys = {
            "--keys": keys,
            "--uncertainty": uncertainty,
            "--rules": rules,
            "--copy": copy,
            "--average": average,
            "--eps": eps,
            "--at-least": at_least,
            "--scale": scale,
            "--confidence": confidence,
            "--checker": checker,
        }
        for option, value in of_keys.items():
            if value is not None:
                raise InputError(
                    f"{option} beside a certificate about every text: expected --model alone"
                )
    elif model is not None:
        raise InputError(
            "--model beside a certificate about keys or heads: it goes with one about every text"
        )
    asked = _asked(uncertainty, rules, copy, average, at_least, eps, scale, confidence)
    files = [_npy(path) for path in keys or []]
    if asked is not None and asked.uncertainty is not None:
        files += [_as_npy(scenario) for scenario in asked.uncertainty.scenarios]
    with progress("checking") as report:
        verdict = check(
            text,
            files,
            checker,
            report,
            model=model,
            budget=BUDGET if budget is None else budget,
        )
    compared = None
    if verdict.word == "verified" and asked is not None:
        from headwright.verification.compare import compare

        compared = compare(text, asked)
    _show(verdict, compared, json=json)
    raise typer.Exit(
        EXIT[
            "rejected"
            if compared is not None and compared.differences
            else verdict.word
        ]
    )


def _asked(
    uncertainty: Path | None,
    rules: Path | None,
    copy: int | None,
    average: str | None,
    at_least: str | None,
    eps: str | None,
    scale: str | None,
    confidence: str | None,
) -> Expected | None:
    """What is thought to be proved; None where nothing is said about it."""
    targets = read_targets(copy, average, at_least, eps)
    if targets is None and all(
        option is None for option in (uncertainty, rules, scale, confidence)
    ):
        return None
    from headwright.verification.comparison import Expected  # noqa: I001
    from headwright.head_design import read_rules
    from headwright.head_design.circuit import read_circuit
    from headwright.uncertainty import read_uncertainty

    if rules is not None and not (
        targets is None and uncertainty is None and scale is None and confidence is None
    ):
        raise InputError(
            "--rules beside --uncertainty, --scale, --confidence or a target: these are about keys, expected one"
        )
    sure = None if confidence is None else read_number(confidence, "--confidence")
    if sure is not None and not 0 < sure <= 1:
        raise InputError(
            f"--confidence {confidence}: expected a probability above 0, at most 1"
        )
    return Expected(
        targets,
        None if uncertainty is None else read_uncertainty(uncertainty),
        None if scale is None else read_number(scale, "--scale"),
        sure,
        None if rules is None else read_circuit(rules) or read_rules(rules),
    )


def _npy(path: Path) -> bytes:
    """Keys as the checkers take them: rows of float64. Nothing is rounded, or the file is refused."""
    return _as_npy(read_keys(path))


def _as_npy(keys: np.ndarray) -> bytes:
    from headwright.query_design.certify import as_npy

    return as_npy(keys)


def _show(
    verdict: CertificateVerdict, compared: StatementComparison | None, *, json: bool
) -> None:
    differs = compared is not None and bool(compared.differences)
    word = "rejected" if differs else verdict.word
    words = verdict.words
    if compared is not None and differs:
        words = f"it proves something else than was asked: {'; '.join(compared.differences)}. What it proves: {words}"
    elif compared is not None:
        words += " That is what was asked" + (
            f", and more: {'; '.join(compared.notes)}." if compared.notes else "."
        )
        words += (
            f" Not asked about: {'; '.join(compared.unasked)}."
            if compared.unasked
            else ""
        )
    if verdict.runs and not json:
        words += (
            f". The model itself, run in float64 on {verdict.runs} such texts, agrees"
        )
    if json:
        as_json: dict[str, object] = verdict.to_json() | {
            "verdict": word,
            "words": words,
        }
        if compared is not None:
            as_json |= {
                "differences": compared.differences,
                "notes": compared.notes,
                "unasked": compared.unasked,
            }
        show_json(as_json)
    else:
        show_line(f"{word} ({verdict.by}): {words}")
