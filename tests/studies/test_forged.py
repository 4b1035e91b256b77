"""Files of a study's folder that were forged, with checksums that are right: read, or refused by name."""

from __future__ import annotations

import copy
import json
import os
import random
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import equipoise as eq
from equipoise.errors import EquipoiseError, FileError, StudyError
from equipoise.studies import make_plan, open_results, read_study
from equipoise.studies.plan import RunTask
from equipoise.studies.record import decode_result, encode_result
from equipoise.studies.spec import parse_toml
from equipoise.studies.store import Folder, seal_json
from equipoise.studies.worker import _Progress, _resumed, _save
from tests.cli.inside import inside
from tests.studies.common import small, written

VALUES = (None, True, -1, 2**63, 10**400, 0.5, float("nan"), "x", "../../x", "", [], [1], [[1, 2]], {}, {"a": 1})


@pytest.fixture
def copied(done, tmp_path) -> Path:
    return Path(shutil.copytree(done, tmp_path / "out"))


def places(content: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The place of everything within a JSON value."""
    items = content.items() if isinstance(content, dict) else enumerate(content) if isinstance(content, list) else ()
    for key, value in items:
        yield (*path, key)
        yield from places(value, (*path, key))


def forgeries(content: Any, number: int, seed: int) -> Iterator[Any]:
    """The value with something in it replaced, or left out."""
    chosen, every = random.Random(seed), list(places(content))
    for _ in range(number):
        forged, (*path, last) = copy.deepcopy(content), chosen.choice(every)
        part = forged
        for key in path:
            part = part[key]
        if chosen.random() < 0.15:
            del part[last]
        else:
            part[last] = chosen.choice(VALUES)
        yield forged


def survives(folder: Path) -> bool:
    """Whether the results are read; an error must have a name."""
    try:
        open_results(folder)
    except EquipoiseError:
        return False
    return True


@pytest.mark.parametrize("name", ["plan.json", "optima"])
def test_forged_json(name, copied):
    path = next((copied / name).iterdir()) if name == "optima" else copied / name
    content = json.loads(path.read_bytes())["content"]
    read = 0
    for forged in forgeries(content, 300, 1):
        path.write_bytes(seal_json(forged))
        read += survives(copied) and not open_results(copied).damaged
    assert read < 300  # some were refused


def test_a_manifest_names_nothing_outside_its_folder(copied):
    content = json.loads((copied / "plan.json").read_bytes())["content"]
    content["runs"][0][0] = "../../elsewhere"
    (copied / "plan.json").write_bytes(seal_json(content))
    with pytest.raises(FileError, match=r"plan\.json: damaged: .*it has an id that is none"):
        open_results(copied)


def test_forged_metadata(copied):
    path = next((copied / "runs").iterdir())
    record = decode_result(path.read_bytes())
    read = 0
    for forged in forgeries(record.about, 300, 2):
        path.write_bytes(encode_result(record.table, forged))
        assert survives(copied)
        read += not open_results(copied).damaged
    assert read < 300


def test_forged_tables(copied):
    path = next((copied / "runs").iterdir())
    record = decode_result(path.read_bytes())
    table = record.table
    forged = [table.drop(name) for name in table.columns]
    forged += [table.with_columns(pl.lit("x").alias(name)) for name in table.columns]
    forged += [table.with_columns(pl.lit(None, kind).alias(name)) for name, kind in table.schema.items()]
    forged.append(table.with_columns(pl.col("outcomes").list.head(1)))
    forged.append(table.with_columns(outcomes=pl.when(pl.col("t") == 1).then([0.5]).otherwise("outcomes")))
    for one in forged:
        path.write_bytes(encode_result(one, record.about))
        assert survives(copied)
        eq.studies.export_results(open_results(copied), copied / "r.csv")
    path.write_bytes(encode_result(table, record.about))
    assert not open_results(copied).damaged


def test_a_table_that_lacks_a_column_is_damaged(copied):
    path = next((copied / "runs").iterdir())
    record = decode_result(path.read_bytes())
    for name in record.table.columns:
        path.write_bytes(encode_result(record.table.drop(name), record.about))
        (reason,) = open_results(copied).damaged
        assert f"its column {name!r} is missing" in reason


HOSTILE = {
    "digits": ("steps = " + "9" * 5000, "it is no TOML"),
    "hexadecimal digits": ("steps = 0x" + "f" * 5000, "a whole number of more than 64 bits"),
    "digits within": ("seeds = [" + "0x1" + "0" * 5000 + "]", "a whole number of more than 64 bits"),
    "dots": ("a" + ".a" * 3000 + " = 1", "nested"),
    "some dots": ("a" + ".a" * 100 + " = 1", "nested more than 40 levels deep"),
    "brackets": ("a = " + "[" * 3000 + "]" * 3000, "nested"),
    "tables": ("a = " + "{a=" * 200 + "1" + "}" * 200, "nested"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_toml_that_no_study_has(name, tmp_path):
    text, message = HOSTILE[name]
    with pytest.raises(StudyError, match=message) as raised:
        read_study(written(tmp_path, text))
    assert "study-file.toml: " in str(raised.value)
    with pytest.raises(StudyError, match=message):
        parse_toml(text, "--world")


def test_numbers_that_cannot_be_shown_are_refused_by_name():
    with pytest.raises(StudyError, match="steps: got a value with too many digits to show"):
        small(steps=10**5000)
    model = eq.models.bandit(2)
    agent = eq.agents.baselines.RoundRobin(model.space, eq.rewards.Linear([0.0, 1.0]))
    with pytest.raises(EquipoiseError, match="too many digits to show"):
        eq.simulate(model, agent, 10**5000)


def test_a_table_on_the_command_line():
    result = inside("solve", "--world", "{a = 0x" + "f" * 5000 + "}", "--reward", "Linear")
    assert (result.returncode, "Traceback" in result.stderr) == (1, False)
    assert "--world: it has a whole number of more than 64 bits" in result.stderr


# -- files of others ---------------------------------------------------------------------------------------------


def test_files_of_others_that_end_alike_are_left(tmp_path):
    plan = make_plan(small(), ready=False)
    folder = Folder(tmp_path / "out")
    folder.prepare(plan)
    foreign = [".thesis.part", ".report.part", ".video.mp4.0123456789ab.part", ".plan.json.part", "runs/.a.part"]
    run = plan.runs[0].id
    own = [".plan.json.0123456789ab.part", f"runs/.{run}.parquet.0123456789ab.part", f"partial/.{run}.beat.part"]
    for name in (*foreign, *own):
        path = tmp_path / "out" / name
        path.write_text("half")
        os.utime(path, (time.time() - 1e5, time.time() - 1e5))
    folder.prepare(plan)
    left = {path.relative_to(tmp_path / "out").as_posix() for path in (tmp_path / "out").rglob("*.part")}
    assert left == set(foreign)


def test_a_half_written_file_is_abandoned_after_an_hour(tmp_path):
    plan = make_plan(small(), ready=False)
    folder = Folder(tmp_path / "out")
    folder.prepare(plan)
    minutes = {".plan.json.0123456789ab.part": 90, ".plan.json.ba9876543210.part": 30}
    for name, age in minutes.items():
        path = tmp_path / "out" / name
        path.write_text("half")
        os.utime(path, (time.time() - 60 * age, time.time() - 60 * age))
    folder.prepare(plan)
    assert [path.name for path in (tmp_path / "out").rglob("*.part")] == [".plan.json.ba9876543210.part"]


# -- progress ----------------------------------------------------------------------------------------------------


def test_an_agent_that_is_not_the_one_that_was_saved_is_not_taken_up(tmp_path):
    """A sound file, of the same run at another time: its checksum alone tells that the records are not of it."""
    task: RunTask = make_plan(small(), ready=False).runs[0]
    agent = task.make_agent(eq.rewards.Quadratic([0.4, 0.6]))
    eq.simulate(task.model, agent, 100, seed=0, progress=False)
    rows = [agent.average]
    _save(task, _Progress(agent, rows, [agent.best_possible]), tmp_path)
    found = _resumed(task, tmp_path)
    assert found is not None
    assert found.agent.t == 101
    eq.simulate(task.model, agent, 100, seed=0, progress=False)
    agent.save(tmp_path / f"{task.id}.agent-0")
    assert eq.Agent.load(tmp_path / f"{task.id}.agent-0").t == 201
    assert _resumed(task, tmp_path) is None
