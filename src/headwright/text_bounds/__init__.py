"""Bounds for the heads of a first layer over every text, with texts that attain them.

In the first layer the query and the key of a token depend on the token and its place alone. So the token at each other
place of a text is free, and the extremes of a weight over all texts are found place by place.

In the order of the data:

first_layer          a first layer as numbers; read_layer and transformers_layers read it from models
compare_with_model   whether the layer as read does what the model does, and whether bounds hold where it runs
search               the extremes over every text, with proven error bounds, and texts that attain them
every_text           the public functions: sets of places, pairs of tokens, bounds by length
statement            a statement as a document; make_statement makes one from a result
checker              verifies a statement from the weights, independently of the search
run_statement        texts that a statement is about, run in the model
verify_certificate   a certificate's verdict: the checker's, and then the model is run
induction            the same for two layers: statement, search, checker and what they prove

documents, progress  strict documents and digests; the progress of a part of the work
"""
