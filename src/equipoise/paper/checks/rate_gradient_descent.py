r"""Theorem 5.1: regret under tuned gradient descent falls like T^-1/3.

    Reg(T)  =  O~( [sqrt(LQ) + L^{3/2} D/sqrt(Q)] ||1||_2 / T^{1/3} )  +  O~( L ||1||_2 D sqrt(Gamma SA / T) ).

It is an upper bound: a slope of at most -1/3 over the last two decades is what is checked, steeper is as good. How
slopes are fitted, when the regime counts as reached and what the slope is held against: see `paper.rates`, the same for
all instances.

Instances. "star, known": K = 2, D = 4, with the model known and exact plans, for two rewards with a kink; nothing is
left but alternation, and regret falls like T^-1/3. The same instance shows the dependence on Q. The rest is the
paper's own agent, which knows nothing: bandit and star (Balance), scheduler and queue (TargetDistance), the visits of
riverswim(6) (Balance).
"""

from __future__ import annotations

from typing import Final

from equipoise.models.applied import queue, scheduler
from equipoise.models.bandit import bandit
from equipoise.models.riverswim import riverswim
from equipoise.models.star import star
from equipoise.paper.findings import Checked, Size, Statement
from equipoise.paper.rates import Instance, check_rate
from equipoise.rewards.balance import Balance
from equipoise.rewards.target_distance import TargetDistance

STATEMENT: Final = Statement(
    name="rate-gradient-descent",
    number="Theorem 5.1",
    title="Regret under tuned gradient descent",
    says="Reg(T) = Õ([√(LQ) + L^(3/2)D/√Q]‖1‖₂/T^(1/3)) + Õ(L‖1‖₂D√(ΓSA)/√T)",
)
RATE: Final = 1.0 / 3.0


def check(size: Size) -> Checked:
    """Fit slopes; compare the known star with the constants of the proof; vary Q."""
    T, seeds = size.pick(10**6, 10**7), size.pick(4, 8)
    thirds = Balance([1 / 3] * 3)
    known = [
        Instance("star, known, balance", star(2, 4), Balance([0.5] * 2), T, known=True),
        Instance("star, known, distance", star(2, 4), TargetDistance([0.75] * 2), T, known=True),
    ][: size.pick(1, 2)]
    learned = [
        Instance("bandit", bandit(3), thirds, T),
        Instance("star", star(3, 4), thirds, T),
        Instance("scheduler", scheduler(), TargetDistance([0.4] * 3), T, seeds),
        Instance("riverswim(6), visits", riverswim(6).visits(), Balance([1 / 6] * 6), T, seeds),
        Instance("queue", queue(), TargetDistance([0.9] * 2), size.pick(10**6, 10**8), 4),
    ]
    return check_rate(STATEMENT, RATE, known, learned, size.pick(10**3, 10**5))
