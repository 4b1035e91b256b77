r"""Lemma 4.4: what a step loses splits into five parts, at every step at which the regions hold the truth.

    (-theta_t).(v* - V_t)  <=  club + diamond + heart + spade + P.

`theory.decompose` records every step of a run. What is found of it:

1. *The lemma*: the largest excess of the left side over the right is not above what rounding and the residual of the
   benchmark may add (`Decomposition.allowance`).
2. *The terms are those of (4.13) to (4.15)*: the same run is stepped by hand, and each term computed again by its
   formula from theta, V, the bias, and regions made from the path's own counts (`written_terms`).
3. *The links of the proof*, with the path's numbers: (B.15) gain + bias(s) >= r~(s,a) + p.bias for all p in H^p, which
   is attained; (B.8) r~ >= gain - spade - P; (B.17) gain >= (-theta_tau).v* where the regions hold the truth.
4. *It is met*: theta_t and V_t cancel in right - left = [r~ + spade + P - gain] + [gain - (-theta_tau).v*]. With one
   action a state and a known model either bracket lies between 0 and P, so the lemma is an equality to 2P.
5. *Each term is needed*: in the worlds of `tight_cases`, with g(w) = 1 - (w - 1)^2/2 and theta_1 = -1, the lemma holds
   with all five, and leaving one out breaks it by

       club    1/2   turns, Q infinite, t = 3: theta has risen from -1 to -1/2, and V = 1
       diamond 1/2   the coin, when it shows 0, with g(w) = w: r~ = 1/2 and (-theta_tau).V = 0
       heart   1/4   turns, Q = 3/4, t = 3: the second episode began with theta = 0, now it is -1/2, and v* = 1/2
       spade   1/2   turns, at the second state: r~ = 0, and the gain is 1/2
       P       1/2   turns, the plan of tau = 1 to the paper's tolerance 1: gain 1, no bias, r~ = 0 at the second state.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from equipoise.agents.toc_ucrl2 import TocUCRL2
from equipoise.models.model import Model
from equipoise.models.standard import garnet
from equipoise.rewards.separable import Linear, Quadratic
from equipoise.theory.decomposition import Decomposition, decompose
from paper.analysis_cases import Case, cases
from paper.findings import Checked, Finding, Picture, Size, Statement
from paper.paths import stepped
from paper.tight_cases import EXACT, coin, knowing, turns
from paper.written_terms import Terms, terms

STATEMENT: Final = Statement(
    name="decomposition",
    number="Lemma 4.4",
    title="What a step loses has five parts",
    says="(−θ_t)·(v* − V_t) ≤ ♣ + ♦ + ♥ + ♠ + ¶ whenever E^v and E^p hold",
)
SIGNS: Final = {"club": "♣", "diamond": "♦", "heart": "♥", "spade": "♠", "P": "¶"}
_ROUNDING: Final = 1e-11  # some hundred additions of numbers below 100, each rounded to 1e-16 of itself
_SOLVED: Final = 1e-6  # v* is a solver's, and a flow that is not quite one is worth up to the span of the bias


def check(size: Size) -> Checked:
    """Look at every step of runs in unlike worlds."""
    findings, rows, compared = [], [], []
    for case in cases(size.pick(2, 30)):
        recorded = decompose(case.model, case.agent(), size.pick(5_000, 200_000), seed=1)
        held = recorded.held
        excess = (-recorded.gap - recorded.allowance)[held]
        note = f"{held.sum():,} of {held.size:,} steps with both events"
        findings.append(Finding(case.name, float(excess.max()), 0.0, note=note))
        compared.append((recorded, _by_hand(case, recorded, size.pick(1_000, 5_000))))
        if not case.name.startswith("garnet"):
            rows += _points(case.name, recorded)
    findings += _definitions(compared) + _links([written for _, written in compared]) + _met(size) + _needed()
    return Checked(STATEMENT, tuple(findings), pictures=(_picture(rows),))


def _by_hand(case: Case, recorded: Decomposition, steps: int) -> Terms:
    """The beginning of the same run, stepped by hand."""
    return terms(stepped(case.model, case.agent(), steps, 1), recorded.best.outcomes)


def _definitions(compared: list[tuple[Decomposition, Terms]]) -> list[Finding]:
    """How far any recorded term is from its formula."""
    findings = []
    for name, sign in {"left": "(−θ_t)·(v* − V_t)", **SIGNS}.items():
        far = 0.0
        for recorded, written in compared:
            formula = written.left if name == "left" else getattr(written.five, name)
            far = max(far, float(np.abs(getattr(recorded, name)[: formula.size] - formula).max()))
        findings.append(
            Finding(f"{sign} against its formula, {len(compared)} worlds", far, _ROUNDING, note="largest difference")
        )
    return findings


def _links(written: list[Terms]) -> list[Finding]:
    """The inequalities of the proof, each at its worst."""
    attained, stops, above = 0.0, -np.inf, -np.inf
    for one in written:
        path = one.path
        largest = one.differences.max(axis=1)
        attained = max(attained, float(np.abs(largest - path.gain).max()))
        followed = one.differences[path.row, path.pair]
        stops = max(stops, float((path.gain[path.row] - one.five.P - followed).max()))
        held = one.v_held & one.p_held
        above = max(above, float((-path.reference @ one.target - path.gain)[held].max()))
    worlds = f"{len(written)} worlds"
    return [
        Finding(f"(B.15), {worlds}", attained, _ROUNDING, note="gain less the largest r̃ + p·γ̃ − γ̃(s), in size"),
        Finding(f"(B.8), {worlds}", stops, _ROUNDING, note="gain less r̃ + ♠ + ¶"),
        Finding(f"(B.17), {worlds}", above, _SOLVED, note="(−θ_τ)·v* less gain"),
    ]


def _met(size: Size) -> list[Finding]:
    """With nothing to choose and nothing to learn both sides are equal."""
    largest, smallest = 0.0, np.inf
    for seed in range(size.pick(3, 20)):
        model = garnet(5, 1, 3, 2, seed=seed)
        recorded = decompose(model, knowing(model, Quadratic([1.0, 1.0]), tolerance=1e-7), 2_000, seed=seed)
        largest = max(largest, float(np.abs(recorded.gap).max()))
        smallest = min(smallest, float(np.abs(recorded.right).max()))
    name = "one action a state, model known"
    return [
        Finding(name, largest, 2e-7 + _SOLVED, note="largest |right − left|"),
        Finding(name, smallest, 0.1, ">=", note="largest |right|: it is no 0 = 0"),
    ]


def _needed() -> list[Finding]:
    """What the lemma fails by without a term, where the closed form is known."""
    reward = Quadratic([1.0])
    turned, tossed = turns(), coin()
    runs: dict[str, tuple[Model, TocUCRL2, float]] = {
        "club": (turned, knowing(turned, reward, np.inf), 0.5),
        "diamond": (tossed, knowing(tossed, Linear([1.0])), 0.5),
        "heart": (turned, knowing(turned, reward, 0.75), 0.25),
        "spade": (turned, knowing(turned, reward), 0.5),
        "P": (turned, knowing(turned, reward, np.inf, tolerance=None), 0.5),
    }
    findings = []
    for term, (model, agent, least) in runs.items():
        recorded = decompose(model, agent, 10, seed=0)
        excess = float((-recorded.gap - recorded.allowance).max())
        broken = float((getattr(recorded, term) - recorded.gap).max())
        note = "what the left side then exceeds the right by"
        findings.append(Finding(f"where {SIGNS[term]} is needed", excess, 0.0, note="with all five"))
        findings.append(Finding(f"without {SIGNS[term]}", broken, least, ">=", error=3 * EXACT + _SOLVED, note=note))
    return findings


def _points(name: str, recorded: Decomposition) -> list[dict[str, object]]:
    """Running sums over t, of both sides, at a few times."""
    times = np.unique(np.geomspace(1, recorded.t.size, 40).astype(int))
    left, right = np.cumsum(recorded.left), np.cumsum(recorded.right)
    return [
        {"world": name, "t": int(t), "side": side, "mean": float(total[t - 1] / t)}
        for t in times
        for side, total in (("left", left), ("right", right))
    ]


def _picture(rows: list[dict[str, object]]) -> Picture:
    return Picture(
        "Both sides of the lemma, averaged over time",
        "Left: what was lost against the benchmark. Right: the five terms. Between: what the analysis gives away.",
        {
            "data": {"values": rows},
            "mark": "line",
            "encoding": {
                "x": {"field": "t", "type": "quantitative", "scale": {"type": "log"}, "title": "t"},
                "y": {"field": "mean", "type": "quantitative", "title": "mean over the first t steps"},
                "color": {"field": "world", "type": "nominal", "title": None},
                "strokeDash": {"field": "side", "type": "nominal", "title": "side"},
            },
        },
    )
