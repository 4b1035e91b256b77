"""An emergency department: who is seen first and by how many, told its mechanics, learning its arrivals on the way.

python examples/department.py --steps 26208 --out out
"""

import argparse
from pathlib import Path

import altair as alt
import polars as pl

import equipoise as eq

WEEK = 7 * 144  # slots of ten minutes
WANTED: dict[str | tuple[str, str], float] = {
    ("urgent seen in time", "urgent seen"): 0.95,
    ("standard seen in time", "standard seen"): 0.95,
    "nobody sent away": 0.98,
    "no further doctor": 0.90,
}


def rule(state: tuple[str, tuple[int, ...], tuple[int, ...]]) -> str:
    """Call a second doctor when two patients wait."""
    return "2 doctors, urgent first" if len(state[1]) + len(state[2]) >= 2 else "1 doctor, urgent first"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=26 * WEEK)
    parser.add_argument("--out", type=Path, default=Path("out"))
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    ward = eq.mechanics.department()
    world = ward.model()  # with its usual laws, which no agent is told
    goals = eq.rewards.Goals(ward.space.outcome_names(), WANTED, usual={"urgent seen": 0.08, "standard seen": 0.16})
    agents = {
        "told the mechanics": (told := eq.recommended(ward.space, goals.reward)),
        "told the table": eq.recommended(world.space, goals.reward),
        "rule of thumb": eq.agents.baselines.Rule(ward.space, goals.reward, rule),
    }
    rows = []
    for name, agent in agents.items():
        run = eq.simulate(world, agent, options.steps, seed=1)
        missed = (1.0 - run.values) ** 0.5  # g is 1 - the mean of the squares
        rows += [{"who": name, "weeks": t / WEEK, "missed": x} for t, x in zip(run.t, missed, strict=True)]
        print(name, goals.table(run.outcomes[-1]), sep="\n")
    certificate = told.certificate(effort=20)
    print(certificate, told.laws(), sep="\n")
    least = (1.0 - certificate.best_possible) ** 0.5
    rows += [{"who": "least possible, proven", "weeks": w, "missed": least} for w in (1 / 7, options.steps / WEEK)]
    x = alt.X("weeks:Q", scale=alt.Scale(type="log", nice=False), axis=alt.Axis(format="~g"))
    y = alt.Y("missed:Q", title="missing to the goals, root mean square", axis=alt.Axis(format="%"))
    chart = alt.Chart(pl.DataFrame(rows).filter(pl.col("weeks") >= 1 / 7)).mark_line()
    lines = chart.encode(x, y, alt.Color("who:N", title=None, sort=None))
    lines.properties(width=460, height=300).save(options.out / "department.png", ppi=110)


if __name__ == "__main__":
    main()
