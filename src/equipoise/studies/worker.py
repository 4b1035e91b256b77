"""What a worker does: one run, or one offline program. Nothing here knows what started it, or where.

A run takes its steps in stretches (`simulation.stretches`). Between two of them, if there is a folder for it, it leaves
a sign of life twice a second, and every `every` seconds all that is needed to resume: its agent, in one of two files in
turn, and then its records, which name that file with its checksum. Until the new records are complete, the old ones and
their agent are untouched, so a run that is killed at any moment and resumed ends with the same numbers.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import math
import os
import signal
import threading
import time
import traceback
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from equipoise._files import ensure, load_array, read_npz, write_npz
from equipoise._plugins import allow
from equipoise._runtime.cache import hash_module
from equipoise._runtime.threads import limit_threads
from equipoise._version import VERSION
from equipoise.agents.base import Agent
from equipoise.agents.toc_ucrl2 import TocUCRL2
from equipoise.errors import EquipoiseError, StudyError
from equipoise.models.laws.validate import true_laws
from equipoise.models.model import Model
from equipoise.offline import solve, solve_knapsack
from equipoise.rewards.base import Reward
from equipoise.rewards.penalties import Knapsack
from equipoise.simulation import stretches
from equipoise.simulation.run import violations_at
from equipoise.studies.plan import OptimumTask, RunTask
from equipoise.studies.record import LAWS, encode_result, tabulate_run
from equipoise.studies.results import Optimum
from equipoise.studies.vocabulary import make_reward

_BEAT_SECONDS: Final = 0.5
_SAVING_SHARE: Final = 20.0  # at most a twentieth of the time goes into saving
_KIND, _VERSION = "records", 1
_leave = threading.Event()  # set when this process must end soon
_busy = threading.Event()  # set while a run is under way, which is then saved first


@dataclass(frozen=True)
class Failed:
    """What went wrong, in a line and in full."""

    error: str
    details: str


@dataclass(eq=False)
class _Progress:
    """A run under way."""

    agent: Agent
    rows: list[NDArray[np.float64]]
    ceilings: list[float]
    seconds: float = 0.0
    resumed: int = 0
    slot: int = 0


def perform(task: RunTask | OptimumTask, partial: str | None, every: float) -> bytes | Optimum | Failed:
    """Do a task: return the bytes of a result file, an optimum, or what went wrong, even a call of `sys.exit`."""
    folder = None if partial is None or not Path(partial).is_dir() else Path(partial)
    try:
        if folder is not None:
            with contextlib.suppress(OSError):
                (folder / f"{task.id}.begun").touch()
        if task.version != VERSION:
            raise StudyError(f"the worker has Equipoise {VERSION}; the program that sent the work has {task.version}")
        allow(*task.sources)
        for module, planned in task.sources.items():
            if _hash_of_loaded(module) != planned:
                raise StudyError(
                    f"the source of {module}, or of a module that it imports, is not what it was when the study was "
                    "planned; start the study again, with the same modules on all machines"
                )
        if isinstance(task, OptimumTask):
            return _solve(task)
        return _run(task, folder, every)
    # The run's failure is recorded, and the others go on. An interrupt is one too: workers do not get that of the user.
    except BaseException as error:
        reason = str(error) if isinstance(error, EquipoiseError) else f"{type(error).__name__}: {error}"
        return Failed(reason, traceback.format_exc())


_hash_of_loaded: Final = functools.cache(hash_module)
"""The hash of a module when this process first used it: what was edited since is not what runs here."""


def in_pool(jobs: int) -> None:
    """Set up a process of a local pool: it ignores Ctrl-C, which its parent handles, and ends when its parent does."""
    import multiprocessing

    def leave(_number: int, _frame: object) -> None:
        if not _busy.is_set():
            os._exit(0)
        _leave.set()

    def watch() -> None:
        parent = multiprocessing.parent_process()
        if parent is not None:
            parent.join()
            os._exit(1)

    limit_threads(jobs)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, leave)
    threading.Thread(target=watch, daemon=True).start()


def _solve(task: OptimumTask) -> Optimum:
    reward = make_reward(task.reward, task.model, task.problem)
    best = (
        solve_knapsack(task.model, reward.budget, progress=False)
        if isinstance(reward, Knapsack)
        else solve(task.model, reward, progress=False)
    )
    conflict = getattr(best, "conflict", None)
    return Optimum(
        value=best.value,
        dual_value=best.dual_value,
        gap=best.gap,
        status=best.status if conflict is None else f"{best.status}: {conflict}",
        # of constraints that cannot be met there is no optimum, and what comes closest is none
        outcomes=tuple(best.outcomes.tolist() if conflict is None else [math.nan] * best.outcomes.size),
        theta=tuple(best.theta.tolist()),
        solver=best.solver,
        seconds=best.seconds,
        multipliers=getattr(best, "multipliers", {}),
        violations=getattr(best, "violations", {}),
    )


def _run(task: RunTask, folder: Path | None, every: float) -> bytes:
    reward = make_reward(task.reward, task.model, task.problem)
    progress = _resumed(task, folder) or _Progress(task.make_agent(reward), [], [])
    marks = np.array(task.marks, dtype=np.int64)
    _busy.set()  # a request to end the process then waits for the end of a stretch
    try:
        _walk(task, progress, marks, reward, folder, every)
    finally:
        _busy.clear()
    outcomes = np.array(progress.rows).reshape(marks.size, reward.n_outcomes)
    values = np.array([reward.objective.value(w) for w in outcomes])
    agent, certified = progress.agent, np.array(progress.ceilings) - [reward.value(w) for w in outcomes]
    if agent.reward != reward:  # what it proves is about another optimum
        certified[:] = np.inf
    about = {name: getattr(task, name) for name in ("id", "problem", "agent", "seed", "steps", "spec", "sources")}
    about |= {"seconds": progress.seconds, "resumed": progress.resumed, **_laws(agent, task.model)}
    violations = violations_at(reward, outcomes)
    return encode_result(tabulate_run(marks, outcomes, values, certified, agent.episode_record, violations), about)


def _laws(agent: Agent, model: Model) -> dict[str, Any]:
    """What an agent that was told mechanics has learnt of each law, beside the truth: one column a name."""
    if agent.space.laws is None or not isinstance(agent, TocUCRL2):
        return {}
    table, truth = agent.laws(), true_laws(model)
    columns = {name: table[name].to_list() for name in ("law", "value", "visits", "estimate", "low", "high")}
    true = [None if math.isnan(p) else p for law in truth for p in law.tolist()]
    estimates = [None if math.isnan(p) else p for p in columns["estimate"]]
    return {LAWS: columns | {"estimate": estimates, "truth": true}}


def _walk(
    task: RunTask, progress: _Progress, marks: NDArray[np.int64], reward: Reward, folder: Path | None, every: float
) -> None:
    agent = progress.agent
    already, begun = agent.t - 1, time.perf_counter()
    before, last_beat, last_save, pause = progress.seconds, begun, begun, every
    with contextlib.closing(stretches(task.model, agent, task.steps, task.seed, marks[len(progress.rows) :])) as walk:
        for mark in walk:
            now = time.perf_counter()
            progress.seconds = before + now - begun
            if mark is not None:
                progress.rows.append(agent.average)
                progress.ceilings.append(agent.best_possible)
            if folder is None:
                continue
            if now - last_beat >= _BEAT_SECONDS:
                last_beat = now
                _beat(task, agent, reward, (agent.t - 1 - already) / (now - begun), folder)
            leaving = _leave.is_set()
            if leaving or now - last_save >= pause:
                _save(task, progress, folder)
                last_save = time.perf_counter()
                pause = max(every, _SAVING_SHARE * (last_save - now))
            if leaving:
                os._exit(0)


def _beat(task: RunTask, agent: Agent, reward: Reward, speed: float, folder: Path) -> None:
    content: dict[str, float] = {"t": agent.t - 1, "speed": speed, "value": reward.objective.value(agent.average)}
    if agent.reward == reward and math.isfinite(agent.best_possible):
        content["certified"] = agent.best_possible - reward.value(agent.average)
    with contextlib.suppress(OSError):  # the display loses a line at worst; the run must not fail for it
        part = folder / f".{task.id}.beat.part"
        part.write_text(json.dumps(content))
        part.replace(folder / f"{task.id}.beat")


def _save(task: RunTask, progress: _Progress, folder: Path) -> None:
    """Save how far a run is. If that fails, say on a full disk, the run goes on, and the next save may succeed."""
    saved = folder / f"{task.id}.agent-{progress.slot}"
    rows = {
        "rows": np.array(progress.rows).reshape(len(progress.rows), progress.agent.space.n_outcomes),
        "ceilings": np.array(progress.ceilings, dtype=np.float64),
    }
    with contextlib.suppress(EquipoiseError, OSError):
        progress.agent.save(saved)
        header: dict[str, Any] = {"id": task.id, "agent": saved.name, "sha256": _checksum(saved)}
        header |= {"seconds": progress.seconds, "resumed": progress.resumed}
        write_npz(folder / f"{task.id}.records", rows, header, _KIND, _VERSION)
        progress.slot = 1 - progress.slot


def _resumed(task: RunTask, folder: Path | None) -> _Progress | None:
    """The run where it was last saved; None if it was not, or if what was saved is of no use."""
    if folder is None:
        return None
    try:
        header, arrays = read_npz(folder / f"{task.id}.records", _KIND, _VERSION)
        slot = (f"{task.id}.agent-0", f"{task.id}.agent-1").index(header["agent"])
        saved = folder / header["agent"]
        if header["id"] != task.id or header["sha256"] != _checksum(saved):
            return None
        agent, seconds, resumed = Agent.load(saved), float(header["seconds"]), int(header["resumed"])
        rows = load_array(arrays, "rows", np.zeros((0, agent.space.n_outcomes)), grows=True)
        ceilings = load_array(arrays, "ceilings", np.zeros(rows.shape[0]))
        ensure(rows.shape[1] == agent.space.n_outcomes, "its rows are of other outcomes")
    except (EquipoiseError, OSError, KeyError, TypeError, ValueError):
        return None
    return _Progress(agent, list(rows), ceilings.tolist(), seconds, resumed + 1, 1 - slot)


def _checksum(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
