"""Evidence that no query is shorter, or that there is none; the checkers decide whether it is valid.

key_placement    where uncertain keys stand in a bound
random_keys      bounds for any query where keys are random
least_violation  the query with the smallest violation of an impossible target
cancellation     distributions corrected by exact rationals, so that the keys cancel
impossible       proofs that there is no query
several_heads    several heads: bounds and proofs in one fixed realization
"""
