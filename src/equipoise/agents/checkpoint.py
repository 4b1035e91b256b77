"""Agents in files: their arrays, and the specs of what they were made of. No pickle.

An agent can be saved at any moment, even between `act` and `observe`. After loading it continues with the same
trajectory, because everything that determines the next step is in the file. Its header holds

    start, labels            of the space
    sparse_outcomes          true, if the space says so
    laws                     of its mechanics, if these are known
    reward, agent            what the agent was made of, as specs (`_spec`)
    memory                   what `Agent.memory` returned: plain data, with {"array": name} instead of arrays

and its arrays are those of the space, of models within the specs, the clock, the total of the outcomes, and those
of the memory. Loading makes the agent again, so that every argument is checked as a user's would be, and lets it
restore its memory.

`AgentState` is the memory of `TocUCRL2`, and `unpack_state` checks it. Kernels check nothing: every array that comes
back must have the type and the shape of a new agent's, and every index that kernels follow must be in range.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from equipoise._checks import LARGEST, check_int
from equipoise._files import blaming, ensure, load_array, read_npz, write_npz
from equipoise._spec import Maker, SpecReader, from_spec, kind_of, to_spec
from equipoise._types import Vector
from equipoise.agents.base import Agent
from equipoise.agents.dual_bound import Proof, empty_proof
from equipoise.agents.episodes import TRIGGERS, Episodes
from equipoise.agents.phase import clock_fits_oracle
from equipoise.agents.state import Memory, as_plain, as_record, clock_fits, clock_numbers, set_clock
from equipoise.confidence.base import Confidence
from equipoise.confidence.counts import Counts, check_successors, empty_counts
from equipoise.confidence.nonzero import NonzeroSums, check_sums
from equipoise.errors import ContractError, EquipoiseError, FileError, RewardError
from equipoise.models.labels import Labels
from equipoise.models.laws.laws import Laws
from equipoise.models.model import Model, Space
from equipoise.models.outcome_rows import entries, pack_rows, unpack_rows
from equipoise.rewards.base import Reward
from equipoise.rewards.custom import Custom

if TYPE_CHECKING:
    from equipoise.agents.toc_ucrl2 import TocUCRL2

_A = TypeVar("_A", bound=Agent)
Header = dict[str, Any]
Arrays = dict[str, NDArray[Any]]

KIND: Final = "agent"
VERSION: Final = 4
_SPACE_ARRAYS: Final = ("first_pair", "known_mask")
_KNOWN_OUTCOMES: Final = "space.known_outcomes"
_REQUIRED_FIELDS: Final = ("start", "labels", "reward", "agent", "memory")
_FIELDS: Final = (*_REQUIRED_FIELDS, "sparse_outcomes", "laws")
_PROVEN: Final = ("bound", "time", "theta")
_TOLERANCE: Final = 1e-9  # relative: between values of a reward, and sums in another order, on two machines


def save_agent(agent: Agent, path: str | os.PathLike[str]) -> None:
    """Write an agent to `path`, atomically."""
    with agent.loop.settled():  # until all is written: arrays are not copied
        try:
            header, arrays = _pack_agent(agent)
        except (ContractError, RewardError) as error:
            raise FileError(f"{path}: not written; {error}") from error
        write_npz(path, arrays, header, KIND, VERSION)


def load_agent(kind: type[_A], path: str | os.PathLike[str], reward: Reward | None) -> _A:
    """Read an agent."""
    header, arrays = read_npz(path, KIND, VERSION)
    with blaming(path, "holds no agent that can go on"):
        agent = _rebuild_agent(header, arrays, reward, kind)
    if not isinstance(agent, kind):
        raise FileError(f"{path}: it holds a {type(agent).__name__}; a {kind.__name__} was asked for")
    return agent


def _pack_agent(agent: Agent) -> tuple[Header, Arrays]:
    arrays: Arrays = {f"space.{name}": getattr(agent.space, name) for name in _SPACE_ARRAYS}
    arrays |= pack_rows(_KNOWN_OUTCOMES, agent.space.known_rows)
    laws = agent.space.laws
    mechanics: Header = {}
    if laws is not None:
        mechanics, parts = laws.pack()
        arrays |= {f"laws.{name}": part for name, part in parts.items()}
    arrays["clock"], arrays["total"] = clock_numbers(agent._clock), agent._total
    write = _model_writer(arrays)
    if isinstance(agent.reward, Custom):
        reward: dict[str, Any] = {"kind": "Custom", "fingerprint": agent.reward.fingerprint()}
    else:
        reward = to_spec(agent.reward, write, "reward")
    header: Header = {
        "start": agent.space.start,
        "labels": agent.space.labels.pack(),
        **({"sparse_outcomes": True} if agent.space.sparse_outcomes else {}),
        **({"laws": mechanics} if laws is not None else {}),
        "reward": reward,
        "agent": to_spec(agent, write),
        "memory": _take_out_arrays(_get_memory(agent), arrays, "memory", type(agent).__name__),
    }
    return header, arrays


def _get_memory(agent: Agent) -> Mapping[str, Any]:
    name = type(agent).__name__
    try:
        memory: object = agent.memory()
    except EquipoiseError:
        raise
    except Exception as error:  # whatever a method written elsewhere may raise
        raise ContractError(f"{name}.memory raised {type(error).__name__} at time {agent.t}: {error}") from error
    if not isinstance(memory, Mapping):
        raise ContractError(f"{name}.memory returned {memory!r} at time {agent.t}; a mapping is needed")
    return memory


def _rebuild_agent(header: Header, arrays: Arrays, reward: Reward | None, kind: type[Agent]) -> Agent:
    unknown = sorted(set(header) - set(_FIELDS))
    ensure(not unknown, f"its header has a field {unknown[0] if unknown else ''!r} that no agent has")
    absent = [name for name in _REQUIRED_FIELDS if name not in header]
    ensure(not absent, f"its header has no field {absent[0] if absent else ''!r}")
    space = _read_space(header, arrays)
    from equipoise.agents.vocabulary import KINDS  # it imports every agent

    reader = SpecReader(
        {**KINDS, Agent: lambda: _find_makers(kind)}, FileError, restore=lambda value: _read_model(value, arrays)
    )
    injected = {"space": space, "reward": _read_reward(header, reader, reward)}
    agent: Agent = from_spec(header["agent"], Agent, "agent", reader, injected)
    if to_spec(agent, _model_writer({})) != header["agent"]:
        raise FileError("it does not say all that the agent was made of")
    clock = load_array(arrays, "clock", clock_numbers(agent._clock))
    total = load_array(arrays, "total", agent._total)
    ensure(clock_fits(clock, space), "the array 'clock' has no possible time, state or pair")
    ensure(np.all((total >= 0.0) & (total <= clock[0] - 1)), "the array 'total' is not of so many outcomes in [0, 1]")
    set_clock(agent._clock, *clock.tolist())
    agent._total[:] = total
    agent.restore(_put_in_arrays(header["memory"], arrays))
    kept = np.array_equal(clock, clock_numbers(agent._clock)) and np.array_equal(total, agent._total)
    ensure(kept, "the arrays 'clock' and 'total' are not those of its memory")
    return agent


def _find_makers(kind: type[Agent]) -> Mapping[str, Maker]:
    """The agents of this package, and the class that the caller has: it was imported, so it is allowed."""
    from equipoise.agents.vocabulary import KINDS

    try:
        return {**KINDS[Agent](), kind_of(kind): kind}
    except ContractError:  # a class defined inside a function, which no file can name
        return KINDS[Agent]()


# -- the parts of a header ------------------------------------------------------------------------------------------


def _model_writer(arrays: Arrays) -> Any:
    """How a model within a spec is stored: its arrays beside the header, under the name of its place."""

    def write(value: Any, where: str) -> Any:
        if value is None:
            return None
        if not isinstance(value, Model):
            raise ContractError(f"{where}: got {value!r}; a number, a text, a list of them, or a part is needed")
        header, parts = value.pack()
        labels = value.labels.pack()
        header |= {"labels": labels} if labels else {}
        arrays.update({f"{where}.{name}": part for name, part in parts.items()})
        return {"model": where, "header": header}

    return write


def _read_model(value: Any, arrays: Mapping[str, NDArray[Any]]) -> Any:
    if not (isinstance(value, Mapping) and set(value) == {"model", "header"}):
        return value
    prefix = f"{value['model']}."
    parts = {name[len(prefix) :]: part for name, part in arrays.items() if name.startswith(prefix)}
    return Model.unpack(value["header"], parts)


def _read_reward(header: Header, reader: SpecReader, given: Reward | None) -> Reward:
    """The reward of the file; or the one given, if that of the file was a `Custom` one with the same values."""
    saved = header["reward"]
    custom = saved["kind"] == "Custom"
    if given is not None and not custom:
        raise FileError("its reward is in the file: reward= is for a Custom one")
    if given is None and custom:
        raise FileError("its reward was a Custom one, whose functions are not saved: pass it as reward=")
    if given is None:
        reward: Reward = from_spec(saved, Reward, "reward", reader)
        return reward
    before, now = saved.get("fingerprint"), given.fingerprint()
    if before is not None and (
        len(before) != len(now) or not np.allclose(before, now, rtol=_TOLERANCE, atol=_TOLERANCE)
    ):
        raise FileError("reward: it is another one than the agent was made with: its values are not those of the file")
    return given


def _read_space(header: Header, arrays: Arrays) -> Space:
    absent = [f"space.{name}" for name in _SPACE_ARRAYS if f"space.{name}" not in arrays]
    ensure(not absent, f"the array {absent[0] if absent else ''!r} is missing")
    first_pair, known = (arrays[f"space.{name}"] for name in _SPACE_ARRAYS)
    outcomes = unpack_rows(_KNOWN_OUTCOMES, arrays)
    if outcomes is None:
        raise FileError(f"the array {_KNOWN_OUTCOMES!r} is missing")
    told = entries(outcomes)
    ensure(
        first_pair.dtype == np.int64 and first_pair.ndim == 1 and first_pair.size > 1,
        f"the array 'space.first_pair' is {first_pair.dtype} of shape {first_pair.shape}",
    )
    ensure(
        first_pair[0] == 0 and np.all(first_pair[1:] > first_pair[:-1]),
        "the array 'space.first_pair' must begin with 0 and increase",
    )
    n_pairs = int(first_pair[-1])
    ensure(
        known.dtype == np.bool_ and known.shape == (n_pairs,),
        f"the array 'space.known_mask' is {known.dtype} of shape {known.shape}; there are {n_pairs} pairs",
    )
    ensure(
        outcomes.dtype == np.float64 and outcomes.ndim == 2 and outcomes.shape[0] == n_pairs and outcomes.shape[1] > 0,
        f"the array {_KNOWN_OUTCOMES!r} is {outcomes.dtype} of shape {outcomes.shape}; there are {n_pairs} pairs",
    )
    ensure(
        np.all((told >= 0.0) & (told <= 1.0)) and not entries(outcomes[~known]).any(),
        f"the array {_KNOWN_OUTCOMES!r} has outcomes outside of [0, 1], or of pairs that are not known",
    )
    total = arrays.get("total", np.zeros(0))  # so many outcomes as the header of a small file may only claim
    ensure(total.shape == (outcomes.shape[1],), f"the array 'total' has not {outcomes.shape[1]} entries")
    start = check_int(header["start"], "start", 0, first_pair.size - 2, error=FileError)
    laws = None
    if "laws" in header:
        parts = {name[len("laws.") :]: part for name, part in arrays.items() if name.startswith("laws.")}
        laws = Laws.unpack(header["laws"], parts, first_pair.size - 1, n_pairs)
        n_outcomes = laws.arrays.rows.shape[1]
        ensure(n_outcomes == outcomes.shape[1], f"the array 'laws.rows' has {n_outcomes} outcomes")
    labels = Labels.unpack(header["labels"])
    labels.check(np.diff(first_pair).tolist(), outcomes.shape[1])
    sparse = header.get("sparse_outcomes", False)
    ensure(isinstance(sparse, bool), "sparse_outcomes in its header is neither true nor false")
    return Space.from_arrays(first_pair, start, known, outcomes, labels, laws, sparse)


def _take_out_arrays(value: Any, arrays: Arrays, where: str, agent: str) -> Any:
    """A memory with its arrays moved to `arrays`."""
    if isinstance(value, np.ndarray):
        if value.dtype.hasobject:
            raise ContractError(f"{agent}.memory: {where} is an array of Python objects; numbers or texts are needed")
        arrays[where] = value
        return {"array": where}
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, Mapping):
        return {str(name): _take_out_arrays(part, arrays, f"{where}.{name}", agent) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_take_out_arrays(part, arrays, f"{where}.{place}", agent) for place, part in enumerate(value)]
    if value is None or isinstance(value, bool | int | float | str):
        return value
    raise ContractError(
        f"{agent}.memory: {where} is a {type(value).__name__}; arrays, numbers, texts, lists and mappings are kept"
    )


def _put_in_arrays(value: Any, arrays: Mapping[str, NDArray[Any]]) -> Any:
    """The memory that `_take_out_arrays` took apart."""
    if isinstance(value, Mapping) and set(value) == {"array"}:
        name = value["array"]
        ensure(isinstance(name, str) and name in arrays, f"the array {name!r} is missing")
        return arrays[name]
    if isinstance(value, Mapping):
        return {name: _put_in_arrays(part, arrays) for name, part in value.items()}
    return [_put_in_arrays(part, arrays) for part in value] if isinstance(value, list) else value


# -- the memory of TocUCRL2 --------------------------------------------------------------------------------------------


class AgentState(NamedTuple):
    """What a `TocUCRL2` continues from."""

    counts: Counts
    memory: Memory
    records: Episodes
    proof: Proof
    absorbed: int
    logs: NDArray[np.uint64]


def pack_state(state: AgentState) -> dict[str, dict[str, NDArray[Any]]]:
    """All arrays; records as plain vectors."""
    return {
        "counts": pack_tuple(state.counts),
        **({} if state.counts.nonzero is None else {"outcomes": pack_tuple(state.counts.nonzero)}),
        "memory": pack_tuple(state.memory),
        "episodes": pack_tuple(state.records),
        "log": {"rows": np.array([state.absorbed]), "fingerprints": state.logs},
        "proof": {name: getattr(state.proof, name) for name in _PROVEN},
    }


def unpack_state(agent: TocUCRL2, saved: Mapping[str, Any]) -> AgentState:
    """What an agent saved, if it fits one that is made of the same parts."""
    arrays, none = agent._arrays, np.zeros(0, dtype=np.uint64)
    listed = arrays.counts.nonzero is not None
    groups = {"counts", "memory", "episodes", "log", "proof", *(["outcomes"] if listed else [])}
    for group in sorted(groups):
        ensure(isinstance(saved.get(group), Mapping), f"memory.{group} is missing")
    ensure(set(saved) == groups, f"its memory has {sorted(set(saved) - groups)}, and no such agent has that")
    proof = empty_proof(agent.space.n_outcomes)
    parts = {name: load_array(saved["proof"], name, getattr(proof, name)) for name in _PROVEN}
    counts = unpack_tuple(arrays.counts, saved["counts"], _is_pool)
    if counts.nonzero is not None:
        sums = unpack_tuple(counts.nonzero, saved["outcomes"], _is_pool)
        counts = counts._replace(nonzero=sums)
    state = AgentState(
        counts=counts,
        memory=unpack_tuple(arrays.memory, saved["memory"], lambda name: False),  # noqa: ARG005
        records=unpack_tuple(arrays.records, saved["episodes"], lambda name: True),  # noqa: ARG005
        proof=proof._replace(**parts),
        absorbed=int(load_array(saved["log"], "rows", np.zeros(1, dtype=np.int64))[0]),
        logs=load_array(saved["log"], "fingerprints", none, grows=True),
    )
    seen = _check_clock(agent, state)
    _check_memory(agent, state.memory)
    _check_records(state)
    _check_proof(state)
    check_counts(agent.space, agent.confidence, counts, seen)
    proof = verify_proof(state.proof, state.records, agent.reward, state.memory.average)
    return state._replace(proof=proof if agent.proves else empty_proof(agent.space.n_outcomes))


_T = TypeVar("_T", Counts, NonzeroSums, Memory, Episodes)


def pack_tuple(parts: Counts | NonzeroSums | Memory | Episodes) -> dict[str, NDArray[Any]]:
    """The arrays of a tuple by name, records as plain vectors; tuples within it are left out."""
    return {name: as_plain(part) for name, part in parts._asdict().items() if isinstance(part, np.ndarray)}


def unpack_tuple(fresh: _T, saved: Mapping[str, Any], grows: Callable[[str], bool]) -> _T:
    """The reverse, for a tuple like `fresh`; the arrays for which `grows` holds may be of another length."""
    parts: dict[str, Any] = {}
    for name, part in fresh._asdict().items():
        if isinstance(part, np.ndarray):
            parts[name] = as_record(load_array(saved, name, as_plain(part), grows=grows(name)), part)
    return fresh._replace(**parts)


def _is_pool(name: str) -> bool:
    return name.startswith("pool_")


def _expect(good: bool | np.bool_, name: str, problem: str) -> None:
    """Raise an error that names an array of the memory, unless it is good."""
    ensure(good, f"the array 'memory.{name}' {problem}")


def _lies_in(part: NDArray[Any], low: Any, high: Any) -> bool:
    return bool(np.all((part >= low) & (part <= high)))


def _check_clock(agent: TocUCRL2, state: AgentState) -> int:
    """Reject a clock that no run reaches; returns how many observations must have been counted by then."""
    clock, name = state.memory.clock[0], "memory.clock"
    steps, phase = int(clock["time"]) - 1, int(clock["phase"])
    _expect(clock_fits(clock_numbers(state.memory.clock), agent.space), name, "has no possible time, state or pair")
    _expect(
        clock_fits_oracle(agent.oracle, clock), name, f"has {steps} steps in phase {phase}, unlike those of its oracle"
    )
    _expect(clock["learning"] == agent.confidence.learning, name, "is of another confidence")
    begun = int(clock["episodes"]) > 0
    _expect(
        begun >= (clock["pending"] >= 0) and begun <= (phase > 0) and clock["planned"] in ((0, 1) if begun else (0,)),
        name,
        "has an action, a plan or an episode before the first plan",
    )
    since = steps - (0 if agent.oracle.phase(max(1, phase)).inherit else int(clock["origin"]))
    _expect(0 <= state.absorbed <= LARGEST - steps, "log.rows", f"cannot be {state.absorbed}")
    return since + state.absorbed


def _check_memory(agent: TocUCRL2, memory: Memory) -> None:
    """Reject numbers that no step or plan leaves behind."""
    steps, most = int(memory.clock["time"][0]) - 1, np.asarray(agent.space.n_actions) - 1
    _expect(_lies_in(memory.total, 0.0, steps), "memory.total", "is of other steps")
    average = memory.total / max(1, steps)
    _expect(np.array_equal(memory.average, average), "memory.average", "is not that of its total")
    for name in ("theta", "reference", "bias"):
        _expect(np.all(np.isfinite(getattr(memory, name))), f"memory.{name}", "is not finite")
    _expect(np.all(memory.bias >= 0.0), "memory.bias", "has a negative entry")
    _expect(_lies_in(memory.policy, 0, most), "memory.policy", "has an action that its state has not")
    _expect(_lies_in(as_plain(memory.drift_state), 0.0, np.inf), "memory.drift_state", "is negative or NaN")


def _check_records(state: AgentState) -> None:
    """Reject a record of episodes that did not begin one after the other."""
    records, clock = state.records, state.memory.clock[0]
    start, count = records.start, int(clock["episodes"])
    for name, column in records._asdict().items():
        _expect(column.size == count, f"episodes.{name}", f"has {column.size} entries; {count} are needed")
    rises = count == 0 or (start[0] >= 1 and np.all(start[1:] >= start[:-1]) and start[-1] <= clock["time"])
    _expect(rises, "episodes.start", "must rise from 1 to the present time at most")
    _expect(set(records.ended.tolist()) <= set(TRIGGERS), "episodes.ended", "has an unknown trigger")
    _expect(np.all(np.isfinite(records.gain)), "episodes.gain", "is not finite")
    spans = np.all((records.span >= 0.0) & (records.span < np.inf))
    _expect(spans, "episodes.span", "is negative or infinite")
    _expect(np.all(records.sweeps >= 0), "episodes.sweeps", "has a negative entry")


def _check_proof(state: AgentState) -> None:
    """Reject what no bound can be; `verify_proof` checks whether a plan has proven it."""
    bound, time = float(state.proof.bound[0]), int(state.proof.time[0])
    _expect(bound > -np.inf, "proof.bound", f"is {bound}")
    _expect(0 <= time <= state.memory.clock["time"][0], "proof.time", f"is {time}, which is not yet")
    _expect(np.all(np.isfinite(state.proof.theta)), "proof.theta", "is not finite")


def check_counts(space: Space, confidence: Confidence, counts: Counts, observed: int) -> None:
    """Reject counts that so many observations cannot have left, or that kernels could not follow."""
    for name in ("visits", "fresh"):
        _expect(_lies_in(getattr(counts, name), 0, LARGEST), f"counts.{name}", "has impossible counts")
    visits = counts.visits + counts.fresh
    n_pairs = visits.size
    if space.laws is None:  # each step visits one pair
        _expect(int(visits.sum(dtype=object)) == observed, "counts.visits", f"is not of {observed} steps")
        sizes = np.full(n_pairs, space.n_states)
    else:  # a law is seen at most once in a step
        _expect(np.all(visits <= observed), "counts.visits", f"is of more than {observed} steps")
        fresh, sizes = empty_counts(space, confidence), np.zeros(n_pairs, dtype=np.int64)
        sizes[: space.laws.arrays.learnt] = fresh.block_capacity[: space.laws.arrays.learnt]
        fixed = (
            np.array_equal(counts.block_first, fresh.block_first)
            and np.array_equal(counts.block_capacity, fresh.block_capacity)
            and counts.pool_state.size == fresh.pool_state.size
            and counts.pool["moved"][0] == 0
        )
        _expect(fixed, "counts.block_first", "moves the blocks of laws, which stay where they are")
    _expect(_lies_in(counts.latest, 0, visits), "counts.latest", "is after the visits")
    _expect(_lies_in(counts.sums, 0.0, visits[:, None]), "counts.sums", "is not of outcomes in [0, 1]")
    _expect(_lies_in(counts.squares, 0.0, counts.sums), "counts.squares", "is not of outcomes in [0, 1]")
    check_successors(counts, visits, sizes, movable=space.laws is None)
    if counts.nonzero is not None:
        new = empty_counts(space, confidence).nonzero
        assert new is not None
        check_sums(counts.nonzero, new, space.known_mask, visits)


def verify_proof(
    proof: Proof, records: Episodes, reward: Reward, average: Vector, proven_gain: float = math.nan
) -> Proof:
    """The bound in a file if a plan of its record gives it, or the gain that was kept with it; else none."""
    none, theta = empty_proof(reward.n_outcomes), proof.theta
    bound, then = float(proof.bound[0]), records.start == proof.time[0]
    if not (bound < np.inf and (then.any() or np.isfinite(proven_gain))):
        return none
    gain = proven_gain if np.isfinite(proven_gain) else float(records.gain[then].min())
    try:
        w = reward.conjugate_argmax(theta) if reward.exact_conjugate else average
        value, offset = reward.value(w), float(theta @ w)
    except RewardError:
        return none
    rounding = _TOLERANCE * (1.0 + abs(value) + float(np.abs(theta) @ w) + abs(gain))
    return proof if bound >= value + offset + gain - rounding else none
