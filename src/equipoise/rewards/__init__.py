"""Concave rewards on [0,1]^K: what an agent maximises, with gradient, conjugate and constants.

| family | g(w) | norm | smooth |
|---|---|---|---|
| `Linear` | weights.w | any | yes, beta = 0 |
| `Quadratic` | 1 - the squared distance to a target, halved | 2 | yes |
| `TargetSquared` | 1 - the mean squared shortfall from KPIs | 2 | yes |
| `TargetDistance` | 1 - the distance to the vectors that meet the KPIs, or to any convex set | any | no |
| `Balance` | 1 - half the l1 distance to a target | 2 | no |
| `BottomSum` | the sum of the kappa smallest outcomes | inf | no |
| `GeneralisedGini` | a weighted sum of the outcomes in ascending order | inf | no |
| `ProportionalFairness` | the scaled sum of log(w + eps) | 2 | yes |
| `Entropy` | the smoothed entropy, over log S | 1 | yes |
| `RelativeEntropy` | 1 - a smoothed KL divergence to a target, over log S | 1 | yes |
| `CrossEntropy` | minus a smoothed cross-entropy of a target, scaled | 1 | yes |
| `Knapsack` | the reward less a penalty for the budget most exceeded | inf | no |
| `Custom` | your functions, checked and compiled | any | as declared |
| `Expression` | a concave formula, or a CVXPY expression (`from_cvxpy`) | any | if it has no kink |
| `Affine` | any of these, of an affine image of the outcomes | the inner one's | as that |
| `Sum` | a sum of these with positive weights | theirs, or 2 | if all are |
| `Minimum` | the least of several | theirs, or 2 | no |
| `Shortfall` | minus the shortfall of one of them from a level | that one's | if smoothed |
| `Constrained` | one of them, less a price for violated constraints | as `Sum` | if all are, smoothed |
| `Within` | one of them on a box, with its tangents beyond | that one's | as that |

`Constraint`, and its makers `at_least` and `at_most`, are for `Constrained`. `Goals` makes a reward from goals for
averages and for shares, such as the share of patients that are seen in time.
"""

from equipoise.rewards.base import Reward
from equipoise.rewards.combinations import Minimum, Sum
from equipoise.rewards.constrained import Constrained, Constraint, at_least, at_most, exact_price
from equipoise.rewards.custom import Custom
from equipoise.rewards.distance import Balance, TargetDistance
from equipoise.rewards.entropy import Entropy, RelativeEntropy
from equipoise.rewards.expression.conversion import from_cvxpy
from equipoise.rewards.expression.reward import Expression
from equipoise.rewards.goals import Goals
from equipoise.rewards.images import Affine, Within
from equipoise.rewards.ordered import BottomSum, GeneralisedGini
from equipoise.rewards.penalties import Knapsack, Shortfall
from equipoise.rewards.separable import CrossEntropy, Linear, ProportionalFairness, Quadratic, TargetSquared
from equipoise.rewards.target_sets import TargetBall, TargetBox, TargetHull, TargetPolytope, TargetSet

__all__ = [
    "Affine",
    "Balance",
    "BottomSum",
    "Constrained",
    "Constraint",
    "CrossEntropy",
    "Custom",
    "Entropy",
    "Expression",
    "GeneralisedGini",
    "Goals",
    "Knapsack",
    "Linear",
    "Minimum",
    "ProportionalFairness",
    "Quadratic",
    "RelativeEntropy",
    "Reward",
    "Shortfall",
    "Sum",
    "TargetBall",
    "TargetBox",
    "TargetDistance",
    "TargetHull",
    "TargetPolytope",
    "TargetSet",
    "TargetSquared",
    "Within",
    "at_least",
    "at_most",
    "exact_price",
    "from_cvxpy",
]
