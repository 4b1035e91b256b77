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
from equipoise._runtime import cache
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


HEAVY = (
    "altair cvxpy polars pydantic rich scipy.optimize scipy.sparse.csgraph scipy.sparse.linalg scipy.stats "
    "equipoise.adapters equipoise.mechanics equipoise.reports equipoise.studies "
    "equipoise.testing equipoise.theory"
)


def _loaded(code):
    """The modules of a new process after it ran some code."""
    code = f"{code}\nimport sys; print(*sys.modules)"
    return set(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split())


def test_importing_the_package_loads_nothing_else():
    assert {
        one for one in _loaded("import equipoise") if one.split(".")[0] in {"equipoise", "numpy", "numba", "scipy"}
    } == {
        "equipoise",
        "equipoise._version",
    }


def test_an_agent_loads_no_heavy_library():
    names = "eq.TocUCRL2, eq.recommended, eq.simulate, eq.models, eq.rewards, eq.oracles, eq.confidence"
    loaded = _loaded(f"import equipoise as eq; {names}")
    assert "equipoise.agents.toc_ucrl2" in loaded
    assert loaded.isdisjoint(HEAVY.split())


def test_every_public_name_is_there_before_it_is_used():
    code = """if True:
        import equipoise as eq, inspect, pickle
        names = dir(eq)
        assert set(eq.__all__) <= set(names), names
        for name in eq.__all__:
            value = getattr(eq, name)
            assert vars(eq)[name] is value
            if inspect.isclass(value) or inspect.isfunction(value):
                assert pickle.loads(pickle.dumps(value)) is value
        try:
            eq.no_such_name
        except AttributeError as error:
            assert "no_such_name" in str(error)
        else:
            raise AssertionError
    """
    _loaded(code)


def test_importing_leaves_numbas_settings_alone():
    code = "import numba; before = numba.config.CACHE_DIR; import equipoise; assert numba.config.CACHE_DIR == before"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_cache_folder_follows_the_sources(tmp_path, monkeypatch):
    assert cache.cache_folder().name == cache.source_hash()
    monkeypatch.setattr(cache, "__file__", str(tmp_path / "_runtime/cache.py"))
    (tmp_path / "_runtime").mkdir()
    (tmp_path / "_runtime/cache.py").write_text("a = 1\n")
    first = cache.source_hash()
    (tmp_path / "_runtime/cache.py").write_text("a = 2\n")
    second = cache.source_hash()
    assert second != first
    (tmp_path / "studies").mkdir()
    (tmp_path / "studies" / "rates.py").write_text("a = 1\n")
    assert cache.source_hash() == second


def test_rooms_without_kernels_compile_nothing():
    root = Path(cache.__file__).parent.parent
    files = [path for room in cache.ROOMS_WITHOUT_KERNELS for path in (root / room).rglob("*.py")]
    assert len(files) > 50
    for path in files:
        assert not re.search(r"equipoise\._runtime\.(compiler|frames)|_entry import|njit", path.read_text()), path


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


def _folder_in_a_process(code="", **environment):
    """The cache's folder as a new process finds it, with only these variables changed; None: not set."""
    code += "\nfrom equipoise._runtime import cache; print(cache.cache_folder())"
    variables = {name: value for name, value in {**os.environ, **environment}.items() if value is not None}
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=variables)
    return Path(out.stdout.strip())


def test_an_unwritable_cache_is_no_obstacle_and_leaves_one_folder_for_all_processes(tmp_path):
    locked = tmp_path / "file"
    locked.write_text("")  # a file where a folder should be
    found = {_folder_in_a_process(EQUIPOISE_CACHE_DIR=str(locked / "x"), TMPDIR=str(tmp_path)) for _ in range(2)}
    assert found == {tmp_path / f"equipoise-{os.getuid()}" / cache.source_hash()}
    (root,) = {folder.parent for folder in found}
    assert root.stat().st_mode & 0o077 == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == [root.name, "file"]


def test_a_temporary_cache_that_others_can_write_is_not_used(tmp_path):
    """Its files would be run; then each process has a folder of its own, and removes it at its end."""
    root = tmp_path / f"equipoise-{os.getuid()}"
    root.mkdir(mode=0o777)
    root.chmod(0o777)
    folder = _folder_in_a_process(EQUIPOISE_CACHE_DIR="/dev/null/x", TMPDIR=str(tmp_path))
    assert folder.parent == tmp_path
    assert list(tmp_path.iterdir()) == [root]


def test_without_a_home_the_package_can_be_imported(tmp_path):
    code = "import pathlib\ndef unknown(cls): raise RuntimeError('Could not determine home directory.')"
    code += "\npathlib.Path.home = classmethod(unknown)"
    nowhere = dict.fromkeys(("EQUIPOISE_CACHE_DIR", "XDG_CACHE_HOME", "HOME"))
    folder = _folder_in_a_process(code, **nowhere, TMPDIR=str(tmp_path))
    assert folder.parent == tmp_path / f"equipoise-{os.getuid()}"


