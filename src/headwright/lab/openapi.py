"""The API as an OpenAPI 3.1 document, made from the views."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from headwright import __version__
from headwright.lab.progress import HEADER, NAME
from headwright.lab.view import Call

SHAPES = "#/components/schemas"
REFUSALS = {
    "400": "the body is not JSON",
    "403": "access refused",
    "408": "the body did not arrive in time",
    "413": "the body is too large",
    "415": "the body is not application/json",
    "422": "the input is invalid",
    "503": "no answer: too many requests, time limit or memory limit",
}


def openapi_document(calls: Iterable[Call]) -> dict[str, Any]:
    """The document that /api/openapi.json serves.

    >>> from headwright.lab.calls import CALLS
    >>> "/api/design" in openapi_document(CALLS.values())["paths"]
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
        schema = call.request.model_json_schema(ref_template=f"{SHAPES}/{{model}}")
        for name, shape in {**schema.pop("$defs", {}), call.request.__name__: schema}.items():
            shapes[name] = {**shape, "description": shape.get("description", "").partition("\n\n>>>")[0]}
        answer = {
            "type": "object",
            "required": list(call.returns),
            "properties": {name: {"description": meaning} for name, meaning in call.returns.items()},
        }
        paths[f"/api/{call.name}"] = {
            "post": {
                "operationId": call.name,
                "summary": call.summary,
                "requestBody": {
                    "required": True,
                    "content": _json({"$ref": f"#/components/schemas/{call.request.__name__}"}),
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
            "description": "The answers are what the command line prints with --json.",
        },
        "paths": paths,
        "components": {"schemas": shapes},
    }


def _progress() -> dict[str, Any]:
    """How much of a request is done: the one call that no worker answers."""
    named = {"type": "string", "pattern": f"^{NAME.pattern}$"}
    progress = {
        "type": "object",
        "required": ["state", "done"],
        "properties": {
            "state": {
                "enum": ["waiting", "working", "unknown"],
                "description": "unknown: not sent, or answered",
            },
            "done": {"type": ["number", "null"], "description": "fraction done; null where it is not known"},
        },
    }
    return {
        "get": {
            "operationId": "progress",
            "summary": f"Progress of the request that was sent with this name in the header {HEADER}.",
            "parameters": [{"name": "question", "in": "path", "required": True, "schema": named}],
            "responses": {
                "200": {"description": "the progress", "content": _json(progress)},
                "403": {"description": REFUSALS["403"], "content": _json({"$ref": f"{SHAPES}/Error"})},
            },
        }
    }


def _json(schema: dict[str, Any]) -> dict[str, Any]:
    return {"application/json": {"schema": schema}}
