"""An agent is saved while it runs, and goes on from there as if nothing had happened."""

from __future__ import annotations

import importlib
import os
import signal
import threading

import numpy as np
import pytest

import equipoise as eq
from equipoise.errors import FileError

SIMULATE = importlib.import_module("equipoise.simulation.simulate")  # the package has a function of that name

MODEL = eq.models.riverswim(6)
REWARD = eq.rewards.Linear([1.0])


def agent() -> eq.TocUCRL2:
    return eq.recommended(MODEL.space, REWARD)


def test_a_run_that_is_killed_goes_on_from_its_file(tmp_path, monkeypatch):
    monkeypatch.setattr(SIMULATE, "_SAVE_SECONDS", 0.0)
    monkeypatch.setattr(SIMULATE, "_SAVE_SPACING", 0.0)
    saved = []
    write = eq.TocUCRL2.save

    def noted(self, path):
        write(self, path)
        saved.append(self.t - 1)
        if len(saved) == 3:
            raise RuntimeError("killed")

    monkeypatch.setattr(eq.TocUCRL2, "save", noted)
    with pytest.raises(RuntimeError, match="killed"):
        eq.simulate(MODEL, agent(), 50_000, seed=3, save=tmp_path / "agent.npz")
    assert saved[0] == 0
    assert 0 < saved[2] < 50_000
    monkeypatch.setattr(eq.TocUCRL2, "save", write)
    again = eq.TocUCRL2.load(tmp_path / "agent.npz")
    assert again.t - 1 == saved[2]
    eq.simulate(MODEL, again, 50_000 - saved[2], seed=3)
    whole = agent()
    eq.simulate(MODEL, whole, 50_000, seed=3)
    assert np.array_equal(again.theta, whole.theta)
    assert np.array_equal(again.visits, whole.visits)
    assert np.array_equal(again.episode_starts, whole.episode_starts)


def test_at_the_end_and_after_ctrl_c_the_file_is_that_of_the_agent(tmp_path):
    one = agent()
    eq.simulate(MODEL, one, 2000, seed=1, save=tmp_path / "a")
    assert eq.TocUCRL2.load(tmp_path / "a").t == one.t == 2001
    two = agent()
    threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
    run = eq.simulate(MODEL, two, 10**12, seed=1, interrupt="return", save=tmp_path / "b")
    assert run.status == "interrupted"
    assert eq.TocUCRL2.load(tmp_path / "b").t == two.t == run.steps + 1 > 1


def test_a_path_that_cannot_be_written_is_an_error_before_the_first_step(tmp_path):
    one = agent()
    with pytest.raises(FileError):
        eq.simulate(MODEL, one, 1000, save=tmp_path / "missing" / "agent.npz")
    assert one.t == 1


def test_a_save_that_fails_on_the_way_does_not_end_the_run(tmp_path, monkeypatch):
    monkeypatch.setattr(SIMULATE, "_SAVE_SECONDS", 0.0)
    monkeypatch.setattr(SIMULATE, "_SAVE_SPACING", 0.0)
    write, calls = eq.TocUCRL2.save, []

    def full(self, path):
        calls.append(self.t)
        if len(calls) == 2:
            raise FileError("no space left")
        write(self, path)

    monkeypatch.setattr(eq.TocUCRL2, "save", full)
    one = agent()
    assert eq.simulate(MODEL, one, 20_000, seed=1, save=tmp_path / "a").status == "done"
    assert len(calls) > 2
    assert eq.TocUCRL2.load(tmp_path / "a").t == one.t
