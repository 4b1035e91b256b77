r"""Lemma 4.1: the regions hold the truth, always, with probability at least 1 - delta/2 each.

    P[v(s,a) in H^v_m(s,a) for all m, s, a] >= 1 - delta/2,     and the same for p.

1. *The regions are those of (3.4) and (3.5)*: their ends, in every episode of runs stepped by hand, and at the tightest
   places of 3., against the formulas on the path's own counts (`written_regions`).
2. *The events are recorded as they are*: `theory.decompose` says of each episode whether v and p were held, and
   `theory.coverage` of each run; so do the formulas, with radii that are right and with radii so small that the truth
   is often missed.
3. *The union bound, number by number* (`exact_coverage`): the exact chance that a sample of size n misses, against the
   share of delta that the proof gives to n, for all n up to some hundred and for a few very large ones. And the factor
   c of the radii at which the share is exceeded, which tends to 1 at rare events seen very often: no slack is there.
4. *Failures of whole runs as a curve*: with one action a state the path does not depend on the regions, so one run
   says for every c whether the radii times c would have failed. The largest c that would is the maximum over episodes
   of |estimate - truth| / rad; the frequency of runs above c is the curve, and the c at which it crosses delta/2 is
   shown. Frequencies have the Clopper-Pearson interval at 99.9 %.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np
from scipy.stats import beta

from equipoise._types import Vector
from equipoise.agents.toc_ucrl2 import TocUCRL2
from equipoise.confidence.base import build_region
from equipoise.confidence.bernstein import Bernstein
from equipoise.confidence.counts import Counts
from equipoise.confidence.nonzero import copy_arrays
from equipoise.confidence.region import Region
from equipoise.confidence.scaled import Scaled
from equipoise.models.model import Model
from equipoise.offline.benchmark import solve
from equipoise.rewards.separable import Linear
from equipoise.theory.decomposition import Decomposition, coverage, decompose
from paper.analysis_cases import Case, cases
from paper.exact_coverage import critical, failure, share
from paper.findings import LEVEL, Checked, Finding, Picture, Size, Statement
from paper.paths import Path, stepped
from paper.written_regions import Intervals, regions

STATEMENT: Final = Statement(
    name="coverage",
    number="Lemma 4.1",
    title="The regions hold the truth",
    says="P[E^v] ≥ 1 − δ/2 and P[E^p] ≥ 1 − δ/2",
)
_DELTA: Final = 0.5
_ROUNDING: Final = 1e-9
Rows = list[dict[str, object]]


def check(size: Size) -> Checked:
    """The regions, the events, the union bound and the curve."""
    curve, rows = _curve(size)
    exact, places = _exact(size)
    findings = [*_definitions(size), *_events(size), *exact, *curve]
    return Checked(STATEMENT, tuple(findings), pictures=(_curve_picture(rows), _exact_picture(places)))


# --- 1. the regions ---


def _definitions(size: Size) -> list[Finding]:
    """The ends of the package's regions against (3.4) and (3.5)."""
    far_v = far_p = 0.0
    for case in [*cases(2), *_one_action()]:
        seen: list[Region] = []
        agent = case.agent()
        path = stepped(case.model, agent, size.pick(500, 3_000), 2, _keep(seen))
        written = regions(path)
        for m, region in enumerate(seen):
            lo, hi = dense(region, case.model.n_states)
            v_apart = [region.v_lo - written.v.lo[m], region.v_hi - written.v.hi[m]]
            far_v = max(far_v, float(np.abs(v_apart).max()))
            far_p = max(far_p, float(np.abs([lo - written.p.lo[m], hi - written.p.hi[m]]).max()))
    findings = [
        Finding("ends of H^v against (3.4), all worlds", far_v, _ROUNDING, note="largest difference"),
        Finding("ends of H^p against (3.5), all worlds", far_p, _ROUNDING, note="largest difference"),
    ]
    far = max(_at_counts(n, p) for n in (100, 10**6, 10**11) for p in (0.5, 0.01, 0.001))
    name = "the same for rare events seen very often, n to 10^11"
    return [*findings, Finding(name, far, _ROUNDING, note="largest difference, over the radius")]


def _keep(seen: list[Region]) -> Callable[[TocUCRL2], None]:
    """What adds the present region of an agent to a list."""
    return lambda agent: seen.append(copy_arrays(agent.loop.arrays.region))


def dense(region: Region, n_states: int) -> tuple[Vector, Vector]:
    """The bounds of a region on every successor of every pair."""
    lo, hi = np.zeros((region.rest.size, n_states)), np.repeat(region.rest[:, None], n_states, axis=1)
    for pair in range(region.rest.size):
        for i in range(region.first[pair], region.first[pair + 1]):
            lo[pair, region.successor[i]], hi[pair, region.successor[i]] = region.lo[i], region.hi[i]
    return lo, hi


