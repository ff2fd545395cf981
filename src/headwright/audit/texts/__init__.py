"""For every text: what a head of the first layer does on all texts there are, with the text that attains it.

In the first layer the query and the key of a token depend on the token and its place alone. So the token at each other
place of a text is free, and the extremes of a weight over all texts are found place by place.

head       the scores of a first-layer head, by token and place
sweep      the largest and smallest scores at each place, summed over the places, for every query token
bands      the least and most weight over every text; pairs, ceilings, a budget of replaced tokens
witness    the text that attains an extreme
outputs    the range of a head's output along a direction
"""
