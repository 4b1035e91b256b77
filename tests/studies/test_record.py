"""One result: what it holds, and that damage of any kind is seen."""

from __future__ import annotations

import io

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import equipoise as eq
from equipoise.errors import FileError
from equipoise.studies.record import decode_result, encode_result, tabulate_run

ABOUT = {
    "id": "abc",
    "spec": "x = 1\n",
    "problem": "p",
    "agent": "a",
    "seed": 0,
    "steps": 1000,
    "seconds": 0.5,
}


@pytest.fixture(scope="module")
def run():
    model = eq.models.star(2, 2)
    agent = eq.TocUCRL2(model.space, eq.rewards.BottomSum(2, 1))
    return eq.simulate(model, agent, 5000, seed=1), agent


@pytest.fixture(scope="module")
def content(run):
    found, agent = run
    return encode_result(
        tabulate_run(found.t, found.outcomes, found.values, found.certified, agent.episode_record),
        ABOUT,
    )


def test_round_trip(run, content):
    found, _ = run
    record = decode_result(content)
    assert record.about["id"] == "abc"
    assert record.table["t"].to_list() == found.t.tolist()
    assert np.array(record.table["outcomes"].to_list()).tobytes() == found.outcomes.tobytes()
    assert record.table.schema["outcomes"] == pl.List(pl.Float64)
    assert record.table["certified"].to_numpy() == pytest.approx(found.certified)


def test_episodes_are_counted_from_their_starts(run):
    """Counted again, one time and one episode after the other."""
    found, agent = run
    table = tabulate_run(found.t, found.outcomes, found.values, found.certified, agent.episode_record)
    starts, triggers = agent.episode_record.start.tolist(), agent.episode_record.triggers()
    for row in table.iter_rows(named=True):
        begun = [m for m, start in enumerate(starts) if start <= row["t"]]
        assert row["episodes"] == len(begun)
        for word in ("gradient", "visits", "both", "restart"):
            assert row[word] == sum(triggers[m] == word for m in begun[:-1])
        assert row["sweeps"] == agent.episode_record.sweeps[: len(begun)].sum()
    last = table[-1]
    assert last["restart"].item() > 0  # the oracle does restart
    assert sum(last[word].item() for word in ("gradient", "visits", "both", "restart")) == last["episodes"].item() - 1


def test_an_agent_without_episodes():
    model = eq.models.star(2, 2)
    agent = eq.agents.baselines.RoundRobin(model.space, eq.rewards.BottomSum(2, 1))
    found = eq.simulate(model, agent, 100)
    table = tabulate_run(found.t, found.outcomes, found.values, found.certified, agent.episode_record)
    assert table["certified"].null_count() == table.height
    assert table["episodes"].sum() == table["sweeps"].sum() == table["visits"].sum() == 0


@given(st.data())
@settings(max_examples=300, deadline=None)
def test_no_damage_goes_unseen(content, data):
    """A flipped bit, a missing end: refused, or without any effect on what is read."""
    damaged = bytearray(content)
    if data.draw(st.booleans(), label="cut"):
        del damaged[data.draw(st.integers(0, len(content) - 1), label="at") :]
    else:
        for _ in range(data.draw(st.integers(1, 3))):
            damaged[data.draw(st.integers(0, len(content) - 1))] ^= data.draw(st.integers(1, 255))
    try:
        record = decode_result(bytes(damaged))
    except FileError:
        return
    sound = decode_result(content)
    assert record.table.equals(sound.table, null_equal=True)
    assert record.table.schema == sound.table.schema
    assert record.about == sound.about


def test_damage_is_seen_before_a_reader_of_parquet_looks(content, monkeypatch):
    """Which may end the process over it."""
    monkeypatch.setattr(pl, "read_parquet_metadata", pytest.fail)
    for place in (10, len(content) // 2, len(content) - 6):
        damaged = bytearray(content)
        damaged[place] ^= 64
        with pytest.raises(FileError, match="checksum"):
            decode_result(bytes(damaged))


def test_a_file_without_a_seal_is_not_read(content):
    buffer, sealed = io.BytesIO(), pl.read_parquet_metadata(io.BytesIO(content))
    decode_result(content).table.write_parquet(buffer, metadata={"equipoise": sealed["equipoise"]})
    with pytest.raises(FileError, match="it has no seal"):
        decode_result(buffer.getvalue())


def test_other_files_are_refused(tmp_path):
    pl.DataFrame({"a": [1]}).write_parquet(tmp_path / "a.parquet")
    with pytest.raises(FileError, match="no result of Equipoise"):
        decode_result((tmp_path / "a.parquet").read_bytes())
    with pytest.raises(FileError, match="no result of Equipoise"):
        decode_result(b"")
