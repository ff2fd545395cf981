"""The lab's Design view as a notebook widget; Python reads what is set there, with its certificate.

    from headwright import widgets
    view = widgets.design(keys)     # drag, click, type
    view.found                      # the design of what is shown, verified in this kernel

bundle       joins the lab's ES modules into one
designview   the Design view as a widget
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwright.errors import InputError, install_line

if TYPE_CHECKING:
    import numpy as np
    from jaxtyping import Float

    from headwright.queries import Wish
    from headwright.widgets.designview import DesignView

__all__ = ["design"]


def design(
    keys: Float[np.ndarray, "n d"],
    wish: Wish | None = None,
    *,
    scale: str = "1",
    heads: int = 1,
) -> DesignView:
    """A widget with these keys and this wish (key 0, if none is given): `keys`, `wish`, `query` and `found` read it.

    >>> import numpy as np
    >>> view = design(np.eye(3))
    >>> view.found.word
    'designed'
    """
    try:
        from headwright.widgets.designview import DesignView, addressed
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] not in ("anywidget", "traitlets", "ipywidgets"):
            raise
        raise InputError(f"widgets need {error.name}: {install_line('notebook')}") from error
    return DesignView(*addressed(keys, wish, scale=scale, heads=heads))
