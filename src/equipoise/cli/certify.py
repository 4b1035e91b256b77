"""`equipoise certify`: what a log proves."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape

from equipoise.agents import Certificate
from equipoise.cli import options
from equipoise.errors import StudyError
from equipoise.models.estimated_model import infer_space
from equipoise.studies.vocabulary import make_reward, make_world
from equipoise.theory.log_certificate import certify as certify_log

_LISTED = 8  # sources of slack that are printed


def certify(
    log: Annotated[Path, typer.Argument(help="A Parquet or CSV file.", metavar="LOG")],
    reward: options.NeededReward,
    world: options.World = None,
    delta: Annotated[float, typer.Option(help="It holds with probability 1 - DELTA.", metavar="DELTA")] = 0.05,
    effort: Annotated[int, typer.Option(help="Plans to spend on it at most.", metavar="N", min=0)] = 20,
    as_json: options.Json = False,
    modules: options.With = [],  # noqa: ARG001, B006 - allowed by its callback
) -> None:
    """Say from a log alone how good any policy could be.

    The log has one row a step, whoever decided on it: the columns state, action, next_state, and one for each outcome,
    which lie in [0, 1]. States and actions are those that occur in it, and every other column of numbers but t is an
    outcome; or they are those of a --world, by their labels or numbers. Rows that cannot have happened are refused with
    their numbers.

    Prints what was achieved, what no policy can exceed (with probability 1 - DELTA), what a little more of each outcome
    would be worth, and where the slack comes from: the states and actions of which more data would help most. For a
    Constrained reward it also prints what was reached of each constraint, and the constraints that are proven to be in
    conflict. Writes no files.

        equipoise certify log.csv --reward '{kind = "BottomSum", kappa = 1}'
        equipoise certify log.csv --reward '{kind = "Linear", weights = [1]}' --json

    Exit codes: 0, or 1 if the log or the reward is wrong.
    """
    space = infer_space(log) if world is None else make_world(options.parse_part(world, "--world"), "--world").space
    goal = make_reward(options.parse_part(reward, "--reward"), space, "--reward")
    if goal.n_outcomes != space.n_outcomes:
        raise StudyError(f"--reward: it takes {goal.n_outcomes} outcomes; the log has {space.outcome_names()}")
    certificate = certify_log(space, goal, log, delta, effort=effort)
    if not as_json:
        _print(certificate)
        return
    names = ("best_possible", "achieved", "regret_at_most", "probability", "loose")
    data = {"rows": certificate.t} | {name: getattr(certificate, name) for name in names}
    data |= {"theta": certificate.theta.tolist(), "prices": certificate.prices, "slack": certificate.slack.to_dicts()}
    data["constraints"] = [{**one._asdict(), "impossible": one.impossible} for one in certificate.constraints]
    data["conflict"] = list(certificate.conflict)
    typer.echo(json.dumps(data, indent=1))


def _print(certificate: Certificate) -> None:
    console = Console(highlight=False)
    console.print(f"achieved       {certificate.achieved:.6g}   in {certificate.t:,} steps", markup=False)
    sure = f"with probability {certificate.probability:g}" if certificate.probability < 1 else "for certain"
    console.print(f"best possible  {certificate.best_possible:.6g}   at most, {sure}", markup=False)
    console.print(f"lost           {certificate.regret_at_most:.3g}   at most\n", markup=False)
    if certificate.loose:
        loose = f"The plan ran out of sweeps: {certificate.loose:.2g} of that may be the planner's.\n"
        console.print(loose, markup=False)
    _print_constraints(console, certificate)
    prices = options.make_table(("outcome", "left"), ("worth of a little more", "right"))
    for name, price in certificate.prices.items():
        prices.add_row(escape(name), f"{price:.6g}")
    console.print(prices)
    slack = certificate.slack
    if not slack.height:
        return
    shown = f", {_LISTED} of {slack.height}" if slack.height > _LISTED else ""
    console.print(f"\nMore data would lower the bound most here{shown}:\n", markup=False)
    table = options.make_table(
        ("state", "left"), ("action", "left"), ("about", "left"), ("visits", "right"), ("adds", "right")
    )
    for row in slack.head(_LISTED).iter_rows(named=True):
        numbers = (f"{row['visits']:,}", f"{row['adds']:.3g}")
        table.add_row(escape(str(row["state"])), escape(str(row["action"])), escape(row["source"]), *numbers)
    console.print(table)


def _print_constraints(console: Console, certificate: Certificate) -> None:
    """One row per constraint, and a sentence for those that are in conflict."""
    if not certificate.constraints:
        return
    numbers_shown = ("level", "reached", "violation", "best possible")
    table = options.make_table(("constraint", "left"), *((name, "right") for name in numbers_shown))
    for one in certificate.constraints:
        numbers = (one.level, one.reached, one.violation, one.best_possible)
        table.add_row(escape(one.name), *(f"{number:.6g}" for number in numbers))
    console.print(table)
    if certificate.conflict:
        listed = " and ".join(repr(name) for name in certificate.conflict)
        together = " together" if len(certificate.conflict) > 1 else ""
        console.print(f"No policy meets {listed}{together}.", markup=False)
    console.print()
