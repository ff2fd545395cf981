"""The checker as a whole: what is given binds, progress is told, and whatever goes wrong is said."""

from __future__ import annotations

import hashlib
import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from headwright.certificates.exact.verify import verify
from tests.certificates.exact.making import (
    CORPUS,
    accepted,
    bound,
    certificate,
    part,
    spread,
    words,
)

RNG = np.random.default_rng(7)
K = RNG.normal(size=(6, 3))
TARGETS = {1: "0.01"}


def _npy(keys: np.ndarray) -> bytes:
    content = io.BytesIO()
    np.save(content, keys)
    return content.getvalue()


def _met(keys: Any = K, inline: bool = False) -> str:
    return json.dumps(certificate(keys, TARGETS, np.zeros(3), inline=inline))


@pytest.mark.parametrize("inline", [True, False])
def test_keys_verify_against_the_file_they_came_from(inline: bool) -> None:
    text = json.dumps(certificate(K, TARGETS, np.zeros(3), inline=inline))
    assert verify(text, [_npy(K)]).word == "verified"


@pytest.mark.parametrize("inline", [True, False])
def test_other_keys_than_those_named_are_rejected_with_both_digests(
    inline: bool,
) -> None:
    verdict = verify(_met(inline=inline), [_npy(K), _npy(K + 1)])
    assert verdict.word == "rejected"
    for keys in (K, K + 1):
        assert hashlib.sha256(keys.tobytes()).hexdigest()[:16] in verdict.words


def test_keys_of_another_shape_with_the_same_numbers_are_other_keys() -> None:
    assert verify(_met(), [_npy(K.reshape(3, 6))]).word == "rejected"


def test_keys_that_are_needed_and_not_given_are_asked_for() -> None:
    verdict = verify(_met())
    assert verdict.word == "unreadable"
    assert "--keys FILE.npy" in verdict.words
    scenarios = json.dumps(certificate([K, K + 1], TARGETS, np.zeros(3), inline=False))
    assert verify(scenarios, [_npy(K)]).word == "unreadable"
    assert verify(scenarios, [_npy(K + 1), _npy(K)]).word == "verified"


def test_a_file_that_is_not_of_keys_is_unreadable() -> None:
    assert verify(_met(inline=True), [b"keys"]).word == "unreadable"
    assert verify(_met(inline=True), [_npy(K.astype("f4"))]).word == "unreadable"


def test_no_keys_belong_to_a_certificate_about_heads() -> None:
    text = (CORPUS / "head-accept" / "two-heads.json").read_text()
    assert verify(text).word == "verified"
    assert "names no keys" in verify(text, [_npy(K)]).words


def test_progress_is_told_over_all_scenarios() -> None:
    told: list[float] = []
    verify(
        json.dumps(certificate([K, -K], {0: "1e-9"}, np.zeros(3))), progress=told.append
    )
    assert told == pytest.approx([1 / 3, 2 / 3, 1])


