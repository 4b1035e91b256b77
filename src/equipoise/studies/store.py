"""The folder of a study.

    study.toml           the study as it was last run, with paths within this folder
    plan.json            its problems, agents and runs, with their ids
    worlds/ID.npz        worlds that were given as objects or files
    optima/ID.json       the offline optimum of each problem
    runs/ID.parquet      the result of each run
    failed/ID.json       the error of each run that failed
    partial/ID.*         how far a long run is: its agent, its records, a sign of life
    .claims              see `claims`

Everything is written whole or not at all, and nothing is ever changed but by writing it again.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import time
from collections.abc import Mapping
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any, Final, TypeVar, final

from equipoise._files import write_bytes
from equipoise.errors import FileError, StudyError
from equipoise.models.model import Model
from equipoise.studies.manifest import Manifest, manifest
from equipoise.studies.plan import Plan, PlannedProblem, model_hash
from equipoise.studies.record import Record, decoded
from equipoise.studies.results import Failure, Optimum

_T = TypeVar("_T", Failure, Optimum, Manifest)
_STUDY, _PLAN = "study.toml", "plan.json"
_PARTS: Final = ("worlds", "optima", "runs", "failed", "partial")
_STALE: Final = 3600.0  # seconds after which a half-written file is taken for abandoned, and removed


@final
class Folder:
    """Where a study keeps its results.

    >>> Folder("out/quick").result("8f3a").as_posix()
    'out/quick/runs/8f3a.parquet'
    """

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

    # -- writing --------------------------------------------------------------------------------------

    def prepare(self, plan: Plan) -> list[str]:
        """Make the folder ready for a study, and say what was damaged; an error if it holds another study."""
        damaged = []
        try:
            before = self.read_manifest().name if self._has(_PLAN) else plan.study.name
        except FileError as error:
            damaged.append(str(error))
            before = plan.study.name
        if before != plan.study.name:
            raise StudyError(
                f"{self.root}: it holds the study {before!r}, this is {plan.study.name!r}; choose another folder"
            )
        for part in (self.root, *(self.root / name for name in _PARTS)):
            try:
                part.mkdir(parents=True, exist_ok=True)
            except (OSError, ValueError) as error:
                raise FileError(f"{part}: cannot be made ({getattr(error, 'strerror', None) or error})") from error
            self._forget_stale(part)
        files: dict[int, str] = {}
        for index, problem in enumerate(plan.problems):
            if problem.world is None or "file" in problem.world:
                files[index] = f"worlds/{problem.model_id}.npz"
                damaged += self._keep_world(problem, self.root / files[index])
        self._keep(self.root / _STUDY, plan.study.toml(files).encode())
        self._keep(self.root / _PLAN, _checked(asdict(manifest(plan))))
        return damaged

    def write_result(self, run: str, content: bytes) -> None:
        """Write the result of a run, and remove what was kept of its failure and its progress."""
        write_bytes(self.result(run), content)
        self._remove(self.root / "failed" / f"{run}.json")
        for path in self.partial.glob(f"{run}.*"):
            self._remove(path)

    def write_failure(self, run: str, failure: Failure, details: str) -> None:
        """Write the error of a run that failed."""
        write_bytes(self.root / "failed" / f"{run}.json", _checked({**asdict(failure), "details": details}))

    def write_optimum(self, problem: str, optimum: Optimum) -> None:
        """Keep the optimum of a problem."""
        write_bytes(self._optimum(problem), _checked(asdict(optimum)))

    # -- reading --------------------------------------------------------------------------------------

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
        path = self.result(run)
        try:
            record = decoded(path.read_bytes())
        except FileNotFoundError:
            return None
        except OSError as error:
            raise FileError(f"{path}: cannot be read ({error.strerror or error})") from error
        except FileError as error:
            raise FileError(f"{path}: {error}") from None
        if record.about.get("id") != run:
            raise FileError(f"{path}: it holds the run {record.about.get('id')}")
        return record

    def read_failure(self, run: str) -> Failure | None:
        """The error of a run that failed; None if it did not."""
        return _read(self.root / "failed" / f"{run}.json", Failure)

    def read_optimum(self, problem: str) -> Optimum | None:
        """The optimum of a problem, None if it has not been found yet; a `FileError` if its file is damaged."""
        return _read(self._optimum(problem), Optimum)

    def read_beat(self, run: str) -> Mapping[str, Any]:
        """How far a run was when it last reported; empty if it has not."""
        try:
            beat = json.loads((self.partial / f"{run}.beat").read_bytes())
        except (OSError, ValueError):
            return {}
        return beat if isinstance(beat, dict) else {}

    # -- inside ---------------------------------------------------------------------------------------

    def _optimum(self, problem: str) -> Path:
        return self.root / "optima" / f"{problem}.json"

    def _has(self, name: str) -> bool:
        return os.path.exists(self.root / name)  # noqa: PTH110 - which is False where it may not look

    @staticmethod
    def _keep(path: Path, content: bytes) -> None:
        """Write a file unless it is as it should be: a folder that is complete need not be writeable."""
        with contextlib.suppress(OSError):
            if path.read_bytes() == content:
                return
        write_bytes(path, content)

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

    @classmethod
    def _forget_stale(cls, folder: Path) -> None:
        """Remove what was being written when a program was killed."""
        for path in folder.glob(".*.part"):
            with contextlib.suppress(OSError):
                if time.time() - path.stat().st_mtime > _STALE:
                    cls._remove(path)


def _checked(content: Mapping[str, Any]) -> bytes:
    """JSON with a checksum of it."""
    return json.dumps({"sha256": _checksum(content), "content": content}, indent=1).encode()


def _read(path: Path, kind: type[_T]) -> _T | None:
    """What `_checked` made, None if there is no such file; a `FileError` if it is damaged."""
    try:
        document = json.loads(path.read_bytes())
        content: dict[str, Any] = document["content"]
        if document["sha256"] != _checksum(content):
            raise ValueError("its checksum is not right")
        known = [field.name for field in fields(kind) if field.name in content]  # an earlier version knew fewer
        parts: dict[str, Any] = {name: content[name] for name in known}
        return kind(**parts)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise FileError(f"{path}: cannot be read ({error.strerror or error})") from error
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise FileError(f"{path}: damaged ({error})") from None


def _checksum(content: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
