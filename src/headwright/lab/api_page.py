"""The API described for people: a page made from the OpenAPI document."""

from __future__ import annotations

import html
import json
from collections.abc import Mapping, Sequence
from typing import Any


def api_page(document: Mapping[str, Any], base: str) -> str:
    """Every call with its request and response fields, and an example command.

    >>> from headwright.lab.openapi import openapi_document
    >>> from headwright.lab.calls import CALLS
    >>> api_page(openapi_document(CALLS.values()), "http://127.0.0.1:8417").count("<h2")
    16
    """
    shapes = document["components"]["schemas"]
    body = json.dumps({"keys": [[1, 0], [0, 1], [-1, -1]], "copy": 0})
    example = f"curl {base.rstrip('/')}/api/design -H 'content-type: application/json' -d '{body}'"
    calls = "\n".join(
        _call(how.upper(), path, call, shapes) for path, ways in document["paths"].items() for how, call in ways.items()
    )
    return (
        '<section class="hero"><h1>HTTP API</h1><p class="lead">The calls that the pages of the lab make. Answers are '
        "what the command line prints with <code>--json</code>. For tools: "
        f'<a href="/api/openapi.json">openapi.json</a>.</p><pre>{html.escape(example)}</pre></section>\n{calls}'
    )


def _call(how: str, path: str, call: Mapping[str, Any], shapes: Mapping[str, Any]) -> str:
    body = shapes[_named(call["requestBody"])] if "requestBody" in call else {}
    answered = call["responses"]["200"]["content"]["application/json"]["schema"]
    required = body.get("required", ())
    takes = [
        (name, _kind(field), "required" if name in required else _default(field), field.get("description", ""))
        for name, field in body.get("properties", {}).items()
    ]
    gives = [(name, field.get("description", "")) for name, field in answered["properties"].items()]
    return (
        f'<section class="panel call"><h2 id="{call["operationId"]}"><code>{how} {html.escape(path)}</code></h2>'
        f"<p>{html.escape(call['summary'])}</p>{_table('request', takes)}{_table('response', gives)}</section>"
    )


def _named(body: Mapping[str, Any]) -> str:
    return str(body["content"]["application/json"]["schema"]["$ref"]).rpartition("/")[2]


def _table(what: str, rows: Sequence[tuple[str, ...]]) -> str:
    if not rows:
        return ""
    cells = "".join(
        f'<tr><th scope="row"><code>{html.escape(name)}</code></th>'
        f"{''.join(f'<td>{html.escape(cell)}</td>' for cell in more)}</tr>"
        for name, *more in rows
    )
    table = f"<table><caption>{what}</caption><tbody>{cells}</tbody></table>"
    return f'<div class="scroll" tabindex="0" role="region" aria-label="{what}">{table}</div>'


def _kind(field: Mapping[str, Any]) -> str:
    """The type of a field in a word or two."""
    if "anyOf" in field:
        return " or ".join(dict.fromkeys(_kind(one) for one in field["anyOf"] if one.get("type") != "null"))
    if "enum" in field:
        return ", ".join(map(str, field["enum"]))
    if "const" in field:
        return f'"{field["const"]}"'
    if "$ref" in field:
        return str(field["$ref"]).rpartition("/")[2]
    if field.get("type") == "array":
        return f"list of {_kind(field.get('items', {}))}"
    return str(field.get("type", "anything"))


def _default(field: Mapping[str, Any]) -> str:
    value = field.get("default")
    return "" if value is None else json.dumps(value)
