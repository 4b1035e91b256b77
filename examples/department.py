"""An emergency department: who is seen first and by how many, told its mechanics, learning its arrivals on the way.

python examples/department.py --steps 20000 --out out
"""

import argparse
from pathlib import Path

import altair as alt
import numpy as np
import polars as pl

import equipoise as eq

WEEK = 7 * 144  # slots of ten minutes
IN_TIME = {"urgent": 0.9, "standard": 0.85}  # the shares that are to be seen in time
PATIENTS = {"urgent": 0.08, "standard": 0.16}  # about how many are seen in a slot; it sets the scale alone
RULE = {"night": "1 doctor, urgent first", "day": "2 doctors, urgent first", "evening": "2 doctors, urgent first"}
ROOM, REST = 0.98, 0.8  # slots in which nobody is sent away, and without a further doctor


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=20 * WEEK)
    parser.add_argument("--out", type=Path, default=Path("out"))
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    ward = eq.mechanics.department()
    world = ward.model()  # with its usual laws, which no agent is told
    matrix, offset = np.zeros((4, ward.space.n_outcomes)), np.zeros(4)
    for k, (name, z) in enumerate(IN_TIME.items()):  # a share of at least z is in_time - z seen >= 0
        matrix[k, 2 * k : 2 * k + 2] = np.array([-z, 1.0]) / PATIENTS[name]  # outcomes: seen, and seen in time
        offset[k] = z
    matrix[2, 4] = matrix[3, 5] = 1.0  # nobody sent away, no further doctor
    reward = eq.rewards.TargetSquared([*IN_TIME.values(), ROOM, REST]).of(matrix, offset)
    agents = {
        "told the mechanics": (told := eq.recommended(ward.space, reward)),
        "told the table": eq.recommended(world.space, reward),
        "rule of thumb": eq.agents.baselines.Rule(ward.space, reward, lambda state: RULE[state[0]]),
    }
    rows = []
    for name, agent in agents.items():
        run = eq.simulate(world, agent, options.steps, seed=1)
        shares = run.outcomes[:, 1:4:2] / np.maximum(run.outcomes[:, 0:4:2], 1e-9)  # in time of all that were seen
        rows += [{"agent": name, "weeks": t / WEEK, "share": x} for t, x in zip(run.t, shares[:, 0], strict=True)]
        away, further = 1.0 - run.outcomes[-1, 4:]
        print(f"{name}: in time {shares[-1, 0]:.1%} of urgent and {shares[-1, 1]:.1%} of standard patients;", end=" ")
        print(f"somebody sent away in {away:.1%} and a further doctor in {further:.0%} of slots")
    print(told.certificate(effort=5), told.laws().filter(pl.col("law").str.contains("urgent")), sep="\n")

    shown = pl.DataFrame(rows).filter(pl.col("weeks") > 0.1)
    x = alt.X("weeks:Q", scale=alt.Scale(type="log"))
    y = alt.Y("share:Q", title="urgent patients seen in time, so far", axis=alt.Axis(format="%"))
    lines = alt.Chart(shown).mark_line().encode(x, y, alt.Color("agent:N", title=None))
    goal = alt.Chart(pl.DataFrame({"share": [IN_TIME["urgent"]]})).mark_rule(strokeDash=[4, 4]).encode(y)
    (lines + goal).properties(width=460, height=300).save(options.out / "department.png", ppi=110)


if __name__ == "__main__":
    main()
