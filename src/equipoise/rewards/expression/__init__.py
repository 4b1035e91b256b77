"""A concave expression as a reward: from CVXPY, or from a formula in a text.

    cvxpy expression --compile_program--> Program --format_program--> formula --read_formula--> cvxpy expression

A `Program` is affine rows, and atoms applied to them. `kernels` runs it, `atoms` and `bounds` prove how steep and how
curved it is, `reward` is the reward and `conversion` makes one from CVXPY. A reward, and a file, holds the formula.
"""
