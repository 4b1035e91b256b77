"""A study, worked out: every problem made, every agent tried on it, every run with its id.

A run's id is a hash of all that determines its results: the arrays of the model, the reward, the agent with all its
defaults, the steps, the checkpoints, the seed, the version of this package, and the source of every user-written part.
Names are not part of it, so more seeds, another agent or a new name leave finished runs alone.

The explicit bound on an agent's regret is `theory.bounds.regret` at every checkpoint. It needs the diameter of the
model, which is not computed above `MOST_STATES` states.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, final

import numpy as np
import tomli_w
from numpy.typing import NDArray

from equipoise._plugins import find_allowed
from equipoise._runtime.cache import hash_module
from equipoise._spec import Component, to_spec
from equipoise._version import VERSION
from equipoise.agents import Power, TocUCRL2
from equipoise.agents.base import Agent
from equipoise.agents.budgets import BudgetedAgent
from equipoise.agents.knapsack import KnapsackTocUCRL2
from equipoise.agents.mixture import MixtureUCRL2
from equipoise.agents.schedules import tolerance_rule
from equipoise.errors import EquipoiseError, ParameterError, StudyError
from equipoise.models.model import Model
from equipoise.models.world import stream
from equipoise.rewards.base import Reward
from equipoise.rewards.entropy import Entropy
from equipoise.studies.results import Guarantee
from equipoise.studies.spec import AgentSpec, Problem, Study
from equipoise.studies.vocabulary import TOLD, find_policy, make_agent, make_reward, make_world, part_spec
from equipoise.theory.bounds import rate, regret
from equipoise.theory.facts import Facts, Setting

_FORMAT: Final = 1


@dataclass(frozen=True, eq=False)
class PlannedProblem:
    """A problem, made."""

    name: str
    model: Model
    reward: Reward
    world: dict[str, Any] | None  # as the study says it; None for an object
    model_id: str
    sources: dict[str, str]  # the user-written modules of the reward, with the hashes of their sources
    id: str  # of model and reward: what the optimum depends on


@dataclass(frozen=True, eq=False)
class PlannedAgent:
    """An agent, ready to be made for one problem with any seed."""

    name: str
    table: dict[str, Any]  # with its policy found
    spec: dict[str, Any]  # all that determines it
    sources: dict[str, str]  # the user-written modules of its parts, with the hashes of their sources
    rate: float | None  # the exponent of the theorem that covers it
    caveat: str  # what is to be said wherever its results are shown
    guarantee: Guarantee | None  # the explicit bound on its regret; found if the plan is to be run
    certainty: float | None  # the probability with which its certificates hold, if it has some


@dataclass(frozen=True, eq=False)
class RunTask:
    """One run: all that a worker needs, wherever it is."""

    id: str
    problem: str
    agent: str
    seed: int
    steps: int
    marks: tuple[int, ...]
    model: Model
    reward: dict[str, Any]
    table: dict[str, Any]
    spec: str  # the same in TOML, for whoever reads the result
    sources: dict[str, str]  # the user-written modules of its parts, with the hashes of their sources
    version: str = VERSION

    def make_agent(self, reward: Reward) -> Agent:
        """The agent at its first step."""
        return make_agent(self.table, self.model, reward, self.steps, self.seed, self.agent)


@dataclass(frozen=True, eq=False)
class OptimumTask:
    """One offline program."""

    id: str
    problem: str
    model: Model
    reward: dict[str, Any]
    sources: dict[str, str]
    version: str = VERSION


@final
@dataclass(frozen=True, eq=False)
class Plan:
    """The problems, agents and runs of a study, made.

    Attributes
    ----------
    study : Study
        What was planned.
    problems : tuple of PlannedProblem
        Each with its model and reward.
    agents : dict
        (problem, agent) by name to the agent, ready to be made.
    optima : tuple of OptimumTask
        The offline programs to solve.
    runs : tuple of RunTask
        One for each problem, agent and seed.

    Examples
    --------
    >>> from equipoise.studies import AgentSpec, Problem, Study
    >>> star = Problem(world="star", reward={"kind": "BottomSum", "kappa": 1})
    >>> study = Study(name="tiny", steps=100, seeds=2, problems=[star], agents=[AgentSpec(kind="RoundRobin")])
    >>> plan = make_plan(study, ready=False)
    >>> list(plan.agents), [(run.agent, run.seed) for run in plan.runs]
    ([('star, BottomSum', 'RoundRobin')], [('RoundRobin', 0), ('RoundRobin', 1)])
    """

    study: Study
    problems: tuple[PlannedProblem, ...]
    agents: dict[tuple[str, str], PlannedAgent]  # by the names of problem and agent
    optima: tuple[OptimumTask, ...]
    runs: tuple[RunTask, ...]


def make_plan(study: Study, origin: Path | None = None, *, ready: bool = True) -> Plan:
    """Make every part of a study once, so that a `StudyError` reports what is wrong with it before anything runs.

    Parameters
    ----------
    study : Study
        What is wanted.
    origin : Path, optional
        The file that it was read from: errors name it, and the paths of models in files start from its folder.
    ready : bool
        Whether it is to be run: policies by name and explicit bounds are then found, and each agent of this package
        takes a step in each model, which compiles its kernels. To read results this is not needed.

    Returns
    -------
    Plan
        Every run, with its id.

    Examples
    --------
    >>> from equipoise.studies import AgentSpec, Problem, Study
    >>> star = Problem(world="star", reward={"kind": "BottomSum", "kappa": 1})
    >>> study = Study(name="tiny", steps=100, seeds=2, problems=[star], agents=[AgentSpec(kind="RoundRobin")])
    >>> len(make_plan(study, ready=False).runs)
    2
    """
    if not isinstance(study, Study):
        raise StudyError(f"study: got {type(study).__name__}; a Study is needed, such as read_study(path) gives")
    before = "" if origin is None else f"{origin}: "
    folder = None if origin is None else Path(origin).parent
    problems: list[PlannedProblem] = []
    for i, problem in enumerate(study.problems):
        with _exits_named(f"{before}problems[{i}]"):
            problems.append(_problem(problem, f"{before}problems[{i}]", folder))
    agents: dict[tuple[str, str], PlannedAgent] = {}
    for planned in problems:
        for i, agent in enumerate(study.agents):
            place = f"{before}agents[{i}]"
            if agent.problems is None or planned.name in agent.problems:
                with _exits_named(place):
                    agents[planned.name, agent.title()] = _agent(agent, planned, study, place, ready)
    optima = {planned.id: planned for planned in problems}
    return Plan(
        study=study,
        problems=tuple(problems),
        agents=agents,
        optima=tuple(
            OptimumTask(one.id, one.name, one.model, part_spec(one.reward, ""), one.sources) for one in optima.values()
        ),
        runs=tuple(  # seed by seed, so that a study that is stopped early has something of everything
            _run(study, problem, agent, seed)
            for seed in study.seeds
            for problem in problems
            for (name, _), agent in agents.items()
            if name == problem.name
        ),
    )


@contextlib.contextmanager
def _exits_named(where: str) -> Iterator[None]:
    """Raise an error that names the place, instead of ending the program, if a user-written part calls `sys.exit`."""
    try:
        yield
    except SystemExit as error:
        raise StudyError(f"{where}: a part of it raised SystemExit: {error}") from error


def _sources(*specs: Mapping[str, Any]) -> dict[str, str]:
    """The user-written modules that specs name, with the hashes of their sources."""
    return {module: hash_module(module) for module in find_allowed(*specs)}


def model_hash(model: Model) -> str:
    """A hash of everything in a model."""
    return _hash_of(*model.pack())


def _hash_of(header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> str:
    digest = hashlib.sha256(json.dumps(header, sort_keys=True).encode())
    for name in sorted(arrays):
        digest.update(f"{name}:{arrays[name].dtype.str}:{arrays[name].shape}".encode())
        digest.update(np.ascontiguousarray(arrays[name]).tobytes())
    return digest.hexdigest()[:32]


def _problem(problem: Problem, where: str, folder: Path | None) -> PlannedProblem:
    model = make_world(problem.world, f"{where}.world", folder)
    try:
        model.require_communicating()
    except EquipoiseError as error:
        raise StudyError(f"{where}.world: {error}") from error
    reward = make_reward(problem.reward, model, f"{where}.reward")
    model_id, determines = model_hash(model), _spec(reward)
    sources, world = _sources(determines), None if isinstance(problem.world, Model) else problem.world
    identity = _digest({"format": _FORMAT, "version": VERSION, "world": model_id, "reward": determines}, sources)
    return PlannedProblem(problem.title(), model, reward, world, model_id, sources, identity)


def _agent(agent: AgentSpec, problem: PlannedProblem, study: Study, where: str, ready: bool) -> PlannedAgent:
    description = agent.table()
    policy = description.get("policy")
    if isinstance(policy, Mapping):
        del description["policy"]
        if ready:
            description["policy"] = find_policy(policy, problem.model, problem.reward, f"{where}.policy")
    try:
        made = make_agent(description, problem.model, problem.reward, study.steps, 0, where)
        determines = _spec(made) | {"reward": _spec(made.reward)}
    except EquipoiseError as error:
        place = "" if isinstance(error, StudyError) else f"{where}: "  # a StudyError begins with it
        raise StudyError(f"{place}{error} (in the problem {problem.name!r})") from error
    sources = _sources(determines, description)
    # Everything is compiled here once, and not by every worker; user-written parts, which may do anything, run there.
    if ready and not (sources or problem.sources):
        with contextlib.suppress(Exception):  # what an agent raises fails its runs, and the others go on
            made.advance(problem.model, stream(problem.model, 0), 1)
    if isinstance(policy, Mapping):
        determines["policy"] = dict(policy)
    if "seed" not in description:
        determines.pop("seed", None)
    if (laws := made.space.laws) is not None:  # what laws and values are called is no part of it
        determines[TOLD] = _hash_of({"learnt": laws.arrays.learnt, "hidden": laws.hidden}, laws.pack_arrays())
    if _says_seed(description):  # the agent's own seed is fixed: it does not follow that of the run
        determines["seeded"] = True
    own = _spec(made.reward) == _spec(problem.reward)
    return PlannedAgent(
        name=agent.title(),
        table=description,
        spec=determines,
        sources=sources,
        rate=_rate(made, problem.reward, own, study.steps),
        caveat=made.caveat,
        guarantee=find_guarantee(made, problem.model, study.marks()) if ready and own else None,
        certainty=_certainty(made) if own else None,
    )


def _says_seed(description: Mapping[str, Any]) -> bool:
    """Whether a table, or one within it, gives a seed of its own."""
    return "seed" in description or any(_says_seed(part) for part in description.values() if isinstance(part, Mapping))


def _rate(agent: Agent, reward: Reward, own: bool, steps: int) -> float | None:
    """The exponent of the theorem on this agent's regret: 1/2 for Frank-Wolfe, 1/3 for the tuned descents."""
    if isinstance(agent, KnapsackTocUCRL2):
        return None if agent.caveat else -1.0 / 3.0
    if not isinstance(agent, TocUCRL2) or not own or agent.caveat or agent.threshold in (0.0, math.inf):
        return None
    scale, exponent, _ = tolerance_rule(agent.tolerance)
    loose = scale > 1.0 or scale * steps**exponent > steps**-0.5
    if loose or isinstance(agent.threshold, Power):  # the theorems are for a bounded threshold
        return None
    anytime = isinstance(reward, Entropy) and reward.mu is None
    return -1.0 / 3.0 if anytime else rate(agent.oracle)


