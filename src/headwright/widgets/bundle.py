"""Join ES modules into one: a notebook needs a widget as a single module, and there is no build step.

Each module becomes a function body that returns its exports. Only the forms of import and export that our modules use
are supported; any other is refused.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path

from headwright.errors import InputError

IMPORT = re.compile(r'^import \{([^}]*)\} from "([^"]+\.js)";$', re.M)
SHEET = re.compile(r'^import (\w+) from "([^"]+\.css)" with \{ type: "css" \};$', re.M)
EXPORT = re.compile(r"^export (?=(?:async function|function|class|const) (\w+))", re.M)
DEFAULT = re.compile(r"^export default ([^;]+);$", re.M)
REST = re.compile(r"^(?:import|export)\b.*$", re.M)


def bundled(entry: Path, sheets: Mapping[str, str] | None = None) -> str:
    """The module at `entry` with everything it imports, as one module with the same default export.

    Style sheets that are not files are given by name.

    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "two.js").write_text('export const two = 2;')
    >>> _ = (folder / "main.js").write_text('import { two } from "./two.js";\\nexport default { two };')
    >>> print(bundled(folder / "main.js"))
    const m0 = (() => {
    const two = 2;
    return { two };
    })();
    const { two } = m0;
    export default { two };
    """
    done: dict[Path, str] = {}
    parts: list[str] = []
    body = _bundled(entry.resolve(), done, parts, sheets or {})
    return "\n".join([*parts, body])


def _bundled(
    path: Path, done: dict[Path, str], parts: list[str], sheets: Mapping[str, str], above: tuple[Path, ...] = ()
) -> str:
    """The text of one module with its imports replaced; the imported modules are added to `parts`."""
    if path in above:
        raise InputError(f"{path.name} imports itself, by way of {' and '.join(one.name for one in above)}")
    text = path.read_text(encoding="utf-8")

    def module(found: re.Match[str]) -> str:
        if " as " in found[1]:
            raise InputError(f"{path.name}: {found[0]!r} is not supported")
        return (
            f"const {{{found[1]}}} = {_name((path.parent / found[2]).resolve(), done, parts, sheets, (*above, path))};"
        )

    def sheet(found: re.Match[str]) -> str:
        name = Path(found[2]).name
        look = sheets[name] if name in sheets else (path.parent / found[2]).read_text(encoding="utf-8")
        return f"const {found[1]} = new CSSStyleSheet();\n{found[1]}.replaceSync({json.dumps(look)});"

    text = SHEET.sub(sheet, IMPORT.sub(module, text))
    if above:
        exported = EXPORT.findall(text)
        text = f"{EXPORT.sub('', text).strip()}\nreturn {{ {', '.join(exported)} }};"
    odd = [line for line in REST.findall(text) if above or not DEFAULT.fullmatch(line)]
    if odd:
        raise InputError(f"{path.name}: {odd[0]!r} is not supported")
    return text.strip()


def _name(
    path: Path, done: dict[Path, str], parts: list[str], sheets: Mapping[str, str], above: tuple[Path, ...]
) -> str:
    """The variable with the exports of a module; the module is added first if it is new."""
    if path not in done:
        body = _bundled(path, done, parts, sheets, above)
        done[path] = f"m{len(done)}"
        parts.append(f"const {done[path]} = (() => {{\n{body}\n}})();")
    return done[path]
