"""Plan with another package on a world that was written as arrays, and print what came of it as JSON.

Run by the peers' own interpreter, which has no Equipoise: `planning_race.py PEER WORLD.npz ANSWER.npz`. Seconds are of
the processor, of the solution alone: what it takes to hand a world over is told apart.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

TOLERANCE = 1e-6  # of an average
NEAR = 1.0 - 1e-4  # a discount that is near 1
FLOOR = 0.6  # of the second outcome

World = Any  # the arrays of a model, by name


def clock() -> float:
    """Seconds of the processor."""
    return time.process_time()


def by_mdpsolver(world: World) -> dict[str, Any]:
    """Modified policy iteration for the average, in C++, on one thread."""
    import mdpsolver

    began = clock()
    first, at = world["first_pair"], world["transition_first"]
    chances, columns, rewards = [], [], []
    for s in range(first.size - 1):
        rows = [slice(at[pair], at[pair + 1]) for pair in range(first[s], first[s + 1])]
        chances.append([world["transition_probability"][row].tolist() for row in rows])
        columns.append([world["transition_state"][row].tolist() for row in rows])
        rewards.append(world["means"][first[s] : first[s + 1], 0].tolist())
    solver = mdpsolver.model()
    solver.mdp(rewards=rewards, tranMatProbs=chances, tranMatColumns=columns)
    built = clock()
    solver.solve(algorithm="mpi", criterion="average", tolerance=TOLERANCE, parallel=False, verbose=False)
    return {"build": built - began, "seconds": clock() - built, "policy": np.array(solver.getPolicy())}


def by_quantecon(world: World) -> dict[str, Any]:
    """Modified policy iteration of DiscreteDP, discounted: its averages are (1 - discount) times its values."""
    import quantecon
    from scipy.sparse import csr_matrix

    first, n_states = world["first_pair"], world["first_pair"].size - 1
    n_pairs = int(first[-1])
    states = np.repeat(np.arange(n_states), np.diff(first))
    actions = np.arange(n_pairs) - first[states]
    p = csr_matrix(
        (world["transition_probability"], world["transition_state"], world["transition_first"]), (n_pairs, n_states)
    )
    rewards = np.ascontiguousarray(world["means"][:, 0])

    def solved() -> tuple[float, float, Any]:
        began = clock()
        program = quantecon.markov.DiscreteDP(rewards, p, NEAR, states, actions)
        built = clock()
        answer = program.solve("modified_policy_iteration", epsilon=TOLERANCE / (1.0 - NEAR), max_iter=100_000)
        return built - began, clock() - built, answer

    solved()  # it compiles what it runs
    build, seconds, answer = solved()
    return {"build": build, "seconds": seconds, "policy": answer.sigma}


def by_storm(world: World) -> dict[str, Any]:
    """The largest long-run average of the first outcome by Storm."""
    return _asked_of_storm(world, 'R{"r0"}max=? [LRA]')


def by_storm_with_a_floor(world: World) -> dict[str, Any]:
    """The same with a floor for the second outcome."""
    return _asked_of_storm(world, f'multi(R{{"r0"}}max=? [LRA], R{{"r1"}}>={FLOOR} [LRA])')


def _asked_of_storm(world: World, query: str) -> dict[str, Any]:
    import stormpy

    began = clock()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "world.drn"
        _write_drn(world, file)
        model = stormpy.build_model_from_drn(str(file))
    built = clock()
    sound = stormpy.environments.sound()
    answer = stormpy.model_checking(model, stormpy.parse_properties(query)[0], environment=sound)
    value = float(answer.get_value(int(world["start"])))
    return {"build": built - began, "seconds": clock() - built, "value": value}


def _write_drn(world: World, file: Path) -> None:
    """Write a world in Storm's explicit format."""
    first, at, means = world["first_pair"], world["transition_first"], world["means"]
    n_states, K = first.size - 1, means.shape[1]
    names, nothing = " ".join(f"r{k}" for k in range(K)), ", ".join(["0"] * K)
    with file.open("w", encoding="utf-8") as out:
        out.write(f"@type: MDP\n@parameters\n\n@reward_models\n{names}\n")
        out.write(f"@nr_states\n{n_states}\n@nr_choices\n{first[-1]}\n@model\n")
        for s in range(n_states):
            out.write(f"state {s} [{nothing}]{' init' if s == world['start'] else ''}\n")
            for action, pair in enumerate(range(first[s], first[s + 1])):
                out.write(f"\taction {action} [{', '.join(repr(v) for v in means[pair].tolist())}]\n")
                part = slice(at[pair], at[pair + 1])
                moves = zip(world["transition_state"][part].tolist(), world["transition_probability"][part].tolist())  # noqa: B905
                out.writelines(f"\t\t{state} : {chance!r}\n" for state, chance in moves)


PEERS: dict[str, Callable[[World], dict[str, Any]]] = {
    "mdpsolver": by_mdpsolver,
    "quantecon": by_quantecon,
    "storm": by_storm,
    "storm with a floor": by_storm_with_a_floor,
}


def main() -> None:
    """Plan, keep the policy beside, and print the rest."""
    peer, world, answer = sys.argv[1:]
    with np.load(world) as arrays:
        said = PEERS[peer]({name: arrays[name] for name in arrays.files})
    policy = said.pop("policy", None)
    if policy is not None:
        np.savez(answer, policy=policy)
    print(json.dumps(said))


if __name__ == "__main__":
    main()
