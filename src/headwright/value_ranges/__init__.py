"""Ranges: what keys, values and scores can be, on every text, in every layer, from the weights alone.

measure         hw.ranges: from a model to its ranges
arithmetic      which roundings a statement covers
layer           what decides the queries, keys and values of a layer, as numbers
affine          the largest values of an affine map on a ball, from above
bounds          the theorem, for one layer
result          ranges as data
verdicts        what they mean for a cache and for scores
sentences       ranges in words
rows            ranges as rows of a table
as_json         ranges as JSON
observed        what a text shows beside what is proved
close_texts     a search for a text whose keys come close to their bound
cache_scales    scales of an 8-bit cache, and the files in which runtimes read them
open_model      from a name, or a model in memory, to its tensors and its configuration
description     what a configuration says
config_numbers  numbers that it says
rotations       which channels it rotates with each other
families        families of models as one table
tensors         tensors by name, one at a time
statement       the certificate: a bound for each head, as a document
make_statement  the statement that ranges make
verify_certificate  such a document against the weights
checker         bounds every head again, by other means
read_layers     the layers of a model, one at a time
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
