"""Stationary policies: deterministic or randomised, or a rule of thumb. Most controllers are one.

`StationaryAgent` follows given probabilities. `Rule` follows a function from the label of a state to the label of an
action: what someone who runs the system would do without an agent, and what an agent has to be better than. The
function is called once for every state when the agent is made, so that a file can hold the answers.

They ignore the balance reached so far. The paper's point is that no such policy is optimal in general; see
`best_stationary` for the best of them.
"""

# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

import itertools
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, cast, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from equipoise._checks import SEED_LIMIT, check_int, suggest
from equipoise._files import ensure
from equipoise._runtime.compiler import inlined, kernel
from equipoise.agents.base import Agent
from equipoise.errors import ParameterError
from equipoise.models.checks import SUM_TOLERANCE
from equipoise.models.labels import Label, text
from equipoise.models.model import Model, Space
from equipoise.models.world import get_sampling, sample
from equipoise.rewards.base import Reward


@inlined
def _draw_pair(rng, first_pair, cumulative, state):
    u = rng.random()
    pair = first_pair[state]
    while u >= cumulative[pair] and pair < first_pair[state + 1] - 1:
        pair += 1
    return pair


@kernel
def _draw(rng, first_pair, cumulative, state):
    return _draw_pair(rng, first_pair, cumulative, state)


@kernel
def _follow(steps, actions, cumulative, first_pair, clock, total, outcome, rng, world):
    """Take steps in a sampled world by the cumulative probabilities of a policy; `actions` is the stream they use."""
    state = clock[0].state
    for _ in range(steps):
        pair = _draw_pair(actions, first_pair, cumulative, state)
        state = sample(rng, pair, world, outcome)
        for k in range(total.shape[0]):
            total[k] += outcome[k]
    clock[0].state = state
    clock[0].time += steps


@final
class StationaryAgent(Agent):
    """An agent that always follows one policy.

    Parameters
    ----------
    space : Space
        The world's.
    reward : Reward
        What its outcomes are judged by.
    policy : array of float, optional
        A probability for each pair, summing to 1 in each state (`Benchmark.policy`, `Stationary.policy`); None:
        every action alike.
    seed : int
        Of its own stream, which only a randomised policy uses.

    See Also
    --------
    equipoise.best_stationary : Where policies for it come from.

    Examples
    --------
    >>> import equipoise as eq
    >>> model = eq.models.bandit(2)
    >>> agent = StationaryAgent(model.space, eq.rewards.Quadratic([0.5, 0.5]), [0.5, 0.5])
    >>> bool(eq.simulate(model, agent, 10_000).values[-1] > 0.999)
    True
    """

    def __init__(self, space: Space, reward: Reward, policy: ArrayLike | None = None, seed: int = 0) -> None:
        super().__init__(space, reward)
        self.seed = check_int(seed, "seed", 0, SEED_LIMIT, error=ParameterError)
        counts = np.diff(space.first_pair)
        uniform = np.repeat(1.0 / counts, counts)
        self._given = policy is not None
        self.probabilities = uniform if policy is None else _check_policy(space, policy)
        self._cumulative = _cumulate(self.probabilities, space.first_pair)
        self._outcome = np.zeros(space.n_outcomes)
        # spawned, so that it is another stream than a world's of the same seed
        self._actions = np.random.Generator(np.random.PCG64(np.random.SeedSequence(self.seed).spawn(1)[0]))

    def arguments(self) -> dict[str, Any]:
        """The policy that was given, None if none was, and the seed; `probabilities` is the policy in force."""
        return {"policy": self.probabilities.tolist() if self._given else None, "seed": self.seed}

    def choose(self, state: int) -> int:
        """Drawn by the policy."""
        first_pair = self.space.first_pair
        return int(_draw(self._actions, first_pair, self._cumulative, state) - first_pair[state])

    def advance(self, model: Model, rng: np.random.Generator, steps: int) -> None:
        """Compiled."""
        _follow(
            steps, self._actions, self._cumulative, self.space.first_pair, self._clock, self._total, self._outcome,
            rng, get_sampling(model),
        )  # fmt: skip

    def memory(self) -> dict[str, Any]:
        """Where its stream of random numbers is."""
        return {"stream": self._actions.bit_generator.state}

    def restore(self, memory: Mapping[str, Any]) -> None:
        """Go on with that stream: each action has taken one number of it."""
        possible = not self.pending or self.probabilities[self._clock["pending"][0]] > 0.0
        ensure(possible, "an action is pending that its policy never takes")
        cast(np.random.PCG64, self._actions.bit_generator).advance(self.t - 1 + self.pending)
        here = self._actions.bit_generator.state
        ensure(memory.get("stream") == here, "its stream of random numbers is not where its seed and its clock put it")


