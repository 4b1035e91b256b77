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

from collections.abc import Mapping
from typing import Any, final

from equipoise.confidence.base import Confidence
from equipoise.confidence.counts import Counts
from equipoise.confidence.region import Region
from equipoise.errors import ParameterError
from equipoise.models.base import Model, Space


@final
class Known(Confidence):
    """Singleton regions, read off `model`."""

    relaxation = 0.5
    learning = False

    def __init__(self, model: Model) -> None:
        if not isinstance(model, Model):
            raise ParameterError(f"Known: got {type(model).__name__}; a Model is needed")
        self.model = model

    def check(self, space: Space) -> None:
        """The space must be that of the model."""
        own = self.model.space
        if (own.n_actions, own.n_outcomes) != (space.n_actions, space.n_outcomes):
            raise ParameterError(
                f"Known: its model has {own.n_states} states, {own.n_pairs} pairs and {own.n_outcomes} outcomes; "
                f"the agent's space has {space.n_states}, {space.n_pairs} and {space.n_outcomes}"
            )

    def room(self, space: Space, counts: Counts) -> int:  # noqa: ARG002
        """The true successors."""
        return int(self.model.transition_state.size)

    def fill(self, space: Space, counts: Counts, tau: int, delta: float, region: Region) -> None:  # noqa: ARG002
        """The model itself."""
        region.first[:] = self.model.transition_first
        size = self.model.transition_state.size
        region.successor[:size] = self.model.transition_state
        region.lo[:size] = self.model.transition_probability
        region.hi[:size] = self.model.transition_probability
        region.rest[:] = 0.0
        region.v_lo[:] = self.model.means
        region.v_hi[:] = self.model.means

    def arguments(self) -> Mapping[str, Any]:
        """The model."""
        return {"model": self.model}
