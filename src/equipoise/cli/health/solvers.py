"""The solvers of the offline program, on problems whose answers are known.

Two arms, each with an outcome of its own: the averages are the points of the simplex. A linear reward, for HiGHS, is
largest in a corner, at its largest weight. The quadratic reward 1 - |w - c|^2 / 2 with c = (3/4, 3/4), for Clarabel, is
largest at (1/2, 1/2), where it is 1 - (1/16 + 1/16) / 2 = 15/16.
"""

from __future__ import annotations

from typing import Final

from equipoise.cli.health.finding import Finding
from equipoise.errors import EquipoiseError
from equipoise.models import bandit
from equipoise.offline import solve
from equipoise.rewards import Linear, Quadratic, Reward

_CLOSE: Final = 1e-6  # what `solve` certifies for small problems


def solvers() -> list[Finding]:
    """Whether both are there, and right."""
    return [
        solver("HIGHS", Linear([0.25, 0.75]), 0.75, "highspy"),
        solver("CLARABEL", Quadratic([0.75, 0.75]), 15 / 16, "clarabel"),
    ]


def solver(name: str, reward: Reward, right: float, library: str) -> Finding:
    """Whether a solver finds the optimum of a reward on two arms.

    Parameters
    ----------
    name : str
        The solver that `solve` should choose.
    reward : Reward
        Of two outcomes.
    right : float
        The optimum.
    library : str
        What to install.

    Examples
    --------
    >>> solver("HIGHS", Linear([0.25, 0.75]), 0.75, "highspy").verdict
    'fine'
    """
    advice = f"install it again: pip install --force-reinstall {library} cvxpy"
    try:
        best = solve(bandit(2), reward, method="program")
    except (EquipoiseError, ImportError) as error:
        return Finding(name, f"no answer ({error})", "wrong", advice)
    if best.solver != name:
        return Finding(name, f"{best.solver} answered in its place", "wrong", advice)
    if best.status != "optimal" or abs(best.value - right) > _CLOSE:
        return Finding(name, f"{best.value} ({best.status}), and {right} is right", "wrong", advice)
    return Finding(name, f"finds the optimum of a small problem, and its certificate holds ({best.seconds:.2f} s)")
