"""All checks, in the order of the paper."""

from __future__ import annotations

from typing import Final

from equipoise.paper import (
    alternations,
    benchmark,
    coverage,
    decomposition,
    dual_span,
    error_sums,
    evi_span,
    oracle_regret,
    stationary_policies,
    tolerances,
    zero_threshold,
)
from equipoise.paper.findings import Check

CHECKS: Final[dict[str, Check]] = {
    benchmark.STATEMENT.name: benchmark.check,
    dual_span.STATEMENT.name: dual_span.check,
    alternations.STATEMENT.name: alternations.check,
    stationary_policies.STATEMENT.name: stationary_policies.check,
    zero_threshold.STATEMENT.name: zero_threshold.check,
    evi_span.STATEMENT.name: evi_span.check,
    coverage.STATEMENT.name: coverage.check,
    oracle_regret.STATEMENT.name: oracle_regret.check,
    error_sums.TOTAL.name: error_sums.check_total,
    decomposition.STATEMENT.name: decomposition.check,
    error_sums.DELAYS.name: error_sums.check_delays,
    tolerances.STATEMENT.name: tolerances.check,
    error_sums.OUTCOMES.name: error_sums.check_outcomes,
    error_sums.TRANSITIONS.name: error_sums.check_transitions,
}
