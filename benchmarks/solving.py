"""Solving and planning with the model known, from small to large: writes the measured part of docs/performance.md.

`python -m benchmarks.solving` measures up to 10^5 states in some minutes; `--largest 1e6` goes on to a million, which
takes about 4 GB, and `--program 1e4` gives programs up to so many states, which takes minutes. Times are those of the
processor, so that other work on the machine does not count.
"""

from __future__ import annotations

import argparse
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final, TypeVar

import numpy as np

import equipoise as eq
from equipoise._files import write_bytes
from equipoise.planning import Planner

ROOT: Final = Path(__file__).parent.parent
PAGE: Final = ROOT / "docs" / "performance.md"
MARK: Final = "<!-- measured -->"
ACTIONS, SUCCESSORS, OUTCOMES = 4, 5, 3
SMOOTH: Final = eq.rewards.Quadratic([0.5, 0.7, 0.9])
EDGED_UP_TO: Final = 100_000  # states
EDGED: Final = eq.rewards.BottomSum(3, 1)

_T = TypeVar("_T")


def timed(run: Callable[[], _T]) -> tuple[float, _T]:
    """Seconds of the processor, and the answer."""
    began = time.process_time()
    answer = run()
    return time.process_time() - began, answer


def warm_up() -> None:
    """Compile and import what all measurements share."""
    small = eq.models.garnet(60, ACTIONS, SUCCESSORS, OUTCOMES, seed=0)
    for method in ("columns", "program"):
        for reward in (SMOOTH, EDGED):
            eq.solve(small, reward, method=method)


def solved(model: eq.Model, reward: eq.rewards.Reward, method: str | None) -> tuple[float, eq.Benchmark]:
    """Solve, and insist on a certified answer."""
    seconds, best = timed(lambda: eq.solve(model, reward, method=method, progress=False))
    if best.status != "optimal":
        raise SystemExit(f"{model} with {reward} by {method}: {best.status}")
    return seconds, best


def random_world(n_states: int, n_outcomes: int = OUTCOMES) -> eq.Model:
    """A Garnet: chains forget where they began within some ten steps."""
    return eq.models.garnet(n_states, ACTIONS, SUCCESSORS, n_outcomes, seed=1)


