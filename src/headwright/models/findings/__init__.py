"""Measurements of each head, and how they are accumulated over texts.

summary         sums, counts and peaks that merge; means with intervals, quantiles
first_token     the rows of a layer, with the first token and without it
behaviour       first, previous, own and equal tokens, induction; copying and averaging; how sharp, how far
fragility       margins; the ball of key changes that cannot change the largest weight
rounding        keys in few bits: total variation measured, and its proven bound
circuits        singular values of QK and OV, enclosed; the size of a head's output: dead heads
shuffling       the effect of shuffling the tokens
heads           all of it, head by head
definitions     what each number means
"""
