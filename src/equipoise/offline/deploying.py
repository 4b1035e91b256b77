"""A policy as a file that a person or another program can follow: what to do where, with what probability.

The file says two things more that whoever deploys it should know. One stationary policy may not do: where the optimum
splits its time between several recurrent classes, a policy that is followed for ever ends in one of them. And in a
state that the optimum never visits, any action is as good as another to it, so that the probabilities there are even.
"""

from __future__ import annotations

import io
import json
import os
from pathlib import Path
from typing import Final

import numpy as np
import polars

from equipoise import _files
from equipoise._types import Vector
from equipoise.errors import FileError
from equipoise.models.model import Model
from equipoise.offline.chains import long_run
from equipoise.offline.occupancy import occupancy_frame

_NEVER: Final = 1e-9  # a share of the time that is a solver's rounding
_TRACE: Final = 1e-6  # a probability that is a solver's rounding
_SUFFIXES: Final = (".parquet", ".csv", ".json")


def policy_frame(model: Model, policy: Vector, occupancy: Vector) -> polars.DataFrame:
    """A policy as a table, one row a pair: state, action, probability, and whether the optimum visits the state.

    Parameters
    ----------
    model : Model
        Whose labels are used.
    policy : array
        The probability of each pair's action in its state.
    occupancy : array
        How often each pair occurs at the optimum.
    """
    policy = _without_rounding(model, policy)
    shares = np.bincount(model.state_of, occupancy, minlength=model.n_states)[model.state_of]
    table = occupancy_frame(model, occupancy).select("state", "action")
    return table.with_columns(probability=polars.Series(policy), visited=polars.Series(shares > _NEVER))


def caution(model: Model, policy: Vector) -> str:
    """Why following this policy for ever may not do; empty if it does.

    Parameters
    ----------
    model : Model
        The world.
    policy : array
        The probability of each pair's action in its state.

    Examples
    --------
    >>> from equipoise.models import star
    >>> from equipoise.offline.benchmark import solve
    >>> from equipoise.rewards import Balance
    >>> best = solve(star(branches=2, diameter=2), Balance([0.5, 0.5]))
    >>> caution(best.model, best.policy())
    'followed for ever it ends in one of 2 recurrent classes and stays there; the optimum divides its time between them'
    """
    classes = len(long_run(model, _without_rounding(model, policy)))
    if classes < 2:
        return ""
    return (
        f"followed for ever it ends in one of {classes} recurrent classes and stays there; the optimum divides its"
        " time between them"
    )


def _without_rounding(model: Model, policy: Vector) -> Vector:
    """The same policy without the traces that a solver leaves of actions it does not take."""
    kept = np.where(policy < _TRACE, 0.0, policy)
    return np.asarray(kept / np.add.reduceat(kept, model.first_pair[:-1])[model.state_of])


def write_policy(path: str | os.PathLike[str], model: Model, policy: Vector, occupancy: Vector) -> Path:
    """Write a policy as Parquet, CSV or JSON, by the ending of the path, atomically.

    Parameters
    ----------
    path : path
        The file.
    model, policy, occupancy
        As for `policy_frame`. A JSON file also holds the `caution`, if there is one.
    """
    target = Path(path)
    frame = policy_frame(model, policy, occupancy)
    if target.suffix not in _SUFFIXES:
        raise FileError(f"{target}: a policy is written as {', '.join(_SUFFIXES)}; the ending says which")
    if target.suffix == ".json":
        content = {"caution": caution(model, policy), "policy": frame.to_dicts()}
        _files.write_bytes(target, (json.dumps(content, indent=1, ensure_ascii=False) + "\n").encode())
    elif target.suffix == ".csv":
        _files.write_bytes(target, frame.write_csv().encode())
    else:
        buffer = io.BytesIO()
        frame.write_parquet(buffer)
        _files.write_bytes(target, buffer.getvalue())
    return target
