"""Maxima over the region of one law by scipy's linear programs."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog

Array = NDArray[np.float64]


def best_in_box(x: Array, lo: Array, hi: Array, unseen: NDArray[np.bool_], together: float) -> float:
    """max q.x over the distributions q with lo <= q <= hi, and at most ``together`` on the values never seen."""
    answer = linprog(
        -x,
        A_ub=unseen[None, :].astype(float),
        b_ub=[together],
        A_eq=np.ones((1, x.size)),
        b_eq=[1.0],
        bounds=list(zip(lo, hi, strict=True)),
        method="highs",
    )
    if not answer.success or answer.fun is None:
        raise ArithmeticError(answer.message)
    return -float(answer.fun)


def best_in_ball(x: Array, centre: Array, radius: float) -> float:
    """max q.x over the distributions q with |q - centre|_1 <= radius: q, and a bound on each distance."""
    n, eye = x.size, np.eye(x.size)
    answer = linprog(
        np.concatenate([-x, np.zeros(n)]),
        A_ub=np.vstack([np.hstack([eye, -eye]), np.hstack([-eye, -eye]), np.repeat([0.0, 1.0], n)]),
        b_ub=np.concatenate([centre, -centre, [radius]]),
        A_eq=np.repeat([1.0, 0.0], n)[None, :],
        b_eq=[1.0],
        bounds=(0, None),
        method="highs",
    )
    if not answer.success or answer.fun is None:
        raise ArithmeticError(answer.message)
    return -float(answer.fun)
