"""For every text: what a head of the first layer does on all texts there are, with the text that attains it.

In the first layer the query and the key of a token depend on the token and its place alone. So the token at each other
place of a text is free, and the extremes of a weight over all texts are found place by place.

head       the scores of a first-layer head, by token and place
sweep      the largest and smallest scores at each place, summed over the places, for every query token
bands      the least and most weight over every text
witness    the text that attains an extreme
together   a few query tokens, all heads: the same in one pass over the places
every_text heads of a first layer over every text: the table of contents
curves     the same for T = 2, 4, 8, ...
pairs      a query token and a key token at a distance, whatever else the text holds
occurrences  the weight on every occurrence of a token
budget     one text, a few of whose tokens may be replaced
two_layers what an induction head keeps of a repeated pair, through two layers
deeper     heads above the first layer, whatever recombination of a text's keys surrounds them
attractors which tokens draw a head
parts      the sweep cut by head and places: on workers, and kept for a run that is killed
outputs    the range of a head's output along a direction
logits     and so of its direct effect on a logit
first      a first layer as numbers; reading and networks take them from models
agreement  whether the layer that was read does what the model does, and whether bounds hold where it runs
instances  texts that a statement is about, run in the model
statement  a statement as a document; certificate makes one of what was found
checker    who looks at it again
gpu, kernel   the sweep on a GPU
"""
