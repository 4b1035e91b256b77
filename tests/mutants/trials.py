"""Try mutants: find the tests that enter the changed code, and see whether one of them fails."""

from __future__ import annotations

import hashlib
import json
import tomllib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from tests.mutants.forks import NEEDS_FILES
from tests.mutants.references import References
from tests.mutants.sites import Mutant
from tests.mutants.tree import PROJECT, START_SECONDS, Tree

EQUIVALENT = Path(__file__).with_name("equivalent.toml")
TEST_SECONDS = 10.0  # how much of the tests' usual time a mutant gets
COMPILED_TEST_SECONDS = 30.0
COMPILE_SECONDS = 400.0  # for what the change has touched
FORK_SECONDS = 30.0  # for kernels to be loaded
SLOWER = 10.0  # than usual, when other programs run too
RECORD_SECONDS = 3600.0
ALSO = {"oracles": "theory"}  # layers with code that the tests of another one enter
FOUNDATIONS = {  # what every layer uses is tested in several places
    "__init__.py": ("test_package.py",),
    "__main__.py": ("test_start.py",),
    "_checks.py": (
        "agents/test_arguments.py", "models/test_log.py", "models/test_model.py", "models/test_space.py",
        "simulation/test_run.py", "test_checks.py", "test_spec.py",
    ),
    "_files.py": (
        "agents/test_checkpoint.py", "models/test_model_file.py", "reports/pages/test_figure_files.py",
        "studies/test_export.py", "studies/test_record.py", "test_files.py",
    ),
    "_plugins.py": ("studies/test_elsewhere.py", "test_spec.py"),
    "_spec.py": ("agents/test_arguments.py", "studies/test_spec.py", "test_spec.py"),
    "_start.py": ("cli/test_commands.py", "test_start.py"),
    "_statistics.py": ("reports/numbers/test_comparisons.py", "reports/numbers/test_curves.py"),
    "_runtime/cache.py": ("cli/test_doctor.py", "test_package.py"),
    "_runtime/compiler.py": ("rewards/test_elsewhere.py", "test_package.py", "testing/test_reward_contract.py"),
    "_runtime/frames.py": (),
    "_runtime/messages.py": (),
    "_runtime/progress.py": ("simulation/test_simulation.py",),
    "_runtime/threads.py": (),
    "_runtime/user_functions.py": ("rewards/test_custom.py",),
}  # fmt: skip
UNSEEN = {  # tests that enter code in programs that they start, or in kernels of their own: they try every change there
    "__init__.py": ("tests/test_package.py",),
    "__main__.py": ("tests/test_start.py",),
    "_start.py": ("tests/test_start.py",),
    "_runtime/cache.py": ("tests/test_package.py",),
    "_runtime/compiler.py": ("tests/_runtime/test_compiler.py", "tests/test_package.py"),
    "_runtime/frames.py": ("tests/_runtime/test_frames.py",),
    "_runtime/messages.py": ("tests/_runtime/test_messages.py",),
    "_runtime/user_functions.py": ("tests/_runtime/test_user_functions.py",),
}


class Trial(NamedTuple):
    """What came of a mutant: "killed", "survived" or "equivalent"; how many tests tried it, and which failed."""

    mutant: Mutant
    outcome: str
    tests: int
    killer: str


def equivalents() -> set[tuple[str, str, str, str]]:
    """The mutants that no test can tell from the original."""
    listed = tomllib.loads(EQUIVALENT.read_text(encoding="utf-8")).get("mutant", [])
    return {(entry["file"], entry["owner"], entry["before"], entry["after"]) for entry in listed}


def test_files(mutants: Sequence[Mutant]) -> list[str]:
    """The tests of the layers and foundations that are changed, and the doctests of the changed modules."""
    rooms = {mutant.room for mutant in mutants if "/" in mutant.file}
    rooms |= {ALSO[room] for room in rooms if room in ALSO}
    named = {pattern for mutant in mutants for pattern in FOUNDATIONS.get(mutant.file, ())}
    patterns = [f"{room}/**/test_*.py" for room in rooms] + sorted(named)
    found = {path.relative_to(PROJECT).as_posix() for pattern in patterns for path in (PROJECT / "tests").glob(pattern)}
    return sorted(found) + sorted({f"src/equipoise/{mutant.file}" for mutant in mutants})


