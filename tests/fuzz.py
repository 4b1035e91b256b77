"""Files with right checksums and wrong content: none of them may end the process, or raise anything but a named error.

`python -m tests.fuzz --mutations 20000` takes the golden files of agents, and files of models and steerings made here,
and changes them: entries replaced by extremes, negatives and neighbours; arrays cut, extended, duplicated, exchanged,
of another type or shape; fields of the header replaced, removed or added; members compressed or cut. Every file is
loaded, and used for some steps if it is accepted, in a child process: a crash is seen, named, and reproduced by its
number with `--only NUMBER`. The same seed makes the same files.
"""

from __future__ import annotations

import argparse
import contextlib
import copy
import json
import resource
import signal
import subprocess
import sys
import tempfile
import traceback
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import equipoise as eq
from equipoise._files import read_saved, write_npz
from equipoise.agents import Steering
from tests.agents.kinds import CASES, Case

GOLDEN = Path(__file__).parent / "pins" / "saved"
VERSIONS = {"agent": 4, "model": 1, "steering": 1}
_MEMORY = 6 << 30  # bytes of address space of a child
_SECONDS = 20  # of the processor that a file may take: a header may ask for plans that never end
_STOPPED = 3  # the exit code of a child that stopped a file: numba does not survive that while it compiles
_BATCH = 2000  # files per child

WHOLE = (-(2**63), -(2**63) + 1, -(2**62), -(2**32), -5, -2, -1, 0, 1, 2, 3, 2**31, 2**32, 2**62, 2**63 - 2, 2**63 - 1)
REAL = (np.nan, np.inf, -np.inf, -1.0, -0.0, 0.0, 0.5, 1.0, 1.0 + 1e-15, 2.0, 1e9, 1e308, 5e-324, -1e308)
HEADER: tuple[Any, ...] = (
    None, True, False, -1, 0, 1, 2, 7, 10**9, 10**20, -(2**63), 0.5, float("nan"), float("inf"), -1e308, "", "?",
    "FrankWolfe", "TocUCRL2", "Adaptive", "Linear", "os:system", [], [[]], [0], [0.5, 0.5, 0.5], {},
    {"kind": "Doubling"}, {"kind": "Box"}, {"kind": "Known"},
    {"array": "clock"}, {"array": "nothing"}, {"kind": "Quadratic", "target": [0.5]}, {"tuple": [1]},
)  # fmt: skip


class _TooSlow(BaseException):
    """The time of a file is over."""


@dataclass
class Base:
    """A good file, and the model that an agent in it was made for."""

    name: str
    kind: str
    header: dict[str, Any]
    arrays: dict[str, NDArray[Any]]
    model: eq.Model | None = None


@dataclass
class Tally:
    """What came of the mutations, and those that went wrong."""

    counts: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)


def steering() -> Steering:
    return Steering(eq.rewards.BottomSum(3, 1), eq.oracles.Doubling(eq.oracles.SignedSimplex()))


def without_golden_files() -> dict[str, Case]:
    """Agents of which no golden file is kept."""
    nulls = CASES["knapsack"].model
    best = eq.solve(nulls, eq.rewards.BottomSum(3, 1), progress=False)
    chosen = ("mixture", "mixture, drawn", "mixture, known", "posterior program")
    return {name: CASES[name] for name in chosen} | {"optimum": Case(nulls, lambda: best.agent(nulls.space))}


def models() -> dict[str, eq.Model]:
    three = [(0.3, 0, [0.0, 1.0]), (0.4, 1, [0.4, 0.5]), (0.3, 1, [1.0, 0.0])]
    other = [(0.5, 0, [0.9, 0.1]), (0.5, 1, [0.7, 0.2])]
    return {
        "model, table": eq.models.garnet(5, 3, 3, 3, seed=8),
        "model, labels": eq.models.queue(),
        "model, branches": eq.Model.from_branches([[three, other], [other, three]]),
        "model, told": eq.models.riverswim(4).visits(),
        "model, sparse": eq.models.ring(1100).visits(),
        "model, mechanics": eq.mechanics.inventory().model(),
    }


