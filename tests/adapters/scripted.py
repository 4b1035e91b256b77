"""A small environment with vector rewards that are given in advance."""

from __future__ import annotations

import gymnasium
import numpy as np
from gymnasium import spaces


class Scripted(gymnasium.Env):
    """Pays the rows of a table in turn; the observation is the number of steps taken, and episodes have a length."""

    def __init__(self, rows, length=None, declared=((0, 1), (0, 1)), observations="number"):
        self.rows, self.length, self.taken, self.resets = [np.asarray(row) for row in rows], length, 0, []
        self.kind = observations
        self.action_space = spaces.Discrete(2)
        self.observation_space = {
            "number": spaces.Discrete(1000, start=5),
            "vector": spaces.Box(0.0, 1000.0, (2,), np.float64),
            "image": spaces.Box(0, 255, (3, 4), np.uint8),
            "dictionary": spaces.Dict({"at": spaces.Box(0, 1000, (1,), np.float32), "light": spaces.Discrete(2)}),
        }[observations]
        if declared is not None:
            low, high = np.array(declared, dtype=np.float32).T
            self.reward_space = spaces.Box(low, high, dtype=np.float32)

    def seen(self):
        if self.kind == "number":
            return 5 + self.taken
        if self.kind == "dictionary":
            return {"at": np.array([self.taken], np.float32), "light": self.taken % 2}
        return np.full(self.observation_space.shape, self.taken, self.observation_space.dtype)

    def reset(self, *, seed=None, options=None):
        self.resets.append((seed, options, self.taken))
        return self.seen(), {"from": "reset"}

    def step(self, action):
        row = self.rows[self.taken % len(self.rows)]
        self.taken += 1
        ended = self.length is not None and self.taken % self.length == 0
        return self.seen(), row, ended, False, {"from": "step"}
