"""An agent in a file: its arrays, and a description of what it was made of. No pickle.

Saving at any moment, even between `act` and `observe`, loading and going on gives the same trajectory as never
stopping: all that decides what comes next is in the file. Its header holds

    start, labels            of the space
    sparse_outcomes          true, if the space says so
    laws                     of its mechanics, if these are known
    reward, agent            what the agent was made of, in the words of `_component`
    memory                   what `Agent.memory` gave: plain data, with {"array": name} in the place of arrays

and its arrays are those of the space, of models within the description, the clock, the total of the outcomes, and those
of the memory. To load is to make the agent anew, so that every argument is checked as a user's would be, and to let it
restore its memory, which it checks as well. Files of earlier versions are read through `earlier_files`.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Mapping
from typing import Any, Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from equipoise._component import Reading, described, made
from equipoise._files import read_saved, write_npz
from equipoise._numbers import whole
from equipoise.agents.base import Agent
from equipoise.agents.clock import clock_fits, clock_numbers, set_clock
from equipoise.agents.earlier_files import EARLIER, todays
from equipoise.agents.restoring import array_in, require
from equipoise.agents.vocabulary import KINDS
from equipoise.errors import ContractError, EquipoiseError, FileError, RewardError
from equipoise.models.labels import Labels
from equipoise.models.laws.laws import Laws
from equipoise.models.model import Model, Space
from equipoise.models.rows import entries, from_stored, stored
from equipoise.rewards.base import Reward
from equipoise.rewards.custom import Custom

_A = TypeVar("_A", bound=Agent)
Header = dict[str, Any]
Arrays = dict[str, NDArray[Any]]

KIND: Final = "agent"
VERSION: Final = 3
_SPACE: Final = ("first_pair", "known_mask")
_TOLD: Final = "space.known_outcomes"
_FIELDS: Final = ("start", "labels", "sparse_outcomes", "laws", "reward", "agent", "memory")
_CLOSE: Final = 1e-9  # how far a Custom reward given at loading may be from the values that were saved


def save_agent(agent: Agent, path: str | os.PathLike[str]) -> None:
    """Write an agent to `path`, whole or not at all.

    Parameters
    ----------
    agent : Agent
        What to write.
    path : path
        The file.
    """
    try:
        header, arrays = _packed(agent)
    except (ContractError, RewardError) as error:
        raise FileError(f"{path}: not written; {error}") from error
    write_npz(path, arrays, header, KIND, VERSION)


def load_agent(kind: type[_A], path: str | os.PathLike[str], reward: Reward | None) -> _A:
    """Read an agent.

    Parameters
    ----------
    kind : type
        The class that it must be of.
    path : path
        The file.
    reward : Reward, optional
        In the place of a `Custom` one, whose functions are not saved.
    """
    saved = read_saved(path, {KIND: VERSION, **EARLIER})
    with _blaming(path):
        content = (saved.header, saved.arrays)
        agent = _rebuilt(*(content if saved.version == VERSION else todays(saved.kind, content)), reward)
    if not isinstance(agent, kind):
        raise FileError(f"{path}: it holds a {type(agent).__name__}; a {kind.__name__} was asked for")
    return agent


def _packed(agent: Agent) -> tuple[Header, Arrays]:
    arrays: Arrays = {f"space.{name}": getattr(agent.space, name) for name in _SPACE}
    arrays |= stored(_TOLD, agent.space.known_rows)
    laws = agent.space.laws
    mechanics: Header = {}
    if laws is not None:
        mechanics, parts = laws.stored()
        arrays |= {f"laws.{name}": part for name, part in parts.items()}
    arrays["clock"], arrays["total"] = clock_numbers(agent._clock), agent._total
    convert = _keeping(arrays)
    if isinstance(agent.reward, Custom):
        reward: dict[str, Any] = {"kind": "Custom", "fingerprint": agent.reward.fingerprint()}
    else:
        reward = described(agent.reward, convert, "reward")
    header: Header = {
        "start": agent.space.start,
        "labels": agent.space.labels.stored(),
        **({"sparse_outcomes": True} if agent.space.sparse_outcomes else {}),
        **({"laws": mechanics} if laws is not None else {}),
        "reward": reward,
        "agent": described(agent, convert),
        "memory": _without_arrays(_memory_of(agent), arrays, "memory", type(agent).__name__),
    }
    return header, arrays


def _memory_of(agent: Agent) -> Mapping[str, Any]:
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


def _rebuilt(header: Header, arrays: Arrays, reward: Reward | None) -> Agent:
    unknown = sorted(set(header) - set(_FIELDS))
    require(not unknown, f"its header has a field {unknown[0] if unknown else ''!r} that no agent has")
    space = _space_in(header, arrays)
    reading = Reading(KINDS, FileError, restore=lambda value: _model_in(value, arrays))
    given = {"space": space, "reward": _reward_in(header, reading, reward)}
    agent: Agent = made(header["agent"], Agent, "agent", reading, given)
    if described(agent, _keeping({})) != header["agent"]:
        raise FileError("it does not say all that the agent was made of")
    clock = array_in(arrays, "clock", clock_numbers(agent._clock))
    total = array_in(arrays, "total", agent._total)
    possible = clock_fits(clock, space) and np.all((total >= 0.0) & (total <= clock[0] - 1))
    require(possible, "its clock is damaged")
    set_clock(agent._clock, *clock.tolist())
    agent._total[:] = total
    agent.restore(_with_arrays(header["memory"], arrays))
    kept = np.array_equal(clock, clock_numbers(agent._clock)) and np.array_equal(total, agent._total)
    require(kept, "its clock is not that of its memory")
    return agent


# -- the parts of a header ------------------------------------------------------------------------------------------


def _keeping(arrays: Arrays) -> Any:
    """How a model within a description is kept: its arrays beside the header, under the name of its place."""

    def convert(value: Any, where: str) -> Any:
        if not isinstance(value, Model):
            raise ContractError(f"{where}: got {value!r}; a number, a text, a list of them, or a part is needed")
        header, parts = value.stored()
        labels = value.labels.stored()
        header |= {"labels": labels} if labels else {}
        arrays.update({f"{where}.{name}": part for name, part in parts.items()})
        return {"model": where, "header": header}

    return convert


def _model_in(value: Any, arrays: Mapping[str, NDArray[Any]]) -> Any:
    if not (isinstance(value, Mapping) and set(value) == {"model", "header"}):
        return value
    prefix = f"{value['model']}."
    parts = {name[len(prefix) :]: part for name, part in arrays.items() if name.startswith(prefix)}
    return Model.from_stored(value["header"], parts)


def _reward_in(header: Header, reading: Reading, given: Reward | None) -> Reward:
    """The reward of the file; or the one given, if that of the file was a `Custom` one with the same values."""
    saved = header["reward"]
    custom = saved["kind"] == "Custom"
    if given is not None and not custom:
        raise FileError("its reward is in the file: reward= is for a Custom one")
    if given is None and custom:
        raise FileError("its reward was a Custom one, whose functions are not saved: pass it as reward=")
    if given is None:
        reward: Reward = made(saved, Reward, "reward", reading)
        return reward
    before, now = saved.get("fingerprint"), given.fingerprint()
    if before is not None and (len(before) != len(now) or not np.allclose(before, now, rtol=_CLOSE, atol=_CLOSE)):
        raise FileError("reward: it is another one than the agent was made with: its values are not those of the file")
    return given


def _space_in(header: Header, arrays: Arrays) -> Space:
    first_pair, known = (arrays[f"space.{name}"] for name in _SPACE)
    outcomes = from_stored(_TOLD, arrays)
    require(outcomes is not None, "its space is damaged")
    assert outcomes is not None
    told = entries(outcomes)
    types = first_pair.dtype == np.int64 and known.dtype == np.bool_ and outcomes.dtype == np.float64
    sound = (
        types
        and (first_pair.ndim, known.ndim, outcomes.ndim) == (1, 1, 2)
        and first_pair.size > 1
        and first_pair[0] == 0
        and np.all(first_pair[1:] > first_pair[:-1])
        and first_pair[-1] == known.size == outcomes.shape[0]
        and outcomes.shape[1] > 0
        and np.all((told >= 0.0) & (told <= 1.0))
        and not entries(outcomes[~known]).any()
    )
    require(sound, "its space is damaged")
    start = whole(header["start"], "start", 0, first_pair.size - 2, error=FileError)
    laws = None
    if "laws" in header:
        parts = {name[len("laws.") :]: part for name, part in arrays.items() if name.startswith("laws.")}
        laws = Laws.from_stored(header["laws"], parts, first_pair.size - 1, int(first_pair[-1]))
        require(laws.arrays.rows.shape[1] == outcomes.shape[1], "its laws are of another space")
    labels = Labels.from_stored(header.get("labels") or {})
    sparse = header.get("sparse_outcomes", False)
    require(isinstance(sparse, bool), "its space is damaged")
    return Space.of_arrays(first_pair, start, known, outcomes, labels, laws, sparse)


def _without_arrays(value: Any, arrays: Arrays, where: str, agent: str) -> Any:
    """A memory with its arrays moved to `arrays`."""
    if isinstance(value, np.ndarray):
        if value.dtype.hasobject:
            raise ContractError(f"{agent}.memory: {where} is an array of Python objects; numbers or texts are needed")
        arrays[where] = value
        return {"array": where}
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, Mapping):
        return {str(name): _without_arrays(part, arrays, f"{where}.{name}", agent) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_without_arrays(part, arrays, f"{where}.{place}", agent) for place, part in enumerate(value)]
    if value is None or isinstance(value, bool | int | float | str):
        return value
    raise ContractError(
        f"{agent}.memory: {where} is a {type(value).__name__}; arrays, numbers, texts, lists and mappings are kept"
    )


def _with_arrays(value: Any, arrays: Mapping[str, NDArray[Any]]) -> Any:
    """The memory that `_without_arrays` took apart."""
    if isinstance(value, Mapping) and set(value) == {"array"}:
        return arrays[value["array"]]
    if isinstance(value, Mapping):
        return {name: _with_arrays(part, arrays) for name, part in value.items()}
    return [_with_arrays(part, arrays) for part in value] if isinstance(value, list) else value


@contextlib.contextmanager
def _blaming(path: str | os.PathLike[str]) -> Iterator[None]:
    try:
        yield
    except EquipoiseError as error:
        raise FileError(f"{path}: holds no agent that can go on ({error})") from error
    except Exception as error:  # whatever a damaged file, or an agent's own restore, may raise
        raise FileError(f"{path}: holds no agent that can go on ({type(error).__name__}: {error})") from error
