"""The interface, described for tools: OpenAPI 3.1, made from the rooms."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from headwright import __version__
from headwright.lab.asking import HEADER, NAME
from headwright.lab.room import Call

SHAPES = "#/components/schemas"
REFUSALS = {
    "400": "the body is not JSON",
    "403": "who asks may not",
    "408": "the body did not arrive in time",
    "413": "the body is too large",
    "415": "the body is of another type than application/json",
    "422": "what was given cannot be used",
    "503": "no answer: too busy, out of time or out of memory",
}


def described(calls: Iterable[Call]) -> dict[str, Any]:
    """The document that /api/openapi.json serves.

    >>> from headwright.lab.rooms import CALLS
    >>> "/api/design" in described(CALLS.values())["paths"]
    True
    """
    shapes: dict[str, Any] = {
        "Error": {
            "type": "object",
            "required": ["error", "where"],
            "properties": {
                "error": {"type": "string", "description": "what is wrong, and what was expected"},
                "where": {"type": ["string", "null"], "description": "the field it is about"},
            },
        }
    }
    paths: dict[str, Any] = {}
    for call in calls:
        schema = call.asks.model_json_schema(ref_template=f"{SHAPES}/{{model}}")
        for name, shape in {**schema.pop("$defs", {}), call.asks.__name__: schema}.items():
            shapes[name] = {**shape, "description": shape.get("description", "").partition("\n\n>>>")[0]}
        answer = {
            "type": "object",
            "required": list(call.returns),
            "properties": {name: {"description": said} for name, said in call.returns.items()},
        }
        paths[f"/api/{call.name}"] = {
            "post": {
                "operationId": call.name,
                "summary": call.summary,
                "requestBody": {
                    "required": True,
                    "content": _json({"$ref": f"#/components/schemas/{call.asks.__name__}"}),
                },
                "responses": {
                    "200": {"description": "the answer", "content": _json(answer)},
                    **{
                        status: {"description": said, "content": _json({"$ref": f"{SHAPES}/Error"})}
                        for status, said in REFUSALS.items()
                    },
                },
            }
        }
    paths["/api/progress/{question}"] = _progress()
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Headwright's lab",
            "version": __version__,
            "description": "What the command line prints with --json, for a page that asks.",
        },
        "paths": paths,
        "components": {"schemas": shapes},
    }


def _progress() -> dict[str, Any]:
    """How far a question is: the one call that no worker answers."""
    named = {"type": "string", "pattern": f"^{NAME.pattern}$"}
    told = {
        "type": "object",
        "required": ["state", "done"],
        "properties": {
            "state": {"enum": ["waiting", "working", "unknown"], "description": "unknown: not asked, or answered"},
            "done": {"type": ["number", "null"], "description": "the part that is done; null where it is not known"},
        },
    }
    return {
        "get": {
            "operationId": "progress",
            "summary": f"How far a question is that was asked with this name in the header {HEADER}.",
            "parameters": [{"name": "question", "in": "path", "required": True, "schema": named}],
            "responses": {
                "200": {"description": "how far it is", "content": _json(told)},
                "403": {"description": REFUSALS["403"], "content": _json({"$ref": f"{SHAPES}/Error"})},
            },
        }
    }


def _json(schema: dict[str, Any]) -> dict[str, Any]:
    return {"application/json": {"schema": schema}}
