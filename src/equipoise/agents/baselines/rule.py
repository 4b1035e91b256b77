"""Following a rule of thumb: a function from what the state is called to what to do there.

It is what someone who runs the system would do without an agent, and what an agent has to be better than. The function
is asked once for every state when the agent is made; from then on the rule is the list of its answers, which a
file can hold.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, final

import numpy as np

from equipoise._numbers import whole
from equipoise._words import nearest
from equipoise.agents.base import Agent
from equipoise.agents.baselines.stationary import cumulated, follow
from equipoise.agents.restoring import require
from equipoise.errors import ParameterError
from equipoise.models.labels import Label, text
from equipoise.models.model import Model, Space
from equipoise.models.world import sampling_arrays
from equipoise.rewards.base import Reward


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
        self.rule: list[int] = _asked(space, rule) if callable(rule) else _listed(space, rule)
        chosen = np.zeros(space.n_pairs)
        chosen[space.first_pair[:-1] + np.array(self.rule)] = 1.0
        self._cumulative = cumulated(chosen, space.first_pair)
        self._outcome = np.zeros(space.n_outcomes)
        # the compiled loop draws from probabilities; all of these are 0 or 1, so that the stream has no say
        self._unused = np.random.Generator(np.random.PCG64(0))

    def choose(self, state: int) -> int:
        """What the rule says."""
        return self.rule[state]

    def advance(self, model: Model, rng: np.random.Generator, steps: int) -> None:
        """Compiled."""
        follow(
            steps, self._unused, self._cumulative, self.space.first_pair, self._clock, self._total, self._outcome,
            rng, sampling_arrays(model),
        )  # fmt: skip

    def memory(self) -> dict[str, Any]:
        """Nothing: it does the same for ever."""
        return {}

    def restore(self, memory: Mapping[str, Any]) -> None:
        """See that there was nothing, and that the pending action is its own."""
        require(memory == {}, "it has a memory, and a rule needs none")
        pair = self.space.first_pair[self.state] + self.rule[self.state]
        possible = not self.pending or int(self._clock["pending"][0]) == pair
        require(possible, "an action is pending that its rule does not take")


def _asked(space: Space, rule: Callable[[Any], Label]) -> list[int]:
    """What a function says of each state."""
    actions: list[int] = []
    for state in range(space.n_states):
        try:
            answer = rule(space.labels.state(state))
        except Exception as error:
            raise ParameterError(
                f"rule: {space.name_state(state)}: it raised {type(error).__name__}: {error}"
            ) from error
        actions.append(_number(space, state, answer))
    return actions


def _number(space: Space, state: int, answer: Any) -> int:
    """The number of an action that is called so; or that number itself, if no action is called so."""
    count = int(space.n_actions[state])
    labels = [space.labels.action(state, a) for a in range(count)]
    if isinstance(answer, Hashable) and answer in labels:
        return labels.index(answer)
    if isinstance(answer, int | np.integer) and not isinstance(answer, bool):
        return _checked(space, state, answer)
    words = [text(label) for label in labels]
    raise ParameterError(
        f"rule: {space.name_state(state)}: there is no action {answer!r}{nearest(text(answer), words)}; its actions "
        f"are {', '.join(words)}"
    )


def _listed(space: Space, rule: Any) -> list[int]:
    """The numbers of actions, checked."""
    if isinstance(rule, str) or not isinstance(rule, Sequence | np.ndarray) or len(rule) != space.n_states:
        raise ParameterError(
            f"rule: got {rule!r}; a function of a state is needed, or a list of {space.n_states} actions, one a state"
        )
    return [_checked(space, state, action) for state, action in enumerate(rule)]


def _checked(space: Space, state: int, action: Any) -> int:
    return whole(action, f"rule: {space.name_state(state)}", 0, int(space.n_actions[state]) - 1, error=ParameterError)
