"""From a log to a certificate: how much better could this base station be run, and an agent that takes it over.

python examples/log.py --steps 100000 --out out
"""

from __future__ import annotations

import argparse
from pathlib import Path

import altair as alt
import numpy as np
import polars as pl

import equipoise as eq


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=10**5)
    parser.add_argument("--out", type=Path, default=Path("out"))
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)

    model = eq.models.scheduler()
    reward = eq.rewards.ProportionalFairness(model.n_outcomes, 0.05)
    actions = np.arange(model.n_pairs) - model.first_pair[model.state_of]
    habit = np.where(actions == 0, 1.0, 0.25)  # user 0 is served most of the time, whatever the channels are
    habit /= np.add.reduceat(habit, model.first_pair[:-1])[model.state_of]
    old = eq.agents.baselines.StationaryAgent(model.space, reward, habit)
    log = eq.simulate(model, old, options.steps, seed=7, trace=True).trace

    certificate = eq.certify(model.space, reward, log)
    print("The old rule:", certificate)
    print("Here more data would help most:", certificate.slack.head(3), sep="\n")
    print("How far the estimates may be off:", eq.confidence.intervals(model.space, log).head(4), sep="\n")

    newcomer, heir = (eq.recommended(model.space, reward) for _ in range(2))
    heir.absorb(log)
    print("An agent with the log, before its first step:", heir.certificate(effort=10))
    rows = []
    for name, agent in (("without the log", newcomer), ("with the log", heir)):
        run = eq.simulate(model, agent, options.steps, seed=1)
        print(f"An agent {name}:", agent.certificate(effort=10))
        rows += [{"agent": name, "t": int(t), "lost": float(x)} for t, x in zip(run.t, run.certified, strict=True)]

    x = alt.X("t:Q", scale=alt.Scale(type="log"), title="steps")
    y = alt.Y("lost:Q", scale=alt.Scale(type="log"), title="lost at most, proven from the data alone")
    lines = alt.Chart(pl.DataFrame(rows)).mark_line().encode(x, y, alt.Color("agent:N", title=None))
    old_rule = alt.Chart(
        pl.DataFrame({"lost": [certificate.regret_at_most], "t": [options.steps], "what": ["the old rule"]})
    )
    rule = old_rule.mark_rule(strokeDash=[4, 4]).encode(y)
    words = old_rule.mark_text(align="right", dx=-4, dy=-7).encode(x, y, alt.Text("what:N"))
    (lines + rule + words).properties(width=460, height=300).save(options.out / "log.png", ppi=110)


if __name__ == "__main__":
    main()
