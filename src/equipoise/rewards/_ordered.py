"""Kernels of g(w) = sum_k a_k w_(k), where w_(1) <= ... <= w_(K) and a_1 >= ... >= a_K >= 0; `params` is a.

g is concave: it is the minimum of sum_k a_pi(k) w_k over permutations pi (rearrangement inequality), and
the weights by rank are a supergradient. Ties in rank go to the lowest index.

Conjugate. Let f(n) = a_{K-n+1} + ... + a_K, the value of g at a 0/1 vector with n ones. For w in [0,1]^K
and a level s, let A_s = {k: w_k >= s}; then g(w) = integral over s in [0,1] of f(|A_s|) and theta.w =
integral of theta(A_s), the sum of theta over A_s. So g(w) + theta.w never exceeds the largest f(|A|) +
theta(A) over sets A, which is its own value at the indicator of A; and among the sets of n elements the
best holds the n smallest x = -theta. Hence

    g*(theta) = max over n of f(n) - (sum of the n smallest x), attained at the 0/1 vector of those n.

A larger n replaces a smaller one only when it is better by more than 1e-12 * max(1, |best|). The case is
common: on theta = -(softmax weights times the sum of a), n = 0 and n = K tie in exact arithmetic.

Ranks are found by counting, without scratch memory: O(K^2), which is fast for the few outcomes of such
rewards.
"""

from __future__ import annotations

from typing import Any, Final

from equipoise._compile import entry, kernel
from equipoise.rewards.base import RewardKernels


@kernel
def _rank(x: Any, n: int, k: int, sign: float) -> int:
    """How many entries of sign * x come before the k-th, in ascending order."""
    rank = 0
    for j in range(n):
        if sign * x[j] < sign * x[k] or (x[j] == x[k] and j < k):
            rank += 1
    return rank


@entry
def _value(t, n, w, params, out):  # type: ignore[no-untyped-def] # noqa: ARG001
    total = 0.0
    for k in range(n):
        total += params[_rank(w, n, k, 1.0)] * w[k]
    out[0] = total


@entry
def _gradient(t, n, w, params, out):  # type: ignore[no-untyped-def] # noqa: ARG001
    for k in range(n):
        out[k] = params[_rank(w, n, k, 1.0)]


@entry
def _conjugate_argmax(t, n, theta, params, out):  # type: ignore[no-untyped-def] # noqa: ARG001
    for k in range(n):
        out[_rank(theta, n, k, -1.0)] = theta[k]
    total = 0.0
    best = 0.0
    size = 0
    for m in range(n):
        total += params[n - 1 - m] + out[m]
        if total > best + 1e-12 * max(1.0, abs(best)):
            best = total
            size = m + 1
    for k in range(n):
        out[k] = 1.0 if _rank(theta, n, k, -1.0) < size else 0.0


ORDERED: Final = RewardKernels(_value, _gradient, _conjugate_argmax)
