"""A study: which agents meet which problems, for how long, with which seeds.

    name = "quick"
    steps = 100_000
    seeds = 10                      # 0 to 9; or a list
    checkpoints = 10                # per decade; or a list of times
    certified_within = 0.05         # the regret to be certified; 0.01 if left out
    time_limit = 3600               # seconds after which a run is ended; none if left out

    [[problems]]
    name = "star"
    world = { kind = "star", branches = 3, diameter = 4 }
    reward = { kind = "Quadratic", target = [0.3, 0.3, 0.4] }

    [[agents]]
    name = "Q = infinity"
    kind = "TocUCRL2"
    threshold = inf

The plan is the product of the two lists; an agent with ``problems = ["star"]`` meets these alone. The names are those
of `vocabulary`. In Python the same study is built from objects or tables, and `Study.toml` writes it.
"""

from __future__ import annotations

import itertools
import os
import tomllib
from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from pathlib import Path
from typing import Annotated, Any, Final, final

import numpy as np
import tomli_w
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from equipoise._checks import check_count, show_value, suggest
from equipoise.errors import ParameterError, StudyError
from equipoise.models.model import Model
from equipoise.simulation import log_spaced
from equipoise.studies.results import WITHIN, regret_to_certify
from equipoise.studies.vocabulary import part_spec, write_call

_LARGEST_SEED: Final = 2**63 - 1
_LONGEST: Final = 10**12
_MOST_SEEDS: Final = 10**6
_MOST_A_DECADE: Final = 1000  # checkpoints
_LONGEST_NAME: Final = 100
_DEEPEST: Final = 40  # levels of tables within tables


def _count(low: int, high: int) -> BeforeValidator:
    return BeforeValidator(lambda x: _whole(x, low, high))


def _whole(x: Any, low: int, high: int) -> int:
    """A whole number; TOML's 1e6 is one too."""
    try:
        return check_count(x, "", low, high, error=StudyError)
    except StudyError as error:
        raise ValueError(str(error).split("; ")[-1]) from None


def _seeds(x: Any) -> tuple[int, ...]:
    if isinstance(x, Sequence | np.ndarray) and not isinstance(x, str | bytes):
        seeds = tuple(_whole(seed, 0, _LARGEST_SEED) for seed in x)
        if not seeds or len(set(seeds)) < len(seeds):
            raise ValueError("at least one seed is needed, and none twice")
        return seeds
    try:
        return tuple(range(_whole(x, 1, _MOST_SEEDS)))
    except ValueError:
        raise ValueError(f"a number of seeds from 1 to {_MOST_SEEDS}, or a list of whole numbers, is needed") from None


def _checkpoints(x: Any) -> int | tuple[int, ...]:
    if isinstance(x, Sequence | np.ndarray) and not isinstance(x, str | bytes):
        marks = tuple(_whole(mark, 1, _LONGEST) for mark in x)
        if not marks or any(b <= a for a, b in itertools.pairwise(marks)):
            raise ValueError("times that increase are needed")
        return marks
    try:
        return _whole(x, 1, _MOST_A_DECADE)
    except ValueError:
        raise ValueError(f"a number a decade, from 1 to {_MOST_A_DECADE}, or a list of times is needed") from None


def _amount(x: Any) -> float:
    try:
        return regret_to_certify(x)
    except ParameterError:
        raise ValueError("a number above 0 is needed") from None


def _seconds(x: Any) -> float | None:
    try:
        return None if x is None else _amount(x)
    except ValueError:
        raise ValueError("a number of seconds above 0 is needed") from None


def _name(x: Any) -> str:
    if not isinstance(x, str) or not x.strip() or not x.isprintable() or len(x.strip()) > _LONGEST_NAME:
        raise ValueError(f"a name of 1 to {_LONGEST_NAME} printable characters is needed")
    return x.strip()


def _shortened(title: str) -> str:
    return title if len(title) <= _LONGEST_NAME else f"{title[: _LONGEST_NAME - 3]}..."


