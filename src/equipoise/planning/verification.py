"""A plan from elsewhere, verified: one sweep from its bias tells whether its certificate holds.

For every pair  r(s,a) + max over p of p.bias - bias(s) <= gain,  and for the policy's action it is at least gain -
tolerance. The first makes the gain an upper bound on the optimal average reward of every model in the region; both are
all that the paper's proofs use of a plan (lemma decompose).
"""

# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from equipoise._runtime.compiler import kernel
from equipoise.confidence.region import Region
from equipoise.errors import ContractError
from equipoise.planning.evi import Plan, Workspace
from equipoise.planning.kernels import inner_maximum, rank_states

_ROUNDING: Final = 1e-9  # relative to the rewards and to the bias


@kernel
def _pair_values(region, reward, u, work, out):
    """r(s,a) + max over p of p.u, for every pair."""
    for s in range(u.shape[0]):
        work.order[s] = s
    rank_states(u, work)
    for pair in range(out.shape[0]):
        out[pair] = reward[pair] + inner_maximum(pair, region, u, work)


def verify_plan(
    plan: object,
    who: str,
    first_pair: NDArray[np.int64],
    region: Region,
    reward: NDArray[np.float64],
    tolerance: float,
    work: Workspace,
) -> Plan:
    """The plan, with a bias whose least entry is zero and a certain gain; or an error that says what is wrong."""
    if not isinstance(plan, Plan):
        raise ContractError(f"planner: {who} returned {plan!r}; an eq.planning.Plan is needed")
    n_states = first_pair.size - 1
    policy, bias = np.asarray(plan.policy), np.asarray(plan.bias)
    counts = np.diff(first_pair)
    if policy.shape != (n_states,) or not np.issubdtype(policy.dtype, np.integer):
        raise ContractError(
            f"planner: {who}: the policy is {policy!r}; an action for each of {n_states} states is needed"
        )
    wrong = np.flatnonzero((policy < 0) | (policy >= counts))
    if wrong.size:
        s = wrong[0]
        raise ContractError(
            f"planner: {who}: state {s} has no action {policy[s]}; its actions are 0 to {counts[s] - 1}"
        )
    if bias.shape != (n_states,) or bias.dtype != np.float64 or not np.all(np.isfinite(bias)):
        raise ContractError(f"planner: {who}: the bias is {bias!r}; {n_states} finite numbers (float64) are needed")
    if not np.isfinite(plan.gain):
        raise ContractError(f"planner: {who}: the gain is {plan.gain}; a finite number is needed")
    u = bias - bias.min()
    values = np.zeros(reward.size)
    _pair_values(region, reward, u, work, values)
    ahead = values - np.repeat(u, counts)
    slack = _ROUNDING * max(1.0, float(u.max()), float(np.abs(reward).max()))
    pair = int(ahead.argmax())
    state = int(np.searchsorted(first_pair, pair, side="right")) - 1
    if ahead[pair] > plan.gain + slack:
        raise ContractError(
            f"planner: {who}: the gain {plan.gain:.9g} is no upper bound: with its bias, state {state}, action "
            f"{pair - first_pair[state]} has {ahead[pair]:.9g}"
        )
    chosen = ahead[first_pair[:-1] + policy]
    worst = int(chosen.argmin())
    if chosen[worst] < plan.gain - tolerance - slack:
        raise ContractError(
            f"planner: {who}: in state {worst} its action {policy[worst]} reaches {chosen[worst]:.9g}, more than the "
            f"tolerance {tolerance:.3g} below the gain {plan.gain:.9g}"
        )
    gain = max(float(plan.gain), float(ahead[pair]))
    return Plan(policy.astype(np.int64), gain, u, gain - float(chosen[worst]), max(0, int(plan.sweeps)))
