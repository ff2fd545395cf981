"""Bounds for the heads of a first layer over every text, with texts that attain them.

In the first layer the query and the key of a token depend on the token and its place alone. So the token at each other
place of a text is free, and the extremes of a weight over all texts are found place by place.

head                 the scores of a first-layer head, by token and place
first_layer          a first layer as numbers; read_layer and transformers_layers read it from models
sweep                the least and most weight for every query token: the protocol `Sweeper`, and the sweep in NumPy
gpu_sweep            the sweep on a GPU, with gpu_kernel
worker_sweep         the sweep in parts, on workers
estimate             how long a question will take, measured on a small part of it
extreme_texts        the texts that attain extremes; a few query tokens, all heads in one pass
every_text           the public functions: sets of places, pairs of tokens, bounds by length
occurrences          the weight on every occurrence of a token
logits               the direct effect of a head on a logit
next_token           induction through two layers: the search for margins, weights and worst texts
next_token_statement  such claims as a document; next_token_proof searches, checks and runs
check_against_model  whether the layer as read does what the model does, and whether bounds hold where it runs
statement            a statement as a document; make_statement makes one from a result
run_statement        texts that a statement is about, run in the model
checker              verifies a statement from the weights
"""
