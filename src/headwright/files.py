"""Arrays in, files out. Nothing is unpickled, and a file is written whole or not at all."""

from __future__ import annotations

import csv
import io
import json
import operator
import os
import re
import sys
import tempfile
import zipfile
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, NoReturn, TypeVar

import numpy as np
from jaxtyping import Float

from headwright.errors import InputError

Parsed = TypeVar("Parsed")
SUFFIXES = (".npy", ".npz", ".csv", ".json", ".safetensors")
LARGEST_BYTES = 64 * 2**30  # an .npz can claim any size: refuse before allocating
EXACT_BELOW = 2**53  # every whole number up to this is a float64
SHOWN = 40  # characters of a line that cannot be read
TENSOR = re.compile(
    r"(?P<file>.+\.safetensors):(?P<name>.+?)(?:\[(?P<slice>[^\[\]]*)\])?"
)
RANGE = re.compile(r"(?P<from>-?\d+)?(?P<colon>:(?P<to>-?\d+)?(?::(?P<step>-?\d+)?)?)?")


def read_array(
    source: str | Path, *, what: str = "array", axes: int | None = None
) -> Float[np.ndarray, ...]:
    """The finite real numbers in a file, as float64. The suffix says how to read it.

    `.npy`, `.npz` and `.safetensors` with one array, `.csv` of numbers (a line is a row), `.json` of nested lists, or
    `-` for standard input, which may be any of .npy, .csv and .json. `file.safetensors:name` is one tensor of several,
    and `file.safetensors:name[0:64, 3]` a part of it. Numbers of any binary type are read exactly or refused; a decimal
    in .csv or .json is read as the nearest float64.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "q.json"
    >>> _ = path.write_text("[1, 2.5]")
    >>> read_array(path)
    array([1. , 2.5])
    """
    try:
        array = _read(source)
    except InputError as error:
        raise InputError(f"{what} {source}: {error}") from error
    except FileNotFoundError as error:
        raise InputError(f"{what} {source}: there is no such file") from error
    except OSError as error:
        raise InputError(
            f"{what} {source}: cannot be read ({error.strerror or error})"
        ) from error
    return finite(array, f"{what} {source}", axes)


def unreadable(error: OSError, what: str) -> InputError:
    """Why a file could not be read, in a sentence."""
    reason = error.strerror
    if isinstance(error, FileNotFoundError):
        reason = "there is no such file"
    return InputError(f"{what}: {reason}")


