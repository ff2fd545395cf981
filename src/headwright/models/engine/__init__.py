"""Who does the work of an audit.

work      the work as pieces, and what becomes of one: parts, summaries of a layer each
kept      finished parts in files, for an audit that is killed and goes on
local     one piece after the other, in this process
cluster   pieces on the workers of a Dask scheduler, on this machine or on many
"""
