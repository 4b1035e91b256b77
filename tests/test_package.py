"""The package as a whole: what it exports, what it loads, how its kernels are compiled."""

from __future__ import annotations

import os
import pickle
import re
import subprocess
import sys
from pathlib import Path

import pytest

import equipoise as eq
from equipoise import _cache
from equipoise.models.laws.laws import LawArrays


def test_the_public_surface():
    fixed = (
        "Model Space models rewards oracles confidence TocUCRL2 simulate solve solve_knapsack Benchmark EquipoiseError"
    )
    for name in fixed.split(" "):
        assert name in eq.__all__
    for name in eq.__all__:
        assert hasattr(eq, name)
    rewards = (
        "Linear Quadratic TargetSquared TargetDistance Balance BottomSum GeneralisedGini ProportionalFairness "
        "Entropy RelativeEntropy Knapsack Custom"
    )
    assert set(rewards.split()) <= set(eq.rewards.__all__)
    assert {"FrankWolfe", "TunedGradientDescent", "TunedMirrorDescent", "Doubling"} <= set(eq.oracles.__all__)
    assert {"bandit", "hub", "scalar_hub", "star", "ring", "riverswim", "garnet", "grid"} <= set(eq.models.__all__)
    errors = [getattr(eq.errors, name) for name in dir(eq.errors) if name.endswith("Error")]
    assert all(issubclass(error, eq.EquipoiseError) for error in errors)


def test_heavy_libraries_are_not_imported():
    code = "import equipoise, sys; print([m for m in ('cvxpy', 'polars', 'altair', 'rich') if m in sys.modules])"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert out.strip() == "[]"


def test_importing_leaves_numbas_settings_alone():
    code = "import numba; before = numba.config.CACHE_DIR; import equipoise; assert numba.config.CACHE_DIR == before"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_cache_folder_follows_the_sources(tmp_path, monkeypatch):
    assert _cache.cache_folder().name == _cache.source_hash()
    monkeypatch.setattr(_cache, "__file__", str(tmp_path / "_cache.py"))
    (tmp_path / "_cache.py").write_text("a = 1\n")
    first = _cache.source_hash()
    (tmp_path / "_cache.py").write_text("a = 2\n")
    second = _cache.source_hash()
    assert second != first
    (tmp_path / "paper").mkdir()
    (tmp_path / "paper" / "rates.py").write_text("a = 1\n")
    assert _cache.source_hash() == second


def test_rooms_without_kernels_compile_nothing():
    root = Path(_cache.__file__).parent
    files = [path for room in _cache.ROOMS_WITHOUT_KERNELS for path in (root / room).rglob("*.py")]
    assert len(files) > 50
    for path in files:
        assert not re.search(r"equipoise\._(compile|frames)|_entry import|njit", path.read_text()), path


@pytest.mark.slow
def test_a_cold_start_says_what_it_does_and_a_warm_one_nothing(tmp_path):
    code = (
        "import equipoise as eq\n"
        "m = eq.models.bandit(2)\n"
        "eq.simulate(m, eq.TocUCRL2(m.space, eq.rewards.Quadratic([.5, .5])), 100)\n"
    )
    environment = dict(os.environ) | {"EQUIPOISE_CACHE_DIR": str(tmp_path)}
    said = [
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment).stderr
        for _ in range(2)
    ]
    assert "compiling the agent's kernels, once for this version" in said[0]
    assert said[1] == ""


def test_an_unwritable_cache_is_no_obstacle(tmp_path):
    locked = tmp_path / "file"
    locked.write_text("")  # a file where a folder should be
    code = "from equipoise import _cache; print(_cache.cache_folder())"
    environment = dict(os.environ) | {"EQUIPOISE_CACHE_DIR": str(locked / "x"), "TMPDIR": str(tmp_path)}
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment)
    assert str(tmp_path) in out.stdout


def _agents_that_are_told_tables():
    for model in (eq.models.bandit(2), eq.models.garnet(4, 2, 2, 2), eq.models.star(2, 2)):
        yield model, eq.TocUCRL2(model.space, eq.rewards.Quadratic([0.5, 0.5]))
    known = eq.confidence.Known(model)
    yield model, eq.TocUCRL2(model.space, eq.rewards.BottomSum(2, 1), confidence=known, tolerance=1e-3)


def _agents_that_are_told_mechanics():
    shop, sites, river = eq.mechanics.inventory(), eq.mechanics.sites(), eq.models.riverswim(3)
    goals = eq.rewards.TargetSquared([0.95, 0.75, 0.8])
    yield shop.model(), eq.TocUCRL2(shop.space, goals)
    yield shop.model(), pickle.loads(pickle.dumps(eq.recommended(shop.space, goals)))
    yield sites.model(), eq.TocUCRL2(sites.space, eq.rewards.BottomSum(3, 1), confidence=eq.confidence.L1())
    told = river.space.knowing(known_transitions={(0, 0): {0: 1.0}})  # the cases of its branches are worked out
    yield river, eq.TocUCRL2(told, eq.rewards.Linear([1.0]), confidence=eq.confidence.PosteriorSampling())


@pytest.mark.parametrize("agents", [_agents_that_are_told_tables, _agents_that_are_told_mechanics])
def test_kernels_are_compiled_once(agents):
    """One specialisation each for agents that are told a table, and one for those that are told mechanics.

    An array of another type would cost seconds of compilation in every process. Other tests may have called the
    kernels of either in this process.
    """
    from equipoise.agents import kernels

    for model, agent in agents():
        world = model.world(seed=0)
        agent.observe(*world.step(agent.act(agent.state)), noise=world.noise)
        eq.simulate(model, agent, 100)
    for name in ("run", "ready", "observe_once"):
        with_laws = [LawArrays.__name__ in str(types) for types in getattr(kernels, name).signatures]
        assert with_laws.count(agents is _agents_that_are_told_mechanics) == 1, name
