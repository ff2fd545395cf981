"""What the base install can do and what it refuses: commands that need an extra, with a word of the refusal."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

import headwright as hw

# The modules of optional packages, torch first.
OPTIONAL = (
    "torch",
    "accelerate",
    "altair",
    "dask",
    "distributed",
    "gguf",
    "huggingface_hub",
    "latex2mathml",
    "mdit_py_plugins",
    "numba",
    "onnx",
    "scipy",
    "starlette",
    "transformers",
    "triton",
    "uvicorn",
    "vl_convert",
    "z3",
)
KEYS = ["--keys", "keys.json"]
UNCERTAINTY = ["--uncertainty", "uncertainty.toml"]
AUDIT = ["audit", "builtin:induction", "--tokens", "200", "--no-every-text"]
# Each command with the extra that it needs.
REFUSED = [
    ("design", ["design", *KEYS, "--copy", "0"]),
    ("design", ["heads", "rules.toml"]),
    ("design", ["audit", "builtin:induction", "--explain", "1.0"]),
    ("check", ["check", "--exercise", "averaging-two", "--formula", "q = k_a"]),
    ("check", ["check", "--make-autograder", "autograder.zip"]),
    ("check", ["exercises", "--lint", "mine.toml"]),
    ("check", ["exercises", "--out", "statements.html"]),
    ("check", ["page", "--out", "page"]),
    ("plots", ["attend", *KEYS, "--query", "query.json", "--plot", "a.svg"]),
    ("plots", ["positions", "--length", "9", "--dim", "4", "--plot", "a.svg"]),
    ("plots", ["lowrank", "keys.json", "--rank", "1", "--plot", "a.svg"]),
    ("plots", [*AUDIT, "--plot", "maps.svg"]),
    ("plots", [*AUDIT, "--out", "report.html"]),
    ("plots", ["every-text", "builtin:induction", "--length", "4", "--plot", "a.svg"]),
    ("audit", ["audit", "owner/name"]),
    ("cluster", [*AUDIT, "--engine", "dask"]),
    ("lab", ["lab"]),
    ("tour", ["tour"]),
]
WORKING = [
    ["attend", *KEYS, "--query", "query.json"],
    ["simulate", *KEYS, "--query", "query.json", "--targets", "0", *UNCERTAINTY],
    ["positions", "--length", "9", "--dim", "4"],
    ["lowrank", "keys.json", "--rank", "1"],
    AUDIT,
    ["every-text", "builtin:induction", "--length", "4"],
    ["verify", "certificate.json"],
    ["exercises", "averaging-two"],
    ["doctor"],
]
# What a notebook or a program calls: an expression, and the extra that it needs.
CALLS = [
    ("design", "hw.design(np.eye(3), hw.copy(0))"),
    ("check", "hw.check('averaging-two', 'q = k_a')"),
    ("plots", "hw.pictures.pattern_bars(np.eye(2))"),
    ("audit", "hw.load_model('owner/name')"),
    ("torch", "hw.watch(None)"),
    ("torch", "hw.conforming(None)"),
]


def write_inputs(folder: Path) -> None:
    """The files that the commands name, with a certificate that needs SciPy to be made and none to be verified."""
    (folder / "keys.json").write_text(json.dumps([[1, 0], [0, 1], [-1, 0.5]]))
    (folder / "query.json").write_text(json.dumps([3, 3]))
    (folder / "uncertainty.toml").write_text(NOISE)
    (folder / "rules.toml").write_text(RULES)
    certificate = hw.design(np.eye(2), hw.copy(0)).certificate
    assert certificate is not None
    (folder / "certificate.json").write_text(certificate)


NOISE = """
[[noise]]
key = 0
scale = { normal = [1.0, 0.5] }
"""
RULES = """
directions = { a = 2.0, b = 2.0 }
tokens = ["a", "b"]
rule = [{ token = 0, output = "b" }]
"""