def _certainty(agent: Agent) -> float | None:
    """The probability with which the certificates of an agent hold; None if it has none, or does not say."""
    if not (agent.proves and isinstance(agent, TocUCRL2 | BudgetedAgent | MixtureUCRL2)):
        return None
    return 1.0 - agent.delta if agent.confidence.learning else 1.0


def _run(study: Study, problem: PlannedProblem, agent: PlannedAgent, seed: int) -> RunTask:
    reward, sources, marks = part_spec(problem.reward, ""), problem.sources | agent.sources, study.marks()
    determines = {"format": _FORMAT, "version": VERSION, "world": problem.model_id, "reward": _spec(problem.reward)}
    determines |= {"agent": agent.spec, "steps": study.steps, "marks": marks, "seed": seed}
    world = {"model": problem.model_id} if problem.world is None else problem.world
    specification: dict[str, Any] = {"study": study.name, "steps": study.steps, "seed": seed}
    specification["problem"] = {"name": problem.name, "world": world, "reward": reward}
    specification["agent"] = {"name": agent.name, **agent.table}
    return RunTask(
        id=_digest(determines, sources),
        problem=problem.name,
        agent=agent.name,
        seed=seed,
        steps=study.steps,
        marks=marks,
        model=problem.model,
        reward=reward,
        table=agent.table,
        spec=tomli_w.dumps(specification),
        sources=sources,
    )


