"""Run a study: what is not done yet goes to the workers, and what comes back is kept.

Tasks that another program has claimed are checked again until they are done there, or given up. A run that fails is
recorded, and the others continue. When a worker dies, its runs are repeated; a run during which workers died three
times has failed, and the third time it runs alone. When a run exceeds the study's time limit, all workers are ended: it
has failed, and the other runs continue from where they were saved.
"""

from __future__ import annotations

import concurrent.futures
import multiprocessing
import os
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, final

from equipoise._checks import check_float, check_int
from equipoise.errors import EquipoiseError, FileError, ParameterError, StudyError
from equipoise.studies.plan import OptimumTask, Plan, RunTask, make_plan
from equipoise.studies.pools import MOST_JOBS, Claims, ClusterPool, LocalPool, Pool
from equipoise.studies.results import Failure, Optimum
from equipoise.studies.spec import Study
from equipoise.studies.store import Folder
from equipoise.studies.worker import Failed, perform

Task = RunTask | OptimumTask

_POLL_SECONDS: Final = 0.2  # seconds between two looks at the display
_CLAIM_SECONDS: Final = 1.0  # seconds between two looks at what other programs do
_MAX_CRASHES: Final = 3  # workers that may die over one task before it counts as failed
_GUARD: Final = 'guard what it does with: if __name__ == "__main__":'
EVERY: Final = 10.0


@final
@dataclass(eq=False)
class Progress:
    """The progress of a study, for a display.

    Attributes
    ----------
    plan : Plan
        What is to be done.
    folder : Folder
        Where the results are.
    before, done : int
        Runs that were done already, and that were done since.
    failures : list of Failure
        Runs that ended in an error.
    unsolved, repeated : list of str
        With the reasons: problems without a certified optimum; and what is done again, such as files that could not be
        read, and the runs of user-written modules whose source has changed.
    running : dict
        The runs under way, by their ids.
    solving, elsewhere : int
        Offline programs under way here, and tasks that another program has claimed.
    interrupted : bool
        Whether Ctrl-C came first.
    began : float
        When it began, on the clock of ``time.perf_counter``.

    Examples
    --------
    >>> from equipoise.studies import AgentSpec, Problem, Study, make_plan
    >>> from equipoise.studies.store import Folder
    >>> star = Problem(world="star", reward={"kind": "BottomSum", "kappa": 1})
    >>> study = Study(name="tiny", steps=100, seeds=2, problems=[star], agents=[AgentSpec(kind="RoundRobin")])
    >>> progress = Progress(make_plan(study, ready=False), Folder("out"), done=1)
    >>> progress.total, progress.left
    (2, 1)
    """

    plan: Plan
    folder: Folder
    before: int = 0  # runs that were done already
    done: int = 0  # runs done now
    failures: list[Failure] = field(default_factory=list)
    unsolved: list[str] = field(default_factory=list)  # problems without an optimum, and why
    repeated: list[str] = field(default_factory=list)
    running: dict[str, RunTask] = field(default_factory=dict)
    solving: int = 0
    elsewhere: int = 0
    interrupted: bool = False
    began: float = field(default_factory=time.perf_counter)

    @property
    def total(self) -> int:
        """All runs of the study; one that has two names counts once."""
        return len({run.id for run in self.plan.runs})

    @property
    def left(self) -> int:
        """Runs that are neither done nor failed."""
        return self.total - self.before - self.done - len(self.failures)

    @property
    def seconds(self) -> float:
        """Time since the beginning."""
        return time.perf_counter() - self.began


Show = Callable[[Progress], None]