def _part(x: Any) -> Any:
    try:
        return x if isinstance(x, Model) else part_spec(x, "")
    except StudyError as error:
        raise ValueError(str(error).removeprefix(": ").split("; ")[-1]) from None


_NEEDED: Final = {
    "tuple_type": "a list is needed",
    "dict_type": "a table is needed",
    "model_type": "a table is needed",
    "string_type": "a text is needed",
}
_within: ContextVar[bool] = ContextVar("_within", default=False)
Name = Annotated[str, BeforeValidator(_name)]


class _Part(BaseModel):
    """A model of pydantic whose errors are raised as `StudyError`."""

    model_config = ConfigDict(extra="forbid", frozen=True, arbitrary_types_allowed=True)

    def __init__(self, /, **data: Any) -> None:  # the signature is pydantic's
        if _within.get():  # it stands within another part, whose error names the place
            super().__init__(**data)
            return
        token = _within.set(True)
        try:
            super().__init__(**data)
        except ValidationError as error:
            raise StudyError("\n".join(_lines(error))) from None
        finally:
            _within.reset(token)


@final
class Problem(_Part):
    """A world, and the reward to be had in it.

    Attributes
    ----------
    name : str
        In the study; one is made of its parts if it is empty.
    world : Model, str or dict
        A world, its name, its kind with its parameters, ``{"file": path}``, or ``{"mechanics": name, ...}``.
    reward : Reward, str or dict
        A reward, its name, or its kind with its parameters.

    Examples
    --------
    >>> import equipoise as eq
    >>> Problem(world=eq.models.star(), reward=eq.rewards.BottomSum(3, 1)).reward
    {'kind': 'BottomSum', 'n_outcomes': 3, 'kappa': 1}
    """

    name: Name = ""
    world: Annotated[Any, BeforeValidator(_part)]
    reward: Annotated[dict[str, Any], BeforeValidator(_part)]

    def title(self) -> str:
        """Its name, or one made of its parts."""
        given = {} if isinstance(self.world, Model) else self.world
        world = str(next((given[key] for key in ("kind", "mechanics", "file") if key in given), "model"))
        return self.name or _shortened(f"{world}, {self.reward.get('kind')}")


@final
class AgentSpec(_Part):
    """How an agent is made: its kind and its parameters, all but the space and the reward, which the problem gives.

    Further arguments are the parameters of that kind. ``told="table"`` keeps the mechanics of a world from it.

    Attributes
    ----------
    name : str
        In the study; how it is made, if it is empty.
    kind : str
        The name of a class, or "package.module:Name" for one of your own.
    problems : tuple of str or None
        The names of the problems that it meets; None: all of them.

    Examples
    --------
    >>> import equipoise as eq
    >>> AgentSpec(kind="TocUCRL2", oracle=eq.oracles.FrankWolfe(), threshold=2.0).title()
    'TocUCRL2(oracle=FrankWolfe(), threshold=2.0)'
    """

    model_config = ConfigDict(extra="allow")
    name: Name = ""
    kind: str
    problems: tuple[Name, ...] | None = None

    @model_validator(mode="before")
    @classmethod
    def _plain(cls, data: Any) -> Any:
        return _part(data) if isinstance(data, Mapping) else data

    def table(self) -> dict[str, Any]:
        """Kind and parameters."""
        return {"kind": self.kind, **(self.model_extra or {})}

    def title(self) -> str:
        """Its name, or how it is made."""
        return self.name or _shortened(write_call(self.table()).removesuffix("()"))


