"""A slow, dense transcription of the paper, against which the library is compared.

Rule of independence: nothing here imports ``equipoise`` or copies from ``src/``, and nothing in ``src/``
imports from here. Everything is plain numpy (scipy for the linear programs), written from the paper and
the errata in docs/paper.md; where speed and plainness disagree, plainness wins. A disagreement between the
library and this package is therefore evidence, whichever of the two turns out to be wrong.

- ``worlds``: small hidden models, and a star;
- ``rewards``: g, a supergradient of g, and the argmax behind the conjugate g*;
- ``confidence``: the regions H^v and H^p;
- ``planner``: extended value iteration, and three independent checks on it;
- ``oracles``: Frank-Wolfe, tuned gradient descent, tuned mirror descent and its mirror maps, doubling;
- ``toc_ucrl2``: the algorithm itself;
- ``knapsack``: the algorithm under budgets.
"""
