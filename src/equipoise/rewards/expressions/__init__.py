"""A concave expression as a reward: from CVXPY, or from a formula in a text.

    cvxpy expression --compiling--> Program --printing--> formula --formula--> cvxpy expression

`program` is what is between: affine rows, and atoms applied to them. `kernels` runs it, `atoms` and `bounds` prove how
steep and how curved it is, `expression` is the reward. What a reward keeps, and what files hold, is the formula.
"""
