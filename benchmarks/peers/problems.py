"""The problems of the race, as plain numbers in a JSON file that any environment can read.

Each has dense transitions [S][A][S], mean rewards [S][A] (drawn 0 or 1), a start state, and the best gain that a
policy can have, which is the certified optimum of the offline program.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

import equipoise as eq

PROBLEMS: Final[dict[str, Callable[[], eq.Model]]] = {
    "riverswim-6": lambda: eq.models.riverswim(6),
    "riverswim-20": lambda: eq.models.riverswim(20),
    "riverswim-50": lambda: eq.models.riverswim(50),
    "garnet-10": lambda: eq.models.garnet(10, 3, 4, n_outcomes=1, seed=1),
}


def described(name: str) -> dict[str, Any]:
    """One problem in numbers."""
    model = PROBLEMS[name]()
    shape = (model.n_states, model.n_actions[0])
    if set(model.n_actions) != {shape[1]} or model.n_outcomes != 1 or model.noise != "bernoulli":
        raise ValueError(f"{name}: the peers need one outcome, drawn 0 or 1, and as many actions in every state")
    best = eq.solve(model, eq.rewards.Linear([1.0]))
    return {
        "name": name,
        "transitions": model.transitions().toarray().reshape(*shape, model.n_states).tolist(),
        "rewards": model.means.reshape(shape).tolist(),
        "start": model.space.start,
        "gain": best.value,
    }


def write(path: Path, names: Sequence[str]) -> None:
    """Write the named problems to `path`."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps([described(name) for name in names]))
