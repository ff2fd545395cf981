"""Exercises about integers and angles: position embeddings at integer places.

encode   statements into z3: pi is transcendental, so an equation splits into its powers of pi
room     the verdict on an answer
"""
