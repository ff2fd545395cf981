"""headwright simulate with a target: how often queries, or those of a certificate, meet it."""

from __future__ import annotations

import json
import re
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from scipy.special import ndtr

from tests.cli.running import Headwright


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    np.save("K.npy", np.eye(4))
    np.save("q.npy", np.array([8.0, 0.0, 0.0, 0.0]))
    np.save(
        "big.npy",
        np.random.default_rng(0).normal(size=(600, 8))
        * np.r_[4.0, np.ones(599)][:, None],
    )
    Path("one.toml").write_text(
        "[[noise]]\nkey = 0\nscale = { normal = [1.0, 0.0625] }\n"
    )
    Path("narrow.toml").write_text(
        "[[noise]]\nkey = 0\nscale = { normal = [1.0, 0.0001] }\n"
    )
    Path("all.toml").write_text('[[noise]]\nkey = "*"\nisotropic = 0.01\n')
    Path("fixed.toml").write_text("")


def test_how_often_a_targets_is_met_is_sampled_and_proven(
    headwright: Headwright,
) -> None:
    result = headwright(
        "simulate",
        "--met",
        "--keys",
        "K.npy",
        "--query",
        "q.npy",
        "--uncertainty",
        "one.toml",
        "--copy",
        "0",
        "--eps",
        "0.01",
        "--samples",
        "20000",
        "--json",
    ).json
    targets = result["met"]
    truth = ndtr((8 - np.log(300)) / 2)  # the score is N(8, 4); it must reach ln(3/eps)
    assert targets["exact"] == pytest.approx(truth, abs=1e-14)
    assert (
        targets["exact_enclosure"][0]
        <= targets["exact"]
        <= targets["exact_enclosure"][1]
    )
    assert targets["interval"][0] <= truth <= targets["interval"][1]
    assert targets["least"] == {"0": "100/101"}
    assert [target["key"] for target in result["targets"]] == [0]


def test_it_is_told_in_words_and_drawn(headwright: Headwright) -> None:
    ran = headwright(
        "simulate",
        "--keys",
        "K.npy",
        "--query",
        "q.npy",
        "--uncertainty",
        "one.toml",
        "--at-least",
        "0=0.9",
        "--plot",
        "p.svg",
    )
    assert ran.code == 0
    assert "targets met (key 0 at least 9/10): 0." in ran.out
    assert "proven: 0." in ran.out
    assert "within 0.05" not in ran.out
    assert "the targets are met in" in Path("p.svg").read_text()
    both = headwright(
        "simulate",
        "--keys",
        "K.npy",
        "--query",
        "q.npy",
        "--uncertainty",
        "all.toml",
        "--targets",
        "0,1",
        "--copy",
        "0",
    )
    assert "within 0.05 of 1/2" in both.out
    assert "targets met" in both.out
    assert "no exact value: 4 keys are uncertain" in both.out


def test_a_certificate_brings_queries_targets_scale_and_keys(
    headwright: Headwright,
) -> None:
    made = headwright(
        "design",
        "--keys",
        "K.npy",
        "--average",
        "0,1",
        "--scale",
        "1/2",
        "--uncertainty",
        "all.toml",
        "--heads",
        "2",
        "--confidence",
        "0.9",
        "--out",
        "c.json",
        "--json",
    ).json
    ran = headwright(
        "simulate", "--certificate", "c.json", "--uncertainty", "all.toml", "--json"
    )
    assert ran.code == 0, ran.err
    assert ran.json["met"]["least"] == {"0": "100/201", "1": "100/201"}
    assert ran.json["met"]["probability"] >= 0.9
    assert (
        ran.json["met"]["probability"] == made["probability"]["probability"]
    )  # one implementation, one seed
    assert "headwright verify" in ran.err
    other = headwright(
        "simulate",
        "--certificate",
        "c.json",
        "--uncertainty",
        "fixed.toml",
        "--copy",
        "0",
        "--json",
    ).json
    assert other["met"]["exact"] == 0.0


def test_keys_that_a_certificate_does_not_hold_are_asked_for(
    headwright: Headwright,
) -> None:
    headwright("design", "--keys", "big.npy", "--copy", "0", "--out", "c.json")
    alone = headwright(
        "simulate", "--certificate", "c.json", "--uncertainty", "fixed.toml"
    )
    assert alone.code == 2
    assert "expected --keys, since the certificate does not hold them" in alone.err
    ran = headwright(
        "simulate",
        "--certificate",
        "c.json",
        "--uncertainty",
        "fixed.toml",
        "--keys",
        "big.npy",
        "--json",
    )
    assert ran.json["met"]["exact_enclosure"] == [1.0, 1.0]


def test_a_probability_that_is_proven_is_never_rounded_up(
    headwright: Headwright,
) -> None:
    """0.9999999 was printed as 1, and 1 - 1e-20 as 1.0 in JSON."""
    design = (
        "design",
        "--keys",
        "K.npy",
        "--copy",
        "0",
        "--uncertainty",
        "narrow.toml",
        "--confidence",
    )
    ran = headwright(*design, "0.9999999")
    assert ran.code == 0
    assert "probability: proven at least 0.9999999 (exact" in ran.out
    low, high = re.findall(r"95% interval ([0-9.]+) \.\. ([0-9.]+)", ran.out)[0]
    told = headwright(*design, "0.9999999", "--json").json["probability"]
    assert (told["proven_at_least"], told["probability"]) == (0.9999999, 1.0)
    assert Fraction(low) <= Fraction(told["interval"][0])
    assert Fraction(told["interval"][1]) <= Fraction(high)
    nearly = headwright(*design, "0.99999999999999999999", "--json").json["probability"]
    assert nearly["proven_at_least"] == 1 - 2**-53