@final
class Study(_Part):
    """A plan to compare agents.

    Parameters
    ----------
    name : str
        Of the study.
    description : str
        Shown in the report.
    steps : int
        Of every run.
    seeds : int or sequence of int
        How many, from 0 on, or which.
    checkpoints : int or sequence of int
        When to record: so many a decade, evenly on a log scale, or at these times; the last step always.
    certified_within : float
        The regret that is to be certified: reports compare agents by the time from which on it is. It changes no run.
    time_limit : float, optional
        Seconds that a run may take, each time that it is started or continued. One that takes longer is ended and
        recorded as failed, and the others go on; likewise the program of an optimum. None: as long as it takes.
    problems, agents : sequences of `Problem` and `AgentSpec`
        Every agent meets every problem, with every seed.

    Examples
    --------
    >>> import equipoise as eq
    >>> study = Study(name="small", steps=1000, seeds=2,
    ...     problems=[Problem(world="star", reward={"kind": "Quadratic", "target": [.3, .3, .4]})],
    ...     agents=[AgentSpec(kind="TocUCRL2"), AgentSpec(kind="RoundRobin")])
    >>> print(study.toml().splitlines()[0])
    name = "small"
    """

    name: Name
    description: str = ""
    steps: Annotated[int, _count(1, _LONGEST)]
    seeds: Annotated[tuple[int, ...], BeforeValidator(_seeds)]
    checkpoints: Annotated[int | tuple[int, ...], BeforeValidator(_checkpoints)] = 10
    certified_within: Annotated[float, BeforeValidator(_amount)] = WITHIN
    time_limit: Annotated[float | None, BeforeValidator(_seconds)] = None
    problems: Annotated[tuple[Problem, ...], Field(min_length=1)]
    agents: Annotated[tuple[AgentSpec, ...], Field(min_length=1)]

    @model_validator(mode="after")
    def _consistent(self) -> Study:
        for what, parts in (("problems", self.problems), ("agents", self.agents)):
            titles = [part.title() for part in parts]
            twice = next((title for title in titles if titles.count(title) > 1), None)
            if twice is not None:
                raise ValueError(f"{what}: two are called {twice!r}; give them names")
        known = [problem.title() for problem in self.problems]
        for index, agent in enumerate(self.agents):
            if agent.problems == ():
                raise ValueError(f"agents[{index}].problems: it is empty; leave it out, for all of them")
            unknown = [title for title in agent.problems or () if title not in known]
            if unknown:
                raise ValueError(f"agents[{index}].problems: {unknown[0]!r} is none of {', '.join(known)}")
        if isinstance(self.checkpoints, tuple) and self.checkpoints[-1] > self.steps:
            raise ValueError(f"checkpoints: the last is at {self.checkpoints[-1]}; the runs have {self.steps} steps")
        return self

    def marks(self) -> tuple[int, ...]:
        """The times at which every run is recorded."""
        if isinstance(self.checkpoints, int):
            return tuple(log_spaced(1, self.steps, self.checkpoints).tolist())
        return tuple(sorted({*self.checkpoints, self.steps}))

    def toml(self, worlds: Mapping[int, str] | None = None) -> str:
        """The study as a TOML file.

        Parameters
        ----------
        worlds : mapping, optional
            The files that stand for worlds, by the position of the problem.
        """
        seeds: Any = len(self.seeds) if self.seeds == tuple(range(len(self.seeds))) else list(self.seeds)
        marks = list(self.checkpoints) if isinstance(self.checkpoints, tuple) else self.checkpoints
        within = None if self.certified_within == WITHIN else self.certified_within
        head = {"name": self.name, "description": self.description or None, "steps": self.steps, "seeds": seeds}
        head |= {"checkpoints": marks, "certified_within": within, "time_limit": self.time_limit}
        data: dict[str, Any] = {key: value for key, value in head.items() if value is not None}
        data["problems"] = [
            {"name": problem.title(), "world": self._world(index, worlds or {}), "reward": problem.reward}
            for index, problem in enumerate(self.problems)
        ]
        data["agents"] = [
            {"name": agent.title(), **agent.table()} | ({"problems": list(agent.problems)} if agent.problems else {})
            for agent in self.agents
        ]
        return tomli_w.dumps(data)

    def _world(self, index: int, files: Mapping[int, str]) -> Any:
        if index in files:
            return {"file": files[index]}
        if isinstance(self.problems[index].world, Model):
            raise StudyError(f"problems[{index}].world: a Model; save it, and give its file here")
        return self.problems[index].world


