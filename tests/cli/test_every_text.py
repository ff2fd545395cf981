"""headwright every-text, and verify of what it wrote."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.cli.running import Headwright


def test_writes_a_certificate_that_verify_accepts(
    headwright: Headwright, tmp_path: Path
) -> None:
    path = tmp_path / "floor.json"
    ran = headwright(
        "every-text", "builtin:induction", "--length", "12", "--out", str(path)
    )
    assert ran.code == 0
    assert "proved: at least 0.87" in ran.out
    ran = headwright("verify", str(path), "--model", "builtin:induction")
    assert ran.code == 0
    assert ran.out.startswith(
        "verified (every-text checker): in every text of 12 tokens"
    )


def test_pairs_have_a_certificate_that_verify_accepts(
    headwright: Headwright, tmp_path: Path
) -> None:
    path, text, pairs = tmp_path / "pairs.json", tmp_path / "text", tmp_path / "pairs"
    text.write_text("the quick brown fox")
    pairs.write_text("u q 2\ni u 2\nu q 2\n")  # a line that is there twice is one pair
    about = ("every-text", "builtin:induction", "--length", "12", "--out", str(path))
    for options, said in (
        (
            ("--text", str(text)),
            "with any of 18 pairs of a token at place 11 and one at place 10",
        ),
        (
            ("--pairs", str(pairs)),
            "with any of 2 pairs of a token at place 11 and one at place 9",
        ),
        (("--query", "u"), "there, gives place 10"),
    ):
        assert headwright(*about, *options).code == 0
        ran = headwright("verify", str(path), "--model", "builtin:induction")
        assert ran.code == 0 and said in ran.out
    assert (
        headwright(*about, "--heads", "1", "--text", str(text)).code == 2
    )  # it keeps none
    pairs.write_text("u q 2\ni u 1\n")
    ran = headwright(*about, "--pairs", str(pairs))
    assert ran.code == 2 and "the distances [1, 2]: expected one" in ran.err


def test_a_better_bound_than_was_proved_is_rejected(
    headwright: Headwright, tmp_path: Path
) -> None:
    path = tmp_path / "floor.json"
    headwright(
        "every-text",
        "builtin:induction",
        "--length",
        "12",
        "--heads",
        "0",
        "--out",
        str(path),
    )
    document = json.loads(path.read_text())
    document["statement"]["bound"] = "0.9"
    path.write_text(json.dumps(document))
    ran = headwright("verify", str(path), "--model", "builtin:induction", "--json")
    assert ran.code == 1
    assert json.loads(ran.out)["verdict"] == "rejected"


def test_json_has_the_witness_in_words(headwright: Headwright) -> None:
    ran = headwright(
        "every-text",
        "builtin:induction",
        "--length",
        "6",
        "--heads",
        "0",
        "--query",
        "e",
        "--json",
    )
    least = json.loads(ran.out)["heads"][0]["places"][1]["least"]
    assert len(least["words"]) == 6
    assert least["words"][0] == "<s>" and least["words"][-1] == "e"
    assert least["bound"] <= least["run"] + 1e-9


def test_pairs_a_token_and_the_curve(headwright: Headwright, tmp_path: Path) -> None:
    pairs, text, picture = (
        tmp_path / "pairs.txt",
        tmp_path / "text.txt",
        tmp_path / "curve.svg",
    )
    pairs.write_text("u q\n\nb\t \t3\n")
    text.write_text("the quick brown fox")
    options = [
        "--heads",
        "0",
        "--pairs",
        str(pairs),
        "--key",
        "e",
        "--text",
        str(text),
        "--plot",
        str(picture),
    ]
    ran = headwright(
        "every-text", "builtin:induction", "--length", "8", *options, "--json"
    )
    found = json.loads(ran.out)
    near, far = found["pairs"]
    assert near["least"]["bound"] > 0.8 and near["least"]["words"][-2:] == ["q", "u"]
    assert (
        far["pair"]["distance"] == 3
        and far["least"]["words"][-4] == "␣"
        and far["most"]["bound"] < 0.1
    )
    assert found["token"][0]["least"]["words"].count("e") == 1
    assert [point["length"] for point in found["curves"][1]["points"]] == [4, 8]
    assert picture.read_text().startswith("<svg")
    ran = headwright("every-text", "builtin:induction", "--length", "8", *options)
    assert "q, 1 before a final u, keeps 0.9" in ran.out


def test_what_is_shown_of_a_text_is_said_to_be_a_part_of_it(
    headwright: Headwright,
) -> None:
    ran = headwright(
        "every-text",
        "builtin:induction",
        "--length",
        "30",
        "--heads",
        "0",
        "--query",
        "E",
    )
    assert ran.code == 0
    assert "1 token was asked about there, e" in " ".join(ran.out.split())
    shown = next(line for line in ran.out.splitlines() if line.startswith("  ... "))
    assert len(shown.split()) == 25
    assert "run on it in float64: 0." in ran.out
    ran = headwright(
        "every-text",
        "builtin:induction",
        "--length",
        "8",
        "--heads",
        "0",
        "--query",
        "e",
    )
    assert "... " not in ran.out


def test_direct_effects_on_a_logit_lie_between_what_the_model_does(
    headwright: Headwright,
) -> None:
    options = ["--length", "8", "--query", "q", "--logit", "u"]
    ran = headwright("every-text", "builtin:induction", *options)
    assert (
        ran.code == 0
        and "Head 0.0: its direct effect on the logit of u, before the final norm, is -"
        in ran.out
    )
    for found in json.loads(
        headwright("every-text", "builtin:induction", *options, "--json").out
    )["logit"]:
        assert (
            found["least"]["bound"]
            <= found["least"]["run"]
            <= found["most"]["run"]
            <= found["most"]["bound"]
        )
        assert found["most"]["words"][-1] == "q"


def test_pairs_that_cannot_be_read_are_pointed_at(
    headwright: Headwright, tmp_path: Path
) -> None:
    path = tmp_path / "pairs.txt"
    for line, sentence in (
        ("u", "expected a query token"),
        ("u q -1", "expected a"),
        ("u qq", "is 2 tokens"),
        ("u q 70", "distance 70"),
        ("u q 0", "distance 0"),
        ("", "no pair"),
    ):
        path.write_text(line + "\n")
        ran = headwright(
            "every-text", "builtin:induction", "--length", "8", "--pairs", str(path)
        )
        assert ran.code == 2
        assert sentence in " ".join(ran.err.split())


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--query", "e"], "Missing option '--length'"),
        (["--length", "1"], "expected 2 to 256"),
        (["--length", "999"], "256 positions"),
        (["--length", "8", "--heads", "5"], "expected 0 to 1"),
        (["--length", "8", "--query", "ab"], "expected one"),
        (["--length", "8", "--offset", "20"], "expected a place"),
        (["--length", "8", "--key", "#99"], "token 99"),
        (["--length", "8", "--logit", "ab"], "--logit 'ab' is 2 tokens"),
        (
            ["--length", "8", "--repeat", "ab", "--logit", "a"],
            "--logit is not used with --repeat",
        ),
        (["--length", "8", "--device", "cuda"], "on the CPU"),
        (["--length", "8", "--repeat", "a"], "expected two different tokens"),
        (["--length", "8", "--repeat", "aa"], "two different"),
        (["--length", "8", "--repeat", "ab", "--key", "e"], "leave it out"),
        (["--length", "8", "--query", "~"], "no token for '~'"),
        (["--length", "8", "--repeat", "a~"], "no token for '~'"),
        (
            ["--length", "8", "--predict", "ab", "--heads", "0"],
            "--heads is not used with --predict",
        ),
    ],
)
def test_bad_input_has_its_sentence(
    headwright: Headwright, options: list[str], sentence: str
) -> None:
    ran = headwright("every-text", "builtin:induction", *options)
    assert ran.code == 2
    assert sentence in " ".join(ran.err.split())


def test_a_pair_that_repeats_is_kept_through_two_layers(
    headwright: Headwright, tmp_path: Path
) -> None:
    path = tmp_path / "repeat.json"
    options = ["--length", "6", "--repeat", "tha", "--offset", "2", "--heads", "0"]
    ran = headwright("every-text", "builtin:induction", *options, "--out", str(path))
    assert ran.code == 0
    assert (
        "Head 1.0, h at place 3: more than 1/2 is proved. The least found: <s> "
        in " ".join(ran.out.split())
    )
    found = json.loads(
        headwright("every-text", "builtin:induction", *options, "--json").out
    )["lengths"]["6"]
    assert [(one["a"], one["b"], one["c"], one["j"], one["head"]) for one in found] == [
        ("t", "h", "a", 3, 0)
    ]
    assert found[0]["text"][0] == "<s>" and found[0]["text"][2:] == ["t", "h", "a", "t"]
    assert 0.5 < float(found[0]["least"]) <= found[0]["run"]
    ran = headwright("verify", str(path), "--model", "builtin:induction")
    assert ran.code == 0
    assert "(20, 8, 1, 3) head 0: 0." in " ".join(ran.out.split())
    ran = headwright(
        "every-text",
        "builtin:induction",
        "--length",
        "5",
        "--repeat",
        "th",
        "--heads",
        "0",
    )
    assert "of 46 tokens before the last t, false for" in " ".join(ran.out.split())
    ran = headwright(
        "every-text",
        "builtin:induction",
        "--length",
        "6",
        "--repeat",
        "th",
        "--offset",
        "4",
    )
    assert ran.code == 2 and "expected 1 to 3" in " ".join(ran.err.split())


def test_the_next_token_of_two_heads_is_proved_with_a_certificate(
    headwright: Headwright, tmp_path: Path
) -> None:
    path = tmp_path / "next.json"
    options = ["--length", "6", "--predict", "th?", "--offset", "2", "--out", str(path)]
    ran = headwright("every-text", "builtin:induction", *options)
    assert (
        ran.code == 1
        and "no certificate is written" in " ".join(ran.err.split())
        and not path.exists()
    )
    ran = headwright(
        "every-text",
        "builtin:induction",
        "--length",
        "6",
        "--predict",
        "tha",
        "--out",
        str(path),
    )
    assert ran.code == 1 and path.exists()  # of those that are proved; one is false
    assert "is b predicted at the end of every text with <s> at place 0" in " ".join(
        ran.out.split()
    )
    assert headwright("verify", str(path), "--model", "builtin:induction").code == 0
    assert headwright("verify", str(path), "--model", "builtin:induction16").code == 1


def test_the_next_token_is_proved_with_a_certificate(
    headwright: Headwright, tmp_path: Path
) -> None:
    path = tmp_path / "next.json"
    options = ["--length", "6", "--predict", "ab", "--curve"]
    ran = headwright("every-text", "builtin:induction16", *options, "--out", str(path))
    assert ran.code == 0
    assert (
        "The worst text found of 6 tokens: " in ran.out
        and "the logit margin of b is" in " ".join(ran.out.split())
    )
    ran = headwright("verify", str(path), "--model", "builtin:induction16")
    assert ran.code == 0
    assert "for each of 4 groups (a, b, c, j): in every text of 6 tokens" in " ".join(
        ran.out.split()
    )
    ran = headwright("every-text", "builtin:induction16", *options, "--json")
    lengths = json.loads(ran.out)["lengths"]
    assert [len(lengths[length]) for length in ("4", "6")] == [2, 4]
    for one in (*lengths["4"], *lengths["6"]):
        assert one["verdict"] == "proved" and float(one["least"]) <= one["run"]
    changed = json.loads(path.read_text())
    changed["statement"]["groups"][0][5] = "99.5"
    path.write_text(json.dumps(changed))
    ran = headwright("verify", str(path), "--model", "builtin:induction16")
    assert ran.code == 1 and "rejected" in ran.out
    assert headwright("verify", str(path)).code == 2
    assert headwright("verify", str(path), "--model", "builtin:induction").code == 1
    for pair, sentence in (
        ("abcd", "expected two different tokens"),
        ("aa", "two different"),
        ("az", "no token for"),
    ):
        ran = headwright(
            "every-text", "builtin:induction16", "--length", "6", "--predict", pair
        )
        assert ran.code == 2 and sentence in " ".join(ran.err.split())


def test_queries_may_be_those_of_a_text(headwright: Headwright, tmp_path: Path) -> None:
    (tmp_path / "text.txt").write_text("abcab")
    options = ["--length", "6", "--heads", "0", "--query", "@text"]
    ran = headwright(
        "every-text",
        "builtin:induction",
        *options,
        "--text",
        str(tmp_path / "text.txt"),
        "--json",
    )
    assert json.loads(ran.out)["heads"][0]["queries"] >= 3
    ran = headwright("every-text", "builtin:induction", *options)
    assert ran.code == 2 and "--text FILE" in " ".join(ran.err.split())


def test_verify_asks_for_the_model(headwright: Headwright, tmp_path: Path) -> None:
    path = tmp_path / "floor.json"
    headwright("every-text", "builtin:induction", "--length", "6", "--out", str(path))
    ran = headwright("verify", str(path))
    assert ran.code == 2
    assert "--model builtin:induction" in " ".join(ran.err.split())


def test_occurrences_of_a_token_have_certificates_that_verify_accepts(
    headwright: Headwright, tmp_path: Path
) -> None:
    path, text = tmp_path / "kept.json", tmp_path / "pairs"
    about = ("every-text", "builtin:induction", "--length", "12", "--out", str(path))
    for options, said in (
        (
            ("--key", "e"),
            "that has token 5 at one or more of the places seen from place 11",
        ),
        (
            ("--key", "e", "--query", "t"),
            "with token 20 there, gives all of these that have token 5 together",
        ),
    ):
        assert headwright(*about, *options).code == 0
        ran = headwright("verify", str(path), "--model", "builtin:induction")
        assert ran.code == 0 and said in ran.out
    text.write_text("u q")
    ran = headwright(*about, "--key", "e", "--pairs", str(text))
    assert (
        ran.code == 2 and "--pairs and --key: a certificate states one thing" in ran.err
    )


WAITING = "headwright.cli.every_text.waiting"


def test_how_long_it_takes_is_said_before_it_begins(
    headwright: Headwright, monkeypatch: pytest.MonkeyPatch
) -> None:
    about = ("every-text", "builtin:induction", "--length", "8")
    assert headwright(*about, "--json").json["estimated_seconds"] > 0
    assert (
        "will take" not in headwright(*about).err
    )  # it is over before one has read it
    monkeypatch.setattr(f"{WAITING}.SHORT_WAIT", 0.0)
    ran = headwright(*about)  # no terminal here: on standard error all the same
    assert ran.code == 0
    assert re.search(r"This will take about \d.*s\.", ran.err)


def test_more_than_an_hour_is_refused_with_what_makes_it_shorter(
    headwright: Headwright, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(f"{WAITING}.LONGEST_WAIT", 0.0)
    about = (
        "every-text",
        "builtin:induction",
        "--length",
        "8",
        "--curve",
        "--key",
        "e",
        "--logit",
        "u",
    )
    ran = headwright(*about)
    assert (ran.code, ran.out) == (2, "")
    said = " ".join(ran.err.split())
    for remedy in (
        "would take about",
        "--query TOKEN",
        "--heads",
        "--device cuda",
        "--yes",
    ):
        assert remedy in said
    assert headwright(*about, "--yes").code == 0
