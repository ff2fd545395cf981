"""Attention statistics in the user's own loop: a model of the transformers library is watched while it runs.

api               `watch`, `seen`, `register`
hook              which models can be watched, and from when until when
recorder          which run a call of attention belongs to
statistics_queue  statistics of calls: at once, or of decode steps many together
statistics        the statistics of one call, for any mask, in blocks of whole rows
recorded          what was seen: by layer, by run, by head
names             the names of statistics
"""

from headwright.watching.api import register, seen, watch

__all__ = ["register", "seen", "watch"]
