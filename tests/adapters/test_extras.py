"""Optional libraries: what is missing is named, and nothing of theirs is loaded with the package."""

import importlib
import subprocess
import sys

import pytest

from equipoise import adapters
from equipoise.adapters import import_extra
from equipoise.errors import MissingExtraError


def test_a_library_that_is_missing_is_named_with_what_to_install():
    with pytest.raises(MissingExtraError, match=r"no_such_library is not installed: pip install 'equipoise\[deep\]'"):
        import_extra("no_such_library.sub", "deep")


def test_what_an_installed_library_lacks_is_not_taken_for_the_library(tmp_path, monkeypatch):
    (tmp_path / "half_installed.py").write_text("import no_such_library\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ModuleNotFoundError, match="no_such_library"):
        import_extra("half_installed", "deep")


def test_what_is_for_gymnasium_needs_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "gymnasium", None)
    for name in set(adapters.__all__) - {"Scaling"}:
        with pytest.raises(
            MissingExtraError, match=r"gymnasium is not installed: pip install 'equipoise\[gymnasium\]'"
        ):
            getattr(adapters, name)
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        adapters.Nothing  # noqa: B018


@pytest.mark.parametrize("library", ["gymnasium", "torch", "stable_baselines3"])
def test_what_is_for_stable_baselines_needs_it(monkeypatch, library):
    for name in [name for name in sys.modules if name.startswith("equipoise.adapters.deep")]:
        monkeypatch.delitem(sys.modules, name)
    for before in ("gymnasium", "torch", "stable_baselines3"):
        monkeypatch.setitem(sys.modules, before, None if before == library else object())
    with pytest.raises(MissingExtraError, match=rf"{library} is not installed: pip install 'equipoise\[deep\]'"):
        importlib.import_module("equipoise.adapters.deep")


def test_no_optional_library_is_loaded_with_the_package():
    heavy = ["gymnasium", "mo_gymnasium", "stable_baselines3", "torch", "cvxpy", "pygame", "pandas", "distributed"]
    code = f"import equipoise, sys; print([name for name in {heavy} if name in sys.modules])"
    answer = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert answer.stdout.strip() == "[]"
