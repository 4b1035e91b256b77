"""Nothing to learn: the regions are the true transitions and mean outcomes of a model.

For studies of alternation alone (the paper's claims hold "even when the agent knows v, p"), and as the
lower limit of what learning costs. With a known model keep the agent's tolerance small, 1e-9 say: at
1/sqrt(tau) the first plan may be a policy that earns nothing, and nothing then ends the episode.

With nothing to learn, the visits rule has nothing to do: here theta alone ends episodes. (That is also what
makes the regret table of the known star: with the rule left on, its first rows differ.)

A known model may be periodic, where plain value iteration does not converge: the planner relaxes its
steps by one half. The certificate is the same.
"""

from __future__ import annotations

from typing import final

import numpy as np
from numpy.typing import NDArray

from equipoise._runtime.compiler import Entry
from equipoise.confidence.base import Confidence, confidence_entry, opened
from equipoise.confidence.counts import count_layout
from equipoise.errors import ParameterError
from equipoise.models.model import Model, Space


@confidence_entry
def _fill(frame):  # type: ignore[no-untyped-def]
    task, _, region, own = opened(frame)
    # ints: transition_first, transition_state; floats: transition_probability, means
    listed = own.ints[task.n_pairs]
    for pair in range(task.n_pairs):
        region.first[pair] = own.ints[pair]
        region.rest[pair] = 0.0
        for k in range(task.n_outcomes):
            mean = own.floats[listed + pair * task.n_outcomes + k]
            region.v_lo[pair, k] = mean
            region.v_hi[pair, k] = mean
    region.first[task.n_pairs] = listed
    for i in range(listed):
        region.successor[i] = own.ints[task.n_pairs + 1 + i]
        region.lo[i] = own.floats[i]
        region.hi[i] = own.floats[i]


@final
class Known(Confidence):
    """Singleton regions: the true transitions and mean outcomes.

    Parameters
    ----------
    model : Model
        The world that the agent knows; its space must be that of the agent.

    See Also
    --------
    equipoise.solve : The best achievable value of a known model.

    Examples
    --------
    >>> import equipoise as eq
    >>> model = eq.models.bandit(2)
    >>> agent = eq.TocUCRL2(model.space, eq.rewards.Quadratic([0.5, 0.5]), confidence=Known(model), tolerance=1e-9)
    >>> agent.act(0), round(agent.gain, 9)
    (0, 0.5)
    """

    guarantee = "certain: the model is known"
    relaxation = 0.5
    learning = False

    def __init__(self, model: Model) -> None:
        if not isinstance(model, Model):
            raise ParameterError(f"Known: got {type(model).__name__}; a Model is needed")
        self.model = model

    @property
    def kernel(self) -> Entry:
        """The model itself."""
        return _fill

    @property
    def floats(self) -> NDArray[np.float64]:
        """Probabilities and means."""
        return np.concatenate([self.model.transition_probability, self._outcomes.ravel()])

    @property
    def _outcomes(self) -> NDArray[np.float64]:
        """The means, unless they are sparse: then the agent is told them, or its space is another."""
        return self.model.means if count_layout(self.model.space).told is None else np.zeros((0, 0))

    @property
    def ints(self) -> NDArray[np.int64]:
        """Successors."""
        return np.concatenate([self.model.transition_first, self.model.transition_state])

    @property
    def listed(self) -> int:
        """The true successors."""
        return int(self.model.transition_state.size)

    def check(self, space: Space) -> None:
        """The space must be that of the model."""
        own = self.model.space
        if count_layout(own).told is not None and count_layout(space).told is None:
            raise ParameterError("Known: its model tells all outcomes; make the agent with model.space, which does too")
        if space.laws is not None:
            raise ParameterError(
                "Known: the agent was told mechanics; one that knows the model is made with model.space"
            )
        if (own.n_actions, own.n_outcomes) != (space.n_actions, space.n_outcomes):
            raise ParameterError(
                f"Known: its model has {own.n_states} states, {own.n_pairs} pairs and {own.n_outcomes} outcomes; "
                f"the agent's space has {space.n_states}, {space.n_pairs} and {space.n_outcomes}"
            )
