"""The page on studies is true: its file is a study, its program runs, its columns are those of the table."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import equipoise as eq
from equipoise.studies import make_plan, read_study
from equipoise.studies.results import make_law_frame

PAGE = (Path(__file__).parents[2] / "docs" / "studies.md").read_text()


def block(language: str) -> str:
    return re.search(rf"```{language}\n(.*?)```", PAGE, flags=re.DOTALL).group(1)


def test_the_file_is_a_study(tmp_path):
    (tmp_path / "study.toml").write_text(block("toml"))
    eq.models.star().save(tmp_path / "mine.npz")
    plan = make_plan(read_study(tmp_path / "study.toml"), tmp_path / "study.toml")
    assert len(plan.runs) == 10 * (2 + 2 + 1)


def test_the_program_runs(tmp_path):
    (tmp_path / "program.py").write_text(block("python").replace("10_000", "1000"))
    subprocess.run([sys.executable, "program.py"], cwd=tmp_path, check=True, capture_output=True, timeout=120)
    frame = eq.load_results(tmp_path / "out" / "mine")
    assert frame["run"].n_unique() == 10
    assert all(f"`{column}`" in PAGE for column in frame.columns)


def test_the_shop_of_known_mechanics_is_a_study(tmp_path):
    (lines,) = (text for text in re.findall(r"```toml\n(.*?)```", PAGE, flags=re.DOTALL) if "mechanics =" in text)
    path = tmp_path / "study.toml"
    path.write_text(f'name = "shop"\nsteps = 100\nseeds = 1\n{lines}')
    told, table = make_plan(read_study(path), path, ready=False).runs
    assert told.id != table.id
    assert told.model == table.model
    columns = re.search(r"`load_laws\(folder\)`(.*?)and `truth`", PAGE, flags=re.DOTALL).group(0)
    assert all(f"`{column}`" in columns for column in make_law_frame().columns)
