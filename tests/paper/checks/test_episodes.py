"""The three lemmas on the number of episodes."""

from __future__ import annotations

import math

import numpy as np
import pytest

from equipoise.agents.toc_ucrl2 import TocUCRL2
from equipoise.models import garnet
from equipoise.oracles import FrankWolfe
from equipoise.rewards import Linear, Quadratic
from equipoise.theory import bounds
from paper import episode_rules, random_cases
from paper.checks import episodes_frank_wolfe, episodes_gradient_descent, episodes_mirror_descent
from paper.findings import Size

MODULES = (episodes_frank_wolfe, episodes_gradient_descent, episodes_mirror_descent)
each = pytest.mark.parametrize("module", MODULES, ids=lambda module: module.STATEMENT.number)


class Few:
    """A tenth of a quick check."""

    def pick(self, quick: int, full: int) -> int:
        return quick // 10


@each
def test_quick(module):
    checked = module.check(Size.QUICK)
    assert all(f.verdict == "holds" for f in checked.corrected)
    assert len(checked.pictures) == 1
    # one pair: episodes start at 1, 2, 3, 5, 9, ...; the fourth is begun and not ended at T = 5
    (printed,) = checked.written
    assert (printed.measured, printed.bound, printed.verdict) == (4.0, 1 + math.log2(5), "fails")


def broken(checked) -> list[str]:
    return [f.instance for f in checked.corrected if f.verdict == "fails"]


def test_counts_on_one_pair():
    case = random_cases.Case("one pair", garnet(1, 1, 1, 1), Linear([1.0]), FrankWolfe(), math.inf, 0.05, 20, 0)
    episodes = case.episodes()
    assert episodes.start.tolist() == [1, 2, 3, 5, 9, 17]
    assert random_cases.begun(episodes, 20)[1].tolist() == [1, 2, 3, 4, 5, 6]
    assert random_cases.by_visits(episodes, 20)[0].tolist() == [1, 2, 3, 5, 9]  # the last one is open
    assert random_cases.ended_by_visits(episodes, 20)[0].tolist() == [1, 2, 4, 8, 16]
    assert random_cases.by_gradient(episodes, 20)[0].size == 0
    (finding,) = random_cases.findings([(case, episodes)], "x", random_cases.by_visits, random_cases.visits_bound)
    assert finding.measured == 4.0
    assert finding.bound == 1 + math.log2(5)


@each
def test_the_bounds_are_those_of_the_library_or_larger(module):
    for case in random_cases.cases(module.draw, 30, 50, stream=7):
        for T in (1, 3, 50):
            mine = float(module.gradient_bound(case, np.array([float(T)]))[0])
            theirs = bounds.gradient_episodes(case.reward, case.oracle, case.threshold, T)
            assert theirs <= mine + 1e-9
            if hasattr(module, "sharper"):
                assert float(module.sharper(case, np.array([float(T)]))[0]) == pytest.approx(theirs)


@pytest.mark.parametrize("C", [0.01, 0.3, 1.0, 1.7, 5.0, 40.0])
@pytest.mark.parametrize(("alpha", "factor"), [(1 / 2, 4.0), (1 / 3, 3 / math.sqrt(2))])
def test_the_constant_one_is_enough_for_the_slowest_schedule(C, alpha, factor):
    # tau_i >= tau_{i-1} + C tau_{i-1}^alpha, whole numbers; the n-th must begin by T
    tau, n = 1, 1
    while tau < 10**6 and n < 20_000:
        assert n <= 1 + C ** (1 / (1 - alpha)) + factor / C * tau ** (1 - alpha)
        tau, n = max(tau + 1, math.ceil(tau + C * tau**alpha)), n + 1


@each
def test_a_threshold_that_is_too_small_is_seen(module, monkeypatch):
    # the agent ends episodes at Q / 1000; the lemma is about Q
    right = TocUCRL2._set_up_phase

    def wrong(self):
        right(self)
        self.__dict__["_constants"] = self._constants._replace(threshold=self._constants.threshold / 1000)

    monkeypatch.setattr(TocUCRL2, "_set_up_phase", wrong)
    assert any("Ψ at an end" in name for name in broken(module.check(Few())))


@each
def test_a_threshold_that_is_half_too_large_is_seen(module, monkeypatch):
    right = TocUCRL2._set_up_phase

    def wrong(self):
        right(self)
        self.__dict__["_constants"] = self._constants._replace(threshold=self._constants.threshold * 1.5)

    monkeypatch.setattr(TocUCRL2, "_set_up_phase", wrong)
    names = broken(module.check(Few()))
    assert any("Ψ before an end" in name for name in names)
    assert any("at least" in name for name in names)


def test_the_formula_of_theta_is_needed(monkeypatch):
    (case,) = (case for case in random_cases.cases(episodes_frank_wolfe.draw, 1, 60, stream=3))
    path = episode_rules.follow(case)
    assert episode_rules._off(case.reward, case.oracle, path) < 1e-12
    path.theta[20:] *= 1.01
    assert episode_rules._off(case.reward, case.oracle, path) > 1e-5


@each
def test_a_bound_without_its_logarithm_is_seen(module, monkeypatch):
    monkeypatch.setattr(random_cases, "visits_bound", lambda case, T: case.model.n_pairs + 0 * T)
    assert broken(module.check(Few()))


@pytest.mark.slow
@each
def test_a_tenth_of_the_bound_is_seen(module, monkeypatch):
    right = module.gradient_bound
    monkeypatch.setattr(module, "gradient_bound", lambda case, T: right(case, T) / 10)
    assert broken(module.check(Few()))


def test_the_same_cases_again():
    first, again = (list(random_cases.cases(episodes_frank_wolfe.draw, 12, 40, stream=1)) for _ in range(2))
    for one, other in zip(first, again, strict=True):
        assert one.model == other.model
        assert (one.threshold, one.seed, repr(one.reward)) == (other.threshold, other.seed, repr(other.reward))
        assert one.episodes().start.tolist() == other.episodes().start.tolist()
    assert {case.kind for case in first} == set(random_cases.KINDS)


def test_an_adversary_is_harder_than_a_world():
    pair = garnet(1, 1, 1, 1)
    kinds = ("one pair", random_cases.ADVERSARY)
    made = (random_cases.Case(kind, pair, Quadratic([0.5]), FrankWolfe(), 0.01, 0.05, 300, 4) for kind in kinds)
    calm, harsh = (random_cases.by_gradient(case.episodes(), 300)[0].size for case in made)
    assert harsh > calm
