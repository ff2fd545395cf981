"""Our ES modules as one text."""

from __future__ import annotations

from pathlib import Path

import pytest

from headwright import theme
from headwright.errors import InputError
from headwright.lab import STATIC
from headwright.widgets.bundle import bundled


def written(folder: Path, **modules: str) -> Path:
    for name, text in modules.items():
        (folder / f"{name}.js").write_text(text)
    return folder / "main.js"


def test_a_module_that_is_imported_twice_is_there_once(tmp_path: Path) -> None:
    main = written(
        tmp_path,
        main='import { b } from "./b.js";\nimport { a } from "./a.js";\nexport default { a, b };',
        a="export const a = 1;\nexport function more() {}",
        b='import { a } from "./a.js";\nexport const b = a + 1;',
    )
    text = bundled(main)
    assert text.count("const a = 1;") == 1
    assert text.index("const a = 1;") < text.index("const b = a + 1;")
    assert "return { a, more };" in text
    assert text.endswith("export default { a, b };")


@pytest.mark.parametrize(
    "odd",
    [
        'import * as all from "./a.js";',
        'import { a as b } from "./a.js";',
        'import "./a.js";',
        'export * from "./a.js";',
        "export let a = 1;",
        "export { a };",
    ],
)
def test_what_is_not_understood_is_refused(tmp_path: Path, odd: str) -> None:
    main = written(tmp_path, main='import { c } from "./c.js";\nexport default { c };', a="export const a = 1;", c=odd)
    with pytest.raises(InputError, match="not supported"):
        bundled(main)


def test_modules_that_import_each_other_are_refused(tmp_path: Path) -> None:
    main = written(
        tmp_path,
        main='import { a } from "./a.js";\nexport default { a };',
        a='import { b } from "./b.js";\nexport const a = 1;',
        b='import { a } from "./a.js";\nexport const b = 1;',
    )
    with pytest.raises(InputError, match="imports itself"):
        bundled(main)


def test_the_lab_s_design_view_is_linked_from_the_lab_s_own_modules() -> None:
    text = bundled(STATIC / "widgets" / "design.js", {"theme.css": theme.css()})
    assert (STATIC / "views" / "design" / "scene.js").read_text().split("export class Scene")[1][:200] in text
    assert "\nimport " not in text
