r"""Theorem 5.1: regret under tuned gradient descent falls like T^-1/3.

    Reg(T)  =  O~( [sqrt(LQ) + L^{3/2} D/sqrt(Q)] ||1||_2 / T^{1/3} )  +  O~( L ||1||_2 D sqrt(Gamma SA / T) ).

It is an upper bound: a slope of at most -1/3 over the last two decades is what is checked, steeper is as good. How
slopes are fitted, when the regime counts as reached, what the slope is held against and what the ceiling of a small
instance is: see `paper.rates`, the same for all instances. How regret and M(T) depend on D, L, Q, ||1|| and T, one at
a time: see `paper.families`.

Instances. "star, known": K = 2, D = 4, with the model known and exact plans, for two rewards with a kink; nothing is
left but alternation, and regret falls like T^-1/3. The same instance shows the dependence on Q. The rest is the
paper's own agent, which knows nothing. Small, so that they must be learned: bandit, star, two states and the visits of
a river of three (Balance). Larger: star(3, 4) and the visits of riverswim(6) (Balance), scheduler and queue
(TargetDistance).
"""

from __future__ import annotations

from typing import Final

from equipoise.models import queue, scheduler
from equipoise.models.paper_instances import bandit, star
from equipoise.models.standard import riverswim
from equipoise.rewards.distance import Balance, TargetDistance
from paper import families
from paper.findings import Checked, Size, Statement
from paper.rates import Instance, check_rate

STATEMENT: Final = Statement(
    name="rate-gradient-descent",
    number="Theorem 5.1",
    title="Regret under tuned gradient descent",
    says="Reg(T) = Õ([√(LQ) + L^(3/2)D/√Q]‖1‖₂/T^(1/3)) + Õ(L‖1‖₂D√(ΓSA)/√T)",
)
RATE: Final = 1.0 / 3.0


def check(size: Size) -> Checked:
    """Fit slopes; compare the known star with the constants of the proof; vary Q and the other quantities."""
    T, seeds, few = size.pick(10**6, 10**7), size.pick(3, 5), size.pick(2, 5)
    even, thirds = Balance([0.5] * 2), Balance([1 / 3] * 3)
    instances = [
        Instance("star, known, balance", star(2, 4), even, T, known=True),
        Instance("star, known, distance", star(2, 4), TargetDistance([0.75] * 2), T, known=True),
        Instance("bandit", bandit(2), even, T, small=True),
        Instance("star", star(2, 2), even, T, small=True),
        Instance("two states", families.two_states(), even, T, seeds, small=True),
        Instance("riverswim(3), visits", riverswim(3).visits(), thirds, T, seeds, small=True),
        Instance("star(3, 4)", star(3, 4), thirds, T),
        Instance("scheduler", scheduler(), TargetDistance([0.4] * 3), T, few),
        Instance("riverswim(6), visits", riverswim(6).visits(), Balance([1 / 6] * 6), T, few),
        Instance("queue", queue(), TargetDistance([0.9] * 2), T, few),
    ]
    return check_rate(STATEMENT, RATE, instances, families.gradient_descent(size), size.pick(10**3, 10**4))