def parse_file(path: str | Path, parse: Callable[[str], Parsed], what: str) -> Parsed:
    """What is parsed from the text of a file; errors name the file."""
    try:
        return parse(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise unreadable(error, f"{what} {path}") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{what} {path}: is not text in UTF-8") from error
    except InputError as error:
        raise InputError(f"{what} {path}: {error}") from error


def plain(array: Any, what: str) -> np.ndarray:
    """The same numbers as NumPy's array: a torch tensor or parameter leaves its graph, its GPU and bfloat16.

    >>> plain([1, 2], "query")
    array([1, 2])
    """
    try:
        if not hasattr(array, "detach"):
            return np.asarray(array)
        tensor = array.detach().cpu()
        # float32 holds what torch has and NumPy has not: bfloat16, and the types of 8 bits
        return np.asarray(
            tensor.float()
            if "bfloat16" in str(tensor.dtype) or "float8" in str(tensor.dtype)
            else tensor
        )
    except (TypeError, ValueError, RuntimeError) as error:
        raise InputError(
            f"{what} is a {type(array).__name__} that is no array: {error}", field=what
        ) from error


def finite(given: Any, what: str, axes: int | None = None) -> Float[np.ndarray, ...]:
    """The same numbers as float64; refused if they are not real, not finite, not float64 numbers, empty or misshapen.

    >>> finite(np.array([1, 2]), "query", axes=1)
    array([1., 2.])
    >>> finite(np.array([1, np.nan]), "query", axes=1)
    Traceback (most recent call last):
    headwright.errors.InputError: query: entry 1 is nan, expected a finite number
    >>> finite(np.array([1, 2**53 + 1]), "query", axes=1)
    Traceback (most recent call last):
    headwright.errors.InputError: query: entry 1 is 9007199254740993, a number of type int64 that float64 rounds: ...
    """
    array: np.ndarray = plain(given, what)
    kind = array.dtype.kind
    if kind not in "biuf" and array.dtype.name != "bfloat16":
        raise InputError(
            f"{what}: holds {array.dtype.name}, expected real numbers", field=what
        )
    if axes is not None and array.ndim != axes:
        raise InputError(
            f"{what}: has shape {array.shape}, expected {axes} {'axis' if axes == 1 else 'axes'}",
            field=what,
        )
    if array.size == 0:
        raise InputError(f"{what}: has shape {array.shape}, which is empty", field=what)
    with np.errstate(over="ignore"):  # what overflows is refused below
        numbers: Float[np.ndarray, ...] = array.astype(np.float64)
    rounded = f"a number of type {array.dtype.name} that float64 rounds: expected one that it has"
    if kind == "f" and array.dtype.itemsize > numbers.itemsize:
        _refuse_entry(
            array,
            np.isfinite(array) & (numbers.astype(array.dtype) != array),
            what,
            rounded,
        )
    elif kind in "iu" and array.dtype.itemsize == numbers.itemsize:
        large = np.asarray(
            (array > EXACT_BELOW) | (array < -EXACT_BELOW if kind == "i" else False)
        )
        large[large] = [
            int(number) != float(number) for number in array[large].tolist()
        ]  # compared exactly
        _refuse_entry(array, large, what, rounded)
    _refuse_entry(numbers, ~np.isfinite(numbers), what, "expected a finite number")
    return numbers


def indices(given: Any, what: str) -> list[int]:
    """Whole numbers, from a list, an array or anything else that holds some.

    >>> indices(np.array([0, 2]), "targets")
    [0, 2]
    >>> indices(3, "targets")
    Traceback (most recent call last):
    headwright.errors.InputError: targets 3: expected indices such as [0, 1]
    """
    try:
        return [operator.index(index) for index in given]
    except TypeError as error:
        raise InputError(
            f"{what} {given!r}: expected indices such as [0, 1]", field=what
        ) from error


def _refuse_entry(array: np.ndarray, bad: np.ndarray, what: str, why: str) -> None:
    if bad.any():
        where = tuple(int(i) for i in np.argwhere(bad)[0])
        entry = where[0] if len(where) == 1 else where
        raise InputError(
            f"{what}: entry {entry} is {array[where]!s}, {why}", field=what
        )


def write_whole(path: str | Path, content: bytes) -> None:
    """Write a file so that no reader ever sees half of it.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "note.txt"
    >>> write_whole(path, b"all of it")
    >>> path.read_bytes()
    b'all of it'
    """
    path = Path(path).resolve()  # a link is followed, not replaced
    if (
        path.exists() and not path.is_file()
    ):  # a device or a pipe is written to, never replaced
        try:
            path.write_bytes(content)
        except OSError as error:
            raise InputError(f"{path}: cannot be written ({error.strerror})") from error
        return
    try:
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    except OSError as error:
        raise InputError(f"{path}: cannot be written ({error.strerror})") from error
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        Path(name).chmod(0o666 & ~_umask())
        Path(name).replace(path)
    except OSError as error:
        raise InputError(f"{path}: cannot be written ({error.strerror})") from error
    finally:
        Path(name).unlink(missing_ok=True)


def _read(source: str | Path) -> np.ndarray:
    if str(source) == "-":
        return _from_bytes(sys.stdin.buffer.read())
    path = Path(source)
    part = TENSOR.fullmatch(str(source))
    if part and not path.exists():
        return _part(_safetensors(Path(part["file"]), part["name"]), part["slice"])
    match path.suffix:
        case ".npy":
            return _npy(path)
        case ".npz":
            return _npz(path)
        case ".safetensors":
            return _safetensors(path)
        case ".csv":
            return _csv(path.read_bytes())
        case ".json":
            return _json(path.read_bytes())
    raise InputError(
        f"has the suffix '{path.suffix}', expected one of {', '.join(SUFFIXES)}"
    )


def _from_bytes(content: bytes) -> np.ndarray:
    if content.startswith(b"\x93NUMPY"):
        try:
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder) / "standard-input.npy"
                path.write_bytes(content)
                return np.array(_npy(path))  # out of the file, which goes
        except OSError as error:
            raise InputError(
                "needs a temporary file: set TMPDIR to a folder that can be written"
            ) from error
    return _json(content) if content.lstrip().startswith(b"[") else _csv(content)


