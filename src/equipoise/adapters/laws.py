"""All that can happen in an environment, as it was found: events with their probabilities, state by state."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from typing import NamedTuple

Ends = Callable[[bool, bool], bool]


class Event(NamedTuple):
    """What may follow an action.

    Attributes
    ----------
    state : hashable
        The next state; None after an end, where it is a start.
    reward : tuple of float
        All components of the reward.
    ended : bool
        Whether the episode ended.
    """

    state: Hashable
    reward: tuple[float, ...]
    ended: bool

    def __str__(self) -> str:
        return f"{'an end' if self.ended else f'the state {self.state!r}'} with the reward {list(self.reward)}"


Law = Mapping[Event, float]


class Laws(NamedTuple):
    """The law of an environment.

    Attributes
    ----------
    actions : list
        The labels of the actions.
    start : dict
        The states after a reset and their probabilities.
    events : dict
        For each state, in the order in which they were found, the law of each action.
    """

    actions: list[Hashable]
    start: dict[Hashable, float]
    events: dict[Hashable, list[Law]]


def has_ended(terminated: bool, truncated: bool, ends: Ends | None) -> bool:
    """Whether an episode ended, rather than was cut off; both flags at once are a cut, unless `ends` says otherwise.

    Parameters
    ----------
    terminated, truncated : bool
        As the environment set them.
    ends : callable, optional
        ``ends(terminated, truncated)`` decides.

    Examples
    --------
    >>> has_ended(True, False, None), has_ended(True, True, None), has_ended(True, True, lambda one, other: one)
    (True, False, True)
    """
    return bool(terminated and not truncated) if ends is None else bool(ends(terminated, truncated))
