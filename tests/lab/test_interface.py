"""The interface: what it says is what the command line says; what is malformed gets a sentence, never a 500."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import headwright
from tests.cli.running import Headwright

__all__ = ["headwright"]  # the command line, as a fixture
KEYS = [[1.0, 0.0], [0.0, 1.0], [-0.5, -0.5]]


def ask(lab: str, call: str, body: Any, **headers: str) -> tuple[int, dict[str, Any]]:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    request = urllib.request.Request(
        f"{lab}/api/{call}", data, {"content-type": "application/json", **headers}
    )
    try:
        with urllib.request.urlopen(request) as reply:
            return reply.status, json.load(reply)
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)


def test_design_says_what_the_command_line_says(
    lab: str, headwright: Headwright, tmp_path: Path
) -> None:
    (tmp_path / "keys.json").write_text(json.dumps(KEYS))
    said = headwright(
        "design",
        "--keys",
        str(tmp_path / "keys.json"),
        "--average",
        "0,1",
        "--eps",
        "0.05",
        "--json",
    )
    status, found = ask(lab, "design", {"keys": KEYS, "average": [0, 1], "eps": "0.05"})
    assert status == 200
    assert {**found, "certificate": None} == {**said.json, "mixing": None}


def test_certificates_of_the_lab_pass_the_checker_and_tampered_ones_do_not(
    lab: str,
) -> None:
    certificate = ask(lab, "design", {"keys": KEYS, "copy": 0})[1]["certificate"]
    assert ask(lab, "verify", {"certificate": certificate})[1]["verdict"] == "verified"
    shorter = json.loads(certificate)
    shorter["statement"]["none_shorter"] = "1000"
    assert (
        ask(lab, "verify", {"certificate": json.dumps(shorter)})[1]["verdict"]
        == "rejected"
    )


def test_a_certificate_about_every_text_is_looked_at_by_its_own_checker(
    lab: str, headwright: Headwright, tmp_path: Path
) -> None:
    path = tmp_path / "floor.json"
    assert (
        headwright(
            "every-text", "builtin:induction", "--length", "6", "--out", str(path)
        ).code
        == 0
    )
    document = json.loads(path.read_text())
    found = ask(lab, "verify", {"certificate": path.read_text()})[1]
    assert (found["verdict"], found["checkers"]) == ("verified", ["every text"])
    document["statement"]["bound"] = "0.999"
    assert (
        ask(lab, "verify", {"certificate": json.dumps(document)})[1]["verdict"]
        == "rejected"
    )
    document["statement"]["model"] = "another"
    status, said = ask(lab, "verify", {"certificate": json.dumps(document)})
    assert status == 422 and "headwright verify FILE --model another" in said["error"]
    document["statement"] |= {"model": "builtin:induction", "head": None}
    assert (
        ask(lab, "verify", {"certificate": json.dumps(document)})[1]["verdict"]
        == "unreadable"
    )


def test_a_key_that_is_named_twice_is_refused(lab: str) -> None:
    status, said = ask(
        lab, "design", {"keys": KEYS, "at_least": {"0": "0.5", "00": "0.1"}}
    )
    assert status == 422 and "names a key twice" in said["error"]


def test_an_impossible_targets_shows_what_the_target_is_made_of(lab: str) -> None:
    found = ask(
        lab, "design", {"keys": [[1.0, 0.0], [-1.0, 0.0], [0.5, 0.0]], "copy": 2}
    )[1]
    assert found["verdict"] == "impossible"
    assert found["mixing"] == {"targets": {"2": 1.0}, "of": {"0": 0.75, "1": 0.25}}


@pytest.mark.parametrize(
    ("body", "status", "where", "words"),
    [
        (b"{", 400, None, "not JSON"),
        (b'{"keys": [[NaN]], "copy": 0}', 400, None, "NaN"),
        (b'{"keys": [[1e999]], "copy": 0}', 400, None, "too large"),
        (b'{"keys": [[1]], "keys": [[2]], "copy": 0}', 400, None, "twice"),
        (b"[" * 100_000, 400, None, ""),
        ({"copy": 0}, 422, "keys", "missing"),
        ({"keys": KEYS, "copy": 0, "more": 1}, 422, "more", "no such field"),
        ({"keys": KEYS, "copy": 7}, 422, None, "there are 3 keys"),
        ({"keys": KEYS, "copy": 0, "eps": "0"}, 422, "eps", "more than 0"),
        ({"keys": KEYS, "copy": 0, "scale": "x"}, 422, "scale", "expected a number"),
        ({"keys": KEYS}, 422, None, "one target"),
        ({"keys": [[1.0], [1.0, 2.0]], "copy": 0}, 422, "keys", "different lengths"),
        ({"keys": [[10**400]], "copy": 0}, 422, "keys", ""),
        ({"keys": KEYS, "at_least": {"0": "\ud800"}}, 422, "at_least", ""),
    ],
)
def test_what_cannot_be_used_is_told_in_a_sentence(
    lab: str, body: Any, status: int, where: str, words: str
) -> None:
    code, said = ask(lab, "design", body)
    assert (code, said["where"]) == (status, where)
    assert words in said["error"]
    assert "Traceback" not in said["error"]


def test_a_body_that_is_too_large_is_refused(lab: str) -> None:
    code, said = ask(lab, "verify", b'{"certificate": "' + b"x" * (5 * 2**20) + b'"}')
    assert code == 413
    assert "too large" in said["error"]


@pytest.mark.parametrize(
    "headers",
    [
        {"host": "evil.example"},
        {"origin": "http://evil.example"},
        {"sec-fetch-site": "cross-site"},
    ],
)
def test_pages_of_other_sites_are_refused(lab: str, headers: dict[str, str]) -> None:
    assert ask(lab, "verify", {"certificate": "{}"}, **headers)[0] == 403


def test_another_type_than_json_is_refused(lab: str) -> None:
    request = urllib.request.Request(
        f"{lab}/api/verify", b"{}", {"content-type": "text/plain"}
    )
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(request)
    assert refused.value.code == 415
    refused.value.close()


def test_every_page_carries_a_policy_without_inline_scripts_and_eval(lab: str) -> None:
    with urllib.request.urlopen(f"{lab}/design") as page:
        policy = page.headers["content-security-policy"]
        text = page.read().decode()
    assert "script-src 'self';" in policy
    assert "unsafe" not in policy
    assert "<script>" not in text
    assert " onclick" not in text


def test_files_beside_the_pages_are_not_served(lab: str) -> None:
    for path in ("/static/../app.py", "/static/%2e%2e/app.py", "/static/..%2fapp.py"):
        with pytest.raises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(f"{lab}{path}")
        assert refused.value.code == 404
        refused.value.close()


@pytest.mark.parametrize(
    ("path", "accept", "host", "status", "kind"),
    [
        ("/desing", "text/html,*/*", None, 404, "text/html"),
        ("/desing", "*/*", None, 404, "text/html"),
        ("/static/no.js", "*/*", None, 404, "text/html"),
        ("/api/desing", "text/html,*/*", None, 404, "text/html"),
        ("/api/desing", "*/*", None, 404, "application/json"),
        ("/api/design", "text/html,*/*", None, 405, "text/html"),
        ("/api/design", "*/*", None, 405, "application/json"),
        ("/", "text/html,*/*", "evil.example", 403, "text/html"),
        ("/", "*/*", "evil.example", 403, "application/json"),
    ],
)
def test_errors_are_pages_for_browsers_and_json_for_the_api(
    lab: str, path: str, accept: str, host: str | None, status: int, kind: str
) -> None:
    headers = {"accept": accept, **({"host": host} if host else {})}
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(urllib.request.Request(lab + path, headers=headers))
    assert refused.value.code == status
    assert refused.value.headers["content-type"].startswith(kind)
    text = refused.value.read().decode()
    if kind == "application/json":
        assert json.loads(text)["error"]
    else:
        assert "<h1>" in text
        assert status == 403 or path in text
