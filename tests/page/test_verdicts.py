"""Python in the tab decides as the command line does: answers and certificates."""

from __future__ import annotations  # noqa: I001

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from headwright.verification.verify import verify
from headwright.tour.demonstrations import shortest
from tests.page.served import Opened

TESTS = Path(__file__).parents[1]
ANSWERS = [
    json.loads(line)
    for line in (TESTS / "grading" / "answers.jsonl").read_text().splitlines()
]
EVERY = 26  # thirty of them
CORPUS = [
    "accept/copy.json",
    "accept/average.json",
    "reject",
    "malformed",
    "head-accept",
    "head-reject",
]
BESIDE = {
    "file",
    "seconds",
    "shown",
    "text",
}  # of an answer: where it was, how long it took, how it looks


def command_line(*arguments: str) -> Any:
    command = [
        sys.executable,
        "-c",
        "from headwright.cli import main; main()",
        *arguments,
        "--json",
    ]
    return json.loads(subprocess.run(command, capture_output=True, text=True).stdout)


def same(shared: Opened, answers: list[dict[str, str]], folder: Path) -> None:
    texts = [f"## {one['exercise']}\n\n{one['text']}\n" for one in answers]
    for number, text in enumerate(texts):
        (folder / f"{number:04}.md").write_text(text)
    told = command_line("check", *map(str, sorted(folder.glob("*.md"))))
    expected = {Path(one["file"]).stem: one for one in told["answers"]}
    for number, text in enumerate(texts):
        found = shared.ask("document", text=text)["answers"]
        assert len(found) == (f"{number:04}" in expected), text
        for one in found:
            wanted = expected[f"{number:04}"]
            assert {k: v for k, v in one.items() if k not in BESIDE} == {
                k: v for k, v in wanted.items() if k not in BESIDE
            }, text


def test_thirty_labelled_answers_are_judged_as_by_the_command_line(
    shared: Opened, tmp_path: Path
) -> None:
    same(shared, ANSWERS[::EVERY], tmp_path)


@pytest.mark.slow
def test_all_labelled_answers_are_judged_as_by_the_command_line(
    shared: Opened, tmp_path: Path
) -> None:
    same(shared, ANSWERS, tmp_path)


def certificates() -> list[Path]:
    found = [TESTS / "certificates" / "corpus" / name for name in CORPUS]
    return [
        path
        for one in found
        for path in (sorted(one.glob("*.json"))[:8] if one.is_dir() else [one])
    ]


def test_certificates_are_verified_as_by_the_command_line(shared: Opened) -> None:
    for path in certificates():
        text = path.read_text()
        assert (
            shared.ask("verify", certificate=text)
            == verify(text, checker="exact").to_json()
        ), path.name


def test_the_certificate_of_the_tour_is_verified_and_a_changed_one_rejected(
    shared: Opened, tmp_path: Path
) -> None:
    shortest(tmp_path)
    path = tmp_path / "certificate.json"
    found = shared.ask("verify", certificate=path.read_text())
    assert found == command_line("verify", str(path), "--checker", "exact")
    assert found["verdict"] == "verified"
    assert "sha256" in found["words"]
    document = json.loads(path.read_text())
    document["statement"]["targets"]["eps"] = "1/1000000"
    changed = shared.ask("verify", certificate=json.dumps(document))
    assert changed["verdict"] in ("rejected", "unreadable")
    assert changed == verify(json.dumps(document), checker="exact").to_json()


def test_what_runs_in_the_browser_needs_no_module_that_is_missing_there() -> None:
    """Without these modules, Python here answers as Python in a tab, where Pyodide itself may have loaded some."""
    code = (
        "import sys; sys.modules |= dict.fromkeys(['numpy', 'subprocess', 'signal', 'resource', 'multiprocessing'])\n"
        "from headwright.page.answering import answer\n"
        "import headwright.grading, headwright.certificates.exact.verify\n"
        'print(answer(\'{"call": "check", "given": {"text": "q = k_a", "exercise": "averaging-two"}}\')[:60])'
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert '"answers"' in ran.stdout, ran.stdout + ran.stderr
