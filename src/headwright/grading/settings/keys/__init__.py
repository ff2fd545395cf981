"""Exercises about keys, queries, patterns and outputs.

court decides claims; conditions is what an answer says of its own names; deciding proves and refutes; laws is what
chance does; scene and meaning say what names and formulas mean.
"""
