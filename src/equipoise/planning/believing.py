"""Planning over a region, and the model that the plan believes in: of a table, or of known mechanics."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from equipoise._types import Vector
from equipoise.confidence.counts import Counts
from equipoise.confidence.law_counts import units_of
from equipoise.confidence.region import Region
from equipoise.models.model import Space
from equipoise.models.rows import Rows
from equipoise.planning.evi import SWEEP_LIMIT, Plan, last_plan, plan_over_laws
from equipoise.planning.kernels import nonzero_rewards
from equipoise.planning.law_response import law_response
from equipoise.planning.laws import LawWork
from equipoise.planning.response import Response, response


class Belief(NamedTuple):
    """A plan and its optimistic model.

    Attributes
    ----------
    theta : float array
        For which it was planned.
    plan : Plan
        The policy with its certificate.
    response : Response
        The model that it believes in.
    work : LawWork or None
        What the planner made of the region of known mechanics.
    """

    theta: Vector
    plan: Plan
    response: Response
    work: LawWork | None


def believed(
    space: Space,
    counts: Counts,
    region: Region,
    theta: Vector,
    tolerance: float,
    relaxation: float,
    bias: Vector,
    limit: int = SWEEP_LIMIT,
) -> Belief:
    """Plan for (-theta).v over a region. If the sweeps run out, the span of the plan is above the tolerance.

    Parameters
    ----------
    space : Space
        Of the world.
    counts : Counts
        What was observed; of it, which outcomes the region lists.
    region : Region
        Of its pairs, or of its units if its mechanics are known.
    theta : float array
        The prices of the outcomes, negative.
    tolerance, relaxation : float
        Of the planner.
    bias : float array
        Where it starts.
    limit : int
        Sweeps at most.
    """
    if space.laws is not None:
        laws = space.laws.arrays
        plan, work = plan_over_laws(space.first_pair, laws, region, theta, tolerance, relaxation, bias, limit)
        return Belief(theta, plan, law_response(space.first_pair, laws, region, theta, plan, work), work)
    sums, bounds = counts.nonzero, region.nonzero
    told: Rows | None = None
    bounded: Vector
    if sums is not None and bounds is not None:
        bounded = np.zeros(space.n_pairs)
        nonzero_rewards(theta, sums, bounds, bounded)
    elif units_of(space).told is not None:
        told = space.known_rows
        bounded = told @ -theta
    else:
        bounded = np.maximum(-theta * region.v_lo, -theta * region.v_hi).sum(axis=1)
    plan = last_plan(space.first_pair, region, bounded, tolerance, limit=limit, relaxation=relaxation, bias=bias)
    believes = response(space.first_pair, region, theta, plan.bias, plan.policy, told, sums)
    return Belief(theta, plan, believes, None)