def slow_worlds() -> dict[str, tuple[eq.Model, eq.rewards.Reward]]:
    """Worlds in which chains take hundreds of steps to forget."""
    corners = [(0, 29), (29, 0), (29, 29)]
    return {
        "riverswim(1000)": (eq.models.riverswim(1000), eq.rewards.Linear([1.0])),
        "star(3, 400), smooth": (eq.models.star(3, 400), SMOOTH),
        "star(3, 400), edges": (eq.models.star(3, 400), EDGED),
        "queue of one class, room for 1000": (
            eq.models.queue(arrivals=[0.5], service=[0.6], room=1000),
            eq.rewards.Quadratic([0.9]),
        ),
        "queue of two classes, room for 30": (eq.models.queue(room=30), eq.rewards.Quadratic([0.5, 0.9])),
        "grid of 30 x 30, three goals": (eq.models.grid(30, 30, goals=corners), SMOOTH),
    }


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table with numbers to the right."""
    lines = [" | ".join(head), " | ".join(["---"] + ["---:"] * (len(head) - 1)), *(" | ".join(row) for row in rows)]
    text = "\n".join(f"| {line} |" for line in lines)
    print(text, flush=True)  # should a later measurement fail, this one is not lost
    return text


def short(seconds: float) -> str:
    """Seconds in three digits."""
    return f"{seconds:.3g}"


def growth(largest: int, program: int) -> str:
    """Both ways as the number of states grows."""
    rows = []
    for n_states in [n for n in (100, 300, 1000, 2000, 3000, 5000, 10_000, 100_000, 1_000_000) if n <= largest]:
        model = random_world(n_states)
        row = [f"{n_states:,}"]
        for reward in (SMOOTH, EDGED):
            if reward is EDGED and n_states > EDGED_UP_TO:
                row += ["", "", ""]
                continue
            seconds, best = solved(model, reward, "columns")
            row += [short(seconds), f"{best.gap:.0e}"]
            limit = program if reward is SMOOTH else min(program, 2000)  # the simplex method takes minutes beyond
            row.append(short(solved(model, reward, "program")[0]) if n_states <= limit else "")
        rows.append([*row, f"{most_memory():.1f}"])
        print(rows[-1], flush=True)
    head = ["S", "smooth: columns, s", "gap", "program, s", "edges: columns, s", "gap", "program, s", "memory, GB"]
    return table(head, rows)


def outcomes() -> str:
    """Columns as the number of outcomes grows, in a random world of 2,000 states."""
    rows = []
    for n_outcomes in (1, 3, 10, 20):
        model, target = random_world(2000, n_outcomes), np.linspace(0.5, 0.9, n_outcomes)
        smooth, _ = solved(model, eq.rewards.Quadratic(target), "columns")
        edged, _ = solved(model, eq.rewards.BottomSum(n_outcomes, max(1, n_outcomes // 2)), "columns")
        rows.append([str(n_outcomes), short(smooth), short(edged)])
    return table(["K", "smooth, s", "edges, s"], rows)


def slowly_mixing() -> tuple[str, float]:
    """Both ways, and the one that is chosen, where chains mix slowly; and the worst ratio to the better one."""
    rows, worst = [], 0.0
    for name, (model, reward) in slow_worlds().items():
        solved(model, reward, None)
        best = {
            method: min(solved(model, reward, method)[0] for _ in range(3)) for method in ("columns", "program", None)
        }
        chosen = solved(model, reward, None)[1].method
        ratio = best[None] / min(best["columns"], best["program"])
        worst = max(worst, ratio)
        times = [short(best[method]) for method in ("columns", "program")]
        rows.append([name, f"{model.n_states:,}", *times, chosen, f"{ratio:.2f}"])
    return table(["world", "S", "columns, s", "program, s", "chosen", "its time over the better"], rows), worst


def building(largest: int) -> str:
    """Making, writing, reading and checking large models."""
    rows = []
    for n_states in [n for n in (10_000, 100_000, 1_000_000) if n <= largest]:
        made, model = timed(lambda n=n_states: random_world(n))  # type: ignore[misc]
        transitions, first, means = model.transitions(), model.first_pair, model.means
        built, _ = timed(lambda: eq.Model.from_sparse(first, transitions, means))  # noqa: B023
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "model"
            written, _ = timed(lambda: model.save(file))  # noqa: B023
            read, _ = timed(lambda: eq.Model.load(file))  # noqa: B023
        checked, communicating = timed(model.is_communicating)
        assert communicating
        cells = [made, built, written, read, checked]
        rows.append([f"{n_states:,}", f"{model.transition_state.size:,}", *(short(cell) for cell in cells)])
    return table(["S", "transitions", "garnet, s", "from_sparse, s", "save, s", "load, s", "communicating, s"], rows)


def exact_plans(planner: Planner, steps: int) -> tuple[float, int]:
    """A known star, a plan to 1e-9 at every step: seconds and sweeps."""
    model = eq.models.star(branches=3, diameter=4)
    known = eq.confidence.Known(model)
    reward = eq.rewards.Quadratic([4 / 3] * 3)
    agent = eq.TocUCRL2(model.space, reward, threshold=0.0, confidence=known, tolerance=1e-9, planner=planner)
    seconds, run = timed(lambda: eq.simulate(model, agent, steps, seed=0, progress=False))
    return seconds, int(run.episodes["sweeps"].sum())


def leaping(steps: Sequence[int]) -> str:
    """Exact plans at every step, with leaps and without."""
    planners = {
        "`Planner()`": Planner(),
        "`Planner(warm_start=True)`": Planner(warm_start=True),
        "`Planner(leaps=True)`": Planner(leaps=True),
        "`Planner(leaps=True, warm_start=True)`": Planner(leaps=True, warm_start=True),
    }
    rows = []
    for name, planner in planners.items():
        exact_plans(planner, 10)
        cells = []
        for count in steps:
            if planner.leaps or count <= steps[0]:
                seconds, swept = exact_plans(planner, count)
                cells += [short(seconds), f"{swept / count:,.0f}"]
            else:
                cells += ["", ""]
        rows.append([name, *cells])
    return table(["planner", *(f"{count:,} steps: {what}" for count in steps for what in ("s", "sweeps a plan"))], rows)


def most_memory() -> float:
    """The most that this process ever held, in GB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def measured(largest: int, program: int) -> str:
    """The measured part of the page."""
    slow, _ = slowly_mixing()
    return "\n".join(
        [
            MARK,
            "`python -m benchmarks.solving` measures all numbers below: seconds of the processor, one thread, Python "
            f"{sys.version.split()[0]}, after everything was compiled.\n",
            "**Random worlds** with 4 actions, 5 successors and 3 outcomes: `Quadratic` (smooth) and `BottomSum` (with "
            "edges), tolerance 1e-6. Gaps are certified; memory is the most that the process ever held.\n",
            growth(largest, program),
            "\n**Outcomes**, by columns, in a random world of 2,000 states:\n",
            outcomes(),
            "\n**Slowly mixing worlds**, the best of three:\n",
            slow,
            "\n**Building**:\n",
            building(largest),
            "\n**Exact plans at every step** of a known star (Q = 0, tolerance 1e-9):\n",
            leaping([1000, 10_000]),
            "",
        ]
    )


def report() -> list[tuple[str, str, str]]:
    """Rows of the table of `make bench`: what, measured, asked."""
    warm_up()
    model = random_world(2000)
    rows = []
    for reward, name, asked in ((SMOOTH, "smooth", ">= 20"), (EDGED, "with edges", ">= 50")):
        columns = min(solved(model, reward, "columns")[0] for _ in range(3))
        program, _ = solved(model, reward, "program")
        ratio = f"{program / columns:.0f}  ({program:.1f} s and {columns:.2f} s)"
        rows.append((f"solve, random world, S=2000, g {name}: program over columns", ratio, asked))
    _, worst = slowly_mixing()
    rows.append(("solve, slowly mixing: the chosen way over the better", f"{worst:.2f}", "<= 1.5"))
    for planner in (Planner(), Planner(leaps=True)):
        exact_plans(planner, 10)
    plain, leaps = exact_plans(Planner(), 1000)[0], exact_plans(Planner(leaps=True), 1000)[0]
    rows.append(("exact plans at every step, 1000 steps: plain over leaping", f"{plain / leaps:.0f}", ">= 10"))
    return rows


def main() -> None:
    """Measure, and write the page."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.solving", description=__doc__.splitlines()[0])
    parser.add_argument("--largest", type=float, default=1e5, help="states, at most")
    parser.add_argument("--program", type=float, default=3000, help="states up to which programs are measured")
    parser.add_argument("--out", type=Path, default=PAGE, help="the page to write")
    chosen = parser.parse_args()
    warm_up()
    prose = PAGE.read_text(encoding="utf-8").partition(MARK)[0].rstrip() + "\n\n"
    write_bytes(chosen.out, (prose + measured(int(chosen.largest), int(chosen.program))).encode())


if __name__ == "__main__":
    main()
