"""Saving an agent while it runs: once a minute, and never for more than a small part of the time.

A file is written whole or not at all, so that what was saved last is always there. The first save is tried before the
first step: a path that cannot be written is an error at once, and not after an hour.
"""

from __future__ import annotations

import contextlib
import os
import time
from typing import Final, final

from equipoise.agents.base import Agent
from equipoise.errors import FileError

_EVERY: Final = 60.0  # seconds
_SHARE: Final = 20.0  # an agent that takes long to save is saved less often: a twentieth of the time at most


@final
class Keeping:
    """Saves an agent now and then.

    Parameters
    ----------
    agent : Agent
        Which.
    path : path
        To which file.
    """

    def __init__(self, agent: Agent, path: str | os.PathLike[str]) -> None:
        self._agent = agent
        self._path = path
        self._next = 0.0
        self.save()

    def look(self) -> None:
        """Save, if it is time for it. If that fails, say on a full disk, the run goes on: the next one may succeed."""
        if time.perf_counter() >= self._next:
            self._next = time.perf_counter() + _EVERY
            with contextlib.suppress(FileError):
                self.save()

    def save(self) -> None:
        """Save now."""
        began = time.perf_counter()
        self._agent.save(self._path)
        now = time.perf_counter()
        self._next = now + max(_EVERY, _SHARE * (now - began))
