"""All checks, in the order of the paper."""

from __future__ import annotations

from typing import Final

from equipoise.paper.checks import (
    alternations,
    benchmark,
    budget_program,
    budgets,
    coverage,
    decomposition,
    delays,
    dual_span,
    episodes_frank_wolfe,
    episodes_gradient_descent,
    episodes_mirror_descent,
    error_sum,
    evi_span,
    growth,
    inverse_counts,
    linear_rewards,
    maximum_entropy,
    optimism_about_outcomes,
    optimism_about_transitions,
    oracle_regret,
    rate_frank_wolfe,
    rate_gradient_descent,
    rate_mirror_descent,
    stationary_policies,
    tolerances,
    zero_threshold,
)
from equipoise.paper.findings import Check

CHECKS: Final[dict[str, Check]] = {
    benchmark.STATEMENT.name: benchmark.check,
    alternations.STATEMENT.name: alternations.check,
    stationary_policies.STATEMENT.name: stationary_policies.check,
    rate_frank_wolfe.STATEMENT.name: rate_frank_wolfe.check,
    linear_rewards.STATEMENT.name: linear_rewards.check,
    coverage.STATEMENT.name: coverage.check,
    oracle_regret.STATEMENT.name: oracle_regret.check,
    error_sum.STATEMENT.name: error_sum.check,
    episodes_frank_wolfe.STATEMENT.name: episodes_frank_wolfe.check,
    decomposition.STATEMENT.name: decomposition.check,
    delays.STATEMENT.name: delays.check,
    tolerances.STATEMENT.name: tolerances.check,
    optimism_about_outcomes.STATEMENT.name: optimism_about_outcomes.check,
    optimism_about_transitions.STATEMENT.name: optimism_about_transitions.check,
    rate_gradient_descent.STATEMENT.name: rate_gradient_descent.check,
    rate_mirror_descent.STATEMENT.name: rate_mirror_descent.check,
    maximum_entropy.STATEMENT.name: maximum_entropy.check,
    budgets.STATEMENT.name: budgets.check,
    dual_span.STATEMENT.name: dual_span.check,
    budget_program.STATEMENT.name: budget_program.check,
    zero_threshold.STATEMENT.name: zero_threshold.check,
    evi_span.STATEMENT.name: evi_span.check,
    inverse_counts.STATEMENT.name: inverse_counts.check,
    growth.STATEMENT.name: growth.check,
    episodes_gradient_descent.STATEMENT.name: episodes_gradient_descent.check,
    episodes_mirror_descent.STATEMENT.name: episodes_mirror_descent.check,
}
