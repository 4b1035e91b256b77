r"""Theorem 5.2: regret under tuned mirror descent with the doubling trick falls like T^-1/3.

    Reg(T)  =  O~( [L' + sqrt(L'Q) + sqrt(L') LD/sqrt(Q)] ||1|| / T^{1/3} )  +  O~( L ||1|| D sqrt(Gamma SA / T) ).

It is an upper bound: a slope of at most -1/3 over the last two decades is what is checked, steeper is as good. How
slopes are fitted, when the regime counts as reached and what the slope is held against: see `paper.rates`, the same for
all instances.

Instances. "star, known": K = 2, D = 4, with the model known and exact plans: multiplicative weights (BottomSum, the
infinity norm) and the box (TargetDistance, the 1-norm). Nothing is left but alternation, and regret falls like
T^-1/3. The same instance shows the dependence on Q. The rest is Algorithm 4 as displayed, which forgets everything at
every mega-episode: bandit, star, the visits of riverswim(4), scheduler (BottomSum; TargetDistance in the 1-norm). The
sites (BottomSum) are there because they are *not* learned in time; with counts inherited they would be.
"""

from __future__ import annotations

from typing import Final

from equipoise.models.applied import scheduler, sites
from equipoise.models.bandit import bandit
from equipoise.models.riverswim import riverswim
from equipoise.models.star import star
from equipoise.paper.findings import Checked, Size, Statement
from equipoise.paper.rates import Instance, check_rate
from equipoise.rewards.bottom_sum import BottomSum
from equipoise.rewards.target_distance import TargetDistance

STATEMENT: Final = Statement(
    name="rate-mirror-descent",
    number="Theorem 5.2",
    title="Regret under tuned mirror descent",
    says="Reg(T) = Õ([L′ + √(L′Q) + √L′ LD/√Q]‖1‖/T^(1/3)) + Õ(L‖1‖D√(ΓSA)/√T)",
)
RATE: Final = 1.0 / 3.0


def check(size: Size) -> Checked:
    """Fit slopes; compare the known star with the constants of the proof; vary Q."""
    T, seeds = size.pick(10**6, 10**7), size.pick(4, 8)
    worst = BottomSum(3, 1)
    known = [
        Instance("star, known, worst", star(2, 4), BottomSum(2, 1), T, known=True),
        Instance("star, known, distance", star(2, 4), TargetDistance([0.75] * 2, 1.0), T, known=True),
    ]
    learned = [
        Instance("bandit", bandit(3), worst, T),
        Instance("star", star(3, 4), worst, size.pick(10**6, 10**8)),
        Instance("riverswim(4), visits", riverswim(4).visits(), BottomSum(4, 1), T, seeds),
        Instance("scheduler, worst", scheduler(), worst, size.pick(10**6, 10**8), 4),
        Instance("scheduler, distance", scheduler(), TargetDistance([0.4] * 3, 1.0), T, seeds),
        Instance("sites", sites(), worst, T, 4),
    ]
    return check_rate(STATEMENT, RATE, known, learned, size.pick(10**3, 10**5))
