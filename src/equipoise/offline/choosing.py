"""Which way to solve the offline program: by columns, or as one program; chosen by what was measured.

Columns (see `columns`) cost some plans, each linear in the number of transitions, and a small problem in K numbers
after each. A program (see `program`) costs a factorisation of all flow constraints at each of some twenty iterations:
next to nothing for a small model, and on a random one about the square of S. So columns are chosen from `_PAIRS` pairs
on, with three exceptions, all measured by `benchmarks.solving`:

- *Thin worlds.* On a line, a star, a queue of one class, factorisations are linear in S, and news takes S sweeps to go
  from one end to the other.
- *A g with edges* takes about 8 K plans in the place of 6 to 20, so that it takes more pairs for columns to pay.
- *Many outcomes.* With as many outcomes as states, maximum entropy above all, every state needs columns of its own.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from equipoise.errors import ParameterError
from equipoise.models.kernels import breadth_first
from equipoise.models.model import Model
from equipoise.offline.columns import by_columns
from equipoise.offline.program import Method, methods
from equipoise.rewards.base import Reward

COLUMNS: Final = "columns"
PROGRAM: Final = "program"
_PAIRS: Final = 2000  # with fewer, a program
_PAIRS_PER_OUTCOME: Final = 250  # with fewer, a program, if g is piecewise linear
_OUTCOMES: Final = 40  # with more, a program
_WIDTH: Final = 10.0  # states at one distance from the start: with no more on average, a program
_TOO_LARGE: Final = 100_000  # pairs above which no program is tried unless the world is thin: it would take hours


def ways(model: Model, reward: Reward, method: str | None) -> list[Method]:
    """List what to try for a model and a reward, best first; the later ones are for when the check fails.

    Parameters
    ----------
    model, reward : Model, Reward
        Of the program.
    method : {"columns", "program"} or None
        What the user asked for; None: both, in the order in which they are expected to be fast.

    Raises
    ------
    ParameterError
        When the method is none of these.

    Examples
    --------
    >>> from equipoise.models import garnet, star
    >>> from equipoise.rewards import Quadratic
    >>> reward = Quadratic([1 / 3] * 3)
    >>> [way.__name__ for way in ways(star(), reward, None)]
    ['by_clarabel', 'by_vertices', 'by_columns']
    >>> [way.__name__ for way in ways(garnet(1000, 4, 5, 3), reward, None)]
    ['by_columns', 'by_clarabel', 'by_vertices']
    """
    if method not in (None, COLUMNS, PROGRAM):
        raise ParameterError(f"method: got {method!r}; {COLUMNS!r}, {PROGRAM!r} or None is needed")
    if method == COLUMNS:
        return [by_columns]
    if method == PROGRAM:
        return methods(reward)
    edges = reward.piecewise_linear
    few = model.n_pairs < max(_PAIRS, _PAIRS_PER_OUTCOME * model.n_outcomes if edges else 0)
    large = model.n_pairs > _TOO_LARGE
    if few or (model.n_outcomes > _OUTCOMES and not large) or mean_width(model) <= _WIDTH:
        return [*methods(reward), by_columns]
    return [by_columns, *([] if large else methods(reward))]


def mean_width(model: Model) -> float:
    """How many states there are at the same distance from the start, on average.

    >>> from equipoise.models import riverswim, star
    >>> mean_width(riverswim(100)), round(mean_width(star(branches=3, diameter=100)), 1)
    (1.0, 3.0)
    """
    n = model.n_states
    order, distance = np.empty(n, np.int64), np.empty(n, np.int64)
    pointers = model.transition_first[model.first_pair]
    breadth_first(pointers, model.transition_state, model.start, order, distance)
    return float(n / (1 + distance.max()))
