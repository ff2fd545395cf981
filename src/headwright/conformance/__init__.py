"""Is an implementation of attention wrong, or is the difference rounding?

checking     conform and assert_attention: from tensors to a verdict
reading      tensors, layouts and masks of people, refused in a sentence
description  what attention is asked for: scale, masks, softcap, sinks, bias
contracts    which roundings an implementation may make
arrays       NumPy, PyTorch and others behind the array API
reference    attention in float64, block by block
bound        the theorem: what a contract allows, element by element
row_sums     the same as sums over keys, in few passes
row_bound    the theorem where errors are small: from these sums
judging      an output beside reference and bound
gradients    the theorem for the backward pass
gradient_judging  dq, dk and dv of a kernel, judged
verdict      the result as data
sentences    the result in words
hypotheses   mistakes that would explain an output, as one table
candidates   what a hypothesis is
mask_hypotheses  which keys are seen
weight_hypotheses  scores, weights and the division
tensor_hypotheses  heads, texts, tokens, layouts, what is not written
rounding_hypotheses  narrower types
estimated_keys  hypotheses about single keys, found from the output
probes       visible_keys: which keys does a row see?
inputs       attention_inputs: queries, keys and values that show errors
models       conforming and expect: the attention of a model that is running
demonstration  a kernel with seeded mistakes, for the lab
dumps        tensors that were saved from any framework
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
