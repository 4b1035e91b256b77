"""Threads inside a sweep: how many, and that nothing depends on it."""

from __future__ import annotations

import concurrent.futures
import multiprocessing
import os
import threading

import numpy as np
import pytest

import equipoise as eq
from equipoise._runtime import threads
from equipoise._runtime.threads import (
    THREADS_VARIABLE,
    core_count,
    cut_states,
    limit_threads,
    parallel_map,
    thread_count,
)
from equipoise.errors import ConvergenceError, ParameterError
from equipoise.offline.gains import GainSearch
from equipoise.planning import parallel


def test_how_many(monkeypatch):
    monkeypatch.delenv(THREADS_VARIABLE, raising=False)
    assert thread_count() == core_count()
    monkeypatch.setenv(THREADS_VARIABLE, "3")
    assert thread_count() == 3
    limit_threads(2)
    assert thread_count() == 3  # who was told is not told otherwise
    monkeypatch.setenv(THREADS_VARIABLE, "")
    assert thread_count() == core_count()  # told nothing
    monkeypatch.delenv(THREADS_VARIABLE)
    limit_threads(10**6)
    assert os.environ[THREADS_VARIABLE] == "1"


@pytest.mark.parametrize("value", ["0", "-1", "two", "1.5"])
def test_a_number_that_is_none(monkeypatch, value):
    monkeypatch.setenv(THREADS_VARIABLE, value)
    with pytest.raises(ParameterError, match=f"{THREADS_VARIABLE}: got '{value}'"):
        thread_count()


def test_a_worker_process_has_one():
    with concurrent.futures.ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        told = os.environ.get(THREADS_VARIABLE)
        assert pool.submit(thread_count).result() == (1 if told is None else int(told))


@pytest.mark.parametrize(
    ("n_states", "successors", "count"), [(5, 99, 1), (1000, 350, 3), (1000, 10**6, 4), (2, 10**6, 2)]
)
def test_parts_are_all_states_in_turn(monkeypatch, n_states, successors, count):
    monkeypatch.setattr(threads, "MIN_SUCCESSORS", 100)
    monkeypatch.setenv(THREADS_VARIABLE, "4")
    parts = cut_states(n_states, successors)
    assert len(parts) == count
    assert [s for begin, end in parts for s in range(begin, end)] == list(range(n_states))


def test_others_have_ended_when_the_first_fails():
    done = threading.Event()

    def work(begin: int, end: int) -> None:
        if begin == 0:
            raise KeyboardInterrupt
        threading.Event().wait(0.05)
        done.set()

    with pytest.raises(KeyboardInterrupt):
        parallel_map(work, [(0, 1), (1, 2)])
    assert done.is_set()


@pytest.fixture
def everything_is_large(monkeypatch):
    monkeypatch.setattr(threads, "MIN_SUCCESSORS", 1)
    monkeypatch.setattr(parallel, "LARGE", 1)


WORLDS = {
    "garnet": (eq.models.garnet(40, 3, 4, 2, seed=3), eq.rewards.Quadratic([0.6, 0.7])),
    "river": (eq.models.riverswim(8), eq.rewards.Linear([1.0])),
    "star": (eq.models.star(3, 4), eq.rewards.Quadratic([1 / 3] * 3)),
}

ONE_SWEEP = {("garnet", "paper"), ("garnet", "warm")}  # the regions are so wide that plans end with the first sweep


@pytest.mark.parametrize("world", WORLDS)
@pytest.mark.parametrize("kind", ["paper", "recommended", "warm"])
def test_a_run_is_the_same_with_any_number(world, kind, monkeypatch, everything_is_large):
    model, reward = WORLDS[world]
    runs = []
    calls = []
    made = parallel._sweep_part
    monkeypatch.setattr(parallel, "_sweep_part", lambda *args: (calls.append(args[-2:]), made(*args)))
    for number in ("1", "2", "5"):
        monkeypatch.setenv(THREADS_VARIABLE, number)
        calls.clear()
        agent = {
            "paper": lambda: eq.TocUCRL2(model.space, reward, tolerance=1e-3),
            "recommended": lambda: eq.recommended(model.space, reward),
            "warm": lambda: eq.TocUCRL2(
                model.space, reward, tolerance=1e-3, planner=eq.planning.Planner(warm_start=True)
            ),
        }[kind]()
        run = eq.simulate(model, agent, 3000, seed=2, progress=False)
        if int(number) == 1:
            assert not calls
        elif (world, kind) not in ONE_SWEEP:
            assert len(set(calls)) == int(number)
        runs.append((run.outcomes.tobytes(), run.episodes.to_dicts(), agent.policy.tolist()))
    assert runs[0] == runs[1] == runs[2]


def test_act_and_observe_share_plans_too(monkeypatch, everything_is_large):
    model, reward = WORLDS["garnet"]
    seen = []
    for number in ("1", "3"):
        monkeypatch.setenv(THREADS_VARIABLE, number)
        agent, rng, state = eq.recommended(model.space, reward), np.random.default_rng(1), 0
        taken = []
        for _ in range(400):
            action = agent.act(state)
            outcomes = rng.random(2)
            after = int(rng.integers(40))
            agent.observe(outcomes, after)
            taken.append(action)
            state = after
        seen.append(taken)
    assert seen[0] == seen[1]


def test_a_plan_that_does_not_converge_says_so_in_the_same_words(monkeypatch, everything_is_large):
    model, reward = WORLDS["river"]
    told = []
    for number in ("1", "2"):
        monkeypatch.setenv(THREADS_VARIABLE, number)
        known = eq.confidence.Known(model)
        agent = eq.TocUCRL2(
            model.space, reward, confidence=known, tolerance=1e-12, planner=eq.planning.Planner(limit=5)
        )
        with pytest.raises(ConvergenceError) as failed:
            eq.simulate(model, agent, 100, seed=0, progress=False)
        told.append(str(failed.value))
    assert told[0] == told[1]


def test_gains_are_the_same_with_any_number(monkeypatch, everything_is_large):
    model, _ = WORLDS["garnet"]
    found = []
    for number in ("1", "2", "7"):
        monkeypatch.setenv(THREADS_VARIABLE, number)
        gain = GainSearch(model).best(model.means[:, 0].copy(), 1e-10)
        found.append((gain.lower, gain.upper, gain.bias.tobytes(), gain.pairs.tolist()))
    assert found[0] == found[1] == found[2]
