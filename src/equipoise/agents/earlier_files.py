"""Files that earlier versions of this package have written, in the words of today's.

Up to version 2 a file was named after the class of its agent and its header was flat: start, reward, and the agent's
arguments, with the parts among them as {"kind": ..., "arguments": {...}}. The clock and the total stood among the
agent's own arrays.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from equipoise._component import flattened

Saved = tuple[dict[str, Any], dict[str, NDArray[Any]]]

_VERSION: Final = 2
_CLASSES: Final = {
    "agent": "TocUCRL2",
    "knapsack-agent": "KnapsackAgent",
    "stationary-agent": "StationaryAgent",
    "round-robin-agent": "RoundRobin",
    "frank-wolfe-ucb-agent": "FrankWolfeUCB",
}
EARLIER: Final = {name: _VERSION for name in _CLASSES if name != "agent"}  # "agent" is today's name too


def todays(kind: str, saved: Saved) -> Saved:
    """A file of version 2 as one of today's.

    Parameters
    ----------
    kind : str
        What it says that it holds.
    saved : (header, arrays)
        Its content.
    """
    header, arrays = saved
    if kind == "agent":
        return _made_today(kind, header, arrays, arrays["memory.clock"][:3], arrays["memory.total"], _trees(arrays))
    if kind == "knapsack-agent":
        return _knapsack(header, arrays)
    memory: dict[str, Any] = {
        name.removeprefix("memory."): {"array": name}
        for name in arrays
        if name.startswith("memory.") and name not in ("memory.clock", "memory.total")
    }
    if "stream" in header:
        memory["stream"] = header["stream"]
    settings = {name: value for name, value in header.items() if name != "stream"}
    return _made_today(kind, settings, arrays, arrays["memory.clock"], arrays["memory.total"], memory)


def _made_today(
    kind: str,
    header: Mapping[str, Any],
    arrays: dict[str, NDArray[Any]],
    clock: NDArray[np.int64],
    total: NDArray[np.float64],
    memory: Mapping[str, Any],
) -> Saved:
    arguments = {name: flattened(value) for name, value in header.items() if name not in ("start", "reward")}
    today = {
        "start": header["start"],
        "reward": flattened(header["reward"]),
        "agent": {"kind": _CLASSES[kind], **arguments},
        "memory": memory,
    }
    return today, arrays | {"clock": clock.copy(), "total": total}


def _knapsack(header: Mapping[str, Any], arrays: dict[str, NDArray[Any]]) -> Saved:
    """The header was that of the inner agent; the mask of its space had null actions in it, the agent's own had not."""
    oracle = flattened(header["oracle"])
    own = {
        "start": header["start"],
        "reward": header["reward"],
        "budget": header["budget"],
        "horizon": oracle["horizon"],
        "null_actions": arrays["knapsack.null_actions"].tolist(),
        **{name: header[name] for name in ("delta", "confidence", "tolerance")},
    }
    arrays = arrays | {"space.known_mask": arrays["knapsack.known_mask"]}
    return _made_today("knapsack-agent", own, arrays, arrays["knapsack.clock"], arrays["memory.total"], _trees(arrays))


def _trees(arrays: Mapping[str, NDArray[Any]]) -> dict[str, dict[str, Any]]:
    """The memory of TOC-UCRL2: three groups of arrays."""
    return {
        group: {
            name.removeprefix(f"{group}."): {"array": name} for name in arrays if name.startswith(f"{group}.")
        }
        for group in ("counts", "memory", "episodes")
    }  # fmt: skip
