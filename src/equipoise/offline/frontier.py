r"""What can be had of several outcomes at once: the Pareto frontier, from both sides.

The averages that policies can reach form a convex set V. In a direction w, `solve` with the linear reward w.v gives a
point v_w of V, and from its dual a bound: no point of V has w.v above b_w. So V lies

    between the convex hull of all v_w   and   the intersection of all half-spaces {v : w.v <= b_w}.

For two outcomes the directions are chosen where the two are farthest apart: next to be tried is the normal of the
segment between two neighbouring points. As V is a polytope, that finds all its corners in the end; it stops when no
point of the outer line is farther than the tolerance from the inner one, or when it has the points asked for. For
three outcomes the directions are an even grid.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, NamedTuple, final

import numpy as np

from equipoise._numbers import real, whole
from equipoise._progress import progress_display
from equipoise._types import Vector
from equipoise.errors import ParameterError, SolverError
from equipoise.models.model import Model
from equipoise.offline.benchmark import solve
from equipoise.rewards.linear import Linear

if TYPE_CHECKING:
    import altair
    import polars

_TWO, _THREE = 2, 3
_SAME: Final = 1e-9  # two points that are no farther apart are one
_MOST: Final = 1000


class Support(NamedTuple):
    """The frontier in one direction.

    Attributes
    ----------
    direction : float array
        w, one number an outcome of the frontier; its entries add up to 1, but for their signs.
    point : float array
        v_w, the averages that are reached.
    bound : float
        b_w: no policy has a larger w.v in the long run.
    """

    direction: Vector
    point: Vector
    bound: float


@final
@dataclass(frozen=True, eq=False)
class Frontier:
    """What can be had of two or three outcomes at once, with a proof that there is no more.

    Attributes
    ----------
    outcomes : tuple of str
        Which.
    supports : list of Support
        From the largest first outcome to the smallest, if there are two.
    gap : float
        The farthest that a point between the bounds may be from one that is reached, along the first axes' diagonal; of
        three outcomes, the largest difference between a bound and the value that is reached in its direction.
    model : Model
        The world.

    Examples
    --------
    >>> import equipoise as eq
    >>> both = eq.frontier(eq.models.bandit(2))
    >>> both.outcomes, both.frame().select("arm 0", "arm 1").rows()[0], both.frame().select("arm 0", "arm 1").rows()[-1]
    (('arm 0', 'arm 1'), (1.0, 0.0), (0.0, 1.0))
    >>> both.gap < 1e-6
    True
    """

    outcomes: tuple[str, ...]
    supports: list[Support]
    gap: float
    model: Model = field(repr=False)

    def frame(self) -> polars.DataFrame:
        """One row a direction: its weights, the averages that are reached, their value, and the bound on it."""
        import polars

        points = np.array([support.point for support in self.supports])
        weights = np.array([support.direction for support in self.supports])
        columns: dict[str, Any] = dict(zip(self.outcomes, points.T, strict=True))
        columns |= {f"weight of {name}": column for name, column in zip(self.outcomes, weights.T, strict=True)}
        columns["value"] = (points * weights).sum(axis=1)
        columns["bound"] = [support.bound for support in self.supports]
        return polars.DataFrame(columns)

    def outer(self) -> Vector:
        """The corners of the outer line, where neighbouring bounds meet; of two outcomes only.

        Raises
        ------
        ParameterError
            When there are three.
        """
        if len(self.outcomes) != _TWO:
            raise ParameterError("outer: the bounds of three outcomes meet in faces; see `frame`")
        return np.array([_meeting(a, b) for a, b in itertools.pairwise(self.supports)])

    def chart(self) -> altair.Chart | altair.LayerChart:
        """An Altair chart: what is reached, and beyond which there is nothing; of two outcomes, or the first two."""
        import altair

        first, second = self.outcomes[:_TWO]
        x = altair.X(first, type="quantitative", scale=altair.Scale(zero=False))
        y = altair.Y(second, type="quantitative", scale=altair.Scale(zero=False))
        if len(self.outcomes) == _THREE:
            colour = altair.Color(self.outcomes[2], type="quantitative")
            return altair.Chart(self.frame()).mark_point(filled=True).encode(x, y, colour)
        import polars

        reached = self.frame().select(first, second).with_columns(line=polars.lit("reached"))
        corners = [self.supports[0].point, *self.outer(), self.supports[-1].point]
        beyond = polars.DataFrame(dict(zip((first, second), np.array(corners).T, strict=True)))
        rows = polars.concat([reached, beyond.with_columns(line=polars.lit("proven limit"))])
        dash = altair.StrokeDash("line", type="nominal", title=None, sort=["reached", "proven limit"])
        line = altair.Chart(rows).mark_line().encode(x, y, dash, altair.Order(first, type="quantitative"))
        return line + altair.Chart(reached).mark_point(filled=True).encode(x, y)


def frontier(
    model: Model,
    outcomes: Sequence[int | str] | None = None,
    *,
    less: Sequence[int | str] = (),
    tolerance: float = 1e-3,
    points: int = 50,
    progress: bool | None = None,
) -> Frontier:
    """Draw the certified Pareto frontier of two or three outcomes.

    Parameters
    ----------
    model : Model
        The world.
    outcomes : sequence of int or str, optional
        Which, by number or label; None: all, if there are two or three.
    less : sequence of int or str
        Those of which less is better.
    tolerance : float
        How near both lines shall come to each other, if there are two outcomes.
    points : int
        How many directions at most; of three outcomes, about so many.
    progress : bool, optional
        A progress bar on stderr; by default on a terminal, when it takes longer than a second.

    Examples
    --------
    >>> import equipoise as eq
    >>> line = frontier(eq.models.inventory(), outcomes=[0, 1])
    >>> line.gap <= 1e-3, bool((line.frame()["value"] <= line.frame()["bound"] + 1e-9).all())
    (True, True)
    """
    names = model.space.outcome_names()
    chosen = [_number(model, names, each) for each in (range(len(names)) if outcomes is None else outcomes)]
    if len(chosen) not in (_TWO, _THREE) or len(set(chosen)) != len(chosen):
        raise ParameterError(f"outcomes: got {outcomes!r} of {names}; two or three of them are needed")
    fewer = {_number(model, names, each) for each in less}
    if not fewer <= set(chosen):
        raise ParameterError(f"less: got {list(less)!r}; these must be among the outcomes of the frontier")
    signs = np.array([-1.0 if k in fewer else 1.0 for k in chosen])
    limit = whole(points, "points", len(chosen), _MOST, error=ParameterError)
    near = real(tolerance, "tolerance", error=ParameterError)

    def support(direction: Vector) -> Support:
        weights = np.zeros(len(names))
        weights[chosen] = signs * direction
        best = solve(model, Linear(weights), progress=False)
        if best.status != "optimal":
            raise SolverError(
                f"frontier: in the direction {weights.tolist()} the optimum is not certified: {best.status}"
            )
        return Support(signs * direction, best.outcomes[chosen], best.dual_value)

    with progress_display("solving", limit, wanted=progress) as display:
        if len(chosen) == _TWO:
            supports, gap = _line(support, limit, near, display.done)
        else:
            supports = []
            for direction in _grid(limit):
                supports.append(support(direction))
                display.done(len(supports))
            gap = max(each.bound - float(each.direction @ each.point) for each in supports)
    return Frontier(tuple(names[k] for k in chosen), supports, gap, model)


def _line(support: Any, limit: int, tolerance: float, tell: Any) -> tuple[list[Support], float]:
    """Refine where inner and outer line are farthest apart."""
    supports = [support(np.array([1.0, 0.0])), support(np.array([0.0, 1.0]))]
    while True:
        gaps = [_apart(a, b) for a, b in itertools.pairwise(supports)]
        widest = int(np.argmax(gaps))
        if gaps[widest] <= tolerance or len(supports) >= limit:
            return supports, gaps[widest]
        a, b = supports[widest], supports[widest + 1]
        normal = np.abs(np.array([a.point[1] - b.point[1], a.point[0] - b.point[0]]))
        if normal.min() <= _SAME:  # one of the two points is not the best of its direction: halve the angle
            normal = np.abs(a.direction) + np.abs(b.direction)
        supports.insert(widest + 1, support(normal / normal.sum()))
        tell(len(supports))


def _meeting(a: Support, b: Support) -> Vector:
    """Where two bounds meet."""
    return np.linalg.solve(np.array([a.direction, b.direction]), np.array([a.bound, b.bound]))


def _apart(a: Support, b: Support) -> float:
    """How far the corner of the outer line is from the segment of the inner one."""
    corner, along = _meeting(a, b), b.point - a.point
    length = float(along @ along)
    nearest = (
        a.point if length <= _SAME**2 else a.point + np.clip((corner - a.point) @ along / length, 0.0, 1.0) * along
    )
    return float(np.linalg.norm(corner - nearest))


def _grid(points: int) -> list[Vector]:
    """Weights of three outcomes, evenly spread: all multiples of 1/n, n the largest with no more than so many."""
    n = 1
    while (n + 2) * (n + 3) // 2 <= points:
        n += 1
    return [np.array([i, j, n - i - j]) / n for i in range(n, -1, -1) for j in range(n - i, -1, -1)]


def _number(model: Model, names: list[str], outcome: int | str) -> int:
    if isinstance(outcome, str):
        return model.labels.outcome_index(outcome) if model.labels.outcomes is not None else names.index(outcome)
    return whole(outcome, "outcomes", 0, len(names) - 1, error=ParameterError)
