"""The API as an OpenAPI 3.1 document, made from the calls of the views."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from headwright import __version__
from headwright.lab.view import ApiCall

SCHEMAS = "#/components/schemas"
RESPONSES = {
    "200": {"description": "the answer: what the command line prints with --json"},
    "4XX": {
        "description": 'refused: {"error": a sentence, "where": the field it is about, or null}'
    },
    "503": {"description": "no answer: too many requests, time limit or memory limit"},
}


def openapi_document(calls: Iterable[ApiCall]) -> dict[str, Any]:
    """The document that /api/openapi.json serves.

    >>> from headwright.lab.calls import CALLS
    >>> "/api/design" in openapi_document(CALLS.values())["paths"]
    True
    """
    schemas: dict[str, Any] = {}
    paths: dict[str, Any] = {}
    for call in calls:
        schema = call.request.model_json_schema(ref_template=f"{SCHEMAS}/{{model}}")
        for name, shape in {
            **schema.pop("$defs", {}),
            call.request.__name__: schema,
        }.items():
            schemas[name] = {
                **shape,
                "description": shape.get("description", "").partition("\n\n>>>")[0],
            }
        content = {
            "application/json": {
                "schema": {"$ref": f"{SCHEMAS}/{call.request.__name__}"}
            }
        }
        about = {
            "operationId": call.name,
            "summary": call.summary,
            "responses": RESPONSES,
        }
        paths[f"/api/{call.name}"] = {
            "post": {**about, "requestBody": {"required": True, "content": content}}
        }
    info = {"title": "Headwright's lab", "version": __version__}
    return {
        "openapi": "3.1.0",
        "info": info,
        "paths": paths,
        "components": {"schemas": schemas},
    }