def _at_counts(n: int, p: float) -> float:
    """How far the ends are from the formulas after n visits of a pair, a part p of which had outcome 1 and led to 1."""
    space = _one_action()[0].model.space
    counts, k = Counts.zeros(space.n_pairs, 1), round(n * p)
    counts.visits[0], counts.sums[0, 0], counts.squares[0, 0] = n, k, k
    counts.block_used[0] = counts.block_capacity[0] = 2
    counts.pool_state[:2], counts.pool_count[:2] = (0, 1), (n - k, k)
    counts.pool["seen"] = counts.pool["used"] = 2
    region = build_region(Bernstein(), space, counts, n + 1, _DELTA)
    lo, hi = dense(region, 2)
    apart = []
    for count, mean, low, high in (
        (space.n_pairs, k / n, region.v_lo[0, 0], region.v_hi[0, 0]),
        (2 * space.n_pairs, k / n, lo[0, 1], hi[0, 1]),
        (2 * space.n_pairs, 1.0 - k / n, lo[0, 0], hi[0, 0]),
    ):
        log = np.log(12.0 * count * (n + 1.0) ** 2 / _DELTA)
        radius = np.sqrt(2.0 * mean * log / n) + 3.0 * log / n
        apart += [abs(low - max(0.0, mean - radius)) / radius, abs(high - min(1.0, mean + radius)) / radius]
    return float(max(apart))


# --- 2. the events ---


def _events(size: Size) -> list[Finding]:
    """Whether the record says of each episode what the formulas say, with the radii and with a fifth of them."""
    wrong, missed, looked, runs = 0, 0, 0, 0
    for case in _one_action():
        best = solve(case.model, case.reward)
        for seed in range(size.pick(10, 50)):
            for c in (1.0, 0.2):
                confidence = Scaled(Bernstein(), c) if c < 1.0 else Bernstein()
                agent = TocUCRL2(case.model.space, case.reward, delta=_DELTA, confidence=confidence)
                recorded = decompose(case.model, agent, 500, seed=seed, best=best)
                written = regions(recorded_path(case, recorded))
                p = case.model.transitions().toarray()
                again = TocUCRL2(case.model.space, case.reward, delta=_DELTA, confidence=confidence)
                run = coverage(case.model, again, 500, seed)
                for held, whole, slack, truth, intervals in (
                    (recorded.episodes.v_held, run.v_held, run.v_slack, case.model.means, written.v),
                    (recorded.episodes.p_held, run.p_held, run.p_slack, p, written.p),
                ):
                    inside = _inside(truth, intervals, written.visits, c)
                    wrong += int((inside != held).sum())
                    runs += int(whole != inside.all() or (slack >= 0.0) != inside.all())
                    missed += int((~inside).sum())
                    looked += held.size
    return [
        Finding(f"E^v and E^p, {looked:,} episodes: recorded wrongly", wrong, 0.0),
        Finding(
            "E^v and E^p of whole runs: recorded wrongly", runs, 0.0, note="in `theory.coverage`, by yes or no or slack"
        ),
        Finding(f"E^v and E^p, {looked:,} episodes: missed", missed, 1.0, ">=", note="with a fifth of the radii; > 0"),
    ]


def _inside(truth: Vector, intervals: Intervals, visits: np.ndarray, c: float) -> np.ndarray:
    """Whether the truth lies in all intervals shrunk by c towards the estimates, episode by episode."""
    centre = intervals.centre
    lo, hi = centre + c * (intervals.lo - centre), centre + c * (intervals.hi - centre)
    unseen = (visits == 0)[:, :, None]  # such pairs keep all of [0, 1]
    return np.array((unseen | ((lo <= truth) & (truth <= hi))).all(axis=(1, 2)))


# --- 3. the union bound ---


def _exact(size: Size) -> tuple[list[Finding], Rows]:
    """The chance of a miss over the share of each sample size, and the factor at which they cross."""
    worst, where = 0.0, ""
    chances = np.geomspace(1e-3, 0.5, size.pick(12, 30))
    large = [10**j for j in range(3, 12)]
    for level in (0.5, 0.05):
        for n in [*range(1, size.pick(200, 1_000)), *large]:
            for p in chances:
                ratio = failure(n, float(p), level) / share(n, level)
                if ratio > worst:
                    worst, where = ratio, f"n = {n:.3g}, p = {p:.2g}, level {level}"
    rows: Rows = [
        {"n": n, "p": f"{p:g}", "c": critical(n, p, 0.5)} for n in [10, 100, *large] for p in (1e-3, 1e-2, 0.1, 0.5)
    ]
    tightest = max(rows, key=lambda row: float(str(row["c"])))
    small = max(float(str(row["c"])) for row in rows if int(str(row["n"])) <= 1_000)
    findings = [
        Finding(f"exact chance of a miss over its share, at its worst: {where}", worst, 1.0),
        Finding(
            f"factor at which the share is exceeded, n = {tightest['n']:.0e}, p = {tightest['p']}",
            float(str(tightest["c"])), 0.95, ">=", note="the largest of all n and p; it tends to 1",
        ),
        Finding("the same up to n = 1000", small, 1.0, note="the largest of all p"),
    ]  # fmt: skip
    return findings, rows


