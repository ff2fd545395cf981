"""Exercises about keys and queries: exact algebra over classes of keys that share a score.

scene        classes of keys, what names mean, and which keys an index stands for
meaning      formulas into exact scalars and vectors
deciding     claims, for all parameters; chance: what a random length makes of them, and vanishing noise of ties;
             laws: means and variances
conditions   what an answer says of its own names, and conditions on scores that are answers
court        claims decided, with their words; advice: what a teacher would add
"""
