"""Concave rewards on [0,1]^K: what an agent maximises, with gradient, conjugate and constants.

| family | g(w) | norm | smooth |
|---|---|---|---|
| `Linear` | weights.w | any | yes, beta = 0 |
| `Quadratic` | 1 - the squared distance to a target, halved | 2 | yes |
| `TargetSquared` | 1 - the mean squared shortfall from KPIs | 2 | yes |
| `TargetDistance` | 1 - the distance to the vectors that meet the KPIs | 1, 2, inf | no |
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
| `Shortfall` | minus what one of them lacks to a level | that one's | if smoothed |
| `Constrained` | one of them, less a price for violated constraints | as `Sum` | if all are, smoothed |
| `Within` | one of them on a box, with its tangents beyond | that one's | as that |

`Constraint`, and its makers `at_least` and `at_most`, say what `Constrained` has to meet.
`Goals` makes one of them from goals for averages and for shares, such as the share of patients that are seen in time.
"""

from equipoise.rewards.affine import Affine
from equipoise.rewards.balance import Balance
from equipoise.rewards.base import Reward
from equipoise.rewards.bottom_sum import BottomSum
from equipoise.rewards.constrained import Constrained, exact_price
from equipoise.rewards.constraint import Constraint, at_least, at_most
from equipoise.rewards.cross_entropy import CrossEntropy
from equipoise.rewards.custom import Custom
from equipoise.rewards.entropy import Entropy
from equipoise.rewards.expressions.converting import from_cvxpy
from equipoise.rewards.expressions.expression import Expression
from equipoise.rewards.generalised_gini import GeneralisedGini
from equipoise.rewards.goals import Goals
from equipoise.rewards.knapsack import Knapsack
from equipoise.rewards.linear import Linear
from equipoise.rewards.minimum import Minimum
from equipoise.rewards.proportional_fairness import ProportionalFairness
from equipoise.rewards.quadratic import Quadratic
from equipoise.rewards.relative_entropy import RelativeEntropy
from equipoise.rewards.shortfall import Shortfall
from equipoise.rewards.sum import Sum
from equipoise.rewards.target_distance import TargetDistance
from equipoise.rewards.target_squared import TargetSquared
from equipoise.rewards.within import Within

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
    "TargetDistance",
    "TargetSquared",
    "Within",
    "at_least",
    "at_most",
    "exact_price",
    "from_cvxpy",
]
