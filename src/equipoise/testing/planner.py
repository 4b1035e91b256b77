"""The contract of planners.

The regions are known models, and those of agents after few and after many steps, in small models. The certificate of
each plan is verified by a second, dense evaluation of the maximum over a region, which shares no code with the planner.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Final, NamedTuple

import numpy as np

from equipoise._types import Index, Vector
from equipoise.agents.toc_ucrl2 import TocUCRL2
from equipoise.confidence.base import Confidence, build_region
from equipoise.confidence.bernstein import Bernstein
from equipoise.confidence.known import Known
from equipoise.confidence.region import Region
from equipoise.errors import ContractError
from equipoise.models.model import Model
from equipoise.models.paper_instances import star
from equipoise.models.standard import garnet, riverswim
from equipoise.planning.evi import Plan
from equipoise.planning.options import PlanningOracle
from equipoise.rewards.ordered import BottomSum
from equipoise.rewards.separable import Quadratic
from equipoise.simulation import simulate
from equipoise.testing._shared import demand_copies, demand_resumes, name_clauses

_SEED: Final = 5
_ROUNDING: Final = 1e-9
_TOLERANCES: Final = (0.3, 1e-3)
_STEPS: Final = 300


class _Case(NamedTuple):
    """A region to plan over, and the reward of each pair."""

    name: str
    first_pair: Index
    region: Region
    reward: Vector


def check_planner(planner: PlanningOracle) -> None:
    """Check that a planner keeps its contract; a `ContractError` names the clause, region, state and numbers.

    Parameters
    ----------
    planner : PlanningOracle
        The one to check.

    Examples
    --------
    >>> import equipoise as eq
    >>> check_planner(eq.planning.Planner(relaxation=0.9))
    """
    for clause in PLANNER_CLAUSES.values():
        clause(planner)


def says_what_it_is(planner: PlanningOracle) -> None:
    """It is a planner; a copy of it, and one made of its arguments, is the same."""
    clause = "says_what_it_is"
    if not isinstance(planner, PlanningOracle):
        raise ContractError(f"{clause}: got {type(planner).__name__}; a PlanningOracle is needed")
    demand_copies(clause, planner)


def certifies_its_plans(planner: PlanningOracle) -> None:
    """Each plan is within its tolerance, by its own gain and bias, for every distribution in the region."""
    for case in _cases():
        for tolerance in _TOLERANCES:
            plan = planner.plan(case.first_pair, case.region, case.reward, tolerance)
            _demand_certificate(f"certifies_its_plans: {case.name}, tolerance {tolerance:g}", case, plan, tolerance)


def leaves_what_it_is_given(planner: PlanningOracle) -> None:
    """It changes none of its arguments, and gives the same plan again."""
    clause = "leaves_what_it_is_given"
    for case in _cases():
        before = [part.copy() for part in (case.first_pair, case.reward, *_arrays(case.region))]
        one, two = (planner.plan(case.first_pair, case.region, case.reward, _TOLERANCES[1]) for _ in range(2))
        after = (case.first_pair, case.reward, *_arrays(case.region))
        if not all(map(np.array_equal, before, after)):
            raise ContractError(f"{clause}: {case.name}: it changes what it is given; work on a copy")
        if not (np.array_equal(one.policy, two.policy) and np.array_equal(one.bias, two.bias) and one.gain == two.gain):
            raise ContractError(f"{clause}: {case.name}: called again it gives another plan: {one!r}, then {two!r}")


def plans_for_an_agent(planner: PlanningOracle) -> None:
    """In an agent, whose memory is taken and given back, it goes on bit for bit; step by step as in one call."""
    model, reward = garnet(4, 2, 2, 3, seed=_SEED), Quadratic([0.3, 0.5, 0.4])
    looks: dict[str, Callable[[TocUCRL2], Vector | Index]] = {
        "the average": lambda agent: agent.average,
        "the bias": lambda agent: agent.bias,
        "the starts of episodes": lambda agent: agent.episode_starts,
    }
    make = partial(TocUCRL2, model.space, reward, planner=planner)
    demand_resumes("plans_for_an_agent", make, model, _STEPS, _SEED, looks)


PLANNER_CLAUSES: Final[dict[str, Callable[[PlanningOracle], None]]] = name_clauses(
    says_what_it_is, certifies_its_plans, leaves_what_it_is_given, plans_for_an_agent
)


def _cases() -> Iterator[_Case]:
    """Regions of known models, and of agents that have learnt little and much; with rewards of both signs."""
    worlds = {"star": star(2, 4), "riverswim": riverswim(5), "garnet": garnet(6, 3, 2, 2, seed=_SEED)}
    for name, model in worlds.items():
        reward = np.random.default_rng(_SEED).uniform(-1.0, 1.0, model.n_pairs)
        first_pair = model.space.first_pair
        if name != "star":  # whose period is 2, so that plain sweeps need not converge where it is known
            yield _Case(f"{name}, known", first_pair, _region(model, Known(model), 0), reward)
        for steps in (3, 3000):
            yield _Case(f"{name}, after {steps} steps", first_pair, _region(model, Bernstein(), steps), reward)


def _region(model: Model, confidence: Confidence, steps: int) -> Region:
    agent = TocUCRL2(model.space, BottomSum(model.n_outcomes, 1), confidence=confidence)
    if steps:
        simulate(model, agent, steps, _SEED, progress=False)
    return build_region(confidence, model.space, agent.loop.arrays.counts, steps + 1, agent.delta)


def _arrays(region: Region) -> list[Index | Vector]:
    return [part for part in region[:9] if part is not None]


def _demand_certificate(where: str, case: _Case, plan: object, tolerance: float) -> None:
    if not isinstance(plan, Plan):
        raise ContractError(f"{where}: got {plan!r}; an eq.planning.Plan is needed")
    n_states = case.first_pair.size - 1
    policy, bias = np.asarray(plan.policy), np.asarray(plan.bias, dtype=np.float64)
    if policy.shape != (n_states,) or bias.shape != (n_states,) or not np.all(np.isfinite(bias)):
        raise ContractError(f"{where}: an action and a finite bias for each of {n_states} states are needed")
    slack = _ROUNDING * max(1.0, float(np.ptp(bias)), float(np.abs(case.reward).max()))
    for s in range(n_states):
        pairs = range(case.first_pair[s], case.first_pair[s + 1])
        ahead = [case.reward[pair] + _largest_mean(case.region, pair, bias) - bias[s] for pair in pairs]
        best = int(np.argmax(ahead))
        if ahead[best] > plan.gain + slack:
            raise ContractError(
                f"{where}: the gain {plan.gain:.9g} is no upper bound: state {s}, action {best} has {ahead[best]:.9g}"
            )
        action = int(policy[s])
        if not 0 <= action < len(ahead):
            raise ContractError(f"{where}: state {s} has no action {action}")
        if ahead[action] < plan.gain - tolerance - slack:
            raise ContractError(
                f"{where}: in state {s} action {action} reaches {ahead[action]:.9g}, more than the tolerance below the "
                f"gain {plan.gain:.9g}"
            )


def _largest_mean(region: Region, pair: int, u: Vector) -> float:
    """The largest p.u over a box of distributions: the lower bounds, and what they leave to the best states first."""
    begin, end = int(region.first[pair]), int(region.first[pair + 1])
    listed = region.successor[begin:end]
    low, room = np.zeros(u.size), np.full(u.size, float(region.rest[pair]))
    low[listed] = region.lo[begin:end]
    room[listed] = region.hi[begin:end] - region.lo[begin:end]
    left, unlisted, total = 1.0 - float(low.sum()), float(region.rest_sum[pair]), float(low @ u)
    is_listed = np.isin(np.arange(u.size), listed)
    for s in np.argsort(-u, kind="stable"):
        given = min(left, room[s] if is_listed[s] else min(room[s], unlisted))
        total += given * u[s]
        left -= given
        unlisted -= 0.0 if is_listed[s] else given
    return total
