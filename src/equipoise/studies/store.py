"""The folder of a study.

    study.toml           the study as it was last run, with paths within this folder
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
from equipoise.studies.plan import Plan
from equipoise.studies.record import Record, decoded
from equipoise.studies.results import Failure, Optimum
from equipoise.studies.spec import Study, read_study

_T = TypeVar("_T", Failure, Optimum)
_STUDY: Final = "study.toml"
_STALE: Final = 3600.0  # seconds after which a half-written file is nobody's


@final
class Folder:
    """Where a study keeps its results.

    >>> Folder("out/quick").result("8f3a").as_posix()
    'out/quick/runs/8f3a.parquet'
    """

    def __init__(self, root: str | os.PathLike[str]) -> None:
        self.root = Path(root)

    @property
    def partial(self) -> Path:
        """Where runs in progress are kept."""
        return self.root / "partial"

    def result(self, run: str) -> Path:
        """The file of a run's result."""
        return self.root / "runs" / f"{run}.parquet"

    # -- writing --------------------------------------------------------------------------------------

    def prepare(self, plan: Plan) -> None:
        """Make the folder ready for a study; an error if it holds another, or cannot be written."""
        if (self.root / _STUDY).exists():
            before = read_study(self.root / _STUDY).name
            if before != plan.study.name:
                raise StudyError(
                    f"{self.root}: it holds the study {before!r}, this is {plan.study.name!r}; choose another folder"
                )
        for name in ("worlds", "optima", "runs", "failed", "partial"):
            try:
                (self.root / name).mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise FileError(f"{self.root / name}: cannot be made ({error.strerror or error})") from error
            self._forget_stale(self.root / name)
        files: dict[int, str] = {}
        for index, problem in enumerate(plan.problems):
            if problem.world is None or "file" in problem.world:
                files[index] = f"worlds/{problem.model_id}.npz"
                if not (self.root / files[index]).exists():
                    problem.model.save(self.root / files[index])
        write_bytes(self.root / _STUDY, plan.study.toml(files).encode())

    def write_result(self, run: str, content: bytes) -> None:
        """Keep the result of a run; its failure and its progress are then of the past."""
        write_bytes(self.result(run), content)
        self._remove(self.root / "failed" / f"{run}.json")
        for path in self.partial.glob(f"{run}.*"):
            self._remove(path)

    def write_failure(self, run: str, failure: Failure, details: str) -> None:
        """Keep what a run failed of."""
        _write(self.root / "failed" / f"{run}.json", {**asdict(failure), "details": details})

    def write_optimum(self, problem: str, optimum: Optimum) -> None:
        """Keep the optimum of a problem."""
        content = {name: list(part) if isinstance(part, tuple) else part for name, part in asdict(optimum).items()}
        _write(self._optimum(problem), content)

    # -- reading --------------------------------------------------------------------------------------

    def read_study(self) -> Study:
        """The study that was last run here."""
        if not (self.root / _STUDY).exists():
            raise FileError(f"{self.root}: it holds no study: {_STUDY} is missing; make one with `equipoise run`")
        return read_study(self.root / _STUDY)

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
        """What a run failed of, if it did."""
        return _read(self.root / "failed" / f"{run}.json", Failure)

    def read_optimum(self, problem: str) -> Optimum | None:
        """The optimum of a problem, None if it has not been found yet; a `FileError` if its file is damaged."""
        return _read(self._optimum(problem), Optimum)

    def read_beat(self, run: str) -> Mapping[str, Any]:
        """How far a run was when it last gave a sign of life; empty if nothing is known."""
        try:
            beat = json.loads((self.partial / f"{run}.beat").read_bytes())
        except (OSError, ValueError):
            return {}
        return beat if isinstance(beat, dict) else {}

    # -- inside ---------------------------------------------------------------------------------------

    def _optimum(self, problem: str) -> Path:
        return self.root / "optima" / f"{problem}.json"

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


def _write(path: Path, content: Mapping[str, Any]) -> None:
    """Write JSON with a checksum of it."""
    write_bytes(path, json.dumps({"sha256": _checksum(content), "content": content}, indent=1).encode())


def _read(path: Path, kind: type[_T]) -> _T | None:
    """What `_write` wrote, None if there is no such file; a `FileError` if it is damaged."""
    try:
        said = json.loads(path.read_bytes())
        content: dict[str, Any] = said["content"]
        if said["sha256"] != _checksum(content):
            raise ValueError("its checksum is not right")
        parts = {field.name: content[field.name] for field in fields(kind)}
    except FileNotFoundError:
        return None
    except OSError as error:
        raise FileError(f"{path}: cannot be read ({error.strerror or error})") from error
    except (ValueError, KeyError, TypeError) as error:
        raise FileError(f"{path}: damaged ({error})") from None
    values: dict[str, Any] = {name: tuple(part) if isinstance(part, list) else part for name, part in parts.items()}
    return kind(**values)


def _checksum(content: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
