"""A simulator: a hidden model, a state, and a stream of random numbers.

The stream is ``Generator(PCG64(SeedSequence(seed)))``, and each step consumes the same number of uniform draws: one for
the branch, and with Bernoulli noise K more for the outcomes, in their order. So the randomness of step t is a function
of the seed and of t alone, whatever was done before, in Python or in a compiled loop.
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Final, NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from equipoise._checks import SEED_LIMIT, check_int
from equipoise._runtime.compiler import inlined
from equipoise.errors import ParameterError, ProtocolError
from equipoise.models.labels import Label
from equipoise.models.outcome_rows import SparseRows, get_sparse_arrays
from equipoise.models.space import Space

if TYPE_CHECKING:
    from equipoise.models.model import Model

Seed = int | np.random.SeedSequence
_FEW: Final = 16  # up to so many branches are scanned one by one


class SamplingArrays(NamedTuple):
    """What `sample` reads of a model: the branches of each pair, the rows of outcomes, and whether they are drawn."""

    branch_first: NDArray[np.int64]
    branch_cumulative: NDArray[np.float64]
    branch_next: NDArray[np.int64]
    branch_row: NDArray[np.int64]
    rows: NDArray[np.float64]
    sparse: SparseRows | None  # instead of the rows, where nearly all of them are zero
    bernoulli: bool


@inlined
def draw(rng, pair, world, outcome):  # type: ignore[no-untyped-def]
    """Draw the outcomes of `pair` into `outcome` and return the branch; `world` is a `SamplingArrays`."""
    u = rng.random()
    j = world.branch_first[pair]
    last = world.branch_first[pair + 1] - 1
    if last - j < _FEW:
        while u >= world.branch_cumulative[j] and j < last:
            j += 1
    else:
        while j < last:
            middle = (j + last) >> 1
            if u < world.branch_cumulative[middle]:
                last = middle
            else:
                j = middle + 1
    _write_outcomes(world.sparse, world, world.branch_row[j], rng, outcome)
    return j


@inlined
def _write_outcomes(sparse, world, row, rng, outcome):  # type: ignore[no-untyped-def]
    """The outcomes of a row; `sparse` are the rows where nearly all are zero, else None: numba compiles one branch."""
    if sparse is not None:
        for k in range(outcome.shape[0]):
            outcome[k] = 0.0
        for i in range(sparse.first[row], sparse.first[row + 1]):
            outcome[sparse.outcome[i]] = sparse.value[i]
        if world.bernoulli:
            for k in range(outcome.shape[0]):
                outcome[k] = 1.0 if rng.random() < outcome[k] else 0.0
    elif world.bernoulli:
        for k in range(outcome.shape[0]):
            outcome[k] = 1.0 if rng.random() < world.rows[row, k] else 0.0
    else:
        for k in range(outcome.shape[0]):
            outcome[k] = world.rows[row, k]


@inlined
def sample(rng, pair, world, outcome):  # type: ignore[no-untyped-def]
    """As `draw`; returns the next state."""
    return world.branch_next[draw(rng, pair, world, outcome)]


def draws_per_step(model: Model) -> int:
    """How many uniform numbers one step consumes: 1, or 1 + K with Bernoulli noise."""
    return 1 + (model.n_outcomes if model.noise == "bernoulli" else 0)


def stream(model: Model, seed: Seed, t: int = 1) -> np.random.Generator:
    """Return the random stream of a model, positioned before step `t` (the first step is 1).

    Parameters
    ----------
    model : Model
        It decides how many numbers a step consumes.
    seed : int or SeedSequence
        The same seed gives the same randomness at the same step, in any process.
    t : int
        The number of the next step.

    Examples
    --------
    >>> from equipoise.models import riverswim
    >>> model = riverswim(6)
    >>> rng = stream(model, seed=7)
    >>> skipped = [rng.random() for _ in range(2 * draws_per_step(model))]
    >>> stream(model, seed=7, t=3).random() == rng.random()
    True
    """
    t = check_int(t, "t", 1, SEED_LIMIT, error=ParameterError)
    if not isinstance(seed, np.random.SeedSequence):
        seed = np.random.SeedSequence(check_int(seed, "seed", 0, SEED_LIMIT, error=ParameterError))
    bits = np.random.PCG64(seed)
    bits.advance((t - 1) * draws_per_step(model))
    return np.random.Generator(bits)


def get_sampling(model: Model) -> SamplingArrays:
    """Return what `sample` reads of a model."""
    sparse = get_sparse_arrays(model.outcome_rows)
    return SamplingArrays(
        branch_first=model.branch_first,
        branch_cumulative=model.branch_cumulative,
        branch_next=model.branch_next,
        branch_row=model.branch_row,
        rows=np.zeros((0, model.n_outcomes)) if sparse is not None else model.rows,
        sparse=sparse,
        bernoulli=model.noise == "bernoulli",
    )


def draw_branch(world: SamplingArrays, rng: np.random.Generator, pair: int, outcomes: NDArray[np.float64]) -> int:
    """Take one step from a pair: the outcomes are written to `outcomes`, and the branch taken is returned."""
    return int(draw(rng, pair, world, outcomes))


@final
class World:
    """A simulator of a model that shows states and outcomes only; made by `Model.world`.

    Parameters
    ----------
    model, seed, t
        As for `equipoise.models.stream`.
    state : int, optional
        Where to begin; None: at the start of the model.

    Attributes
    ----------
    space : Space
        What may be known in advance.
    state, t : int
        The current state, and how many steps have been taken.

    Examples
    --------
    >>> from equipoise.models import star
    >>> world = star(branches=2, diameter=2).world(seed=0)
    >>> outcomes, state = world.step(1)
    >>> outcomes.tolist(), state
    ([0.0, 0.0], 2)
    >>> outcomes, state = world.step(0)
    >>> outcomes.tolist(), state, world.t
    ([0.0, 1.0], 2, 2)
    """

    def __init__(self, model: Model, seed: Seed, t: int = 1, state: int | None = None) -> None:
        self._rng = stream(model, seed, t)
        self._model = model
        self._sampling = get_sampling(model)
        self.state: int = (
            model.start if state is None else check_int(state, "state", 0, model.n_states - 1, error=ParameterError)
        )
        self.t: int = t - 1
        self._taken: tuple[int, int] | None = None

    @property
    def noise(self) -> dict[str, Label] | None:
        """The noises drawn at the last step, by name, without the hidden ones; None without a `Mechanics`.

        They may be given to `Agent.observe`.

        Examples
        --------
        >>> import equipoise as eq
        >>> coin = eq.Mechanics(lambda s, a, toss: (s, [toss]), 0, ["toss"], ["heads"], {"toss": [0, 1]})
        >>> world = coin.model(toss=[0.0, 1.0]).world(seed=0)
        >>> outcomes, state = world.step(0)
        >>> world.noise
        {'toss': 1}
        """
        laws, cases = self._model.laws, self._model.branch_case
        if laws is None or cases is None or self._taken is None:
            return None
        pair, branch = self._taken
        drawn = laws.noise_of(int(cases[branch]), pair)
        return {name: value for name, value in drawn.items() if name not in laws.hidden}

    @property
    def space(self) -> Space:
        """What may be known in advance."""
        return self._model.space

    def step(self, action: int) -> tuple[NDArray[np.float64], int]:
        """Take an action; return the outcomes and the next state.

        Parameters
        ----------
        action : int
            One of the current state, from 0; else a `ProtocolError`.
        """
        first, end = self._model.first_pair[self.state], self._model.first_pair[self.state + 1]
        try:
            chosen = operator.index(action)
        except TypeError:
            chosen = -1
        if not 0 <= chosen < end - first:
            raise ProtocolError(
                f"{self.space.name_state(self.state)}: got the action {action!r}; "
                f"an integer from 0 to {end - first - 1} is needed"
            )
        outcomes = np.empty(self._model.n_outcomes)
        branch = draw_branch(self._sampling, self._rng, int(first) + chosen, outcomes)
        self._taken = int(first) + chosen, branch
        self.state = int(self._model.branch_next[branch])
        self.t += 1
        return outcomes, self.state

    def __repr__(self) -> str:
        return f"World(state={self.state}, t={self.t})"
