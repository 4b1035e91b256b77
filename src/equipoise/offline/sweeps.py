"""Compiled sweeps over a known model, one scalar score a pair: the pieces of `gains`.

`improve` reads the transitions as a model stores them: u is a value a state, ``pairs`` a deterministic policy, one pair
a state. What follows a policy reads its own transitions, which `restrict` puts side by side: twice as fast as where
they are, among those of the other pairs. Both look at the states from `begin` to `end` only, so that several threads
can share a sweep (see `_threads`).
"""

from __future__ import annotations

from typing import Final

import numpy as np

from equipoise._compile import kernel

_TIE: Final = 1e-12  # a pair replaces the one in use if it is better by more than that, relative


@kernel
def improve(first_pair, first, successor, probability, scores, u, pairs, after, begin, end):  # type: ignore[no-untyped-def]
    """Write Tu into `after` and a policy that attains it into `pairs`; return min (Tu - u), max (Tu - u), changes.

    The pair in use is kept unless another is better by more than rounding; `changes` counts those that are not.
    """
    changes = 0
    least = np.inf
    most = -np.inf
    for s in range(begin, end):
        top = -np.inf
        used = -np.inf
        best = pairs[s]
        for pair in range(first_pair[s], first_pair[s + 1]):
            total = scores[pair]
            for i in range(first[pair], first[pair + 1]):
                total += probability[i] * u[successor[i]]
            if pair == pairs[s]:
                used = total
            if total > top:
                top = total
                best = pair
        if top > used + _TIE * max(1.0, abs(used)):
            pairs[s] = best
            changes += 1
        after[s] = top
        least = min(least, top - u[s])
        most = max(most, top - u[s])
    return least, most, changes


@kernel
def restrict(first, successor, probability, pairs, own_first, own_successor, own_probability):  # type: ignore[no-untyped-def]
    """Copy the transitions of a policy: those from state s begin at ``own_first[s]``."""
    end = 0
    for s in range(pairs.shape[0]):
        own_first[s] = end
        for i in range(first[pairs[s]], first[pairs[s] + 1]):
            own_successor[end] = successor[i]
            own_probability[end] = probability[i]
            end += 1
    own_first[pairs.shape[0]] = end


@kernel
def follow(first, successor, probability, scores, pairs, u, after, begin, end):  # type: ignore[no-untyped-def]
    """Write T_pi u into `after` for one policy; return min (T_pi u - u), max (T_pi u - u)."""
    least = np.inf
    most = -np.inf
    for s in range(begin, end):
        total = scores[pairs[s]]
        for i in range(first[s], first[s + 1]):
            total += probability[i] * u[successor[i]]
        after[s] = total
        least = min(least, total - u[s])
        most = max(most, total - u[s])
    return least, most


@kernel
def follow_on(first, successor, probability, scores, pairs, step, count, enough, u, after):  # type: ignore[no-untyped-def]
    """Up to `count` relaxed sweeps of one policy, u += step (T_pi u - u), until the span of T_pi u - u is `enough`."""
    for _ in range(count):
        least, most = follow(first, successor, probability, scores, pairs, u, after, 0, u.shape[0])
        relax(step, after, u)
        if most - least <= enough:
            return


@kernel
def relax(step, after, u):  # type: ignore[no-untyped-def]
    """U += step (after - u), with the smallest entry made zero."""
    base = np.inf
    for s in range(u.shape[0]):
        u[s] += step * (after[s] - u[s])
        base = min(base, u[s])
    for s in range(u.shape[0]):
        u[s] -= base


@kernel
def settle(first, successor, probability, states, step, count, enough, weight, after):  # type: ignore[no-untyped-def]
    """Up to `count` relaxed steps of the distribution `weight` under a policy, on a closed set of `states`.

    Returns the residual, the 1-norm of the flow out less the flow in, of the last distribution that was looked at.
    """
    residual = np.inf
    for _ in range(count):
        for s in states:
            after[s] = 0.0
        for s in states:
            for i in range(first[s], first[s + 1]):
                after[successor[i]] += weight[s] * probability[i]
        residual = 0.0
        total = 0.0
        for s in states:
            residual += abs(after[s] - weight[s])
            weight[s] += step * (after[s] - weight[s])
            total += weight[s]
        for s in states:
            weight[s] /= total
        if residual <= enough:
            break
    return residual


@kernel
def peel(first, neighbour, degree, queue, inside):  # type: ignore[no-untyped-def]
    """Take the nodes of a graph that have one neighbour at most away, again and again; `inside` tells which remain."""
    n = degree.shape[0]
    end = 0
    for s in range(n):
        degree[s] = 0
        for i in range(first[s], first[s + 1]):
            degree[s] += neighbour[i] != s
        inside[s] = degree[s] > 1
        if not inside[s]:
            queue[end] = s
            end += 1
    begin = 0
    while begin < end:
        s = queue[begin]
        begin += 1
        for i in range(first[s], first[s + 1]):
            other = neighbour[i]
            if inside[other]:
                degree[other] -= 1
                if degree[other] <= 1:
                    inside[other] = False
                    queue[end] = other
                    end += 1