def bases() -> list[Base]:
    """Every kind of file, read from golden files and files made here."""
    from tests.pins.cases import saved

    expected = json.loads((GOLDEN / "expected.json").read_text())
    makers, found = saved(), []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "file.npz"

        def add(name: str, kind: str, file: Path, model: eq.Model | None = None) -> None:
            content = read_saved(file, VERSIONS)
            found.append(Base(name, kind, content.header, content.arrays, model))

        for file, entry in expected.items():
            model, _ = makers[entry["name"]]()
            add(entry["name"], "agent", GOLDEN / file, model)
            if entry["name"] in (
                "table",
                "knapsack",
                "knapsack, the paper's",
                "mechanics: one noise",
                "sparse: Adaptive, Quadratic",
                "round robin",
            ):
                agent = eq.agents.Agent.load(GOLDEN / file)
                agent.act(agent.state)
                agent.save(path)
                add(f"{entry['name']}, pending", "agent", path, model)
        for name, case in without_golden_files().items():
            agent = case.make()
            eq.simulate(case.model, agent, 300, seed=1, progress=False)
            agent.save(path)
            add(name, "agent", path, case.model)
        for name, model in models().items():
            model.save(path)
            add(name, "model", path)
        made = steering()
        for _ in range(100):
            made.observe([1.0, 0.0, 0.5])
            made.turn()
        made.save(path)
        add("steering", "steering", path)
    return found


# -- changes ---------------------------------------------------------------------------------------------------------


def _value(rng: np.random.Generator, array: NDArray[Any]) -> Any:
    """An extreme, a neighbour of what is there, or something about as large as arrays are."""
    kind = array.dtype.kind
    if kind in "iu":
        near = [int(array.flat[rng.integers(array.size)]) + d for d in (-1, 1)] if array.size else [0]
        some = int(rng.choice([*WHOLE, array.size - 1, array.size, array.size + 1, *near, int(rng.integers(0, 200))]))
        limits = np.iinfo(array.dtype)
        return min(max(some, int(limits.min)), int(limits.max))
    if kind == "f":
        near = [np.nextafter(array.flat[rng.integers(array.size)], d) for d in (-1, 2)] if array.size else [0.0]
        return rng.choice([*REAL, *near, rng.random()])
    return bool(rng.integers(2)) if kind == "b" else "x"


def change_entries(rng: np.random.Generator, array: NDArray[Any]) -> NDArray[Any]:
    array = array.copy()
    for _ in range(rng.integers(1, 4)):
        if array.size:
            array.flat[rng.integers(array.size)] = _value(rng, array)
    return array


def change_stretch(rng: np.random.Generator, array: NDArray[Any]) -> NDArray[Any]:
    array = array.copy()
    begin = int(rng.integers(array.size + 1))
    flat = array.reshape(-1)
    flat[begin : begin + int(rng.integers(1, array.size + 2))] = _value(rng, array)
    return flat.reshape(array.shape)


def wrap_around(rng: np.random.Generator, array: NDArray[Any]) -> NDArray[Any]:
    """Neighbours whose difference wraps around 2^63, as pointers of a file that is meant to do harm."""
    array = array.copy()
    if array.dtype.kind == "i" and array.size > 2:
        place = int(rng.integers(array.size - 2))
        flat = array.reshape(-1)
        flat[place], flat[place + 1] = 2**63 - 1, -(2**63) + int(rng.integers(1, 50))
        flat[place + 2 : -1] = -5 + np.arange(flat[place + 2 : -1].size)
    return array


def scale(rng: np.random.Generator, array: NDArray[Any]) -> NDArray[Any]:
    if array.dtype.kind not in "iuf":
        return ~array if array.dtype.kind == "b" else array
    with np.errstate(all="ignore"):
        factor = int(rng.choice([0, 2, 3])) if array.dtype.kind == "u" else rng.choice([-1, 0, 2, 3])
        return (array * factor).astype(array.dtype)


