"""The baselines in a file: what they were made of, the arrays that they name, and a stream of random numbers."""

from __future__ import annotations

from equipoise.agents.baselines import StationaryAgent
from equipoise.agents.baselines.simple import SimpleAgent
from equipoise.agents.checkpoint.parts import Packed, array_in, clock_fits, described, made
from equipoise.errors import FileError
from equipoise.rewards.base import Reward


def packed(agent: SimpleAgent) -> Packed:
    """The header and the arrays of a baseline."""
    header, arrays = described(agent)
    arrays.update({f"memory.{name}": part for name, part in agent._memory().items()})
    if isinstance(agent, StationaryAgent):
        header["stream"] = agent._actions.bit_generator.state  # whole numbers and strings
    return header, arrays


def rebuilt(kind: type[SimpleAgent], saved: Packed, reward: Reward | None) -> SimpleAgent:
    """The baseline that `packed` gave the parts of."""
    header, arrays = saved
    stream = header.pop("stream", None)
    agent = made(kind, saved, reward)
    for name, part in agent._memory().items():
        part[...] = array_in(arrays, f"memory.{name}", part)
    if not (clock_fits(agent._clock, agent.space) and agent._sound()):
        raise FileError("its arrays do not fit together")
    if isinstance(agent, StationaryAgent):
        agent._skip_draws()
        if stream != agent._actions.bit_generator.state:
            raise FileError("its stream of random numbers is not where its seed and its clock would have it")
    return agent
