"""`equipoise certify`: from a file to a bound."""

from __future__ import annotations

import json

import pytest

import equipoise as eq
from tests.cli.inside import inside


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    model = eq.models.riverswim(3)
    old = eq.agents.baselines.StationaryAgent(model.space, eq.rewards.Linear([1.0]))
    path = tmp_path_factory.mktemp("logs") / "log.csv"
    eq.simulate(model, old, 20_000, trace=True, progress=False).trace.write_csv(path)
    return path


def test_with_a_world_and_without(log):
    for world in ([], ["--world", '{kind = "riverswim", n = 3}']):
        told = inside("certify", str(log), "--reward", '{kind = "Linear", weights = [1.0]}', *world, "--json")
        assert told.returncode == 0, told.stderr
        data = json.loads(told.stdout)
        assert data["rows"] == 20_000
        assert data["achieved"] < eq.solve(eq.models.riverswim(3), eq.rewards.Linear([1.0])).value
        assert eq.solve(eq.models.riverswim(3), eq.rewards.Linear([1.0])).value < data["best_possible"] < 1
        assert data["probability"] == 0.95
    text = inside("certify", str(log), "--reward", '{kind = "Linear", weights = [1.0]}').stdout
    assert "best possible" in text
    assert "More data would lower the bound most here" in text


def test_constraints_and_their_conflict(log):
    """Nobody is at the far end for 99 % of the time; half of the time is possible, if seldom reached by chance."""
    best = eq.solve(eq.models.riverswim(3), eq.rewards.Linear([1.0])).value
    reward = """{ kind = "Constrained", reward = { kind = "Linear", weights = [1] }, constraints = [
        { kind = "at_least", outcome = 0, level = 0.99, name = "nearly always" },
        { kind = "at_least", outcome = 0, level = 0.01, name = "now and then" } ] }"""
    data = json.loads(inside("certify", str(log), "--reward", reward, "--json").stdout)
    always, now = data["constraints"]
    assert (always["name"], always["level"], always["impossible"]) == ("nearly always", 0.99, True)
    assert best <= always["best_possible"] < 0.99
    assert always["violation"] == pytest.approx(0.99 - always["reached"])
    assert (now["violation"], now["impossible"]) == (0.0, False)
    assert data["achieved"] == always["reached"] == now["reached"]
    assert data["conflict"] == ["nearly always"]
    text = inside("certify", str(log), "--reward", reward).stdout
    assert "No policy meets 'nearly always'." in text
    assert "now and then" in text


def test_refusals(log, tmp_path):
    bad = tmp_path / "bad.csv"
    bad.write_text("state,action,pay,next_state\n0,0,2.5,0\n")
    told = inside("certify", str(bad), "--reward", '{kind = "Linear", weights = [1.0]}')
    assert told.returncode == 1
    assert "row 1: pay: got '2.5'; it must lie in [0, 1]" in told.stderr
    told = inside("certify", str(log), "--reward", '{kind = "Quadratic", target = [0.5, 0.5]}')
    assert told.returncode == 1
