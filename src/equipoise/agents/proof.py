"""What the plans of an agent have proven: the least upper bound on the optimum so far.

For every theta, opt(P_M) <= g*(theta) + phi(theta), where phi(theta) is the largest long-run average of (-theta).v in
the true model (weak duality, appendix A). Where the region of a plan holds the truth, its gain is at least phi(theta).
So every plan bounds the optimum,

    opt(P_M)  <=  g*(theta_m) + gain_m,

all of them at once with the probability that all regions hold the truth, and the least of them is kept. It costs a plan
one value of g.

g*(theta) is known exactly in two cases: theta = -grad g(average), as under Frank-Wolfe, where the average itself is the
maximiser of g(w) + theta.w; and where the reward has its conjugate in closed form. Where the maximiser w is found by
iteration, g(w) + theta.w would be too small; then a supergradient q at w gives a bound that is never too small,

    g*(theta)  <=  g(w) - q.w + sum over k of max(0, q_k + theta_k).

A theta need have nothing to do with g for its bound to hold. So where a reward changes with time, as the entropy does
whose smoothing shrinks, the thetas of its course bound the optimum of its limit, which is what runs are judged by.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

# How g*(theta) is had.
NOT_AT_ALL: Final = 0  # by the regions, which are not proven to hold the truth
AT_THE_AVERAGE: Final = 1
BY_CONJUGATE: Final = 2
BY_TANGENT: Final = 3

ROUNDING: Final = 1e-12  # of a plan: its gain is a difference of numbers of the size of its span


class Proof(NamedTuple):
    """The least bound so far.

    Attributes
    ----------
    bound : float array
        One number; infinity if nothing is proven.
    time : int array
        One number: when it was proven, 0 if it was not.
    theta : float array
        By which theta.
    point, slope, number : float arrays
        Scratch: a point of the box, a supergradient there, a value.
    """

    bound: NDArray[np.float64]
    time: NDArray[np.int64]
    theta: NDArray[np.float64]
    point: NDArray[np.float64]
    slope: NDArray[np.float64]
    number: NDArray[np.float64]


def no_proof(n_outcomes: int) -> Proof:
    """Before the first plan."""
    theta, point, slope = (np.zeros(n_outcomes) for _ in range(3))
    return Proof(np.full(1, np.inf), np.zeros(1, dtype=np.int64), theta, point, slope, np.zeros(1))
