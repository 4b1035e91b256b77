from __future__ import annotations

import numpy as np
import pytest

from equipoise.offline import solve_knapsack
from paper import markets
from paper.checks import budget_proof as proof
from paper.findings import Size
from paper.free_runs import FreeRun, free_run


def test_quick():
    checked = proof.check(Size.QUICK)
    assert checked.verdict == "holds as corrected"
    assert [f.verdict for f in checked.written] == ["fails"] * 4
    last = checked.written[-1]
    assert (last.measured, last.bound, last.note) == (250.0, 0.0, "free run 500, stopped 250")
    shares = [f.measured for f in checked.corrected if "nothing consumed" in f.instance]
    assert min(shares) > 0.97  # the oracle's term is attained


def test_a_run_by_hand():
    # 8 steps, b = 1/2: a unit in each of the first five
    outcomes = np.zeros((8, 2))
    outcomes[:5] = 1.0
    run = FreeRun(0.5, np.tile([-1.0, 2.0], (8, 1)), outcomes)
    assert run.tau == 4  # four units are gone
    assert run.lead.tolist() == [0.5, 1.0, 1.5, 2.0, 2.5, 2.0, 1.5, 1.0]
    assert run.violation == 1.0
    assert run.surrogate[-1] == 5.0 - 4.0 * 1.0
    assert run.dual[-1] == 8 * 0.5 * 2.0 + 5.0 - 2.0 * 5.0
    assert run.descent[-1] == pytest.approx(4.0 * np.sqrt(np.log(2.0)) * (4.0 + 2.0))


def test_two_in_turn():
    run = proof.two_in_turn(1000, 0.25)
    assert (run.tau, run.violation, run.earned[-1], run.earned[run.tau - 1]) == (250, 0.0, 500.0, 250.0)


def test_prices_that_stand_still_are_seen():
    # an oracle that never moves: (A.10) at every t would allow that only as long as nothing is lost by it
    model = markets.stall([[1.0]])
    best, run = solve_knapsack(model, 0.25), free_run(model, 0.25, 4000, known=True)
    still = FreeRun(0.25, np.tile(run.theta[0], (run.T, 1)), np.zeros_like(run.outcomes))
    assert float(((run.dual - run.surrogate) / run.descent).max()) <= 1.0
    assert float(((still.dual - still.surrogate) / still.descent).max()) > 1.0
    assert best.value == pytest.approx(0.25)
