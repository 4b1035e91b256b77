r"""Q = 0 under tuned gradient descent: what Claim B.1 says of Frank-Wolfe is true here too.

The paper proves for Frank-Wolfe that a threshold is needed, and says that the same holds for TGD. On the star with K
= 2 and g(w) = 1 - |w - 1/2|_1 / 2 theta moves at every step but where z = grad g* - V is 0, so that with Q = 0 every
step is planned anew. With the model known and exact plans the agent follows the sign of theta_1 - theta_2, which a
single loop turns round, and travels on: more than a share (D - 1)/D of its steps is off the loops, and since 1 - g(w)
>= (1 - sum_k w_k)/2,

    Reg(T)  >=  (D - 1) / (2D),     in fact close to 1/2: hardly a loop is ever made.

With the tolerance 1/sqrt(tau) of the paper, and nothing known, regret falls: a plan then stays where it is until
another is better by the tolerance, as in errata 9 and 33. So Q = 0 works under TGD exactly as little, and exactly as
well, as under Frank-Wolfe.
"""

from __future__ import annotations

from typing import Final

from equipoise.agents.toc_ucrl2 import TocUCRL2
from equipoise.confidence.known import Known
from equipoise.models.paper_instances import star
from equipoise.rewards.base import Reward
from equipoise.rewards.distance import Balance, TargetDistance
from equipoise.simulation import simulate
from paper.findings import Checked, Finding, Size, Statement
from paper.rates import EXACT

STATEMENT: Final = Statement(
    name="zero-threshold-gradient-descent",
    number="Claim B.1, under TGD",
    title="Replanning at every step costs a constant under gradient descent too",
    says="Q = 0 with TGD, model known, exact plans: Reg(T) ≥ (D − 1)/(2D) on the star",
)
_DIAMETER: Final = 4
_EXACTLY: Final = 1e-9


def check(size: Size) -> Checked:
    """Run the star with Q = 0 and with Q = L, the model known and not."""
    T = size.pick(2_000, 4_000)
    long = 10**5
    even, wanted = Balance([0.5] * 2), TargetDistance([0.75] * 2)
    floor = (_DIAMETER - 1) / (2.0 * _DIAMETER)
    findings = [
        Finding(f"known, Balance, Q = 0: Reg({T})", known(even, 1.0, 0.0, T), floor, ">="),
        # 1 - |(1/4, 1/4)| is the optimum; off the loops for a share q it is 1 - |3/4 - (1 - q)/2| sqrt(2)
        Finding(
            f"known, TargetDistance, Q = 0: Reg({T})", known(wanted, 1.0 - 0.125**0.5, 0.0, T), floor * 2**0.5, ">="
        ),
        Finding(f"for contrast, known, Balance, Q = L: Reg({T})", known(even, 1.0, even.lipschitz, T), floor / 2),
    ]
    model = star(2, _DIAMETER)
    run = simulate(model, TocUCRL2(model.space, even, threshold=0.0), long, checkpoints=[long], progress=False)
    last = float(run.regret(1.0)[-1])
    findings.append(Finding(f"for contrast, learned, tolerance 1/√τ, Q = 0: Reg({long})", last, floor / 2))
    return Checked(STATEMENT, tuple(findings))


def known(reward: Reward, optimum: float, threshold: float, steps: int) -> float:
    """The regret at the end, with the model known and exact plans."""
    model = star(2, _DIAMETER)
    agent = TocUCRL2(model.space, reward, None, threshold, 0.05, Known(model), _EXACTLY, planner=EXACT)
    return float(simulate(model, agent, steps, checkpoints=[steps], progress=False).regret(optimum)[-1])
