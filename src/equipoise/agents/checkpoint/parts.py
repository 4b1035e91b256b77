"""What all checkpoints are made of: a space, a reward, a constructor's arguments, a clock, and arrays.

What comes from a file is checked here as far as it can be without knowing the agent. Kernels check nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any, Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from equipoise import confidence, oracles, rewards
from equipoise._numbers import MOST, whole
from equipoise._spec import Component, build, describe
from equipoise.agents.base import PENDING, STATE, TIME, Agent
from equipoise.agents.schedules import Power, Span
from equipoise.errors import FileError
from equipoise.models.model import Space
from equipoise.planning.options import Planner
from equipoise.rewards.base import Reward

_A = TypeVar("_A", bound=Agent)
Header = dict[str, Any]
Arrays = dict[str, NDArray[Any]]
Packed = tuple[Header, Arrays]


_ROOMS: Final = {
    "oracle": {name: getattr(oracles, name) for name in oracles.__all__},
    "confidence": {name: getattr(confidence, name) for name in confidence.__all__},
    "threshold": {"Power": Power, "Span": Span},
    "tolerance": {"Power": Power},
}  # what a file may ask for, by the name of the argument


def described(agent: Agent) -> Packed:
    """What an agent was made of: its space, its reward and its arguments, under their names."""
    arrays: Arrays = {
        "space.first_pair": agent.space.first_pair,
        "space.known_mask": agent.space.known_mask,
        "space.known_outcomes": agent.space.known_outcomes,
    }
    custom = isinstance(agent.reward, rewards.Custom)
    header: Header = {
        "start": agent.space.start,
        "reward": {"kind": "Custom"} if custom else describe(agent.reward, arrays, "reward"),
    }
    for name, value in agent.arguments().items():
        if isinstance(value, Planner):
            header[name] = asdict(value)
        else:
            header[name] = describe(value, arrays, name) if isinstance(value, Component) else value
    return header, arrays


def made(kind: Callable[..., _A], packed: Packed, reward: Reward | None) -> _A:
    """A new agent, of what the header says: all of it and nothing more."""
    agent = kind(space_in(packed), reward_in(packed, reward), **arguments_in(packed))
    header, said = packed[0], described(agent)[0]
    if said | ({"reward": header["reward"]} if reward is not None else {}) != header:
        raise FileError("it does not say all that the agent was made of")
    return agent


def arguments_in(packed: Packed) -> dict[str, Any]:
    """A constructor's arguments, from a header: the components built, the rest as it is."""
    header, arrays = packed
    found = {name: value for name, value in header.items() if name not in ("start", "reward")}
    for name, room in _ROOMS.items():
        if isinstance(found.get(name), Mapping):
            found[name] = build(found[name], arrays, room)
    if "planner" in found:
        found["planner"] = Planner(**found["planner"])
    return found


def reward_in(packed: Packed, given: Reward | None) -> Reward:
    """The reward of the file; or the one given, if that of the file was a `Custom` one."""
    header, arrays = packed
    custom = header["reward"]["kind"] == "Custom"
    if given is not None and not custom:
        raise FileError("its reward is in the file: reward= is for a Custom one")
    if given is None and custom:
        raise FileError("its reward was a Custom one, whose functions are not saved: pass it as reward=")
    if given is not None:
        return given
    built: Reward = build(header["reward"], arrays, {name: getattr(rewards, name) for name in rewards.__all__})
    return built


def space_in(packed: Packed, mask: str = "space.known_mask") -> Space:
    """The space of the file, with the array `mask` for what is known."""
    header, arrays = packed
    first_pair, known, outcomes = arrays["space.first_pair"], arrays[mask], arrays["space.known_outcomes"]
    types = first_pair.dtype == np.int64 and known.dtype == np.bool_ and outcomes.dtype == np.float64
    sound = (
        types
        and (first_pair.ndim, known.ndim, outcomes.ndim) == (1, 1, 2)
        and first_pair.size > 1
        and first_pair[0] == 0
        and np.all(first_pair[1:] > first_pair[:-1])
        and first_pair[-1] == known.size == outcomes.shape[0]
        and outcomes.shape[1] > 0
        and np.all((outcomes >= 0.0) & (outcomes <= 1.0))
        and not outcomes[~known].any()
    )
    if not sound:
        raise FileError("its space is damaged")
    start = whole(header["start"], "start", 0, first_pair.size - 2, error=FileError)
    return Space.of_arrays(first_pair, start, known, outcomes)


def array_in(arrays: Mapping[str, NDArray[Any]], name: str, like: NDArray[Any], grows: bool = False) -> NDArray[Any]:
    """A saved array, of the type and (but for one that grows) the shape of a new agent's: kernels know no other."""
    part = arrays[name]
    if part.dtype != like.dtype or part.ndim != like.ndim or not (grows or part.shape == like.shape):
        raise FileError(f"the array {name} is of type {part.dtype} and shape {part.shape}")
    return np.ascontiguousarray(part)


def clock_fits(clock: NDArray[np.int64], space: Space) -> bool:
    """Whether there are such a time, such a state, and in it the pair that waits to be observed, if any."""
    t, state, pending = int(clock[TIME]), int(clock[STATE]), int(clock[PENDING])
    if not (1 <= t <= MOST and 0 <= state < space.n_states):
        return False
    return pending == -1 or bool(space.first_pair[state] <= pending < space.first_pair[state + 1])
