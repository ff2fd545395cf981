"""Arrays in, files out: what is read, what is refused, and that nothing is half-written."""

from __future__ import annotations

import io
import os
import pickle
import re
import stat
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
import torch
from safetensors.numpy import save_file

from headwright import InputError, Learned, attend, closest_pair, copy, design, truncate
from headwright.files import finite, read_array, write_whole
from headwright.statistics import row_statistics

TABLE = np.array([[1.0, 2.5], [-3.0, 4.0]])


@pytest.mark.parametrize("suffix", [".npy", ".npz", ".csv", ".json", ".safetensors"])
def test_every_suffix_reads_the_same_numbers(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"table{suffix}"
    match suffix:
        case ".npy":
            np.save(path, TABLE)
        case ".npz":
            np.savez(path, only=TABLE)
        case ".csv":
            np.savetxt(path, TABLE, delimiter=",")
        case ".json":
            path.write_text(str(TABLE.tolist()))
        case ".safetensors":
            save_file({"only": TABLE}, path)
    np.testing.assert_array_equal(read_array(path, axes=2), TABLE)


def test_bfloat16_is_read_exactly(tmp_path: Path) -> None:
    path = tmp_path / "table.safetensors"
    save_file({"only": TABLE.astype(ml_dtypes.bfloat16)}, path)
    np.testing.assert_array_equal(read_array(path), TABLE)


@pytest.mark.parametrize("kind", ["npy", "csv", "json"])
def test_standard_input_is_read(monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    content = {"csv": b"1,2.5\n-3,4", "json": b" [[1, 2.5], [-3, 4]]"}.get(kind)
    if content is None:
        buffer = io.BytesIO()
        np.save(buffer, TABLE)
        content = buffer.getvalue()
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(content)))
    np.testing.assert_array_equal(read_array("-"), TABLE)


def test_the_temporary_folder_that_is_needed_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    buffer = io.BytesIO()
    np.save(buffer, TABLE)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(buffer.getvalue())))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "missing"))
    with pytest.raises(InputError, match="set TMPDIR to a folder that can be written"):
        read_array("-")


