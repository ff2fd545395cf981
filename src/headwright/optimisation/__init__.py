"""Numerical optimisation in floating point. Nothing here is trusted: certificates check what comes out.

convex_program        the interface of the convex solvers: a program, its constraints at a point, an iterate
sqp                   the point of smallest norm under convex constraints: sequential quadratic programming
quadratic_program     the subproblem of each of its steps: an active-set method for its dual
newton                damped Newton's method for a smooth convex function; the least smoothed maximum of constraints
augmented_lagrangian  a local minimum under smooth constraints that are not convex, from first derivatives

Clients say what the constraints are: attention targets for one query (`query_design`), or for a matrix of scores
(`head_design`).
"""
