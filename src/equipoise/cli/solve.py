"""`equipoise solve`: the offline optimum, with its certificate and its prices."""

from __future__ import annotations

import json
from typing import Any

import typer
from rich.console import Console
from rich.markup import escape

from equipoise.cli import options
from equipoise.cli.codes import Code
from equipoise.cli.options import make_table
from equipoise.offline import Benchmark, Conflict, KnapsackBenchmark, solve_knapsack
from equipoise.offline import solve as solve_program
from equipoise.rewards.penalties import Knapsack
from equipoise.studies.vocabulary import make_reward, make_world

_LISTED = 12  # pairs that are printed
_NEVER = 1e-6  # a share of the time that is a solver's rounding


def solve(
    study: options.Source = None,
    problem: options.Which = None,
    world: options.World = None,
    reward: options.Reward = None,
    as_json: options.Json = False,
    modules: options.With = [],  # noqa: ARG001, B006 - allowed by its callback
) -> None:
    """Solve a problem as if its world were known, with a certificate.

    Prints the optimum opt(P_M) with the bounds on both sides of it, the average outcomes that attain it, and what a
    little more of each outcome would be worth there (-theta*, the shadow prices); then what is done most often, state
    and action by their labels. The bounds are recomputed without the solver; if they do not meet, the status says so.

    With constraints, prints for each what easing it by a little is worth (its multiplier) and what it lacks; or, if
    they cannot be met, those in conflict and by how much they would have to give.

    Writes no files. The problem is one of a study, or is given by --world and --reward:

        equipoise solve studies/kpis.toml --problem queue
        equipoise solve --world star --reward '{kind = "BottomSum", kappa = 1}'

    Exit codes: 0 if the optimum is certified, 1 if the problem is wrong, 3 if the bounds do not meet or constraints are
    in conflict.
    """
    given, place = options.read_problem(study, problem, world, reward)
    model = make_world(given.world, f"{place}world", None if study is None else study.parent)
    goal = make_reward(given.reward, model, f"{place}reward")
    best = solve_knapsack(model, goal.budget) if isinstance(goal, Knapsack) else solve_program(model, goal)
    if as_json:
        typer.echo(json.dumps(_data(best), indent=1))
    else:
        _print(best)
    if best.status != "optimal":
        raise typer.Exit(Code.NOT_WELL)


def _data(best: Benchmark | KnapsackBenchmark) -> dict[str, Any]:
    frame, labels = best.frame(), best.model.labels
    data: dict[str, Any] = {
        "status": best.status,
        "value": best.value,
        "dual_value": best.dual_value,
        "gap": best.gap,
        "tolerance": best.tolerance,
        "residual": best.residual,
        "outcomes": best.outcomes.tolist(),
        "outcome_names": None if labels.outcomes is None else list(labels.outcomes),
        "theta": best.theta.tolist(),
        "prices": (-best.theta).tolist(),
        "gain": best.gain,
        "occupancy": best.occupancy.tolist(),
        "states": frame["state"].to_list(),
        "actions": frame["action"].to_list(),
        "solver": best.solver,
        "seconds": best.seconds,
    }
    if isinstance(best, Benchmark) and best.multipliers:
        data |= {"multipliers": best.multipliers, "violations": best.violations}
        if (found := best.conflict) is not None:
            conflict = {"constraints": list(found.names), "short_by": found.short_by, "each_alone": found.each_alone}
            data |= {"conflict": conflict, "value": None, "dual_value": None, "gap": None}  # JSON has no NaN
    return data


def _print(best: Benchmark | KnapsackBenchmark) -> None:
    console = Console(highlight=False)
    console.print(f"status   {best.status}", markup=False)
    if isinstance(best, Benchmark) and best.conflict is not None:
        _print_conflict(best, best.conflict, console)
        return
    console.print(f"optimum  {best.value:.9g}   from above {best.dual_value:.9g}, gap {best.gap:.1e}")
    console.print(f"solver   {best.solver}, {best.seconds:.2f} s; flow residual {best.residual:.1e}\n")
    table = make_table(("outcome", "left"), ("average", "right"), ("worth of a little more", "right"))
    for k, (average, theta) in enumerate(zip(best.outcomes, best.theta, strict=True)):
        table.add_row(escape(best.model.labels.outcome(k)), f"{average:.6f}", f"{-theta:.6g}")
    console.print(table)
    if isinstance(best, Benchmark) and best.multipliers:
        console.print()
        table = make_table(("constraint", "left"), ("worth of easing it a little", "right"), ("violated by", "right"))
        for name, multiplier in best.multipliers.items():
            table.add_row(escape(name), f"{multiplier:.6g}", f"{best.violations[name]:.1e}")
        console.print(table)
    frame = best.frame().sort("occupancy", descending=True, maintain_order=True)
    visited = frame.filter(frame["occupancy"] > _NEVER)
    console.print(f"\nDone most often{f', {_LISTED} of {len(visited)} pairs' if len(visited) > _LISTED else ''}:\n")
    table = make_table(("state", "left"), ("action", "left"), ("share of time", "right"), ("probability", "right"))
    listed = visited.select("state", "action", "occupancy", "probability").head(_LISTED)
    for state, action, share, probability in listed.iter_rows():
        table.add_row(escape(str(state)), escape(str(action)), f"{share:.6f}", f"{probability:.4f}")
    console.print(table)


def _print_conflict(best: Benchmark, conflict: Conflict, console: Console) -> None:
    console.print(f"proven   {conflict}\n", markup=False, soft_wrap=True)
    table = make_table(
        ("constraint", "left"), ("must give, if it alone does", "right"), ("weight in the proof", "right")
    )
    for name, weight in conflict.multipliers.items():
        table.add_row(escape(name), f"{conflict.each_alone[name]:.6g}", f"{weight:.6g}")
    console.print(table)
    console.print("\nThe averages that come closest to meeting all constraints:\n")
    table = make_table(("outcome", "left"), ("average", "right"))
    for k, average in enumerate(best.outcomes):
        table.add_row(escape(best.model.labels.outcome(k)), f"{average:.6f}")
    console.print(table)
