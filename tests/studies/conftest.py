"""Studies that have been run, once for all tests."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.studies.common import LONG, SMALL, equipoise, written


def _run(folder: Path, text: str) -> Path:
    result = equipoise("run", written(folder.parent, text), "--out", folder)
    assert result.returncode == 0, result.stderr
    return folder


@pytest.fixture(scope="session")
def done(tmp_path_factory) -> Path:
    """The small study, run; to be copied, never changed."""
    return _run(tmp_path_factory.mktemp("done") / "out", SMALL)


@pytest.fixture(scope="session")
def long(tmp_path_factory) -> Path:
    """The long study, run without any interruption."""
    return _run(tmp_path_factory.mktemp("long") / "out", LONG)
