"""What a folder should hold: the problems, agents and runs of the study that was last run there, with their ids.

Results are read by it, not by making the plan again: so they can be read by a later version too, without the worlds,
and whatever has become of the files that the study was made of.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any, final

from equipoise._version import VERSION
from equipoise.rewards.constrained import Constrained
from equipoise.studies.plan import Plan, PlannedProblem
from equipoise.studies.results import WITHIN, AgentRecord, Guarantee, Optimum, ProblemRecord
from equipoise.studies.vocabulary import table, words


@final
@dataclass(frozen=True)
class Manifest:
    """The plan of a folder, as plain data.

    Attributes
    ----------
    name, description, version : str
        Of the study, and of the Equipoise that ran it.
    problems : list of dict
        What `ProblemRecord` holds, with the id of the optimum in its place.
    agents : list of dict
        What `AgentRecord` holds.
    pairs : list
        problem, agent, and the exponent of the theorem that covers them, or None.
    runs : list
        id, problem, agent and seed.
    guarantees : list of dict
        problem, agent, and what `Guarantee` holds; none in the manifests of earlier versions.
    certified_within : float
        The regret that is to be certified.
    """

    name: str
    description: str
    version: str
    problems: list[dict[str, Any]]
    agents: list[dict[str, Any]]
    pairs: list[tuple[str, str, float | None]]
    runs: list[tuple[str, str, str, int]]
    guarantees: list[dict[str, Any]] = field(default_factory=list)
    certified_within: float = WITHIN

    def problem(self, index: int, optimum: Optimum | None) -> ProblemRecord:
        """A problem, with its optimum."""
        return ProblemRecord(**(self.problems[index] | {"optimum": optimum}))

    def agent_records(self) -> tuple[AgentRecord, ...]:
        """The agents."""
        return tuple(AgentRecord(**agent) for agent in self.agents)

    def bounds(self) -> dict[tuple[str, str], Guarantee]:
        """The explicit bounds, by problem and agent."""
        return {(entry["problem"], entry["agent"]): _guarantee(entry) for entry in self.guarantees}


def manifest(plan: Plan) -> Manifest:
    """The manifest of a plan."""
    return Manifest(
        name=plan.study.name,
        description=plan.study.description,
        version=VERSION,
        problems=[
            {
                "name": problem.name,
                "world": words(problem.world or {"kind": "Model"}),
                "reward": words(table(problem.reward, "reward")),
                "n_states": problem.model.n_states,
                "n_pairs": problem.model.n_pairs,
                "n_outcomes": problem.model.n_outcomes,
                "optimum": problem.id,
                "outcome_labels": problem.model.labels.outcomes,
                **_constraints(problem),
            }
            for problem in plan.problems
        ],
        agents=[
            {
                "name": agent.title(),
                "made": words(agent.table()),
                "caveat": _caveat(plan, agent.title()),
                "certainty": _certainty(plan, agent.title()),
            }
            for agent in plan.study.agents
        ],
        pairs=[(problem, name, agent.rate) for (problem, name), agent in plan.agents.items()],
        runs=[(run.id, run.problem, run.agent, run.seed) for run in plan.runs],
        guarantees=[
            {"problem": problem, "agent": name, **asdict(agent.guarantee)}
            for (problem, name), agent in plan.agents.items()
            if agent.guarantee is not None
        ],
        certified_within=plan.study.certified_within,
    )


def _constraints(problem: PlannedProblem) -> dict[str, Any]:
    """The names and the prices of the constraints of a problem; nothing if it has none."""
    if not isinstance(problem.reward, Constrained):
        return {}
    return {"constraints": list(problem.reward.names), "prices": problem.reward.price.tolist()}


def _caveat(plan: Plan, name: str) -> str:
    """That of an agent, on whichever problem it has one."""
    return next((agent.caveat for agent in plan.agents.values() if agent.name == name and agent.caveat), "")


def _certainty(plan: Plan, name: str) -> float | None:
    """That of an agent, on whichever problem it has certificates."""
    found = (agent.certainty for agent in plan.agents.values() if agent.name == name)
    return next((certainty for certainty in found if certainty is not None), None)


def _guarantee(entry: dict[str, Any]) -> Guarantee:
    return Guarantee(
        probability=entry["probability"],
        largest=entry["largest"],
        bounds=tuple((t, bound) for t, bound in entry["bounds"]),
        telling=entry["telling"],
        limit=entry["limit"],
    )
