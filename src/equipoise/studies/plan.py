"""A study, worked out: every problem made, every agent tried on it, every run with its id.

A run's id is a hash of what determines its results: the world (its arrays, however it was described), the reward, the
agent with all its defaults, the number of steps, the checkpoints, the seed, and the version of this package. Names are
no part of it. So more seeds, another agent or a new name leave what is done alone.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, final

import numpy as np
import tomli_w
from numpy.typing import NDArray

from equipoise._component import Component, allowed_in, described
from equipoise._version import VERSION
from equipoise.agents import Power, TocUCRL2
from equipoise.agents.base import Agent
from equipoise.agents.knapsack import KnapsackAgent
from equipoise.agents.schedules import tolerance_rule
from equipoise.errors import EquipoiseError, StudyError
from equipoise.models.laws.laws import Laws
from equipoise.models.model import Model
from equipoise.models.world import stream
from equipoise.rewards.base import Reward
from equipoise.rewards.entropy import Entropy
from equipoise.studies.guarantees import find_guarantee
from equipoise.studies.policies import find_policy
from equipoise.studies.results import Guarantee
from equipoise.studies.spec import AgentSpec, Problem, Study
from equipoise.studies.vocabulary import TOLD, make_agent, make_reward, make_world, table
from equipoise.theory.regret import rate

_FORMAT: Final = 1


@final
@dataclass(frozen=True, eq=False)
class PlannedProblem:
    """A problem, made."""

    name: str
    model: Model
    reward: Reward
    world: dict[str, Any] | None  # as the study says it; None for an object
    model_id: str
    id: str  # of model and reward: what the optimum depends on


@final
@dataclass(frozen=True, eq=False)
class PlannedAgent:
    """An agent, ready to be made for one problem with any seed."""

    name: str
    table: dict[str, Any]  # with its policy found
    described: dict[str, Any]  # all that determines it
    rate: float | None  # the exponent of the theorem that covers it
    caveat: str  # what is to be said wherever its results are shown
    guarantee: Guarantee | None  # the explicit bound on its regret; found if the plan is to be run
    certainty: float | None  # the probability with which its certificates hold, if it has some


@final
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
    modules: tuple[str, ...]  # of parts written elsewhere, which the user allowed
    version: str = VERSION

    def make_agent(self, reward: Reward) -> Agent:
        """The agent at its first step."""
        return make_agent(self.table, self.model, reward, self.steps, self.seed, self.agent)


@final
@dataclass(frozen=True, eq=False)
class OptimumTask:
    """One offline program."""

    id: str
    problem: str
    model: Model
    reward: dict[str, Any]
    modules: tuple[str, ...]
    version: str = VERSION


@final
@dataclass(frozen=True, eq=False)
class Plan:
    """What a study asks for.

    Attributes
    ----------
    study : Study
        What was planned.
    problems : tuple of PlannedProblem
        Each with its world and reward, made.
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
    """Make every part of a study once, so that whatever is wrong with it is said before anything runs.

    Parameters
    ----------
    study : Study
        What is wanted.
    origin : Path, optional
        The file that it was read from: errors name it, and the paths of worlds in files start from its folder.
    ready : bool
        Whether it is to be run: policies by name and explicit bounds are then found, and each agent takes a step in
        each world, which also compiles its kernels. Results can be read without.

    Returns
    -------
    Plan
        Every run, with its id.

    Raises
    ------
    StudyError
        When a part cannot be made, or an agent does not fit a problem; it says where it stands.

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
    problems = tuple(_problem(problem, f"{before}problems[{i}]", folder) for i, problem in enumerate(study.problems))
    agents: dict[tuple[str, str], PlannedAgent] = {}
    for problem in problems:
        for i, agent in enumerate(study.agents):
            place = f"{before}agents[{i}]"
            if agent.problems is None or problem.name in agent.problems:
                agents[problem.name, agent.title()] = _agent(agent, problem, study, place, ready)
    optima = {problem.id: problem for problem in problems}
    return Plan(
        study=study,
        problems=problems,
        agents=agents,
        optima=tuple(_optimum(problem) for problem in optima.values()),
        runs=tuple(_runs(study, problems, agents)),
    )


def model_hash(model: Model) -> str:
    """A hash of everything in a model.

    >>> from equipoise.models import star
    >>> model_hash(star(3, 4)) == model_hash(star()), model_hash(star(2, 4)) == model_hash(star())
    (True, False)
    """
    return _hash_of(*model.stored())


def _laws_hash(laws: Laws) -> str:
    """A hash of what an agent is told of mechanics; what laws and values are called is no part of it."""
    return _hash_of({"learnt": laws.arrays.learnt, "hidden": laws.hidden}, laws.stored_numbers())


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
    model_id = model_hash(model)
    return PlannedProblem(
        name=problem.title(),
        model=model,
        reward=reward,
        world=None if isinstance(problem.world, Model) else problem.world,
        model_id=model_id,
        id=_digest({"format": _FORMAT, "version": VERSION, "world": model_id, "reward": _described(reward)}),
    )


def _agent(agent: AgentSpec, problem: PlannedProblem, study: Study, where: str, ready: bool) -> PlannedAgent:
    description = agent.table()
    policy = description.get("policy")
    if isinstance(policy, Mapping):
        del description["policy"]
        if ready:
            description["policy"] = find_policy(policy, problem.model, problem.reward, f"{where}.policy")
    try:
        made = make_agent(description, problem.model, problem.reward, study.steps, 0, where)
        determines = _described(made) | {"reward": _described(made.reward)}
    except EquipoiseError as error:
        place = "" if isinstance(error, StudyError) else f"{where}: "  # a StudyError begins with it
        raise StudyError(f"{place}{error} (in the problem {problem.name!r})") from error
    if ready:  # so that everything is compiled once, and not by every worker
        with contextlib.suppress(Exception):  # what an agent raises fails its runs, and the others go on
            made.advance(problem.model, stream(problem.model, 0), 1)
    if isinstance(policy, Mapping):
        determines["policy"] = dict(policy)
    if "seed" not in description:
        determines.pop("seed", None)
    if made.space.laws is not None:
        determines[TOLD] = _laws_hash(made.space.laws)
    if _says_seed(description):  # the agent's own seed is fixed: it does not follow that of the run
        determines["seeded"] = True
    own = _described(made.reward) == _described(problem.reward)
    return PlannedAgent(
        name=agent.title(),
        table=description,
        described=determines,
        rate=_rate(made, problem.reward, own, study.steps),
        caveat=made.caveat,
        guarantee=find_guarantee(made, problem.model, study.marks()) if ready and own else None,
        certainty=_certainty(made) if own else None,
    )


def _says_seed(description: Mapping[str, Any]) -> bool:
    """Whether a table, or one within it, gives a seed of its own."""
    return "seed" in description or any(_says_seed(part) for part in description.values() if isinstance(part, Mapping))


def _rate(agent: Agent, reward: Reward, own: bool, steps: int) -> float | None:
    """The exponent of the theorem on this agent's regret: 1/2 for Frank-Wolfe, 1/3 for the tuned descents.

    For an entropy whose smoothing follows time, Frank-Wolfe has 1/3 too, by (6.3). An agent that maximises another
    reward than the problem's has none, nor has one whose plans are at some time coarser than the paper's.
    """
    if isinstance(agent, KnapsackAgent):
        return None if agent.caveat else -1.0 / 3.0
    if not isinstance(agent, TocUCRL2) or not own or agent.caveat or agent.threshold in (0.0, math.inf):
        return None
    scale, exponent, _ = tolerance_rule(agent.tolerance)
    if scale > 1.0 or scale * steps**exponent > steps**-0.5:
        return None
    if isinstance(agent.threshold, Power):  # the exponents of the theorems are those of a bounded threshold
        return None
    anytime = isinstance(reward, Entropy) and reward.mu is None
    return -1.0 / 3.0 if anytime else rate(agent.oracle)


def _certainty(agent: Agent) -> float | None:
    """The probability with which the certificates of an agent hold; None if it has none, or does not say."""
    if not (agent.proves and isinstance(agent, TocUCRL2 | KnapsackAgent)):
        return None
    return 1.0 - agent.delta if agent.confidence.learning else 1.0


def _runs(
    study: Study, problems: tuple[PlannedProblem, ...], agents: Mapping[tuple[str, str], PlannedAgent]
) -> Iterator[RunTask]:
    """All runs, seed by seed, so that a study that is stopped early has something of everything."""
    marks = study.marks()
    for seed in study.seeds:
        for problem in problems:
            for (name, _), agent in agents.items():
                if name == problem.name:
                    yield _run(study, problem, agent, seed, marks)


def _optimum(problem: PlannedProblem) -> OptimumTask:
    reward = table(problem.reward, "")
    return OptimumTask(problem.id, problem.name, problem.model, reward, allowed_in(reward))


def _run(study: Study, problem: PlannedProblem, agent: PlannedAgent, seed: int, marks: tuple[int, ...]) -> RunTask:
    reward = table(problem.reward, "")
    determines = {
        "format": _FORMAT,
        "version": VERSION,
        "world": problem.model_id,
        "reward": _described(problem.reward),
        "agent": agent.described,
        "steps": study.steps,
        "marks": marks,
        "seed": seed,
    }
    world = {"model": problem.model_id} if problem.world is None else problem.world
    specification = {
        "study": study.name,
        "steps": study.steps,
        "seed": seed,
        "problem": {"name": problem.name, "world": world, "reward": reward},
        "agent": {"name": agent.name, **agent.table},
    }
    return RunTask(
        id=_digest(determines),
        problem=problem.name,
        agent=agent.name,
        seed=seed,
        steps=study.steps,
        marks=marks,
        model=problem.model,
        reward=reward,
        table=agent.table,
        spec=tomli_w.dumps(specification),
        modules=allowed_in(reward, agent.table, agent.described),
    )


def _described(component: Component) -> dict[str, Any]:
    """All that determines a component, as JSON."""
    return described(component, _model_by_its_hash)


def _model_by_its_hash(value: Any, where: str) -> dict[str, str]:
    if not isinstance(value, Model):
        raise StudyError(f"{where}: got {value!r}; a number, a text, a list of them, or a component is needed")
    return {"model": model_hash(value)}


def _digest(determines: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(determines, sort_keys=True).encode()).hexdigest()[:24]
