"""Studies that look like real ones, made from formulas: regret c t^a with noise that wanders along a run."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from equipoise.studies.results import AgentRecord, Failure, Guarantee, Optimum, ProblemRecord, Results, make_law_frame

SCHEMA = {
    "problem": pl.String,
    "agent": pl.String,
    "seed": pl.Int64,
    "run": pl.String,
    "t": pl.Int64,
    "outcomes": pl.List(pl.Float64),
    "value": pl.Float64,
    "optimum": pl.Float64,
    "regret": pl.Float64,
    "certified": pl.Float64,
    "episodes": pl.Int64,
    "gradient": pl.Int64,
    "visits": pl.Int64,
    "both": pl.Int64,
    "restart": pl.Int64,
    "sweeps": pl.Int64,
    "steps": pl.Int64,
    "seconds": pl.Float64,
}


@dataclass(frozen=True)
class Law:
    """How the regret of an agent goes: scale t^exponent + plateau, times log-normal noise; and its episodes."""

    scale: float
    exponent: float
    plateau: float = 0.0
    noise: float = 0.25
    episodes: float = 0.5  # their number is about 2 t^episodes; 0: none
    speed: float = 2e7
    certified: float = 0.0  # so many times the regret without noise is certified; 0: the agent proves nothing
    lucky: float = 0.0  # additive noise of size lucky / sqrt(t), which may make regret negative


LAWS = {
    "TOC-UCRL2": Law(0.9, -0.5, episodes=0.5),
    "Frank-Wolfe UCB": Law(0.7, -0.34, episodes=0.6, speed=1.4e7),
    "round robin": Law(0.6, -0.3, plateau=0.08, noise=0.08, episodes=0.0, speed=6e7),
}


def checkpoints(last: int, per_decade: int = 10) -> list[int]:
    n = math.ceil(math.log10(last) * per_decade)
    return sorted({round(10 ** (i * math.log10(last) / n)) for i in range(n + 1)})


def optimum_of(k: int, value: float = 1.0) -> Optimum:
    weights = np.linspace(1.0, 2.0, k)
    outcomes = tuple(float(w) for w in weights / weights.sum())
    theta = tuple(-0.4 / (i + 1) for i in range(k))
    return Optimum(value, value + 3e-9, 3e-9, "optimal", outcomes, theta, "CLARABEL", 0.042)


def problem(name: str, k: int, optimum: Optimum | None, world: str = "star(branches=3, diameter=4)") -> ProblemRecord:
    return ProblemRecord(name, world, f"Quadratic(target={[round(1 / k, 3)] * min(k, 3)})", 4 * k, 9 * k, k, optimum)


def rows(
    record: ProblemRecord, agent: str, law: Law, seed: int, times: Sequence[int], rng: np.random.Generator
) -> Iterator[tuple[object, ...]]:
    t = np.array(times, dtype=float)
    walk = np.cumsum(rng.normal(size=t.size)) / math.sqrt(t.size) + rng.normal()
    regret = law.scale * t**law.exponent * np.exp(law.noise * walk) + law.plateau * math.exp(law.noise * rng.normal())
    regret = regret + law.lucky * rng.normal(size=t.size) / np.sqrt(t)
    best = record.optimum.value if record.optimum else 0.8
    centre = np.array(record.optimum.outcomes if record.optimum else [0.3] * record.n_outcomes)
    direction = rng.normal(size=(t.size, record.n_outcomes)) * 0.15 + np.sin(np.arange(record.n_outcomes) + seed % 3)
    outcomes = np.clip(centre + 0.35 * np.abs(regret)[:, None] * direction, 0, 1)
    counts = np.maximum(1, np.rint(2 * t**law.episodes * math.exp(0.1 * rng.normal()))) if law.episodes else 0 * t
    ended = np.maximum(counts - 1, 0)
    visits = np.minimum(ended, np.rint(9 * np.log2(t + 1)))
    both = np.rint(0.1 * (ended - visits))
    seconds = times[-1] / law.speed * math.exp(0.05 * rng.normal())
    for i, now in enumerate(times):
        value = best - float(regret[i])
        known = (best, float(regret[i])) if record.optimum else (None, None)
        ceiling = best + (law.certified - 1.0) * law.scale * now**law.exponent
        certified = ceiling - value if law.certified else None
        shares = (int(ended[i] - visits[i] - both[i]), int(visits[i]), int(both[i]), 0)
        yield (
            record.name, agent, seed, f"{record.name}-{agent}-{seed}", now, outcomes[i].tolist(), value, *known,
            certified, int(counts[i]), *shares, int(40 * counts[i]), times[-1], seconds,
        )  # fmt: skip


def results(
    problems: Sequence[ProblemRecord],
    laws: Mapping[str, Law] = LAWS,
    seeds: int | Mapping[str, int] = 20,
    last: int = 10**6,
    name: str = "a study",
    rates: Mapping[str, float] = {"TOC-UCRL2": -0.5},
) -> Results:
    """Every agent on every problem; seeds may differ from problem to problem."""
    rng = np.random.default_rng(5)
    table = [
        row
        for record in problems
        for agent, law in laws.items()
        for seed in range(seeds if isinstance(seeds, int) else seeds[record.name])
        for row in rows(record, agent, law, seed, checkpoints(last), rng)
    ]
    made = {agent: AgentRecord(agent, f"{agent.replace('-', '').replace(' ', '')}(threshold=1.0)") for agent in laws}
    return Results(
        name=name,
        toml=f'name = "{name}"\nsteps = {last}\n\n[problems.star]\nworld = "star"\nbranches = 3\n',
        problems=tuple(problems),
        agents=tuple(made.values()),
        frame=pl.DataFrame(table, schema=SCHEMA, orient="row"),
        rates={(record.name, agent): rate for record in problems for agent, rate in rates.items()},
        failures=(),
        missing=0,
        damaged=(),
        versions=("0.1.0",),
    )


def showcase() -> Results:
    """Several problems: three outcomes, many outcomes, no optimum, one seed; with two failures and a damaged file."""
    problems = [
        problem("star", 3, optimum_of(3)),
        problem("coverage", 24, optimum_of(24, 0.97), "grid(rows=4, columns=6, slip=0.1)"),
        problem("pricing, no optimum", 2, None, "pricing(levels=5)"),
        problem("one seed", 4, optimum_of(4, 0.6), "garnet(states=20, actions=3)"),
    ]
    seeds = {"star": 20, "coverage": 20, "pricing, no optimum": 20, "one seed": 1}
    lucky = LAWS | {"TOC-UCRL2": replace(LAWS["TOC-UCRL2"], lucky=0.5)}
    made = results(problems, lucky, seeds, name="Three agents on four problems")
    failures = (
        Failure(
            "coverage", "Frank-Wolfe UCB", 20, "ConvergenceError: no span below 1e-9 within 100,000 sweeps; got 3.2e-9"
        ),
        Failure("star", "round robin", 20, "MemoryError: Unable to allocate 3.2 GiB"),
    )
    return replace(made, failures=failures, missing=3, damaged=("runs/7f3a.npz: truncated (File is not a zip file)",))


def hostile() -> Results:
    """Names that would break a careless page."""
    bad = (
        "</script><script>window.broken = 1</script><img src=x onerror='window.broken=2'> & \"q\" 'é' \u2028 日本 <!--"
    )
    agents = {f"{bad} {i}": law for i, law in enumerate(LAWS.values())}
    made = results([problem(bad, 2, optimum_of(2)), problem(bad + "2", 2, None)], agents, 3, 1000, bad, {})
    failure = Failure(bad, bad, 1, bad)
    return replace(made, toml=bad, failures=(failure,), damaged=(bad,), versions=(bad, "2"))


def crowd() -> Results:
    """Twelve agents: more than there are hues; the best two alike, one of them without noise, two rates."""
    laws = {f"agent {i:02d}": Law(0.9, -0.5 + 0.03 * i, noise=0.3, episodes=0.4 + 0.02 * i) for i in range(12)}
    rates = {"agent 00": -0.5, "agent 03": -1 / 3}
    return results([problem("crowded", 3, optimum_of(3))], laws, 20, name="Twelve agents", rates=rates)


def vanishing() -> Results:
    """Regrets that reach zero, fall below it, and start below it."""
    made = results([problem("to zero", 2, optimum_of(2))], LAWS, 8, 10**5, "Regret that vanishes")
    t, agent = pl.col("t"), pl.col("agent")
    regret = (
        pl.when((agent == "TOC-UCRL2") & (t > 2000))
        .then(0.0)
        .when((agent == "Frank-Wolfe UCB") & (t < 30))
        .then(-0.02)
        .when((agent == "Frank-Wolfe UCB") & (t > 50000))
        .then(1e-12)
        .otherwise(pl.col("regret"))
    )
    frame = made.frame.with_columns(regret.alias("regret"))
    return replace(made, frame=frame.with_columns(value=pl.col("optimum") - pl.col("regret")))


def without_chance() -> Results:
    """A world without noise: every seed gives the same run."""
    made = results([problem("deterministic", 3, optimum_of(3))], LAWS, 1, 10**5, "No chance")
    copies = [
        made.frame.with_columns(seed=pl.lit(seed, pl.Int64), run=pl.format("{}-{}", "agent", pl.lit(seed)))
        for seed in range(10)
    ]
    return replace(made, frame=pl.concat(copies).sort("problem", "agent", "seed", "t"))


def empty() -> Results:
    """A study that has not begun."""
    made = results([problem("star", 3, optimum_of(3)), problem("other", 9, None)], LAWS, 1, 1000, "Not begun")
    return replace(made, frame=made.frame.clear(), missing=120, versions=())


def one_checkpoint() -> Results:
    """Runs with nothing but their end, one agent without any result."""
    made = results([problem("short", 2, optimum_of(2))], LAWS, 5, 1000, "One checkpoint")
    frame = made.frame.filter((pl.col("t") == 1000) & (pl.col("agent") != "round robin"))
    return replace(made, frame=frame)


def guarantee(times: Sequence[int], scale: float, telling: int | None) -> Guarantee:
    """A bound scale / sqrt(t), with probability 0.85."""
    return Guarantee(0.85, 1.5, tuple((t, scale / math.sqrt(t)) for t in times), telling, 10**18)


def guaranteed() -> Results:
    """Four agents on a problem with bounds for two, one in a world too large for them, one without an optimum."""
    laws = LAWS | {"PSRL": Law(0.3, -0.6)}
    problems = [problem("bounded", 3, optimum_of(3)), problem("large", 2, optimum_of(2)), problem("unknown", 2, None)]
    made = results(problems, laws, 5, 10**5, "With bounds")
    times = checkpoints(10**5)
    guarantees = {
        ("bounded", "TOC-UCRL2"): guarantee(times, 3000.0, 4_000_000),
        ("bounded", "Frank-Wolfe UCB"): guarantee(times, 9e6, None),
        ("large", "TOC-UCRL2"): Guarantee(0.85, 1.5, (), None, 10**18),
        ("unknown", "TOC-UCRL2"): guarantee(times, 3000.0, 4_000_000),
    }
    *proven, psrl = made.agents
    return replace(made, agents=(*proven, replace(psrl, caveat="without a proof here")), guarantees=guarantees)


def certified() -> Results:
    """Certificates in closed form on a problem with an optimum and on one without; one agent proves nothing.

    There is no noise but that of the seeds of "noisy": what "steady" certifies at t is 3 x 0.9 / sqrt(t).
    """
    laws = {
        "steady": Law(0.9, -0.5, noise=0.0, certified=3.0),
        "noisy": Law(0.7, -0.4, certified=8.0),
        "silent": Law(0.6, -0.3, noise=0.08),
    }
    problems = [problem("known", 3, optimum_of(3)), problem("unknown", 2, None)]
    made = results(problems, laws, 6, 10**5, "With certificates", {"steady": -0.5})
    proving = {"steady": 0.95, "noisy": 0.9}
    agents = tuple(replace(agent, certainty=proving.get(agent.name)) for agent in made.agents)
    return replace(made, agents=agents, certified_within=0.05)


def law_rows(
    agent: str, seed: int, laws: Mapping[str, tuple[int, Sequence[float | None]]], width: float, problem: str = "shop"
) -> pl.DataFrame:
    """What an agent has learnt of laws, each given by its visits and its truth.

    An estimate is off by a hundredth, up and down in turn; its interval reaches `width` to either side of it.
    """
    rows = []
    for name, (visits, truth) in laws.items():
        for i, p in enumerate(truth):
            if visits:
                estimate = round(visits * ((p or 0.0) + (0.01 if i % 2 == 0 else -0.01))) / visits
                ends = (max(0.0, estimate - width), min(1.0, estimate + width))
            else:
                estimate, ends = None, (0.0, 1.0)
            rows.append((problem, agent, seed, name, str(i), visits, estimate, *ends, p))
    return pl.DataFrame(rows, schema=make_law_frame().schema, orient="row")


def learnt() -> Results:
    """Two problems, one of them with laws that two agents of three were told of: seed 1 of "narrow" misses the truth.

    A law was never seen, and one never comes into play.
    """
    laws = {"demand": (1000, [0.5, 0.25, 0.15, 0.1]), "lead <b>time</b>": (0, [0.9, 0.1]), "idle": (0, [None, None])}
    parts = [law_rows("wide", seed, laws, 0.05) for seed in (0, 1)]
    parts += [law_rows("narrow", seed, laws, 0.02 if seed == 0 else 0.005) for seed in (0, 1)]
    agents = {"wide": Law(0.9, -0.5), "table": Law(0.9, -0.4), "narrow": Law(0.7, -0.4)}
    problems = [problem("shop", 3, optimum_of(3)), problem("star", 2, None)]
    made = results(problems, agents, 2, 10**4, "With laws")
    return replace(made, laws=pl.concat(parts))
