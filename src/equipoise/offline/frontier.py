r"""The Pareto frontier of several outcomes, bounded from both sides.

The averages that policies can reach form a convex set V. In a direction w, `solve` with the linear reward w.v gives a
point v_w of V, and from its dual a bound: no point of V has w.v above b_w. So V lies

    between the convex hull of all v_w   and   the intersection of all half-spaces {v : w.v <= b_w}.

For two outcomes the directions are chosen where the two are farthest apart: next to be tried is the normal of the
segment between two neighbouring points. As V is a polytope, that finds all its corners in the end; it stops when no
point of the outer line is farther than the tolerance from the inner one, or when it has the points asked for. For
three outcomes the directions are an even grid.

Of several points that are best in one direction the solver gives any. One that is no better in any outcome than
another that was found, and worse in some, is no trade-off: that other takes its place.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, NamedTuple, final

import numpy as np

from equipoise._checks import check_float, check_int, suggest
from equipoise._runtime.progress import progress_display
from equipoise._types import Vector
from equipoise.errors import ParameterError, SolverError
from equipoise.models.model import Model
from equipoise.offline.benchmark import solve
from equipoise.rewards.separable import Linear

if TYPE_CHECKING:
    import altair
    import polars

_TWO, _THREE = 2, 3
_SAME: Final = 1e-9  # two points that are no farther apart are one
_MOST: Final = 1000
_THIN: Final = 1e-6  # a set no thicker than that is made thicker by as much, to have an inside
_HEAVY: Final = 100.0  # weight of the condition that the shares of a mixture add up to 1


class Support(NamedTuple):
    """The frontier in one direction."""

    direction: Vector
    point: Vector
    bound: float


@final
@dataclass(frozen=True, eq=False)
class Frontier:
    """The achievable averages of two or three outcomes, with a proof that there is no more.

    Attributes
    ----------
    outcomes : tuple of str
        Which.
    supports : list of Support
        From the largest first outcome to the smallest, if there are two.
    gap : float
        The farthest that a corner of the outer line or surface is from what is reached: the corners of the inner one,
        and whatever is between them.
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
        """One row per direction: its weights, the averages that are reached, their value, and the bound on it."""
        import polars

        points = np.array([support.point for support in self.supports])
        weights = np.array([support.direction for support in self.supports])
        columns: dict[str, Any] = dict(zip(self.outcomes, points.T, strict=True))
        columns |= {f"weight of {name}": column for name, column in zip(self.outcomes, weights.T, strict=True)}
        columns["value"] = (points * weights).sum(axis=1)
        columns["bound"] = [support.bound for support in self.supports]
        return polars.DataFrame(columns)

    def outer(self) -> Vector:
        """The corners of the outer line or surface, where neighbouring bounds meet: one row each, in no order if three.

        Examples
        --------
        >>> import equipoise as eq
        >>> eq.frontier(eq.models.bandit(3), points=10).outer().round(6).tolist()
        [[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [1.0, 0.0, 0.0]]
        """
        if len(self.outcomes) == _TWO:
            return np.array([_meeting(a, b) for a, b in itertools.pairwise(self.supports)])
        return _corners(self.supports)

    def chart(self) -> altair.Chart | altair.LayerChart:
        """An Altair chart: what is reached, and beyond which there is nothing. A third outcome is the colour."""
        import altair
        import polars

        # columns with names of our own: those of outcomes may mean something to Altair, as a point or a colon does
        names = dict(zip("xyz", self.outcomes, strict=False))
        reached, limit = np.array([support.point for support in self.supports]), self.outer()
        if len(self.outcomes) == _TWO:
            limit = np.array([reached[0], *limit, reached[-1]])
        rows = polars.concat(
            polars.DataFrame(dict(zip(names, points.T, strict=True))).with_columns(what=polars.lit(what))
            for points, what in ((reached, "reached"), (limit, "proven limit"))
        ).with_row_index("row")  # along the lines, which may go straight down
        x, y = (
            axis(field, type="quantitative", title=names[field], scale=altair.Scale(zero=False))
            for axis, field in ((altair.X, "x"), (altair.Y, "y"))
        )
        tips = [altair.Tooltip(field, type="quantitative", title=name) for field, name in names.items()]
        order = ["reached", "proven limit"]
        if len(self.outcomes) == _THREE:
            colour = altair.Color("z", type="quantitative", title=names["z"])
            shape = altair.Shape("what", type="nominal", title=None, sort=order)
            return altair.Chart(rows).mark_point(size=60).encode(x, y, colour, shape, tooltip=tips)
        dash = altair.StrokeDash("what", type="nominal", title=None, sort=order)
        line = altair.Chart(rows).mark_line().encode(x, y, dash, altair.Order("row", type="quantitative"))
        points = altair.Chart(rows.filter(polars.col("what") == "reached")).mark_point(filled=True)
        return line + points.encode(x, y, tooltip=tips)


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

    Returns
    -------
    Frontier
        The points that were found, and the half-spaces beyond which nothing lies.

    See Also
    --------
    equipoise.solve : The one point of it that a reward prefers.

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
    limit = check_int(points, "points", len(chosen), _MOST, error=ParameterError)
    near = check_float(tolerance, "tolerance", error=ParameterError)
    if not near > 0.0:
        raise ParameterError(f"tolerance: got {tolerance}; it must be above 0")

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
            gap = _farthest(supports)
    return Frontier(tuple(names[k] for k in chosen), _undominated(supports, signs), gap, model)


