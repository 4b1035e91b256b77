"""Solving and planning with the model known, from small to large: writes the measured part of docs/performance.md.

`python -m benchmarks.solving` measures up to 10^5 states in some ten minutes; `--largest 1e6` goes on to a million,
which takes about 4 GB, and `--program 1e4` gives programs up to so many states, which takes minutes. Times are those of
the processor, so that other work on the machine does not count. The figure of slopes is written to docs/images.
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
from benchmarks.slopes import Timing, slope_table, slopes, write_figure
from equipoise._files import write_bytes
from equipoise.planning import Planner

ROOT: Final = Path(__file__).parent.parent
PAGE: Final = ROOT / "docs" / "performance.md"
MARK: Final = "<!-- measured -->"
ACTIONS, SUCCESSORS, OUTCOMES = 4, 5, 3
SMOOTH: Final = eq.rewards.Quadratic([0.5, 0.7, 0.9])
EDGED: Final = eq.rewards.BottomSum(3, 1)
SIMPLEX_UP_TO: Final = 2000  # states; the simplex method takes minutes beyond
LONG: Final = 20.0  # seconds: what takes longer is not measured at larger sizes
FIGURE: Final = "solving-slopes"

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
            eq.solve(small, floors(small, reward), method=method)
        eq.solve_knapsack(small, 0.45, method=method)


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
    star, queue = eq.models.star(3, 400), eq.models.queue(room=30)
    grid = eq.models.grid(30, 30, goals=[(0, 29), (29, 0), (29, 29)])
    at_least = eq.rewards.at_least
    return {
        "riverswim(1000)": (eq.models.riverswim(1000), eq.rewards.Linear([1.0])),
        "star(3, 400), smooth": (star, SMOOTH),
        "star(3, 400), edges": (star, EDGED),
        "queue of one class, room for 1000": (
            eq.models.queue(arrivals=[0.5], service=[0.6], room=1000),
            eq.rewards.Quadratic([0.9]),
        ),
        "queue of two classes, room for 30": (queue, eq.rewards.Quadratic([0.5, 0.9])),
        "grid of 30 x 30, three goals": (grid, SMOOTH),
        "grid of 30 x 30, edges": (grid, EDGED),
        "star(3, 400), two floors": (star, constrained(SMOOTH, at_least(1, 0.2, star), at_least(2, 0.3, star))),
        "queue of two classes, a floor": (queue, constrained(eq.rewards.Linear([1.0, 0.0]), at_least(1, 0.5, queue))),
        "grid of 30 x 30, two floors": (
            grid,
            constrained(eq.rewards.Linear([1.0, 0.0, 0.0]), at_least(1, 0.2, grid), at_least(2, 0.2, grid)),
        ),
        "grid of 30 x 30, smooth with a floor": (grid, constrained(SMOOTH, at_least(0, 0.4, grid))),
    }


def constrained(reward: eq.rewards.Reward, *limits: eq.rewards.Constraint) -> eq.rewards.Constrained:
    """A reward with constraints; `solve` has no use for the price."""
    return eq.rewards.Constrained(reward, limits, price=1.0)


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
            seconds, best = solved(model, reward, "columns")
            row += [short(seconds), f"{best.gap:.0e}"]
            limit = program if reward is SMOOTH else min(program, SIMPLEX_UP_TO)
            row.append(short(solved(model, reward, "program")[0]) if n_states <= limit else "")
        rows.append([*row, f"{most_memory():.1f}"])
        print(rows[-1], flush=True)
    head = ["S", "smooth: columns, s", "gap", "program, s", "edges: columns, s", "gap", "program, s", "memory, GB"]
    return table(head, rows)


def floors(model: eq.Model, reward: eq.rewards.Reward) -> eq.rewards.Constrained:
    """Two constraints of averages, one of them binding."""
    limits = [eq.rewards.at_least(1, 0.6, model, "much"), eq.rewards.at_most(2, 0.45, model, "little")]
    return eq.rewards.Constrained(reward, limits, price=1.0)


def too_much(model: eq.Model) -> eq.rewards.Constrained:
    """Floors that no policy reaches together, and one that is easy."""
    limits = [eq.rewards.at_least(k, 0.72, model) for k in range(3)] + [eq.rewards.at_least(0, 0.1, model, "easy")]
    return eq.rewards.Constrained(eq.rewards.Linear([1.0, 0.0, 0.0]), limits, price=1.0)


def budgeted(model: eq.Model, method: str | None) -> tuple[float, eq.offline.KnapsackBenchmark]:
    """Two budgets of .45, of which policies without a care use .5."""
    seconds, best = timed(lambda: eq.solve_knapsack(model, 0.45, method=method, progress=False))
    if best.status != "optimal":
        raise SystemExit(f"{model} with budgets by {method}: {best.status}")
    return seconds, best


def refuted(model: eq.Model, method: str | None) -> float:
    """Seconds until a conflict of constraints is proven."""
    seconds, best = timed(lambda: eq.solve(model, too_much(model), method=method, progress=False))
    if best.conflict is None or "easy" in best.conflict.names:
        raise SystemExit(f"{model} by {method}: {best.status}")
    return seconds


def constraints(largest: int, program: int) -> str:
    """Constraints, budgets and conflicts as the number of states grows."""
    rows = []
    for n_states in [n for n in (100, 300, 1000, 2000, 10_000, 100_000, 1_000_000) if n <= largest]:
        model, row = random_world(n_states), [f"{n_states:,}"]
        small = n_states <= min(program, SIMPLEX_UP_TO)
        for reward in (SMOOTH, EDGED):
            seconds, best = solved(model, floors(model, reward), "columns")
            row += [short(seconds), f"{best.gap:.0e}"]
            row.append(short(solved(model, floors(model, reward), "program")[0]) if small else "")
        row.append(short(budgeted(model, "columns")[0]))
        row.append(short(budgeted(model, "program")[0]) if small else "")
        row.append(short(refuted(model, "columns")))
        row.append(short(refuted(model, "program")) if small else "")
        rows.append(row)
        print(rows[-1], flush=True)
    head = ["S", *(f"{what}{cell}" for what in ("smooth: ", "edges: ") for cell in ("columns, s", "gap", "program, s"))]
    head += [f"{what}{cell}" for what in ("budgets: ", "conflict: ") for cell in ("columns, s", "program, s")]
    return table(head, rows)


def problems(n_outcomes: int) -> dict[str, Callable[[eq.Model], float]]:
    """What is timed as things grow, by the way that is chosen."""
    first = eq.rewards.Linear(np.eye(n_outcomes)[0])
    smooth = eq.rewards.Quadratic(np.linspace(0.5, 0.9, n_outcomes))
    edged = eq.rewards.BottomSum(n_outcomes, max(1, n_outcomes // 2))
    each = {
        "smooth": lambda model: solved(model, smooth, None)[0],
        "edges": lambda model: solved(model, edged, None)[0],
    }
    if n_outcomes >= OUTCOMES:
        each["constraints"] = lambda model: solved(model, floors(model, first), None)[0]
    if n_outcomes == OUTCOMES:
        each["budgets"] = lambda model: budgeted(model, None)[0]
    return each


def growing(largest: int) -> list[Timing]:
    """Times of `solve` as states, outcomes, actions and successors grow, one at a time."""
    axes: dict[str, tuple[Sequence[int], Callable[[int], eq.Model]]] = {
        "S": ([n for n in (100, 300, 1000, 3000, 10_000, 30_000, 100_000, 300_000, 1_000_000) if n <= largest],
              random_world),
        "K": ((1, 3, 10, 30, 100, 300, 1000), lambda K: random_world(1000, K)),
        "A": ((2, 4, 8, 16, 32, 64, 128), lambda A: eq.models.garnet(3000, A, SUCCESSORS, OUTCOMES, seed=1)),
        "successors": ((1, 2, 5, 10, 30, 100, 300), lambda b: eq.models.garnet(3000, ACTIONS, b, OUTCOMES, seed=1)),
    }  # fmt: skip
    rows: list[Timing] = []
    over: set[tuple[str, str]] = set()
    for axis, (sizes, world) in axes.items():
        for size in sizes:
            model = world(size)
            for name, run in problems(model.n_outcomes).items():
                if (axis, name) in over:
                    continue
                first = run(model)
                seconds = first if first > 1.0 else min(first, run(model), run(model))
                rows.append(Timing(axis, name, size, seconds))
                print(rows[-1], flush=True)
                if seconds > LONG:
                    over.add((axis, name))
    return rows


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
    both = growth(largest, program)  # first, as the memory is the most that the process ever held
    slow, _ = slowly_mixing()
    grown = growing(largest)
    write_figure(slopes(grown), FIGURE)
    return "\n".join(
        [
            MARK,
            "`python -m benchmarks.solving` measures all numbers below: seconds of the processor, one thread, Python "
            f"{sys.version.split()[0]}, after everything was compiled.\n",
            "**Random worlds** with 4 actions, 5 successors and 3 outcomes: `Quadratic` (smooth) and `BottomSum` (with "
            "edges), tolerance 1e-6. Gaps are certified; memory is the most that the process ever held.\n",
            both,
            "\n**Constraints** (two, one of them binding), **budgets** (two) and **conflicts** (three floors that no "
            "policy reaches together, found among four, with what each would have to give) in the same worlds:\n",
            constraints(largest, program),
            "\n**Outcomes**, by columns, in a random world of 2,000 states:\n",
            outcomes(),
            "\n**Slowly mixing worlds**, the best of three:\n",
            slow,
            "\n**Slopes**: seconds of `solve`, by the way that is chosen, against the number of states S, of outcomes "
            "K (S = 1,000), of actions A and of successors (S = 3,000); log-log, fitted to the larger half of the "
            f"sizes. What took longer than {LONG:.0f} s was not tried at a larger size.\n",
            slope_table(grown),
            f"\n![Seconds of solve against S, K, A and successors](images/{FIGURE}.svg)",
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
