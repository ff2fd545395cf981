"""This very Headwright as a wheel, packed from where it is installed.

A grader must run the code that its teacher tried. So the wheel goes into the zip, and the name is never looked up in an
index, where somebody else may have taken it.
"""

from __future__ import annotations

import base64
import hashlib
import zipfile
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

import headwright
from headwright.errors import InputError

NAME = "headwright"
WHEEL = "Wheel-Version: 1.0\nGenerator: headwright\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
LONG_AGO = (1980, 1, 1, 0, 0, 0)  # the same files make the same wheel


def pack_wheel(folder: Path) -> str:
    """Write the wheel into a folder; returns its name.

    >>> import tempfile
    >>> pack_wheel(Path(tempfile.mkdtemp())) == f"headwright-{headwright.__version__}-py3-none-any.whl"
    True
    """
    installed = _installed()
    home = Path(headwright.__file__).parent
    files = {
        f"{NAME}/{path.relative_to(home).as_posix()}": path.read_bytes()
        for path in sorted(home.rglob("*"))
        if path.is_file() and "__pycache__" not in path.parts and path.suffix != ".pyc"
    }
    about = f"{NAME}-{installed.version}.dist-info"
    for name in ("METADATA", "entry_points.txt", "licenses/LICENSE"):
        text = installed.read_text(name)
        if text is not None:
            files[f"{about}/{name}"] = text.encode()
    files[f"{about}/WHEEL"] = WHEEL.encode()
    record = [f"{name},sha256={_digest(content)},{len(content)}\n" for name, content in files.items()]
    files[f"{about}/RECORD"] = "".join([*record, f"{about}/RECORD,,\n"]).encode()
    wheel = f"{NAME}-{installed.version}-py3-none-any.whl"
    with zipfile.ZipFile(folder / wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(zipfile.ZipInfo(name, LONG_AGO), content, zipfile.ZIP_DEFLATED)
    return wheel


def requirements() -> list[str]:
    """What Headwright needs, as pip reads it; without extras, and without Headwright itself.

    >>> any(line.startswith("numpy") for line in requirements())
    True
    """
    return [line for line in _installed().requires or () if "extra ==" not in line]


def _installed() -> Distribution:
    try:
        return distribution(NAME)
    except PackageNotFoundError as error:
        raise InputError("Headwright is not installed here, so it cannot be packed: pip install it first") from error


def _digest(content: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
