"""Exercises about self-attention on tokens made of orthogonal directions: exact matrices, limits as lengths grow.

grid      vectors and matrices over the directions
meaning   formulas into exact grids
told      conditions: what grows, vanishes, is compared
room      the verdict on an answer
"""
