"""Each part keeps the contract of its kind."""

from __future__ import annotations

import pytest
from equipoise_extension.agents import Curious
from equipoise_extension.confidences import Hoeffding
from equipoise_extension.oracles import AdaptiveDescent
from equipoise_extension.rewards import DiminishingReturns
from equipoise_extension.worlds import workshop

import equipoise as eq
from equipoise.testing import (
    CLAUSES,
    ORACLE_CLAUSES,
    REWARD_CLAUSES,
    check_agent,
    check_model,
)

REWARD = DiminishingReturns([0.5, 1.0], 0.5)


def test_world() -> None:
    check_model(workshop)


@pytest.mark.parametrize("clause", REWARD_CLAUSES.values(), ids=list(REWARD_CLAUSES))
@pytest.mark.parametrize("reward", [REWARD, DiminishingReturns([2.0, 1.0, 0.3], 0.1)], ids=repr)
def test_reward(reward, clause) -> None:  # type: ignore[no-untyped-def]
    clause(reward)


@pytest.mark.parametrize("clause", ORACLE_CLAUSES.values(), ids=list(ORACLE_CLAUSES))
@pytest.mark.parametrize("reward", [REWARD, eq.rewards.TargetDistance([0.7, 0.2], 2)], ids=repr)
def test_oracle(reward, clause) -> None:  # type: ignore[no-untyped-def]
    clause(AdaptiveDescent(), reward)


@pytest.mark.parametrize("clause", CLAUSES.values(), ids=list(CLAUSES))
def test_confidence(clause) -> None:  # type: ignore[no-untyped-def]
    clause(Hoeffding())


def test_agent() -> None:
    eq.allow("equipoise_extension")  # it is saved and loaded
    model = workshop()
    check_agent(Curious(model.space, REWARD, curiosity=0.3, seed=4), model)