def record(tree: Tree, files: Sequence[str], kept: Path | None = None) -> dict[str, Any]:
    """What each test enters; kept in a file for as long as neither it nor the package changes."""
    known: dict[str, Any] = json.loads(kept.read_text(encoding="utf-8")) if kept is not None and kept.exists() else {}
    package = hashlib.sha256()
    for path in sorted(tree.package.rglob("*.py")):
        package.update(path.read_bytes())
    keys = {file: hashlib.sha256(package.digest() + (tree.project / file).read_bytes()).hexdigest() for file in files}
    missing = [file for file in files if known.get(file, {}).get("key") != keys[file]]
    if missing:
        tests = tree.record(missing, RECORD_SECONDS)
        for file in missing:
            own = {name: test for name, test in tests.items() if name.partition("::")[0] == file}
            known[file] = {"key": keys[file], "tests": own}
        if kept is not None:
            kept.write_text(json.dumps(known), encoding="utf-8")
    return {name: test for file in files for name, test in known[file]["tests"].items()}


def covering(mutant: Mutant, references: References, tests: dict[str, Any]) -> tuple[list[str], float, bool]:
    """Which tests to run and how long they take; whether compiled code is changed.

    Tests of the same layer come first, and quick ones before slow ones.
    """
    functions, compiled = references.reach(mutant.file, mutant.owner)
    entered = {name: test.get("entered", ()) for name, test in tests.items() if test["passed"]}
    if not functions:  # nothing is seen to mention it: all of the module
        whole = f"{mutant.file}::"
        functions = frozenset(one for names in entered.values() for one in names if one.startswith(whole))
    own = (f"tests/{mutant.room}/", f"src/equipoise/{mutant.file}")
    started = UNSEEN.get(mutant.file, ())

    def place(name: str) -> tuple[bool, float]:
        return not name.startswith(own), tests[name]["seconds"]

    def tries(name: str) -> bool:
        return name.partition("::")[0] in started or not functions.isdisjoint(entered[name])

    chosen, seconds = [], 0.0
    for name in sorted(filter(tries, entered), key=place):
        if seconds + tests[name]["seconds"] <= (COMPILED_TEST_SECONDS if compiled or started else TEST_SECONDS):
            chosen.append(name)
            seconds += tests[name]["seconds"]
    return chosen, seconds, compiled


def try_all(
    mutants: Sequence[Mutant],
    folder: Path,
    *,
    files: Sequence[str] | None = None,
    compiled: bool = True,
    kept: Path | None = None,
    tell: Callable[[Trial], None] = lambda trial: None,
) -> list[Trial]:
    """Try them in a copy of the project in a folder, by the tests of some files or of the layers that are changed.

    Mutants of compiled code take up to minutes each, and can be left out. What is known of the tests can be kept in a
    file.
    """
    tree = Tree(folder)
    references = References(tree.package)
    tests = record(tree, test_files(mutants) if files is None else files, kept)
    equal = equivalents()
    trials, forked = [], []

    def end(mutant: Mutant, outcome: str, chosen: Sequence[str], killer: str = "") -> None:
        trials.append(Trial(mutant, outcome, len(chosen), killer))
        tell(trials[-1])

    slow: list[tuple[Mutant, list[str], float, bool]] = []
    for mutant in mutants:
        chosen, seconds, compiles = covering(mutant, references, tests)
        if compiles and not compiled:
            continue
        if mutant.identity in equal:
            end(mutant, "equivalent", chosen)
        elif not chosen:
            end(mutant, "survived", chosen)
        elif compiles or mutant.file in UNSEEN:
            slow.append((mutant, chosen, seconds, compiles))
        else:
            forked.append((mutant, chosen, seconds))
    described = [
        {
            "file": one.file,
            "owner": one.owner,
            "source": one.source,
            "tests": chosen,
            "seconds": FORK_SECONDS + SLOWER * seconds,
        }
        for one, chosen, seconds in forked
    ]
    for (mutant, chosen, seconds), killer in zip(forked, tree.killers(described) if forked else [], strict=True):
        place = f"{mutant.file}::{mutant.owner}"  # what an import of tests has made before the fork is as it was
        if killer == NEEDS_FILES or (not killer and any(place in tests[name].get("early", ()) for name in chosen)):
            slow.append((mutant, chosen, seconds, False))
        else:
            end(mutant, "killed" if killer else "survived", chosen, killer)
    for mutant, chosen, seconds, compiles in slow:
        limit = START_SECONDS + SLOWER * seconds + (COMPILE_SECONDS if compiles else 0.0)
        killer = tree.killer(mutant, references.importers(mutant.file) if compiles else (), chosen, limit)
        end(mutant, "killed" if killer else "survived", chosen, killer)
    return trials
