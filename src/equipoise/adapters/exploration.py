"""The exact model of a finite Gymnasium environment: read, or found by breadth-first search, and checked.

An episodic task becomes one without end: an end leads to the next start. The average of an outcome per step is then
E[return] / E[length]. With the outcome "episode ended", whose average is 1 / E[length], `Scaling.returns` tells returns
and lengths apart.

**Search.** From each state, each action is tried from a snapshot of the environment, once for each result of its random
draws (`runner`); each new observation is a new state. Starts that look alike are compared at once, since they often
hide something, such as a card.

**Checks.** The search assumes that an observation is the whole state, and a snapshot the whole environment. One walk is
taken without snapshots and with ordinary random generators: every step must have a positive probability, and come as
often as that says. Another goes from snapshot to snapshot, and compares all probabilities of every action it takes.

Of n draws of an event with probability p, c come with a probability of at most exp(-n kl(c/n, p)) on either side
(Chernoff), kl the relative entropy of two coins. Over all n up to the length of the walk, and all events, a true law is
rejected with a probability below `_FALSE_ALARM`.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, final

import gymnasium
import numpy as np
from scipy.special import rel_entr

from equipoise._checks import check_count
from equipoise._runtime.progress import progress_display
from equipoise.adapters.environment import ModelEnvironment
from equipoise.adapters.gym_api import EnvironmentLaws, Event, Law, read_laws
from equipoise.adapters.runner import NOT_FINITE, SEED, Runner, Snapshot, Step, limits_left_out
from equipoise.adapters.scaling import Ranges, Request, Scaling, declared_ranges
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

    Returns
    -------
    Exploration
        The model, and the scaling of its outcomes.

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

    Returns
    -------
    Model
        With labels for its states, actions and outcomes.

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


_TRIAL: Final = 200  # steps, to see which attributes change
_LOOK_EVERY: Final = 64  # states between two looks whether others do; the first so many are all looked at
_FALSE_ALARM: Final = 1e-9
_EQUAL: Final = 1e-9  # two probabilities of one event
_STATE: Final = "state=, a function of the observation and the environment that returns all that matters"
_BOTH: Final = (
    "the environment sets terminated and truncated at once; is that an end, or a limit of time? Say so: "
    "ends=lambda terminated, truncated: terminated, or ... terminated and not truncated"
)


def search_laws(runner: Runner, limit: int, progress: bool | None) -> EnvironmentLaws:
    """Find all states and the law of every action."""
    rng, state = np.random.default_rng(SEED), runner.seed()
    runner.rewindable.share()
    for _ in range(_TRIAL):  # to see which attributes of the environment change
        step = runner.step(state, int(rng.integers(len(runner.actions))))
        state = runner.reset() if step.stopped else step.event.state
        runner.rewindable.changed()
    runner.settle()
    with progress_display("exploring", wanted=progress) as display:
        laws = None
        while laws is None:
            laws = _search_once(runner, limit, display.tell)
    return laws


def _search_once(runner: Runner, limit: int, tell: Callable[[str], None]) -> EnvironmentLaws | None:
    """The law; None if an attribute changed in place that was thought not to, and is now copied."""
    home = runner.fork()
    start: dict[Hashable, float] = {}
    waiting: dict[Hashable, Snapshot] = {}
    others: dict[Hashable, Snapshot] = {}  # of starts that look alike
    for p, state, after in runner.resets(home):
        start[state] = start.get(state, 0.0) + p
        if waiting.setdefault(state, after) is not after:
            others[state] = after
    events: dict[Hashable, list[Law]] = {}
    known = set(waiting)
    while waiting:
        state, here = next(iter(waiting.items()))
        del waiting[state]
        events[state] = []
        for number in range(len(runner.actions)):
            law: dict[Event, float] = {}
            for p, step in runner.runs(state, number, here):
                if step.both:
                    raise AdapterError(f"{runner.where(state, number)}: {_BOTH}")
                law[step.event] = law.get(step.event, 0.0) + p
                if not step.event.ended and step.event.state not in known:
                    known.add(step.event.state)
                    waiting[step.event.state] = step.after
            events[state].append(law)
            if state in others:
                check_law(runner, law, list(runner.runs(state, number, others[state])), state, number)
        if len(known) > limit:
            found = f"more than {limit} states were found, such as {list(waiting)[-1]!r}"
            if not runner.finite:
                raise AdapterError(f"{NOT_FINITE} ({found})")
            raise AdapterError(
                f"{found}; give a larger limit=, or state=, a function of the observation and the environment that "
                "returns what matters"
            )
        if (len(events) <= _LOOK_EVERY or len(events) % _LOOK_EVERY == 0) and runner.rewindable.changed():
            return None
        tell(f"exploring, {len(known)} states")
    runner.globals.check()  # that nothing was drawn past the forks
    return None if runner.rewindable.changed() else EnvironmentLaws(runner.action_labels, start, events)


def check_walk(runner: Runner, laws: EnvironmentLaws, steps: int) -> None:
    """Take a random walk in the environment itself, and raise an error at a step of no or another probability."""
    rng, state = np.random.default_rng(SEED), runner.seed()
    begins = True
    resets: Counter[Hashable] = Counter()
    taken: dict[tuple[Hashable, int], Counter[Event]] = {}
    for _ in range(steps):
        if begins:
            if state not in laws.start:
                raise AdapterError(f"reset: it led to {state!r}, which has no probability; {_advice(laws)}")
            resets[state] += 1
        number = int(rng.integers(len(runner.actions)))
        step = runner.step(state, number)
        law = laws.events[state][number]
        event = _as_found(step, law)
        if event not in law:
            raise AdapterError(
                f"{runner.where(state, number)}: it led to {event}, which has no probability; {_advice(laws)}"
            )
        taken.setdefault((state, number), Counter())[event] += 1
        begins = step.event.ended or step.both
        state = runner.reset() if begins else step.event.state
    many = steps * (len(laws.start) + sum(len(law) for row in laws.events.values() for law in row))
    for (s, a), counts in taken.items():
        _check_frequencies(counts, laws.events[s][a], many, runner.where(s, a), laws)
    _check_frequencies(resets, laws.start, many, "reset", laws)


def check_snapshots(runner: Runner, laws: EnvironmentLaws, steps: int) -> None:
    """Walk from snapshot to snapshot, and raise an error where the law of a step is not the one that was found."""
    rng = np.random.default_rng(SEED)
    starts = list(runner.resets(runner.fork()))
    here = None
    for _ in range(steps):
        if here is None:
            _, state, here = starts[_draw([p for p, *_ in starts], rng)]
        number = int(rng.integers(len(runner.actions)))
        runs = list(runner.runs(state, number, here))
        check_law(runner, laws.events[state][number], runs, state, number)
        _, step = runs[_draw([p for p, _ in runs], rng)]
        state, here = step.event.state, None if step.event.ended or step.both else step.after


def check_law(runner: Runner, law: Law, runs: Sequence[tuple[float, Step]], state: Hashable, number: int) -> None:
    """Raise an error unless what may follow an action has the law that was found."""
    found: dict[Event, float] = {}
    for p, step in runs:
        event = _as_found(step, law)
        found[event] = found.get(event, 0.0) + p
    for event in {**law, **found}:
        if abs(law.get(event, 0.0) - found.get(event, 0.0)) > _EQUAL:
            raise AdapterError(
                f"{runner.where(state, number)}: {event} has the probability {found.get(event, 0.0):g} after one "
                f"history and {law.get(event, 0.0):g} after another, so it has a hidden state. Give {_STATE}, or run "
                "the environment itself with eq.adapters.drive"
            )


def _as_found(step: Step, law: Law) -> Event:
    """What a step is in a law: with both flags set, that it went on, or else an end."""
    return Event(None, step.event.reward, True) if step.both and step.event not in law else step.event


def _check_frequencies(
    counts: Counter[Any], law: Mapping[Any, float], many: int, where: str, laws: EnvironmentLaws
) -> None:
    """Raise an error if something came more often, or less, than its probability has it; `many`: of how many looks."""
    n = counts.total()
    for event, p in law.items() if n else ():
        share = counts[event] / n
        apart = float(rel_entr(share, p) + rel_entr(1.0 - share, max(0.0, 1.0 - p)))
        if n * apart > math.log(2.0 * many / _FALSE_ALARM):
            raise AdapterError(
                f"{where}: {event} came {counts[event]} times of {n}, and its probability is {p:g}; {_advice(laws)}"
            )


def _draw(weights: Sequence[float], rng: np.random.Generator) -> int:
    total = np.cumsum(weights)
    return int(np.searchsorted(total, rng.random() * total[-1], side="right"))


def _advice(laws: EnvironmentLaws) -> str:
    return (
        f"the law of {len(laws.events)} states that was found is not that of the environment. It may have a hidden "
        f"state: give {_STATE}. Or it has a state or a random generator that cannot be put back: run it with "
        "eq.adapters.drive"
    )
