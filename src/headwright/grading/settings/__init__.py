"""The settings: one for each kind of exercise. Each says what names mean, and decides one claim at a time.

keys       keys and queries, by classes of keys that share a score
tokens     self-attention on tokens made of orthogonal directions
matrices   matrices of any size
integers   integers and angles
tending    conditions that send a name somewhere: lambda -> infinity, epsilon -> 0
"""
