"""The mixture agent: what it plays, what it reaches, what it proves."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import equipoise as eq
from equipoise._files import read_saved, write_npz
from equipoise.agents.checkpoint import VERSION
from equipoise.agents.rounds import Slot, new_rounds, next_action, round_length
from equipoise.confidence.counts import Counts
from equipoise.errors import FileError
from equipoise.studies import open_results, read_study, run_study
from tests.agents.kinds import take

CASES = {
    "pricing": (eq.models.pricing(), eq.rewards.Knapsack(n_outcomes=2, budget=0.3)),
    "scheduler": (eq.models.scheduler(), eq.rewards.BottomSum(3, 1)),
    "sites": (eq.models.sites(), eq.rewards.BottomSum(3, 1)),
    "star": (eq.models.star(3, 4), eq.rewards.Balance([1 / 3] * 3)),
    "star, smooth": (eq.models.star(3, 4), eq.rewards.Quadratic([4 / 3] * 3)),
}
CONFIDENCES = {
    "known": eq.confidence.Known,
    "adaptive": lambda _: eq.confidence.Adaptive(),
    "posterior": lambda _: eq.confidence.PosteriorSampling(seed=3),
}


def agent_for(name, confidence):
    model, reward = CASES[name]
    return eq.MixtureUCRL2(model.space, reward, CONFIDENCES[confidence](model))


@pytest.mark.parametrize("confidence", CONFIDENCES)
@pytest.mark.parametrize("name", ["scheduler", "sites"])
def test_by_hand_and_simulated_it_takes_the_same_steps(name, confidence):
    model, _ = CASES[name]
    by_hand, simulated = agent_for(name, confidence), agent_for(name, confidence)
    world = model.world(seed=5)
    for _ in range(700):
        by_hand.observe(*world.step(by_hand.act(world.state)))
    run = eq.simulate(model, simulated, 700, seed=5, progress=False)
    np.testing.assert_array_equal(run.outcomes[-1], by_hand.average)
    np.testing.assert_array_equal(simulated.visits, by_hand.visits)
    np.testing.assert_array_equal(simulated.episode_record.start, by_hand.episode_record.start)


@pytest.mark.parametrize("confidence", CONFIDENCES)
@pytest.mark.parametrize("name", ["scheduler", "star", "star, smooth"])
def test_saved_at_any_moment_it_goes_on_alike(name, confidence, tmp_path):
    model, _ = CASES[name]
    whole, parts = agent_for(name, confidence), agent_for(name, confidence)
    eq.simulate(model, whole, 1_500, seed=2, progress=False)
    for steps in (1, 30, 333, 1_136):
        parts.save(tmp_path / "agent.npz")
        parts = eq.MixtureUCRL2.load(tmp_path / "agent.npz")
        eq.simulate(model, parts, steps, seed=2, progress=False)
    np.testing.assert_array_equal(whole.visits, parts.visits)
    np.testing.assert_array_equal(whole.average, parts.average)
    np.testing.assert_array_equal(whole.theta, parts.theta)


@pytest.mark.parametrize(
    ("name", "confidence", "regret"),
    [
        ("star", "known", 0.04),
        ("scheduler", "known", 0.01),
        ("sites", "known", 0.04),
        ("scheduler", "posterior", 0.02),
        ("scheduler", "adaptive", 0.06),
    ],
)
def test_after_ten_thousand_steps_it_is_close_to_the_optimum(name, confidence, regret):
    # TocUCRL2 that knows the model has .11, .08 and .10 on the first three: see docs/mixtures.md for 10^5 steps
    model, reward = CASES[name]
    run = eq.simulate(model, agent_for(name, confidence), 10_000, seed=1, progress=False)
    assert run.regret(eq.solve(model, reward))[-1] <= regret


@pytest.mark.parametrize("name", ["star", "scheduler", "sites", "star, smooth"])
def test_what_it_proves_is_true_and_comes_down(name):
    model, reward = CASES[name]
    best, agent = eq.solve(model, reward), agent_for(name, "adaptive")
    bounds = []
    for _ in range(3):
        eq.simulate(model, agent, 10_000, seed=4, progress=False)
        bounds.append(agent.best_possible)
        certificate = agent.certificate(effort=3)
        assert certificate.best_possible >= best.value - 1e-9
        assert certificate.best_possible <= bounds[-1] + 1e-12
        assert certificate.probability == 0.95
        assert certificate.regret_at_most >= best.value - reward.value(agent.average) - 1e-9
    assert bounds[-1] <= bounds[0]
    run = eq.simulate(model, agent, 1_000, seed=4, progress=False)
    assert run.certified[-1] == pytest.approx(agent.best_possible - run.values[-1])


@pytest.mark.parametrize("part", ["region.v_lo", "region.v_hi", "region.lo", "region.hi", "pool.tangents"])
def test_what_a_file_says_of_regions_and_tangents_proves_nothing(part, tmp_path):
    """The region of a known model is not filled again for each plan, and tangents are kept from plan to plan."""
    model, reward = CASES["sites"]
    agent = agent_for("sites", "known")
    eq.simulate(model, agent, 300, progress=False)
    agent.save(tmp_path / "agent.npz")
    saved = read_saved(tmp_path / "agent.npz", {"agent": VERSION})
    saved.arrays[f"memory.{part}"] *= 0.5
    write_npz(tmp_path / "forged.npz", saved.arrays, saved.header, "agent", VERSION)
    forged = eq.MixtureUCRL2.load(tmp_path / "forged.npz")
    for one in (agent, forged):
        eq.simulate(model, one, 3000, seed=2, progress=False)
    if part != "pool.tangents":
        assert forged.best_possible == agent.best_possible
    assert min(forged.best_possible, forged.certificate().best_possible) >= eq.solve(model, reward).value - 1e-6


@pytest.mark.parametrize(
    ("part", "change"),
    [
        ("pool.share", np.zeros_like),
        ("rounds.share", lambda share: 2.0 * share),
        ("rounds.share", lambda share: -share),
    ],
)
def test_shares_that_are_no_distribution_are_refused(part, change, tmp_path):
    agent = agent_for("sites", "known")
    eq.simulate(CASES["sites"][0], agent, 300, progress=False)
    agent.save(tmp_path / "agent.npz")
    saved = read_saved(tmp_path / "agent.npz", {"agent": VERSION})
    saved.arrays[f"memory.{part}"] = change(saved.arrays[f"memory.{part}"])
    write_npz(tmp_path / "forged.npz", saved.arrays, saved.header, "agent", VERSION)
    with pytest.raises(FileError, match="its arrays do not fit together"):
        eq.MixtureUCRL2.load(tmp_path / "forged.npz")


@pytest.mark.parametrize("size", [1e-13, 1.0, 1e13])
def test_rounding_is_relative_to_the_size_of_the_reward(size):
    """As in `test_certificate`: for certain no policy has more, in exact arithmetic either."""
    for seed in range(6):
        rng = np.random.default_rng(seed)
        means, weights = rng.random((5, 3)), size * rng.normal(size=3)
        model = eq.Model.from_arrays([[[1.0]] * 5], [list(means)], noise="none")
        exact = max(sum(Fraction(w) * Fraction(x) for w, x in zip(weights, row, strict=True)) for row in means)
        agent = eq.MixtureUCRL2(model.space, eq.rewards.Linear(weights), eq.confidence.Known(model))
        eq.simulate(model, agent, 200, progress=False)
        certificate = agent.certificate()
        for bound in (agent.best_possible, certificate.best_possible):
            assert Fraction(bound) >= exact
            assert bound >= certificate.achieved


def test_without_proven_regions_nothing_is_proven():
    model, reward = CASES["star"]
    drawn = eq.confidence.PosteriorSampling(seed=1)
    agent = eq.MixtureUCRL2(model.space, reward, drawn, certified_by=drawn)
    take(agent, model.world(seed=1), 50)
    assert not agent.proves
    assert agent.best_possible == np.inf
    with pytest.raises(eq.errors.ProtocolError, match="they prove nothing"):
        agent.certificate()


@pytest.mark.parametrize("name", ["star", "scheduler"])
def test_an_agent_on_drawn_models_proves_with_other_regions(name):
    """Its certificate is at most that of a log of its steps, and no bound is below the optimum."""
    model, reward = CASES[name]
    optimum = eq.solve(model, reward).value
    for seed in range(3):
        agent = eq.MixtureUCRL2(model.space, reward, eq.confidence.PosteriorSampling(seed=seed))
        run = eq.simulate(model, agent, 5_000, seed=seed, trace=True, progress=False)
        assert agent.proves
        assert agent.caveat == "no regret bound is proven"
        looked = agent.certificate(effort=20).best_possible
        assert optimum <= looked <= agent._ceiling
        assert np.isfinite(run.certified[-1])
        assert run.certified[-1] >= optimum - run.values[-1]
        other = eq.MixtureUCRL2(model.space, reward)
        other.absorb(run.trace)
        assert looked <= other.certificate(effort=20).best_possible + 2e-4


def test_the_bound_of_other_regions_is_kept_in_files(tmp_path):
    model, reward = CASES["scheduler"]
    agent = eq.MixtureUCRL2(
        model.space, reward, eq.confidence.Scaled(eq.confidence.Adaptive(), 0.5), certified_by=eq.confidence.Bernstein()
    )
    eq.simulate(model, agent, 3_000, progress=False)
    assert np.isfinite(agent._proof.bound[0])
    agent.save(tmp_path / "agent.npz")
    again = eq.MixtureUCRL2.load(tmp_path / "agent.npz")
    assert again._proof.bound[0] == agent._proof.bound[0]
    assert repr(again.certified_by) == "Bernstein()"
    for one in (agent, again):
        eq.simulate(model, one, 3_000, seed=4, progress=False)
    assert again.best_possible == agent.best_possible


def test_regions_that_need_what_is_not_kept_are_rejected():
    space = eq.Space(n_actions=[2, 2], n_outcomes=4, start=0, sparse_outcomes=True)
    with pytest.raises(eq.errors.ParameterError, match="certified_by: L1"):
        eq.MixtureUCRL2(space, eq.rewards.BottomSum(4, 1), certified_by=eq.confidence.L1())


def test_a_log_is_learnt_and_planned_for_at_once():
    model, reward = CASES["scheduler"]
    old = eq.agents.baselines.StationaryAgent(model.space, reward)
    log = eq.simulate(model, old, 20_000, trace=True, progress=False).trace
    agent = agent_for("scheduler", "adaptive")
    before = agent.certificate(effort=3).best_possible
    assert agent.absorb(log) == 20_000
    assert agent.t == 1
    assert eq.solve(model, reward).value <= agent.certificate(effort=3).best_possible < before
    assert agent.visits.sum() == 20_000
    eq.simulate(model, agent, 500, progress=False)
    assert agent.visits.sum() == 20_500


def sparse_model() -> eq.Model:
    """Eight outcomes, of which a pair has one or two, and one pair that is known."""
    model = eq.models.garnet(6, 2, 3, n_outcomes=8, seed=4)
    rare = np.where(np.arange(8) % 4 == np.arange(model.n_pairs)[:, None] % 4, model.means, 0.0)
    return eq.Model.from_sparse(model.first_pair, model.transitions(), rare, known=[(0, 0)])


@pytest.mark.parametrize("model", [eq.models.riverswim(4).visits(), sparse_model()], ids=["told", "sparse"])
@pytest.mark.parametrize("learning", [True, False])
def test_outcomes_that_are_listed_and_not_in_arrays_are_planned_for(model, learning):
    reward = eq.rewards.BottomSum(model.n_outcomes, 2)
    best = eq.solve(model, reward)
    agent = eq.MixtureUCRL2(model.space, reward, None if learning else eq.confidence.Known(model))
    run = eq.simulate(model, agent, 3_000, progress=False)
    bound = agent.certificate(effort=20).best_possible
    assert bound >= best.value - 1e-9
    if not learning:
        assert bound <= best.value + 1e-3
    assert run.regret(best)[-1] <= (0.5 if learning else 0.05) * max(best.value, 0.01)
    for one in agent.mixture:
        assert np.all((one.outcomes >= -1e-9) & (one.outcomes <= 1.0 + 1e-9))


def test_known_dynamics_are_learnt_faster_than_their_table():
    system = eq.mechanics.sites()
    model, reward = system.model(), eq.rewards.BottomSum(3, 1)
    best = eq.solve(model, reward)
    told, table = (
        eq.simulate(model, eq.MixtureUCRL2(space, reward), 10_000, seed=0, progress=False).regret(best)[-1]
        for space in (system.space, model.space)
    )
    assert told < table


def shop(*floors, price=None):
    model = eq.models.inventory()
    levels = dict(zip(("fill rate", "few orders"), floors, strict=False))
    constraints = [eq.rewards.at_least(name, level, model) for name, level in levels.items()]
    return model, eq.rewards.Constrained(eq.rewards.Linear([0.0, 1.0, 0.0]), constraints, price)


def test_constraints_are_met_without_a_price():
    model, goal = shop(0.9, 0.75)
    best = eq.solve(model, goal)
    agent = eq.MixtureUCRL2(model.space, goal, eq.confidence.Known(model))
    assert agent.reward is goal
    run = eq.simulate(model, agent, 30_000, seed=2, progress=False)
    assert max(violation[-1] for violation in run.violations.values()) <= 1e-3
    assert abs(run.regret(best)[-1]) <= 5e-3
    assert best.value - 1e-6 <= agent.best_possible <= best.value + 0.02
    certificate = agent.certificate(effort=3)
    assert certificate.reward is goal
    assert certificate.achieved == run.values[-1] == goal.objective.value(agent.average)
    for name, one in zip(goal.names, certificate.constraints, strict=True):
        assert one.name == name
        assert one.reached == pytest.approx(one.level - one.violation, abs=1e-3) or one.violation == 0.0
        assert one.best_possible == pytest.approx(1.0, abs=1e-3)  # each can be met alone, whatever the others need
        assert not one.impossible
    assert certificate.conflict == ()


def test_a_price_changes_nothing():
    averages = []
    for price in (None, 0.01, 50.0):
        model, goal = shop(0.9, 0.75, price=price)
        agent = eq.MixtureUCRL2(model.space, goal)
        eq.simulate(model, agent, 1_000, seed=1, progress=False)
        averages.append(agent.average.tolist())
    assert averages[0] == averages[1] == averages[2]


def three_shares(*levels):
    model = eq.models.bandit(3)
    constraints = [eq.rewards.at_least(arm, level, model) for arm, level in enumerate(levels)]
    return model, eq.rewards.Constrained(eq.rewards.Linear([1.0, 0.0, 0.0]), constraints)


def test_constraints_in_conflict_are_reported_once_that_is_proven(tmp_path):
    """Shares of one day that sum to 1.25: a quarter of the day is missing, however it is spent."""
    model, goal = three_shares(0.5, 0.25, 0.5)
    agent = eq.MixtureUCRL2(model.space, goal)
    assert agent.certificate().conflict == ()
    run = eq.simulate(model, agent, 20_000, seed=1, progress=False)
    assert sum(violation[-1] for violation in run.violations.values()) == pytest.approx(0.25, abs=0.01)
    agent.save(tmp_path / "agent.npz")
    again = eq.MixtureUCRL2.load(tmp_path / "agent.npz")
    assert again.best_possible == agent.best_possible < 0.0  # no policy meets the constraints with any reward
    certificate = agent.certificate()
    assert set(certificate.conflict) == set(goal.names)
    assert not any(one.impossible for one in certificate.constraints)
    assert "no policy meets 'arm 0 at least 0.5' and 'arm 1 at least 0.25' and" in str(certificate)
    assert again.certificate().conflict == certificate.conflict
    one, other = (eq.simulate(model, each, 500, seed=4, progress=False) for each in (agent, again))
    assert one.outcomes.tobytes() == other.outcomes.tobytes()


def test_a_conflict_names_no_constraint_that_is_not_in_it():
    model, goal = three_shares(0.7, 0.05, 0.6)
    agent = eq.MixtureUCRL2(model.space, goal)
    eq.simulate(model, agent, 20_000, seed=1, progress=False)
    assert set(agent.certificate().conflict) == {"arm 0 at least 0.7", "arm 2 at least 0.6"}


def test_a_constraint_that_no_policy_meets_is_reported():
    model = eq.models.riverswim(3)
    goal = eq.rewards.Constrained(eq.rewards.Linear([0.0]), [eq.rewards.at_least(0, 0.99, model)])
    agent = eq.MixtureUCRL2(model.space, goal)
    most = eq.solve(model, eq.rewards.Linear([1.0])).value
    eq.simulate(model, agent, 30_000, seed=1, progress=False)
    certificate = agent.certificate(effort=2)
    (one,) = certificate.constraints
    assert one.impossible
    assert most - 1e-9 <= one.best_possible < 0.99
    assert certificate.conflict == (one.name,)
    assert agent.average[0] == pytest.approx(most, abs=0.03)  # it comes as close as it can


STUDY = """
name = "mixtures"
steps = 500
seeds = 2
[[problems]]
name = "worst user"
world = "scheduler"
reward = { kind = "BottomSum", kappa = 1 }
[[agents]]
name = "proven"
kind = "MixtureUCRL2"
[[agents]]
name = "drawn"
kind = "MixtureUCRL2"
confidence = { kind = "PosteriorSampling" }
[[agents]]
name = "program"
kind = "PosteriorProgram"
"""


def test_studies_run_it(tmp_path):
    (tmp_path / "study.toml").write_text(STUDY)
    run_study(read_study(tmp_path / "study.toml"), tmp_path / "out", jobs=1)
    frame = open_results(tmp_path / "out").frame
    last = frame.filter(frame["t"] == 500)
    assert last.height == 6
    assert last["regret"].n_unique() == 6  # seeds and agents differ
    proven = last.filter(last["agent"] == "proven")
    assert proven["certified"].is_finite().all()
    assert (proven["certified"] >= proven["regret"]).all()


def test_actions_of_a_state_keep_to_their_shares():
    first_pair = np.array([0, 3])
    shares = np.array([0.5, 0.3, 0.2])
    slot = Slot(1.0, shares, np.ones(1))
    rounds = new_rounds(first_pair, [slot], [np.zeros(1, dtype=np.int64)], 10_000, (0, 10**9), np.zeros(3))
    counts, taken = Counts.zeros(3, 1), np.zeros(3)
    for t in range(1, 2_001):
        taken[next_action(None, rounds, first_pair, counts, False, 1.0, 0, t)] += 1
        assert np.abs(taken - t * shares).max() <= 1.0 + 1e-9


def test_policies_that_share_no_class_take_turns_and_others_do_not():
    star = agent_for("star", "known")
    eq.simulate(CASES["star"][0], star, 2_000, progress=False)
    record = star.episode_record.start
    expected = round_length(3, 4.0, 1_000)
    assert 0.3 * expected <= np.diff(record)[record[:-1] > 900].mean() <= 4 * expected
    assert star.average.min() >= 0.2
    one_class = agent_for("scheduler", "known")
    eq.simulate(CASES["scheduler"][0], one_class, 2_000, progress=False)
    assert np.diff(one_class.episode_record.start).max() <= 41  # plans follow each other after 2 % of the steps


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"delta": 0.0}, "delta: got 0.0"),
        ({"confidence": 3}, "confidence: got int"),
        ({"reward": eq.rewards.Balance([0.5, 0.5])}, "reward: it takes 2 outcomes"),
        ({"confidence": eq.confidence.Known(eq.models.sites())}, "Known: its model has"),
    ],
)
def test_what_will_not_do_is_refused(wrong, said):
    model, reward = CASES["star"]
    with pytest.raises(eq.EquipoiseError, match=said):
        eq.MixtureUCRL2(**{"space": model.space, "reward": reward, **wrong})


def test_what_optimistic_plans_promise_too_much_is_made_up_for():
    """Three users whose rates must be 0.15 at least: the plans expect more of user 2 than the channel has."""
    model = eq.models.scheduler()
    floors = [eq.rewards.at_least(f"rate of user {k}", 0.15, model) for k in range(3)]
    goal = eq.rewards.Constrained(eq.rewards.Linear([1.0, 1.0, 1.0]), floors)
    agent = eq.MixtureUCRL2(model.space, goal)
    run = eq.simulate(model, agent, 100_000, seed=1, progress=False)
    assert max(one.violation for one in run.constraints) <= 1e-3
    assert run.regret(eq.solve(model, goal))[-1] <= 0.025


def test_a_van_keeps_to_its_half_kilometre():
    """Bikes at three stations and no price: 19 states and 133 pairs, of which the agent knows nothing."""
    model = eq.models.bike_sharing()
    limit = eq.rewards.at_most("transport", 0.5 / 3, model)
    goal = eq.rewards.Constrained(eq.rewards.Linear([0.5, 0.5, 0.0]), [limit])
    agent = eq.MixtureUCRL2(model.space, goal)
    run = eq.simulate(model, agent, 30_000, seed=1, progress=False)
    assert 3 * run.outcomes[-1][2] <= 0.51  # kilometres per slot
    assert agent.certificate().conflict == ()