def reorder(rng: np.random.Generator, array: NDArray[Any]) -> NDArray[Any]:
    if not array.ndim:
        return array
    ways = (lambda a: a[::-1], lambda a: np.roll(a, 1, 0), lambda a: np.sort(a, 0), lambda a: rng.permutation(a))
    return np.ascontiguousarray(ways[rng.integers(4)](array))


def resize(rng: np.random.Generator, array: NDArray[Any]) -> NDArray[Any]:
    if not array.ndim:
        return array[None]
    ways = (
        lambda a: a[:-1], lambda a: a[:0], lambda a: a[: len(a) // 2], lambda a: np.concatenate([a, a]),
        lambda a: np.concatenate([a, a[-1:]]), lambda a: np.concatenate([a[:1], a]),
        lambda a: np.concatenate([a, np.zeros_like(a[:1])]),
    )  # fmt: skip
    return ways[rng.integers(len(ways))](array)


def retype(rng: np.random.Generator, array: NDArray[Any]) -> NDArray[Any]:
    with np.errstate(all="ignore"):
        return array.astype(rng.choice(["i4", "u8", "f8", "f4", "i8", ">i8", "?", "U8", "c16", "M8[s]"]))


def reshape(rng: np.random.Generator, array: NDArray[Any]) -> NDArray[Any]:
    ways = (lambda a: a[None], lambda a: a.reshape(-1), lambda a: a[..., None], lambda a: a.T, np.asfortranarray)
    return ways[rng.integers(len(ways))](array)


CHANGES: tuple[Callable[[np.random.Generator, NDArray[Any]], NDArray[Any]], ...] = (
    change_entries, change_entries, change_entries, change_stretch, wrap_around, scale, reorder, resize, retype,
    reshape,
)  # fmt: skip


def change_arrays(rng: np.random.Generator, arrays: dict[str, NDArray[Any]]) -> None:
    names = sorted(arrays)
    name = str(rng.choice(names))
    way = int(rng.integers(20))
    if way == 0:
        del arrays[name]
    elif way == 1:
        arrays[name] = arrays[str(rng.choice(names))].copy()
    elif way == 2:
        arrays[f"{name}x"] = arrays.pop(name)
    else:
        with contextlib.suppress(ValueError, TypeError):  # a change that this array cannot take
            arrays[name] = CHANGES[rng.integers(len(CHANGES))](rng, arrays[name])


def change_pool(rng: np.random.Generator, arrays: dict[str, NDArray[Any]]) -> None:
    """Several numbers about a pool at once, so that they agree with each other and not with the pool."""
    pools = sorted({name.rpartition(".")[0] for name in arrays if name.endswith("block_used")})
    if not pools:
        return
    pool = str(rng.choice(pools))
    used, room, first = (arrays[f"{pool}.block_{name}"].copy() for name in ("used", "room", "first"))
    pair = int(rng.integers(used.size))
    way = int(rng.integers(5))
    if way == 0:
        room[pair] = used[pair]
    elif way == 1:
        used[pair] = room[pair]
    elif way == 2:
        first[pair] = first[int(rng.integers(first.size))]
    elif way == 3:
        room[:] = used
    end = arrays[f"{pool}.end"].copy()
    if way == 4:
        for name in arrays:
            if name.startswith(f"{pool}.pool_"):
                arrays[name] = arrays[name][: int(end[0])].copy()
    arrays |= {f"{pool}.block_used": used, f"{pool}.block_room": room, f"{pool}.block_first": first}
    if end.size == 4:
        end[1], end[2], end[3] = used.sum(), room.max(initial=0), rng.integers(2)
    arrays[f"{pool}.end"] = end


def change_header(rng: np.random.Generator, header: Any) -> None:
    """One field, at any depth: replaced, moved by one, removed or added."""
    spots = list(_spots(header))
    if not spots:
        return
    inside, key = spots[rng.integers(len(spots))]
    way, old = int(rng.integers(6)), inside[key]
    if way == 0:
        del inside[key]
    elif way == 1 and isinstance(inside, dict):
        inside[f"{key}x"] = old
    elif way == 2 and isinstance(old, int | float) and not isinstance(old, bool):
        inside[key] = old + (1 if rng.integers(2) else -1)
    elif way == 3 and isinstance(old, list):
        inside[key] = old + old if rng.integers(2) else old[:-1]
    else:
        inside[key] = copy.deepcopy(HEADER[rng.integers(len(HEADER))])


def _spots(value: Any) -> Iterator[tuple[Any, Any]]:
    keys = list(value) if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    for key in keys:
        yield value, key
        yield from _spots(value[key])


def damage_zip(rng: np.random.Generator, path: Path) -> None:
    """What a writer of zip files may do, and a reader must refuse or take for the same."""
    content = bytearray(path.read_bytes())
    way = int(rng.integers(4))
    if way == 0:
        with zipfile.ZipFile(path) as archive:
            members = {name: archive.read(name) for name in archive.namelist()}
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, data in members.items():
                archive.writestr(name, data)
        return
    if way == 1:
        del content[int(rng.integers(len(content))) :]
    else:
        for _ in range(rng.integers(1, 4)):
            content[int(rng.integers(len(content)))] ^= int(rng.integers(1, 256))
    path.write_bytes(content)


def mutated(base: Base, rng: np.random.Generator, path: Path) -> None:
    """Write a file like another one, but for one to three changes."""
    header, arrays = copy.deepcopy(base.header), dict(base.arrays)
    for _ in range(rng.integers(1, 4)):
        way = int(rng.integers(10))
        if way < 6 and arrays:
            change_arrays(rng, arrays)
        elif way < 7:
            with contextlib.suppress(KeyError, ValueError, TypeError, IndexError):  # of a pool that is no pool any more
                change_pool(rng, arrays)
        else:
            change_header(rng, header)
    version = VERSIONS[base.kind] + (int(rng.integers(-2, 3)) if rng.integers(100) == 0 else 0)
    write_npz(path, arrays, header, base.kind, version)
    if rng.integers(40) == 0:
        damage_zip(rng, path)


# -- what is done with a file ----------------------------------------------------------------------------------------


def use_agent(agent: eq.agents.Agent, model: eq.Model | None, path: Path) -> None:
    zeros = np.zeros(agent.space.n_outcomes)
    if agent.pending:
        with contextlib.suppress(eq.EquipoiseError):
            agent.observe(zeros, 0)
    if model is not None:
        with contextlib.suppress(eq.EquipoiseError):  # it may be one for another model by now
            eq.simulate(model, agent, 60, seed=1, progress=False)
    for turn in range(20):
        with contextlib.suppress(eq.EquipoiseError):
            action = agent.act(agent.state)
            if not 0 <= action < agent.space.n_actions[agent.state]:
                raise AssertionError(f"action {action} in state {agent.state}")
            agent.observe(zeros, (agent.state + turn) % agent.space.n_states)
        if agent.pending:
            agent.resume(agent.state)
    with contextlib.suppress(eq.EquipoiseError):
        str(agent.certificate())
    copy.copy(agent)
    _ = repr(agent), agent.episodes, agent.average, agent.best_possible
    agent.save(path)


def use_model(model: eq.Model) -> None:
    with contextlib.suppress(eq.EquipoiseError):
        model.is_communicating()
        world = model.world(0)
        for _ in range(20):
            world.step(0)
        agent = eq.agents.baselines.RoundRobin(model.space, eq.rewards.Linear([1.0] * model.n_outcomes))
        eq.simulate(model, agent, 50, seed=1, progress=False)
        if model.n_states < 100:
            model.diameter(progress=False)
            learner = eq.recommended(model.mechanics_space, agent.reward)
            eq.simulate(model, learner, 20, seed=1, progress=False)
    _ = repr(model), model.max_successors


def attempt(base: Base, path: Path) -> str:
    """Load a file, and use it if it is accepted; "refused" or "accepted"."""
    made = steering() if base.kind == "steering" else None
    try:
        if made is not None:
            made.resume(path)
        loaded = eq.Model.load(path) if base.kind == "model" else eq.agents.Agent.load(path) if made is None else made
    except eq.EquipoiseError:
        return "refused"
    if isinstance(loaded, eq.Model):
        use_model(loaded)
    elif isinstance(loaded, Steering):
        for _ in range(20):
            with contextlib.suppress(eq.EquipoiseError):
                loaded.observe([0.5, 0.0, 1.0])
                loaded.turn()
    else:
        use_agent(loaded, base.model, path)
    return "accepted"


def child(seed: int, begin: int, end: int, folder: Path) -> None:
    """Try files number `begin` to `end` - 1; what is done is written down before and after each."""
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))

    def stop(_number: int, _frame: object) -> None:
        raise _TooSlow

    signal.signal(signal.SIGPROF, stop)
    found = bases()
    path = folder / "mutated.npz"
    for base in found:  # compiles what is needed, before anything is timed
        write_npz(path, base.arrays, base.header, base.kind, VERSIONS[base.kind])
        if attempt(base, path) != "accepted":
            raise AssertionError(f"{base.name}: refused, and nothing was changed")
    with (folder / "log").open("a") as log:
        for number in range(begin, end):
            rng = np.random.default_rng([seed, number])
            base = found[number % len(found)]
            log.write(f"{json.dumps({'number': number, 'base': base.name})}\n")
            log.flush()
            result, reason = "slow", ""
            try:
                mutated(base, rng, path)
                signal.setitimer(signal.ITIMER_PROF, _SECONDS)
                result = attempt(base, path)
            except _TooSlow:
                pass
            except Exception:
                result, reason = "wrong", traceback.format_exc()
            finally:
                signal.setitimer(signal.ITIMER_PROF, 0)
            log.write(f"{json.dumps({'number': number, 'base': base.name, 'result': result, 'reason': reason})}\n")
            log.flush()
            if result == "slow":
                sys.exit(_STOPPED)


