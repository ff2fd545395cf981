"""Attention statistics in the user's own loop: a model of the transformers library is watched while it runs.

statistics  the statistics of one call of the attention, for any mask, in blocks of whole rows
recorded    what was seen: by layer, by run, by head
hook        `watch`, and the attention implementation `headwright`
"""

from headwright.models.watching.hook import seen, watch
from headwright.models.watching.recorded import Seen

__all__ = ["Seen", "seen", "watch"]
