r"""Formulas whose conjugate is attained at a corner: order statistics of all outcomes, and something linear.

Let g(w) = c.w + sum_k a_k w_(k) + a constant, w_(1) <= ... <= w_(K), as min(w), -max(w), sum_smallest(w, k), their sums
and differences and 0.1 sum(w) besides are. Where the outcomes have one order g is linear, so that, as for sums in order
(`equipoise.rewards._ordered`), g(w) - g(0) is the integral over levels s of g(1_A) - g(0), A the outcomes of at least
s. So g + theta.w is largest at some 1_A. What the a_k bring depends on the size of A alone: of all A of n outcomes, the
best has those with the largest c_k + theta_k, and g(e_k) differs from c_k by the same for all k.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from equipoise.rewards.expressions.program import OUTCOMES, Code, Form, Program

_IN_ORDER: Final = (Code.MINIMUM, Code.MAXIMUM, Code.SUM_LARGEST)


def is_of_order_statistics(program: Program) -> bool:
    """Whether each atom of a program is an order statistic of all outcomes, all in the same unit.

    Parameters
    ----------
    program : Program
        The expression.

    Examples
    --------
    >>> from equipoise.rewards import Expression
    >>> formulas = ("min(w) - max(w) + w[0]", "min(2 * w + 1)", "min(w[:2])", "min([1, 2, 1] * w)")
    >>> [Expression(formula, 3).exact_conjugate for formula in formulas]
    [True, True, False, False]
    """
    return bool(program.nodes) and all(
        node.code in _IN_ORDER and node.width == program.n_outcomes and _is_all_outcomes(node.rows, program.n_outcomes)
        for node in program.nodes
    )


def _is_all_outcomes(rows: Form, n_outcomes: int) -> bool:
    """Whether the rows are all outcomes, in any order, times one number and plus another."""
    if list(rows.terms) != [OUTCOMES] or rows.size != n_outcomes:
        return False
    matrix = rows.terms[OUTCOMES]
    return bool(
        np.all(np.diff(matrix.indptr) == 1)
        and np.unique(matrix.indices).size == n_outcomes
        and np.all(matrix.data == matrix.data[0])
        and np.all(rows.offset == rows.offset[0])
    )
