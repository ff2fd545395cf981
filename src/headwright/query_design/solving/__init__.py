"""The shortest query of a convex program, in floating point (untrusted).

problem       the convex program, and the solver's result
score_ranges  the range of the scores of uncertain keys for a query
constraints   the constraints at a query: values, slopes, curvature
log_sum_exp   ln sum exp over the keys that are no targets
search        descents on a weighted sample of many keys, until the result holds for all of them
bounds        the violation of a query, and dual bounds
solver        all of it, behind one function
"""