def read_study(path: str | os.PathLike[str]) -> Study:
    """Read a study from a TOML file.

    A `StudyError` has one line for each mistake: file, field, value, and what would be accepted.

    Parameters
    ----------
    path : str or PathLike
        The file.

    Returns
    -------
    Study
        Checked as far as possible without making its parts.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> text = '''
    ... name = "tiny"
    ... steps = 1e3
    ... seeds = 2
    ... problems = [{world = "star", reward = {kind = "BottomSum", kappa = 1}}]
    ... agents = [{kind = "TocUCRL2", threshold = 2.0}]
    ... '''
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "tiny.toml"
    ...     _ = path.write_text(text, encoding="utf-8")
    ...     study = read_study(path)
    >>> study.steps, study.agents[0].title()
    (1000, 'TocUCRL2(threshold=2.0)')
    """
    source = Path(path)
    try:
        text = source.read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        reason = "it is no text in UTF-8" if isinstance(error, UnicodeDecodeError) else getattr(error, "strerror", None)
        raise StudyError(f"{source}: cannot be read ({reason or error})") from error
    data = parse_toml(text, str(source))
    try:
        return Study(**data)
    except StudyError as error:
        raise StudyError("\n".join(f"{source}: {line}" for line in str(error).splitlines())) from None


def parse_toml(text: str, where: str) -> dict[str, Any]:
    """Parse TOML; whole numbers have at most 64 bits, as its standard has them, and tables at most so many levels."""
    try:
        data = tomllib.loads(text)
    except RecursionError:
        raise StudyError(f"{where}: its tables are nested too deeply") from None
    except ValueError as error:  # TOMLDecodeError is one; another is Python's limit of digits
        raise StudyError(f"{where}: it is no TOML: {error}") from None
    level: list[Any] = [data]
    for _ in range(_DEEPEST):
        inner = (list(x.values()) if isinstance(x, dict) else x for x in level if isinstance(x, dict | list))
        level = list(itertools.chain.from_iterable(inner))
        if any(isinstance(value, int) and not -(2**63) <= value < 2**63 for value in level):
            raise StudyError(f"{where}: it has a whole number of more than 64 bits, which TOML does not allow")
    if level:
        raise StudyError(f"{where}: its tables are nested more than {_DEEPEST} levels deep")
    return data


def override(
    study: Study, steps: int | None = None, seeds: int | None = None, time_limit: float | None = None
) -> Study:
    """The same study with other steps, seeds or time limit; checkpoints beyond the last step are left out."""
    changes: dict[str, Any] = {"steps": steps, "seeds": seeds, "time_limit": time_limit}
    if steps is not None and isinstance(study.checkpoints, tuple):
        changes["checkpoints"] = tuple(mark for mark in study.checkpoints if mark < steps) or (steps,)
    return Study(**dict(study) | {name: value for name, value in changes.items() if value is not None})


def _lines(error: ValidationError) -> list[str]:
    """One line a mistake; a list whose entries are all wrong is not reported as too short as well."""
    mistakes: list[dict[str, Any]] = [dict(mistake) for mistake in error.errors()]
    deeper = {mistake["loc"][0] for mistake in mistakes if len(mistake["loc"]) > 1}
    return [_line(mistake) for mistake in mistakes if mistake["type"] != "too_short" or mistake["loc"][0] not in deeper]


def _line(mistake: Mapping[str, Any]) -> str:
    place = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in mistake["loc"]).removeprefix(".")
    message = str(mistake["msg"]).removeprefix("Value error, ")
    if not place:
        return message
    if mistake["type"] == "missing":
        return f"{place}: it is missing"
    if mistake["type"] == "extra_forbidden":
        known = Problem.model_fields if mistake["loc"][0] == "problems" else Study.model_fields
        return f"{place}: got {_shown(mistake['input'])}; there is no such field{suggest(mistake['loc'][-1], known)}"
    if mistake["type"] == "too_short":
        return f"{place}: it is empty; at least one is needed"
    return f"{place}: got {_shown(mistake['input'])}; {_NEEDED.get(mistake['type'], message)}"


def _shown(value: Any) -> str:
    text = show_value(value)
    return text if len(text) <= 80 else f"{text[:77]}..."
