r"""Theorem 3.4: regret under Frank-Wolfe falls like T^-1/2.

    Reg(T)  =  O~( sqrt(beta) [sqrt(Q) + LD/sqrt(Q)] ||1||^{3/2} / sqrt(T) )  +  O~( L ||1|| D sqrt(Gamma SA / T) ).

It is an upper bound: a slope of at most -1/2 over the last two decades is what is checked, steeper is as good. How
slopes are fitted, when the regime counts as reached, what the slope is held against and what the ceiling of a small
instance is: see `paper.rates`, the same for all instances. How regret and M(T) depend on D, L, beta, Q, ||1|| and T,
one at a time: see `paper.families`; the second term is held to account in `linear_rewards`, where it stands alone.

Instances. "star, known": K = 2, D = 4, each loop wanted three quarters of the time, so that regret is of first order
in the travelling; with the model known and exact plans nothing is left but alternation, and regret falls like T^-1/2:
the exponent is attained. The same instance shows the dependence on Q. The rest is the paper's own agent, which knows
nothing. Small, so that they must be learned: bandit, star, two states, a river of three. Larger: star(3, 4), sites
(Quadratic), scheduler (ProportionalFairness), queue (TargetSquared). riverswim(20) is *not* learned in time.

On the star the target is out of reach, as otherwise g is flat at the optimum and regret falls like 1/T. On the bandit
it does so anyway: there is nothing to travel.
"""

from __future__ import annotations

from typing import Final

from equipoise.models import queue, scheduler, sites
from equipoise.models.paper_instances import bandit, star
from equipoise.models.standard import riverswim
from equipoise.rewards.separable import Linear, ProportionalFairness, Quadratic, TargetSquared
from paper import families
from paper.findings import Checked, Size, Statement
from paper.rates import Instance, check_rate

STATEMENT: Final = Statement(
    name="rate-frank-wolfe",
    number="Theorem 3.4",
    title="Regret under Frank-Wolfe",
    says="Reg(T) = Õ(√β[√Q + LD/√Q]‖1‖^(3/2)/√T) + Õ(L‖1‖D√(ΓSA)/√T)",
)
RATE: Final = 0.5


def check(size: Size) -> Checked:
    """Fit slopes; compare the known star with the constants of the proof; vary Q and the other quantities."""
    T, seeds, few = size.pick(10**6, 10**7), size.pick(3, 5), size.pick(2, 5)
    wanted = Quadratic([0.75] * 2)
    instances = [
        Instance("star, known", star(2, 4), wanted, T, known=True),
        Instance("bandit", bandit(2), wanted, T, small=True),
        Instance("star", star(2, 2), wanted, T, small=True),
        Instance("two states", families.two_states(), wanted, T, seeds, small=True),
        Instance("riverswim(3)", riverswim(3), Quadratic([1.0]), T, seeds, small=True),
        Instance("star(3, 4)", star(3, 4), Quadratic([0.5] * 3), T),
        Instance("sites", sites(), Quadratic([1 / 3] * 3), T, few),
        Instance("scheduler", scheduler(), ProportionalFairness(3, 0.05), T, few),
        Instance("queue", queue(), TargetSquared([0.9] * 2), T, few),
        Instance("riverswim(20)", riverswim(20), Linear([1.0]), T, few),
    ]
    narrow = size.pick(10**4, 10**5)
    return check_rate(STATEMENT, RATE, instances, families.frank_wolfe(size), narrow, logarithm=True)
