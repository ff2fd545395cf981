"""The formats of certificates: how one about keys or heads is written, and what those about a model have in common."""

from __future__ import annotations

import json
import re
from typing import Any

from headwright.certificates.exact.certificate import FORMAT, VERSION

FIRST_LAYER = "headwright every-text certificate"
NEXT_TOKEN = "headwright next-token certificate"  # noqa: S105  (no password)
RANGES = "headwright ranges certificate"
ABOUT_MODELS = (FIRST_LAYER, NEXT_TOKEN, RANGES)
# A name, not a sentence: the words of a statement repeat it.
MODEL_NAME = re.compile(r"[\w./:-]{1,200}", re.ASCII)


def certificate_text(statement: dict[str, Any], evidence: dict[str, Any]) -> str:
    """A certificate about keys or heads, as the exact checker reads it."""
    document = {
        "format": FORMAT,
        "version": VERSION,
        "statement": statement,
        "evidence": evidence,
    }
    return json.dumps(document, indent=1) + "\n"