def test_intervals_and_targets_are_rounded_outward(headwright: Headwright) -> None:
    simulate = (
        "simulate",
        "--keys",
        "K.npy",
        "--query",
        "q.npy",
        "--uncertainty",
        "one.toml",
        "--targets",
        "0,1",
    )
    for samples in ("997", "998", "999", "1000"):
        told = headwright(*simulate, "--samples", samples, "--json").json
        out = headwright(*simulate, "--samples", samples).out
        low, high = re.findall(r"95% interval ([0-9.]+) \.\. ([0-9.]+)", out)[0]
        assert Fraction(low) <= Fraction(told["near_average"]["interval"][0])
        assert Fraction(told["near_average"]["interval"][1]) <= Fraction(high)
        for target, (mean, half) in zip(
            told["targets"], re.findall(r"([0-9.]+) ± ([0-9.]+)", out), strict=True
        ):
            assert Fraction(mean) - Fraction(half) <= Fraction(
                target["mean_interval"][0]
            )
            assert Fraction(target["mean_interval"][1]) <= Fraction(mean) + Fraction(
                half
            )


def test_design_tells_the_probability_of_random_keys(headwright: Headwright) -> None:
    ran = headwright(
        "design",
        "--keys",
        "K.npy",
        "--copy",
        "0",
        "--uncertainty",
        "one.toml",
        "--confidence",
        "0.6",
    )
    assert ran.code == 0
    assert "with probability at least 0.6" in ran.out
    assert (
        "probability: proven at least 0.6 (exact for one random key); proven to be 0.6"
        in ran.out
    )
    found = headwright(
        "design",
        "--keys",
        "K.npy",
        "--copy",
        "0",
        "--uncertainty",
        "all.toml",
        "--json",
    ).json["probability"]
    assert found["proven_at_least"] == 0.95
    assert found["conservative"]
    assert found["exact_enclosure"] is None
    assert found["interval"][0] >= 0.95
    Path("mixed.toml").write_text(
        "[[noise]]\nkey = 0\nisotropic = 0.01\n[[noise]]\nkey = 1\nball = 0.1\n"
    )
    mixed = headwright(
        "design", "--keys", "K.npy", "--copy", "0", "--uncertainty", "mixed.toml"
    )
    assert "drawing evenly what is not random" in mixed.out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--query", "q.npy"), "expected --targets to watch, or a target"),
        (("--query", "q.npy", "--met", "--targets", "0"), "or a target"),
        (("--copy", "0"), "expected queries: --query for each head, or --certificate"),
        (
            ("--copy", "0", "--query", "q.npy", "--certificate", "c.json"),
            "expected queries",
        ),
        (("--query", "q.npy", "--copy", "9"), "target 9, and there are 4 keys"),
        (("--query", "q.npy", "--copy", "-1"), "target -1"),
        (("--query", "q.npy", "--copy", "0", "--eps", "1e400"), "eps is '1e400'"),
        (
            ("--query", "q.npy", "--copy", "0", "--targets", "1"),
            "the targets are about [0]",
        ),
        (("--query", "q.npy", "--copy", "0", "--scale", "x"), "--scale is 'x'"),
        (
            ("--certificate", "missing.json"),
            "certificate missing.json: there is no such file",
        ),
        (("--certificate", "n.json"), "certificate n.json: the document is not JSON"),
        (
            ("--certificate", "i.json"),
            "says that a target is impossible, expected one with queries",
        ),
        (
            ("--certificate", "h.json"),
            "certificate h.json: is about whole heads, expected one about keys",
        ),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_bad_input_is_one_sentence_and_exit_2(
    headwright: Headwright, arguments: tuple[str, ...], words: str
) -> None:
    np.save("Z.npy", np.zeros((2, 1)))
    Path("n.json").write_text("nonsense")
    Path("r.toml").write_text(
        "tokens = [[1.0, 0.0], [0.0, 1.0]]\nrule = [{ token = 0, copy = 1 }]\n"
    )
    if "i.json" in arguments:
        headwright("design", "--keys", "Z.npy", "--copy", "0", "--out", "i.json")
        assert (
            json.loads(Path("i.json").read_text())["statement"]["claim"] == "impossible"
        )
    if "h.json" in arguments:
        assert headwright("heads", "r.toml", "--out", "h.json").code == 0
    ran = headwright(
        "simulate", "--keys", "K.npy", "--uncertainty", "one.toml", *arguments
    )
    assert ran.code == 2
    assert words in ran.err
    assert ran.err.count("\n") == 1


def test_the_interval_beside_a_mean_near_1_is_not_cut_short(
    headwright: Headwright,
) -> None:
    Path("wild.toml").write_text("[[noise]]\nkey = 0\nisotropic = 0.2\n")
    arguments = (
        "simulate",
        "--keys",
        "K.npy",
        "--uncertainty",
        "wild.toml",
        "--query",
        "q.npy",
        "--targets",
        "0",
    )
    target = headwright(*arguments, "--samples", "6", "--json").json["targets"][0]
    mean, (low, high) = target["mean"], target["mean_interval"]
    assert high == 1.0 and mean - low > 1 - mean
    assert (
        f"{mean:.4f} ± {mean - low:.4f}" in headwright(*arguments, "--samples", "6").out
    )
