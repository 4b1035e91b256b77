"""The bounds as numbers: by hand, by a second and naive formula, and where the paper's own fail."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import equipoise as eq
from equipoise import oracles as o
from equipoise.theory import Facts, Setting, bounds, printed

FACTS = Facts(n_states=3, n_pairs=7, n_outcomes=2, max_successors=2, diameter=5.0)
QUADRATIC = eq.rewards.Quadratic([0.5, 0.5])  # norm 2: ||1|| = sqrt 2, L = sqrt(1/2), beta = 1
BALANCE = eq.rewards.Balance([0.4, 0.3, 0.3])
HORIZON = 10**18


def settings_of_every_kind(delta: float = 0.05) -> dict[str, Setting]:
    return {
        "FW": Setting(reward=QUADRATIC, delta=delta),
        "TGD": Setting(reward=eq.rewards.TargetDistance([0.7, 0.5], 2), delta=delta),
        "TMD": Setting(reward=QUADRATIC, oracle=o.TunedMirrorDescent(o.EuclideanBall(), HORIZON), delta=delta),
        "fresh": Setting(reward=eq.rewards.BottomSum(2, 1), oracle=o.Doubling(o.SignedSimplex()), delta=delta),
        "inherit": Setting(
            reward=eq.rewards.BottomSum(2, 1), oracle=o.Doubling(o.SignedSimplex(), inherit=True), delta=delta
        ),
    }


# --- episodes ---


def test_episodes_by_hand():
    # FW, beta ||1|| = sqrt 2, Q = sqrt 2, C^2 = 1/2, T = 8: 1 + (sqrt 8 - 1)/(C (sqrt 2 - 1)) = 3 + 3 sqrt 2
    # visits: 7 (1 + 3) = 28; one open; printed: 1 + 1/2 + sqrt(32 * 8) = 17.5
    found = bounds.gradient_episodes(QUADRATIC, o.FrankWolfe(), math.sqrt(2), 8)
    assert found == pytest.approx(3 + 3 * math.sqrt(2))
    assert bounds.episodes(QUADRATIC, o.FrankWolfe(), math.sqrt(2), 7, 8) == pytest.approx(29 + found)
    assert printed.gradient_episodes(QUADRATIC, o.FrankWolfe(), math.sqrt(2), 8) == pytest.approx(17.5)
    assert printed.episodes(QUADRATIC, o.FrankWolfe(), math.sqrt(2), 7, 8) == pytest.approx(45.5)
    # Q = 32 sqrt 2, C^2 = 16: below it tau doubles
    assert bounds.gradient_episodes(QUADRATIC, o.FrankWolfe(), 32 * math.sqrt(2), 8) == pytest.approx(4)
    found = bounds.gradient_episodes(QUADRATIC, o.FrankWolfe(), 32 * math.sqrt(2), 64)
    assert found == pytest.approx(1 + 4 + 1 + (8 - 4) / (4 * (math.sqrt(2) - 1)))
    # TGD, L = 1, Q = 2, C = 1, T = 8: 1 + 0 + 1 + (4 - 1)/(2^(2/3) - 1); printed: 1 + 1 + sqrt(4.5) * 4
    distance = eq.rewards.TargetDistance([0.7, 0.5], 2)
    assert distance.lipschitz == 1.0
    found = bounds.gradient_episodes(distance, o.TunedGradientDescent(), 2.0, 8)
    assert found == pytest.approx(2 + 3 / (2 ** (2 / 3) - 1))
    assert printed.gradient_episodes(distance, o.TunedGradientDescent(), 2.0, 8) == pytest.approx(
        2 + 4 * math.sqrt(4.5)
    )
    # TMD on the simplex of two, L' = sqrt(log 2) = Q: 1 + T^(2/3) at T = H = 8; at T = 4 of H = 8, half of the rest
    bottom = eq.rewards.BottomSum(2, 1)
    oracle = o.TunedMirrorDescent(o.SignedSimplex(), 8)
    reach = math.sqrt(math.log(2))
    assert bounds.gradient_episodes(bottom, oracle, reach, 8) == pytest.approx(5.0)
    assert bounds.gradient_episodes(bottom, oracle, reach, 4) == pytest.approx(3.0)
    assert printed.gradient_episodes(bottom, oracle, reach, 8) == bounds.gradient_episodes(bottom, oracle, reach, 8)


def test_a_flat_reward_costs_a_logarithm_and_no_more():
    """Erratum 37: as beta falls to 0 the printed number of episodes grows without limit; log2 T is enough."""
    for Q in (1.0, 1e3, 1e9):  # Q/beta is what counts
        found = bounds.gradient_episodes(QUADRATIC, o.FrankWolfe(), Q, 10**6)
        assert found <= printed.gradient_episodes(QUADRATIC, o.FrankWolfe(), Q, 10**6)
    assert found == pytest.approx(1 + math.log2(10**6))
    assert printed.gradient_episodes(QUADRATIC, o.FrankWolfe(), 1e9, 10**6) > 1e8


def test_episodes_under_doubling_add_up():
    bottom, doubling = eq.rewards.BottomSum(2, 1), o.Doubling(o.SignedSimplex())
    expected = 0.0
    for horizon, steps in ((2, 2), (4, 4), (8, 5)):
        oracle = o.TunedMirrorDescent(o.SignedSimplex(), horizon)
        expected += 1 + bounds.gradient_episodes(bottom, oracle, 0.5, steps) + bounds.visit_episodes(3, steps)
    assert bounds.episodes(bottom, doubling, 0.5, 3, 11) == pytest.approx(expected)


def test_one_pair_shows_the_open_episode():
    """Erratum 20: with one pair, episodes start at 1, 2, 3, 5, ...: three by T = 3, and 1 + log2 3 = 2.58."""
    model = eq.models.ring(1)
    agent = eq.TocUCRL2(model.space, eq.rewards.Linear([1.0]))
    eq.simulate(model, agent, 3)
    assert len(agent.episode_starts) == 3
    assert bounds.visit_episodes(1, 3) < 3
    assert printed.episodes(agent.reward, agent.oracle, 1.0, 1, 3) < 3
    assert bounds.episodes(agent.reward, agent.oracle, 1.0, 1, 3) >= 3


def test_ends_by_visits_that_grow_by_a_factor():
    """With one pair the visits at the ends are found by hand, and the bound is nearly met."""
    ends, n = 0, 0
    while (grown := n + math.ceil(max(1.0, 0.25 * n))) <= 10**6:
        n, ends = grown, ends + 1
    assert 0.75 * bounds.visit_episodes(1, 10**6, 0.25) < ends <= bounds.visit_episodes(1, 10**6, 0.25)
    assert bounds.visit_episodes(5, 10**6, 0.25) == pytest.approx(5 * (1 + math.log(10**6) / math.log(1.25)))
    with pytest.raises(eq.EquipoiseError, match="visits: got 2; a factor above 0 and at most 1"):
        bounds.visit_episodes(1, 10, 2)


def test_a_setting_has_the_visits_of_its_agent():
    agent = eq.TocUCRL2(eq.models.bandit(2).space, QUADRATIC, visits=0.5)
    sooner, doubled = Setting.of(agent), Setting(reward=QUADRATIC)
    assert (sooner.visits, doubled.visits) == (0.5, 1.0)
    assert bounds.regret(FACTS, sooner, 10**6).value > bounds.regret(FACTS, doubled, 10**6).value


# --- sums over visits ---


@st.composite
def schedules(draw):
    """Visits of a few pairs, episode by episode, obeying nu <= N+."""
    pairs = draw(st.integers(1, 4))
    counts = np.zeros(pairs, dtype=int)
    episodes = []
    for _ in range(draw(st.integers(1, 12))):
        fresh = np.array([draw(st.integers(0, max(1, n))) for n in counts])
        episodes.append((counts.copy(), fresh))
        counts += fresh
    assume(counts.sum() > 0)
    return pairs, int(counts.sum()), episodes


@given(schedules())
def test_sums_of_inverse_visits(schedule):
    pairs, T, episodes = schedule
    roots = sum(float((fresh / np.sqrt(np.maximum(1, counts))).sum()) for counts, fresh in episodes)
    inverses = sum(float((fresh / np.maximum(1, counts)).sum()) for counts, fresh in episodes)
    assert roots <= bounds.inverse_roots(pairs, T) * (1 + 1e-14)
    assert inverses <= bounds.inverses(pairs, T) * (1 + 1e-14)
    assert bounds.inverse_roots(pairs, T) == pytest.approx((math.sqrt(2) + 1) * math.sqrt(pairs * T))
    assert bounds.inverses(pairs, T) == pytest.approx(pairs + 2 * pairs * math.log(T))


def test_sums_of_inverse_visits_are_nearly_reached_and_need_the_rule():
    """Doubling, the worst schedule, comes to within a third; a pair visited at will goes beyond."""
    counts = [0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512]
    fresh = [1, *counts[1:]]
    T = sum(fresh)
    roots = sum(n / math.sqrt(max(1, N)) for n, N in zip(fresh, counts, strict=True))
    assert 0.67 * bounds.inverse_roots(1, T) < roots <= bounds.inverse_roots(1, T)
    assert bounds.inverse_roots(1, T) < T  # all of them in one episode with N = 0
    assert bounds.inverses(1, T) < T


# --- the five terms ---


def test_club_and_heart_by_hand():
    assert bounds.club(0.25, math.sqrt(2), 12) == pytest.approx(3 * math.sqrt(2))
    assert bounds.heart(0.25, 1.0, 12) == 3.0


def test_planning_by_hand():
    assert bounds.planning(10, 400) == pytest.approx(10 + 20 * (1 + math.sqrt(2)))
    assert bounds.planning(10, 400, tolerance=0.125) == 50.0
    assert printed.planning(400) == pytest.approx(20 * (1 + math.sqrt(2)))


def test_diamond_by_a_second_formula():
    scale, delta, T, pairs, K = 0.7, 0.1, 5000, 7, 2
    log_v = math.log(12 * K * pairs * T**2 / delta)
    radius_sum = math.sqrt(2) * math.sqrt(log_v) * (1 + math.sqrt(2)) * math.sqrt(pairs * T)
    radius_sum += 3 * log_v * pairs * (1 + 2 * math.log(T))
    by_hand = scale * (2 * radius_sum + math.sqrt(2) * math.sqrt(pairs * T * log_v))
    assert bounds.diamond(scale, FACTS, delta, T) == pytest.approx(by_hand, rel=1e-12)
    # the constants in the head of the module
    root = math.sqrt(pairs * T * log_v)
    closed = (4 + 3 * math.sqrt(2)) * root + 6 * pairs * (1 + 2 * math.log(T)) * log_v
    assert bounds.diamond(scale, FACTS, delta, T) == pytest.approx(scale * closed, rel=1e-12)
    # (B.25) and the line before it
    assert printed.diamond(scale, FACTS, delta, T) == pytest.approx(
        scale * ((5 * math.sqrt(2) + 4) * root + 12 * log_v * pairs * math.log(T)), rel=1e-12
    )
    assert printed.diamond_mended(scale, FACTS, delta, T) == pytest.approx(
        scale * (4 * ((1 + math.sqrt(2)) * root + 3 * log_v * pairs * (1 + 2 * math.log(T))) + math.sqrt(2) * root),
        rel=1e-12,
    )


def test_spade_by_a_second_formula():
    scale, delta, T, M = 0.7, 0.1, 5000, 40.0
    S, pairs, gamma, D = 3, 7, 2, 5.0
    log_p = math.log(12 * S * pairs * T**2 / delta)
    learning = 2 * (1 + math.sqrt(2)) * math.sqrt(2 * gamma * pairs * T * log_p)
    learning += 6 * S * pairs * (1 + 2 * math.log(T)) * log_p
    motion = M + 1 + math.sqrt(2 * gamma * pairs * T * log_p)
    assert bounds.spade(scale, FACTS, delta, M, T) == pytest.approx(scale * D * (learning + motion), rel=1e-12)


@given(T=st.integers(1, 10**12), pairs=st.integers(1, 10**4), K=st.integers(1, 50), delta=st.floats(1e-9, 0.999))
def test_the_printed_diamond_is_a_bound_after_all(T, pairs, K, delta):
    """(B.25) is at least the derived bound or, for small T, at least T: and diamond <= scale at every step."""
    facts = Facts(n_states=1, n_pairs=pairs, n_outcomes=K, max_successors=1, diameter=1.0)
    derived = bounds.diamond(1.0, facts, delta, T)
    assert printed.diamond(1.0, facts, delta, T) >= min(derived, T) * (1 - 1e-12)
    assert printed.diamond_mended(1.0, facts, delta, T) >= derived


def test_the_printed_diamond_is_below_what_its_proof_gives():
    """So the correction of erratum 27 is not empty: at T = 1 the derived bound is the larger by half."""
    facts = Facts(n_states=1, n_pairs=10, n_outcomes=2, max_successors=1, diameter=1.0)
    assert printed.diamond(1.0, facts, 0.05, 1) < 0.7 * bounds.diamond(1.0, facts, 0.05, 1)


@given(T=st.integers(1, 10**12), delta=st.floats(1e-9, 0.999))
def test_both_logarithms_pay_for_all_times_at_once(T, delta):
    """Azuma at level delta / (2 T^2), a sum below delta, costs no more than log-v or log-p in their smallest case."""
    assert math.log(2 * T**2 / delta) <= math.log(12 * T**2 / delta)
    tiny = Facts(n_states=1, n_pairs=1, n_outcomes=1, max_successors=1, diameter=1.0)
    noise = math.sqrt(2 * T * math.log(2 * T**2 / delta))
    log = math.log(12.0 / delta) + 2 * math.log(T)
    learning = 2 * (math.sqrt(2 * log) * bounds.inverse_roots(1, T) + 3 * log * bounds.inverses(1, T))
    assert learning + noise <= bounds.diamond(1.0, tiny, delta, T) * (1 + 1e-12)
    learning = 2 * (1 + math.sqrt(2)) * math.sqrt(2 * T * log) + 6 * bounds.inverses(1, T) * log
    assert learning + noise <= bounds.spade(1.0, tiny, delta, 0.0, T) * (1 + 1e-12)
    assert sum(1 / (2 * n**2) for n in range(1, 10**4)) + 1e-4 < 1


# --- their sum ---


@pytest.mark.parametrize("name", ["FW", "TGD", "TMD"])
def test_errors_add_up(name):
    setting = settings_of_every_kind()[name]
    T = 10**5
    M = bounds.episodes(setting.reward, setting.oracle, setting.Q, 7, T)
    scale = setting.reward.lipschitz * math.sqrt(2)
    found = bounds.errors(FACTS, setting, T)
    assert found.club == found.heart == pytest.approx(setting.Q * math.sqrt(2) * M)
    assert found.diamond == bounds.diamond(scale, FACTS, 0.05, T)
    assert found.spade == bounds.spade(scale, FACTS, 0.05, M, T)
    assert bounds.planning(7, T) == found.P
    assert found.total == pytest.approx(sum(found))


def test_errors_under_doubling():
    """Fresh counts: a run for each mega-episode with delta / 2^h. Inherited: one clock, and M(T) of all."""
    kinds = settings_of_every_kind()
    T = 2 + 4 + 8 + 16 + 3
    expected = np.zeros(5)
    for h, taken in enumerate((2, 4, 8, 16, 3), start=1):
        one = Setting(
            reward=eq.rewards.BottomSum(2, 1),
            oracle=o.TunedMirrorDescent(o.SignedSimplex(), 2**h),
            delta=0.05 / 2**h,
        )
        expected += bounds.errors(FACTS, one, taken)
    np.testing.assert_allclose(bounds.errors(FACTS, kinds["fresh"], T), expected, rtol=1e-12)
    inherit = kinds["inherit"]
    found = bounds.errors(FACTS, inherit, T)
    M = bounds.episodes(inherit.reward, inherit.oracle, inherit.Q, 7, T)
    assert found.club == pytest.approx(M)  # Q = L = 1 and ||1|| = 1
    assert found.diamond == bounds.diamond(1.0, FACTS, 0.05, T)
    assert found.spade == bounds.spade(1.0, FACTS, 0.05, M, T)
    assert bounds.planning(7, T) == found.P
    assert bounds.errors(FACTS, kinds["fresh"], 10**6).total > bounds.errors(FACTS, inherit, 10**6).total


def test_a_theta_that_cannot_move_is_never_late():
    for threshold in (None, 0.0, 0.3, math.inf):
        setting = Setting(reward=eq.rewards.Linear([0.5, 0.5]), threshold=threshold)
        found = bounds.errors(FACTS, setting, 1000)
        assert found.club == found.heart == 0.0
        assert math.isfinite(bounds.regret(FACTS, setting, 1000).value)
    assert bounds.regret(FACTS, Setting(reward=QUADRATIC, threshold=math.inf), 1000).value == math.inf


# --- the oracles' own terms, and the regret ---


def test_oracle_terms_by_a_second_formula():
    kinds = settings_of_every_kind()
    for T in (1, 2, 3, 10, 1000):
        # FW: beta ||1||^2 = 2, times half of 1 + log T
        assert bounds.oracle_term(kinds["FW"], T) == pytest.approx((1 + math.log(T)) / T)
        # TGD, L = 1: Zinkevich with diameter 2 and slope ||1||, the sum of t^(-2/3) by its integral
        eta_T = 1 / (math.sqrt(2) * T ** (2 / 3))
        integral = (1 + 3 * (T ** (1 / 3) - 1)) / math.sqrt(2)
        assert bounds.oracle_term(kinds["TGD"], T) == pytest.approx((2**2 / (2 * eta_T) + 2 * integral / 2) / T)
        exact = sum(t ** (-2 / 3) for t in range(1, T + 1)) / math.sqrt(2)
        assert exact <= integral * (1 + 1e-12)
        # doubling, L = 1, L'^2 = log 2, ||1|| = 1: L'^2 / eta + eta l(h) for each mega-episode
        total, left, h = 0.0, T, 0
        while left > 0:
            h += 1
            eta = math.sqrt(math.log(2)) / (2**h) ** (2 / 3)
            total += math.log(2) / eta + eta * min(left, 2**h)
            left -= 2**h
        assert bounds.oracle_term(kinds["fresh"], T) == pytest.approx(total / T)
        assert bounds.oracle_term(kinds["inherit"], T) == bounds.oracle_term(kinds["fresh"], T)
    tuned = Setting(reward=QUADRATIC, oracle=o.TunedMirrorDescent(o.EuclideanBall(), 1000))
    reach, eta = 0.5, 0.5 / (math.sqrt(2) * 100)  # L' = L / sqrt 2 = 1/2, T^(2/3) = 100
    assert bounds.oracle_term(tuned, 500) == pytest.approx((reach**2 / eta + eta * 2 * 500) / 500)


@pytest.mark.slow
def test_the_printed_terms_of_the_descents_are_bounds_after_all():
    """3 L ||1|| / T^(1/3) and 10 L' ||1|| / T^(1/3), at every T up to 10^4 and far beyond; 3 L' would not do."""
    kinds = settings_of_every_kind()
    times = [*range(1, 10**4), *(10**k for k in range(4, 18)), *(2**k - 1 for k in range(14, 60))]
    for name in ("TGD", "fresh"):
        assert all(printed.oracle_term(kinds[name], T) >= bounds.oracle_term(kinds[name], T) for T in times)
    worst = max(bounds.oracle_term(kinds["fresh"], T) / printed.oracle_term(kinds["fresh"], T) for T in times)
    assert 0.3 < worst < 0.33


def test_the_printed_online_gradient_descent_fails():
    """Erratum 24: K = 1, L = R = eta = T = 1, f(theta) = theta, theta_1 = 1."""
    regret = 1.0 - min(-1.0, 1.0)
    assert regret > printed.gradient_descent(1.0, 1.0, [1.0])
    assert regret <= (2 * 1.0) ** 2 / 2 + 1 / 2  # with the diameter


def test_the_printed_gradient_descent_by_hand():
    """L^2 / (2 T eta_T) + R^2 (eta_1 + ... + eta_T) / (2 T), with T = 4."""
    assert printed.gradient_descent(3.0, 2.0, [1.0, 0.5, 0.5, 0.25]) == 9.0 / (8 * 0.25) + 4.0 * 2.25 / 8


def test_the_printed_frank_wolfe_term_fails():
    """Erratum 26: g = 1 - w^2 / 2, two loops with outcomes 0 and 1; playing the second costs 1/2 at T = 1."""
    setting = Setting(reward=eq.rewards.Quadratic([0.0]))
    regret, error = setting.reward.value([0.0]) - setting.reward.value([1.0]), 0.0  # theta_1 = -grad g(0) = 0
    assert setting.oracle.initial_theta(setting.reward).tolist() == [0.0]
    assert regret > printed.oracle_term(setting, 1) + error
    assert regret <= bounds.oracle_term(setting, 1) + error


@pytest.mark.parametrize("name", settings_of_every_kind())
def test_regret_is_its_parts(name):
    setting = settings_of_every_kind(delta=0.01)[name]
    found = bounds.regret(FACTS, setting, 1000)
    assert found.value == pytest.approx(
        bounds.oracle_term(setting, 1000) + sum(bounds.errors(FACTS, setting, 1000)) / 1000
    )
    assert found.probability == pytest.approx(0.97)
    assert found.steps == 1000
    assert bounds.regret(FACTS, settings_of_every_kind(delta=0.5)[name], 1000).probability == 0.0


@pytest.mark.parametrize("name", ["FW", "TGD", "fresh", "inherit"])
def test_the_rate_is_what_the_bound_falls_by(name):
    """The slope on a log scale far out, where the logarithms are flat; -1/2 and -1/3 are .167 apart."""
    setting = settings_of_every_kind()[name]
    facts = Facts(n_states=1, n_pairs=1, n_outcomes=2, max_successors=1, diameter=1.0)
    near, far = (bounds.regret(facts, setting, T).value for T in (10**16, 10**18))
    slope = math.log(far / near) / math.log(100)
    assert slope == pytest.approx(bounds.rate(setting.oracle), abs=0.04)


def test_the_benchmark_slack():
    """The ring beats opt by (D - 1) / D / T at T = (j - 1) D + 1: within the slack, which is half the printed one."""
    for D in (2, 3, 7):
        facts, setting = Facts.of(eq.models.ring(D)), Setting(reward=eq.rewards.Linear([1.0]))
        for j in (1, 2, 5):
            T = (j - 1) * D + 1
            assert 0 < j / T - 1 / D <= bounds.benchmark_slack(facts, setting, T) == pytest.approx(D / T)
            assert printed.benchmark_slack(facts, setting, T) == pytest.approx(2 * D / T)


# --- what is refused ---


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Facts(n_states=0, n_pairs=1, n_outcomes=1, max_successors=1, diameter=1.0), "n_states: got 0"),
        (lambda: Facts(n_states=1, n_pairs=1, n_outcomes=1, max_successors=1, diameter=0.5), "diameter: got 0.5"),
        (lambda: Facts(n_states=1, n_pairs=1, n_outcomes=1, max_successors=1, diameter=math.inf), "diameter: got inf"),
        (lambda: Setting(reward="g"), "reward: got str"),
        (lambda: Setting(reward=eq.rewards.Entropy(3)), "no Lipschitz constant; take reward.at"),
        (lambda: Setting(reward=QUADRATIC, threshold=0.0), "the bounds are for Q > 0"),
        (lambda: Setting(reward=QUADRATIC, threshold=math.nan), "the bounds are for Q > 0"),
        (lambda: Setting(reward=QUADRATIC, delta=1.0), "delta: got 1.0"),
        (lambda: Setting(reward=QUADRATIC, tolerance=0.0), "tolerance: got 0.0"),
        (lambda: Setting(reward=BALANCE, oracle=o.FrankWolfe()), "needs a smooth reward"),
        (lambda: bounds.errors(FACTS, Setting(reward=BALANCE), 10), "the model has 2 outcomes; the reward takes 3"),
        (lambda: bounds.regret(FACTS, Setting(reward=QUADRATIC), 0), "steps: got 0"),
        (lambda: bounds.diamond(1.0, FACTS, 0.0, 10), "delta: got 0.0"),
        (lambda: bounds.rate("FW"), "got 'FW'; an Oracle is needed"),
        (lambda: eq.certify("space", QUADRATIC, "log.csv"), "space: got str; it must be of type Space"),
        (lambda: printed.oracle_term(settings_of_every_kind()["TMD"], 10), "the paper prints no term"),
    ],
)  # fmt: skip
def test_refusals(make, message):
    with pytest.raises(eq.EquipoiseError, match=message):
        make()


def test_a_horizon_too_short_is_refused():
    setting = Setting(reward=QUADRATIC, oracle=o.TunedMirrorDescent(o.EuclideanBall(), 100))
    with pytest.raises(eq.EquipoiseError, match="got 101; the oracle is tuned for 100"):
        bounds.regret(FACTS, setting, 101)


def test_a_setting_is_read_off_an_agent():
    model = eq.models.garnet(3, 2, 2, 2)
    agent = eq.TocUCRL2(model.space, QUADRATIC, threshold=0.3, delta=0.1, tolerance=0.01)
    assert Setting.of(agent) == Setting(reward=QUADRATIC, threshold=0.3, delta=0.1, tolerance=0.01)
    known = eq.TocUCRL2(model.space, QUADRATIC, confidence=eq.confidence.Known(model))
    with pytest.raises(eq.EquipoiseError, match="those within them, and it has Known"):
        Setting.of(known)


def test_an_agent_that_absorbed_a_log_is_refused():
    model = eq.models.garnet(3, 2, 2, 2)
    log = eq.simulate(model, eq.agents.baselines.RoundRobin(model.space, QUADRATIC), 50, trace=True).trace
    agent = eq.TocUCRL2(model.space, QUADRATIC)
    agent.absorb(log)
    assert agent.absorbed == 50
    with pytest.raises(eq.EquipoiseError, match="begins without data, and it absorbed 50 rows"):
        Setting.of(agent)


def test_the_bias_of_a_plan_that_leaps_is_as_narrow_as_the_proof_says():
    """span <= D (scale + tolerance): two ways of living that differ by little, which leaps are for."""
    model = eq.models.star(2, 10)
    reward = eq.rewards.Quadratic([0.5, 0.5])
    planner = eq.planning.Planner(leaps=True)
    agent = eq.TocUCRL2(model.space, reward, confidence=eq.confidence.Known(model), tolerance=1e-6, planner=planner)
    run = eq.simulate(model, agent, 2000, progress=False)
    scale = reward.lipschitz * math.sqrt(2.0)
    assert run.episodes["span"].max() <= model.diameter() * (scale + 1e-6)
    assert run.episodes["gain"].max() <= scale + 1e-6


@pytest.mark.parametrize("options", [{"warm_start": True}, {"warm_start": "visits"}, {"leaps": True}])
@pytest.mark.parametrize(("tolerance", "excess"), [(None, 1.0), (0.25, 0.25)])
def test_with_warm_starts_and_leaps_a_bias_may_be_wider_by_the_tolerance(options, tolerance, excess):
    planner = eq.planning.Planner(**options)
    space = eq.models.garnet(3, 2, 2, 2).space
    setting = Setting.of(eq.TocUCRL2(space, QUADRATIC, tolerance=tolerance, planner=planner))
    cold = Setting.of(eq.TocUCRL2(space, QUADRATIC, tolerance=tolerance))
    assert (cold.excess, setting.excess) == (0.0, excess)
    ours, plain = bounds.errors(FACTS, setting, 1000), bounds.errors(FACTS, cold, 1000)
    assert ours.spade == pytest.approx(plain.spade * (cold.scale + excess) / cold.scale)
    assert ours._replace(spade=plain.spade) == plain


@settings(max_examples=30)
@given(T=st.integers(1, 10**6), more=st.integers(1, 100))
def test_bounds_on_sums_grow_with_time_and_with_the_world(T, more):
    larger = Facts(n_states=4, n_pairs=9, n_outcomes=2, max_successors=3, diameter=6.0)
    for setting in settings_of_every_kind().values():
        here = np.array(bounds.errors(FACTS, setting, T))
        assert np.all(bounds.errors(FACTS, setting, T + more) >= here * (1 - 1e-12))
        assert np.all(bounds.errors(larger, setting, T) >= here * (1 - 1e-12))
