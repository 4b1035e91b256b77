"""A reward written in one file outside the package: checked, used by an agent, copied, kept on disk when compiled."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = '''
import numpy as np
from equipoise.rewards.base import Reward, RewardKernels, checked_vector, entry, read_only


@entry
def _value(t, n, w, params, out):
    out[0] = 0.0
    for k in range(n):
        out[0] += params[k] * w[k]


@entry
def _gradient(t, n, w, params, out):
    for k in range(n):
        out[k] = params[k]


@entry
def _conjugate_argmax(t, n, theta, params, out):
    for k in range(n):
        out[k] = 1.0 if theta[k] + params[k] > 0.0 else 0.0


class Weighted(Reward):
    """A sum of the outcomes with weights."""

    norm, smoothness, piecewise_linear = 1.0, 0.0, True

    def __init__(self, weights):
        self.params = checked_vector(weights, "weights")
        self.n_outcomes = self.params.size
        self.lipschitz = float(np.abs(self.params).max())
        self._kernels = RewardKernels(_value, _gradient, _conjugate_argmax)

    @property
    def weights(self):
        return read_only(self.params)

    @property
    def kernels(self):
        return self._kernels

    def concave_expression(self, w):
        return self.params @ w
'''


PROGRAM = """
import copy, pickle
import numpy as np
import equipoise as eq
from equipoise.testing import check_reward
from shop_goals import Weighted

reward = Weighted([1.0, 2.0])
check_reward(reward)
model = eq.models.bandit(2)
agent = eq.TocUCRL2(model.space, reward)
twin = eq.TocUCRL2(model.space, eq.rewards.Linear([1.0, 2.0], norm=1))
for one in (agent, twin):
    eq.simulate(model, one, 300, seed=2)
assert np.array_equal(agent.average, twin.average)
assert copy.deepcopy(reward).value([0.5, 0.25]) == pickle.loads(pickle.dumps(reward)).value([0.5, 0.25]) == 1.0
assert pickle.loads(pickle.dumps(reward)).kernels.value is reward.kernels.value
print(sum(kernel._compiled.cache_hits for kernel in reward.kernels if kernel is not None))
"""


@pytest.mark.slow
def test_one_file_is_enough_and_is_compiled_once(tmp_path: Path):
    (tmp_path / "shop_goals.py").write_text(SOURCE)
    (tmp_path / "program.py").write_text(PROGRAM)
    source = str(Path(__file__).parents[2] / "src")
    environment = dict(os.environ) | {"PYTHONPATH": os.pathsep.join([source, os.environ.get("PYTHONPATH", "")])}
    hits = [
        subprocess.run(
            [sys.executable, "program.py"], cwd=tmp_path, env=environment, capture_output=True, text=True, check=True
        ).stdout.strip()
        for _ in range(2)
    ]
    assert hits == ["0", "3"]
    (tmp_path / "shop_goals.py").write_text(SOURCE.replace("params[k] * w[k]", "1.0 * params[k] * w[k]"))
    os.utime(tmp_path / "shop_goals.py", (1, 1))  # another time, so that numba sees another file
    third = subprocess.run(
        [sys.executable, "program.py"], cwd=tmp_path, env=environment, capture_output=True, text=True, check=True
    )
    assert third.stdout.strip() == "0"
