r"""The text of an HTML page, as students write it into the editors of Moodle and Canvas.

Paragraphs, lists and line breaks become lines. LaTeX in the text stays as it is; of an
editor's equation, the LaTeX that it was made from is read. What is struck out, scripts
and styles go. What cannot be read, as a picture, is named in its place.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from html.parser import HTMLParser

from headwright.errors import InputError

PICTURE = "[a picture, which is not read]"
MATHML = "[a formula in MathML, which is not read]"
_NOT_SHOWN = {"script", "style", "template", "noscript", "object", "iframe", "svg"}
_STRUCK = {"del", "s", "strike"}
_CELLS = {"td", "th"}
_BLOCK_NAMES = """
    address article aside blockquote center dd div dl dt fieldset figure footer form
    h1 h2 h3 h4 h5 h6 header hr main nav ol p pre section table ul
"""
_BLOCKS = frozenset(_BLOCK_NAMES.split())
_EMPTY_NAMES = "area base br col embed hr img input link meta source track wbr"
_EMPTY = frozenset(_EMPTY_NAMES.split())
_TEX = "application/x-tex"
_LINE_THROUGH = re.compile(r"text-decoration[\w-]*\s*:[^;]*line-through", re.IGNORECASE)
_DISPLAY = re.compile(r"(\$\$)(.{1,2000}?)\$\$|(\\\[)(.{1,2000}?)\\\]", re.DOTALL)
_MOST_OPEN = 200  # elements within each other


def html_text(content: str) -> str:
    r"""The text of a page.

    >>> html_text(r"<p>q = \(\lambda k<sub>a</sub>\)<br>for n &gt; 2</p><p>$$x$$</p>")
    'q = \\(\\lambda k_{a}\\)\nfor n > 2\n\n$$x$$'
    """
    page = _Page()
    page.feed(content)
    # `close` would take quadratic time for tags that never end, so it is not asked to.
    rest = page.rawdata
    if "<" in rest or page.cdata_elem is not None:
        raise InputError(
            f"is no HTML that can be read: a tag does not end ({rest[:20]!r})"
        )
    page.close()
    return page.text()


class _Page(HTMLParser):
    """Collects what a reader of the page sees."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.pieces: list[str] = []
        self.title = ""
        self.heading: list[str] | None = None  # the text of an h1 that is open
        self.open: list[tuple[str, bool]] = []  # elements, and whether each is dropped
        self.items: list[int | None] = []  # of each open list: the last number, or none
        self.tex: list[str] | None = None  # of a formula in MathML

    def text(self) -> str:
        """The lines, with one blank line between paragraphs."""
        lines = "".join(self.pieces).replace("\xa0", " ").split("\n")
        joined = "\n".join(line.strip() for line in lines)
        text = re.sub(r"\n{3,}", "\n\n", joined).strip("\n")
        # An editor makes a paragraph of each line of a formula.
        return _DISPLAY.sub(lambda formula: formula[0].replace("\n\n", "\n"), text)

    @property
    def _is_dropped(self) -> bool:
        return any(dropped for _, dropped in self.open)

    def _write(self, text: str) -> None:
        if not self._is_dropped:
            self.pieces.append(text)

    def handle_starttag(
        self, tag: str, attrs: Sequence[tuple[str, str | None]]
    ) -> None:
        """Begin an element: its place in the text, and whether it is shown."""
        given = {name: value or "" for name, value in attrs}
        if tag == "img":
            self._write(_formula_of(given) or PICTURE)
        elif tag == "br":
            self._write("\n")
        elif tag in _BLOCKS:
            self._write("\n\n")
        if tag in _EMPTY:
            return
        if len(self.open) >= _MOST_OPEN:
            raise InputError(
                f"is no HTML that can be read: more than {_MOST_OPEN} elements within each other"
            )
        self.open.append((tag, _is_hidden(tag, given) or tag in ("title", "math")))
        if tag in ("ol", "ul"):
            start = given.get("start", "1")
            first = int(start) if start.isdecimal() and len(start) < 5 else 1
            self.items.append(first - 1 if tag == "ol" else None)
        elif tag == "li":
            self._begin_item()
        elif tag == "tr":
            self._write("\n")
        elif tag in ("sub", "sup"):
            self._write("_{" if tag == "sub" else "^{")
        elif tag == "h1":
            self.heading = []
            self._write("# ")
        elif re.fullmatch("h[2-6]", tag):
            self._write("#" * int(tag[1]) + " ")
        elif tag == "annotation" and given.get("encoding") == _TEX:
            self.tex = []

    def _begin_item(self) -> None:
        number = self.items[-1] if self.items else None
        if number is None:
            self._write("\n- ")
        else:
            self.items[-1] = number + 1
            self._write(f"\n{number + 1}. ")

    def handle_endtag(self, tag: str) -> None:
        """End an element, with those in it that were not ended."""
        if tag in _EMPTY or tag not in [name for name, _ in self.open]:
            return
        if tag in ("sub", "sup"):
            self._write("}")
        elif tag == "h1":
            self._end_heading()
        while True:
            name, _ = self.open.pop()
            if name in ("ol", "ul") and self.items:
                self.items.pop()
            if name == tag:
                break
        if tag in _BLOCKS:
            self._write("\n\n")
        elif tag in _CELLS:
            self._write(" ")
        elif tag == "math":
            formula = "".join(self.tex or []).strip()
            self._write(_in_dollars(formula) or MATHML)
            self.tex = None

    def _end_heading(self) -> None:
        """Drop the heading that Canvas adds, which is the page's title: it is not the student's."""
        heading = "".join(self.heading or [])
        if heading.strip() and heading.strip() == self.title.strip():
            while self.pieces and self.pieces.pop() != "# ":
                pass
        self.heading = None

    def handle_data(self, data: str) -> None:
        """Text: spaces and line breaks are one space, but where they are kept."""
        names = [name for name, _ in self.open]
        if names and names[-1] == "title":
            self.title += data
        if self.tex is not None:
            self.tex.append(data)
        if self.heading is not None:
            self.heading.append(data)
        shown = data.replace("<!--", "< !--")  # it was text, and is to stay text
        if "pre" not in names:
            shown = re.sub(r"[ \t\r\n\f]+", " ", shown)
        self._write(shown)


def _is_hidden(tag: str, given: Mapping[str, str]) -> bool:
    """Whether no reader sees an element, or sees it struck out; KaTeX shows each formula twice."""
    style, classes = given.get("style", ""), given.get("class", "").split()
    return (
        tag in _NOT_SHOWN
        or tag in _STRUCK
        or "katex-html" in classes
        or _LINE_THROUGH.search(style) is not None
    )


def _formula_of(given: Mapping[str, str]) -> str:
    """The LaTeX of a picture that Canvas or Moodle made of it, or nothing."""
    classes = given.get("class", "").split()
    if "equation_image" in classes:
        tex = given.get("data-equation-content") or given.get("alt", "")
        return _in_dollars(re.sub(r"^\s*LaTeX:", "", tex, flags=re.IGNORECASE))
    return _in_dollars(given.get("alt", "")) if "texrender" in classes else ""


def _in_dollars(tex: str) -> str:
    """LaTeX as a formula of a text; what has a dollar sign itself is not taken for one."""
    bare = " ".join(tex.split()).removeprefix(r"\displaystyle").strip()
    return f"${bare}$" if bare and "$" not in bare else ""