# --- 4. the curve ---


def _curve(size: Size) -> tuple[list[Finding], Rows]:
    """The frequency of runs that radii times c would have failed in."""
    runs, steps = size.pick(200, 2_000), size.pick(1_000, 10_000)
    findings: list[Finding] = []
    rows: Rows = []
    for case in _one_action():
        best = solve(case.model, case.reward)
        needed = np.array([_needed(case, decompose(case.model, case.agent(_DELTA), steps, seed=seed, best=best))
                           for seed in range(runs)])  # fmt: skip
        for event, factors in (("E^v", needed[:, 0]), ("E^p", needed[:, 1])):
            missed = int((factors > 1.0).sum())
            crossing = float(np.quantile(factors, 1.0 - _DELTA / 2))
            name = f"{case.name}: not {event}"
            error = missed / runs - lower_end(missed, runs)
            note = f"{missed} of {runs} runs of {steps} steps; the curve crosses δ/2 at c = {crossing:.3f}"
            findings.append(Finding(name, missed / runs, _DELTA / 2, error=error, note=note))
            seen = float((factors > 0.02).mean())
            findings.append(Finding(f"{name}, radii × .02", seen, _DELTA / 2, ">=", note="so it can fail"))
            rows += [
                {"world": case.name, "event": event, "c": float(c), "rate": float((factors > c).mean())}
                for c in np.geomspace(0.01, 1.0, 60)
            ]
    return findings, rows


def _needed(case: Case, recorded: Decomposition) -> tuple[float, float]:
    """The largest share of a radius between estimate and truth, in any episode of a run; for v and for p."""
    written = regions(recorded_path(case, recorded))
    visited = (written.visits > 0)[:, :, None]
    shares = [
        float(np.max(np.where(visited, np.abs(truth - intervals.centre) / intervals.radius, 0.0)))
        for truth, intervals in ((case.model.means, written.v), (case.model.transitions().toarray(), written.p))
    ]
    return shares[0], shares[1]


def recorded_path(case: Case, recorded: Decomposition) -> Path:
    """A recorded run as a path, without its plans; where its last step led is not known, and not needed."""
    M = recorded.episodes.number.size
    return Path(
        model=case.model,
        delta=_DELTA,
        doubling=False,
        state=np.append(recorded.state, recorded.state[-1]),
        pair=recorded.pair,
        theta=recorded.theta,
        outcome=recorded.outcomes,
        row=recorded.row,
        start=recorded.episodes.start,
        gain=recorded.episodes.gain,
        bias=np.zeros((M, case.model.n_states)),
    )


def _one_action() -> list[Case]:
    """Worlds with one action a state and two states or more: rare, even, and all but certain chances."""
    rare = Model.from_arrays([[[0.98, 0.02]], [[0.5, 0.5]]], [[[0.02]], [[0.5]]])
    even = Model.from_arrays([[[0.5, 0.5]], [[0.5, 0.5]]], [[[0.5]], [[0.5]]])
    three = Model.from_arrays(
        [[[0.1, 0.8, 0.1]], [[0.3, 0.3, 0.4]], [[0.9, 0.05, 0.05]]], [[[0.1, 0.9]], [[0.2, 0.3]], [[0.7, 0.05]]]
    )
    return [
        Case("two states, rare moves", rare, Linear([1.0])),
        Case("two states, even", even, Linear([1.0])),
        Case("three states, two outcomes", three, Linear([1.0, 0.5])),
    ]


def lower_end(count: int, runs: int) -> float:
    """The lower end of the Clopper-Pearson interval for a frequency."""
    return 0.0 if count == 0 else float(beta.ppf((1.0 - LEVEL) / 2.0, count, runs - count + 1))


def _curve_picture(rows: Rows) -> Picture:
    return Picture(
        "How often radii times c would have failed",
        "The share of runs in which some estimate was further from the truth than c radii."
        f" Lemma 4.1 allows {_DELTA / 2} at c = 1.",
        {
            "data": {"values": rows},
            "mark": {"type": "line", "interpolate": "step-after"},
            "encoding": {
                "x": {"field": "c", "type": "quantitative", "scale": {"type": "log"}, "title": "factor of the radii"},
                "y": {"field": "rate", "type": "quantitative", "title": "share of runs that fail"},
                "color": {"field": "world", "type": "nominal", "title": None},
                "strokeDash": {"field": "event", "type": "nominal", "title": "not"},
            },
        },
    )


def _exact_picture(rows: Rows) -> Picture:
    return Picture(
        "The factor at which the proof's share is exceeded",
        "Exact binomial chances. At rare events seen very often it tends to 1: nothing is given away there.",
        {
            "data": {"values": rows},
            "mark": {"type": "line", "point": True},
            "encoding": {
                "x": {"field": "n", "type": "quantitative", "scale": {"type": "log"}, "title": "sample size"},
                "y": {"field": "c", "type": "quantitative", "title": "factor of the radii"},
                "color": {"field": "p", "type": "nominal", "title": "chance"},
            },
        },
    )