def _bad(folder: Path, name: str) -> Path:
    path = folder / name
    match name:
        case "pickled.npy":
            np.save(path, np.array([{"a": 1}], dtype=object), allow_pickle=True)
        case "pickle.npy":
            path.write_bytes(pickle.dumps([1.0]))
        case "greedy.npy":
            path.write_bytes(
                b"\x93NUMPY\x01\x00v\x00{'descr': '<f8', 'fortran_order': False, 'shape': (10000000000000,), }"
                + b" " * 40
                + b"\n"
            )
        case "pickled.npz":
            np.savez(path, a=np.array([{"a": 1}], dtype=object), allow_pickle=True)
        case "two.npz":
            np.savez(path, a=TABLE, b=TABLE)
        case "notzip.npz" | "nonsense.safetensors":
            path.write_bytes(b"not what it says")
        case "empty.csv":
            path.write_text("\n")
        case "words.csv":
            path.write_text("a,b\n")
        case "ragged.json":
            path.write_text("[[1, 2], [3]]")
        case "nan.json":
            path.write_text("[NaN]")
        case "overflow.json":
            path.write_text("[1e999]")
        case "deep.json":
            path.write_text("[" * 100_000)
        case "text.json":
            path.write_text('["a"]')
        case "inf.npy":
            np.save(path, np.array([1, np.inf]))
        case "empty.npy":
            np.save(path, np.zeros((0, 3)))
        case "complex.npy":
            np.save(path, np.array([1j]))
        case "table.txt":
            path.write_text("1,2")
        case "folder.npy":
            path.mkdir()
    return path


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("missing.npy", "there is no such file"),
        ("folder.npy", "cannot be read"),
        ("table.txt", "suffix '.txt', expected one of .npy"),
        ("pickled.npy", "plain numbers"),
        ("pickle.npy", "plain numbers"),
        ("greedy.npy", "plain numbers"),
        ("pickled.npz", "2 arrays|plain numbers"),
        ("two.npz", "holds 2 arrays .*expected one"),
        ("notzip.npz", "plain numbers"),
        ("nonsense.safetensors", "not a safetensors file"),
        ("words.csv", "not a table of numbers"),
        ("empty.csv", "is empty, expected rows of numbers"),
        ("ragged.json", "equal lengths"),
        ("nan.json", "NaN is not a finite number"),
        ("overflow.json", "entry 0 is inf"),
        ("deep.json", "nested too deeply"),
        ("text.json", "expected real numbers"),
        ("inf.npy", "entry 1 is inf"),
        ("empty.npy", "empty"),
        ("complex.npy", "complex128, expected real numbers"),
    ],
)
def test_bad_files_are_refused_in_words(tmp_path: Path, name: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        read_array(_bad(tmp_path, name), what="keys")


def test_wrong_number_of_axes_is_refused(tmp_path: Path) -> None:
    np.save(tmp_path / "q.npy", TABLE)
    with pytest.raises(
        InputError, match=r"query .*q.npy: has shape \(2, 2\), expected 1 axis"
    ):
        read_array(tmp_path / "q.npy", what="query", axes=1)


def test_write_whole_replaces_and_leaves_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    write_whole(path, b"first")
    write_whole(path, b"second")
    assert path.read_bytes() == b"second"
    assert list(tmp_path.iterdir()) == [path]
    assert stat.S_IMODE(path.stat().st_mode) & stat.S_IRUSR


def test_write_whole_leaves_nothing_where_it_fails(tmp_path: Path) -> None:
    target = tmp_path / "taken"
    target.mkdir()
    with pytest.raises(InputError, match="cannot be written"):
        write_whole(target, b"content")
    assert list(tmp_path.iterdir()) == [target]
    with pytest.raises(InputError, match="cannot be written"):
        write_whole(tmp_path / "nowhere" / "a.txt", b"content")


@pytest.mark.parametrize(
    "dtype",
    [
        "<f4",
        "<f2",
        ">f8",
        ">f4",
        ">f2",
        "<i8",
        ">i2",
        "<u1",
        "<u8",
        "longdouble",
        "bool",
    ],
)
def test_numbers_of_any_type_are_read_exactly(tmp_path: Path, dtype: str) -> None:
    numbers = np.array([[1, 0], [0, 1]]).astype(dtype)
    np.save(tmp_path / "table.npy", np.asfortranarray(numbers))
    read = read_array(tmp_path / "table.npy")
    assert read.dtype == np.float64
    assert read.tolist() == [[1.0, 0.0], [0.0, 1.0]]


@pytest.mark.parametrize(
    ("numbers", "words"),
    [
        (
            np.array([[1, 2], [3, 2**53 + 1]]),
            r"entry \(1, 1\) is 9007199254740993, a number of type int64",
        ),
        (
            np.array([-(2**53) - 1]),
            "entry 0 is -9007199254740993, .* that float64 rounds",
        ),
        (np.array([2**63 - 1]), "entry 0 is 9223372036854775807"),
        (
            np.array([0, 2**64 - 1], dtype=np.uint64),
            "entry 1 is 18446744073709551615, a number of type uint64",
        ),
        (
            np.array([1, 1 + np.finfo(np.longdouble).eps]),
            "entry 1 is 1.0.*1, .* that float64 rounds",
        ),
        (
            np.array([np.longdouble("1e400")]),
            r"entry 0 is 1e\+400, .* that float64 rounds",
        ),
        (np.array([np.longdouble("nan")]), "entry 0 is nan, expected a finite number"),
        (np.array(2**53 + 1), r"entry \(\) is 9007199254740993"),
    ],
    ids=str,
)
@pytest.mark.skipif(
    np.finfo(np.longdouble).bits <= 64, reason="long doubles are doubles here"
)
def test_what_float64_does_not_have_is_refused_and_never_rounded(
    numbers: np.ndarray, words: str
) -> None:
    with pytest.raises(InputError, match=words):
        finite(numbers, "keys")


def test_large_whole_numbers_that_float64_has_are_read() -> None:
    numbers = np.array([2**53, -(2**63), 2**62 + 2**20])
    assert list(map(int, finite(numbers, "keys"))) == numbers.tolist()


def test_decimals_are_read_as_the_nearest_float(tmp_path: Path) -> None:
    (tmp_path / "q.json").write_text("[9007199254740993, 0.1]")
    (tmp_path / "q.csv").write_text("9007199254740993,0.1\n")
    for suffix in ("json", "csv"):
        assert read_array(tmp_path / f"q.{suffix}").ravel().tolist() == [2.0**53, 0.1]


def test_what_is_read_is_not_the_file(tmp_path: Path) -> None:
    np.save(tmp_path / "q.npy", TABLE)
    read = read_array(tmp_path / "q.npy")
    np.save(tmp_path / "q.npy", -TABLE)
    np.testing.assert_array_equal(read, TABLE)
    read[0, 0] = 7.0  # and it can be written to


def _several(folder: Path) -> Path:
    path = folder / "layer.safetensors"
    save_file(
        {
            "model.q.weight": TABLE,
            "b[0]": np.arange(12.0).reshape(3, 4).astype(ml_dtypes.bfloat16),
        },
        path,
    )
    return path


@pytest.mark.parametrize(
    ("part", "numbers"),
    [
        (":model.q.weight", TABLE),
        (":model.q.weight[0]", TABLE[0]),
        (":model.q.weight[:, 1]", TABLE[:, 1]),
        (":model.q.weight[ -1 , 0:1]", TABLE[-1, 0:1]),
        (":b[0][::2, 1:]", np.arange(12.0).reshape(3, 4)[::2, 1:]),
        (":b[0][2:, ::-1]", np.arange(12.0).reshape(3, 4)[2:, ::-1]),
    ],
)
def test_one_tensor_of_several_and_its_parts_are_read(
    tmp_path: Path, part: str, numbers: np.ndarray
) -> None:
    np.testing.assert_array_equal(read_array(f"{_several(tmp_path)}{part}"), numbers)
    np.testing.assert_array_equal(
        read_array(Path(f"{_several(tmp_path)}{part}")), numbers
    )


@pytest.mark.parametrize(
    ("part", "words"),
    [
        ("", r"holds 2 tensors \(.*\): say which, layer.safetensors:"),
        (":q", r"there is no tensor q: the file holds 2 tensors \(.*model.q.weight"),
        (":model.q.weight[]", r"\[\] is no slice"),
        (":model.q.weight[0,]", r"\[0,\] is no slice"),
        (":model.q.weight[a:b]", r"\[a:b\] is no slice"),
        (":model.q.weight[0.5]", r"is no slice"),
        (":model.q.weight[__import__('os')]", r"is no slice"),
        (":model.q.weight[2]", r"\[2\] does not fit an array of shape \(2, 2\)"),
        (":model.q.weight[0, 0, 0]", r"does not fit an array of shape \(2, 2\)"),
        (":model.q.weight[::0]", r"does not fit an array of shape \(2, 2\)"),
        (":model.q.weight[1:1]", r"which is empty"),
    ],
)
def test_a_tensor_or_part_that_is_not_there_is_refused(
    tmp_path: Path, part: str, words: str
) -> None:
    with pytest.raises(InputError, match=words):
        read_array(f"{_several(tmp_path)}{part}")


def test_a_tensor_of_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no such file"):
        read_array(tmp_path / "none.safetensors:q")


def _tensors() -> dict[str, object]:
    numbers = torch.tensor(TABLE)
    return {
        "parameter": torch.nn.Parameter(numbers.clone()),
        "bfloat16": numbers.bfloat16(),
        "a parameter in bfloat16": torch.nn.Parameter(numbers.bfloat16()),
        "float8": numbers.to(torch.float8_e5m2),
        "half": numbers.half(),
        "ml_dtypes": TABLE.astype(ml_dtypes.bfloat16),
        "lists": TABLE.tolist(),
    }


@pytest.mark.parametrize("kind", _tensors())
def test_tensors_and_parameters_are_arrays(kind: str) -> None:
    np.testing.assert_array_equal(finite(_tensors()[kind], "keys"), TABLE)


@pytest.mark.parametrize("kind", [kind for kind in _tensors() if kind != "float8"])
def test_tensors_and_parameters_go_wherever_an_array_goes(kind: str) -> None:
    given: Any = _tensors()[kind]
    truncated = truncate(given, rank=1).singular_values
    np.testing.assert_allclose(truncated, truncate(TABLE, rank=1).singular_values)
    assert closest_pair(Learned(given), 2) == closest_pair(Learned(TABLE), 2)
    assert design(given, copy(0)).word == "designed"
    rows: Any = [given] if isinstance(given, list) else given[None]
    found = row_statistics(rows, rows, scale=1.0)
    np.testing.assert_allclose(
        found.lse, row_statistics(TABLE[None], TABLE[None], scale=1.0).lse, rtol=1e-6
    )


@pytest.mark.parametrize("kind", [kind for kind in _tensors() if kind != "float8"])
def test_attention_takes_tensors_and_parameters(kind: str) -> None:
    given = _tensors()[kind]
    pattern = attend(given, given).pattern
    np.testing.assert_allclose(
        finite(pattern, "pattern"), attend(TABLE, TABLE).pattern, atol=1e-2
    )


def test_what_is_no_array_is_refused_in_a_sentence() -> None:
    with pytest.raises(
        InputError, match="got ndarray, Tensor: expected arrays of one kind"
    ):
        attend([[1.0]], torch.eye(1))
    with pytest.raises(InputError, match="keys is a Tensor that is no array"):
        finite(torch.eye(2).to_sparse(), "keys")
    with pytest.raises(InputError, match="keys is a list that is no array"):
        finite([[1.0], [1.0, 2.0]], "keys")


def test_nobody_is_advised_to_unpickle(tmp_path: Path) -> None:
    path = tmp_path / "objects.npy"
    path.write_text("hello")
    with pytest.raises(InputError) as refused:
        read_array(path)
    assert "pickle" not in str(refused.value)


def test_a_pipe_is_written_to_and_not_replaced(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    write_whole(pipe, b"through")
    assert os.read(reader, 100) == b"through"
    os.close(reader)
    assert pipe.is_fifo()


def test_a_link_is_followed_and_not_replaced(tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "there")
    write_whole(link, b"all of it")
    assert link.is_symlink()
    assert (tmp_path / "there").read_bytes() == b"all of it"


@pytest.mark.parametrize(
    ("content", "shape"),
    [
        ("1.0,2.0", (1, 2)),
        ("1\n2\n3\n", (3, 1)),
        ("\ufeff1,2\n", (1, 2)),
        ("7\n", (1, 1)),
    ],
)
def test_lines_of_csv_are_rows_even_if_there_is_one(
    tmp_path: Path, content: str, shape: tuple[int, int]
) -> None:
    (tmp_path / "keys.csv").write_text(content, encoding="utf-8")
    assert read_array(tmp_path / "keys.csv", axes=2).shape == shape


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("1;2\n3;4\n", "line 1 is '1;2': separate the numbers by commas"),
        ("1 2\n3 4\n", "line 1 is '1 2': separate the numbers by commas"),
        ("x,y\n1,2\n", "line 1 is 'x,y': remove the header"),
        ("1,2\n\n3,four\n", "line 3 is '3,four': expected numbers, found 'four'"),
        (
            "1,2\r\n3\r\n",
            "line 2 has another number of entries than line 1: 1, expected 2",
        ),
        ("1,2\n3,\n", "line 2 is '3,': expected numbers, found ''"),
    ],
)
def test_csv_that_is_no_table_is_refused_with_its_line_and_the_remedy(
    tmp_path: Path, content: str, words: str
) -> None:
    (tmp_path / "keys.csv").write_bytes(content.encode())
    with pytest.raises(InputError, match=re.escape(words)):
        read_array(tmp_path / "keys.csv", axes=2)
