"""The folder of a study.

    study.toml           the study as it was last run, with paths within this folder
    plan.json            its problems, agents and runs, with their ids: the manifest by which results are read
    worlds/ID.npz        models that were given as objects or files
    optima/ID.json       the offline optimum of each problem
    runs/ID.parquet      the result of each run
    failed/ID.json       the error of each run that failed
    partial/ID.*         how far a run is: that it has begun, and of a long one its agent, its records, a sign of life
    .claims              see `pools`

Every file is written whole or not at all, and never changed in place.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Final, TypeVar

from equipoise._files import write_bytes
from equipoise._version import VERSION
from equipoise.errors import FileError, StudyError
from equipoise.models.model import Model
from equipoise.rewards.constrained import Constrained
from equipoise.studies.plan import Plan, PlannedAgent, PlannedProblem, model_hash
from equipoise.studies.record import OPEN_SEAL, SEAL, Record, check_seal, decode_result, seal, validate
from equipoise.studies.results import WITHIN, AgentRecord, Failure, Guarantee, Optimum, ProblemRecord
from equipoise.studies.spec import AgentSpec
from equipoise.studies.vocabulary import part_spec, write_call

_STUDY, _PLAN = "study.toml", "plan.json"
_PARTS: Final = ("worlds", "optima", "runs", "failed", "partial")
_STALE_SECONDS: Final = 3600.0  # seconds after which a half-written file is taken for abandoned, and removed
_OWN_PART: Final = re.compile(
    r"\.(study\.toml|plan\.json|[0-9a-f]{24}\.(parquet|json|records|agent-[01])|[0-9a-f]{32}\.npz)\.[0-9a-f]{12}\.part"
    r"|\.[0-9a-f]{24}\.beat\.part"
)  # the names of half-written files of this package: other files that end alike are left alone
_ID: Final = re.compile("[0-9a-f]{24}")


@dataclass(frozen=True)
class Manifest:
    """The plan of a folder, as plain data."""

    name: str
    description: str
    version: str
    problems: list[dict[str, Any]]
    agents: list[AgentRecord]
    pairs: list[tuple[str, str, float | None]]
    runs: list[tuple[str, str, str, int]]
    guarantees: list[dict[str, Any]] = field(default_factory=list)
    certified_within: float = WITHIN
    sources: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        records = [self.problem(index, None) for index in range(len(self.problems))]
        pairs = {(problem, agent) for problem, agent, _ in self.pairs}
        names, agents = [record.name for record in records], [agent.name for agent in self.agents]
        runs = [(problem, agent) for _, problem, agent, _ in self.runs]
        ids = [run for run, *_ in self.runs] + [problem["optimum"] for problem in self.problems]
        if len(set(names)) < len(names) or len(set(agents)) < len(agents):
            raise ValueError("two of its problems, or of its agents, have one name")
        if not pairs <= {(name, agent) for name in names for agent in agents} or not {*runs, *self.bounds()} <= pairs:
            raise ValueError("it names a problem or an agent that it does not have")
        if not all(isinstance(identity, str) and _ID.fullmatch(identity) for identity in ids):
            raise ValueError("it has an id that is none")
        if not 0.0 < self.certified_within < math.inf:
            raise ValueError("the regret to be certified is not above 0")

    def problem(self, index: int, optimum: Optimum | None) -> ProblemRecord:
        """A problem, with its optimum."""
        record = validate(ProblemRecord, self.problems[index] | {"optimum": None})
        labels = record.outcome_labels
        if (labels is not None and len(labels) != record.n_outcomes) or len(record.constraints) != len(record.prices):
            raise ValueError("a problem has another number of outcomes, or of constraints, than it says")
        return replace(record, optimum=optimum)

    def bounds(self) -> dict[tuple[str, str], Guarantee]:
        """The explicit bounds, by problem and agent."""
        return {(str(x.get("problem")), str(x.get("agent"))): validate(Guarantee, x) for x in self.guarantees}


def make_manifest(plan: Plan) -> Manifest:
    """Make the manifest of a plan."""
    made = plan.agents.items()
    bounds = ((problem, name, agent.guarantee) for (problem, name), agent in made)
    return Manifest(
        name=plan.study.name,
        description=plan.study.description,
        version=VERSION,
        problems=[_about(problem) for problem in plan.problems],
        agents=[_agent_record(x, [agent for (_, name), agent in made if name == x.title()]) for x in plan.study.agents],
        pairs=[(problem, name, agent.rate) for (problem, name), agent in made],
        runs=[(run.id, run.problem, run.agent, run.seed) for run in plan.runs],
        guarantees=[{"problem": x, "agent": y, **asdict(bound)} for x, y, bound in bounds if bound is not None],
        certified_within=plan.study.certified_within,
        sources={module: one for run in plan.runs for module, one in run.sources.items()},
    )


def _about(problem: PlannedProblem) -> dict[str, Any]:
    model, reward = problem.model, problem.reward
    constraints = {}
    if isinstance(reward, Constrained):
        constraints = {"constraints": list(reward.names), "prices": reward.price.tolist()}
    return constraints | {
        "name": problem.name,
        "world": write_call(problem.world or {"kind": "Model"}),
        "reward": write_call(part_spec(reward, "reward")),
        "optimum": problem.id,
        "outcome_labels": model.labels.outcomes,
        **{name: getattr(model, name) for name in ("n_states", "n_pairs", "n_outcomes")},
    }


def _agent_record(agent: AgentSpec, made: list[PlannedAgent]) -> AgentRecord:
    """An agent with the caveat and the certainty that it has on any problem."""
    caveat = next((one.caveat for one in made if one.caveat), "")
    certainty = next((one.certainty for one in made if one.certainty is not None), None)
    return AgentRecord(agent.title(), write_call(agent.table()), caveat, certainty)


_T = TypeVar("_T", Failure, Optimum, Manifest)
_D = TypeVar("_D")


class Folder:
    """Where a study keeps its results."""

    def __init__(self, root: str | os.PathLike[str]) -> None:
        try:
            self.root = Path(root)
        except TypeError:
            raise FileError(f"folder: got {root!r}; the path of a folder is needed") from None

    @property
    def partial(self) -> Path:
        """Where runs in progress are kept."""
        return self.root / "partial"

    def result(self, run: str) -> Path:
        """The file of a run's result."""
        return self.root / "runs" / f"{run}.parquet"

    def prepare(self, plan: Plan) -> list[str]:
        """Make the folder ready for a study; an error if it holds another study."""
        damaged, new = [], make_manifest(plan)
        try:
            there = os.path.exists(self.root / _PLAN)  # noqa: PTH110 - which is False where it may not look
            old = self.read_manifest() if there else new
        except FileError as error:
            damaged.append(str(error))
            old = new
        if old.name != new.name:
            said = f"it holds the study {old.name!r}, this is {new.name!r}; choose another folder"
            raise StudyError(f"{self.root}: {said}")
        changed = [module for module, source in new.sources.items() if old.sources.get(module, source) != source]
        for part in (self.root, *(self.root / name for name in _PARTS)):
            try:
                part.mkdir(parents=True, exist_ok=True)
            except (OSError, ValueError) as error:
                raise FileError(f"{part}: cannot be made ({getattr(error, 'strerror', None) or error})") from error
            for path in part.glob(".*.part"):  # what was being written when a program was killed
                with contextlib.suppress(OSError):
                    if _OWN_PART.fullmatch(path.name) and time.time() - path.stat().st_mtime > _STALE_SECONDS:
                        self._remove(path)
        files: dict[int, str] = {}
        for index, problem in enumerate(plan.problems):
            if problem.world is None or "file" in problem.world:
                files[index] = f"worlds/{problem.model_id}.npz"
                damaged += self._keep_world(problem, self.root / files[index])
        for name, content in ((_STUDY, plan.study.toml(files).encode()), (_PLAN, seal_json(asdict(new)))):
            with contextlib.suppress(OSError):  # a folder that is complete need not be writeable
                if (self.root / name).read_bytes() == content:
                    continue
            write_bytes(self.root / name, content)
        return damaged + [f"the source of {module} has changed: all runs with parts of it" for module in changed]

    def write_result(self, run: str, content: bytes) -> None:
        """Write the result of a run, and remove what was kept of its failure and its progress."""
        write_bytes(self.result(run), content)
        self._remove(self.root / "failed" / f"{run}.json")
        for path in self.partial.glob(f"{run}.*"):
            self._remove(path)

    def write_failure(self, run: str, failure: Failure, details: str) -> None:
        """Write the error of a run that failed."""
        write_bytes(self.root / "failed" / f"{run}.json", seal_json({**asdict(failure), "details": details}))

    def write_optimum(self, problem: str, optimum: Optimum) -> None:
        """Keep the optimum of a problem."""
        write_bytes(self._optimum(problem), seal_json(asdict(optimum)))
        self.forget_beginning(problem)

    def read_manifest(self) -> Manifest:
        """The manifest of the study in this folder; a `FileError` if there is no study, or if its plan is damaged."""
        contents = _read(self.root / _PLAN, Manifest)
        if contents is None:
            raise FileError(f"{self.root}: it holds no study: {_PLAN} is missing; make one with `equipoise run`")
        return contents

    def read_specification(self) -> str:
        """The study file, as text; empty if it is not there."""
        try:
            return (self.root / _STUDY).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            return ""

    def read_result(self, run: str) -> Record | None:
        """The result of a run, None if there is none; a `FileError` if it is damaged or of another run."""
        record = _decode(self.result(run), decode_result)
        if record is not None and record.about.get("id") != run:
            raise FileError(f"{self.result(run)}: it holds the run {record.about.get('id')}")
        return record

    def read_failure(self, run: str) -> Failure | None:
        """The error of a run that failed; None if it did not."""
        return _read(self.root / "failed" / f"{run}.json", Failure)

    def read_optimum(self, problem: str, n_outcomes: int | None = None) -> Optimum | None:
        """The optimum of a problem, None if it has not been found yet; a `FileError` if its file is damaged."""
        optimum = _read(self._optimum(problem), Optimum)
        if optimum is not None and n_outcomes not in (None, len(optimum.outcomes)):
            raise FileError(f"{self._optimum(problem)}: damaged (it has {len(optimum.outcomes)} outcomes)")
        return optimum

    def has_begun(self, task: str) -> bool:
        """Whether a worker has begun with a run, or an offline program, since `forget_beginning`."""
        return (self.partial / f"{task}.begun").exists()

    def forget_beginning(self, task: str) -> None:
        """Remove the sign that a worker has begun with a task."""
        self._remove(self.partial / f"{task}.begun")

    def read_beat(self, run: str) -> Mapping[str, Any]:
        """How far a run was when it last reported; empty if it has not."""
        try:
            beat = json.loads((self.partial / f"{run}.beat").read_bytes())
        except (OSError, ValueError):
            return {}
        return beat if isinstance(beat, dict) else {}

    def _optimum(self, problem: str) -> Path:
        return self.root / "optima" / f"{problem}.json"

    @staticmethod
    def _keep_world(problem: PlannedProblem, path: Path) -> list[str]:
        """Write a world unless it is there, whole; says what was wrong with it."""
        wrong = []
        if path.exists():
            try:
                if model_hash(Model.load(path)) == problem.model_id:
                    return []
                wrong = [f"{path}: it holds another world"]
            except FileError as error:
                wrong = [str(error)]
        problem.model.save(path)
        return wrong

    @staticmethod
    def _remove(path: Path) -> None:
        with contextlib.suppress(OSError):
            path.unlink()


def seal_json(content: Mapping[str, Any]) -> bytes:
    """Return the bytes of a JSON file with a seal."""
    return seal(json.dumps({SEAL: OPEN_SEAL, "content": content}, indent=1).encode())


def _read(path: Path, kind: type[_T]) -> _T | None:
    """What `seal_json` made, None if there is no such file; a `FileError` if it is damaged."""

    def decode(content: bytes) -> _T:
        check_seal(content)
        return validate(kind, json.loads(content)["content"])

    return _decode(path, decode)


def _decode(path: Path, decode: Callable[[bytes], _D]) -> _D | None:
    """What is made of a file, None if there is none; a `FileError` names the file."""
    try:
        return decode(path.read_bytes())
    except FileNotFoundError:
        return None
    except OSError as error:
        raise FileError(f"{path}: cannot be read ({error.strerror or error})") from error
    except FileError as error:
        raise FileError(f"{path}: {error}") from None
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise FileError(f"{path}: damaged ({error})") from None
