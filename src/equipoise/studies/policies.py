"""Policies by name, for a `StationaryAgent` in a study: what the offline programs say of the problem's world.

    policy = { kind = "best_stationary", epsilon = 0.03 }              # mixing into the optimum, at that rate
    policy = { kind = "solve", reward = { kind = "Linear", weights = [1, 0] } }   # the best for another reward

Without a reward of its own, a policy is for the problem's. A list of numbers is a policy itself: a probability a pair.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from equipoise._numbers import real
from equipoise.errors import EquipoiseError, StudyError
from equipoise.models.model import Model
from equipoise.offline import best_stationary, solve
from equipoise.rewards.base import Reward
from equipoise.studies.vocabulary import make_reward

_KINDS: Final = {"best_stationary": ("epsilon", "reward"), "solve": ("reward",)}
_EPSILON: Final = 0.03


def find_policy(description: Mapping[str, Any], model: Model, reward: Reward, where: str) -> list[float]:
    """Find the policy that a table asks for: a probability for each pair.

    >>> import equipoise as eq
    >>> find_policy({"kind": "solve"}, eq.models.bandit(2), eq.rewards.Linear([0.0, 1.0]), "policy")
    [0.0, 1.0]
    """
    kind = description.get("kind")
    if not isinstance(kind, str) or kind not in _KINDS:
        raise StudyError(f"{where}.kind: got {kind!r}; one of {', '.join(_KINDS)} is needed")
    extra = sorted(set(description) - {"kind", *_KINDS[kind]})
    if extra:
        raise StudyError(f"{where}.{extra[0]}: {kind} has no such parameter; it takes {', '.join(_KINDS[kind])}")
    if "reward" in description:
        reward = make_reward(description["reward"], model, f"{where}.reward")
    try:
        best = solve(model, reward)
        if best.status != "optimal":
            raise StudyError(f"its program was not solved: {best!r}; give the policy as a list of numbers")
        if kind == "solve":
            policy = best.policy()
        else:
            epsilon = real(description.get("epsilon", _EPSILON), "epsilon", error=StudyError)
            policy = best_stationary(model, reward, benchmark=best).policy(epsilon)
    except EquipoiseError as error:
        raise StudyError(f"{where}: {error}") from error
    return [float(probability) for probability in policy]
