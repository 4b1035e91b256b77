"""For learners of Stable-Baselines3 whose reward is paid by a `GradientThreshold`; the extra `deep`.

Off-policy learners (DQN) sample old transitions, which were paid by an old theta_ref: `relabelling(env)` gives them a
replay buffer that keeps the vectors and pays by the present one. On-policy learners (PPO) need one reward within a
rollout: `BetweenRollouts` lets theta_ref move between two of them.
"""

from equipoise.adapters._extras import imported

for _library in ("gymnasium", "torch", "stable_baselines3"):
    imported(_library, "deep")  # says what to install, if it is missing

from equipoise.adapters.deep.replay import VectorDictReplayBuffer, VectorReplayBuffer, relabelling  # noqa: E402
from equipoise.adapters.deep.rollouts import BetweenRollouts  # noqa: E402

__all__ = ["BetweenRollouts", "VectorDictReplayBuffer", "VectorReplayBuffer", "relabelling"]
