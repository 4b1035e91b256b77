"""What a log proves: an upper bound on what any policy achieves, and what was achieved, from the data alone.

The regions contain the true model whatever policy produced the log. So the bound of `agents.certificate` applies, with
the log's average outcomes instead of the agent's; theta begins at minus a supergradient of g there.

Constraints without a price are bounded at the derived price and without smoothing, as by `MixtureUCRL2`: what is
achieved is then the reward alone, and each constraint is reported.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from equipoise._checks import check_float
from equipoise.agents.certificate import Certificate, add_constraints, build_certificate
from equipoise.agents.dual_bound import BoundOptions, Evidence, best_bound
from equipoise.agents.phase import check_kind
from equipoise.confidence.adaptive import Adaptive
from equipoise.confidence.base import Confidence, build_region
from equipoise.confidence.counts import empty_counts
from equipoise.confidence.intervals import count_log
from equipoise.errors import ParameterError, RewardError
from equipoise.models.log import Source
from equipoise.models.space import Space
from equipoise.planning.evi import SWEEP_LIMIT
from equipoise.rewards.base import Reward
from equipoise.rewards.constrained import Constrained

_SHARP: Final = 0.01  # of the paper's tolerance: the bound may be too large by that of its plan


def certify(
    space: Space,
    reward: Reward,
    log: Source,
    delta: float = 0.05,
    *,
    confidence: Confidence | None = None,
    effort: int = 20,
) -> Certificate:
    """Bound the optimum of a system from a log of it, and say how far from that the log is.

    Parameters
    ----------
    space : Space
        Of the system. An action that the log never took is possible, and may be as good as can be; leave it out of the
        space if it should not count.
    reward : Reward
        What the average outcomes are judged by: its limit, if it changes with time.
    log : frame or path
        A polars or pandas frame, or the path of a Parquet or CSV file, with the columns state, action, one for each
        outcome, and next_state. A `LogError` names rows that cannot have happened.
    delta : float
        The certificate holds with probability 1 - delta.
    confidence : Confidence, optional
        None: `Adaptive()`, whose regions are the tightest that are proven.
    effort : int
        The largest number of plans to spend on it; it stops when there is nothing to gain.

    Examples
    --------
    >>> import equipoise as eq
    >>> model = eq.models.riverswim(3)
    >>> reward = eq.rewards.Linear([1.0])
    >>> old = eq.agents.baselines.StationaryAgent(model.space, reward)
    >>> log = eq.simulate(model, old, 20_000, trace=True).trace
    >>> certificate = certify(model.space, reward, log)
    >>> certificate.t, certificate.achieved < 0.2 < eq.solve(model, reward).value < certificate.best_possible
    (20000, True)
    """
    check_kind(space, Space, "space", "model.space")
    check_kind(reward, Reward, "reward", "eq.rewards.Quadratic(target)")
    rule = Adaptive() if confidence is None else confidence
    check_kind(rule, Confidence, "confidence", "eq.confidence.Adaptive()")
    if rule.caveat:
        raise ParameterError(f"confidence: the regions of {rule!r} are not proven to hold the truth ({rule.guarantee})")
    if reward.n_outcomes != space.n_outcomes:
        raise RewardError(f"reward: it takes {reward.n_outcomes} outcomes; the space has {space.n_outcomes}")
    level = check_float(delta, "delta", error=ParameterError)
    if not 0 < level < 1:
        raise ParameterError(f"delta: got {delta}; it must lie strictly between 0 and 1")
    counts, rows, total = count_log(empty_counts(space, rule), log, space)
    average = np.clip(total / rows, 0.0, 1.0)
    evidence = Evidence(space, counts, build_region(rule, space, counts, rows + 1, level, logged=True))
    goal, judged = _without_price(reward)
    options = BoundOptions(
        theta=-goal.at(rows).gradient(average),  # that in force, as in the limit there may be no slope
        bias=np.zeros(space.n_states),
        tolerance=_SHARP / float(rows + 1) ** 0.5,
        relaxation=rule.relaxation,
        limit=SWEEP_LIMIT,
        effort=effort,
    )
    certificate = build_certificate(
        evidence,
        best_bound(evidence, goal, options),
        reward,
        achieved=judged.value(average),
        probability=1.0 - level if rule.learning else 1.0,
        t=rows,
        proven_at=rows + 1,
    )
    return add_constraints(certificate, evidence, options, average)


def _without_price(reward: Reward) -> tuple[Reward, Reward]:
    """What is bounded, and what the average is judged by: without a price, the reward that has constraints."""
    if isinstance(reward, Constrained) and reward.arguments()["price"] is None:
        return reward.at_prices(reward.price, 0.0), reward.objective
    return reward, reward
