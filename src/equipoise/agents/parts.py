"""What an agent asks of its parts, with the answers checked: a part may be anybody's, and kernels check nothing.

Whatever a part raises, or returns in the place of what is needed, is an error of the package that names the part.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equipoise._compile import Entry
from equipoise._numbers import real, whole
from equipoise.confidence.base import Confidence
from equipoise.confidence.fill import kernel_address
from equipoise.errors import ContractError, EquipoiseError, OracleError, RewardError
from equipoise.oracles.base import Oracle, OracleKernel, Phase
from equipoise.oracles.frame import OracleFrame, RewardCalls
from equipoise.oracles.frank_wolfe import FrankWolfe
from equipoise.oracles.theory import OracleTheory
from equipoise.rewards.audit import not_declared
from equipoise.rewards.base import Reward


@contextlib.contextmanager
def asking(part: object, method: str, error: type[EquipoiseError]) -> Iterator[None]:
    """Name a part and its method in whatever it raises meanwhile.

    Parameters
    ----------
    part : object
        Whose method is called.
    method : str
        Its name.
    error : type
        What to raise instead.
    """
    try:
        yield
    except EquipoiseError:
        raise
    except Exception as trouble:  # whatever it raises
        raise error(f"{type(part).__name__}.{method} raised {type(trouble).__name__}: {trouble}") from trouble


def check_declared(reward: Reward) -> None:
    """Refuse a reward without the constants, the parameters or the kernels of one.

    Parameters
    ----------
    reward : Reward
        The one to look at.
    """
    with asking(reward, "kernels", RewardError):
        fault = not_declared(reward)
    if fault is not None:
        raise RewardError(f"reward: {type(reward).__name__}: {fault}")


def check_rule(confidence: Confidence) -> None:
    """Refuse a confidence whose kernel cannot be called, or whose numbers a planner cannot use.

    Parameters
    ----------
    confidence : Confidence
        The one to look at.
    """
    with asking(confidence, "kernel", ContractError):
        kernel_address(confidence)
    name = f"confidence: {type(confidence).__name__}"
    whole(confidence.listed, f"{name}.listed", 0, error=ContractError)
    relaxation = real(confidence.relaxation, f"{name}.relaxation", error=ContractError)
    if not 0.0 < relaxation <= 1.0:
        raise ContractError(f"{name}.relaxation: got {relaxation}; it must lie in (0, 1]")


def check_theory(oracle: Oracle) -> None:
    """Refuse an oracle that declares its theory as something else.

    Parameters
    ----------
    oracle : Oracle
        The one to look at.
    """
    with asking(oracle, "theory", OracleError):
        knowledge: object = oracle.theory
    if not isinstance(knowledge, OracleTheory):
        raise OracleError(f"oracle: the theory of {oracle!r} is {knowledge!r}; an OracleTheory is needed")


def kernel_of(oracle: Oracle, reward: Reward) -> OracleKernel:
    """The step of an oracle, of the types that a kernel reads through a raw pointer.

    Parameters
    ----------
    oracle : Oracle
        Whose step.
    reward : Reward
        For which.
    """
    with asking(oracle, "kernel", OracleError):
        step: Any = oracle.kernel(reward)
    entry = getattr(step, "entry", None)
    if not isinstance(step, OracleKernel) or not isinstance(entry, Entry) or not entry.takes(OracleFrame):
        raise OracleError(
            f"oracle: the kernel of {oracle!r} is {step!r}; an OracleKernel with an entry declared by @oracle_entry "
            "is needed"
        )
    for name in ("memory", "scratch"):
        size = getattr(step, name)
        if size is not None:
            whole(size, f"oracle: the {name} of {oracle!r}", 0, error=OracleError)
    try:
        return step._replace(params=np.array(step.params, dtype=np.float64, ndmin=1))
    except (TypeError, ValueError) as error:
        raise OracleError(f"oracle: the params of {oracle!r} must be numbers ({error})") from None


def first_theta_of(oracle: Oracle, reward: Reward) -> NDArray[np.float64]:
    """theta_1, which must have one number for each outcome; whether they are finite is seen by the first plan.

    Parameters
    ----------
    oracle : Oracle
        Whose.
    reward : Reward
        For which.
    """
    with asking(oracle, "first_theta", OracleError):
        theta = np.asarray(oracle.first_theta(reward), dtype=np.float64)
    if theta.shape != (reward.n_outcomes,):
        raise OracleError(
            f"oracle: the first theta of {oracle!r} is {theta.tolist()}; {reward.n_outcomes} numbers are needed"
        )
    return theta


def phase_of(oracle: Oracle, index: int) -> Phase:
    """A phase of an oracle.

    Parameters
    ----------
    oracle : Oracle
        Whose.
    index : int
        Its number, from 1.
    """
    with asking(oracle, "phase", OracleError):
        phase: Any = oracle.phase(index)
    if not isinstance(phase, Phase) or not isinstance(phase.oracle, Oracle):
        raise OracleError(f"oracle: phase {index} of {oracle!r} is {phase!r}; a Phase with an Oracle is needed")
    return phase


def remembered(step: OracleKernel, reward: Reward) -> int:
    """How many numbers an oracle keeps from one step to the next.

    Parameters
    ----------
    step : OracleKernel
        Its step.
    reward : Reward
        For which.
    """
    return reward.n_outcomes if step.memory is None else step.memory


def calls_of(step: OracleKernel, reward: Reward) -> RewardCalls:
    """The reward as the step of an oracle calls it; what the step does not call is not compiled.

    Parameters
    ----------
    step : OracleKernel
        Who calls.
    reward : Reward
        Who is called.
    """
    kernels = reward.kernels
    return RewardCalls(
        gradient=kernels.gradient.address if "gradient" in step.calls else 0,
        conjugate_argmax=kernels.conjugate_argmax.address if "conjugate_argmax" in step.calls else 0,
        params=reward.params,
    )


def no_theta(
    oracle: Oracle, reward: Reward, t: int, average: NDArray[np.float64], theta: NDArray[np.float64]
) -> RewardError | OracleError:
    """The error to raise when theta is not a number: it names the reward, or the oracle if that is to blame.

    Parameters
    ----------
    oracle : Oracle
        That made theta.
    reward : Reward
        That it called.
    t : int
        The time.
    average, theta : numpy.ndarray
        The average outcomes, and theta.
    """
    failure, fixed = reward.failure(), reward.at(t)
    where = f"at time {t}, with average outcomes {average.tolist()}, theta is {theta.tolist()}"
    if failure is None and not isinstance(oracle, FrankWolfe):  # whose theta is the gradient itself
        answers = (fixed.gradient(average), fixed.conjugate_argmax(np.zeros(fixed.n_outcomes)))
        if all(bool(np.all(np.isfinite(answer))) for answer in answers):
            return OracleError(f"oracle: {where} by {oracle!r}; finite numbers are needed")
    error = RewardError(
        f"reward: {where}; the gradient or the conjugate of {reward!r} is not finite"
        f"{'' if failure is None else f' ({failure})'}"
    )
    error.__cause__ = failure
    return error
