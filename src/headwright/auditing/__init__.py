"""What the heads of a trained model do on a text.

auditor             from a model to an audit
result              the result, as data
documents           the texts that a model is run on, and random tokens that repeat
measures            what is measured of each head: one table, and how it is computed
head_findings       the results of each head, and its roles
every_text_summary  bounds over every text, the part that a report shows, within a bounded amount of work
engine              the work in pieces, in this process or on a cluster
explain             one head, row by row, with the shortest query that would do the same; and examples to show
report              the report as a page, as data, as sentences
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
