"""The checker of certificates about ranges: it bounds every head again, and shares the reader of weights alone.

It follows docs/explanation/ranges.md, and uses its letters in comments.

allowances   what rounding may change, in exact fractions: section Rounding
enclosed     numbers in ball arithmetic, by short names
projections  what a head is of the vector that a norm returns, with its rounding errors: section Exact numbers
lengths      the largest length of such a head, and of its pairs: paragraph Length
heads        channels, length and pairs of a head after its rotation
layers       every head of a layer, and its scores
verify       a statement against the weights
"""
