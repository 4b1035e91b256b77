r"""Theorem 5.2: regret under tuned mirror descent with the doubling trick falls like T^-1/3.

    Reg(T)  =  O~( [L' + sqrt(L'Q) + sqrt(L') LD/sqrt(Q)] ||1|| / T^{1/3} )  +  O~( L ||1|| D sqrt(Gamma SA / T) ).

It is an upper bound: a slope of at most -1/3 over the last two decades is what is checked, steeper is as good. How
slopes are fitted, when the regime counts as reached, what the slope is held against and what the ceiling of a small
instance is: see `paper.rates`, the same for all instances. How regret and M(T) depend on D, L, L', Q and T, one at a
time: see `paper.families`.

Instances. "star, known": K = 2, D = 4, with the model known and exact plans: multiplicative weights (BottomSum, the
infinity norm) and the box (TargetDistance, the 1-norm). Nothing is left but alternation, and regret falls like
T^-1/3. The same instance shows the dependence on Q. The rest is Algorithm 4 as displayed, which forgets everything at
every mega-episode. Small, so that they must be learned: bandit, star, two states and the visits of a river of three
(BottomSum). Larger: star(3, 4), the visits of riverswim(4), scheduler (BottomSum; TargetDistance in the 1-norm). The
sites (BottomSum) are *not* learned in time; with counts inherited they would be.
"""

from __future__ import annotations

from typing import Final

from equipoise.models import scheduler, sites
from equipoise.models.paper_instances import bandit, star
from equipoise.models.standard import riverswim
from equipoise.rewards.distance import TargetDistance
from equipoise.rewards.ordered import BottomSum
from paper import families
from paper.findings import Checked, Size, Statement
from paper.rates import Instance, check_rate

STATEMENT: Final = Statement(
    name="rate-mirror-descent",
    number="Theorem 5.2",
    title="Regret under tuned mirror descent",
    says="Reg(T) = Õ([L′ + √(L′Q) + √L′ LD/√Q]‖1‖/T^(1/3)) + Õ(L‖1‖D√(ΓSA)/√T)",
)
RATE: Final = 1.0 / 3.0


def check(size: Size) -> Checked:
    """Fit slopes; compare the known star with the constants of the proof; vary Q and the other quantities."""
    T, long = size.pick(10**6, 10**7), size.pick(4 * 10**6, 4 * 10**7)
    seeds, few = size.pick(3, 5), size.pick(2, 5)
    poorer, worst = BottomSum(2, 1), BottomSum(3, 1)
    instances = [
        Instance("star, known, worst", star(2, 4), poorer, T, known=True),
        Instance("star, known, distance", star(2, 4), TargetDistance([0.75] * 2, 1.0), T, known=True),
        Instance("bandit", bandit(2), poorer, T, small=True),
        Instance("star", star(2, 2), poorer, long, small=True),
        Instance("two states", families.two_states(), poorer, long, seeds, small=True),
        Instance("riverswim(3), visits", riverswim(3).visits(), worst, long, seeds, small=True),
        Instance("star(3, 4)", star(3, 4), worst, T),
        Instance("riverswim(4), visits", riverswim(4).visits(), BottomSum(4, 1), T, few),
        Instance("scheduler, worst", scheduler(), worst, T, few),
        Instance("scheduler, distance", scheduler(), TargetDistance([0.4] * 3, 1.0), T, few),
        Instance("sites", sites(), worst, T, few),
    ]
    return check_rate(STATEMENT, RATE, instances, families.mirror_descent(size), size.pick(10**3, 10**4))
