r"""Lemma A.2: the span of gamma in a feasible point of the dual (D_M).

    phi + gamma(s) >= -theta.v(s,a) + sum_s' p(s'|s,a) gamma(s') for all (s,a),   ||theta||_* <= L
    imply   max gamma - min gamma <= (L ||1_K|| + phi) D.

It holds as written; the limit and the indices of its proof need repair (erratum 18). It is tight: on `path(n)` every
step costs 1 but for a loop at one end, which is free. At theta = L = 1 the least phi is 0, and the span is D = n - 1.

How it is measured. For one theta and one phi the largest span of any feasible gamma is found exactly: gamma(z) -
gamma(s) is at most the expected sum of phi + theta.v on the way from s to z, whatever way is taken, and the least such
sum is attained. So a linear program, for all targets z at once, gives the least gamma with gamma(z) = 0, and no
feasible gamma is left out. The thetas are the optimal one, corners of the dual ball and random points of it; phi is
the least feasible one, which is the optimal average of -theta.v, and larger ones. What `solve` returns is looked at as
it is; that it is feasible, and of the value of the primal, is seen too. Of each world the point nearest to its bound is
shown, among those with the least phi and among the others, where all spans come near to phi D.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Final

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import csr_array

from equipoise._types import Vector
from equipoise.errors import SolverError
from equipoise.models.model import Model
from equipoise.models.paper_instances import ring, star
from equipoise.models.standard import garnet, riverswim
from equipoise.offline.benchmark import solve
from equipoise.offline.certificate import optimal_gain
from equipoise.rewards.base import Reward
from equipoise.rewards.distance import Balance
from equipoise.rewards.norms import dual, length, ones
from equipoise.rewards.ordered import BottomSum
from equipoise.rewards.separable import Linear, Quadratic
from paper.findings import Checked, Finding, Picture, Size, Statement, nearest

STATEMENT: Final = Statement(
    name="dual-span",
    number="Lemma A.2",
    title="The span of a feasible point of the dual",
    says="max γ − min γ ≤ (L‖1‖ + φ)D, for every feasible (θ, φ, γ)",
    erratum=18,
)
_RAISED: Final = (0.0, 0.1, 1.0, 10.0)  # added to the least feasible phi
_TINY: Final = 1e-300
_ROUNDING: Final = 1e-6  # of the linear programs, and of value iteration


def check(size: Size) -> Checked:
    """Compare the largest span of any feasible gamma with the bound, for many theta and phi."""
    points_of_solve = [_certificate(name, reward, models[0]) for name, reward, models in _cases(size)]
    written = [nearest(kind) for kind in zip(*points_of_solve, strict=True)]
    rows = []
    rng = np.random.default_rng(0)
    for name, reward, models in _cases(size):
        points = []
        for model in models:
            D = model.diameter()
            for kind, raised, phi, span in _points(model, reward, rng, size.pick(2, 20)):
                bound = span_bound(reward, phi, D)
                points.append(((span - _ROUNDING) / (bound + _ROUNDING), span, bound, f"{kind}, φ = {phi:.3g}", raised))
        for above in (False, True):
            _, span, bound, where, _ = max(point for point in points if point[4] is above)
            written.append(Finding(f"{name}: {where}", span, bound * (1.0 + _ROUNDING) + _ROUNDING))
        if name.startswith("path"):
            share = max(point[1] / point[2] for point in points if not point[4])
            note = "D in closed form: the lemma is tight"
            written.append(Finding(f"{name}: share of the bound that is used", share, 1.0 - _ROUNDING, ">=", note=note))
        for _, span, bound, where, _ in points[:: 1 + len(points) // 40]:
            rows.append({"world": name, "bound": bound, "span": span, "point": where})
    return Checked(STATEMENT, tuple(written), (), (_picture(rows),))


def _certificate(name: str, reward: Reward, model: Model) -> list[Finding]:
    """The point of `solve`: within the ball, feasible in (A.2a), and of the same value as the primal."""
    best = solve(model, reward)
    over = -(model.means @ best.theta) + model.transitions() @ best.bias - best.gain - best.bias[model.state_of]
    beyond = length(best.theta, dual(reward.norm)) - reward.lipschitz
    conjugate = max(  # g*, over corners of the box and the maximiser that the package finds
        reward.value(w) + float(best.theta @ w)
        for w in [*map(np.array, itertools.product((0.0, 1.0), repeat=reward.n_outcomes)), best.outcomes]
    )
    return [
        Finding(f"{name}, the point of `solve`: ‖θ‖ beyond L", float(beyond), 0.0, error=_ROUNDING),
        Finding(f"{name}, the point of `solve`: constraint (A.2a), at worst", float(over.max()), 0.0, error=_ROUNDING),
        Finding(
            f"{name}, the point of `solve`: g*(θ) + φ below opt", best.value - best.dual_value, 0.0, error=_ROUNDING
        ),
        Finding(f"{name}, the point of `solve`: gap", best.gap, best.tolerance),
        Finding(
            f"{name}, the point of `solve`: g at a corner, above g*",
            conjugate + best.gain - best.dual_value,
            0.0,
            error=_ROUNDING,
        ),
    ]


def span_bound(reward: Reward, phi: float, diameter: float) -> float:
    """(L ||1_K|| + phi) D."""
    return (reward.lipschitz * ones(reward.n_outcomes, reward.norm) + phi) * diameter


def largest_span(model: Model, scores: Vector, phi: float) -> float:
    """The largest max gamma - min gamma with phi + gamma(s) >= score(s,a) + sum p gamma for all (s,a).

    >>> round(largest_span(ring(4), np.array([1.0, 0.0, 0.0, 0.0]), 0.25), 9)
    0.75
    """
    S = model.n_states
    differences = model.transitions() - csr_array(
        (np.ones(model.n_pairs), (np.arange(model.n_pairs), model.state_of)), shape=(model.n_pairs, S)
    )
    bounds = [(0.0, 0.0) if s == z else (None, None) for z in range(S) for s in range(S)]
    answer = linprog(
        np.ones(S * S), A_ub=np.kron(np.eye(S), differences.toarray()), b_ub=np.tile(phi - scores, S), bounds=bounds,
        method="highs",
    )  # fmt: skip
    if answer.status != 0 or answer.x is None:
        raise SolverError(f"the least gamma of a feasible point: {answer.message}")
    return float(-np.min(answer.x))


def path(length: int) -> Model:
    """Build a path of states with arcs both ways and outcome 1, but 0 for the loop at state 0, its end.

    >>> path(5).diameter()
    4.0
    """
    states = [[[(1.0, 0, [0.0])], [(1.0, 1, [1.0])]]]
    states += [[[(1.0, s - 1, [1.0])], [(1.0, min(s + 1, length - 1), [1.0])]] for s in range(1, length)]
    return Model.from_branches(states)


def _points(
    model: Model, reward: Reward, rng: np.random.Generator, draws: int
) -> Iterator[tuple[str, bool, float, float]]:
    """Feasible points: what theta is, whether phi is raised, phi, and the largest span of gamma."""

    def size_of(theta: Vector) -> float:
        return length(theta, dual(reward.norm))

    best = solve(model, reward)
    yield "the point of `solve`", False, best.gain, float(np.ptp(best.bias))
    thetas = [("θ optimal", best.theta * min(1.0, reward.lipschitz / max(size_of(best.theta), _TINY)))]
    for corner in np.array(list(itertools.product((-1.0, 1.0), repeat=reward.n_outcomes))):
        thetas += [("θ at a corner", corner * reward.lipschitz / size_of(corner))]
    for direction in rng.standard_normal((draws, reward.n_outcomes)):
        thetas += [("θ random", direction * reward.lipschitz * rng.random() / size_of(direction))]
    for kind, theta in thetas:
        scores = np.ascontiguousarray(-(model.means @ theta))
        least, _, _ = optimal_gain(model, scores)
        for more in _RAISED:
            yield kind, more > 0.0, least + more, largest_span(model, scores, least + more)


def _cases(size: Size) -> list[tuple[str, Reward, list[Model]]]:
    long = size.pick(12, 20)
    garnets = [garnet(5, 2, 2, 2, seed=seed) for seed in range(size.pick(3, 50))]
    return [
        ("path(6), linear", Linear([-1.0]), [path(6)]),
        (f"path({long}), linear", Linear([-1.0]), [path(long)]),
        ("ring(5), linear", Linear([1.0]), [ring(5)]),
        ("star(2, 4), balance", Balance([0.5, 0.5]), [star(2, 4)]),
        ("star(3, 2), quadratic", Quadratic([1 / 3] * 3), [star(3, 2)]),
        ("riverswim(5), linear", Linear([1.0]), [riverswim(5)]),
        (f"{len(garnets)} garnets, quadratic", Quadratic([0.9, 0.6]), garnets),
        (f"{len(garnets)} garnets, bottom sum", BottomSum(2, 1), garnets),
    ]


def _picture(rows: list[dict[str, object]]) -> Picture:
    top = max(float(str(row["bound"])) for row in rows)
    return Picture(
        "The largest span of γ against (L‖1‖ + φ)D",
        "One point for each θ and φ. None may lie above the diagonal; the paths reach it.",
        {
            "layer": [
                {
                    "data": {"values": [{"bound": x, "span": x} for x in (0.0, top)]},
                    "mark": {"type": "line", "strokeDash": [4, 4]},
                },
                {
                    "data": {"values": rows},
                    "mark": "point",
                    "encoding": {"color": {"field": "world", "type": "nominal", "title": None}},
                },
            ],
            "encoding": {
                "x": {"field": "bound", "type": "quantitative", "scale": {"type": "symlog"}, "title": "(L‖1‖ + φ)D"},
                "y": {"field": "span", "type": "quantitative", "scale": {"type": "symlog"}, "title": "span of γ"},
            },
        },
    )
