"""Exercises about keys and queries: exact algebra over classes of keys that share a score.

classes    keys grouped by the part they play; vectors by their coordinates on the groups
scene      what the names of a formula mean: keys, queries, patterns, outputs, parameters
meaning    formulas into exact scalars and vectors
bounds     what an answer says of its own names, and that it restricts nothing; own: their ranges
limits     what a pattern becomes as a free factor grows
chance     random lengths: probabilities and spread, exactly
advice     what a teacher would add: thresholds, the shortest query, a picture of the failure
"""
