"""Is an implementation of attention wrong, or is the difference rounding?

checking     conform and assert_attention: from tensors to a verdict
reading      tensors, layouts and masks of people, refused in a sentence
description  what attention is asked for: scale, masks, softcap, sinks, bias
formats      number formats, as far as rounding needs them
contracts    which roundings an implementation may make
arrays       NumPy, PyTorch and others behind the array API
reference    attention in float64, block by block
bound        the theorem: what a contract allows, element by element
judging      an output beside reference and bound
verdict      the result as data
sentences    the result in words
hypotheses   mistakes that would explain an output, as one table
probes       visible_keys: which keys does a row see?
inputs       attention_inputs: queries, keys and values that show errors
models       conforming and expect: the attention of a model that is running
dumps        tensors that were saved from any framework
"""