def run_study(
    study: Study,
    out: str | os.PathLike[str],
    *,
    jobs: int | None = None,
    cluster: str | None = None,
    every: float = EVERY,
    origin: Path | None = None,
    show: Show | None = None,
) -> Progress:
    """Run all of a study that has not been run yet.

    Each run is done in a process of its own, so a script that calls this guards it by ``if __name__ == "__main__":``.
    If a `StudyError` reports that something is wrong with the study, nothing has been run.

    Parameters
    ----------
    study : Study
        What to run.
    out : str or PathLike
        The folder for the results; made if need be. What is in it of this study is not run again.
    jobs : int, optional
        Processes; None: one per core.
    cluster : str, optional
        The address of a Dask scheduler, instead of processes of this machine.
    every : float
        Seconds between two saves of a run in progress.
    origin : Path, optional
        The file that the study was read from: errors name it, and the paths of models start from its folder.
    show : function, optional
        Called a few times a second with the progress.

    Returns
    -------
    Progress
        With the failures, if there were any.

    Examples
    --------
    >>> import tempfile
    >>> from equipoise.studies import AgentSpec, Problem, Study, open_results
    >>> star = Problem(world="star", reward={"kind": "BottomSum", "kappa": 1})
    >>> study = Study(name="tiny", steps=100, seeds=2, problems=[star], agents=[AgentSpec(kind="RoundRobin")])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     progress = run_study(study, folder, jobs=1)
    ...     results = open_results(folder)
    >>> progress.done, progress.failures, results.missing, results.frame["t"].max()
    (2, [], 0, 100)
    """
    if not check_float(every, "every", error=ParameterError) > 0:
        raise ParameterError(f"every: got {every}; a number of seconds > 0 is needed")
    if getattr(multiprocessing.current_process(), "_inheriting", False):
        raise StudyError(f"a worker process reads the script that started it, and would start it again; {_GUARD}")
    if jobs is not None:
        check_int(jobs, "jobs", 1, MOST_JOBS, error=ParameterError)
    plan = make_plan(study, origin)
    place = Folder(out)
    if cluster is not None and study.time_limit is not None:
        raise StudyError("time_limit: a run on a cluster cannot be ended from here; leave out the limit or the cluster")
    progress = Progress(plan, place, repeated=place.prepare(plan))
    tasks = _remaining(progress)
    if tasks:
        pool: Pool = LocalPool(jobs) if cluster is None else ClusterPool(cluster)
        with Claims(place.root) as claims:
            _Runner(progress, claims, pool, every, show or (lambda _: None)).run(tasks)
    for task in plan.optima:
        optimum = place.read_optimum(task.id)
        if optimum is not None and optimum.status != "optimal":
            progress.unsolved.append(f"{task.problem}: {optimum.status}")
    return progress


def _remaining(progress: Progress) -> deque[Task]:
    """The tasks without a good result; damaged results are noted, and their tasks done again."""
    tasks: deque[Task] = deque()
    planned: list[Task] = [*progress.plan.optima, *progress.plan.runs]
    for task in {task.id: task for task in planned}.values():
        try:
            if _is_done(progress.folder, task):
                progress.before += isinstance(task, RunTask)
                continue
        except FileError as error:
            progress.repeated.append(str(error))
        tasks.append(task)
    return tasks


def _is_done(folder: Folder, task: Task) -> bool:
    """Whether there is a good result of a task; a `FileError` if there is a damaged one."""
    read = folder.read_optimum if isinstance(task, OptimumTask) else folder.read_result
    return read(task.id) is not None


