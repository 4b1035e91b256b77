r"""A result beyond the paper: with a known model, planning mixtures has regret of T^-1/2 for every Lipschitz g.

The paper's descents have T^-1/3 where g is not smooth (theorems 5.1 and 5.2), and its Claim 3.1 says that no agent has
less than T^-1/2. `MixtureUCRL2` plans a mixture for the time to come, plays its policies in rounds of 2 sqrt(n D t)
steps, and plans again. Statement and proof are in docs/mixtures.md.

It is an upper bound: a slope of at most -1/2 on the maximum over a tenth of a decade is what is checked, on stars with
rewards that have kinks, beside the tuned descents that know the model too. A round makes regret rise and fall, so it
is the envelope that is fitted: the largest regret of each part of the decades from 10^3 steps on. It is held against
the slope with a margin of 0.1, and that of the descent is shown with the slope -1/3 that it may not beat by as much.
The second kind of finding is the theorem's own bound: regret over 2 L |1| sqrt(n D / T) stays below a constant.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from equipoise.agents.base import Agent
from equipoise.agents.mixture import MixtureUCRL2
from equipoise.agents.toc_ucrl2 import TocUCRL2
from equipoise.confidence.known import Known
from equipoise.models.model import Model
from equipoise.models.paper_instances import star
from equipoise.offline.benchmark import solve
from equipoise.rewards.base import Reward
from equipoise.rewards.distance import Balance
from equipoise.rewards.ordered import BottomSum
from equipoise.simulation.simulate import simulate
from paper.findings import Checked, Finding, Size, Statement

STATEMENT: Final = Statement(
    name="mixtures-of-policies",
    number="beyond Theorem 5.2",
    title="Regret of planned mixtures, known model",
    says="E[Reg(T)] = O(L‖1‖√(nD/T)) for every L-Lipschitz concave g",
)
_MARGIN: Final = 0.1  # of a slope that is fitted to two or three decades
_CONSTANT: Final = 2.0  # regret over L |1| sqrt(n D / T): 1/2 for ways, 2 for what a round is off by, on average half


def check(size: Size) -> Checked:
    """Fit the envelope of the regret, and hold it against the bound."""
    steps = size.pick(10**5, 10**6)
    findings = []
    for branches, distance in ((2, 4), (3, 4), (3, 8)):
        model = star(branches, distance)
        for name, reward in (
            ("balance", Balance([1.0 / branches] * branches)),
            ("worst branch", BottomSum(branches, 1)),
        ):
            where = f"star({branches}, {distance}), {name}"
            times, regret = _envelope(MixtureUCRL2(model.space, reward, Known(model)), model, reward, steps)
            slope = float(np.polyfit(np.log(times), np.log(regret), 1)[0])
            findings.append(Finding(f"{where}: slope", measured=slope, bound=-0.5 + _MARGIN))
            unit = reward.lipschitz * np.sqrt(branches) * np.sqrt(branches * distance / times)
            findings.append(
                Finding(f"{where}: regret over L‖1‖√(nD/T)", measured=float((regret / unit).max()), bound=_CONSTANT)
            )
            if (branches, distance) == (3, 4):
                descent = TocUCRL2(model.space, reward, confidence=Known(model), tolerance=1e-6)
                _, slower = _envelope(descent, model, reward, steps)
                findings.append(
                    Finding(f"{where}: regret over that of the descent", float(regret[-1] / slower[-1]), bound=1.0)
                )
    return Checked(STATEMENT, tuple(findings))


def _envelope(agent: Agent, model: Model, reward: Reward, steps: int) -> tuple[np.ndarray, np.ndarray]:
    """The largest regret in each tenth of a decade, and the times where these begin."""
    marks = np.unique(np.geomspace(10**3, steps, 400).astype(np.int64))
    run = simulate(model, agent, steps, seed=0, checkpoints=marks, progress=False)
    regret = np.maximum(run.regret(solve(model, reward)), 1e-12)
    part = np.floor(10 * np.log10(marks / 999.0)).astype(np.int64)
    parts = np.unique(part)
    return (
        np.array([marks[part == one][0] for one in parts], dtype=np.float64),
        np.array([regret[part == one].max() for one in parts]),
    )
