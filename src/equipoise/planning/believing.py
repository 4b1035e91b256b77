"""Planning over a region, and the model that the plan believes in: of a table, or of known mechanics."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from equipoise._types import Vector
from equipoise.confidence.law_counts import units_of
from equipoise.confidence.region import Region
from equipoise.models.model import Space
from equipoise.planning.evi import SWEEP_LIMIT, Plan, last_plan, plan_over_laws
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
    told = None if units_of(space).told is None else space.known_rows
    bounded = np.maximum(-theta * region.v_lo, -theta * region.v_hi).sum(axis=1) if told is None else told @ -theta
    plan = last_plan(space.first_pair, region, bounded, tolerance, limit=limit, relaxation=relaxation, bias=bias)
    return Belief(theta, plan, response(space.first_pair, region, theta, plan.bias, plan.policy, told), None)
