"""A copy of the project in which the tests run on changed sources, with kernels that need not be compiled again.

numba keeps a compiled function under the path, the time and the size of its file; the package keeps all of them in a
folder that is named after a hash of the sources. A copy starts with the kernels of the project itself, and a changed
copy with those of the unchanged one, without what the change may have touched.
"""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from numba.core.caching import _CacheLocator

from equipoise._runtime.cache import cache_folder
from tests.mutants.forks import NEEDS_FILES
from tests.mutants.sites import Mutant

PROJECT = Path(__file__).parent.parent.parent
PACKAGE = PROJECT / "src" / "equipoise"
LEFT_OUT = {".git", ".venv", "out", "site", "dist", "generated", "__pycache__"}
NOT_IN_TIME = -1
START_SECONDS = 120.0  # to import everything
MEMORY_BYTES = 8 << 30  # a change may make an array grow without end


def _limit_memory() -> None:
    with contextlib.suppress(ValueError, OSError):  # where there is no such limit
        resource.setrlimit(resource.RLIMIT_DATA, (MEMORY_BYTES, MEMORY_BYTES))


class Tree:
    """One copy.

    Parameters
    ----------
    folder : Path
        Where it is; what is there already is brought up to date.
    """

    def __init__(self, folder: Path) -> None:
        self.project = folder / "project"
        self.package = self.project / "src" / "equipoise"
        self._kernels = folder / "kernels"
        self._update()
        self._base = self._kernels / self._source_hash()
        if not self._base.exists():
            self._seed()

    def record(self, tests: Sequence[str], seconds: float) -> dict[str, Any]:
        """What each test of some files enters, and how long it takes; the kernels that it compiles are kept."""
        file = self.project / "record.json"
        file.unlink(missing_ok=True)
        options = ["--continue-on-collection-errors", "-p", "tests.mutants.recorder"]  # some need what is not installed
        self._pytest(tests, seconds, options, {"MUTANTS_RECORD": str(file)})
        return json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}

    def killer(self, mutant: Mutant, stale: Iterable[str], tests: Sequence[str], seconds: float) -> str:
        """What fails with the change, or "" if all tests pass; `stale` are the files whose kernels it may touch."""
        path = self.package / mutant.file
        original, stamp = path.read_bytes(), path.stat()
        try:
            path.write_text(mutant.source, encoding="utf-8")
            with self._own_kernels(stale):
                code = self._pytest(tests, seconds, ["-x"])
            return self._failure() if code else ""
        finally:
            path.write_bytes(original)
            os.utime(path, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))

    def _pytest(
        self, tests: Sequence[str], seconds: float, options: Sequence[str], variables: Mapping[str, str] | None = None
    ) -> int:
        names = self.project / "tests.txt"  # there may be too many of them for a command line
        names.write_text("\n".join(tests), encoding="utf-8")
        environment = os.environ | {
            "PYTHONPATH": f"{self.project / 'src'}{os.pathsep}{self.project}",
            "EQUIPOISE_CACHE_DIR": str(self._kernels),
            "EQUIPOISE_QUIET": "1",
            **(variables or {}),
        }
        command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "no:xdist", "-m", "not slow"]
        with (self.project / "said.txt").open("w", encoding="utf-8") as said:
            running = subprocess.Popen(
                [*command, *options, f"@{names}"],
                cwd=self.project,
                env=environment,
                stdout=said,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                preexec_fn=_limit_memory,
            )
            try:
                return running.wait(seconds)
            except subprocess.TimeoutExpired:
                return NOT_IN_TIME
            finally:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(running.pid, signal.SIGKILL)
                running.wait()

    def killers(self, trials: Sequence[dict[str, Any]]) -> list[str]:
        """As `killer`, of mutants of Python functions, in forks of one process; `forks` says what is in a trial."""
        given, results = self.project / "trials.json", self.project / "results.jsonl"
        given.write_text(json.dumps(trials), encoding="utf-8")
        results.unlink(missing_ok=True)
        variables = {"MUTANTS_TRIALS": str(given), "MUTANTS_RESULTS": str(results)}
        names = {name.partition("::")[0] for trial in trials for name in trial["tests"]}
        files = sorted(names, key=lambda name: (name.startswith("src/"), name))  # doctests may shadow names of a layer
        limit = START_SECONDS + sum(trial["seconds"] for trial in trials)
        self._pytest(files, limit, ["-p", "tests.mutants.forks"], variables)
        found = (
            [json.loads(line) for line in results.read_text(encoding="utf-8").splitlines()] if results.exists() else []
        )
        return found + [NEEDS_FILES] * (len(trials) - len(found))

    def _failure(self) -> str:
        said = (self.project / "said.txt").read_text(encoding="utf-8", errors="replace").splitlines()
        failed = [line for line in said if line.startswith(("FAILED", "ERROR"))]
        return failed[0] if failed else f"no answer: {said[-1] if said else ''}"

    # -- kernels -----------------------------------------------------------------------------------------

    def _source_hash(self) -> str:
        """By the copy's own module, which looks at the sources beside it."""
        spec = importlib.util.spec_from_file_location("_cache_of_the_copy", self.package / "_runtime/cache.py")
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return str(module.source_hash())

    def _seed(self) -> None:
        """Begin with the project's kernels, under the names that numba looks for in the copy."""
        self._base.mkdir(parents=True)
        source = cache_folder()
        for marker in source.glob("*.compiled"):
            shutil.copy2(marker, self._base)
        for file in self.project.rglob("*.py"):
            old = source / _CacheLocator.get_suitable_cache_subpath(str(PROJECT / file.relative_to(self.project)))
            new = self._base / _CacheLocator.get_suitable_cache_subpath(str(file))
            if old.is_dir() and not new.exists():
                shutil.copytree(old, new)

    @contextlib.contextmanager
    def _own_kernels(self, changed: Iterable[str]) -> Iterator[None]:
        """A folder for the changed sources; without the kernels of some files, and of the tests, if there are such."""
        folder = self._kernels / self._source_hash()
        if folder == self._base:
            yield
            return
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(self._base, folder, copy_function=os.link)
        files = [self.package / file for file in changed]
        for file in [*files, *(self.project.glob("tests/**/*.py") if files else ())]:
            compiled = folder / _CacheLocator.get_suitable_cache_subpath(str(file))
            for kept in compiled.glob(f"{file.stem}.*"):
                kept.unlink()
        try:
            yield
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    # -- files -------------------------------------------------------------------------------------------

    def _update(self) -> None:
        wanted = set()
        for folder, folders, names in os.walk(PROJECT):
            folders[:] = [name for name in folders if name not in LEFT_OUT and not name.startswith(".")]
            for name in names:
                source = Path(folder, name)
                relative = source.relative_to(PROJECT)
                wanted.add(relative)
                copy = self.project / relative
                if copy.exists() and copy.stat().st_mtime_ns == source.stat().st_mtime_ns:
                    continue
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(source, copy)
        for copy in [path for path in self.project.rglob("*") if path.is_file()]:
            if copy.relative_to(self.project) not in wanted:
                copy.unlink()
