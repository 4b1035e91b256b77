"""Where the cache is, and which files of a user decide whether his kernels are compiled again."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from equipoise._runtime import cache
from equipoise._runtime.cache import cache_root, hash_module

SOURCES = {
    "trial_loop.py": "import json\nimport trial_helper\n\ndef run():\n    from trial_parts.inner import steps\n",
    "trial_helper.py": "from trial_parts.other.deep import size as room\n",
    "trial_parts/__init__.py": "",
    "trial_parts/first.py": "import no_such_module_anywhere\n",
    "trial_parts/inner/__init__.py": "from . import near\nfrom .. import first\n",
    "trial_parts/inner/near.py": "from .nearer import x\n",
    "trial_parts/inner/nearer.py": "x = 1\n",
    "trial_parts/inner/steps.py": "import numpy\nfrom ..second import y\n",
    "trial_parts/second.py": "import trial_loop\ny = 1\n",  # a circle
    "trial_parts/other/deep.py": "size = 3\n",  # in a folder without an __init__
}
OTHERS = {"trial_parts/unused.py": "z = 1\n", "trial_parts/inner/unused.py": "z = 1\n", "trial_unused.py": "z = 1\n"}


@pytest.fixture
def project(tmp_path, monkeypatch):
    for name, text in {**SOURCES, **OTHERS}.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path


@pytest.mark.parametrize("name", [*SOURCES, *OTHERS])
def test_the_hash_of_a_module_follows_what_it_imports_and_nothing_else(project, name):
    """Nothing is imported for it: these files are found by their names."""
    before = hash_module("trial_loop")
    text = (project / name).read_text()
    (project / name).write_text(f"{text}more = 1\n")
    assert (hash_module("trial_loop") != before) is (name in SOURCES)
    (project / name).write_text(text)
    assert hash_module("trial_loop") == before
    assert not any(module.startswith("trial_") for module in sys.modules)


def test_what_is_not_there_or_not_python_is_left_out(project):
    empty = hash_module("no_such_module_anywhere")
    assert hash_module("no_such_package.inner") == empty
    assert hash_module("trial_helper.inner") == empty  # a file has no modules within it
    assert hash_module("equipoise.rewards") == empty  # this package has a hash of its own
    assert hash_module("numpy") != empty  # one that is installed counts if it is the module itself
    (project / "trial_unused.py").write_text("this is no Python\n")
    assert hash_module("trial_unused") != empty


def test_installed_libraries_and_the_standard_one_are_left_out(project, monkeypatch):
    (project / "trial_unused.py").write_text("import trial_helper\n")
    one = hash_module("trial_unused")
    installed = project / "site-packages"
    installed.mkdir()
    (installed / "trial_installed.py").write_text("a = 1\n")
    monkeypatch.syspath_prepend(installed)
    (project / "trial_unused.py").write_text("import trial_helper, trial_installed, json\n")
    assert hash_module("trial_unused") != one  # the file itself has changed
    two = hash_module("trial_unused")
    (installed / "trial_installed.py").write_text("a = 1\nb = 2\n")
    assert hash_module("trial_unused") == two


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        ({"EQUIPOISE_CACHE_DIR": "/a/b", "XDG_CACHE_HOME": "/x"}, "/a/b"),
        ({"EQUIPOISE_CACHE_DIR": "", "XDG_CACHE_HOME": "/x"}, "/x/equipoise"),
        ({"XDG_CACHE_HOME": "", "HOME": "/home/me"}, "/home/me/.cache/equipoise"),
        ({"HOME": "/home/me"}, "/home/me/.cache/equipoise"),
    ],
)
def test_where_it_is(monkeypatch, variables, expected):
    for name in ("EQUIPOISE_CACHE_DIR", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert cache_root() == Path(expected)


def test_a_folder_for_temporary_files_is_used_by_nobody_else(tmp_path, monkeypatch):
    monkeypatch.setattr(cache.tempfile, "gettempdir", lambda: str(tmp_path))
    root = cache._temporary_root()
    assert root == tmp_path / f"equipoise-{os.getuid()}"
    assert root.stat().st_mode & 0o777 == 0o700
    assert cache._temporary_root() == root
    for mode in (0o720, 0o702, 0o777):
        root.chmod(mode)
        assert cache._temporary_root() is None
    root.chmod(0o755)  # others may read it
    assert cache._temporary_root() == root
    root.rename(tmp_path / "elsewhere")
    root.symlink_to(tmp_path / "elsewhere")
    assert cache._temporary_root() is None


def test_a_folder_that_can_be_written_is_marked(tmp_path):
    assert cache._is_usable(tmp_path / "a" / "b")
    assert [path.name for path in (tmp_path / "a" / "b").iterdir()] == [cache.MARKER]
    (tmp_path / "file").write_text("")
    assert not cache._is_usable(tmp_path / "file")
    assert not cache._is_usable(tmp_path / "file" / "b")
