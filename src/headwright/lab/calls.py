"""All views in the order of the front page, and their calls. A new view is a module in views/ and a line below."""

from __future__ import annotations

from headwright.lab.view import ApiCall, View
from headwright.lab.views import (
    audit,
    check,
    conform,
    design,
    heads,
    noise,
    order,
    rank,
    verify,
)

VIEWS: tuple[View, ...] = (
    design.VIEW,
    noise.VIEW,
    order.VIEW,
    check.VIEW,
    heads.VIEW,
    audit.VIEW,
    rank.VIEW,
    conform.VIEW,
    verify.VIEW,
)
CALLS: dict[str, ApiCall] = {call.name: call for view in VIEWS for call in view.calls}
