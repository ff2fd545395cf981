"""The work of an audit.

part_cache  the folder where parts are kept, and what audits left there that were killed
work        the work as pieces, done one after the other; finished parts are kept, so that an audit can be resumed
cluster     pieces on the workers of a Dask scheduler, on this machine or on many
"""
