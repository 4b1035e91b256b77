r"""Lemma 4.8: what learning the transitions costs.

    spade  <=  (B.30), scale ~ L||1|| D (M(T) + sqrt(Gamma SA T)),      on E^p, but for an event of probability delta

In the order of the proof, with the numbers of paths that are stepped by hand (`written_terms`), where E^p holds; the
bias has 0 for its least entry:

    span     max bias <= D L||1||                                                                at every episode
    spade  = (p~ - p).bias + [p.bias - bias(s_{t+1})] + [bias(s_{t+1}) - bias(s_t)]      learning, chance, motion
    (B.26)   learning <= 2 sum of bias(s) rad(s) <= 2 max bias [sqrt(2 Gamma log-p/N+) + 3 S log-p/N+]    at every step
    (B.27)   their sum                                                                              at every T
    (B.29)   motion telescopes within an episode: at most max bias for each, with one for the open one
    (B.30)   chance, against the martingale's part of the bound

and the bound of `theory.sums` against the formula. The span is tight: a loop that pays 1, and a way round of n steps
that pays nothing, has D = n and a bias of span n - 1. So is motion: on the star with two ends, where one goes from end
to end, an episode begins where its bias is 0 and ends where it is largest.

The bound as a whole is loose: on two states that are left with chance 1/2 each and pay 0 and 1 the bias has half of the
span, one coordinate moves where two are counted, by one rad where two are: about a tenth is used as T grows.

**What makes the martingale one** (erratum 34). Chance is bounded by D L||1|| only if p lies in H^p_m, and E^p says that
of all episodes, later ones too. Azuma's inequality needs increments that are bounded with certainty. So it is to be
used on chance times the indicator of p in H^p_m, which is known when the episode begins; on E^p that changes nothing.
Without it the bound is not there: with radii of a thousandth the agent takes a state that is left with chance 1/20 for
one that is hardly left at all, and its bias has a span of many times D L||1||.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from equipoise.agents.toc_ucrl2 import TocUCRL2
from equipoise.confidence.bernstein import Bernstein
from equipoise.confidence.scaled import Scaled
from equipoise.models.paper_instances import star
from equipoise.rewards.norms import ones
from equipoise.rewards.separable import Linear, Quadratic
from equipoise.theory.decomposition import decompose
from equipoise.theory.facts import Facts, Setting
from equipoise.theory.sums import errors
from paper import bound_formulas
from paper.analysis_cases import Case, cases
from paper.error_ratios import measured_sums, same_bounds
from paper.findings import Checked, Finding, Size, Statement
from paper.paths import stepped
from paper.tight_cases import away, knowing, one_action, waiting
from paper.worst_ratios import Worst
from paper.written_terms import terms

STATEMENT: Final = Statement(
    name="optimism-about-transitions",
    number="Lemma 4.8",
    title="What learning the transitions costs",
    says="Σ♠ = Õ(L‖1‖D·M(T)) + Õ(L‖1‖D√(ΓSAT) + L‖1‖DS²A), with the constants of (B.30)",
)
_ROUNDING: Final = 1e-9


def check(size: Size) -> Checked:
    """Spade."""
    findings, picture = measured_sums(size, ("spade",))
    findings += same_bounds(("spade",)) + _links(size) + [_used(size), _span(), _motion(), *_indicator()]
    return Checked(STATEMENT, tuple(findings), pictures=(picture,))


def _links(size: Size) -> list[Finding]:
    worst, far = Worst(), 0.0
    for case in cases(size.pick(2, 10)):
        far = max(far, _follow(case, size.pick(1_000, 5_000), worst))
    split = Finding(
        "♠ as learning, chance and motion, all worlds", far, _ROUNDING, note="largest difference from the record"
    )
    return [split, *worst.findings()]


def _follow(case: Case, steps: int, worst: Worst) -> float:
    """Take in the links of one path; give how far the recorded spade is from its three parts."""
    recorded = decompose(case.model, case.agent(), steps, seed=1)
    written = terms(stepped(case.model, case.agent(), steps, 1), recorded.best.outcomes)
    path, row, held = written.path, written.path.row, written.p_held
    learning, chance, motion = written.learning_transitions, written.chance, written.motion
    far = float(np.abs(recorded.spade - learning - chance - motion).max())
    far = max(far, float(np.abs(path.bias.min(axis=1)).max()))
    facts, span = Facts.of(case.model), path.bias.max(axis=1)
    scale = case.reward.lipschitz * ones(case.model.n_outcomes, case.reward.norm)
    worst.take("span of the bias over D·L‖1‖", span[held], facts.diameter * scale, case.name)
    here = held[row]
    rad = written.regions.p.radius[row, path.pair]
    wide = 2.0 * np.einsum("ts,ts->t", rad, path.bias[row])
    n, logs = written.counts, written.regions.log_p[row]
    each = np.sqrt(2.0 * facts.max_successors * logs / n) + 3.0 * facts.n_states * logs / n
    worst.take("(B.26): (p̃ − p)·γ over 2Σγ·rad", learning[here], wide[here], case.name)
    worst.take("(B.26): Σ_s rad over √(2Γ log-p/N⁺) + 3S log-p/N⁺", rad.sum(axis=1), each, case.name)
    worst.take("(B.28): |p·γ − γ(s_{t+1})| over max γ", np.abs(chance), span[row], case.name)
    moved = np.bincount(row, weights=motion, minlength=span.size).astype(np.float64)
    worst.take("(B.29): motion of an episode over max γ", moved, span, case.name)
    if path.doubling or not held.all():
        return far  # what follows is about one run with one clock
    T = np.arange(1, steps + 1)
    parts = {
        "(B.27): learning": (learning, bound_formulas.learning_transitions),
        "(B.30): chance": (chance, bound_formulas.chance),
    }
    for name, (column, bound) in parts.items():
        worst.take(name, np.cumsum(column), np.array([bound(scale, facts, path.delta, int(t)) for t in T]), case.name)
    begun = row + 1.0
    worst.take(
        "(B.29): Σ motion over m(T)·D·L‖1‖", np.cumsum(motion), np.array(begun * facts.diameter * scale), case.name
    )
    return far


def _span() -> Finding:
    """How much of D L||1|| the bias has on the way round: all but one step of n."""
    n = 50
    model = away(n)
    recorded = decompose(model, knowing(model, Linear([1.0])), 10, seed=0)
    share = float(recorded.episodes.span.max()) / model.diameter()
    return Finding(f"span, a loop and a way round of {n}", share, 1.0 - 1.0 / n, ">=", error=1e-6, note="share used")


def _motion() -> Finding:
    """How much of max bias an episode moves by, from end to end of a star; known, so that nothing else is in it."""
    model = star(2, 10)
    agent = knowing(model, Quadratic([0.5, 0.5]), tolerance=1e-3)
    recorded = decompose(model, agent, 5_000, seed=0)
    motion = np.bincount(recorded.row, weights=recorded.spade, minlength=recorded.episodes.number.size)
    share = float(np.sort(motion / recorded.episodes.span)[-10:].min())
    return Finding(
        "motion, star(2, 10), ten episodes", share, 0.9, ">=", note="share of max γ; deterministic: ♠ is motion"
    )


def _used(size: Size) -> Finding:
    """The share of the bound that two states use, which are left with chance 1/2 each and pay 0 and 1."""
    model, T = one_action([[0.5, 0.5], [0.5, 0.5]], [0.0, 1.0]), size.pick(200_000, 2_000_000)
    agent = TocUCRL2(model.space, Linear([1.0]))
    used = decompose(model, agent, T, seed=1).sums.spade / errors(Facts.of(model), Setting.of(agent), T).spade
    note = "share of the bound; best found .08, as T grows about .1"
    return Finding(f"two states, left with chance 1/2, T = {T:,}", used, 0.03, ">=", note=note)


def _indicator() -> list[Finding]:
    """The span in and out of E^p, with radii that are too small by far."""
    model = waiting(0.05)
    inside, outside = 0.0, 0.0
    for factor, steps in ((1e-3, 60), (0.1, 2_000)):
        for seed in range(20):
            agent = TocUCRL2(model.space, Linear([1.0]), confidence=Scaled(Bernstein(), factor))
            recorded = decompose(model, agent, steps, seed=seed)
            span, held = recorded.episodes.span / model.diameter(), recorded.episodes.p_held
            inside = max(inside, float(span[held].max(initial=0.0)))
            outside = max(outside, float(span[~held].max(initial=0.0)))
    name = "radii of a tenth and of a thousandth, span of the bias over D·L‖1‖"
    return [
        Finding(f"{name}, where p ∈ H^p_m", inside, 1.0, error=_ROUNDING, note="the martingale with its indicator"),
        Finding(f"{name}, elsewhere", outside, 2.0, ">=", note="the martingale needs its indicator"),
    ]
