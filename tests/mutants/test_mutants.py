"""What is changed and what is not, which tests are chosen, and that a sample of mutants is killed."""

from __future__ import annotations

import ast
import tomllib

import pytest

from tests.mutants.references import References
from tests.mutants.sites import Mutant, modules, mutants, sample
from tests.mutants.table import killed_share, table
from tests.mutants.tree import PACKAGE, PROJECT
from tests.mutants.trials import EQUIVALENT, FOUNDATIONS, UNSEEN, Trial, covering, try_all
from tests.mutants.trials import test_files as files_to_run

SOURCE = '''"""A module with 1 number in its docstring."""

from __future__ import annotations

LIMIT: Final = 3


class Counter:
    def __repr__(self) -> str:
        return f"{self.n + 1}"

    def add(self, n: int) -> int:
        """Add at most 2."""
        if not n < LIMIT:  # the boundary
            raise ValueError(f"n: got {n}; less than {LIMIT + 1} is needed")
        self.n += min(n, 2)
        self.check()
        return -self.n if n else (n * 2.5) + 0.0
'''


def changes(tmp_path):
    (tmp_path / "counter.py").write_text(SOURCE)
    return mutants(tmp_path, "counter.py")


def test_every_kind_of_change(tmp_path):
    found = {(mutant.kind, mutant.before, mutant.after) for mutant in changes(tmp_path)}
    condition, total = "if not n < LIMIT:  # the boundary", "return -self.n if n else (n * 2.5) + 0.0"
    raised = 'raise ValueError(f"n: got {n}; less than {LIMIT + 1} is needed")'
    assert found == {
        ("constant", "LIMIT: Final = 3", "LIMIT: Final = 4"),
        ("comparison", condition, "if not n <= LIMIT:  # the boundary"),
        ("condition", condition, "if (n < LIMIT):  # the boundary"),
        ("branch", condition, "if not (not n < LIMIT):  # the boundary"),
        ("statement", raised, "pass"),
        ("arithmetic", "self.n += min(n, 2)", "self.n -= min(n, 2)"),
        ("statement", "self.n += min(n, 2)", "pass"),
        ("extremum", "self.n += min(n, 2)", "self.n += max(n, 2)"),
        ("constant", "self.n += min(n, 2)", "self.n += min(n, 3)"),
        ("statement", "self.check()", "pass"),
        ("branch", total, "return -self.n if not (n) else (n * 2.5) + 0.0"),
        ("arithmetic", total, "return (self.n) if n else (n * 2.5) + 0.0"),
        ("arithmetic", total, "return -self.n if n else (n * 2.5) - 0.0"),
        ("arithmetic", total, "return -self.n if n else (n / 2.5) + 0.0"),
        ("constant", total, "return -self.n if n else (n * 5.0) + 0.0"),
        ("constant", total, "return -self.n if n else (n * 2.5) + 1.0"),
    }
    assert {mutant.owner for mutant in changes(tmp_path)} == {"LIMIT", "Counter.add"}
    for mutant in changes(tmp_path):
        ast.parse(mutant.source)


def test_a_draw_is_repeated_by_its_seed_and_has_no_mutant_twice():
    drawn = sample(PACKAGE, "offline/knapsack.py", 30, 1)
    assert drawn == sample(PACKAGE, "offline/knapsack.py", 30, 1)
    assert drawn != sample(PACKAGE, "offline/knapsack.py", 30, 2)
    assert len(set(drawn)) == 30
    assert len({mutant.kind for mutant in drawn}) >= 5
    assert len(sample(PACKAGE, "_version.py", 30, 1)) < 30


def test_a_draw_can_be_limited_to_compiled_code():
    references, file = References(PACKAGE), "confidence/l1.py"

    def is_compiled(mutant):
        return references.reach(mutant.file, mutant.owner).compiled

    drawn = sample(PACKAGE, file, 1000, 0, is_compiled)
    assert {mutant.identity for mutant in drawn} == {one.identity for one in mutants(PACKAGE, file) if is_compiled(one)}
    assert 0 < len(drawn) < len(mutants(PACKAGE, file))


def test_the_tests_of_a_mutant_are_those_that_enter_its_function_or_lead_to_it():
    tests = {
        name: {"passed": True, "seconds": seconds, "entered": [entered]}
        for name, seconds, entered in (
            ("tests/agents/a.py::slow", 2.0, "rewards/combinations.py::Minimum.__init__"),
            ("tests/rewards/b.py::slow", 3.0, "rewards/combinations.py::Minimum.__init__"),
            ("tests/rewards/b.py::quick", 1.0, "rewards/combinations.py::Minimum.__init__"),
            ("tests/rewards/b.py::other", 1.0, "rewards/combinations.py::Minimum.within"),
            ("tests/rewards/b.py::too_slow", 1000.0, "rewards/combinations.py::Minimum.__init__"),
        )
    }
    tests["tests/rewards/b.py::failing"] = tests["tests/rewards/b.py::quick"] | {"passed": False}
    kernel = Mutant("rewards/combinations.py", "_minimum_value", 1, "", "", "", "")
    chosen, seconds, compiled = covering(kernel, References(PACKAGE), tests)
    assert chosen == ["tests/rewards/b.py::quick", "tests/rewards/b.py::slow", "tests/agents/a.py::slow"]
    assert (seconds, compiled) == (6.0, True)
    method = kernel._replace(owner="Minimum.within")
    assert covering(method, References(PACKAGE), tests) == (["tests/rewards/b.py::other"], 1.0, False)


