"""An environment that can be put back to where it was.

What an environment and its wrappers are in, is in their attributes. A snapshot keeps those of each, and restoring it
puts copies of them in place: not a copy of the environment, since many copy themselves by being made anew (Gymnasium's
EzPickle), which loses their state.

Attributes that never change in place are not copied but shared, such as tables and maps that take long to copy. Which
those are is found by a trial walk, and that they stay as they were is checked time and again (`changed`). What cannot
be copied (windows, fonts) is shared too. An environment whose state is in such an object, or outside of its attributes,
cannot be put back; that is found by holding what was explored against the environment itself, see `checking`.

Wrappers that only count or check are left out while it lasts: TimeLimit, so that no step is truncated by it,
OrderEnforcing and PassiveEnvChecker. In the end everything is as it was found, the generators included.
"""

from __future__ import annotations

import contextlib
import copy
import itertools
import pickle
from collections.abc import Iterator
from typing import Any, Final, NamedTuple, final

import gymnasium
import numpy as np
from gymnasium import wrappers

from equipoise.adapters.forks import Forks
from equipoise.adapters.planting import Planted, plant, uproot

_LEFT_OUT: Final = (wrappers.TimeLimit, wrappers.OrderEnforcing, wrappers.PassiveEnvChecker)
_ATOMS: Final = (int, float, complex, str, bytes, bool, type(None), np.generic, type)

Snapshot = tuple[dict[str, Any], ...]


class _Place(NamedTuple):
    """An attribute of one of the layers."""

    layer: int
    name: str


@final
class Rewindable:
    """An environment with its wrappers, that can be put back.

    Parameters
    ----------
    env : gymnasium.Env
        Used until `release`.

    Attributes
    ----------
    top : gymnasium.Env
        The environment with all wrappers that matter.
    is_wrapped : bool
        Whether there are any.
    """

    def __init__(self, env: gymnasium.Env) -> None:
        chain = _chain(env)
        self._found = [(layer, dict(vars(layer))) for layer in chain]
        self._layers = _linked(chain)
        self.top: gymnasium.Env = self._layers[0]
        self.is_wrapped = len(self._layers) > 1
        self._shared: set[_Place] = set()
        self._first: dict[_Place, bytes | None] = {}
        self._planted: list[Planted] = []
        self.restore(self.snapshot())  # copies are used, so that nothing that was found changes in place

    def release(self) -> None:
        """Leave the environment as it was found."""
        self.unfork()
        for layer, attributes in self._found:
            vars(layer).clear()
            vars(layer).update(attributes)

    def fork(self, forks: Forks) -> None:
        """Put forking generators in the place of its random ones.

        Parameters
        ----------
        forks : Forks
            What answers the draws.
        """
        self._planted += plant(self._layers, forks)

    def unfork(self) -> None:
        """Put the random generators back where `fork` replaced them."""
        uproot(self._planted)
        self._planted = []

    def share(self) -> None:
        """Share all attributes rather than copy them, until `changed` finds that they change."""
        self._first = {place: _fingerprint(value) for place, value in self._attributes()}
        self._shared = set(self._first)

    def changed(self) -> list[str]:
        """The names of shared attributes that are not what they were; from now on they are copied."""
        held = dict(self._attributes())
        wrong = [
            place
            for place in self._shared
            if self._first[place] is not None and _fingerprint(held.get(place)) != self._first[place]
        ]
        self._shared.difference_update(wrong)
        return sorted(place.name for place in wrong)

    def snapshot(self) -> Snapshot:
        """What it is in now. It must be restored, or left alone, before it is stepped again."""
        return tuple(dict(vars(layer)) for layer in self._layers)

    def restore(self, snapshot: Snapshot) -> None:
        """Put it back.

        Parameters
        ----------
        snapshot : Snapshot
            Of this environment.
        """
        memo: dict[int, Any] = {id(layer): layer for layer in self._layers}
        for number, (layer, attributes) in enumerate(zip(self._layers, snapshot, strict=True)):
            held = vars(layer)
            held.clear()
            for name, value in attributes.items():
                if isinstance(value, _ATOMS) or name == "env" or _Place(number, name) in self._shared:
                    held[name] = value
                else:
                    held[name] = _copied(value, memo)

    def _attributes(self) -> list[tuple[_Place, Any]]:
        return [(_Place(i, name), value) for i, layer in enumerate(self._layers) for name, value in vars(layer).items()]


@contextlib.contextmanager
def limits_left_out(env: gymnasium.Env) -> Iterator[gymnasium.Env]:
    """While the block lasts, an environment without the wrappers that only count or check.

    Parameters
    ----------
    env : gymnasium.Env
        With its wrappers.
    """
    chain = _chain(env)
    links = [(wrapper, wrapper.env) for wrapper in chain[:-1]]
    try:
        yield _linked(chain)[0]
    finally:
        for wrapper, inner in links:
            wrapper.env = inner


def _chain(env: gymnasium.Env) -> list[gymnasium.Env]:
    """An environment: its wrappers from the outside, and what they wrap."""
    chain = [env]
    while isinstance(chain[-1], gymnasium.Wrapper):
        chain.append(chain[-1].env)
    return chain


def _linked(chain: list[gymnasium.Env]) -> list[gymnasium.Env]:
    """Those that matter, each made to wrap the next of them."""
    kept = [layer for layer in chain if not isinstance(layer, _LEFT_OUT)]
    for outer, inner in itertools.pairwise(kept):
        outer.env = inner
    return kept


def _copied(value: Any, memo: dict[int, Any]) -> Any:
    if type(value) is np.ndarray and value.dtype != np.object_:
        return value.copy()
    try:
        return copy.deepcopy(value, memo)
    except Exception:  # what cannot be copied raises anything; it is shared
        return value


def _fingerprint(value: Any) -> bytes | None:
    """Bytes that tell whether a value has changed; None if that cannot be told."""
    if isinstance(value, gymnasium.Env):
        return None
    try:
        return pickle.dumps(value)
    except Exception:
        return None