def _check_policy(space: Space, policy: ArrayLike) -> NDArray[np.float64]:
    if callable(policy):
        raise ParameterError(f"policy: got {policy!r}; it must be called first, as in best.policy()")
    try:
        probability = np.array(policy, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise ParameterError(f"policy: {space.n_pairs} probabilities are needed, one a pair") from None
    if probability.shape != (space.n_pairs,) or not np.all(probability >= 0.0):
        raise ParameterError(f"policy: {space.n_pairs} probabilities are needed, one a pair")
    total = np.add.reduceat(probability, space.first_pair[:-1])
    wrong = np.flatnonzero(~(np.abs(total - 1.0) <= SUM_TOLERANCE))
    if wrong.size:
        state = int(wrong[0])
        raise ParameterError(f"policy: in {space.name_state(state)} it sums to {total[state]}; 1 is needed")
    return probability


def _cumulate(probability: NDArray[np.float64], first_pair: NDArray[np.int64]) -> NDArray[np.float64]:
    """Cumulative probabilities within each state; 1 from the last possible action on."""
    running = np.empty_like(probability)
    for begin, end in itertools.pairwise(first_pair.tolist()):
        running[begin:end] = np.cumsum(probability[begin:end])
        running[begin + int(np.flatnonzero(probability[begin:end])[-1]) : end] = 1.0
    return running


@final
class Rule(Agent):
    """An agent that does in each state what a rule says.

    Parameters
    ----------
    space : Space
        The world's.
    reward : Reward
        What its outcomes are judged by.
    rule : callable, or sequence of int
        A function from the label of a state (its number, if it has none) to the label of an action in it, or to the
        number of one. Or the numbers of the actions of all states.

    Attributes
    ----------
    rule : list of int
        The number of the action of each state.

    Raises
    ------
    ParameterError
        Naming the state in which there is no such action, or for which the function raised something.

    Examples
    --------
    Order when less than four are left.

    >>> import equipoise as eq
    >>> shop = eq.models.inventory()
    >>> reward = eq.rewards.TargetSquared([0.9, 0.8, 0.8])
    >>> agent = Rule(shop.space, reward, lambda stock: "order 6" if stock[0] < 4 else "order nothing")
    >>> agent.rule
    [2, 2, 2, 2, 0, 0, 0, 0, 0, 0, 0]
    >>> eq.simulate(shop, agent, 10_000).outcomes[-1].round(2).tolist()
    [0.99, 0.64, 0.76]
    """

    def __init__(self, space: Space, reward: Reward, rule: Callable[[Any], Label] | Sequence[int]) -> None:
        super().__init__(space, reward)
        self.rule: list[int] = _ask_rule(space, rule) if callable(rule) else _check_actions(space, rule)
        chosen = np.zeros(space.n_pairs)
        chosen[space.first_pair[:-1] + np.array(self.rule)] = 1.0
        self._cumulative = _cumulate(chosen, space.first_pair)
        self._outcome = np.zeros(space.n_outcomes)
        # the compiled loop draws from probabilities; all of these are 0 or 1, so that the stream has no say
        self._unused = np.random.Generator(np.random.PCG64(0))

    def choose(self, state: int) -> int:
        """What the rule says."""
        return self.rule[state]

    def advance(self, model: Model, rng: np.random.Generator, steps: int) -> None:
        """Compiled."""
        _follow(
            steps, self._unused, self._cumulative, self.space.first_pair, self._clock, self._total, self._outcome,
            rng, get_sampling(model),
        )  # fmt: skip

    def memory(self) -> dict[str, Any]:
        """Nothing: it never changes."""
        return {}

    def restore(self, memory: Mapping[str, Any]) -> None:
        """See that there was nothing, and that the pending action is its own."""
        ensure(memory == {}, "it has a memory, and a rule needs none")
        pair = self.space.first_pair[self.state] + self.rule[self.state]
        possible = not self.pending or int(self._clock["pending"][0]) == pair
        ensure(possible, "an action is pending that its rule does not take")


def _ask_rule(space: Space, rule: Callable[[Any], Label]) -> list[int]:
    """What a function says of each state."""
    actions: list[int] = []
    for state in range(space.n_states):
        try:
            answer = rule(space.labels.state(state))
        except Exception as error:
            raise ParameterError(
                f"rule: {space.name_state(state)}: it raised {type(error).__name__}: {error}"
            ) from error
        actions.append(_find_action(space, state, answer))
    return actions


def _find_action(space: Space, state: int, answer: Any) -> int:
    """The number of an action that is called so; or that number itself, if no action is called so."""
    count = int(space.n_actions[state])
    labels = [space.labels.action(state, a) for a in range(count)]
    if isinstance(answer, Hashable) and answer in labels:
        return labels.index(answer)
    if isinstance(answer, int | np.integer) and not isinstance(answer, bool):
        return _check_action(space, state, answer)
    words = [text(label) for label in labels]
    raise ParameterError(
        f"rule: {space.name_state(state)}: there is no action {answer!r}{suggest(text(answer), words)}; its actions "
        f"are {', '.join(words)}"
    )


def _check_actions(space: Space, rule: Any) -> list[int]:
    """The numbers of actions, checked."""
    if isinstance(rule, str) or not isinstance(rule, Sequence | np.ndarray) or len(rule) != space.n_states:
        raise ParameterError(
            f"rule: got {rule!r}; a function of a state is needed, or a list of {space.n_states} actions, one a state"
        )
    return [_check_action(space, state, action) for state, action in enumerate(rule)]


def _check_action(space: Space, state: int, action: Any) -> int:
    return check_int(
        action, f"rule: {space.name_state(state)}", 0, int(space.n_actions[state]) - 1, error=ParameterError
    )
