"""Who does the work of an audit.

work     the work as pieces, and what becomes of one: a summary
local    one piece after the other, in this process
"""
