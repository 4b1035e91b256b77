"""`equipoise describe`: what a world is like, and what a reward asks of it."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from equipoise.cli import options
from equipoise.models.labels import Label, text
from equipoise.models.laws.validate import true_laws
from equipoise.models.model import Model
from equipoise.oracles.choice import fitting_oracle
from equipoise.rewards.base import Reward
from equipoise.studies.vocabulary import make_reward, make_world

_LISTED = 8  # labels that are printed


def describe(
    study: options.Source = None,
    problem: options.Which = None,
    world: options.World = None,
    reward: options.Reward = None,
    as_json: options.Json = False,
    modules: options.With = [],  # noqa: ARG001, B006 - allowed by its callback
) -> None:
    """Describe a problem or a world: what the guarantees depend on.

    States, pairs, outcomes, and what they are called; whether it is communicating; the diameter D (the longest travel
    between two states, by the best policy for it); Gamma, the most successors of a pair. Of mechanics: each law that
    is to be learnt, with its values and their probabilities in this world. Of a reward: its norm, its Lipschitz
    constant L, its smoothness, and the oracle that fits it.

    Prints a line for each, and writes no files.

        equipoise describe --world '{kind = "riverswim", n = 20}'
        equipoise describe --world '{mechanics = "inventory", capacity = 20}'
        equipoise describe studies/kpis.toml --problem queue --json

    Exit codes: 0, or 1 if the problem is wrong.
    """
    goal: Any = None
    if study is None and world is not None and reward is None:
        description, place = options.parse_part(world, "--world"), "--"
    else:
        given, place = options.read_problem(study, problem, world, reward)
        description, goal = given.world, given.reward
    model = make_world(description, f"{place}world", None if study is None else study.parent)
    data = _world(model) | ({} if goal is None else _reward(make_reward(goal, model, f"{place}reward")))
    if as_json:
        typer.echo(json.dumps(data, indent=1))
        return
    table = Table(box=None, show_header=False, padding=(0, 3, 0, 0))
    for name, law in data.pop("laws", {}).items():
        shown = [f"{value}: {'never comes into play' if p is None else f'{p:.4g}'}" for value, p in law.items()]
        more = f"; {len(shown) - _LISTED} more" if len(shown) > _LISTED else ""
        data[f"law {name}"] = "; ".join(shown[:_LISTED]) + more
    for name, value in data.items():
        table.add_row(escape(name), f"{value:.6g}" if isinstance(value, float) else escape(str(value)))
    Console(highlight=False).print(table)


def _world(model: Model) -> dict[str, Any]:
    actions = model.n_actions
    return {
        "states": model.n_states,
        "pairs": model.n_pairs,
        "actions": f"{min(actions)} to {max(actions)}" if min(actions) < max(actions) else int(min(actions)),
        "outcomes": model.n_outcomes,
        "start": model.start,
        **_labels(model),
        "noise": model.noise,
        "communicating": model.is_communicating(),
        "diameter": float(model.diameter()) if model.is_communicating() else "infinite",
        "gamma": int(model.max_successors),
        **_laws(model),
    }


def _laws(model: Model) -> dict[str, Any]:
    """The laws that an agent is to learn which is told the mechanics, with the truth; nothing for a plain table."""
    if model.laws is None:
        return {}
    learnt = zip(model.laws.names, model.laws.values, true_laws(model), strict=True)
    laws = {name: dict(zip(map(text, values), law.tolist(), strict=True)) for name, values, law in learnt}
    return {"laws": {name: {v: p if p == p else None for v, p in law.items()} for name, law in laws.items()}}


def _labels(model: Model) -> dict[str, Any]:
    """What the start, some states, the actions and the outcomes are called, as far as they have labels."""
    labels = model.labels
    names: dict[str, Any] = {}
    if labels.states is not None:
        names |= {"start label": text(labels.state(model.start)), "state labels": _join_labels(labels.states)}
    if labels.actions is not None:
        rows = ([labels.action(s, a) for a in range(count)] for s, count in enumerate(model.n_actions))
        names["action labels"] = _join_labels(list(dict.fromkeys(label for row in rows for label in row)))
    if labels.outcomes is not None:
        names["outcome labels"] = _join_labels(labels.outcomes)
    return names


def _join_labels(labels: Sequence[Label]) -> str:
    more = f" and {len(labels) - _LISTED} more" if len(labels) > _LISTED else ""
    return "; ".join(text(label) for label in labels[:_LISTED]) + more


def _reward(reward: Reward) -> dict[str, Any]:
    return {
        "reward": repr(reward),
        "norm": "inf" if math.isinf(reward.norm) else reward.norm,
        "lipschitz": reward.lipschitz,
        "smoothness": reward.smoothness,
        "oracle": repr(fitting_oracle(reward)),
    }
