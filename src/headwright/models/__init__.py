"""What the heads of a trained model do, on a text and on every text.

auditor             from a model to an audit
documents           the texts that a model is run on, and random tokens that repeat
loading             queries, keys and values of each layer: of the built-in model, and of trained ones
rows                statistics of the rows of a pattern, at any length, without the pattern
watching            the same statistics in the user's own loop, while a model of transformers runs
findings            measurements of each head, as summaries that merge
texts               bounds for first-layer heads over every text, with texts that attain them
every_text_summary  of these, the part that a report shows, within a bounded amount of work
engine              the work in pieces, in this process or on a cluster
explain             one head, row by row, with the shortest query that would do the same; and examples to show
report              the report as a page, as data, as sentences

The public names are those of __init__.pyi; each loads its module on first use.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
