"""The formats of certificates that are about a model, and how such a certificate may call its model."""

from __future__ import annotations

import re

FIRST_LAYER = "headwright every-text certificate"
NEXT_TOKEN = "headwright next-token certificate"  # noqa: S105  (no password)
ABOUT_MODELS = (FIRST_LAYER, NEXT_TOKEN)
# A name, not a sentence: the words of a statement repeat it.
MODEL_NAME = re.compile(r"[\w./:-]{1,200}", re.ASCII)
