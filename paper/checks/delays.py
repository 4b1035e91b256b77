r"""Lemma 4.5: what the delay of theta costs.

    club, heart  <=  Q ||1|| M(T),      with certainty

In the order of the proof, each with the path's own numbers, at their worst over all episodes of all worlds:

    (B.19)  the sum of ||theta_t - theta_tau||_* over the steps of an episode is at most Q, and with one step more it is
            above Q where the gradient ended the episode: the rule is what it should be from both sides
    (B.18)  club is at most that sum times the largest ||V_t||, heart at most that sum times ||v*||
    (B.20)  the sums of club and of heart are at most Q ||1|| times the number of episodes

It is tight. *club*: one pair with outcome 1, model known, g(w) = 1 - (w - 1)^2/2: theta_1 = -1 and theta_t = 0 from
then on, so Psi grows by 1 a step, and with a whole Q the first episode has the sum Q = Q ||1||. *heart*: n states in
turn with outcomes 1, 0, 1, 1, ..., Q = 1/2. The first step has moved theta by 1, which ends the first episode; the
second begins at theta = 0; after the outcome 0 theta = -1/2, which uses up Q, and heart is v*/2 = Q ||1|| (1 - 1/n).
"""

from __future__ import annotations

from typing import Final

import numpy as np

from equipoise._types import Vector
from equipoise.agents.episodes import BY_GRADIENT
from equipoise.rewards.norms import dual, ones
from equipoise.rewards.separable import Quadratic
from equipoise.theory.decomposition import Decomposition, decompose
from paper.analysis_cases import cases
from paper.error_ratios import measured_sums, same_bounds
from paper.findings import Checked, Finding, Size, Statement
from paper.tight_cases import always, knowing, one_zero

STATEMENT: Final = Statement(
    name="delays",
    number="Lemma 4.5",
    title="What the delay of θ costs",
    says="Σ♣ ≤ Q‖1‖M(T) and Σ♥ ≤ Q‖1‖M(T), with certainty",
)
_ROUNDING: Final = 1e-9
_SOLVED: Final = 1e-6  # v* is a solver's


def check(size: Size) -> Checked:
    """Club and heart."""
    findings, picture = measured_sums(size, ("club", "heart"))
    findings += same_bounds(("club", "heart")) + _links(size) + _met()
    return Checked(STATEMENT, tuple(findings), pictures=(picture,))


def _links(size: Size) -> list[Finding]:
    """The steps of the proof, each at its worst; a world with a linear g has nothing to say."""
    kept: dict[str, float] = {
        "(B.19): Σ‖θ_t − θ_τ‖ of an episode over Q": 0.0,
        "(B.18): Σ♣ of an episode over Σ‖θ_t − θ_τ‖·max‖V‖": 0.0,
        "(B.18): Σ♥ of an episode over Σ‖θ_t − θ_τ‖·‖v*‖": 0.0,
        "(B.20): Σ♣ over Q‖1‖m(T)": 0.0,
        "(B.21): Σ♥ over Q‖1‖m(T)": 0.0,
    }
    exceeded = np.inf
    for case in cases(size.pick(2, 10)):
        agent = case.agent()
        recorded = decompose(case.model, agent, size.pick(5_000, 50_000), seed=1)
        Q, norm = case.reward.lipschitz, case.reward.norm
        moved, after = drifts(recorded, dual(norm))
        if not moved.any():
            continue
        largest = float(np.linalg.norm(recorded.outcomes, norm, axis=1).max())
        target = float(np.linalg.norm(recorded.best.outcomes, norm))
        club, heart = by_episode(recorded, recorded.club), by_episode(recorded, recorded.heart)
        many = Q * ones(case.model.n_outcomes, norm) * np.arange(1, moved.size + 1)
        some = moved > _ROUNDING
        numbers = (
            float(moved.max()) / Q,
            float((club[some] / (moved[some] * largest)).max()),
            float((heart[some] / (moved[some] * target)).max()),
            float((np.cumsum(club) / many).max()),
            float((np.cumsum(heart) / many).max()),
        )
        kept = {name: max(x, number) for (name, x), number in zip(kept.items(), numbers, strict=True)}
        ended = agent.episode_record.ended[: moved.size - 1] & BY_GRADIENT > 0
        exceeded = min(exceeded, float((after[:-1][ended] / Q).min(initial=np.inf)))
    findings = [Finding(name, x, 1.0, error=_ROUNDING, note="the worst of all worlds") for name, x in kept.items()]
    name = "(B.19): the same with one step more, where the gradient ended the episode"
    return [*findings, Finding(name, exceeded, 1.0, ">=", note="the least of all worlds")]


def drifts(recorded: Decomposition, norm: float) -> tuple[Vector, Vector]:
    """The sum of ||theta_t - theta_tau||_* over each episode; and with the theta that follows it."""
    apart = np.linalg.norm(recorded.theta - recorded.episodes.theta[recorded.row], norm, axis=1)
    moved = by_episode(recorded, apart)
    last = np.linalg.norm(np.diff(recorded.episodes.theta, axis=0), norm, axis=1)
    return moved, moved + np.append(last, np.inf)


def by_episode(recorded: Decomposition, column: Vector) -> Vector:
    """The sum of a column over each episode."""
    sums: Vector = np.bincount(recorded.row, weights=column, minlength=recorded.episodes.number.size).astype(np.float64)
    return sums


def _met() -> list[Finding]:
    """The share of Q ||1|| that an episode uses, in the worlds where the closed form is known."""
    reward = Quadratic([1.0])
    pair, turns = always(1.0), one_zero(50)
    findings = []
    for Q in (1.0, 10.0):
        recorded = decompose(pair, knowing(pair, reward, Q), 20, seed=0)
        share = float(by_episode(recorded, recorded.club).max()) / Q
        findings.append(
            Finding(f"♣, one pair with outcome 1, Q = {Q:g}", share, 1.0, ">=", error=_ROUNDING, note="share used")
        )
    recorded = decompose(turns, knowing(turns, reward, 0.5), 20, seed=0)
    share = float(by_episode(recorded, recorded.heart).max()) / 0.5
    findings.append(
        Finding("♥, 50 states in turn, one of them without", share, 0.98, ">=", error=_SOLVED, note="share used")
    )
    return findings