class _Runner:
    """The loop over tasks, and the state that it keeps."""

    def __init__(self, progress: Progress, claims: Claims, pool: Pool, every: float, show: Show) -> None:
        self._progress, self._claims, self._pool, self._every, self._show = progress, claims, pool, every, show
        self._futures: dict[concurrent.futures.Future[Any], Task] = {}
        self._crashes: dict[str, int] = {}
        self._begun: dict[str, float] = {}  # when tasks were first seen to be under way
        self._breaks = 0

    def run(self, tasks: deque[Task]) -> None:
        waiting: deque[Task] = deque()  # claimed by another program
        looked = time.monotonic()
        finished = False
        try:
            while tasks or self._futures or waiting:
                self._submit(tasks, waiting)
                self._collect(tasks)
                self._end_overdue(tasks)
                if waiting and time.monotonic() - looked > _CLAIM_SECONDS:
                    looked = time.monotonic()
                    self._look_again(tasks, waiting)
                self._progress.elsewhere = sum(isinstance(task, RunTask) for task in waiting)
                self._show(self._progress)
            finished = True
        except KeyboardInterrupt:
            self._progress.interrupted = True
        finally:
            self._pool.close(now=not finished)
            self._progress.running.clear()

    def _submit(self, tasks: deque[Task], waiting: deque[Task]) -> None:
        capacity = self._pool.capacity()
        while tasks and len(self._futures) < capacity:
            alone = any(self._suspect(task) for task in self._futures.values())
            if self._futures and (alone or self._suspect(tasks[0])):
                return
            task = tasks.popleft()
            if not self._claims.take(task.id):
                waiting.append(task)
                continue
            if self._done_meanwhile(task):
                continue
            self._begun.pop(task.id, None)
            self._progress.folder.forget_beginning(task.id)
            try:
                partial = str(self._progress.folder.partial.resolve())
                future = self._pool.submit(perform, task, partial, self._every)
            except concurrent.futures.BrokenExecutor:
                tasks.appendleft(task)
                self._pool.reopen()
                return
            self._futures[future] = task
            self._note(task, 1)

    def _collect(self, tasks: deque[Task]) -> None:
        if not self._futures:
            time.sleep(_POLL_SECONDS)
            return
        done, _ = concurrent.futures.wait(self._futures, _POLL_SECONDS, concurrent.futures.FIRST_COMPLETED)
        for task in self._futures.values():
            if task.id not in self._begun and self._progress.folder.has_begun(task.id):
                self._begun[task.id] = time.monotonic()
        broken = False
        for future in done:
            task = self._futures.pop(future)
            self._note(task, -1)
            try:
                answer = future.result()
            except concurrent.futures.BrokenExecutor:
                broken = True
                answer = self._count_crash(task, tasks, "its process died")
            except (Exception, concurrent.futures.CancelledError) as error:  # the cluster's own
                if isinstance(error, EquipoiseError):
                    raise
                answer = self._count_crash(task, tasks, f"its worker was lost ({type(error).__name__}: {error})")
            if answer is not None:
                self._keep(task, answer)
                self._claims.drop(task.id)
        if broken and not self._futures:
            self._breaks += not self._begun
            if self._breaks >= _MAX_CRASHES:
                raise StudyError(f"every worker process dies before it has done anything; in a script, {_GUARD}")
            self._pool.reopen()

    def _end_overdue(self, tasks: deque[Task]) -> None:
        limit, now = self._progress.plan.study.time_limit, time.monotonic()
        if limit is None or all(now - self._begun.get(task.id, now) <= limit for task in self._futures.values()):
            return
        self._pool.reopen()
        for future, task in list(self._futures.items()):
            if future.done() and not future.cancelled() and future.exception() is None:
                continue  # its answer is collected
            del self._futures[future]
            self._note(task, -1)
            if now - self._begun.get(task.id, now) > limit:
                self._keep(task, Failed(f"it was ended after {limit:g} s, the time limit of the study", ""))
            else:
                tasks.appendleft(task)
            self._claims.drop(task.id)

    def _keep(self, task: Task, answer: bytes | Optimum | Failed) -> None:
        progress = self._progress
        match answer:
            case bytes():
                progress.folder.write_result(task.id, answer)
                progress.done += 1
            case Optimum():
                progress.folder.write_optimum(task.id, answer)
            case Failed() if isinstance(task, RunTask):
                failure = Failure(task.problem, task.agent, task.seed, answer.error)
                progress.failures.append(failure)
                progress.folder.write_failure(task.id, failure, answer.details)
            case Failed():
                progress.unsolved.append(f"{task.problem}: {answer.error}")

    def _count_crash(self, task: Task, tasks: deque[Task], why: str) -> Failed | None:
        """Queue a task again after its worker died, or give its failure once that has happened `_MAX_CRASHES` times."""
        self._crashes[task.id] = self._crashes.get(task.id, 0) + 1
        if self._crashes[task.id] < _MAX_CRASHES:
            tasks.append(task)
            return None
        return Failed(f"{why}, {_MAX_CRASHES} times", "")

    def _suspect(self, task: Task) -> bool:
        """Whether workers have died over a task twice: it then runs alone, so that no other is blamed."""
        return self._crashes.get(task.id, 0) >= _MAX_CRASHES - 1

    def _look_again(self, tasks: deque[Task], waiting: deque[Task]) -> None:
        for _ in range(len(waiting)):
            task = waiting.popleft()
            if self._done_meanwhile(task):
                continue
            if self._claims.take(task.id):  # its program gave it up
                self._claims.drop(task.id)
                tasks.append(task)
            else:
                waiting.append(task)

    def _done_meanwhile(self, task: Task) -> bool:
        """Whether another program has finished the task since it was last looked at."""
        try:
            done = _is_done(self._progress.folder, task)
        except FileError:
            done = False
        if done:
            self._progress.before += isinstance(task, RunTask)
            self._claims.drop(task.id)
        return done

    def _note(self, task: Task, change: int) -> None:
        if isinstance(task, OptimumTask):
            self._progress.solving += change
        elif change > 0:
            self._progress.running[task.id] = task
        else:
            self._progress.running.pop(task.id, None)
