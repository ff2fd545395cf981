"""Exercises about self-attention on tokens made of orthogonal directions: exact matrices, limits as lengths grow.

grid      vectors and matrices over the directions
meaning   formulas into exact grids
room      the verdict on an answer
"""