def _npy(path: Path) -> np.ndarray:
    try:
        # Mapped: a header that claims more than the file holds is refused before anything is allocated.
        return np.asarray(np.load(path, mmap_mode="r", allow_pickle=False))
    except (ValueError, EOFError) as error:
        raise InputError(
            f"is no .npy file of plain numbers ({_without_advice(error)})"
        ) from error


def _npz(path: Path) -> np.ndarray:
    try:
        with zipfile.ZipFile(path) as archive:
            name = _only([entry.filename for entry in archive.infolist()])
            if archive.getinfo(name).file_size > LARGEST_BYTES:
                raise InputError(  # noqa: TRY301
                    f"unpacks to more than the {LARGEST_BYTES} bytes allowed"
                )
            with archive.open(name) as member:
                return np.asarray(np.lib.format.read_array(member, allow_pickle=False))
    except InputError:
        raise
    except (ValueError, EOFError, zipfile.BadZipFile) as error:
        raise InputError(
            f"is no .npz file of plain numbers ({_without_advice(error)})"
        ) from error


def _without_advice(error: Exception) -> str:
    """What NumPy says of a file, but not that it could be unpickled: that would run whatever it holds."""
    return (
        "it holds Python objects, or is none at all"
        if "pickle" in str(error)
        else str(error)
    )


def _safetensors(path: Path, name: str | None = None) -> np.ndarray:
    import ml_dtypes  # noqa: F401  (teaches NumPy bfloat16, which safetensors then reads)
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, framework="numpy") as tensors:
            names = list(tensors.keys())
            if name is None and len(names) > 1:
                raise InputError(
                    f"holds {_few(names)}: say which, {path.name}:{names[0]}"
                )
            if name is not None and name not in names:
                raise InputError(
                    f"there is no tensor {name}: the file holds {_few(names)}"
                )
            return np.asarray(tensors.get_tensor(name or _only(names)))
    except SafetensorError as error:
        raise InputError(f"is not a safetensors file ({error})") from error
    except (TypeError, KeyError) as error:
        raise InputError(
            f"holds numbers of a type that NumPy has not ({error})"
        ) from error


def _few(names: list[str]) -> str:
    return f"{len(names)} tensors ({', '.join(names[:4])}{', ...' if len(names) > 4 else ''})"


def _part(array: np.ndarray, written: str | None) -> np.ndarray:
    """What a slice such as `0:64, 3` leaves of an array."""
    if written is None:
        return array
    index: list[int | slice] = []
    for axis in written.split(","):
        found = RANGE.fullmatch(axis.replace(" ", ""))
        if found is None or not axis.strip():
            raise InputError(
                f"[{written}] is no slice: expected numbers and ranges, as in [0:64, 3]"
            )
        bounds = [
            None if found[name] is None else int(found[name])
            for name in ("from", "to", "step")
        ]
        index.append(int(found["from"]) if found["colon"] is None else slice(*bounds))
    try:
        return np.asarray(array[tuple(index)])
    except (IndexError, ValueError) as error:
        raise InputError(
            f"[{written}] does not fit an array of shape {array.shape} ({error})"
        ) from error


