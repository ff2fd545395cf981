"""The page is whole, safe and says the same numbers as the data."""

from __future__ import annotations

import json
import math
import re
from dataclasses import replace
from fractions import Fraction
from html.parser import HTMLParser

import pytest

from headwright.auditing.auditor import Audit, audit
from headwright.auditing.measures.measure import Result
from headwright.auditing.measures.roles import assign_roles
from headwright.auditing.measures.summary import Mean, Quantiles
from headwright.auditing.report.columns import head_maps, table_columns
from headwright.auditing.report.page import page, show_token
from headwright.auditing.report.sentences import sentences
from headwright.models import load_model
from headwright.numerics.enclosure import shown_below
from tests.auditing.handmade import Handmade

EVIL = '</td><script>alert("x")</script>'
VOID = {"meta", "br", "hr", "img", "link", "input"}


@pytest.fixture(scope="module")
def found() -> Audit:
    return audit(
        Handmade(words_are=EVIL, name="<b>model</b>"), command="headwright audit '<x>'"
    )


class _Tree(HTMLParser):
    """Every element is closed in order; what is in tables and scripts is kept."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


@pytest.fixture(scope="module")
def tree(found: Audit) -> _Tree:
    parsed = _Tree()
    parsed.feed(page(found))
    parsed.close()
    return parsed


def test_every_element_is_closed(tree: _Tree) -> None:
    assert tree.open == []


def test_words_of_a_model_or_a_command_are_never_markup(
    found: Audit, tree: _Tree
) -> None:
    scripts = [
        attributes.get("type") for tag, attributes in tree.seen if tag == "script"
    ]
    assert scripts.count(None) == 1  # the page's own
    assert set(scripts) == {
        None,
        "application/json",
    }  # which is never run: the tokens of the documents
    assert not any(tag == "b" and not attributes for tag, attributes in tree.seen[:3])
    text = page(found)
    assert 'alert("x")' not in text
    assert "<b>model" not in text
    assert "<x>" not in text


def test_nothing_is_fetched(found: Audit, tree: _Tree) -> None:
    for tag, attributes in tree.seen:
        assert tag not in ("link", "iframe")
        assert (attributes.get("src") or "data:image/png;base64,").startswith(
            "data:image/png;base64,"
        )
        assert (attributes.get("href") or "#").startswith("#")
    assert not re.search(r"url\(|@import|https?:", page(found))


def test_links_within_the_page_lead_somewhere_and_names_are_unique(tree: _Tree) -> None:
    names = [attributes["id"] for _, attributes in tree.seen if "id" in attributes]
    assert len(names) == len(set(names))
    assert {
        (attributes["href"] or "")[1:] for tag, attributes in tree.seen if tag == "a"
    } <= set(names)


def test_pictures_have_words(tree: _Tree) -> None:
    maps = [attributes for tag, attributes in tree.seen if tag == "svg"]
    assert maps
    assert all(
        attributes.get("role") == "img"
        and "map of 2 layers" in (attributes["aria-label"] or "")
        for attributes in maps
    )


def test_the_table_has_the_numbers_of_the_data(found: Audit, tree: _Tree) -> None:
    told = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    cells = [
        attributes.get("data-value")
        for tag, attributes in tree.seen
        if tag == "td" and "data-value" in attributes
    ]
    shown = table_columns(found)
    assert len(cells) == len(found.heads) * len(shown)
    for number, head in enumerate(told["heads"]):
        mine = cells[number * len(shown) : (number + 1) * len(shown)]
        for column, cell in zip(shown, mine, strict=True):
            result = head[column.measure.name]
            value = None if result is None else result["value"]
            assert cell == ("" if value is None else repr(float(value)))


def test_the_sentences_are_on_the_page_and_in_the_data(found: Audit) -> None:
    assert found.to_dict()["summary"] == sentences(found)
    assert (
        "2 of 8 heads give the first token more than half of their attention, on average"
        in page(found)
    )


def test_heads_whose_rows_the_first_token_wins_are_not_counted_by_their_mean_weight(
    found: Audit,
) -> None:
    one = found.heads[0]
    sink = one.result("sink", Mean)
    sink_rows = one.result("sink_rows", Mean)
    assert sink is not None and sink_rows is not None
    results: dict[str, Result | None] = {
        **one.results,
        "sink": replace(sink, value=0.4),
        "sink_rows": replace(sink_rows, value=0.9),
    }
    torn = replace(
        one, results=results, roles=assign_roles(results, {})
    )  # the first token wins nine rows of ten, with 0.4 on average
    line = next(
        line
        for line in sentences(replace(found, heads=(torn, *found.heads[1:])))
        if "first token" in line
    )
    assert line.startswith(
        "2 of 8 heads give the first token more than half of their attention, on average"
    )


@pytest.mark.parametrize(
    ("token", "shown"),
    [
        ("<", "&lt;"),
        (" a", "·a"),
        ("\n", "\\n"),
        ("", "∅"),
        ("\u202e", "\\u202e"),
        ("\udc80", "\\udc80"),
        ("\x00", "\\x00"),
    ],
)
def test_a_token_that_cannot_be_seen_is_made_visible(token: str, shown: str) -> None:
    assert show_token(token) == shown


def test_what_is_proven_for_every_text_is_told_with_the_text_that_attains_it() -> None:
    told = audit(load_model("builtin:induction"), tokens=400)
    previous = next(
        one for one in told.every_text.weights if (one.head, one.key) == (0, "previous")
    )
    assert 0.5 < previous.least.bound <= previous.least.run + 1e-6
    shown = page(told)
    assert (
        "proven for <b>every text of 16 tokens</b>" in shown
        and "whichever of all 47 tokens" in shown
    )
    assert (
        f"<td>{shown_below(previous.least.bound, 4)}</td><td>{previous.least.run:.4g}</td>"
        in shown
    )
    assert told.to_dict()["every_text"][0]["length"] == 16
    assert ", and 1 sequence of random tokens that repeat" in shown
    assert told.to_dict()["every_text_pairs"][0]["above_half"] > 40


def test_where_nothing_is_proven_the_report_says_why(found: Audit) -> None:
    assert found.every_text.weights == ()
    assert "Nothing is said of all texts there are: " in page(found)
    part = audit(load_model("builtin:induction"), tokens=200, layers=[1])
    assert part.every_text.missing == "the first layer was left out"
    without = audit(load_model("builtin:induction"), tokens=200, every_text=False)
    assert without.every_text.missing == "it was not asked for"


def test_a_word_for_no_head_is_about_what_was_measured(found: Audit) -> None:
    unmeasured = [
        replace(head, roles=(), results=dict.fromkeys(head.results))
        for head in found.heads
    ]
    said = " ".join(sentences(replace(found, heads=tuple(unmeasured))))
    assert "No head" not in said and "dead" not in said and "induction" not in said


def test_rows_without_a_rival_are_not_told_as_a_length(found: Audit) -> None:
    lonely = Quantiles(9, {0.1: math.inf, 0.5: math.inf, 0.9: math.inf})
    one = [
        replace(head, results={**head.results, "robustness_radius_away": lonely})
        for head in found.heads
    ]
    assert "have no second key to compare with" in " ".join(
        sentences(replace(found, heads=tuple(one)))
    )
    mixed = " ".join(sentences(replace(found, heads=(one[0], *found.heads[1:]))))
    assert "(any change)" in mixed and "inf" not in mixed


def test_each_example_has_its_whole_pattern_as_a_picture_with_the_tokens_of_its_bins(
    found: Audit,
) -> None:
    text = page(found)
    words = dict(
        re.findall(
            r'<script type="application/json" id="([\w-]+)">(.*?)</script>', text
        )
    )
    pictures = re.findall(
        r'class="pattern" data-words="([\w-]+)" data-rows="(\[.*?\])" data-keys="(\[.*?\])"',
        text,
    )
    assert len(pictures) == len(found.examples)
    for (name, rows, keys), example in zip(pictures, found.examples, strict=True):
        assert (
            len(json.loads(words[name]))
            == json.loads(rows)[-1]
            == json.loads(keys)[-1]
            == len(example.words)
        )


def test_sentences_keep_their_letters_and_speak_of_what_is_on_the_page(
    found: Audit,
) -> None:
    shown = page(found)
    assert "No sigma_k exceeds |A|_F / sqrt(k)" in shown
    assert "|a|_f" not in shown
    assert "beside each sigma_k" not in shown
    assert "Keys rounded as a cache in few bits would (int8: multiples" in shown
    said = " ".join(sentences(found))
    assert "Shuffling the tokens between the first and the last of" in said
    assert "before W_O, by up to" in said


def test_a_head_at_the_first_token_is_left_out_of_the_maps_of_what_is_away_from_it(
    found: Audit,
) -> None:
    numbers = {drawn.column.measure.name: drawn.values for drawn in head_maps(found)}
    occupied = [head for head in found.heads if 1 - (head.value("sink") or 0.0) < 0.1]
    assert occupied
    for head in occupied:
        assert head.value("entropy_away") is not None
        assert numbers["entropy_away"][head.layer][head.head] is None
        assert numbers["sink"][head.layer][head.head] == head.value("sink")
        assert numbers["induction_away"][head.layer][head.head] == head.value(
            "induction_away"
        )


def test_an_interval_is_shown_rounded_outward() -> None:
    told = audit(load_model("builtin:induction"), tokens=2000, every_text=False)
    parsed = _Tree()
    parsed.feed(page(told))
    titles = [
        at.get("title") or ""
        for tag, at in parsed.seen
        if tag == "td" and "data-value" in at
    ]
    shown = table_columns(told)
    checked = 0
    for number, head in enumerate(told.heads):
        for column, title in zip(shown, titles[number * len(shown) :], strict=False):
            mean = head.result(column.measure.name, Mean)
            if mean is not None and mean.low is not None and mean.high is not None:
                low, high = re.findall(r"^(\S+) to (\S+), 95 %", title)[0]
                assert Fraction(low) <= Fraction(mean.low) and Fraction(
                    mean.high
                ) <= Fraction(high)
                checked += 1
    assert checked > 30