def fuzz(mutations: int, seed: int = 0, begin: int = 0, tell: Callable[[str], None] = lambda _: None) -> Tally:
    """Try so many files, in children; a child that ends by a signal is counted, and another one goes on after it."""
    tally, end = Tally(), begin + mutations
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        while begin < end:
            log = folder / "log"
            log.write_text("")
            until = min(end, begin + _BATCH)
            arguments = ["--child", str(seed), str(begin), str(until), name]
            done = subprocess.run([sys.executable, "-m", "tests.fuzz", *arguments], capture_output=True, text=True)
            lines = [json.loads(line) for line in log.read_text().splitlines()]
            for line in lines:
                if "result" in line:
                    tally.counts[line["result"]] += 1
                if line.get("result") in ("wrong", "slow"):
                    tell(f"{line['result']}: number {line['number']}, {line['base']}\n{line['reason']}")
                if line.get("result") == "wrong":
                    tally.wrong.append(f"{line['number']}, {line['base']}: {line['reason'].splitlines()[-1]}")
            if done.returncode == 0:
                begin = until
            elif done.returncode == _STOPPED:
                begin = lines[-1]["number"] + 1
            elif lines and "result" not in lines[-1]:
                tally.counts["crash"] += 1
                tally.wrong.append(f"{lines[-1]['number']}, {lines[-1]['base']}: ended with {done.returncode}")
                tell(f"crash: {tally.wrong[-1]}\n{done.stderr[-2000:]}")
                begin = lines[-1]["number"] + 1
            else:
                raise RuntimeError(f"the fuzzer itself failed:\n{done.stderr[-4000:]}")
            tell(f"{begin} of {end}: {dict(tally.counts)}")
    return tally


def main() -> int:
    if sys.argv[1:2] == ["--child"]:
        child(*map(int, sys.argv[2:5]), Path(sys.argv[5]))
        return 0
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mutations", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", type=int, help="the number of one mutation")
    given = parser.parse_args()
    begin, count = (0, given.mutations) if given.only is None else (given.only, 1)
    tally = fuzz(count, given.seed, begin, tell=lambda text: print(text, flush=True))
    print(f"{sum(tally.counts.values())} files: {dict(tally.counts)}")
    return 1 if tally.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
