"""Runs whose trajectories are pinned, to the last bit: every oracle, reward, confidence and agent, and forty worlds.

A digest covers what a run did (times, average outcomes, values, episodes with their triggers, gains, spans and sweeps)
and what the agent holds at the end. `python -m tests.pins` writes them to `digests.json`. That is a decision, to be
written in the changelog with its reason: a digest that changes is a trajectory that changes.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable
from pathlib import Path

import numpy as np

import equipoise as eq
from equipoise.agents import KnapsackTocUCRL2
from equipoise.agents.baselines import FrankWolfeUCB, RoundRobin, Rule, StationaryAgent, ucrl2
from tests.agents.mechanics_cases import CASES as MECHANICS

STEPS = 4000

Case = Callable[[], tuple[eq.Model, "eq.agents.Agent"]]


def digest(model: eq.Model, agent: eq.agents.Agent, steps: int = STEPS, seed: int = 3) -> str:
    """Of a run, in two calls."""
    first = eq.simulate(model, agent, steps // 3, seed, progress=False)
    run = eq.simulate(model, agent, steps - steps // 3, seed, progress=False)
    summary = hashlib.sha256()
    for part in (first.t, first.outcomes, first.values, run.t, run.outcomes, run.values):
        summary.update(np.ascontiguousarray(part).tobytes())
    episodes = run.episodes
    for name in ("start", "length", "gain", "span", "sweeps"):
        summary.update(episodes[name].to_numpy().tobytes())
    summary.update(",".join(episodes["trigger"].to_list()).encode())
    summary.update(f"{agent.t},{agent.state}".encode())
    if isinstance(agent, eq.TocUCRL2):
        for array in (agent.theta, agent.policy, agent.bias, agent.visits, agent.average):
            summary.update(array.tobytes())
    return summary.hexdigest()[:32]


def by_hand(model: eq.Model, agent: eq.agents.Agent, steps: int = 600, seed: int = 3) -> str:
    """Of the same kind of run, stepped by `act` and `observe`."""
    world = model.world(seed)
    summary = hashlib.sha256()
    for _ in range(steps):
        state = world.state
        action = agent.act(state)
        outcomes, after = world.step(action)
        agent.observe(outcomes, after)
        summary.update(f"{state},{action},{after};".encode())
        summary.update(outcomes.tobytes())
    summary.update(agent.average.tobytes())
    return summary.hexdigest()[:32]


def through_a_file(path: Path, model: eq.Model, steps: int = 150) -> str:
    """Of a run that goes on from a file."""
    agent = eq.agents.Agent.load(path)
    eq.simulate(model, agent, steps, 3, progress=False)
    summary = hashlib.sha256(f"{agent.t},{agent.state}".encode())
    summary.update(agent.average.tobytes())
    for column in agent.episode_record:
        summary.update(column.tobytes())
    return summary.hexdigest()[:32]


def target(k: int) -> list[float]:
    return [(1.0 + i % 3) / (2.0 * k) for i in range(k)]


def with_nulls(model: eq.Model) -> eq.Model:
    means = model.means.copy()
    means[model.first_pair[:-1]] = 0.0
    return eq.Model.from_sparse(model.first_pair, model.transitions(), means)


def worlds() -> dict[str, eq.Model]:
    m = eq.models
    rare = [[[0.998, 0.002], [0.5, 0.5]], [[0.002, 0.998], [0.9, 0.1]]]
    three = [(0.3, 0, [0.0, 1.0]), (0.4, 1, [0.4, 0.5]), (0.3, 1, [1.0, 0.0])]
    other = [(0.5, 0, [0.9, 0.1]), (0.5, 1, [0.7, 0.2])]
    return {
        "bandit(3)": m.bandit(3),
        "bandit(10)": m.bandit(10),
        "ring(4)": m.ring(4),
        "ring(7)": m.ring(7),
        "star(3,4)": m.star(3, 4),
        "star(2,2)": m.star(2, 2),
        "star(5,10)": m.star(5, 10),
        "hub(3)": m.hub(3),
        "hub(4)": m.hub(4),
        "scalar_hub(3)": m.scalar_hub(3),
        "riverswim(3)": m.riverswim(3),
        "riverswim(6)": m.riverswim(6),
        "riverswim(20)": m.riverswim(20),
        "garnet(5,3,3,3)": m.garnet(5, 3, 3, 3, seed=8),
        "garnet(12,2,12,3)": m.garnet(12, 2, 12, n_outcomes=3, seed=3),
        "garnet(40,4,5,2)": m.garnet(40, 4, 5, 2, seed=1),
        "garnet(8,2,2,6)": m.garnet(8, 2, 2, 6, seed=5),
        "grid(3,3)": m.grid(3, 3),
        "grid(4,5)": m.grid(4, 5),
        "queue": m.queue(),
        "inventory": m.inventory(),
        "scheduler": m.scheduler(),
        "patrol": m.patrol("...\n.#.\n..."),
        "sites": m.sites(),
        "pricing": m.pricing(),
        "bidding": m.bidding(),
        "visits of star": m.star(3, 4).visits(),
        "visits of riverswim": m.riverswim(6).visits(),
        "visits of grid": m.grid(3, 3).visits(),
        "rare": eq.Model.from_arrays(rare, [[[0.001], [0.999]], [[0.25], [0.5]]], known=[(1, 1)]),
        "branches": eq.Model.from_branches([[three, other], [other, three]]),
        "one state": eq.Model.from_arrays([[[1.0], [1.0]]], [[[0.0, 1.0], [0.3, 0.5]]], noise="none"),
        "nulls": with_nulls(m.garnet(5, 3, 3, 3, seed=8)),
    }


def rewards() -> dict[str, eq.rewards.Reward]:
    r = eq.rewards
    return {
        "Linear": r.Linear([0.5, -0.2, 0.7]),
        "Quadratic": r.Quadratic([0.4, 0.3, 0.3]),
        "TargetSquared": r.TargetSquared([0.5, 0.4, 0.3]),
        "TargetDistance 1": r.TargetDistance([0.5, 0.4, 0.3], 1),
        "TargetDistance 2": r.TargetDistance([0.5, 0.4, 0.3], 2),
        "TargetDistance inf": r.TargetDistance([0.5, 0.4, 0.3], math.inf),
        "Balance": r.Balance([0.4, 0.3, 0.3]),
        "BottomSum": r.BottomSum(3, 2),
        "GeneralisedGini": r.GeneralisedGini([0.5, 0.3, 0.2]),
        "ProportionalFairness": r.ProportionalFairness(3, 0.1),
        "Entropy": r.Entropy(3),
        "Entropy fixed": r.Entropy(3, 0.1),
        "RelativeEntropy": r.RelativeEntropy([0.5, 0.3, 0.2], 0.1),
        "CrossEntropy": r.CrossEntropy([0.5, 0.3, 0.2], 0.1),
        "Knapsack": r.Knapsack(3, 0.3),
    }


def oracles() -> dict[str, tuple[eq.oracles.Oracle, eq.rewards.Reward]]:
    o, r = eq.oracles, eq.rewards
    smooth, kinked = r.Quadratic([0.4, 0.3, 0.3]), r.Balance([0.4, 0.3, 0.3])
    one, largest, bottom = (
        r.TargetDistance([0.5, 0.4, 0.3], 1), r.TargetDistance([0.5, 0.4, 0.3], math.inf), r.BottomSum(3, 1)
    )  # fmt: skip
    return {
        "FrankWolfe": (o.FrankWolfe(), smooth),
        "TunedGradientDescent": (o.TunedGradientDescent(), kinked),
        "TunedMirrorDescent ball": (o.TunedMirrorDescent(o.EuclideanBall(), 10_000), kinked),
        "TunedMirrorDescent box": (o.TunedMirrorDescent(o.Box(), 10_000), one),
        "TunedMirrorDescent cross": (o.TunedMirrorDescent(o.CrossPolytope(), 10_000), largest),
        "TunedMirrorDescent simplex": (o.TunedMirrorDescent(o.SignedSimplex(), 10_000), bottom),
        "TunedMirrorDescent slack": (o.TunedMirrorDescent(o.SlackSimplex(), 10_000), r.Knapsack(3, 0.3)),
        "Doubling box": (o.Doubling(o.Box()), one),
        "Doubling box, inherit": (o.Doubling(o.Box(), inherit=True), one),
        "Doubling ball": (o.Doubling(o.EuclideanBall()), kinked),
        "Doubling simplex": (o.Doubling(o.SignedSimplex()), bottom),
        "Doubling cross, inherit": (o.Doubling(o.CrossPolytope(), inherit=True), largest),
    }


def confidences(model: eq.Model) -> dict[str, eq.confidence.Confidence]:
    c = eq.confidence
    return {
        "Bernstein": c.Bernstein(),
        "EmpiricalBernstein": c.EmpiricalBernstein(),
        "Adaptive": c.Adaptive(),
        "L1 jaksch": c.L1(),
        "L1 laplace": c.L1("laplace"),
        "PosteriorSampling": c.PosteriorSampling(seed=5),
        "PosteriorSampling 3": c.PosteriorSampling(prior=1.0, samples=3, seed=5),
        "Known": c.Known(model),
        "Scaled Bernstein": c.Scaled(c.Bernstein(), 0.1),
        "Scaled Adaptive": c.Scaled(c.Adaptive(), 0.5),
        "Scaled L1": c.Scaled(c.L1(), 0.3),
    }


def adaptive(space: eq.Space, reward: eq.rewards.Reward) -> eq.TocUCRL2:
    """What `eq.recommended` made while its plans began from zero."""
    oracle = eq.oracles.choice.fitting_oracle(reward, inherit=True)
    return eq.TocUCRL2(space, reward, oracle, confidence=eq.confidence.Adaptive())


def warm(space: eq.Space, reward: eq.rewards.Reward) -> eq.TocUCRL2:
    """What `eq.recommended` makes for a smooth reward, and made for every reward before it took mixtures."""
    oracle = eq.oracles.choice.fitting_oracle(reward, inherit=True)
    planner = eq.planning.Planner(warm_start="visits")
    return eq.TocUCRL2(space, reward, oracle, confidence=eq.confidence.Adaptive(), planner=planner)


def composed() -> dict[str, eq.rewards.Reward]:
    """Rewards made of others, of constraints, and of formulas; three outcomes."""
    r = eq.rewards
    quadratic, bottom = r.Quadratic([0.4, 0.3, 0.3]), r.BottomSum(3, 1)
    return {
        "Sum": r.Sum([quadratic, r.BottomSum(3, 2)], [1.0, 0.5]),
        "Minimum": r.Minimum([r.Linear([0.5, 0.0, 0.5]), r.Linear([0.0, 1.0, 0.0])]),
        "Within": r.Within(r.ProportionalFairness(3, 0.01), [0.05] * 3, [1.0] * 3),
        "Affine": r.TargetSquared([0.75, 0.75]).of([[-0.5, -0.5, 0.0], [0.0, 0.0, 1.0]], [1.0, 0.0]),
        "Constrained": r.Constrained(r.Linear([1.0, 0.0, 0.0]), [r.at_least(1, 0.25, ["a", "b", "c"])], price=2.0),
        "Constrained smooth": r.Constrained(quadratic, [r.at_most(2, 0.4, ["a", "b", "c"])], price=1.0, smoothing=0.05),
        "Expression": r.Expression("1 - 0.5 * sum_squares(w - [0.4, 0.3, 0.3])", 3),
        "Expression kinked": r.Expression("min(w) + 0.25 * sqrt(w[0] + 0.1)", 3),
        "Composed": r.Sum([r.Minimum([bottom, r.Linear([0.2, 0.2, 0.2])]), quadratic], [1.0, 1.0]),
    }


def told() -> dict[str, tuple[eq.Space, eq.Model]]:
    """Spaces that tell an agent how its system moves, with a model each."""
    river = eq.models.riverswim(6)
    known = river.space.knowing(
        known_transitions={(s, 0): {max(0, s - 1): 1.0} for s in range(6)},
        same_law=[{(s, 1): [s - 1, s, s + 1] for s in range(1, 5)}],
    )
    pairs: dict[str, tuple[eq.Space, eq.Model]] = {"part of a table": (known, river)}
    for name in ("one noise", "laws by state and action", "one law of several given", "lost sales"):
        mechanics = MECHANICS[name].mechanics()
        pairs[name] = mechanics.space, mechanics.model(**MECHANICS[name].truth)
    return pairs


def sparse() -> tuple[eq.Space, eq.Model]:
    """A space whose outcomes are counted apart, and one pair whose outcomes are told."""
    model = eq.models.garnet(6, 2, 3, n_outcomes=8, seed=4)
    rare = np.where(np.arange(8) % 4 == np.arange(model.n_pairs)[:, None] % 4, model.means, 0.0)
    world = eq.Model.from_sparse(model.first_pair, model.transitions(), rare, known=[(0, 0)])
    return eq.Space(world.n_actions, 8, known={(0, 0): rare[0]}, sparse_outcomes=True), world


def absorbed(agent: eq.TocUCRL2, model: eq.Model, rows: int = 2000) -> eq.TocUCRL2:
    """The agent with a log of a random policy."""
    rule = StationaryAgent(model.space, agent.reward, seed=2)
    agent.absorb(eq.simulate(model, rule, rows, 5, trace=True, progress=False).trace)
    return agent


def made_of_more() -> dict[str, Case]:
    """Runs with known mechanics, sparse outcomes, leaps, composed rewards and absorbed logs."""
    small = eq.models.garnet(5, 3, 3, 3, seed=8)
    star, smooth = eq.models.star(3, 4), eq.rewards.Quadratic([0.4, 0.3, 0.3])
    leaps = eq.planning.Planner(leaps=True)
    runs: dict[str, Case] = {}
    for name, (space, model) in told().items():
        reward = eq.rewards.Quadratic(target(space.n_outcomes))
        kinked = eq.rewards.BottomSum(space.n_outcomes, 1)
        runs[f"mechanics: {name}"] = lambda s=space, m=model, r=reward: (m, eq.TocUCRL2(s, r))
        runs[f"mechanics, warm: {name}"] = lambda s=space, m=model, r=kinked: (m, warm(s, r))
    space, model = sparse()
    for name, confidence in {"Bernstein": eq.confidence.Bernstein(), "Adaptive": eq.confidence.Adaptive()}.items():
        for kind, reward in {
            "Quadratic": eq.rewards.Quadratic(target(8)),
            "BottomSum": eq.rewards.BottomSum(8, 3),
        }.items():
            runs[f"sparse: {name}, {kind}"] = lambda c=confidence, r=reward: (
                model, eq.TocUCRL2(space, r, confidence=c)
            )  # fmt: skip
    runs["leaps: star"] = lambda: (star, eq.TocUCRL2(star.space, smooth, planner=leaps))
    runs["leaps: exact"] = lambda: (star, eq.TocUCRL2(star.space, smooth, tolerance=1e-6, planner=leaps))
    for name, reward in composed().items():
        runs[f"composed: {name}"] = lambda r=reward: (small, eq.TocUCRL2(small.space, r))
        runs[f"composed, warm: {name}"] = lambda r=reward: (small, warm(small.space, r))
    runs["log: FrankWolfe"] = lambda: (small, absorbed(eq.TocUCRL2(small.space, smooth), small))
    runs["log: warm"] = lambda: (star, absorbed(warm(star.space, eq.rewards.BottomSum(3, 1)), star))
    runs["log: sparse"] = lambda: (model, absorbed(eq.TocUCRL2(space, eq.rewards.Quadratic(target(8))), model))
    shop, world = told()["one noise"]
    runs["log: mechanics"] = lambda: (world, absorbed(eq.recommended(shop, eq.rewards.Quadratic([0.5, 0.5])), world))
    return runs


def mixtures() -> dict[str, Case]:
    """Mixtures of policies for tables, mechanics, sparse outcomes and constraints; some by `eq.recommended`."""
    runs: dict[str, Case] = {}
    for world, reward in {
        "pricing": eq.rewards.Knapsack(2, 0.3),
        "scheduler": eq.rewards.BottomSum(3, 1),
        "sites": eq.rewards.BottomSum(3, 1),
        "inventory": composed()["Constrained"],
    }.items():
        model = worlds()[world]
        drawn = eq.confidence.PosteriorSampling(seed=5)
        for name, confidence in {"known": eq.confidence.Known(model), "drawn": drawn}.items():
            runs[f"mixture, {name}: {world}"] = lambda m=model, r=reward, c=confidence: (
                m, eq.MixtureUCRL2(m.space, r, c)
            )  # fmt: skip
        runs[f"mixture, recommended: {world}"] = lambda m=model, r=reward: (m, eq.recommended(m.space, r))
    shop, world = told()["lost sales"]
    kinked = eq.rewards.BottomSum(shop.n_outcomes, 1)
    runs["mixture, recommended: mechanics"] = lambda: (world, eq.recommended(shop, kinked))
    space, model = sparse()
    runs["mixture, recommended: sparse"] = lambda: (model, eq.recommended(space, eq.rewards.BottomSum(8, 3)))
    return runs


def saved() -> dict[str, Case]:
    """One agent of every kind that a file can hold, small: golden files are made of these, and fuzzed."""
    small = eq.models.garnet(5, 3, 3, 3, seed=8)
    nulls, arms, river = with_nulls(small), eq.models.bandit(3), eq.models.riverswim(4)
    smooth, kinked = eq.rewards.Quadratic([0.4, 0.3, 0.3]), eq.rewards.Balance([0.4, 0.3, 0.3])
    more = made_of_more()
    policy = np.full(15, 1 / 3)
    visits = river.visits()
    chosen = (
        "mechanics: one noise", "mechanics: lost sales", "mechanics: part of a table",
        "mechanics: laws by state and action", "mechanics, warm: one law of several given",
        "sparse: Adaptive, Quadratic", "sparse: Bernstein, BottomSum", "leaps: star", "composed: Sum",
        "composed: Within", "composed: Affine", "composed: Constrained", "composed: Expression",
        "composed: Expression kinked", "composed, warm: Composed", "log: FrankWolfe", "log: sparse",
        "log: mechanics",
    )  # fmt: skip
    return {
        "table": lambda: (small, eq.TocUCRL2(small.space, smooth)),
        "table, warm": lambda: (small, warm(small.space, kinked)),
        "one outcome": lambda: (river, eq.recommended(river.space, eq.rewards.Linear([1.0]))),
        "posterior": lambda: (small, eq.recommended(small.space, smooth, guarantee=False, seed=4)),
        "known": lambda: (
            small, eq.TocUCRL2(small.space, smooth, confidence=eq.confidence.Known(small), tolerance=1e-6)
        ),
        "told": lambda: (visits, eq.TocUCRL2(visits.space, eq.rewards.Entropy(4))),
        "ball": lambda: (small, eq.TocUCRL2(small.space, smooth, confidence=eq.confidence.L1())),
        "restarts": lambda: (small, eq.TocUCRL2(small.space, eq.rewards.BottomSum(3, 1))),
        "knapsack, the paper's": lambda: (nulls, KnapsackTocUCRL2(nulls.space, 0.4, 300, 0)),
        "stationary": lambda: (small, StationaryAgent(small.space, smooth, policy, seed=11)),
        "round robin": lambda: (small, RoundRobin(small.space, smooth)),
        "rule": lambda: (small, Rule(small.space, smooth, [2, 0, 1, 1, 0])),
        "arms": lambda: (arms, FrankWolfeUCB(arms.space, smooth)),
        **{name: more[name] for name in chosen},
        **mixtures(),
        "knapsack": lambda: (nulls, eq.KnapsackAgent(nulls.space, 0.4, 300, 0)),
    }  # fmt: skip


def cases() -> dict[str, Callable[[], str]]:
    """Every pinned run, by name."""
    pinned: dict[str, Callable[[], str]] = {}
    for name, case in made_of_more().items():
        pinned[name] = lambda c=case: digest(*c())
    all_worlds = worlds()
    for name, model in all_worlds.items():
        reward = eq.rewards.Quadratic(target(model.n_outcomes))
        pinned[f"world: {name}"] = lambda m=model, r=reward: digest(m, eq.TocUCRL2(m.space, r))
        pinned[f"adaptive: {name}"] = lambda m=model, r=reward: digest(m, adaptive(m.space, r))
        pinned[f"warm: {name}"] = lambda m=model, r=reward: digest(m, warm(m.space, r))
    small = all_worlds["garnet(5,3,3,3)"]
    for name, reward in rewards().items():
        pinned[f"reward: {name}"] = lambda r=reward: digest(small, eq.TocUCRL2(small.space, r))
        pinned[f"reward, adaptive: {name}"] = lambda r=reward: digest(small, adaptive(small.space, r))
        pinned[f"reward, warm: {name}"] = lambda r=reward: digest(small, warm(small.space, r))
    for name, mixture in mixtures().items():
        pinned[name] = lambda c=mixture: digest(*c())
    for world in ("garnet(5,3,3,3)", "star(3,4)", "scheduler"):
        model = all_worlds[world]
        for name, (oracle, reward) in oracles().items():
            if reward.n_outcomes == model.n_outcomes:
                pinned[f"oracle: {name}, {world}"] = lambda m=model, o=oracle, r=reward: digest(
                    m, eq.TocUCRL2(m.space, r, o)
                )
        smooth = eq.rewards.Quadratic(target(model.n_outcomes))
        for name, confidence in confidences(model).items():
            pinned[f"confidence: {name}, {world}"] = lambda m=model, c=confidence, r=smooth: digest(
                m, eq.TocUCRL2(m.space, r, confidence=c)
            )
    smooth = eq.rewards.Quadratic([0.4, 0.3, 0.3])
    settings = {
        "threshold 0": {"threshold": 0.0, "tolerance": 1e-3},
        "threshold inf": {"threshold": math.inf},
        "threshold Power": {"threshold": eq.agents.Power(0.25)},
        "threshold Span": {"threshold": eq.agents.Span(0.5)},
        "tolerance Power": {"tolerance": eq.agents.Power(-0.25, 0.5)},
        "tolerance": {"tolerance": 1e-3},
        "warm start": {"planner": eq.planning.Planner(warm_start=True)},
        "relaxed": {"planner": eq.planning.Planner(relaxation=0.7)},
        "delta": {"delta": 0.3},
    }
    star = all_worlds["star(3,4)"]
    for name, setting in settings.items():
        pinned[f"setting: {name}"] = lambda s=setting: digest(star, eq.TocUCRL2(star.space, smooth, **s))
    nulls, arms = all_worlds["nulls"], eq.models.bandit(3)
    river = all_worlds["riverswim(6)"]
    agents: dict[str, Case] = {
        "KnapsackAgent": lambda: (nulls, eq.KnapsackAgent(nulls.space, 0.2, STEPS, 0)),
        "KnapsackAgent PosteriorSampling": lambda: (
            nulls, eq.KnapsackAgent(nulls.space, 0.1, STEPS, 0, confidence=eq.confidence.PosteriorSampling(seed=2))
        ),
        "KnapsackTocUCRL2": lambda: (nulls, KnapsackTocUCRL2(nulls.space, 0.2, STEPS, 0)),
        "KnapsackTocUCRL2 Adaptive": lambda: (
            nulls, KnapsackTocUCRL2(nulls.space, 0.1, STEPS, 0, confidence=eq.confidence.Adaptive())
        ),
        "StationaryAgent": lambda: (small, StationaryAgent(small.space, smooth, seed=11)),
        "RoundRobin": lambda: (small, RoundRobin(small.space, smooth)),
        "FrankWolfeUCB": lambda: (arms, FrankWolfeUCB(arms.space, smooth)),
        "ucrl2": lambda: (river, ucrl2(river.space, [1.0])),
        "posterior": lambda: (river, eq.recommended(river.space, eq.rewards.Linear([1.0]), guarantee=False, seed=4)),
        "TocUCRL2": lambda: (small, eq.TocUCRL2(small.space, smooth)),
        "Doubling": lambda: (small, eq.TocUCRL2(small.space, eq.rewards.BottomSum(3, 1))),
    }  # fmt: skip
    for name, case in agents.items():
        pinned[f"agent: {name}"] = lambda c=case: digest(*c())
        pinned[f"by hand: {name}"] = lambda c=case: by_hand(*c())
    return pinned
