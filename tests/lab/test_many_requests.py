"""Thousands of odd requests, and many users at once: no 500, nothing leaks, and every answer is an answer.

`python -m bench.lab load` has the fifty users for a minute, and says how long they wait.
"""

from __future__ import annotations

import json
import threading
import time
import urllib.error
import urllib.request
from typing import Any

import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis import GenerationMode

from headwright.lab.calls import CALLS

QUIET = settings(
    deadline=None,
    database=None,
    suppress_health_check=list(HealthCheck),
    print_blob=False,
)
LEAKS = ("Traceback", 'File "', "site-packages", "/src/headwright")


def _document() -> dict[str, Any]:
    """The calls as an OpenAPI document, from which odd requests are made."""
    schemas: dict[str, Any] = {}
    paths: dict[str, Any] = {}
    for call in CALLS.values():
        name = call.request.__name__
        schema = call.request.model_json_schema(
            ref_template="#/components/schemas/{model}"
        )
        schemas |= schema.pop("$defs", {})
        schemas[name] = schema
        body = {"schema": {"$ref": f"#/components/schemas/{name}"}}
        paths[f"/api/{call.name}"] = {
            "post": {
                "responses": {"default": {"description": "an answer or a refusal"}},
                "requestBody": {
                    "required": True,
                    "content": {"application/json": body},
                },
            }
        }
    return {
        "openapi": "3.1.0",
        "info": {"title": "the lab", "version": "1"},
        "paths": paths,
        "components": {"schemas": schemas},
    }


def _look(response: Any) -> None:
    assert response.status_code < 500 or response.status_code == 503, response.text
    assert not any(leak in response.text for leak in LEAKS), response.text
    assert response.headers["content-security-policy"]
    json.loads(response.text)


@pytest.mark.slow
@pytest.mark.parametrize("mode", [GenerationMode.NEGATIVE, GenerationMode.POSITIVE])
@pytest.mark.parametrize("call", list(CALLS))
@pytest.mark.filterwarnings("ignore")  # what schemathesis says about its own plans
def test_odd_requests_get_a_sentence(lab: str, call: str, mode: GenerationMode) -> None:
    schema = schemathesis.openapi.from_dict(_document())
    operation = schema[f"/api/{call}"]["POST"]
    examples = 400 if mode is GenerationMode.NEGATIVE else 40

    @settings(QUIET, max_examples=examples)
    @given(case=operation.as_strategy(generation_mode=mode))
    def check(case: Any) -> None:
        _look(case.call(base_url=lab, timeout=90))

    check()


@pytest.mark.slow
def test_odd_bytes_and_methods_get_a_sentence(lab: str) -> None:
    bodies = [
        b"",
        b"null",
        b"[]",
        b"1",
        b'"x"',
        b"\xff\xfe",
        b"{" * 5000,
        b'{"keys":' + b"[" * 3000,
        b"\x00" * 100_000,
    ]
    kinds = [
        "application/json",
        "application/json; charset=latin-1",
        "text/html",
        "",
        "multipart/form-data",
    ]
    for call in CALLS:
        for body in bodies:
            for kind in kinds:
                response = requests.post(
                    f"{lab}/api/{call}",
                    body,
                    headers={"content-type": kind},
                    timeout=60,
                )
                assert 400 <= response.status_code < 500
                _look(response)
        for method in ("GET", "PUT", "DELETE", "PATCH"):
            assert (
                requests.request(method, f"{lab}/api/{call}", timeout=60).status_code
                == 405
            )
    for path in (
        "/nothing",
        "/api/nothing",
        "/design/../api",
        "/static/",
        "/%00",
        "/static/%00",
    ):
        assert 400 <= requests.get(lab + path, timeout=60).status_code < 500


@pytest.mark.slow
def test_fifty_users_at_once_are_all_answered(lab: str, seconds: float = 8.0) -> None:
    eye = [[float(i == j) for j in range(8)] for i in range(8)]
    random = [{"key": 0, "scale": {"normal": [1.0, 0.5]}}]
    questions: list[tuple[str, dict[str, Any]]] = [
        ("design", {"keys": eye, "average": [0, 1]}),
        ("design", {"keys": [[1.0, 0.0], [-1.0, 0.0], [0.5, 0.0]], "copy": 2}),
        (
            "simulate",
            {
                "keys": eye,
                "queries": eye[:2],
                "uncertainty": random,
                "targets": [0, 1],
                "samples": 2000,
            },
        ),
        ("order", {"tokens": ["a", "dog", "bit"], "order": [2, 0, 1]}),
        ("verify", {"certificate": "{}"}),
    ]
    until, answered, wrong = time.monotonic() + seconds, list[str](), list[str]()

    def user(number: int) -> None:
        turn = number
        while time.monotonic() < until:
            call, body = questions[turn % len(questions)]
            turn += 1
            request = urllib.request.Request(
                f"{lab}/api/{call}",
                json.dumps(body).encode(),
                {"content-type": "application/json"},
            )
            try:
                with urllib.request.urlopen(request, timeout=120) as reply:
                    json.load(reply)
            except (urllib.error.URLError, OSError) as error:
                wrong.append(f"{call}: {error}")
            answered.append(call)

    users = [threading.Thread(target=user, args=(number,)) for number in range(50)]
    for one in users:
        one.start()
    for one in users:
        one.join()
    assert wrong == []
    assert len(answered) >= 50
