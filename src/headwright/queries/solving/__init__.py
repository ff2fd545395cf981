"""The shortest query of a convex program, in floating point: fast and accurate, and proven by others.

problem      the convex program, and what a solver says of it
rows         uncertain keys seen through a query
constraints  the constraints at a query: values, slopes, curvature; cloud sums up the keys that are no targets
step         one step of sequential quadratic programming
descent      steps until the query is the shortest, or shows that there is none
sample       few rows that stand for many keys
search       descents on such rows, until all keys agree
equal        wishes that leave next to nothing: the targets' scores are equal
bound        how good a query is
solver       all of it, behind one function; progress tells how far it is
"""
