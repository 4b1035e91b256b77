"""The contract of confidences: kernels check nothing, so errors found here would otherwise be crashes or wrong plans.

The counts come from agents in small models chosen to be awkward: pairs never visited, successors seen once, one state,
outcomes that are certain or known in advance, thousands of visits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

import numpy as np
from scipy.stats import binom

from equipoise._runtime.compiler import Entry
from equipoise.agents.toc_ucrl2 import TocUCRL2
from equipoise.confidence.base import Confidence, fill_region, kernel_numbers
from equipoise.confidence.counts import Counts
from equipoise.confidence.nonzero import list_arrays
from equipoise.confidence.region import Region, empty_region
from equipoise.errors import ContractError, ConvergenceError, EquipoiseError
from equipoise.models.model import Model
from equipoise.models.paper_instances import star
from equipoise.models.standard import garnet, riverswim
from equipoise.planning.evi import extended_value_iteration
from equipoise.rewards.separable import Linear
from equipoise.simulation import simulate
from equipoise.testing._shared import name_clauses
from equipoise.theory.decomposition import coverage

_DELTA: Final = 0.1
_ROUNDING: Final = 1e-9
_GUARD: Final = 16  # places behind the region that must stay as they are
_RUNS, _STEPS, _LEVEL, _CHANCE = 100, 2000, 0.3, 1e-6  # of the coverage clause


class _Case(NamedTuple):
    """Counts that an agent came by."""

    name: str
    model: Model
    counts: Counts
    tau: int


def check_confidence(confidence: Confidence) -> None:
    """Check that a confidence keeps its contract; a `ContractError` names the clause, the model and the pair.

    Parameters
    ----------
    confidence : Confidence
        The one to check.

    Examples
    --------
    >>> from equipoise.confidence import Bernstein
    >>> check_confidence(Bernstein())
    """
    for clause in CLAUSES.values():
        clause(confidence)


def says_what_it_is(confidence: Confidence) -> None:
    """It states its guarantee, and can be made again from its arguments."""
    if not isinstance(confidence, Confidence):
        raise ContractError(f"got {type(confidence).__name__}; a Confidence is needed")
    guarantee = getattr(confidence, "guarantee", "")
    if not isinstance(guarantee, str) or not guarantee:
        raise ContractError("guarantee: a text is needed that says with what probability the regions hold the truth")
    if not isinstance(confidence.caveat, str):
        raise ContractError("caveat: a text is needed, empty if the guarantee is proven")
    if not isinstance(confidence.relaxation, float) or not 0 < confidence.relaxation <= 1:
        raise ContractError(f"relaxation: got {confidence.relaxation!r}; it must be a float in (0, 1]")
    if not isinstance(confidence.kernel, Entry):
        raise ContractError(f"kernel: got {confidence.kernel!r}; declare it with @confidence_entry")
    try:
        twin = type(confidence)(**confidence.arguments())
        parts = [(*kernel_numbers(one), one.first_stream()) for one in (confidence, twin)]
    except (TypeError, EquipoiseError) as error:
        raise ContractError(f"arguments: it cannot be made again from {confidence.arguments()!r} ({error})") from error
    if repr(twin) != repr(confidence) or not all(map(np.array_equal, *parts)):
        raise ContractError(f"arguments: {confidence!r} made from them again is another, {twin!r}")


def is_well_formed(confidence: Confidence) -> None:
    """Every region is a set of distributions and means, and nothing is written beside it."""
    for case in _cases(confidence):
        region = _filled(confidence, case)
        _check_outcomes(case, region)
        _check_transitions(case, region)


def is_a_function_of_the_counts(confidence: Confidence) -> None:
    """The same counts and the same stream give the same region, used before or not, and are left as they were."""
    for case in _cases(confidence):
        before = [part.copy() for part in list_arrays(case.counts)]
        one, two = _filled(confidence, case), _filled(confidence, case, times=2)
        for name, x, y in zip(Region._fields, list_arrays(one), list_arrays(two), strict=False):
            if not np.array_equal(x, y):
                raise ContractError(f"{case.name}: {name} is not the same when the region is filled again")
        if any(not np.array_equal(x, y) for x, y in zip(before, list_arrays(case.counts), strict=True)):
            raise ContractError(f"{case.name}: the counts were changed")


def keeps_what_still_stands(confidence: Confidence) -> None:
    """If it is timeless: what an agent kept of pairs not visited since its last plan is what would be filled anew."""
    if not isinstance(confidence.timeless, bool):
        raise ContractError(f"timeless: got {confidence.timeless!r}; True or False is needed")
    if not confidence.timeless:
        return
    for name, model in _worlds():
        if not _is_for(confidence, model):
            continue
        agent = TocUCRL2(model.space, _reward(model), confidence=confidence, delta=_DELTA)
        for steps in (7, 500, 3000):
            simulate(model, agent, steps, seed=steps, progress=False)
            case = _Case(f"{name}, after {agent.t - 1} steps", model, agent.loop.arrays.counts, agent.t)
            anew = _filled(confidence, case)
            for pair in np.flatnonzero(case.counts.fresh == 0).tolist():
                if _rows_of(agent.loop.arrays.region, pair) != _rows_of(anew, pair):
                    raise ContractError(
                        f"{case.name}: pair {pair} was not visited since the last plan, and its bounds are others now; "
                        "only those that depend on its own counts alone are timeless"
                    )


def _rows_of(region: Region, pair: int) -> tuple[object, ...]:
    """All that a region says of a pair; its successors in order, as the planner sorts them as it needs them."""
    part = slice(region.first[pair], region.first[pair + 1])
    listed = zip(region.successor[part].tolist(), region.lo[part].tolist(), region.hi[part].tolist(), strict=True)
    single = (float(bound[pair]) for bound in (region.rest, region.rest_sum, region.radius))
    return sorted(listed), *single, region.v_lo[pair].tolist(), region.v_hi[pair].tolist()


def can_be_planned_with(confidence: Confidence) -> None:
    """The planner converges on its regions, with the relaxation that it asks for."""
    for case in _cases(confidence):
        region = _filled(confidence, case)
        try:
            extended_value_iteration(
                case.model.first_pair, region, region.v_hi[:, 0], 1e-3, limit=10**6, relaxation=confidence.relaxation
            )
        except ConvergenceError as error:
            raise ContractError(f"{case.name}: {error}") from error


def learns(confidence: Confidence) -> None:
    """What was visited often is known better than what was visited little."""
    if not confidence.learning:
        return
    cases = [_case("random", garnet(4, 2, 3, n_outcomes=2, seed=1), steps) for steps in (50, 50_000)]
    few, many = (_farthest(case.model, _filled(confidence, case)) for case in cases)
    if not many < few / 2:
        raise ContractError(f"its regions reach {few:.3g} from the truth after 50 steps, {many:.3g} after 50,000")


def holds_the_truth(confidence: Confidence) -> None:
    """With a guarantee: at delta = .3 the truth is missed in no more runs than chance allows."""
    if confidence.caveat or not confidence.learning:
        return
    allowed = int(binom.isf(_CHANCE, _RUNS, _LEVEL))
    for name, model in _worlds():
        if not _is_for(confidence, model):
            continue
        missed = 0
        for seed in range(_RUNS):
            agent = TocUCRL2(model.space, _reward(model), confidence=confidence, delta=_LEVEL)
            missed += not coverage(model, agent, _STEPS, seed).held
        if missed > allowed:
            raise ContractError(
                f"{name}: the truth was missed in {missed} of {_RUNS} runs at delta = {_LEVEL}, where {allowed} may be"
            )


CLAUSES: Final[dict[str, Callable[[Confidence], None]]] = name_clauses(
    says_what_it_is,
    is_well_formed,
    is_a_function_of_the_counts,
    keeps_what_still_stands,
    can_be_planned_with,
    learns,
    holds_the_truth,
)


def _worlds() -> Iterator[tuple[str, Model]]:
    """Small worlds that are awkward in one way each."""
    yield "one state", Model.from_arrays([[[1.0], [1.0]]], [[[0.0, 1.0], [0.3, 0.5]]], noise="none")
    yield "river", riverswim(5)
    yield "star, all certain", star(2, 2)
    yield "many successors", garnet(12, 2, 12, n_outcomes=3, seed=3)
    rare = [[[0.998, 0.002], [0.5, 0.5]], [[0.002, 0.998], [0.9, 0.1]]]
    yield "rare transitions", Model.from_arrays(rare, [[[0.001], [0.999]], [[0.25], [0.5]]], known=[(1, 1)])
    three = [(0.3, 0, [0.0]), (0.4, 1, [0.4]), (0.3, 1, [1.0])]
    yield "outcomes between", Model.from_branches([[three, [(1.0, 0, [0.25])]], [[(0.5, 0, [0.9]), (0.5, 1, [0.7])]]])


def _cases(confidence: Confidence) -> Iterator[_Case]:
    for name, model in _worlds():
        if _is_for(confidence, model):
            yield from (_case(f"{name}, {steps} steps", model, steps) for steps in (0, 1, 2, 10, 3000))


def _is_for(confidence: Confidence, model: Model) -> bool:
    try:
        confidence.check(model.space)
    except EquipoiseError:
        return False
    return True


def _case(name: str, model: Model, steps: int) -> _Case:
    agent = TocUCRL2(model.space, _reward(model))
    if steps:
        simulate(model, agent, steps, seed=steps, progress=False)
    return _Case(name, model, agent.loop.arrays.counts, agent.t)


def _reward(model: Model) -> Linear:
    return Linear(np.linspace(1.0, -0.5, model.n_outcomes))


def _filled(confidence: Confidence, case: _Case, times: int = 1) -> Region:
    """The region of a case, filled so many times; the places behind it are looked at."""
    most = max(case.counts.seen, confidence.listed)
    region = empty_region(case.model.n_pairs, case.model.n_outcomes, most + _GUARD)
    for part in (region.lo, region.hi):
        part[most:] = np.nan
    region.successor[most:] = -1
    for _ in range(times):
        stream = confidence.first_stream()
        fill_region(confidence, case.model.space, case.counts, case.tau, _DELTA, stream, region)
    untouched = np.isnan(region.lo[most:]) & np.isnan(region.hi[most:]) & (region.successor[most:] == -1)
    if not untouched.all() or not 0 <= region.first[-1] <= most:
        raise ContractError(f"{case.name}: more than {most} successors were written; see `Confidence.listed`")
    listed = int(region.first[-1])
    return region._replace(successor=region.successor[:listed], lo=region.lo[:listed], hi=region.hi[:listed])


def _check_outcomes(case: _Case, region: Region) -> None:
    space = case.model.space
    inside = (region.v_lo >= 0.0) & (region.v_lo <= region.v_hi) & (region.v_hi <= 1.0)
    if not inside.all():
        pair, k = np.argwhere(~inside)[0]
        raise ContractError(
            f"{case.name}: pair {pair}, outcome {k}: [{region.v_lo[pair, k]}, {region.v_hi[pair, k]}] is no interval "
            "within [0, 1]"
        )
    known = space.known_mask
    exact = np.array_equal(region.v_lo[known], region.v_hi[known])
    if not exact or not np.array_equal(region.v_lo[known], space.known_outcomes[known]):
        raise ContractError(f"{case.name}: the outcomes that the space knows are not the region's")


def _check_transitions(case: _Case, region: Region) -> None:
    n_states, first = case.model.n_states, region.first
    if first[0] != 0 or np.any(np.diff(first) < 0):
        raise ContractError(f"{case.name}: first must start at 0 and never fall")
    for pair in range(case.model.n_pairs):
        where = f"{case.name}: pair {pair}"
        part = slice(first[pair], first[pair + 1])
        states, lo, hi = region.successor[part], region.lo[part], region.hi[part]
        rest, together, radius = region.rest[pair], region.rest_sum[pair], region.radius[pair]
        if np.unique(states).size < states.size or np.any((states < 0) | (states >= n_states)):
            raise ContractError(f"{where}: its successors {states.tolist()} are not distinct states")
        if not (0 <= rest < np.inf and 0 <= together < np.inf and 0 <= radius < np.inf):
            raise ContractError(f"{where}: rest {rest}, rest_sum {together} and radius {radius} must be >= 0")
        if not np.all((lo >= 0) & (lo <= hi + _ROUNDING) & (hi <= 1 + _ROUNDING)):
            raise ContractError(f"{where}: its bounds {lo.tolist()} and {hi.tolist()} are no intervals within [0, 1]")
        most = hi.sum() + min(together, rest * (n_states - states.size))
        fits = 1 - lo.sum() <= radius + _ROUNDING if radius > 0 else most >= 1 - _ROUNDING
        if lo.sum() > 1 + _ROUNDING or not fits:
            raise ContractError(f"{where}: no distribution lies within its bounds")


def _farthest(model: Model, region: Region) -> float:
    """How far a region reaches from the truth, entry by entry and averaged over the pairs."""
    pair = np.repeat(np.arange(model.n_pairs), np.diff(region.first))
    lo = np.zeros((model.n_pairs, model.n_states))
    hi = np.repeat(np.minimum(region.rest, region.rest_sum)[:, None], model.n_states, axis=1)
    lo[pair, region.successor], hi[pair, region.successor] = region.lo, region.hi
    transitions, means = model.transitions().toarray(), model.means
    reach = np.maximum(np.abs(lo - transitions), np.abs(hi - transitions)).sum()
    reach += np.maximum(np.abs(region.v_lo - means), np.abs(region.v_hi - means)).sum()
    return float(reach + region.radius.sum()) / model.n_pairs
