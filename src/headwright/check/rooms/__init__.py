"""The rooms: one for each kind of setting. Each knows its names and decides its statements.

keys       keys and queries, by classes of keys that share a score
tokens     self-attention on tokens made of orthogonal directions
matrices   matrices of any size
integers   integers and angles
"""
