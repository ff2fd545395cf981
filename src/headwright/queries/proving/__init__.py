"""Evidence that no query is shorter, or that there is none at all; the checker decides whether it is.

places       where uncertain keys stand in a bound
anyquery     bounds about any query where keys are random; pushing moves the keys
nearest      the query that comes closest to an impossible wish
cancel       shares, scales and moves corrected by exact rationals, so that the keys cancel
impossible   proofs that there is no query
oneworld     several heads: bounds and proofs in one fixed world
"""
