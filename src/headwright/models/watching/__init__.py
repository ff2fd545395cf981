"""Attention statistics in the user's own loop: a model of the transformers library is watched while it runs.

api         `watch`, `seen`, `register`
hook        the attention that calls the one that was there, and then the recorder
recorder    which run a call belongs to; decode steps, computed together
recorded    what was seen: by layer, by run, by head
statistics  the statistics of one call of the attention, for any mask, in blocks of whole rows
names       the names of statistics
"""

from headwright.models.watching.api import register, seen, watch

__all__ = ["register", "seen", "watch"]
