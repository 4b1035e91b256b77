"""The refined bounds of section 6.2: what they refuse, and where they stand to the general ones."""

from __future__ import annotations

import math

import pytest

from equipoise.errors import ParameterError
from equipoise.models import star
from equipoise.rewards import Balance, Entropy, Quadratic, RelativeEntropy, Sum
from equipoise.theory import Facts, Setting, bounds

FACTS = Facts.of(star(2, 4).visits())


def test_they_are_below_the_general_ones():
    for mu, T in ((0.5, 10**3), (0.01, 10**6)):
        setting = Setting(reward=Entropy(5, mu))
        refined, general = bounds.refined_regret(FACTS, setting, T), bounds.regret(FACTS, setting, T)
        assert refined.oracle < general.oracle
        assert all(one <= other for one, other in zip(refined.errors, general.errors, strict=True))
        assert refined.probability > general.probability


def test_the_first_step_has_an_average_of_zero():
    setting = Setting(reward=Entropy(5, 0.1))
    assert bounds.refined_oracle_term(setting, 1) == pytest.approx(0.5 * 2 / (0.1 * math.log(5)))


def test_the_entropy_itself_costs_the_smoothing():
    T = 10**6
    mu = 1.0 / (5 ** (2 / 3) * T ** (1 / 3))
    smoothed = bounds.refined_regret(FACTS, Setting(reward=Entropy(5, mu)), T).value
    assert bounds.refined_entropy_regret(FACTS, T) == pytest.approx(smoothed + 5 * mu / math.log(5))


def test_any_smooth_reward_of_the_visits_will_do():
    reward = RelativeEntropy([0.2] * 5, 0.1)
    assert bounds.refined_regret(FACTS, Setting(reward=reward), 1000).errors.diamond == 0.0


@pytest.mark.parametrize("reward", [Quadratic([0.2] * 5), Balance([0.2] * 5)])
def test_another_norm_or_a_reward_that_is_not_smooth_is_refused(reward):
    with pytest.raises(ParameterError, match="not smooth in the 1-norm"):
        bounds.refined_oracle_term(Setting(reward=reward), 10)


def test_outcomes_that_are_not_visits_are_refused():
    with pytest.raises(ParameterError, match="as many"):
        bounds.refined_errors(Facts.of(star(5, 4)), Setting(reward=Entropy(5, 0.1)), 10)


def test_a_slope_that_changes_slowly_is_smooth_too():
    setting = Setting(reward=Sum([Entropy(5, 0.5)], [0.1]))
    beta = setting.reward.smoothness
    assert 0.0 < beta < 1.0
    assert bounds.refined_oracle_term(setting, 1) == pytest.approx(0.5 * beta)
