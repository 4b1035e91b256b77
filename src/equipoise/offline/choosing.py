"""Which way to solve the offline program: by columns, or as one program; chosen by what was measured.

Columns (see `columns`) cost some plans, each linear in the number of transitions, and a small problem in K numbers
after each. A program (see `program`) costs a factorisation of all flow constraints at each of some twenty iterations:
next to nothing for a small model, and on a random one about the square of S. So columns are chosen from `_PAIRS` pairs
on, with three exceptions, all measured by `benchmarks.solving`:

- *Thin worlds.* On a line, a star, a queue of one class, factorisations are linear in S, and news takes S sweeps to go
  from one end to the other. Where all functions are piecewise linear, that goes for somewhat wider worlds too.
- *A g with edges* takes about 8 K plans in the place of 6 to 20, so that it takes more pairs for columns to pay.
- *Many outcomes, most of them 0.* With one outcome a state, maximum entropy above all, every state needs columns of its
  own, and a program has few entries. With as many that are not 0 it is the other way round.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from equipoise.errors import ParameterError
from equipoise.models.kernels import breadth_first
from equipoise.models.model import Model
from equipoise.models.rows import entries
from equipoise.offline.columns import COLUMNS, by_columns
from equipoise.offline.program import Method, methods
from equipoise.rewards.base import Reward

PROGRAM: Final = "program"
_PAIRS: Final = 2000  # with fewer, a program
_PAIRS_PER_OUTCOME: Final = 250  # with fewer, a program, if g is piecewise linear
_OUTCOMES: Final = 40  # with more of them, if no more than
_SPARSE: Final = 0.1  # of their means are not 0, a program
_WIDTH: Final = 10.0  # states at one distance from the start: with no more on average, a program;
_WIDTH_OF_EDGES: Final = 25.0  # the same, if all is piecewise linear: the simplex method is quick on grids
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
    found: list[Method] = []
    for name in order(model, reward.piecewise_linear, method):
        found += [by_columns] if name == COLUMNS else methods(reward)
    return found


def order(model: Model, edges: bool, method: str | None) -> list[str]:
    """List the kinds of ways to try, "columns" and "program", best first.

    Parameters
    ----------
    model : Model
        Of the program.
    edges : bool
        Whether what is maximised and met is piecewise linear.
    method : {"columns", "program"} or None
        What the user asked for.

    Raises
    ------
    ParameterError
        When the method is none of these.

    Examples
    --------
    >>> from equipoise.models import garnet
    >>> order(garnet(1000, 4, 5, 3), False, None), order(garnet(100, 4, 5, 3), False, None)
    (['columns', 'program'], ['program', 'columns'])
    """
    if method not in (None, COLUMNS, PROGRAM):
        raise ParameterError(f"method: got {method!r}; {COLUMNS!r}, {PROGRAM!r} or None is needed")
    if method is not None:
        return [method]
    few = model.n_pairs < max(_PAIRS, _PAIRS_PER_OUTCOME * model.n_outcomes if edges else 0)
    large, width = model.n_pairs > _TOO_LARGE, _WIDTH_OF_EDGES if edges else _WIDTH
    if few or (not large and _sparse(model)) or mean_width(model) <= width:
        return [PROGRAM, COLUMNS]
    return [COLUMNS] if large else [COLUMNS, PROGRAM]


def _sparse(model: Model) -> bool:
    """Whether there are many outcomes, and hardly any that a pair has."""
    size = model.n_pairs * model.n_outcomes
    return model.n_outcomes > _OUTCOMES and int(np.count_nonzero(entries(model.mean_rows))) <= _SPARSE * size


def method_of(solver: str) -> str:
    """Which of the two a solver is."""
    return COLUMNS if solver == COLUMNS else PROGRAM


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
