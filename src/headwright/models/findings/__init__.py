"""What is found out about each head, and how it is kept while texts stream past.

summary     sums, counts and peaks that merge; means with intervals, quantiles
device      row statistics where the tensors are
away        the rows of a layer, with the first token and away from it
behaviour   first, previous, own and equal tokens, induction; copying and averaging; how sharp, how far
fragility   margins; the ball of key changes that cannot move the winner; shortening
rounding    keys in few bits: total variation measured, and its proven bound
written     what a head writes, against its layer: dead heads
rank        singular values of QK and OV, enclosed
order       what shuffling the tokens does, with and without positions
places      the model's positions at its number type and length
heads       all of it, head by head, with the words that fit
words       what each number means
"""
