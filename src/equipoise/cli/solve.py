"""`equipoise solve`: the offline optimum, with its certificate and its prices."""

from __future__ import annotations

import json
from typing import Any

import typer
from rich.console import Console
from rich.table import Table

from equipoise.cli import problem as words
from equipoise.cli.allowing import With
from equipoise.offline import Benchmark, KnapsackBenchmark, solve_knapsack
from equipoise.offline import solve as solve_program
from equipoise.rewards.knapsack import Knapsack
from equipoise.studies.vocabulary import make_reward, make_world

_NOT_CERTIFIED = 3


def solve(
    study: words.Source = None,
    problem: words.Which = None,
    world: words.World = None,
    reward: words.Reward = None,
    as_json: words.Json = False,
    modules: With = [],  # noqa: ARG001, B006 - allowed by its callback
) -> None:
    """Solve a problem offline: what could be had if the world were known.

    Prints the optimum opt(P_M) with the bounds on both sides of it, the average outcomes that attain it, and what a
    little more of each outcome would be worth there (-theta*, the shadow prices). The bounds are recomputed without the
    solver; if they do not meet, the status says so and the exit code is 3.

    The problem is one of a study, or is given by --world and --reward:

        equipoise solve studies/kpis.toml --problem queue

        equipoise solve --world star --reward '{kind = "BottomSum", kappa = 1}'
    """
    given, place = words.given(study, problem, world, reward)
    model = make_world(given.world, f"{place}world", None if study is None else study.parent)
    goal = make_reward(given.reward, model, f"{place}reward")
    best = solve_knapsack(model, goal.budget) if isinstance(goal, Knapsack) else solve_program(model, goal)
    if as_json:
        typer.echo(json.dumps(_data(best), indent=1))
    else:
        _print(best)
    if best.status != "optimal":
        raise typer.Exit(_NOT_CERTIFIED)


def _data(best: Benchmark | KnapsackBenchmark) -> dict[str, Any]:
    return {
        "status": best.status,
        "value": best.value,
        "dual_value": best.dual_value,
        "gap": best.gap,
        "tolerance": best.tolerance,
        "residual": best.residual,
        "outcomes": best.outcomes.tolist(),
        "theta": best.theta.tolist(),
        "prices": (-best.theta).tolist(),
        "gain": best.gain,
        "occupancy": best.occupancy.tolist(),
        "solver": best.solver,
        "seconds": best.seconds,
    }


def _print(best: Benchmark | KnapsackBenchmark) -> None:
    console = Console(highlight=False)
    console.print(f"status   {best.status}", markup=False)
    console.print(f"optimum  {best.value:.9g}   from above {best.dual_value:.9g}, gap {best.gap:.1e}")
    console.print(f"solver   {best.solver}, {best.seconds:.2f} s; flow residual {best.residual:.1e}\n")
    table = Table(box=None, padding=(0, 3, 0, 0), header_style="dim")
    for column in ("outcome", "average", "worth of a little more"):
        table.add_column(column, justify="right")
    for k, (average, theta) in enumerate(zip(best.outcomes, best.theta, strict=True)):
        table.add_row(str(k), f"{average:.6f}", f"{-theta:.6g}")
    console.print(table)