def test_only_folders_of_the_cache_are_removed(tmp_path):
    """Old folders of others stay, whatever they are called; unused ones of the cache go."""
    names = ("thesis", "0" * 16, "1" * 16, "2" * 16, "3" * 16, "equipoise-kernels")
    old = cache.time.time() - 2 * cache._UNUSED_SECONDS
    for name in names:
        folder = tmp_path / name
        folder.mkdir()
        (folder / "file").write_text("years of work")
        if name not in ("0" * 16, "equipoise-kernels"):  # 0: somebody else's of such a name, without the marker
            (folder / cache.MARKER).touch()
            os.utime(folder / cache.MARKER, None if name == "1" * 16 else (old, old))  # 1: in use
        os.utime(folder, (old, old))
    (tmp_path / ("4" * 16)).symlink_to(tmp_path / "thesis")
    _folder_in_a_process(EQUIPOISE_CACHE_DIR=str(tmp_path))
    left = {path.name for path in tmp_path.iterdir()} - {cache.source_hash(), "4" * 16}
    assert left == set(names) - {"2" * 16, "3" * 16}
    assert (tmp_path / "thesis" / "file").read_text() == "years of work"


KERNEL = """
from equipoise._runtime.compiler import entry
from helper import factor

@entry
def half(t, n, x, params, out):
    out[0] = factor(x[0])
"""
HELPER = """
from equipoise._runtime.compiler import inlined

@inlined
def factor(x):
    return 0.5 * x
"""
CALL = """
import numpy as np, sys
from equipoise._runtime.compiler import invoke
from mine import half

out = np.zeros(1)
invoke(half.address, 0, np.ones(1), out, out)
print(out[0])
"""


def test_kernels_of_a_user_follow_the_sources_of_all_his_modules(tmp_path):
    """numba itself looks at the file of the outer function only, and would go on with the old helper."""
    paths = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "EQUIPOISE_CACHE_DIR": str(tmp_path / "cache"), "PYTHONPATH": paths}
    (tmp_path / "mine.py").write_text(KERNEL)
    for text, expected in ((HELPER, "0.5"), (HELPER.replace("0.5", "0.25"), "0.25"), (HELPER, "0.5")):
        (tmp_path / "helper.py").write_text(text)
        done = subprocess.run([sys.executable, "-c", CALL], capture_output=True, text=True, env=environment)
        assert (done.stdout.strip(), done.returncode) == (expected, 0), done.stderr


ASK = "import equipoise as eq; print(eq.rewards.Linear([1.0, 3.0]).value([0.5, 0.25]))"


def test_damaged_kernels_are_compiled_again(tmp_path):
    environment = {**os.environ, "EQUIPOISE_CACHE_DIR": str(tmp_path), "EQUIPOISE_QUIET": "1"}

    def answer():
        done = subprocess.run([sys.executable, "-c", ASK], capture_output=True, text=True, env=environment)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    assert answer() == "1.25"
    for suffix in ("nbi", "nbc"):
        for cut in (0, 20, -5):
            files = list(tmp_path.rglob(f"*.{suffix}"))
            assert files
            for file in files:
                file.write_bytes(file.read_bytes()[:cut])
            assert answer() == "1.25"
            whole = {file: file.stat().st_mtime_ns for file in tmp_path.rglob("*.nb?")}
            assert answer() == "1.25"
            assert whole == {file: file.stat().st_mtime_ns for file in tmp_path.rglob("*.nb?")}  # mended


def test_a_full_disk_costs_time_and_nothing_else(tmp_path):
    """Files may not grow beyond a few bytes, as on a full disk: kernels work, and one line says that none is kept."""
    code = "import resource, signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
    code += f"import equipoise as eq; resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))\n{ASK}"
    environment = {**os.environ, "EQUIPOISE_CACHE_DIR": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment)
    assert (done.stdout.strip(), done.returncode) == ("1.25", 0), done.stderr
    assert done.stderr.count("compiled kernels cannot be kept in") == 1
    assert "(File too large)" in done.stderr


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

    names = ("run", "ready", "observe_once")
    before = {name: set(map(str, getattr(kernels, name).signatures)) for name in names}
    for model, agent in agents():
        world = model.world(seed=0)
        agent.observe(*world.step(agent.act(agent.state)), noise=world.noise)
        eq.simulate(model, agent, 100)
    for name in names:
        new = set(map(str, getattr(kernels, name).signatures)) - before[name]
        assert len(new) == 1 or (not new and before[name]), name
        assert all((LawArrays.__name__ in types) == (agents is _agents_that_are_told_mechanics) for types in new)
