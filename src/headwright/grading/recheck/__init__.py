"""Every outcome looked at again: the formulas as they were written, evaluated on explicit instances.

instances   a value for every name; whether a statement holds there: certain, or not known
sequences   instances for a claim, along which names grow or vanish
outcomes    what instances say of an outcome

It shares no code with what proves: no exact algebra, no classes of keys, no z3. What it finds against a decision is a
ContradictionError. The `recheck` of a kind says what an instance of it is.
"""
