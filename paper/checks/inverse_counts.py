r"""Lemma B.6 and Claim B.7: what uncertainty costs, summed over time.

    sum over t <= T of 1/sqrt(N+_m(t)(s_t, a_t))  <=  (sqrt(2) + 1) sqrt(SA T),
    sum over t <= T of 1/N+_m(t)(s_t, a_t)        <=  SA (1 + 2 log T),

with certainty, for every T; N+_m(s, a) counts the visits of a pair before episode m, and is at least 1.

Both hold as written: they do not share the flaw of Claim 4.6 (erratum 19). Lemma B.5 needs z_m <= Z_{m-1}, and here
z_m is the number of visits of *one* pair in episode m, which the visits rule keeps to at most N+_m = Z_{m-1}, be the
pair new or not. A pair that was never visited adds nothing on the left, and by the inequality of Cauchy and Schwarz
the sum of sqrt(N) over the others is at most sqrt(SA T). (For Claim 4.6 z_m is the length of the whole episode, and
one step at each new pair is more than the time before it.)

Both are met. On one pair, where episodes double exactly, the first sum is 1 + (sqrt T - 1)(sqrt 2 + 1) at
T = 1, 2, 4, ..., all of its bound as T grows: the constant cannot be smaller. The second is 1 + log2 T, all of its
bound at T = 1, and 1/(2 log 2) = .72 of it as T grows. Both closed forms are found exactly.

`theory.sums.inverse_roots` and `inverses` are these bounds.

Measured at every T on runs stepped by hand, where the pair of every step is known; and at the ends of all episodes on
long ones, run twice: once for the ends, once for the visits between them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from equipoise._types import Vector
from equipoise.agents.toc_ucrl2 import TocUCRL2
from equipoise.models import scheduler
from equipoise.models.model import Model
from equipoise.models.paper_instances import ring, star
from equipoise.models.standard import garnet, riverswim
from equipoise.rewards.base import Reward
from equipoise.rewards.separable import Linear, ProportionalFairness, Quadratic
from equipoise.simulation import simulate
from equipoise.theory.sums import inverse_roots, inverses
from paper.findings import Checked, Finding, Picture, Size, Statement

STATEMENT: Final = Statement(
    name="inverse-counts",
    number="Lemma B.6, Claim B.7",
    title="What uncertainty costs, summed over time",
    says="Σ 1/√N⁺ ≤ (√2 + 1)√(SA·T) and Σ 1/N⁺ ≤ SA(1 + 2 log T), with certainty",
)
Times = NDArray[np.int64]
_ROOT: Final = math.sqrt(2.0) + 1.0
_DIGITS: Final = 1e-12  # of a formula of a few operations, or a sum of some thousand numbers
_USED: Final = "share of the bound that is used"


class _Sums(NamedTuple):
    """Both sums of a run in a world of so many pairs, up to each of the times T."""

    n_pairs: int
    T: Times
    roots: Vector
    inverses: Vector

    def against_bound(self, label: str) -> tuple[Vector, Vector]:
        """One of the sums, and its bound."""
        if "√" in label:
            return self.roots, _ROOT * np.sqrt(self.n_pairs * self.T)
        return self.inverses, self.n_pairs * (1.0 + 2.0 * np.log(self.T))


def check(size: Size) -> Checked:
    """Compare both sums with their bounds on worlds with many pairs and few, short runs at every T."""
    garnets = [(garnet(8, 3, 3, 2, seed=seed), Quadratic([0.5, 0.5])) for seed in range(size.pick(2, 30))]
    groups: dict[str, Sequence[tuple[Model, Reward]]] = {
        "one pair": [(garnet(1, 1, 1, 1), Linear([1.0]))],
        "ring(40)": [(ring(40), Linear([1.0]))],
        "star(3, 4)": [(star(3, 4), Quadratic([1 / 3] * 3))],
        "riverswim(6)": [(riverswim(6), Linear([1.0]))],
        "scheduler": [(scheduler(), ProportionalFairness(3, 0.05))],
        f"{len(garnets)} garnets": garnets,
    }
    findings: list[Finding] = []
    rows: list[dict[str, object]] = []
    for name, group in groups.items():
        every, ends = [], []
        for model, reward in group:
            T, counts = counts_by_hand(model, reward, size.pick(5_000, 10_000))
            every.append(_Sums(model.n_pairs, T, np.cumsum(1.0 / np.sqrt(counts)), np.cumsum(1.0 / counts)))
            ends.append(sums_at_ends(model, reward, size.pick(100_000, 1_000_000)))
        findings += _closest(name, "every T", every) + _closest(name, "at the ends of episodes", ends)
        rows += _rows(name, every[0]) if len(group) == 1 else []
    findings += [*_formulas(), *_met(size)]
    return Checked(STATEMENT, tuple(findings), (), (_picture(rows),))


def _formulas() -> list[Finding]:
    """The bounds of `theory.sums` against the statement."""
    sizes = [(SA, T) for SA in (1, 4, 1_000) for T in (1, 2, 1_000, 10**9)]
    far = {
        "inverse_roots": max(abs(inverse_roots(SA, T) / (_ROOT * math.sqrt(SA * T)) - 1.0) for SA, T in sizes),
        "inverses": max(abs(inverses(SA, T) / (SA * (1.0 + 2.0 * math.log(T))) - 1.0) for SA, T in sizes),
    }
    return [Finding(f"{name} against its formula", x, _DIGITS, note="relative difference") for name, x in far.items()]


def _met(size: Size) -> list[Finding]:
    """One pair: both sums by their closed forms, and the shares of the bounds that they use."""
    J = size.pick(16, 20)
    run = sums_at_ends(garnet(1, 1, 1, 1), Linear([1.0]), 2**J)
    T = run.T.astype(np.float64)
    exact = np.log2(T) % 1.0 == 0.0
    roots, logs = 1.0 + (np.sqrt(T) - 1.0) * _ROOT, 1.0 + np.log2(T)
    return [
        Finding(
            f"{label}, one pair, T = 1, 2, 4, ..., 2^{J}", float(far), _DIGITS, note="off its closed form, relative"
        )
        for label, far in (
            ("Σ 1/√N⁺", np.abs(run.roots / roots - 1.0)[exact].max()),
            ("Σ 1/N⁺", np.abs(run.inverses / logs - 1.0)[exact].max()),
        )
    ] + [
        Finding(
            f"Σ 1/√N⁺, one pair, T = 2^{J}", float(run.roots[-1] / (_ROOT * math.sqrt(T[-1]))), 0.99, ">=", note=_USED
        ),
        Finding(
            f"Σ 1/N⁺, one pair, T = 2^{J}", float(run.inverses[-1] / (1 + 2 * math.log(T[-1]))), 0.7, ">=", note=_USED
        ),
    ]


def counts_by_hand(model: Model, reward: Reward, steps: int) -> tuple[Times, Vector]:
    """The times 1 ... steps, and N+_m(t)(s_t, a_t) at each of them."""
    agent, world = _agent(model, reward), model.world(seed=0)
    pairs = np.empty(steps, np.int64)
    for t in range(steps):
        action = agent.act(world.state)
        pairs[t] = model.pair(world.state, action)
        agent.observe(*world.step(action))
    T = np.arange(1, steps + 1)
    opened = agent.episode_starts[np.searchsorted(agent.episode_starts, T, side="right") - 1]
    before = np.empty(steps)
    for pair in np.unique(pairs):
        visits = T[pairs == pair]
        before[visits - 1] = np.searchsorted(visits, opened[visits - 1])
    return T, np.maximum(1.0, before)


def sums_at_ends(model: Model, reward: Reward, steps: int) -> _Sums:
    """Both sums up to the last step of every episode."""
    first, agent = _agent(model, reward), _agent(model, reward)
    simulate(model, first, steps, seed=0, checkpoints=[steps], progress=False)
    ends = np.append(first.episode_starts[1:] - 1, steps)
    before = agent.visits
    parts = np.zeros((ends.size, 2))
    for m, end in enumerate(ends.tolist()):
        simulate(model, agent, end - agent.t + 1, seed=0, checkpoints=[end], progress=False)
        counts = np.maximum(1.0, before)
        parts[m] = ((agent.visits - before) / np.sqrt(counts)).sum(), ((agent.visits - before) / counts).sum()
        before = agent.visits
    sums = np.cumsum(parts, axis=0)
    return _Sums(model.n_pairs, ends, sums[:, 0], sums[:, 1])


def _agent(model: Model, reward: Reward) -> TocUCRL2:
    return TocUCRL2(model.space, reward)


def _closest(name: str, when: str, runs: list[_Sums]) -> list[Finding]:
    """Where each of the two sums comes closest to its bound."""
    findings = []
    for label in ("Σ 1/√N⁺", "Σ 1/N⁺"):
        pairs = [run.against_bound(label) for run in runs]
        run = int(np.argmax([(total / bound).max() for total, bound in pairs]))
        total, bound = pairs[run]
        at = int(np.argmax(total / bound))
        findings.append(
            Finding(f"{label}, {name}, T = {runs[run].T[at]}", float(total[at]), float(bound[at]), note=when)
        )
    return findings


def _rows(name: str, run: _Sums) -> list[dict[str, object]]:
    at = np.unique(np.geomspace(1, run.T.size, 40).astype(np.int64)) - 1
    return [
        {"world": name, "T": int(run.T[i]), "ratio": float(total[i] / bound[i]), "sum": label}
        for label, (total, bound) in ((each, run.against_bound(each)) for each in ("Σ 1/√N⁺", "Σ 1/N⁺"))
        for i in at
    ]


def _picture(rows: list[dict[str, object]]) -> Picture:
    return Picture(
        "Both sums over their bounds",
        "On one pair the first ratio tends to 1, and the bound on the second is exact at T = 1.",
        {
            "data": {"values": rows},
            "mark": "line",
            "encoding": {
                "x": {"field": "T", "type": "quantitative", "scale": {"type": "log"}},
                "y": {"field": "ratio", "type": "quantitative", "title": "sum / bound"},
                "color": {"field": "world", "type": "nominal", "title": None},
                "strokeDash": {"field": "sum", "type": "nominal", "title": None},
            },
        },
    )
