"""The picture of the README: where agents are, step by step, on a star whose three loops need the same time.

`python -m benchmarks.balance` writes docs/images/balance.svg. A row is an agent; its colour at a place is the loop that
it was on at that time, and grey is the way between two loops. At the right are the shares of its time. The runs have
one seed and no noise, so that the same version makes the same file.
"""

from __future__ import annotations

import math
from itertools import pairwise
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

import equipoise as eq

PICTURE: Final = Path(__file__).parent.parent / "docs" / "images" / "balance.svg"
STEPS: Final = 3_000
BRANCHES: Final = 3
DISTANCE: Final = 4

# On a light ground and on a dark one alike; the loops have names beside, and are of different lightness.
COLOURS: Final = ("#bd6a0c", "#0c8578", "#6d5ae0")
NAMES: Final = ("A", "B", "C")
TRAVEL: Final = "#a4a8b0"
INK: Final = "#757a84"

# Where things are, in pixels.
WIDTH, TOP, PITCH, THICK = 900, 98, 40, 24
LEFT, LONG = 252, 420
RIGHT, SHARES = 696, 200


class Row(NamedTuple):
    """An agent's line: what it is called, and the loop of each step, -1 on the way."""

    title: str
    loops: NDArray[np.int64]


def rows() -> list[Row]:
    """The agents, from the one that changes its mind at every step to the one that learns."""
    model = eq.models.star(branches=BRANCHES, diameter=DISTANCE)
    reward = eq.rewards.Quadratic([1 + 1 / BRANCHES] * BRANCHES)
    thresholds = {"decides anew at every step": 0.0, "decides once": math.inf, "Equipoise, told the system": None}
    agents: dict[str, eq.Agent] = {
        title: eq.TocUCRL2(
            model.space,
            reward,
            threshold=threshold,
            confidence=eq.confidence.Known(model),
            tolerance=1e-9,
            planner=eq.planning.Planner(leaps=True),
        )
        for title, threshold in thresholds.items()
    }
    agents["Equipoise, learning it"] = eq.recommended(model.space, reward)
    return [Row(title, _loops(model, agent)) for title, agent in agents.items()]


def _loops(model: eq.Model, agent: eq.Agent) -> NDArray[np.int64]:
    """The outcome that each step brought; a step on the way brings none."""
    trace = eq.simulate(model, agent, STEPS, seed=7, trace=True, progress=False).trace
    assert trace is not None
    outcomes = trace.select(model.space.outcome_names()).to_numpy()
    return np.where(outcomes.any(axis=1), outcomes.argmax(axis=1), -1)


def drawn(lines: list[Row]) -> str:
    """The picture, as SVG."""
    height = TOP + PITCH * len(lines) + 8
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" '
        f'font-family="system-ui, sans-serif" font-size="15" fill="{INK}" role="img">',
        f"<title>{_alternative(lines)}</title>",
        *_world(),
        _text(LEFT, 82, f"where it is, over {STEPS:,} steps"),
        _text(RIGHT, 82, "shares of its time"),
    ]
    for i, row in enumerate(lines):
        y = TOP + PITCH * i
        weight = "bold" if row.title.startswith("Equipoise") else "normal"
        parts.append(_text(LEFT - 12, y + 17, row.title, anchor="end", weight=weight))
        parts += _strip(row.loops, y)
        parts += _shares(row.loops, y)
    return "\n".join([*parts, "</svg>"]) + "\n"


def _world() -> list[str]:
    """Three loops around a centre, with the sentence that says what is wanted."""
    cx, cy, arm = 36, 34, 22
    parts = []
    for k, colour in enumerate(COLOURS):
        angle = math.pi * (7 / 6 + 2 * k / 3)
        x, y = cx + arm * math.cos(angle), cy + arm * math.sin(angle)
        parts.append(f'<path d="M{cx} {cy}L{x:.1f} {y:.1f}" stroke="{TRAVEL}" stroke-width="3"/>')
        parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="9" fill="{colour}"/>')
        parts.append(_text(x, y + 4, NAMES[k], anchor="middle", weight="bold", size=11, fill="#fff"))
    sentence = f"Three places need the same time. From one to the next it takes {DISTANCE} steps, which bring nothing."
    return [*parts, _text(76, 30, sentence, size=17)]


def _strip(loops: NDArray[np.int64], y: int) -> list[str]:
    """A row of time: stretches in the colours of their loops, on grey."""
    scale = LONG / loops.size
    parts = [f'<rect x="{LEFT}" y="{y}" width="{LONG}" height="{THICK}" fill="{TRAVEL}"/>']
    edges = np.concatenate([[0], np.flatnonzero(np.diff(loops)) + 1, [loops.size]])
    for k, colour in enumerate(COLOURS):
        stretches = [(a, b) for a, b in pairwise(edges) if loops[a] == k]
        path = "".join(
            f"M{LEFT + a * scale:.1f} {y}h{(b - a) * scale:.2f}v{THICK}h-{(b - a) * scale:.2f}z" for a, b in stretches
        )
        if path:
            parts.append(f'<path d="{path}" fill="{colour}"/>')
    return parts


def _shares(loops: NDArray[np.int64], y: int) -> list[str]:
    """A bar of shares, those that are wide enough with their per cent."""
    parts, x = [], float(RIGHT)
    for k, colour in enumerate((*COLOURS, TRAVEL)):
        share = share_of(loops, k if k < BRANCHES else -1)
        parts.append(f'<rect x="{x:.1f}" y="{y}" width="{SHARES * share:.1f}" height="{THICK}" fill="{colour}"/>')
        if share > 0.12:
            ink = "#fff" if k < BRANCHES else "#1f2328"
            words = f"{share:.0%}" + (" on the way" if k == BRANCHES and share > 0.5 else "")
            parts.append(
                _text(x + SHARES * share / 2, y + 17, words, anchor="middle", size=13, weight="bold", fill=ink)
            )
        x += SHARES * share
    return parts


def share_of(loops: NDArray[np.int64], k: int) -> float:
    """Which part of the time was spent on loop k; -1: on the way."""
    return float(np.mean(loops == k))


def _alternative(lines: list[Row]) -> str:
    """What the picture shows, in words."""
    said = [f"{row.title}: {', '.join(f'{share_of(row.loops, k):.0%}' for k in range(BRANCHES))}" for row in lines]
    return "Shares of time at three places that need the same. " + "; ".join(said)


def _text(
    x: float, y: float, words: str, *, anchor: str = "start", weight: str = "normal", size: int = 15, fill: str = INK
) -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-weight="{weight}" font-size="{size}" fill="{fill}">'
        f"{words}</text>"
    )


def main() -> None:
    PICTURE.write_text(drawn(rows()), encoding="utf-8")


if __name__ == "__main__":
    main()