def _spec(component: Component) -> dict[str, Any]:
    def write(value: Any, where: str) -> dict[str, str] | None:  # a model by its hash
        if value is not None and not isinstance(value, Model):
            raise StudyError(f"{where}: got {value!r}; a number, a text, a list of them, or a component is needed")
        return None if value is None else {"model": model_hash(value)}

    return to_spec(component, write)


def _digest(determines: Mapping[str, Any], sources: Mapping[str, str]) -> str:
    if sources:
        determines = {**determines, "sources": sources}
    return hashlib.sha256(json.dumps(determines, sort_keys=True).encode()).hexdigest()[:24]


MOST_STATES: Final = 2000  # about ten seconds
FURTHEST: Final = 10**18


def find_guarantee(agent: Agent, model: Model, marks: Sequence[int]) -> Guarantee | None:
    """What is proven of the agent's regret for its own reward; None if that is nothing."""
    if not isinstance(agent, TocUCRL2):
        return None
    try:
        setting = Setting.of(agent)
        smallest = regret(Facts.of(model, diameter=1.0), setting, 1)  # finite or not, whatever the diameter
    except ParameterError:
        return None
    if not (math.isfinite(smallest.value) and smallest.probability > 0.0 and setting.scale > 0.0):
        return None
    limit = FURTHEST if agent.horizon is None else min(agent.horizon, FURTHEST)
    if model.n_states > MOST_STATES:
        return Guarantee(smallest.probability, setting.scale, (), None, limit)
    facts = Facts.of(model)

    def tells(steps: int) -> bool:
        return regret(facts, setting, steps).value < setting.scale

    bounds = tuple((t, regret(facts, setting, t).value) for t in marks)
    first = 1 + bisect_left(range(1, limit + 1), True, key=tells)  # the first T at which the bound is below L ||1_K||
    return Guarantee(smallest.probability, setting.scale, bounds, first if first <= limit else None, limit)
