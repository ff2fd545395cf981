"""What the heads of a trained model do, on a text and by what margin.

auditor     the table of contents: from a model to an audit
documents   what a model is read on: texts, and random tokens that repeat
loading     where queries, keys and values come from: the model that is built in, and trained ones
rows        statistics of the rows of a pattern, at any length, without the pattern
findings    what is found out about each head, as summaries that merge
texts       what first-layer heads do on every text there is, with the text that attains it
everywhere  of these, what a report says, within a bounded amount of work
engine      who does the work
explain     one head, row by row, with the shortest query that would do the same; gallery picks heads worth it
report      what was found, told: a page, data, sentences

The public names are those of __init__.pyi; each loads its module on first use.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
