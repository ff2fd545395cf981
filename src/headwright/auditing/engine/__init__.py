"""The work of an audit.

plan        what is measured, cut into pieces
part_store  finished parts in files, so that an audit can be resumed
part_cache  the folder where parts are stored, and what audits left there that were killed
local       the pieces one after the other, in this process
cluster     pieces on the workers of a Dask scheduler, on this machine or on many
"""
