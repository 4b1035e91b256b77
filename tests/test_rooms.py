"""Nothing private crosses from one room into another; which way rooms depend is the contract in pyproject.toml."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import tomli_w

import equipoise as eq
from tests.rooms import Crossing, crossings, sources

ROOT = Path(eq.__file__).parent
PROJECT = Path(__file__).parent.parent


def test_nothing_private_crosses_a_room():
    present = sorted(crossings(sources(ROOT)))
    assert not present, f"private to another room: {present}; give it a public name there"


AGENTS = {
    "agents/base.py": (
        "class Agent:\n"
        "    _shared: int = 0\n"
        "    def __init__(self):\n"
        "        self._memory, self.public = {}, 1\n"
        "    def _alone(self):\n"
        "        return self._memory\n"
    ),
    "agents/_kernels.py": "def run(): pass\n_LIMIT = 3\n",
    "_files.py": "def write(): pass\ndef _rename(): pass\n",
    "theory/regret.py": "class Own:\n    def _alone(self): pass\n_LIMIT = 4\n",
}


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("from equipoise.agents._kernels import run", {"equipoise.agents._kernels.run"}),
        ("from equipoise.agents import _kernels", {"equipoise.agents._kernels"}),
        ("import equipoise.agents._kernels as k", {"equipoise.agents._kernels"}),
        ("from equipoise.simulation import _check", {"equipoise.simulation._check"}),
        ("from equipoise._files import _rename", {"equipoise._files._rename"}),
        ("def f():\n    from equipoise.agents._kernels import run", {"equipoise.agents._kernels.run"}),
        ("from ..agents._kernels import run", {"equipoise.agents._kernels.run"}),
        ("from .. import agents\nagents._kernels._LIMIT\nagents._LIMIT", {"_LIMIT"}),
        ("from equipoise import _files\n_files._rename()", {"_rename"}),
        ("def f(agent): return agent._memory", {"_memory"}),
        ("def f(agent): agent._shared = 1", {"_shared"}),
        ("def f(agent): return getattr(agent, '_memory', None)", {"_memory"}),
        ("from equipoise.agents.base import Agent\nAgent._alone", {"_alone"}),  # though this room has one of that name
    ],
)
def test_what_crosses_is_seen(source, names):
    planted = AGENTS | {"theory/planted.py": source + "\n"}
    assert crossings(planted) == {Crossing("theory/planted.py", name) for name in names}


@pytest.mark.parametrize(
    "source",
    [
        "from equipoise import _files\n_files.write()",
        "from equipoise._files import write",
        "from equipoise.agents.base import Agent\nAgent().public",
        "from equipoise.theory import _kernels",
        "from equipoise.theory import regret\nregret._LIMIT",
        "from ._kernels import anything",
        "def f(own): return own._alone()",
        "def f(named_tuple): return named_tuple._replace(a=1)",
        "from numpy import _core\nfrom __future__ import annotations",
        "def f(agent): return agent.__dict__",
    ],
)
def test_what_does_not_cross_is_not(source):
    assert not crossings(AGENTS | {"theory/planted.py": source + "\n"})


# Trajectories that stay as they are; a slow transcription of the paper; the package broken on purpose and at random;
# what is published, and the documentation as it is built.
OF_NO_ROOM = {"distribution", "mutants", "mutations", "paper", "pins", "reference", "site"}


def test_tests_are_in_folders_of_the_rooms():
    rooms = {path.parent.name for path in ROOT.glob("*/__init__.py")}
    tests = Path(__file__).parent
    folders = {path.relative_to(tests).parts[0] for path in tests.glob("*/**/test_*.py")}
    assert folders - OF_NO_ROOM <= rooms
    assert rooms <= folders


# -- which way rooms depend -------------------------------------------------------------------------------


@pytest.fixture
def empty_rooms(tmp_path):
    """The package's rooms with nothing in them, and the contract that they are under."""
    for path in ROOT.iterdir():
        if path.suffix == ".py" or (path / "__init__.py").exists():
            file = tmp_path / "equipoise" / path.name
            file = file if path.suffix else file / "__init__.py"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.touch()
    settings = tomllib.loads((PROJECT / "pyproject.toml").read_text())["tool"]["importlinter"]
    for contract in settings["contracts"]:
        contract.pop("ignore_imports", None)  # empty modules have none of these imports
    (tmp_path / "pyproject.toml").write_text(tomli_w.dumps({"tool": {"importlinter": settings}}))
    return tmp_path


def linted(folder):
    code = "from importlinter.cli import lint_imports_command; lint_imports_command()"
    environment = os.environ | {"PYTHONPATH": str(folder)}
    return subprocess.run(
        [sys.executable, "-c", code, "--no-cache"], cwd=folder, env=environment, capture_output=True, text=True
    )


def test_empty_rooms_keep_the_contract(empty_rooms):
    result = linted(empty_rooms)
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("rewards/planted.py", "from equipoise.offline import solve\n"),
        ("offline/planted.py", "def f():\n    from equipoise.agents import Agent\n    return Agent\n"),
        ("agents/planted.py", "from equipoise import simulation\n"),
        ("theory/planted.py", "from equipoise.testing import check_confidence\n"),
        ("_files.py", "import equipoise.models\n"),
        ("_planted.py", ""),  # a module without a place in the contract
    ],
)
def test_the_contract_sees_what_points_upwards(empty_rooms, file, text):
    (empty_rooms / "equipoise" / file).write_text(text)
    result = linted(empty_rooms)
    assert result.returncode == 1, result.stdout + result.stderr
    assert file.removesuffix(".py").replace("/", ".") in result.stdout
