r"""(4.6), and its like for the descents: the regret is the oracle's own term plus the average error, on every path.

    Reg(T)  <=  oracle term(T)  +  (1/T) sum over t <= T of (-theta_t).(v* - V_t),      with certainty, at every T.

For Frank-Wolfe the paper has the term beta ||1||^2 log T / T, which is false at T = 1 (erratum 26): with
g(w) = 1 - w^2/2, one state and two loops with outcomes 1 and 0, playing the first costs Reg(1) = 1/2, while theta_1 = 0
and log 1 = 0.
With (1 + log T)/2 in place of log T it is true. The terms of the tuned descents are in `theory.regret`.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from equipoise.models.model import Model
from equipoise.oracles.frank_wolfe import FrankWolfe
from equipoise.paper.analysis_cases import Case, cases
from equipoise.paper.findings import Checked, Finding, Picture, Size, Statement
from equipoise.rewards.quadratic import Quadratic
from equipoise.theory import printed, regret
from equipoise.theory.decomposition import decompose
from equipoise.theory.facts import Setting

STATEMENT: Final = Statement(
    name="oracle-regret",
    number="(4.6)",
    title="Regret is the oracle's own term plus the average error",
    says="Reg(T) ≤ β‖1‖² log T / T + (1/T) Σ(−θ_t)·(v* − V_t)",
    correction="Reg(T) ≤ β‖1‖² (1 + log T) / (2T) + (1/T) Σ(−θ_t)·(v* − V_t)",
    erratum=26,
)
_ROUNDING: Final = 1e-9


def check(size: Size) -> Checked:
    """Both forms on every path, at forty times; the slack is what the right side has to spare."""
    written, corrected, rows = [], [], []
    for case in [_counterexample(), *cases(size.pick(2, 20))]:
        steps = size.pick(5_000, 200_000)
        agent = case.agent()
        terms = decompose(case.model, agent, steps, seed=1)
        setting = Setting.of(agent)
        times = np.unique(np.geomspace(1, steps, 40).astype(int))
        average = np.cumsum(terms.outcomes, axis=0)[times - 1] / times[:, None]
        loss = terms.best.dual_value - np.array([case.reward.value(w) for w in average])
        errors = np.cumsum(terms.left)[times - 1] / times
        # v* and opt come from a solver: opt from above, and (-theta).v* may be off by the gap at most
        spare = loss - errors - terms.best.gap - _ROUNDING
        if isinstance(setting.steered_by, FrankWolfe):
            written.append(_finding(case.name, times, spare, [printed.oracle_term(setting, int(T)) for T in times]))
        corrected.append(_finding(case.name, times, spare, [regret.oracle_term(setting, int(T)) for T in times]))
        rows += [
            {"world": case.name, "t": int(T), "loss": float(x)} for T, x in zip(times, np.maximum(loss, 0), strict=True)
        ]
    return Checked(STATEMENT, tuple(written), tuple(corrected), (_picture(rows),))


def _finding(name: str, times: np.ndarray, spare: np.ndarray, terms: list[float]) -> Finding:
    worst = int(np.argmax(spare - np.array(terms)))
    return Finding(f"{name}, T = {times[worst]}", float(spare[worst]), terms[worst], note="regret less average error")


def _counterexample() -> Case:
    loops = Model.from_arrays([[[1.0], [1.0]]], [[[1.0], [0.0]]], noise="none")
    return Case("two loops, g(w) = 1 − w²/2", loops, Quadratic([0.0]))


def _picture(rows: list[dict[str, object]]) -> Picture:
    return Picture(
        "Regret on these paths",
        "What the two terms on the right are bounds of.",
        {
            "data": {"values": [row for row in rows if not str(row["world"]).startswith("garnet")]},
            "mark": "line",
            "encoding": {
                "x": {"field": "t", "type": "quantitative", "scale": {"type": "log"}, "title": "T"},
                "y": {"field": "loss", "type": "quantitative", "title": "regret"},
                "color": {"field": "world", "type": "nominal", "title": None},
            },
        },
    )
