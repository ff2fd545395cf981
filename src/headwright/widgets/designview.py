"""The Design view as a notebook widget: the page sends requests; this kernel computes and verifies designs."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import anywidget
import numpy as np
import traitlets
from pydantic import ValidationError

from headwright import theme
from headwright.errors import HeadwrightError, InputError
from headwright.lab import STATIC
from headwright.lab.views.design import DesignRequest, answered, find, wish_of
from headwright.lab.worker import field_of, throttled
from headwright.queries import Design, Wish, copy
from headwright.validation import sentence
from headwright.widgets.bundle import bundled

if TYPE_CHECKING:
    from jaxtyping import Float

MOST_KEYS, MOST_DIMENSIONS, MOST_HEADS = 200, 16, 4
LEAST_EPS, MOST_EPS = 1e-6, 100


class Page(anywidget.AnyWidget):
    """The state that kernel and page share. (`keys` has another meaning in this base class: hence `DesignView`.)"""

    _esm = bundled(STATIC / "widgets" / "design.js", {"theme.css": theme.css()})
    address = traitlets.Unicode().tag(sync=True)  # the state, in the format of the lab's addresses
    asked = traitlets.Dict().tag(sync=True)  # the request for what is shown, as in the lab's API
    held = traitlets.List(traitlets.Float()).tag(sync=True)  # the query that was edited by hand


class DesignView:
    """Keys and targets that can be changed by hand. Python reads what the page shows.

    >>> view = DesignView(*addressed(np.eye(2), None))
    >>> view.keys.tolist(), view.wish.targets, view.query is None
    ([[1.0, 0.0], [0.0, 1.0]], [0], True)
    >>> view.granted, view.found.checkers
    (True, ('exact', 'float'))
    """

    def __init__(self, address: str, asked: dict[str, Any]) -> None:
        """Show this state; `asked` is its request."""
        self.widget = Page(address=address, asked=asked)  # for boxes and tabs
        self._proved: tuple[dict[str, Any], Design] | None = None
        self.widget.on_msg(self._answer)

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        """For notebooks: the widget."""
        return self.widget._repr_mimebundle_(**kwargs)

    @property
    def keys(self) -> Float[np.ndarray, "n d"]:
        """The current keys."""
        return np.array(self.widget.asked["keys"], dtype=float)

    @property
    def wish(self) -> Wish | None:
        """The current wish (attention target); None without targets."""
        return wish_of(_read(self.widget.asked)) if self._wished() else None

    @property
    def query(self) -> Float[np.ndarray, " d"] | None:
        """The query that was edited by hand, if any; designed queries are in `found`."""
        return np.array(self.widget.held) if self.widget.held else None

    @property
    def found(self) -> Design | None:
        """The design for the current keys and wish, verified in this kernel; None without targets."""
        if not self._wished():
            return None
        asked = self.widget.asked
        if self._proved is None or self._proved[0] != asked:
            self._proved = (asked, find(_read(asked)))
        return self._proved[1]

    @property
    def granted(self) -> bool:
        """Whether `found` has a verified query that meets the wish."""
        return self.found is not None and self.found.word == "designed"

    @property
    def certificate(self) -> str | None:
        """The certificate of `found`, as `headwright verify` reads it."""
        return None if self.found is None else self.found.certificate

    def _wished(self) -> bool:
        return self.widget.asked.get("average") != [] and self.widget.asked.get("at_least") != {}

    def _answer(self, _: object, content: dict[str, Any], __: object) -> None:
        """Answer a request of the page; the request describes what is shown."""
        reply: dict[str, Any]
        try:
            request = _read(content["body"])
            progress = throttled(lambda done: self.widget.send({"id": content["id"], "done": done}))
            self._proved = (content["body"], find(request, progress))
            self.widget.asked = content["body"]
            reply = {"answer": answered(self._proved[1])}
        except HeadwrightError as error:
            reply = {"error": str(error), "where": field_of(str(error), DesignRequest)}
        self.widget.send({"id": content["id"], **reply})


def _read(body: dict[str, Any]) -> DesignRequest:
    try:
        return DesignRequest.model_validate(body)
    except ValidationError as error:
        raise InputError(sentence(error, DesignRequest)) from None


def addressed(
    keys: Float[np.ndarray, "n d"], wish: Wish | None, *, scale: str = "1", heads: int = 1
) -> tuple[str, dict[str, Any]]:
    """The state of the view for these keys and this wish, as an address, and the request for it.

    Where weights are not those of an average, they are rounded to the nearest decimals.

    >>> addressed(np.eye(2), copy(1, "0.2"))[0]
    'n=2&d=2&moved=0:1.0,0.0;1:0.0,1.0&targets=1&eps=0.2&scale=1&heads=1'
    """
    rows = np.asarray(keys, dtype=float)
    if rows.ndim != 2 or not np.isfinite(rows).all():
        raise InputError(f"keys: shape {rows.shape}: expected a matrix of finite numbers, one key a row")
    n, d = rows.shape
    if not (2 <= n <= MOST_KEYS and 2 <= d <= MOST_DIMENSIONS):
        raise InputError(
            f"keys: {n} in {d} dimensions: the widget draws 2 to {MOST_KEYS} keys in 2 to {MOST_DIMENSIONS} dimensions"
        )
    if not 1 <= heads <= MOST_HEADS:
        raise InputError(f"heads is {heads}: the widget draws 1 to {MOST_HEADS}")
    wanted = copy(0, "0.1") if wish is None else wish
    wanted.check_fits(n)
    moved = ";".join(f"{i}:{','.join(map(repr, row))}" for i, row in enumerate(rows.tolist()))
    address, wished = _worded(wanted)
    return (
        f"n={n}&d={d}&moved={moved}&{address}&scale={quote(scale)}&heads={heads}",
        {"keys": rows.tolist(), "scale": scale, "heads": heads, **wished},
    )


def _worded(wish: Wish) -> tuple[str, dict[str, Any]]:
    """A wish as an address and as a request: an average where it is one, else the weights."""
    targets = wish.targets
    eps = 1 / min(wish.least.values()) - len(targets)
    even = len(set(wish.least.values())) == 1 and LEAST_EPS <= eps <= MOST_EPS and Fraction(repr(float(eps))) == eps
    named = ",".join(map(str, targets))
    if even:
        asked = {"copy": targets[0]} if len(targets) == 1 else {"average": targets}
        return f"targets={named}&eps={float(eps)!r}", {**asked, "eps": repr(float(eps))}
    least = {str(target): repr(float(wish.least[target])) for target in targets}
    written = ";".join(f"{target}:{weight}" for target, weight in least.items())
    return f"targets={named}&mode=least&least={written}", {"at_least": least}
