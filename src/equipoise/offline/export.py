"""Occupancies and policies as tables and files: what to do where, with what probability, and how often.

A file of a policy says two things more that whoever follows it should know. One stationary policy may not attain the
optimum: where the optimum splits its time between several recurrent classes, a policy that is followed indefinitely
ends in one of them. And in a state that the optimum never visits any action is as good as another, so that the
probabilities there are even.
"""

from __future__ import annotations

import io
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from equipoise import _files
from equipoise._files import escape_formulas
from equipoise._types import Vector
from equipoise.errors import FileError
from equipoise.models.labels import as_column
from equipoise.models.model import Model
from equipoise.offline.chains import long_run, occupancy_policy

if TYPE_CHECKING:
    import polars

_SHOWN: Final = 6  # outcomes that a representation lists


def occupancy_frame(model: Model, occupancy: Vector) -> polars.DataFrame:
    """Return an occupancy as a table, one row per pair in their order."""
    import polars

    labels, states = model.labels, model.state_of.tolist()
    actions = [pair - int(model.first_pair[s]) for pair, s in enumerate(states)]
    table: dict[str, Any] = {
        "state": as_column([labels.state(s) for s in states]),
        "action": as_column([labels.action(s, a) for s, a in zip(states, actions, strict=True)]),
        "occupancy": occupancy,
        "probability": occupancy_policy(model, occupancy),
    }
    for k in range(model.n_outcomes):
        name = labels.name_outcome(k) if labels.outcomes is None or labels.outcome(k) in table else labels.outcome(k)
        table[name] = model.means[:, k]
    return polars.DataFrame(table)


def named_outcomes(model: Model, outcomes: Vector) -> str:
    """Write averages by the names of the outcomes, for a representation; nothing if they have none."""
    if model.labels.outcomes is None:
        return ""
    shown = [f"{name}={value:.4g}, " for name, value in zip(model.labels.outcomes, outcomes, strict=True)]
    return "".join(shown[:_SHOWN]) + ("..., " if len(shown) > _SHOWN else "")


_NEVER: Final = 1e-9  # a share of the time that is a solver's rounding
_TRACE: Final = 1e-6  # a probability that is a solver's rounding
_SUFFIXES: Final = (".parquet", ".csv", ".json")


def policy_frame(model: Model, policy: Vector, occupancy: Vector) -> polars.DataFrame:
    """A policy as a table, one row per pair: state, action, probability, and whether the optimum visits the state."""
    import polars

    policy = _without_rounding(model, policy)
    shares = np.bincount(model.state_of, occupancy, minlength=model.n_states)[model.state_of]
    table = occupancy_frame(model, occupancy).select("state", "action")
    return table.with_columns(probability=polars.Series(policy), visited=polars.Series(shares > _NEVER))


def caution(model: Model, policy: Vector) -> str:
    """Why following this policy indefinitely does not attain the optimum; empty if it does."""
    classes = len(long_run(model, _without_rounding(model, policy)))
    if classes < 2:
        return ""
    return (
        f"followed indefinitely, it ends in one of {classes} recurrent classes and stays there; the optimum divides its"
        " time between them (Benchmark.agent(space).save_policy writes a table of turns that does so)"
    )


def _without_rounding(model: Model, policy: Vector) -> Vector:
    """The same policy without the traces that a solver leaves of actions it does not take."""
    kept = np.where(policy < _TRACE, 0.0, policy)
    return np.asarray(kept / np.add.reduceat(kept, model.first_pair[:-1])[model.state_of])


def write_policy(path: str | os.PathLike[str], model: Model, policy: Vector, occupancy: Vector) -> Path:
    """Write a policy as Parquet, CSV or JSON, by the ending of the path, atomically."""
    frame = policy_frame(model, policy, occupancy)
    return write_table(path, frame, lambda: {"caution": caution(model, policy)})


def write_table(path: str | os.PathLike[str], frame: polars.DataFrame, remarks: Callable[[], dict[str, Any]]) -> Path:
    """Write a table under the name "policy", and in a JSON file some remarks before it, atomically."""
    target = Path(path)
    if target.suffix not in _SUFFIXES:
        raise FileError(f"{target}: a policy is written as {', '.join(_SUFFIXES)}; the ending says which")
    if target.suffix == ".json":
        content = {**remarks(), "policy": frame.to_dicts()}
        _files.write_bytes(target, (json.dumps(content, indent=1, ensure_ascii=False) + "\n").encode())
    elif target.suffix == ".csv":
        _files.write_bytes(target, escape_formulas(frame).write_csv().encode())
    else:
        buffer = io.BytesIO()
        frame.write_parquet(buffer)
        _files.write_bytes(target, buffer.getvalue())
    return target
