"""The kinds of exercises: what names mean, and what proves or refutes a claim. kind.py is the only way in.

keys       keys and queries, by classes of keys that share a score
tokens     self-attention on tokens made of orthogonal directions
matrices   matrices of any size
integers   integers and angles
counting   parameters, bytes and operations as polynomials, with units
by_hand    numbers are given, and a value is worked out
gradients  derivatives of functions of open variables
numeric_design  keys and values are numbers, and a query or a key is chosen
tending    conditions that send a name somewhere: lambda -> infinity, epsilon -> 0
"""
