"""The search over every text for extremes of a first-layer head, with proven error bounds.

texts          all texts of a length, seen from a place, with what is held fixed
heads          the score of any token at any place with any token at any other
head_vectors   the vectors of a head, made from the numbers of a first layer
sweep          the least and most weight for every query token: the protocol `Sweeper`, and the sweep in NumPy
gpu_sweep      the sweep on a GPU, with gpu_kernel
worker_sweep   the sweep in parts, on workers
estimate       how long a question will take, measured on a small part of it
extreme_texts  the texts that attain extremes; a few query tokens, all heads in one pass
occurrences    the weight on every occurrence of a token
logits         the direct effect of a head on a logit
"""
