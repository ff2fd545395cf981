"""Verify what induction does in every text of a group, from the weights of two attention layers.

Head h of the first layer adds to x_r, at place r, the average of o^h_m, m <= r, with weights e^(s_rm). The result is
y_r. Here x and o depend on the place and its token, s_rm on the tokens at r and m and, where vectors are turned, on
r - m. Head i of the second layer, seen from the end f, has the scores g_k = y_f M_k y_k and the pattern p_k; the logit
of b less that of another token is y_f . d + the sum over i and k of p_k y_k . e_i.

Theorem 1 (an average) bounds the averages of the first layer over every text: `averages`. With it y_k along any
direction is bounded, by the tokens at k - 1 and k: `tables`. So are the scores and values of the second layer, and
theorem 2 (a head) bounds what its heads give: `second_layer`. `verify` reads the statement: a group may be cut into
parts, by the token at a place; these are all its texts, and each part is bounded so.

It shares the arithmetic of `numerics` with the search, and nothing else.
"""

from headwright.text_bounds.induction.checker.verify import check_claims

__all__ = ["check_claims"]
