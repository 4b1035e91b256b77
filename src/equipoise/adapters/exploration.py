"""From Gymnasium to a model.

An episodic task becomes one without end: an end leads to the next start. The average of an outcome per step is then
E[return] / E[length]. With the outcome "episode ended", whose average is 1 / E[length], `Scaling.returns` tells returns
and lengths apart.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, final

import gymnasium
import numpy as np

from equipoise._checks import check_count
from equipoise.adapters.environment import ModelEnvironment
from equipoise.adapters.laws import EnvironmentLaws, Law, read_laws
from equipoise.adapters.runner import Runner, limits_left_out
from equipoise.adapters.scaling import Ranges, Request, Scaling, declared_ranges
from equipoise.adapters.search import check_snapshots, check_walk, search_laws
from equipoise.errors import AdapterError
from equipoise.models.labels import Labels
from equipoise.models.model import Model

_LIMIT: Final = 100_000
_CHECK: Final = 10_000
_LAWS_PER_STEP: Final = 20  # of so many steps of a check, the whole law of one is compared, which takes longer


@final
@dataclass(frozen=True, eq=False)
class Exploration:
    """What was found in an environment.

    Attributes
    ----------
    model : Model
        The world.
    scaling : Scaling
        How its outcomes stand for the environment's rewards.
    starts : dict
        The states after a reset, by label, and their probabilities.

    Examples
    --------
    >>> import gymnasium, equipoise as eq
    >>> lake = eq.adapters.explore(gymnasium.make("FrozenLake-v1"), episodes=True)
    >>> best = eq.solve(lake.model, eq.rewards.Linear([1.0, 0.0]))
    >>> lake.scaling.returns(best.outcomes).round(3).tolist()  # with the most goals in a step, 3 of 4 episodes succeed
    [0.753, 1.0]
    """

    model: Model
    scaling: Scaling
    starts: Mapping[Any, float] = field(repr=False)


def explore(
    env: gymnasium.Env[Any, Any],
    *,
    outcomes: Sequence[str] | None = None,
    ranges: Ranges | None = None,
    drop: Sequence[int | str] = (),
    episodes: bool = False,
    state: Callable[[Any, Any], Any] | None = None,
    ends: Callable[[bool, bool], bool] | None = None,
    limit: int = _LIMIT,
    check: int = _CHECK,
    progress: bool | None = None,
) -> Exploration:
    """Find the exact model of a finite Gymnasium or MO-Gymnasium environment, and how its rewards were scaled.

    Toy-text environments publish their probabilities (``env.P``), which are read. Others are searched: from every
    state, every action is tried once for all that its random draws can be. Draws from a continuum are followed through
    comparisons (``random() < p``) and otherwise rejected, by name. The result is then compared with the environment
    itself.

    An end (`terminated`) leads to the next start; truncations are ignored, and TimeLimit is left out. The start of the
    model is the likeliest state after a reset. The environment is left as it was found.

    Parameters
    ----------
    env : gymnasium.Env
        With finitely many actions, and finitely many observations that can be reached. Wrappers are kept.
    outcomes : sequence of str, optional
        Names for the components of the reward.
    ranges : mapping or sequence, optional
        What a component of the reward can be, (low, high), by its number or name, or for all. By default what the
        environment declares in its `reward_space`; if it declares nothing, the least and the largest of all rewards.
    drop : sequence
        Components of the reward to leave out, by number or name.
    episodes : bool
        Whether to have the outcome "episode ended", 1 at the end of an episode.
    state : callable, optional
        ``state(observation, env)`` returns the state, anything hashable; None: the observation is the state. Give it
        to read what is hidden in the environment, or to leave out of an observation what does not matter.
    ends : callable, optional
        ``ends(terminated, truncated)`` says whether the episode has ended; needed where both flags are set at once.
    limit : int
        How many states may be found.
    check : int
        For how many steps the result is compared with the environment. If it was searched, all probabilities of every
        twentieth step are compared. With 0 nothing is checked.
    progress : bool, optional
        Whether to show how far the search is; by default on a terminal, when it takes longer than a second.

    Examples
    --------
    >>> import mo_gymnasium, equipoise as eq
    >>> tree = eq.adapters.explore(mo_gymnasium.make("fruit-tree-v0"))
    >>> tree.model
    Model(63 states, 126 pairs, 6 outcomes, start=0, noise='none')
    >>> best = eq.solve(tree.model, eq.rewards.BottomSum(6, kappa=1))  # as much as possible of the scarcest nutrient
    >>> tree.scaling.original(best.outcomes).round(3).tolist()  # per step; a fruit takes six
    [0.633, 0.633, 0.633, 0.633, 0.633, 0.633]
    """
    if not isinstance(env, gymnasium.Env):
        raise AdapterError(f"env: got {type(env).__name__}; a gymnasium.Env is needed, as gymnasium.make returns")
    if isinstance(env.unwrapped, ModelEnvironment):
        raise AdapterError("env: it is made of a model; take that, env.unwrapped.model")

    request = Request(outcomes, ranges, tuple(drop), bool(episodes), declared_ranges(env))
    limit = check_count(limit, "limit", 1, error=AdapterError)
    check = check_count(check, "check", 0, error=AdapterError)
    runner = Runner(env, state, ends)
    try:
        declared = request.declared
        if declared is not None and len(runner.step(runner.seed(), 0).event.reward) == len(declared[0]):
            request.scaling(None, None)  # what is wrong with the ranges is reported before a long search
        plain = state is None and not runner.rewindable.is_wrapped
        laws = read_laws(env.unwrapped, runner.action_labels) if plain else None
        if laws is None:
            laws = search_laws(runner, limit, progress)
            check_snapshots(runner, laws, check // _LAWS_PER_STEP)
        check_walk(runner, laws, check)
    finally:
        runner.release()
    rewards = [event.reward for row in laws.events.values() for law in row for event in law]
    if len({len(reward) for reward in rewards}) > 1:
        raise AdapterError("the rewards of the environment differ in length")
    columns = np.array(rewards)
    scaling = request.scaling(columns.min(axis=0).tolist(), columns.max(axis=0).tolist())
    return Exploration(_model(laws, scaling), scaling, laws.start)


def model_from(
    env: gymnasium.Env[Any, Any],
    *,
    outcomes: Sequence[str] | None = None,
    ranges: Ranges | None = None,
    drop: Sequence[int | str] = (),
    episodes: bool = False,
    state: Callable[[Any, Any], Any] | None = None,
    ends: Callable[[bool, bool], bool] | None = None,
    limit: int = _LIMIT,
    check: int = _CHECK,
    progress: bool | None = None,
) -> Model:
    """Return the exact model of a finite Gymnasium or MO-Gymnasium environment, with labels.

    It is the model of `explore`, which also says how the rewards were scaled. An environment that `to_gymnasium` made
    gives its model back. Where there is no exact model, use `drive`.

    Parameters
    ----------
    env : gymnasium.Env
        As for `explore`.
    outcomes, ranges, drop, episodes, state, ends, limit, check, progress : optional
        As for `explore`.

    Examples
    --------
    >>> import gymnasium, equipoise as eq
    >>> model = eq.adapters.model_from(gymnasium.make("FrozenLake-v1"))
    >>> model
    Model(11 states, 44 pairs, 1 outcomes, start=0, noise='none')
    >>> round(eq.solve(model, eq.rewards.Linear([1.0])).value, 4)  # goals reached per step
    0.018
    """
    asked = (outcomes, ranges, state, ends) != (None,) * 4 or tuple(drop) or episodes
    if isinstance(env, gymnasium.Env) and not asked:
        with limits_left_out(env) as inner:
            if isinstance(inner, ModelEnvironment):
                return inner.model
    return explore(
        env, outcomes=outcomes, ranges=ranges, drop=drop, episodes=episodes, state=state, ends=ends, limit=limit,
        check=check, progress=progress,
    ).model  # fmt: skip


def _model(laws: EnvironmentLaws, scaling: Scaling) -> Model:
    number = {label: s for s, label in enumerate(laws.events)}
    starts = [(p, number[label]) for label, p in laws.start.items()]

    def branches(label: Hashable, action: Hashable, law: Law) -> list[tuple[float, int, list[float]]]:
        lines = []
        for event, p in law.items():
            try:
                outcomes = scaling.outcomes(event.reward, event.ended)
            except AdapterError as error:
                raise AdapterError(f"state {label!r}, action {action!r}: {error}") from None
            after = [(p * q, s) for q, s in starts] if event.ended else [(p, number[event.state])]
            lines += [(odds, s, outcomes) for odds, s in after]
        return lines

    rows = [[branches(x, a, law) for a, law in zip(laws.actions, row, strict=True)] for x, row in laws.events.items()]
    likeliest = max(laws.start, key=lambda label: laws.start[label])
    labels = Labels(list(laws.events), list(laws.actions), scaling.names)
    return Model.from_branches(rows, start=number[likeliest], labels=labels).restricted()
