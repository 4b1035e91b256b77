"""Numbers in the prose of the pages are those of the tables, programs and constants that they repeat."""

from __future__ import annotations

import inspect
import math
import re
from pathlib import Path

import numpy as np
import pytest

import equipoise as eq
from benchmarks import certificates, leaderboard
from benchmarks.peers import problems as peers
from equipoise.models import log
from equipoise.models.checks import SUM_TOLERANCE
from equipoise.oracles.base import growth_episodes
from equipoise.planning.evi import SWEEP_LIMIT
from equipoise.reports.numbers.laws import MOST_LAWS, MOST_VALUES
from equipoise.studies import plan, read_study, runner
from equipoise.studies.plan import model_hash
from paper.checks import (
    budget_proof,
    dynamic_thresholds,
    optimism_about_transitions,
    threshold_remarks,
    zero_threshold,
)
from paper.free_runs import free_run
from paper.markets import stall
from tests.confidence import test_levels as levels
from tests.reference.test_reference import star_regret

pytestmark = pytest.mark.docs

ROOT = Path(__file__).parent.parent


def page(name: str) -> str:
    """In one line, so that it does not matter where the lines of a sentence end."""
    return " ".join((ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8").split())


def rows(name: str, heading: str) -> dict[str, list[str]]:
    """The first table under a heading, by its first column."""
    text = (ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8").partition(f"\n## {heading}\n")[2]
    lines = re.findall(r"(?:^\|.*\|\n)+", text, flags=re.MULTILINE)[0].splitlines()
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]
    return {first: others for first, *others in cells}


def scalar() -> dict[tuple[str, str], tuple[int, int]]:
    """Regret and speed of all learners on problems of one outcome, ours and others'."""
    text = (ROOT / "docs" / "leaderboard.md").read_text(encoding="utf-8").partition("## Scalar problems")[2]
    found = re.findall(r"^\| ([\w ]+) \| ([^|]+) \| ([-\d,]+)[^|]*\| \d+ \| ([\d,]+) \|$", text, flags=re.MULTILINE)
    whole = [
        (problem, agent, regret.replace(",", ""), speed.replace(",", "")) for problem, agent, regret, speed in found
    ]
    return {(problem, agent.strip("`")): (int(regret), int(speed)) for problem, agent, regret, speed in whole}


# --- the leaderboard ---


def test_how_many_problems_the_leaderboard_has():
    assert len(read_study(ROOT / "studies" / "leaderboard.toml").problems) == 14
    assert "a study of fourteen problems" in page("tutorials/compare")
    assert "has fourteen problems" in page("reference/choosing")


def test_what_thresholds_do_to_agents_that_learn():
    """The page on the threshold, from the table of regrets as multiples of that with Q = L."""
    table = {problem: [float(x) for x in ratios] for problem, ratios in rows("leaderboard", "Thresholds").items()}
    text = page("reference/threshold")
    growing = [ratios[2] for problem, ratios in table.items() if problem.startswith("star")]
    assert f"{min(growing):.2f} to {max(growing):.2f} of the regret of Q = L on stars" in text
    falls, _, grows, _ = table.pop("patrol")
    assert f"{grows:.0f} times as much on the patrol" in text
    assert f"where it is {1 / falls:.0f} times that of a threshold that falls" in text
    assert f"at most {1 / min(min(ratios) for ratios in table.values()):.1f} times that of the best" in text


def test_who_has_the_least_regret_on_rivers():
    """Of those that learn; the agent that knows the model does not."""
    learners = {(problem, agent): found for (problem, agent), found in scalar().items() if agent != leaderboard.KNOWN}
    rivers = [problem for problem, agent in learners if agent == "IMED-RL" and problem.startswith("river")]
    assert len(rivers) == 2
    for river in rivers:
        regrets = {agent: regret for (problem, agent), (regret, _) in learners.items() if problem == river}
        assert min(regrets, key=regrets.__getitem__) == "IMED-RL"
    least, most = sorted(round(learners[river, "IMED-RL"][1], -2) for river in rivers)
    said = f"of all learners on the two rivers on which we ran it, at {least:,} to {most:,} steps a second"
    assert said in page("reference/comparison")


def test_what_the_regions_of_the_paper_learn_on_a_long_river():
    """Nothing: the regret is the optimum itself."""
    assert "on RiverSwim with 20 states they learn nothing in 10⁵ steps" in page("reference/choosing")
    best = eq.solve(eq.models.riverswim(20), eq.rewards.Linear([1.0])).value
    assert scalar()["river 20", "Bernstein"][0] > 0.999 * 10**5 * best


def test_what_chance_does_on_a_river():
    assert f"a standard deviation of some {round(leaderboard.deviation(), -1):.0f} a run" in page("leaderboard")


def test_speeds_are_of_the_agents_of_the_study_on_the_worlds_of_the_peers():
    runs = leaderboard.short_runs()
    for problem, theirs in leaderboard.PEERS.items():
        for agent in (leaderboard.KNOWN, *leaderboard.REGIONS, leaderboard.FIRST):
            assert [run.seed for _, run in runs[problem, agent]] == list(range(leaderboard.SPEED_RUNS))
            assert {run.steps for _, run in runs[problem, agent]} == {leaderboard.PEERS_AT}
        made, run = runs[problem, leaderboard.KNOWN][0]
        assert model_hash(made.model) == model_hash(peers.PROBLEMS[theirs]())
        known = run.make_agent(made.reward)
        assert (known.tolerance, known.planner.warm_start) == (1e-4, True)
        assert isinstance(known.confidence, eq.confidence.Known)


def test_rows_of_peers_are_kept_when_they_are_not_run_again():
    text = (ROOT / "docs" / "leaderboard.md").read_text(encoding="utf-8")
    kept = leaderboard.peers_on(text)
    assert set(kept) == set(leaderboard.PEERS)
    written = {f"| {' | '.join(cells)} |" for rows in kept.values() for cells in rows}
    table = text.partition(leaderboard.SCALAR)[2].splitlines()
    assert written == {line for line in table if line.startswith("| r") and "`" not in line}


# --- first contact ---


def test_how_long_kernels_compile():
    """In tens of seconds: for the first program, and for a step function besides."""
    seconds = {what: float(cells[0]) for what, cells in rows("reference/reliability", "First contact").items()}
    again = seconds["the same again"]
    first = seconds["the first result: the README's first program"] - again
    shop = seconds["a system of one's own, as a step function: the README's shop"] - again
    words = {20: "twenty", 30: "thirty", 40: "forty", 50: "fifty"}
    assert f"for some [{words[round(first, -1)]} seconds]" in page("architecture")
    assert f"some {words[round(first + shop, -1)]} seconds in all" in page("index")


# --- constants of the package ---


def test_tolerances_are_those_of_the_package():
    text = page("reference/numbers")
    defaults = {one: inspect.signature(one).parameters["tolerance"].default for one in (eq.solve, eq.frontier)}
    assert f"| probabilities of a row sum to 1 | {SUM_TOLERANCE:.0e}".replace("e-0", "e-") in text
    assert f"| sweeps of a plan | {SWEEP_LIMIT:,}," in text
    assert defaults == {eq.solve: 1e-6, eq.frontier: 1e-3}
    assert "`eq.solve`: gap between its two bounds, and residual | 1e-6 |" in text
    assert "`eq.frontier`: between what is reached and what is proven | 1e-3 |" in text
    assert 1e-8 < 10**8 * 2.0**-53 < 1.2e-8
    assert "by 10⁸ · 2⁻⁵³ of itself at most, some 10⁻⁸" in text


def test_limits_of_studies_and_logs():
    text = page("studies")
    assert runner.EVERY == 10
    assert "runs longer than ten seconds (`--every`)" in text
    assert runner._MAX_CRASHES == 3
    assert "a run that kills its worker three times" in text
    assert f"Of more than {MOST_LAWS} laws" in text
    assert f"of more than {MOST_VALUES} values of a law" in text
    assert f"worlds of more than {plan.MOST_STATES:,} states" in text
    assert log._ROWS == 10**6
    assert "are read a million rows at a time" in page("reference/formats")
    assert log._SHOWN == 5
    assert "the first five named" in page("reference/errors")


def test_how_much_coverage_and_certificates_were_tried():
    text = page("reference/reliability")
    assert len(levels.hard_worlds()) == 4
    assert f"over {levels.RUNS:,} runs on each of four worlds" in text
    assert len(certificates.REGIONS) == 3
    assert "three kinds of regions and up to 10⁷ steps" in text


# --- the paper ---


def numbers(pattern: str) -> list[float]:
    """What stands in the places of a pattern on the page of the paper, in which N is a number."""
    (found,) = re.findall(re.escape(pattern).replace("N", r"(\d*\.?\d+)"), page("paper"))
    return [float(number) for number in found]


def test_erratum_9():
    """To 10⁴ steps, and with Q = 1 to 10⁵."""
    times = np.array([100, 1_000, 10_000, 100_000])
    exact = {"known": True, "tolerance": 1e-9}
    *loose, a, b, c = numbers("at 10², 10³, 10⁴ steps: N, N, N with tolerance 1/√τ, and N, N, N with tolerance 1e-9")
    said = numbers("With exact plans Q = 1 gives N, N, N (and N at 10⁵), and Q = ∞ N, N, N.")
    assert zero_threshold.run(3, 4, 0.0, times[:3], known=True, tolerance=None) == pytest.approx(loose, abs=5.1e-4)
    assert zero_threshold.run(3, 4, 0.0, times[:3], **exact) == pytest.approx([a, b, c], abs=5.1e-4)
    assert zero_threshold.run(3, 4, 1.0, times, **exact) == pytest.approx(said[:4], abs=5.1e-4)
    assert zero_threshold.run(3, 4, math.inf, times[:3], **exact) == pytest.approx(said[4:], abs=5.1e-4)


def test_erratum_16():
    said = numbers("exact plans give: Q = 1 N, N, N and Q = ∞ N, N, N at 10², 10³, 10⁴")
    for Q, three in ((1.0, said[:3]), (math.inf, said[3:])):
        assert star_regret(Q, [100, 1_000, 10_000], visit_rule=True) == pytest.approx(three, abs=5.1e-5)


def test_thresholds_that_change():
    """The exponents of section 7, at the size of the full check."""
    reward = zero_threshold.claimed_reward(3)
    best = reward.value(np.full(3, 1 / 3))
    slopes = [-dynamic_thresholds._run(reward, best, a, 10**7).slope for a in (1 / 3, 0.0)]
    assert slopes == pytest.approx(numbers("min(1 − a, (1 + a)/2): N at a = 1/3 against N at a = 0."), abs=5.1e-3)


def test_erratum_23():
    """The runs of the full check, as the page of the checks has them."""
    ((mean, error),) = re.findall(r"\(i\) detour, T = 8000: earned − T·opt, 2D \| ([\d.]+) ± ([\d.]+)", page("checks"))
    assert f"runs gave T·opt + {float(mean):.1f} ± {float(error):.1f} at T = 8000".replace("± 0", "± ") in page("paper")


def test_erratum_33():
    (said,) = re.findall(r"With a planner at 10⁻⁶ the regret at 10⁵ is (\.\d+)\.", page("paper"))
    found = zero_threshold.run(3, 4, 0.0, np.array([10**5]), known=False, tolerance=1e-6)
    assert found == pytest.approx([float(said)], abs=5.1e-4)


def test_erratum_34():
    _, outside = optimism_about_transitions._indicator()
    assert f"the span of the bias is {outside.measured:.0f} times L‖1‖D" in page("paper")


def test_erratum_38():
    squared, T = 5000.0, 10**6  # C² = Q/(2β‖1‖)
    printed = 1 + squared + 4 * math.sqrt(T / squared)
    ours = growth_episodes(math.sqrt(squared), 0.5, T)
    assert f"it is {ours:.0f} episodes, where the paper has {printed:.0f}." in page("paper")


def test_errata_39_and_40():
    text = page("paper")
    assert f"attained ({budget_proof._tight(10**5)[0].measured:.3f} at T = 10⁵)".replace("(0", "(") in text
    assert f"{budget_proof._random_budget(400).measured:.2f} at T = 400" in text
    crowd = stall(np.eye(64)[:1])
    run = "crowd, known", crowd, eq.solve_knapsack(crowd, 0.5), free_run(crowd, 0.5, 5000, known=True)
    power, share = budget_proof._power(10**6).measured, budget_proof._fixed_prices([run])[-1].measured
    assert f"grows like T^{power:.2f}, and is {share:.1f} of the bound".replace("0.", ".") in text


def test_erratum_41():
    left = {}
    for reward in (eq.rewards.Balance([1 / 3] * 3), eq.rewards.Quadratic([1 / 3] * 3)):
        departures, _ = threshold_remarks._departures(reward, math.inf, 10**5, known=False)
        left[type(reward).__name__] = int(departures[-1] - departures[10**4 - 1])
    assert f"leaves its loops {left['Balance']} times between 10⁴ and 10⁵ steps under balance" in page("paper")
    assert f"and {left['Quadratic']} times under the quadratic reward" in page("paper")