def _large(n: int) -> tuple[str, bytes]:
    """A certificate of every sum there is: balls, lengths and factors, random and not, and a push."""
    keys = np.vstack([[3.0, 0.0, 0.0, 0.0], RNG.normal(size=(n - 1, 4)) / 4])
    uncertainty = [
        spread(
            list(range(1, n // 2)), scale=("0.99", "1"), stretch="0.01", random=True
        ),
        spread([n - 1], ball="1/100", factor=[["0.1", "0", "0", "0"]], random=True),
        spread(scale=("1", "1.01"), ball="1/100"),
    ]
    query = np.array([4.0, 0.0, 0.0, 0.0])
    proof = bound(
        part(
            query / 2,
            lifts=["0.1", "0", "-0.1"],
            moves=[[], [], []],
            push=["0.001"] * 4,
        ),
        deviations="1",
    )
    guard = {"kind": "pairs", "deviations": "6"}
    more: dict[str, Any] = {
        "uncertainty": uncertainty,
        "confidence": "0.9",
        "guard": guard,
        "bound": proof,
        "none_shorter": "1e-9",
    }
    given = certificate(keys, {0: "0.8", 5: "1e-12"}, query, inline=False, **more)
    return json.dumps(given), _npy(keys)


def test_the_large_certificate_is_verified() -> None:
    text, content = _large(300)
    assert verify(text, [content]).word == "verified", verify(text, [content]).words


def test_numbers_too_large_or_too_small_are_told_in_a_sentence() -> None:
    line, huge = np.array([[1.0], [-1.0]]), "1" + "0" * 399
    for query in (1e300, 1e-300):
        given = certificate(
            line,
            {0: "0.5"},
            query,
            scale=huge,
            uncertainty=[spread(scale=(f"1/{huge}", huge))],
        )
        verdict = verify(json.dumps(given))
        assert verdict.word in ("rejected", "verified")
        assert "Overflow" not in verdict.words
        assert "stopped" not in verdict.words


@pytest.mark.parametrize(
    ("accident", "said"),
    [
        (MemoryError("all gone"), "there is not enough memory to check it"),
        (LookupError("all gone"), "proves nothing: LookupError all gone"),
        (OverflowError(), "too large or too small"),
    ],
)
def test_an_accident_of_any_kind_rejects(accident: Exception, said: str) -> None:
    def fall(_: float) -> None:
        raise accident

    verdict = verify(json.dumps(accepted("copy")), progress=fall)
    assert verdict.word == "rejected"
    assert said in verdict.words
    assert verdict.stopped == isinstance(accident, LookupError)
    assert not verdict.excluded


def test_what_is_not_even_text_is_unreadable() -> None:
    verdict = verify(None)  # type: ignore[arg-type]
    assert verdict.word == "unreadable"
    assert "is not JSON" in verdict.words


def test_an_explicit_distribution_asks_for_no_pass_over_the_keys() -> None:
    told: list[float] = []
    verdict = verify(json.dumps(accepted("twins")), progress=told.append)
    assert verdict.word == "verified"
    assert told[-1] == 1


def test_the_found_of_the_docs_is_verified() -> None:
    page = (
        Path(__file__).parents[3] / "docs" / "reference" / "certificate.md"
    ).read_text()
    found = json.loads(page.split("```json\n")[1].split("```")[0])
    keys = found["statement"]["keys"][0]
    assert keys["sha256"] == "..."
    keys["sha256"] = hashlib.sha256(np.array([[1.0], [-1.0]]).tobytes()).hexdigest()
    assert verify(json.dumps(found)).word == "verified", words(found)


def test_a_constraint_without_a_multiplier_is_no_constraint() -> None:
    found = accepted("average")
    constraints = found["evidence"]["bound"]["parts"][0]["constraints"]
    constraints[0]["multiplier"] = "0"
    assert "no query is shorter" in words(found)
    constraints[1]["multiplier"] = "0"
    assert words(found) == "no constraint has a positive multiplier"


LINE = np.array([[1.0], [-1.0]])
BALL = spread([0], ball="1/4")


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (
            certificate(LINE, {0: "0.9"}, 1.0),
            "key 0 gets a weight of at most 0.880797..., less than 0.9, in scenario",
        ),
        (
            certificate([LINE, LINE], {1: "1"}, 0.0),
            "key 1 gets a weight of at most 0.5, less than 1, in scenario 0",
        ),
        (
            certificate([LINE, -LINE], {0: "0.7"}, 0.5),
            "key 0 gets a weight of at most 0.268941..., less than 0.7, in",
        ),
        (
            certificate(LINE, {0: "0.9"}, 1.0, 1.0),
            "key 0 gets a weight of at most 0.880797..., less than 0.9, in",
        ),
        (
            certificate(LINE, {0: "0.88"}, 1.0, uncertainty=[BALL]),
            "key 0 gets a weight of at most 0.851952..., less than",
        ),
    ],
)
def test_a_claim_that_the_enclosure_excludes_is_certainly_false(
    found: Any, said: str
) -> None:
    verdict = verify(json.dumps(found))
    assert (verdict.word, verdict.excluded) == ("rejected", True)
    assert verdict.words.startswith(said)


@pytest.mark.parametrize(
    "found",
    [
        certificate(LINE, {0: "1"}, 3000.0),  # the rival's share is below all digits
        certificate(
            LINE, {0: "0.88"}, 1.0, 1.0, uncertainty=[BALL]
        ),  # the heads may have different worst realizations
        certificate(
            LINE,
            {0: "0.9"},
            1.0,
            uncertainty=[spread([1], ball="1/4", random=True)],
            confidence="0.9",
            guard={"kind": "keys", "deviations": "2"},
        ),
        certificate(LINE, {0: "0.1"}, 1.0, none_shorter="9", bound=bound(part(1.0))),
    ],
)
def test_what_is_not_proved_is_not_certainly_false(found: Any) -> None:
    verdict = verify(json.dumps(found))
    assert (verdict.word, verdict.excluded) == ("rejected", False), verdict.words


@pytest.mark.parametrize("power", [-3, -1, 1, 3])
def test_a_query_is_not_taken_for_a_multiple_of_another(power: int) -> None:
    """Once a query and its half shared their sums: key 0 gets 8/9 of the query 1.04, and 0.74 of its half."""
    whole = np.log(8) / 2 * (1 + 1e-9)
    proof: dict[str, Any] = {"none_shorter": "0.1", "bound": bound(part(whole))}
    assert (
        verify(json.dumps(certificate(LINE, {0: "8/9"}, whole, **proof))).word
        == "verified"
    )
    scaled = verify(
        json.dumps(certificate(LINE, {0: "8/9"}, whole * 2.0**power, **proof))
    )
    assert (scaled.word == "verified") == (power > 0)
    heads = certificate(LINE, {0: "8/9"}, whole * 2.0**-power, whole)
    assert verify(json.dumps(heads)).excluded == (power > 0 or power == 0)


def test_the_reason_names_the_target_the_weight_and_the_scenario() -> None:
    found = certificate([K, K], {1: "0.9"}, np.zeros(3), np.zeros(3))
    assert (
        words(found)
        == "key 1 gets a weight of at most 0.166666 (1/6), less than 0.9, in scenario 0"
    )
