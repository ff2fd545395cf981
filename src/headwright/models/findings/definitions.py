"""What each number of a report means: one sentence each, for the page, the JSON and the reader."""

from __future__ import annotations

AWAY = (
    "Away from the first token: the pattern without the first token, scaled to sum 1; a mean weighs each row by its "
    "attention that is not on the first token. Many heads rest there when they have nothing to do, which would "
    "otherwise hide what they do."
)
INTERVAL = (
    "95 %, by Student's t over documents; given where there are at least 8. They speak of other documents like these: "
    "of texts of the kind that were given, of more passages of the one text that was cut into documents, or of other "
    "random sequences. With fewer documents there is no interval: the mean is that of what was measured, and how far "
    "other texts differ is not known."
)
MEANINGS = {
    "sink": "mean weight of the first token",
    "resting": "part of the rows that the first token wins",
    "previous": "mean weight of the token before, the first one left out",
    "self": "mean weight of the row's own token",
    "duplicate": "mean weight of earlier places that hold the same token, the first one left out",
    "induction": "on repeated random tokens, 64 of them four times where there is room: mean weight of the tokens that "
    "followed earlier places of the same token",
    "induction_long": "the same on one sequence that fills the longest context: a quarter of it, four times, or what "
    "the vocabulary allows, more often",
    "largest": "mean of the largest weight in a row",
    "entropy": "mean entropy of a row, in nats",
    "previous_away": "previous, away from the first token",
    "self_away": "self, away from the first token",
    "duplicate_away": "duplicate, away from the first token",
    "induction_away": "induction, away from the first token",
    "induction_long_away": "induction_long, away from the first token",
    "largest_away": "largest, away from the first token",
    "entropy_away": "entropy, away from the first token",
    "distance_away": "mean number of places between a row and what it attends to, away from the first token",
    "copying_away": "part of the rows whose largest weight, away from the first token, is at least 10/11: these copy "
    "one key up to eps = 1/10",
    "averaging_away": "part of the rows that average, away from the first token: they use at least 3 keys (exp of the "
    "entropy), and the largest weight is at most twice an even share",
    "margin": "by how much the largest score of a row leads, in nats; quantiles over all rows",
    "margin_away": "the same, over the rows that the first token does not win",
    "ball_away": "margin / (2 scale |q|): all keys may move by less than this, in any direction, and the same key wins "
    "the row; as a part of the mean length of the head's keys, over the rows that the first token does not win",
    "rounding": "keys rounded as a cache in few bits would (int8: multiples of a 127th of the largest number of a key; "
    "int4: 16 even steps from the smallest to the largest number of a key or channel; fp8: e4m3, unscaled): mean and "
    "largest total variation between the patterns before and after, the proven bound tanh(delta / 2) for score errors "
    "of half-range delta (its mean), and the part of rows that another key wins; on at most 64 rows of each document, "
    "spread evenly",
    "share": "the head's part of what its layer writes into the residual stream, by mean squared length, on the rows "
    "of 'rounding'; dead: less than a hundredth of an even share",
    "rank": "the smallest rank that certainly keeps 90 % of sum sigma^2 of the circuit (proven, for the matrices as "
    "they are; positions and biases apart). No sigma_k exceeds |A|_F / sqrt(k)",
    "order": "how far the head's output at the last place, before W_O, moves, relatively, when the tokens between the "
    "first (and other special ones in front) and the last are shuffled: the largest of several shuffles",
}
ROLES = {
    "first token": "gives the first token more than half of its attention, on average",
    "previous token": "attends to the previous token with more than half of its attention away from the first",
    "self": "attends to its own token with more than half of its attention away from the first",
    "duplicate token": "attends to earlier places of the same token with more than half of its attention away from the "
    "first",
    "induction": "on repeated random tokens, attends to what followed the same token before with more than half of its "
    "attention away from the first",
    "long induction": "the same on repeated random tokens that fill the longest context",
    "copies": "gives one key at least 10/11 in more than half of its attention away from the first",
    "averages": "spreads evenly over several keys in more than half of its attention away from the first",
    "dead": "writes less than a hundredth of an even share of its layer",
}
