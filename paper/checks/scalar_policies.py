r"""Section 3 and appendix A, in passing: with scalar rewards one stationary policy is enough.

On M_MS, where the two arcs between s^1 and s'^1 and the loop at s^2 pay 1, "the agent achieves Reg(T) = O(D/T) by
travelling from a starting state to s'^1, and then alternating solely between s'^1, s^1". With d(s) the number of steps
to one of the two, T Reg(T) = d(s) for T >= d(s), and d <= D. In general "a deterministic stationary policy achieves
O(D/T) anytime regret under the communicating assumption": with (phi, gamma) the gain and bias of an optimal policy,
rewards in [0, 1],

    T Reg(T) = E gamma(s_{T+1}) - gamma(s_1)  <=  max gamma - min gamma  <=  D.

How it is measured. Expected rewards are computed exactly, f_T = r + P f_{T-1}, from every start. On M_MS the policy and
the distances come from a search along the arcs, made here; the agent that follows it is run as well. Elsewhere the
policy is the greedy one of value iteration, made here too, and its gain is held against the offline program.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from equipoise._types import Vector
from equipoise.agents.baselines import StationaryAgent
from equipoise.models.model import Model
from equipoise.models.paper_instances import ring, scalar_hub, star
from equipoise.models.standard import garnet, riverswim
from equipoise.offline.benchmark import solve
from equipoise.offline.chains import greedy, policy_chain
from equipoise.rewards.separable import Linear
from equipoise.simulation import simulate
from paper.findings import Checked, Finding, Size, Statement, nearest

STATEMENT: Final = Statement(
    name="scalar-policies",
    number="section 3",
    title="With scalar rewards one stationary policy is enough",
    says="on M_MS, and in every communicating world with a scalar reward, a stationary policy has Reg(T) = O(D/T)",
)
_ROUNDING: Final = 1e-9
_SOLVED: Final = 1e-6
_SPAN: Final = 1e-12
_SWEEPS: Final = 10**6
_REWARD: Final = Linear([1.0])


def check(size: Size) -> Checked:
    """T Reg(T) from every start, exactly: its closed form on M_MS, and at most D everywhere."""
    steps = size.pick(500, 5000)
    written: list[Finding] = []
    for name, centre, attach in (
        ("M_MS around a ring of 3", ring(3), [0, 1, 2]),
        ("M_MS around a ring of 6", ring(6), [5, 0, 2]),
        ("M_MS around a star", star(3, 4), [2, 4, 6]),
    ):
        written += _spoke(name, centre, attach, steps)
    worlds = {"riverswim(6)": riverswim(6), "ring(8)": ring(8), "scalar hub of 4": scalar_hub(4)}
    worlds |= {f"garnet seed {seed}": garnet(8, 3, 3, 1, seed=seed) for seed in range(size.pick(5, 50))}
    each = [_anywhere(name, model, steps) for name, model in worlds.items()]
    written += [nearest(kind) for kind in zip(*each, strict=True)]
    return Checked(STATEMENT, tuple(written))


def _anywhere(name: str, model: Model, steps: int) -> list[Finding]:
    """The greedy policy for the bias of an optimal one: its gain, and T Reg(T) from every start."""
    pay = np.ascontiguousarray(model.means[:, 0])
    gain, policy = planned(model, pay)
    lost = np.arange(1, steps + 1)[:, None] * gain - totals(model, policy, steps)
    off = abs(gain - solve(model, _REWARD, progress=False).value)
    return [
        Finding(f"{name}: gain of the policy, off opt(P_M)", off, _SOLVED),
        Finding(f"{name}: largest T Reg(T), over D", float(lost.max()) / model.diameter(), 1.0, error=_SOLVED * steps),
    ]


def planned(model: Model, pay: Vector) -> tuple[float, Vector]:
    """The optimal gain and a greedy policy, by value iteration with half steps, to the last digits.

    >>> planned(ring(4), ring(4).means[:, 0])[0]
    0.25
    """
    p, bias = model.transitions(), np.zeros(model.n_states)
    for _ in range(_SWEEPS):
        scores = pay + p @ bias
        change = np.maximum.reduceat(scores, model.first_pair[:-1]) - bias
        if np.ptp(change) <= _SPAN:
            break
        bias += 0.5 * change
        bias -= bias.min()
    policy = np.zeros(model.n_pairs)
    policy[greedy(model, scores)] = 1.0
    return float(change.mean()), policy


def totals(model: Model, policy: Vector, steps: int) -> Vector:
    """Expected sums of the one outcome after 1 ... steps, one row each and one column a start."""
    chain = policy_chain(model, policy)
    pay = np.add.reduceat(policy * model.means[:, 0], model.first_pair[:-1])
    rows = [pay]
    for _ in range(steps - 1):
        rows.append(pay + chain @ rows[-1])
    return np.array(rows)


def _spoke(name: str, centre: Model, attach: list[int], steps: int) -> list[Finding]:
    """To s'^1 by a shortest way, and then to and fro on its spoke."""
    model = scalar_hub(len(attach), centre, attach)
    place, spoke = attach[0], centre.n_states
    after = np.asarray(model.transitions().indices)  # one successor a pair: the arcs
    distance = np.full(model.n_states, np.inf)
    distance[[place, spoke]] = 0.0
    while np.isinf(distance).any():
        np.minimum.at(distance, model.state_of, distance[after] + 1.0)
    toward = np.where(distance[after] == distance[model.state_of] - 1.0, 1.0, 0.0)
    to_and_fro = ((model.state_of == place) & (after == spoke)) | ((model.state_of == spoke) & (after == place))
    policy = np.zeros(model.n_pairs)
    policy[greedy(model, toward + to_and_fro)] = 1.0
    lost = np.arange(1, steps + 1)[:, None] - totals(model, policy, steps)
    late = int(distance.max())
    run = simulate(model, StationaryAgent(model.space, _REWARD, policy), steps, progress=False)
    walked = run.t * run.regret(solve(model, _REWARD, progress=False))
    off = float(np.abs(lost[late:] - distance).max())
    return [
        Finding(f"{name}, every start: T Reg(T), off the distance", off, _ROUNDING * steps),
        Finding(f"{name}, every start: largest T Reg(T), over D", float(lost.max()) / model.diameter(), 1.0),
        Finding(f"{name}, run: T Reg(T), off the distance", abs(walked[-1] - distance[model.start]), _SOLVED * steps),
        Finding(f"{name}: D, off its closed form", abs(model.diameter() - longest(centre, attach)), _ROUNDING),
    ]


def longest(centre: Model, attach: list[int]) -> float:
    """D of a hub, by a search along the arcs of its centre: from any state to any, over two spokes at most."""
    n, K = centre.n_states, len(attach)
    apart = np.full((n + K, n + K), np.inf)
    apart[centre.state_of, centre.transitions().indices] = 1.0
    for k, place in enumerate(attach):
        apart[[place, n + k, n + k], [n + k, place, n + k]] = 1.0
    for via in range(n + K):
        apart = np.minimum(apart, apart[:, [via]] + apart[[via], :])
    return float(apart.max())
