"""Two layers: what induction does in every text of a kind, the next token (--predict) or weights (--repeat)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from headwright.cli.console import progress, resumable, say, show_json
from headwright.cli.every_text.induction_printing import as_data, print_results
from headwright.cli.every_text.questions import InductionQuestion, OutputOptions
from headwright.cli.every_text.reading import check_spelling
from headwright.errors import InputError

if TYPE_CHECKING:
    from headwright.models.model import Model
    from headwright.text_bounds.induction.groups import TextGroup
    from headwright.text_bounds.induction.results import GroupResult

ALL = "all"
EXIT_FALSE = 1
EXIT_OPEN = 3


def prove_induction(
    model: Model, question: InductionQuestion, output: OutputOptions, *, resume: bool
) -> None:
    """Search, check, print; and write the certificate of the longest texts."""
    from headwright.auditing.engine.part_cache import cache_folder
    from headwright.text_bounds.induction.parts import GroupPartStore
    from headwright.text_bounds.induction.prove import prove_groups
    from headwright.text_bounds.induction.weights import weights_of

    weights_of(model)  # others are refused before anything is read
    heads = _heads(model, question)
    is_all = question.option == "--predict" and question.words == ALL
    tokens = None if is_all else _tokens(model, question)
    store = GroupPartStore(cache_folder() / "texts", resume)
    results: dict[int, list[GroupResult]] = {}
    with resumable():
        for length in _lengths(question):
            groups = _groups(model, question, length, tokens)
            with progress(f"every text of {length} tokens") as fraction:
                results[length] = prove_groups(
                    model, length, groups, heads=heads, store=store, progress=fraction
                )
    if output.json:
        show_json(as_data(model, results))
    else:
        print_results(model, results)
    if output.out is not None:
        _write_certificate(model, question.length, results[question.length], output.out)
    store.clear()
    verdicts = {result.verdict for some in results.values() for result in some}
    if "false" in verdicts:
        raise typer.Exit(EXIT_FALSE)
    raise typer.Exit(EXIT_OPEN if "open" in verdicts else 0)


def _heads(model: Model, question: InductionQuestion) -> Sequence[int | None]:
    """Of the second layer; None asks for the next token."""
    if question.option == "--predict":
        return [None]
    return list(range(model.heads)) if question.heads is None else question.heads


def _lengths(question: InductionQuestion) -> list[int]:
    from headwright.text_bounds.induction.prove import SHORTEST

    if not question.by_length:
        return [question.length]
    return sorted({*range(SHORTEST, question.length, 2), question.length})


def _tokens(model: Model, question: InductionQuestion) -> list[int]:
    """a, b and perhaps c."""
    option = question.option
    words = question.words
    check_spelling(model, words, option)
    opening = {int(token) for token in model.bos_tokens()}
    tokens = [int(token) for token in model.encode(words) if int(token) not in opening]
    if not 2 <= len(tokens) <= 3 or tokens[0] in tokens[1:]:
        or_all = ", or all" if option == "--predict" else ""
        raise InputError(
            f"{option} {words!r}: expected two different tokens of {model.name}, and perhaps the one "
            f"before the first of them comes again{or_all}"
        )
    return tokens


def _groups(
    model: Model, question: InductionQuestion, length: int, tokens: list[int] | None
) -> list[TextGroup]:
    """With b at one place or any; for weights, with each token before the end, unless it is given."""
    from headwright.text_bounds.induction.groups import TextGroup
    from headwright.text_bounds.induction.prove import all_groups

    groups = all_groups(model, length)
    if question.offset is not None:
        groups = [group for group in groups if group.j == length - 1 - question.offset]
        if not groups:
            raise InputError(
                f"--offset {question.offset}: expected 1 to {length - 2 - len(model.bos_tokens())}"
            )
    if tokens is None:
        return groups
    a, b, *named = tokens
    before_end: list[int | None] = [None]
    if named:
        before_end = [*named]
    elif question.option == "--repeat":
        before_end = [int(token) for token in model.regular_tokens() if token != a]
    chosen = []
    for group in groups:
        if (group.a, group.b) != (a, b):
            continue
        # Where b is the last before the end, there is no place for another token.
        choices = [None] if group.j == length - 2 else before_end
        chosen += [TextGroup(a, b, group.j, c) for c in choices]
    return chosen


def _write_certificate(
    model: Model, length: int, results: Sequence[GroupResult], path: Path
) -> None:
    from headwright.files import write_whole
    from headwright.text_bounds.induction.results import statement_of
    from headwright.text_bounds.induction.statement import write_statement

    statement = statement_of(model, length, results)
    if statement is None:
        say(
            f"Nothing was proved of texts of {length} tokens: no certificate is written."
        )
        return
    write_whole(path, write_statement(statement).encode())
    say(
        f"The certificate is in {path}. Verify it:",
        f"headwright verify {path} --model {model.name}",
    )