def test_tests_whose_ways_are_not_seen_try_every_change_of_a_module():
    tests = {
        name: {"passed": True, "seconds": 1.0, "entered": []}
        for name in ("tests/test_package.py::one", "tests/cli/test_doctor.py::one")
    }
    mutant = Mutant("_runtime/cache.py", "source_hash", 1, "", "", "", "")
    assert covering(mutant, References(PACKAGE), tests) == (["tests/test_package.py::one"], 1.0, False)


def test_every_foundation_has_tests():
    files = [file for file in modules(PACKAGE, frozenset()) if "/" not in file or file.startswith("_runtime/")]
    assert set(FOUNDATIONS) == {file for file in files if mutants(PACKAGE, file)}
    for file, names in FOUNDATIONS.items():
        chosen = files_to_run([Mutant(file, "", 1, "", "", "", "")])
        assert {f"tests/{name}" for name in names} | set(UNSEEN.get(file, ())) <= set(chosen)
        assert len(chosen) >= 2  # with its doctests
        assert all((PROJECT / one).is_file() for one in chosen)


def test_a_function_that_emits_compiled_code_is_part_of_it():
    reach = References(PACKAGE).reach("_runtime/frames.py", "_converted")
    assert reach.compiled
    assert "_runtime/frames.py::_converted" not in reach.functions  # numba calls it while it compiles
    assert "agents/toc_ucrl2.py::TocUCRL2.learn" in reach.functions
    assert not References(PACKAGE).reach("_runtime/compiler.py", "Entry.address").compiled


def test_kernels_are_stale_wherever_their_module_is_imported():
    importers = References(PACKAGE).importers("planning/order.py")
    assert {"planning/order.py", "planning/kernels.py", "agents/kernels.py"} <= importers
    assert "rewards/combinations.py" not in importers


def test_the_table():
    mutant = Mutant("a/b.py", "f", 3, "comparison", "x < 1", "x <= 1", "")
    trials = [Trial(mutant, outcome, 1, "") for outcome in ("killed", "killed", "killed", "survived", "equivalent")]
    assert killed_share(trials) == 0.75
    text = table(trials, 5, 7)
    assert "`--per-module 5 --seed 7`: 5 mutants of 1 modules; 75.0% of" in text
    assert "| `a/b.py` | 5 | 3 | 1 | 1 |" in text
    assert "- x < 1\n+ x <= 1" in text


def test_equivalent_mutants_are_mutants_and_have_a_reason():
    listed = tomllib.loads(EQUIVALENT.read_text(encoding="utf-8"))["mutant"]
    for entry in listed:
        identities = {mutant.identity for mutant in mutants(PACKAGE, entry["file"])}
        assert (entry["file"], entry["owner"], entry["before"], entry["after"]) in identities, entry
        assert len(entry["reason"].split()) >= 4


SLICE = {  # modules with tests that are soon done
    "models/space.py": "tests/models/test_space.py",
    "models/labels.py": "tests/models/test_labels.py",
    "models/laws/identifiability.py": "tests/models/laws/test_identifiability.py",
    "offline/export.py": "tests/offline/test_export.py",
    "offline/knapsack.py": "tests/offline/test_knapsack.py",
    "offline/chains.py": "tests/offline/test_parts.py",
    "offline/problem.py": "tests/offline/test_parts.py",
    "_checks.py": "tests/test_checks.py",
    "_files.py": "tests/models/test_model_file.py",
    "_spec.py": "tests/test_spec.py",
    "_statistics.py": "tests/reports/numbers/test_curves.py",
    "_runtime/threads.py": "tests/_runtime/test_threads.py",
}


@pytest.mark.slow
def test_nine_in_ten_of_a_sample_are_killed(tmp_path):
    drawn = [mutant for file in SLICE for mutant in sample(PACKAGE, file, 3, 0)]
    files = sorted({*SLICE.values(), *(f"src/equipoise/{file}" for file in SLICE)})
    trials = try_all(drawn, tmp_path, files=files, compiled=False)
    survivors = [trial.mutant._replace(source="") for trial in trials if trial.outcome == "survived"]
    assert len(trials) >= 15
    assert killed_share(trials) >= 0.9, survivors
