"""What is taken out of a formula before it is parsed: numbers of equations, reasons beside a line, marks at its end."""

from __future__ import annotations

import re

_REASON = r"\\(?:text|textrm|mbox)\{\s*\(?\s*(?:by|using|since|because|def|definition|from|see)\b"
_RESTRICTING = "for|if|when|whenever|where|unless|except|otherwise|only|some|one|with|provided|most|half|as|not|or"
_TIDY = (  # what is left out, or spelled out, before a formula is parsed
    (
        r"\s*(?:\\q?quad|\\tag|\\hfill|\s{2,})\s*(?:\(\d{1,3}[a-z]?\)|\{\d{1,3}[a-z]?\})\s*$",
        "",
    ),  # a number: (3)
    (
        rf"\s*(?:&&?|\\q?quad)\s*\(\s*{_REASON}[^{{}}]*\}}(?:[^()]|\([^()]*\))*\)\s*(?=\\\\|$)",
        "",
    ),  # reasons
    (rf"\s*(?:&&?|\\q?quad)\s*{_REASON}[^{{}}$]*\}}\s*(?=\\\\|$)", ""),
    (
        rf"\s*&&\s*\\text\{{(?![^{{}}]*\b(?:{_RESTRICTING})\b)[^{{}}$]*\}}\s*(?=\\\\|$)",
        "",
    ),
    (
        r"^\s*\\text\{\s*(?:[tT]hen|[sS]o|[hH]ence|[tT]hus|[tT]herefore)\s*,?\s*\}\s*",
        "",
    ),
    (r"[.,;:]\s*$", ""),
    (
        r"\\in\s*\\mathbb\s*\{?\s*R\s*\}?\s*(?:[\^_]\s*\{?\s*\+\s*\}?|_\s*\{\s*>\s*0\s*\})",
        "> 0",
    ),
    (r"\\Delta\s+([a-z])(?![a-zA-Z])", r"\\Delta_{\1}"),
)


_REASON_BESIDE = re.compile(  # '&& \text{as } U^\top U = I' at the end of a line
    r"\s*(?:&&?|\\q?quad|,)\s*\\text\{\s*(?:as|since|because|by|using|where we used)\s*\}"
    r"(?P<reason>(?:(?!\\\\|\\to\b|\\rightarrow|\\gg|\\ll|\\text)[^&])+?)(?=\\\\|\\end|\s*$)"
)


def without_reasons(text: str) -> tuple[str, list[str]]:
    """A display without the reasons at the ends of its lines, and the formulas that are given as reasons."""
    reasons = [found["reason"].strip(" .,") for found in _REASON_BESIDE.finditer(text)]
    return _REASON_BESIDE.sub("", text), [one for one in reasons if one]


def tidy(text: str) -> str:
    """Without the mark that ends a sentence and without a number, and with two habits spelled out."""
    for pattern, instead in _TIDY:
        text = re.sub(pattern, instead, text)
    return text.strip()
