"""Documents of the format with an odd piece somewhere: an empty list, a huge number, a thing of another type."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

CORPUS = Path(__file__).parents[1] / "certificates" / "corpus"
LONG = f"0x{'8' * 5000}/0x{'8' * 4999}7"  # Python does not write such numbers in decimal digits
ODD: list[Any] = [
    [],
    {},
    "",
    None,
    True,
    False,
    0,
    1,
    -1,
    2**63,
    -(2**70),
    10**400,
    "0",
    "-1",
    "1/3",
    LONG,
    f"-{LONG}",
    f"0x1/0x{'f' * 20_000}",
    f"0x{'f' * 20_000}/0x1",
    "1e999",
    "1e-999",
    "0x1.0p+1023",
    "0x1.0p-1074",
    "0x1p-9999",
    "0x1p+9999",
    "9" * 400,
    "1/0",
    "nan",
    "inf",
    "*",
    "sum",
    "none",
    "\u00e9",
    "\ud800",
    [[]],
    [{}],
    {"": ""},
    {"0": "0"},
    {"0": []},
    {"0": "1"},
    {"0": LONG},
    {str(2**40): "1"},
    [0],
    [0, 0],
    ["0"],
    [None],
    ["1", "1"],
]


def places(node: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Where something stands in a document."""
    inside = (
        node.items()
        if isinstance(node, dict)
        else enumerate(node)
        if isinstance(node, list)
        else ()
    )
    for name, child in inside:
        yield (*path, name)
        yield from places(child, (*path, name))


def changed(document: Any, chance: random.Random) -> Any:
    """The document with one odd piece, or one that is left out, or there twice."""
    found = json.loads(json.dumps(document))
    path = chance.choice(list(places(found)))
    node = found
    for name in path[:-1]:
        node = node[name]
    name = path[-1]
    kind = chance.randrange(8)
    if kind == 0:
        del node[name]
    elif kind == 1 and isinstance(node, list):
        node.insert(name, node[name])
    elif kind == 2 and isinstance(node[name], list | dict):
        node[name] = type(node[name])()
    elif kind == 3 and isinstance(node[name], dict):
        node[name] = dict.fromkeys(node[name], chance.choice(ODD))
    else:
        node[name] = chance.choice(ODD)
    return found


def odd_documents(folders: tuple[str, ...], count: int, seed: int) -> Iterator[str]:
    """So many documents, each made of one that is true, with one or two changes."""
    chance = random.Random(seed)
    bases = [
        path.read_text()
        for folder in folders
        for path in sorted((CORPUS / folder).glob("*.json"))
    ]
    small = [json.loads(text) for text in bases if len(text) < 20_000]
    for _ in range(count):
        document = changed(chance.choice(small), chance)
        if chance.random() < 0.3:
            document = changed(document, chance)
        yield json.dumps(document)
