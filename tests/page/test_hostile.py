"""Hostile answers, links and certificates: nothing runs, nothing leaves the tab, one clear sentence."""

from __future__ import annotations

from urllib.parse import quote

import pytest
from playwright.sync_api import expect

from tests.lab.browser import DRAWN
from tests.page.served import PATIENCE, Opened

MARKUP = (
    r"$q = k_a$ </script><script>alert(1)</script> <img src=x onerror=alert(1)>",
    r"$q = k_a$ [click](javascript:alert(1)) <a href='javascript:alert(1)'>here</a> ![x](http://evil.example/x.png)",
    r"$\text{<img src=x onerror=alert(1)>} = q$ $\href{javascript:alert(1)}{q} = k_a$",
    '"><svg onload=alert(1)>\n\n$q = k_a$ <iframe srcdoc="<script>alert(1)</script>"></iframe>',
)


@pytest.mark.parametrize("text", MARKUP)
def test_markup_in_a_shared_link_stays_text(shared: Opened, text: str) -> None:
    page = shared.page
    page.goto(
        f"{shared.address}#exercise=averaging-two&hints=full&answer={quote(text)}"
    )
    expect(page.locator("#field-answer")).to_have_value(text)
    expect(page.locator("#verdict .badge, #verdict .error").first).to_be_visible(
        timeout=PATIENCE
    )
    expect(page.locator("#verdict.stale")).to_have_count(0, timeout=PATIENCE)
    assert (
        page.locator(
            "main :is(script, img, iframe, a[href^=javascript], [onload], [onerror])"
        ).count()
        == 0
    )
    assert shared.said == []


@pytest.mark.parametrize(
    "link",
    [
        "exercise=../../etc/passwd",
        "exercise=%3Cscript%3Ealert(1)%3C/script%3E",
        "hints=everything&answer=" + "x" * 9000,
        "exercise=averaging-two&__proto__=1&constructor=2&answer=%24q%24",
        "%E0%A4%A",
    ],
)
def test_a_malicious_link_is_told_or_ignored(shared: Opened, link: str) -> None:
    shared.page.goto(f"{shared.address}#{link}")
    shared.page.evaluate(DRAWN)
    expect(shared.page.locator("main script")).to_have_count(0)
    assert shared.said == []
    shared.page.goto(f"{shared.address}#exercise=averaging-two")


@pytest.mark.parametrize(
    "text",
    [
        "$q = " + "(" * 20_000 + "k_a" + ")" * 20_000 + "$",
        "$q = " + "{" * 5000 + "$",
        "$" + r"\frac{1}{" * 3000 + "2" + "}" * 3000 + "$",
        "> " * 3000 + "$q = k_a$",
        "* " * 3000 + "$q = k_a$",
        "[" * 20_000 + "$q = k_a$",
        "$q = " + "9" * 50_000 + "k_a$",
        "$q = 9^{9^{9^{9^9}}} k_a$",
        "$q = k_a$ " + "words " * 30_000,
        "\x00\ud800 $q = k_a$".encode("utf-16", "surrogatepass").decode(
            "utf-16", "replace"
        ),
    ],
    ids=[
        "parentheses",
        "braces",
        "fractions",
        "quotes",
        "lists",
        "brackets",
        "digits",
        "tower",
        "words",
        "surrogate",
    ],
)
def test_nested_and_large_answers_end_with_a_verdict_or_a_sentence(
    shared: Opened, text: str
) -> None:
    try:
        found = shared.ask("check", text=text, exercise="averaging-two")
    except Exception as error:  # noqa: BLE001  Playwright's own, with the page's sentence
        assert "internal error" not in str(error)
        assert len(str(error)) < 1000
    else:
        assert all(one["verdict"] != "proved" for one in found["answers"])
    assert shared.ask("verify", certificate="{}")["verdict"] == "unreadable"


@pytest.mark.parametrize(
    ("text", "word"),
    [
        (
            '{"format": "headwright certificate", "version": ' + "9" * 100_000 + "}",
            "unreadable",
        ),
        ("</script><script>alert(1)</script>", "unreadable"),
        ("", "unreadable"),
    ],
    ids=["digits", "markup", "empty"],
)
def test_hostile_certificates_are_refused(shared: Opened, text: str, word: str) -> None:
    assert shared.ask("verify", certificate=text)["verdict"] in (word, "rejected")


@pytest.mark.parametrize(
    "text", ["[" * 100_000, '{"a":' * 50_000], ids=["lists", "objects"]
)
def test_nested_certificates_are_refused_with_a_sentence(
    shared: Opened, text: str
) -> None:
    with pytest.raises(Exception, match="nested too deeply"):
        shared.ask("verify", certificate=text)


def test_megabytes_are_refused_with_a_sentence(shared: Opened) -> None:
    for call, given in (
        ("check", {"text": "x" * 5_000_000}),
        ("verify", {"certificate": "x" * 5_000_000}),
    ):
        with pytest.raises(Exception, match="expected at most"):
            shared.ask(call, **given)