def _line(support: Any, limit: int, tolerance: float, tell: Any) -> tuple[list[Support], float]:
    """Refine where inner and outer line are farthest apart."""
    supports = [support(np.array([1.0, 0.0])), support(np.array([0.0, 1.0]))]
    while True:
        gaps = [_apart(a, b) for a, b in itertools.pairwise(supports)]
        normals = [_normal(a, b) for a, b in itertools.pairwise(supports)]
        open_gaps = [0.0 if normal is None else gap for gap, normal in zip(gaps, normals, strict=True)]
        widest = int(np.argmax(open_gaps))
        normal = normals[widest]
        if normal is None or open_gaps[widest] <= tolerance or len(supports) >= limit:
            return supports, max(gaps)
        supports.insert(widest + 1, support(normal))
        tell(len(supports))


def _normal(a: Support, b: Support) -> Vector | None:
    """The direction to try between two; None if it is one of theirs, and nothing is left to find out."""
    normal = np.abs(np.array([a.point[1] - b.point[1], a.point[0] - b.point[0]]))
    if normal.min() <= _SAME:  # one of the two points is not the best of its direction: halve the angle
        normal = np.abs(a.direction) + np.abs(b.direction)
    normal = normal / normal.sum()
    tried = any(np.abs(normal - np.abs(each.direction)).max() <= _SAME for each in (a, b))
    return None if tried else normal


def _undominated(supports: list[Support], signs: Vector) -> list[Support]:
    """Where another point has more of some outcome and less of none, it takes the place."""
    points = np.array([signs * each.point for each in supports])
    kept = []
    for each, point in zip(supports, points, strict=True):
        no_less = (points >= point - _SAME).all(axis=1)
        best = int(np.argmax(np.where(no_less, points.sum(axis=1), -np.inf)))
        kept.append(each._replace(point=supports[best].point))
    return kept


def _corners(supports: list[Support]) -> Vector:
    """Where the bounds of three outcomes meet, each other or the sides of the box; not those that another exceeds."""
    from scipy.spatial import HalfspaceIntersection

    directions = np.array([each.direction for each in supports])
    signs = np.where((directions < 0.0).any(axis=0), -1.0, 1.0)
    limits = np.array([each.bound for each in supports])
    low = np.minimum(signs, 0.0)
    normals = np.vstack([directions * signs, -np.eye(_THREE)])
    for spare in (0.0, _THIN):
        offsets = np.concatenate([limits, spare - low])
        inside, radius = _centre(normals, offsets)
        if radius > 0.1 * _THIN:
            break
    met = HalfspaceIntersection(np.column_stack([normals, -offsets]), inside).intersections
    met = np.unique(np.maximum(met[np.isfinite(met).all(axis=1)], low).round(9), axis=0)
    exceeded = [((met >= u - _SAME).all(axis=1) & (met > u + _SAME).any(axis=1)).any() for u in met]
    return met[~np.array(exceeded)] * signs + 0.0  # no negative zeros


def _centre(normals: Vector, offsets: Vector) -> tuple[Vector, float]:
    """The centre of the largest ball in a polytope, and its radius."""
    from scipy.optimize import linprog

    system = np.column_stack([normals, np.linalg.norm(normals, axis=1)])
    answer = linprog([0.0] * _THREE + [-1.0], system, offsets, bounds=[(None, None)] * _THREE + [(0, None)])
    found = np.zeros(_THREE + 1) if answer.x is None else np.asarray(answer.x, dtype=np.float64)
    return found[:_THREE], float(found[_THREE])


def _farthest(supports: list[Support]) -> float:
    """How far a corner of the outer surface is from the mixtures of the points, at the most."""
    from scipy.optimize import nnls

    points = np.array([each.point for each in supports])
    system = np.vstack([points.T, np.full(len(points), _HEAVY)])
    farthest = 0.0
    for corner in _corners(supports):
        shares, _ = nnls(system, np.append(corner, _HEAVY))
        farthest = max(farthest, float(np.linalg.norm(corner - shares @ points / shares.sum())))
    return farthest


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
        if model.labels.outcomes is not None:
            return model.labels.outcome_index(outcome)
        if outcome not in names:
            raise ParameterError(f"outcomes: there is no {outcome!r}{suggest(outcome, names)}; there are {names}")
        return names.index(outcome)
    return check_int(outcome, "outcomes", 0, len(names) - 1, error=ParameterError)
