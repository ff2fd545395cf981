"""The pictures of these pages, drawn anew from the code as it stands, and their text alternatives with them.

python docs/site/pictures.py     a minute; pictures of the lab's views are screenshots and are not drawn here
"""

from __future__ import annotations

import html
import json
import re
import runpy
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from headwright import head_design, pictures
from headwright.tour import chapters

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "docs" / "pictures"
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
OF_TOUR = {
    "large-enough": "pattern",
    "answers": "published-answer",
    "shortest": "plane",
    "one-head": "one-head",
    "two-heads": "two-heads",
    "robust": "robust",
    "positions": "positions",
    "rank": "spectrum",
}
HEADS = ("route", "previous", "induction", "lookup", "majority")


def drawn() -> Iterator[tuple[str, bytes]]:
    """Name after name, with the picture."""
    with tempfile.TemporaryDirectory() as folder:
        for chapter in chapters(Path(folder)):
            name = chapter.name.partition("-")[2]
            if name in OF_TOUR:
                yield OF_TOUR[name], pictures.render(chapter.picture, ".svg")
        path = Path(folder) / "every-length.svg"
        command = (
            "every-text",
            "builtin:induction",
            "--length",
            "32",
            "--plot",
            str(path),
        )
        subprocess.run(  # noqa: S603
            [sys.executable, "-m", "headwright", *command],
            check=True,
            capture_output=True,
        )
        yield "every-length", path.read_bytes()
    yield "conform", _window_off_by_one()
    for name in HEADS:
        rules = head_design.read_rules(ROOT / "examples" / "heads" / f"{name}.toml")
        yield (
            f"head-{name}",
            pictures.render(head_design.build(rules).picture(), ".svg"),
        )
    curve = json.loads((ROOT / "training" / "induction-loss.json").read_text())[
        "loss in nats"
    ]
    loss = runpy.run_path(str(ROOT / "training" / "induction.py"))["drawn"](curve)
    yield "induction-loss", pictures.render(loss, ".svg")


def _window_off_by_one() -> bytes:
    """Error / bound of attention with a window of 129 keys where 128 were asked for."""
    import numpy as np

    from headwright import attention_inputs, conform

    q, k, v = attention_inputs(rows=256, heads=1, dtype="float32")
    distance = np.arange(256)[:, None] - np.arange(256)
    scores = np.where(
        (distance >= 0) & (distance <= 128), q[0, 0] @ k[0, 0].T / 8, -np.inf
    )
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    out = weights / weights.sum(axis=1, keepdims=True) @ v[0, 0]
    verdict = conform(
        out.astype(np.float32), q, k, v, causal=True, window=128, explain=False
    )
    title = "A window of 129 keys instead of 128"
    chart = pictures.conformance_picture(
        verdict.ratios[0, 0], verdict.rows, title, "error divided by its bound"
    )
    return pictures.render(chart, ".svg")


def told(drawing: bytes) -> str:
    """The text alternative that a drawing carries.

    >>> told(b'<svg role="img" aria-label="a &lt; b">')
    'a < b'
    """
    found = re.search(r'aria-label="([^"]*)"', drawing.decode())
    return html.unescape(found[1]) if found else ""


def tell(name: str, words: str) -> None:
    """Give the picture its text alternative wherever a page shows it."""
    shown = re.compile(
        rf"!\[[^\]]*\]\(((?:docs/|\.\./)?pictures/{name})\.(?:png|svg)\)"
    )
    for page in PAGES:
        text = page.read_text()
        new = shown.sub(lambda found: f"![{words}]({found[1]}.svg)", text)
        if new != text:
            page.write_text(new)


def main() -> None:
    """Draw all of them."""
    for name, picture in drawn():
        (FOLDER / f"{name}.svg").write_bytes(picture)
        tell(name, told(picture))


if __name__ == "__main__":
    main()