def _csv(content: bytes) -> np.ndarray:
    if not content.strip():
        raise InputError("is empty, expected rows of numbers")
    try:
        text = content.decode(
            "utf-8-sig"
        )  # spreadsheets begin a file with a byte order mark
    except UnicodeDecodeError as error:
        raise InputError(
            f"is not a table of numbers: it is no text in UTF-8 ({error.reason})"
        ) from error
    try:
        return np.loadtxt(
            io.StringIO(text), delimiter=",", ndmin=2
        )  # a line is a row, even if there is only one
    except ValueError as error:
        raise InputError(
            f"is not a table of numbers: {_no_table(text) or error}"
        ) from error


def _no_table(text: str) -> str:
    """What is wrong with the first line that is, counted from 1 as editors do; '' where that is not found."""
    first = width = 0
    for number, line in enumerate(text.split("\n"), 1):
        cells = line.partition("#")[0].strip().split(",")
        if cells == [""]:
            continue
        wrong = [cell for cell in cells if not _is_number(cell)]
        shown = line.strip() if len(line) <= SHOWN else f"{line.strip()[:SHOWN]}..."
        if any(
            _is_number(part)
            for cell in wrong
            for part in re.split(r"[;\s]+", cell.strip())
        ):
            return f"line {number} is '{shown}': separate the numbers by commas"
        if wrong and not first:
            return f"line {number} is '{shown}': remove the header, if it is one; expected numbers"
        if wrong:
            return f"line {number} is '{shown}': expected numbers, found '{wrong[0].strip()[:SHOWN]}'"
        if first and len(cells) != width:
            return f"line {number} has another number of entries than line {first}: {len(cells)}, expected {width}"
        first, width = first or number, len(cells)
    return ""


def _is_number(written: str) -> bool:
    try:
        float(written)
    except ValueError:
        return False
    return True


def _json(content: bytes) -> np.ndarray:
    try:
        rows = json.loads(content, parse_int=float, parse_constant=_refuse)
    except RecursionError as error:
        raise InputError(
            "is nested too deeply: expected a list of rows of numbers"
        ) from error
    except ValueError as error:
        raise InputError(f"is not JSON: {error}") from error
    try:
        return np.array(rows)
    except ValueError as error:
        sizes = [len(row) if isinstance(row, list) else 1 for row in rows]
        odd = next((k for k, size in enumerate(sizes) if size != sizes[0]), None)
        differs = (
            ""
            if odd is None
            else f": row 0 has {sizes[0]} numbers, and row {odd} has {sizes[odd]}"
        )
        raise InputError(f"is not a list of rows of equal lengths{differs}") from error


def _only(names: list[str]) -> str:
    if len(names) != 1:
        raise InputError(
            f"holds {len(names)} arrays ({', '.join(names)}), expected one"
        )
    return names[0]


def _refuse(constant: str) -> NoReturn:
    raise InputError(f"{constant} is not a finite number")


def _umask() -> int:
    mask = os.umask(0)  # there is no way to read it but to set it
    os.umask(mask)
    return mask


def encode_table(
    lines: Sequence[Mapping[str, float | int | str | None]], suffix: str
) -> bytes:
    """The content of a .csv or a .parquet file: a line for each entry, and a column for each name.

    >>> encode_table([{"head": 0, "entropy": 1.5}, {"head": 1, "entropy": None}], ".csv")
    b'head,entropy\\n0,1.5\\n1,\\n'
    """
    names = list(dict.fromkeys(name for line in lines for name in line))
    if suffix == ".csv":
        content = io.StringIO()
        writer = csv.DictWriter(content, names, lineterminator="\n")
        writer.writeheader()
        writer.writerows(lines)
        return content.getvalue().encode()
    try:
        pyarrow = import_module("pyarrow")
        parquet = import_module("pyarrow.parquet")
    except ModuleNotFoundError as error:
        raise no_parquet() from error
    columns = {name: [line.get(name) for line in lines] for name in names}
    file = io.BytesIO()
    parquet.write_table(pyarrow.table(columns), file)
    return file.getvalue()


def no_parquet() -> InputError:
    """Raised where the library for it is missing."""
    return InputError(
        "a .parquet file needs pyarrow, which is not installed: pip install pyarrow, or write .csv"
    )
