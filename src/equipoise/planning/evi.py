r"""Extended value iteration (appendix B.1 of the paper, Algorithm EVI, after Jaksch et al. 2010).

From u_0 = 0, with r the optimistic rewards and H^p the region around the transitions,

    u_{i+1}(s) = max_a { r(s,a) + max over p in H^p(s,a) of sum_s' p(s') u_i(s') },

until  max_s (u_{i+1} - u_i) - min_s (u_{i+1} - u_i) <= epsilon.  What is returned is the paper's
certificate: the greedy policy of the last sweep, gain = max_s (u_{i+1} - u_i)(s) and bias = u_i, which satisfy

    gain + bias(s) >= r(s,a) + sum_s' p(s') bias(s')     for every pair and every p in H^p(s,a),

so the gain is an upper bound on the optimal average reward of every model in the region, within epsilon.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from equipoise._checks import check_count, check_float
from equipoise._runtime.compiler import kernel
from equipoise.confidence.nonzero import copy_arrays
from equipoise.confidence.region import Region
from equipoise.errors import ConvergenceError, ParameterError
from equipoise.models.laws.laws import LawArrays
from equipoise.planning.kernels import CONVERGED, PAUSED, iterate, prepare_rewards
from equipoise.planning.laws import LawWork, law_work
from equipoise.planning.order import SortScratch, sort_scratch

SWEEP_LIMIT: Final = 1_000_000
_ROUNDING: Final = 1e-9

CERTIFICATE: Final = np.dtype(
    [
        ("gain", np.float64),  # the largest entry of the last difference
        ("span", np.float64),  # the largest entry minus the smallest
        ("sweeps", np.int64),  # how many there were
    ]
)


PROGRESS: Final = np.dtype(
    [
        ("time", np.int64),  # of the plan that was paused, for an agent; 0 if none was
        ("sweeps", np.int64),  # made of it
        ("risen", np.float64),  # see `kernels.iterate`
        ("swept", np.int64),  # 1 if the sweep after these is made, but not looked at; see `parallel`
        ("tolerance", np.float64),  # of the plan, for an agent
        ("since", np.int64),  # see `leaps.iterate_with_leaps`
        ("length", np.float64),
        ("before", np.float64),
    ]
)
_PAUSE_AFTER: Final = (
    4_000_000  # pairs swept in one call of a kernel, some tenths of a second; then Python hears Ctrl-C
)


class Workspace(NamedTuple):
    """Buffers of the planner, for `n_states` states; reused from plan to plan."""

    order: NDArray[np.int64]
    rank: NDArray[np.int64]
    prefix: NDArray[np.float64]
    sorting: SortScratch
    u_next: NDArray[np.float64]
    ahead: NDArray[np.float64]
    ceiling: NDArray[np.float64]
    certificate: NDArray[np.void]
    progress: NDArray[np.void]
    laws: LawWork | None


def sweeps_per_call(size: int) -> int:
    """How many sweeps a kernel may make before it lets Python hear Ctrl-C."""
    return max(1, _PAUSE_AFTER // max(1, size))


def workspace(n_states: int, n_pairs: int, laws: LawArrays | None = None) -> Workspace:
    """Buffers for a planner on so many states and pairs, with known mechanics or without."""
    return Workspace(
        order=np.zeros(n_states, dtype=np.int64),
        rank=np.zeros(n_states, dtype=np.int64),
        prefix=np.zeros(n_states + 1),
        sorting=sort_scratch(n_states),
        u_next=np.zeros(n_states),
        ahead=np.zeros(n_states),
        ceiling=np.zeros(n_pairs),
        certificate=np.zeros(1, dtype=CERTIFICATE),
        progress=np.zeros(1, dtype=PROGRESS),
        laws=None if laws is None else law_work(laws),
    )


class Plan(NamedTuple):
    """A policy with its certificate.

    Attributes
    ----------
    policy : int array, one entry per state
        The action to take.
    gain : float
        The largest entry of the last difference: the optimistic gain, from above.
    bias : float array, one entry per state
        The value before the last sweep.
    span : float
        Of the last difference; at most the tolerance, unless the sweeps ran out.
    sweeps : int
        How many it took.

    Examples
    --------
    One state with two actions, the second of which pays more.

    >>> import numpy as np
    >>> region = Region(
    ...     first=np.array([0, 1, 2]), successor=np.array([0, 0]),
    ...     lo=np.ones(2), hi=np.ones(2), rest=np.zeros(2), rest_sum=np.ones(2), radius=np.zeros(2),
    ...     v_lo=np.zeros((2, 1)), v_hi=np.zeros((2, 1)),
    ... )
    >>> plan = extended_value_iteration([0, 2], region, [0.25, 0.75], tolerance=1e-9)
    >>> plan.policy.tolist(), plan.gain, plan.sweeps
    ([1], 0.75, 1)
    """

    policy: NDArray[np.int64]
    gain: float
    bias: NDArray[np.float64]
    span: float
    sweeps: int


def convergence_error(span: float, limit: int, relaxation: float) -> ConvergenceError:
    """The error of a planner that gave up, with the span that it had reached."""
    if not 0.0 <= span < np.inf:
        return ConvergenceError("extended value iteration: a reward, a bound or a bias is not a finite number")
    hint = "" if relaxation < 1 else ", or use a relaxation below 1 if the model is periodic"
    return ConvergenceError(
        f"extended value iteration: span {span:.3g} after {limit} sweeps; raise the tolerance, or the limit{hint}"
    )


def extended_value_iteration(
    first_pair: ArrayLike,
    region: Region,
    reward: ArrayLike,
    tolerance: float,
    *,
    limit: int = SWEEP_LIMIT,
    relaxation: float = 1.0,
    bias: ArrayLike | None = None,
) -> Plan:
    """Plan optimistically over a region.

    Parameters
    ----------
    first_pair : array of int, length S + 1
        Where the pairs of each state begin.
    region : Region
        Bounds on the transitions; not changed.
    reward : array of float
        One reward for each pair.
    tolerance : float
        The span at which to stop.
    limit : int
        Sweeps before giving up with `ConvergenceError`.
    relaxation : float in (0, 1]
        1 is the paper's iteration; below 1 it converges on periodic models too.
    bias : array of float, optional
        Where to start; zero, as in the paper, by default.

    Returns
    -------
    Plan
        A policy with its certificate (gain, bias), and how many sweeps it took.

    Raises
    ------
    ConvergenceError
        When the limit is reached before the tolerance is.

    Examples
    --------
    Two states, one action each, going round: the gain is the mean of the two rewards.

    >>> import numpy as np
    >>> region = Region(
    ...     first=np.array([0, 1, 2]), successor=np.array([1, 0]),
    ...     lo=np.ones(2), hi=np.ones(2), rest=np.zeros(2), rest_sum=np.ones(2), radius=np.zeros(2),
    ...     v_lo=np.zeros((2, 1)), v_hi=np.zeros((2, 1)),
    ... )
    >>> plan = extended_value_iteration([0, 1, 2], region, [1.0, 0.0], 1e-9, relaxation=0.5)
    >>> round(plan.gain, 6), plan.bias.round(6).tolist()
    (0.5, [0.5, 0.0])
    """
    plan, converged = _iterate_plan(first_pair, region, reward, tolerance, limit, relaxation, bias)
    if not converged:
        raise convergence_error(plan.span, limit, relaxation)
    return plan


def last_plan(
    first_pair: ArrayLike,
    region: Region,
    reward: ArrayLike,
    tolerance: float,
    *,
    limit: int = SWEEP_LIMIT,
    relaxation: float = 1.0,
    bias: ArrayLike | None = None,
) -> Plan:
    """As `extended_value_iteration`, but if the sweeps run out, the plan of the last one is returned."""
    return _iterate_plan(first_pair, region, reward, tolerance, limit, relaxation, bias)[0]


def _iterate_plan(
    first_pair: ArrayLike,
    region: Region,
    reward: ArrayLike,
    tolerance: float,
    limit: int,
    relaxation: float,
    bias: ArrayLike | None,
) -> tuple[Plan, bool]:
    """The plan of the last sweep, and whether the tolerance was reached."""
    pairs = _vector(first_pair, "first_pair", np.int64)
    if pairs.size < 2 or pairs[0] != 0 or np.any(np.diff(pairs) < 1):
        raise ParameterError("first_pair: it must start at 0 and increase, one entry a state and one at the end")
    n_states, n_pairs = pairs.size - 1, int(pairs[-1])
    rewards = _vector(reward, "reward", np.float64, n_pairs)
    start = np.zeros(n_states) if bias is None else _vector(bias, "bias", np.float64, n_states)
    limit = check_count(limit, "limit", 1, error=ParameterError)
    tolerance = check_float(tolerance, "tolerance", error=ParameterError)
    relaxation = check_float(relaxation, "relaxation", error=ParameterError)
    if not tolerance >= 0:
        raise ParameterError(f"tolerance: got {tolerance}; it must be a number >= 0")
    if not 0 < relaxation <= 1:
        raise ParameterError(f"relaxation: got {relaxation}; it must lie in (0, 1]")
    _check_region(region, n_states, n_pairs)
    pairs = pairs.view()
    pairs.flags.writeable = False  # as an agent's is: the kernel is compiled once for both
    own = copy_arrays(region._replace(nonzero=None))  # outcomes are in the rewards
    policy = np.zeros(n_states, dtype=np.int64)
    buffers = workspace(n_states, n_pairs)
    ended, pause = PAUSED, sweeps_per_call(n_pairs)
    while ended == PAUSED:
        ended = iterate(None, pairs, own, rewards, tolerance, limit, relaxation, start, policy, buffers, pause)
    return _plan_in(buffers, policy, start, limit, relaxation), ended == CONVERGED


def plan_over_laws(
    first_pair: NDArray[np.int64],
    laws: LawArrays,
    region: Region,
    theta: NDArray[np.float64],
    tolerance: float,
    relaxation: float,
    bias: NDArray[np.float64],
    limit: int = SWEEP_LIMIT,
) -> tuple[Plan, LawWork]:
    """Plan optimistically over the laws of known mechanics, with what the planner made of it on the way."""
    policy = np.zeros(first_pair.size - 1, dtype=np.int64)
    start, reward = bias.copy(), np.zeros(laws.rows.shape[0])
    buffers = workspace(first_pair.size - 1, int(first_pair[-1]), laws)
    _prepare_laws(laws, theta, region, buffers, reward)
    pause = sweeps_per_call(laws.child.size)
    while (
        iterate(laws, first_pair, region, reward, tolerance, limit, relaxation, start, policy, buffers, pause) == PAUSED
    ):
        pass
    assert buffers.laws is not None
    return _plan_in(buffers, policy, start, limit, relaxation), buffers.laws


def _plan_in(
    buffers: Workspace, policy: NDArray[np.int64], bias: NDArray[np.float64], limit: int, relaxation: float
) -> Plan:
    """What the last sweep left, if it left numbers."""
    gain, span, sweeps = buffers.certificate[0].item()
    if not 0.0 <= span < np.inf:
        raise convergence_error(span, limit, relaxation)
    return Plan(policy, gain, bias, span, sweeps)


@kernel
def _prepare_laws(laws, theta, region, work, reward):  # type: ignore[no-untyped-def]
    prepare_rewards(laws, None, None, theta, region, work, reward)


def _vector(x: ArrayLike, name: str, dtype: type, size: int | None = None) -> NDArray[Any]:
    """A finite vector of its own, or an error that names the entry."""
    try:
        vector: NDArray[Any] = np.array(x, dtype=dtype)
    except (TypeError, ValueError, OverflowError):
        raise ParameterError(f"{name}: a vector of numbers is needed") from None
    if vector.ndim != 1 or (size is not None and vector.size != size):
        raise ParameterError(f"{name}: got shape {vector.shape}; a vector of {size or 'numbers'} is needed")
    wrong = np.flatnonzero(~np.isfinite(vector))
    if wrong.size:
        raise ParameterError(f"{name}[{wrong[0]}]: a finite number is needed")
    return vector


def _check_region(region: Region, n_states: int, n_pairs: int) -> None:
    """Kernels check nothing: every index must be in range, and every pair must have a distribution."""
    if not isinstance(region, Region):
        raise ParameterError(f"region: got {type(region).__name__}; a Region is needed")
    first, successor, lo, hi, rest, rest_sum, radius = region[:7]
    sizes = {part.shape for part in (rest, rest_sum, radius)}
    if first.shape != (n_pairs + 1,) or first[0] != 0 or np.any(first[1:] < first[:-1]) or sizes != {(n_pairs,)}:
        raise ParameterError(f"region: its first, rest, rest_sum and radius are not for {n_pairs} pairs")
    listed = int(first[-1])
    if min(successor.size, lo.size, hi.size) < listed:
        raise ParameterError(f"region: {listed} successors are listed, and the arrays are shorter")
    if listed and not 0 <= successor[:listed].min() <= successor[:listed].max() < n_states:
        raise ParameterError(f"region: a successor lies outside 0 to {n_states - 1}")
    pair = np.repeat(np.arange(n_pairs), np.diff(first))
    low, high = (np.bincount(pair, weights=bound[:listed], minlength=n_pairs) for bound in (lo, hi))
    unlisted = n_states - np.diff(first)
    box = (rest >= 0) & (rest_sum >= 0) & (high + np.minimum(rest * unlisted, rest_sum) >= 1 - _ROUNDING)
    box &= np.bincount(pair, weights=~(lo[:listed] <= hi[:listed]), minlength=n_pairs) == 0
    ball = (np.bincount(pair, weights=~(lo[:listed] >= 0), minlength=n_pairs) == 0) & (1 - low <= radius + _ROUNDING)
    fits = (radius >= 0) & (low <= 1 + _ROUNDING) & np.where(radius > 0, ball, box)
    if not fits.all():
        raise ParameterError(f"region: no distribution lies within the bounds of pair {np.flatnonzero(~fits)[0]}")
