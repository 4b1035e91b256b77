"""The parts of an agent, checked, and the constants of a phase of its oracle.

A part may be written by anybody, and kernels check nothing. So whatever a part raises, or returns instead of what is
needed, becomes an error of the package that names the part.

An oracle has one phase, or several of limited length (`Doubling`), each with an oracle of its own. `begin_phase` starts
the next one, `set_up_phase` finds its kernel and makes scratch for it, and `phase_constants` collects the numbers and
addresses that the kernels of `TocUCRL2` read. They do not change within a phase, except that rows of a log move the
time from which regions count. `Steering` uses the same functions, and of the constants only `oracle_constants`.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from equipoise._checks import LARGEST, check_float, check_int
from equipoise._runtime.compiler import Entry
from equipoise.agents.dual_bound import AT_THE_AVERAGE, BY_CONJUGATE, BY_TANGENT, NOT_AT_ALL
from equipoise.agents.episodes import BY_GRADIENT, BY_RESTART, BY_VISITS
from equipoise.agents.schedules import Schedule, threshold_rule, tolerance_rule
from equipoise.agents.state import PhaseConstants
from equipoise.confidence.base import Confidence, kernel_address, kernel_numbers
from equipoise.confidence.counts import count_layout
from equipoise.errors import ContractError, EquipoiseError, OracleError, ParameterError, RewardError
from equipoise.models.space import Space
from equipoise.oracles.base import Oracle, OracleKernel, OracleTheory, Phase
from equipoise.oracles.frame import OracleFrame, RewardCalls
from equipoise.oracles.frank_wolfe import FrankWolfe, frank_wolfe_step
from equipoise.planning.evi import sweeps_per_call
from equipoise.planning.options import AFTER_VISITS, Planner
from equipoise.planning.parallel import worth_sharing
from equipoise.rewards.audit import not_declared
from equipoise.rewards.base import Reward
from equipoise.rewards.norms import dual

if TYPE_CHECKING:
    from equipoise.agents.state import Memory
    from equipoise.agents.steering import SteeringMemory
    from equipoise.agents.toc_ucrl2 import TocUCRL2

_MOST_PHASES: Final = 1 << 12  # the length of a phase may double from one to the next: later ones never begin


class OracleConstants(NamedTuple):
    """The constants of the oracle and of the gradient threshold; the names are those of `PhaseConstants`."""

    oracle: int
    oracle_params: NDArray[np.float64]
    frank_wolfe: bool
    reward: RewardCalls
    dual_norm: float
    threshold: float
    threshold_power: float
    threshold_floor: float
    moving_threshold: int
    tau_offset: int


# -- the parts, checked ---------------------------------------------------------------------------------------------


@contextlib.contextmanager
def reraise_as(part: object, method: str, error: type[EquipoiseError]) -> Iterator[None]:
    """Name a part and its method in whatever is raised meanwhile."""
    try:
        yield
    except EquipoiseError:
        raise
    except Exception as trouble:
        raise error(f"{type(part).__name__}.{method} raised {type(trouble).__name__}: {trouble}") from trouble


def check_reward(reward: Reward) -> None:
    """Reject a reward without the constants, the parameters or the kernels of one."""
    with reraise_as(reward, "kernels", RewardError):
        fault = not_declared(reward)
    if fault is not None:
        raise RewardError(f"reward: {type(reward).__name__}: {fault}")


def check_kind(value: object, kind: type, name: str, example: str) -> None:
    """Reject an argument of another type."""
    if not isinstance(value, kind):
        got = f"the class {value.__name__} itself" if isinstance(value, type) else type(value).__name__
        raise ParameterError(f"{name}: got {got}; it must be of type {kind.__name__}, for instance {example}")


def check_delta(delta: float) -> float:
    """A failure probability as a number, if it is one."""
    level = check_float(delta, "delta", error=ParameterError)
    if not 0 < level < 1:
        raise ParameterError(f"delta: got {delta}; it must lie strictly between 0 and 1")
    return level


def check_confidence(confidence: Confidence, space: Space) -> None:
    """Reject a confidence that does not fit the space, or whose kernel or numbers cannot be used."""
    check_kind(confidence, Confidence, "confidence", "eq.confidence.Bernstein()")
    with reraise_as(confidence, "check", ContractError):
        confidence.check(space)
    with reraise_as(confidence, "kernel", ContractError):
        kernel_address(confidence)
    name = f"confidence: {type(confidence).__name__}"
    check_int(confidence.listed, f"{name}.listed", 0, error=ContractError)
    relaxation = check_float(confidence.relaxation, f"{name}.relaxation", error=ContractError)
    if not 0.0 < relaxation <= 1.0:
        raise ContractError(f"{name}.relaxation: got {relaxation}; it must lie in (0, 1]")


def check_oracle(oracle: Oracle, reward: Reward) -> None:
    """Reject an oracle that does not fit the reward, or that declares its theory as something else."""
    check_kind(oracle, Oracle, "oracle", "eq.oracles.FrankWolfe()")
    with reraise_as(oracle, "check", OracleError):
        oracle.check(reward)
    with reraise_as(oracle, "theory", OracleError):
        theory: object = oracle.theory
    if not isinstance(theory, OracleTheory):
        raise OracleError(f"oracle: the theory of {oracle!r} is {theory!r}; an OracleTheory is needed")


def get_oracle_kernel(oracle: Oracle, reward: Reward) -> OracleKernel:
    """The step of an oracle, of the types that a kernel reads through a raw pointer."""
    with reraise_as(oracle, "kernel", OracleError):
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
            check_int(size, f"oracle: the {name} of {oracle!r}", 0, error=OracleError)
    try:
        return step._replace(params=np.array(step.params, dtype=np.float64, ndmin=1))
    except (TypeError, ValueError) as error:
        raise OracleError(f"oracle: the params of {oracle!r} must be numbers ({error})") from None


def initial_theta(oracle: Oracle, reward: Reward) -> NDArray[np.float64]:
    """theta_1, with one number for each outcome; the first plan checks whether they are finite."""
    with reraise_as(oracle, "initial_theta", OracleError):
        theta = np.asarray(oracle.initial_theta(reward), dtype=np.float64)
    if theta.shape != (reward.n_outcomes,):
        raise OracleError(
            f"oracle: the first theta of {oracle!r} is {theta.tolist()}; {reward.n_outcomes} numbers are needed"
        )
    return theta


def get_phase(oracle: Oracle, index: int) -> Phase:
    """A phase of an oracle."""
    with reraise_as(oracle, "phase", OracleError):
        phase: Any = oracle.phase(index)
    if not isinstance(phase, Phase) or not isinstance(phase.oracle, Oracle):
        raise OracleError(f"oracle: phase {index} of {oracle!r} is {phase!r}; a Phase with an Oracle is needed")
    return phase


def memory_size(step: OracleKernel, reward: Reward) -> int:
    """The number of values that an oracle remembers from one step to the next."""
    return reward.n_outcomes if step.memory is None else step.memory


def reward_calls(step: OracleKernel, reward: Reward) -> RewardCalls:
    """The reward as the step of an oracle calls it; what the step does not call is not compiled."""
    kernels = reward.kernels
    return RewardCalls(
        gradient=kernels.gradient.address if "gradient" in step.calls else 0,
        conjugate_argmax=kernels.conjugate_argmax.address if "conjugate_argmax" in step.calls else 0,
        params=reward.params,
    )


def nonfinite_theta_error(
    oracle: Oracle, reward: Reward, t: int, average: NDArray[np.float64], theta: NDArray[np.float64]
) -> RewardError | OracleError:
    """The error to raise when theta is not a number: it names the reward, or the oracle if that is to blame."""
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


# -- phases ---------------------------------------------------------------------------------------------------------


def steps_left(phase: Phase, clock: Any) -> int | None:
    """How many steps remain in the present phase; None if it has no end."""
    return None if phase.length is None else int(clock["origin"] + phase.length - (clock["time"] - 1))


def is_phase_due(phase: Phase, clock: Any) -> bool:
    """Whether the next phase must begin before the next step; true before the first."""
    return clock["phase"] == 0 or steps_left(phase, clock) == 0


def begin_phase(oracle: Oracle, reward: Reward, memory: Memory | SteeringMemory) -> Phase:
    """Start the next phase: its first theta, and nothing remembered by its oracle."""
    clock = memory.clock[0]
    number = int(clock["phase"]) + 1
    phase = get_phase(oracle, number)
    theta = initial_theta(phase.oracle, reward)
    clock["phase"], clock["origin"] = number, clock["time"] - 1
    memory.theta[:], memory.oracle[:] = theta, 0.0
    return phase


def set_up_phase(
    oracle: Oracle, reward: Reward, memory: Memory | SteeringMemory, scratch: NDArray[np.float64]
) -> tuple[Phase, OracleKernel, NDArray[np.float64]]:
    """The present phase (the first before any began), its kernel, and scratch of the size that it needs."""
    number = max(1, int(memory.clock[0]["phase"]))
    phase = get_phase(oracle, number)
    step = get_oracle_kernel(phase.oracle, reward)
    size = memory_size(step, reward)
    if size > memory.oracle.size:
        raise OracleError(
            f"oracle: {oracle!r} remembers {memory.oracle.size} numbers, and {size} in phase {number}; its `kernel` "
            "must request the largest number that any phase needs"
        )
    return phase, step, scratch if scratch.size == step.scratch else np.zeros(step.scratch)


def clock_fits_oracle(oracle: Oracle, clock: Any) -> bool:
    """Whether a clock from a file is one that the phases of an oracle can reach."""
    steps, number = int(clock["time"]) - 1, int(clock["phase"])
    if not (0 <= steps <= (oracle.horizon or LARGEST)):
        return False
    if not 0 <= number <= (_MOST_PHASES if oracle.phase(1).length is not None else 1):
        return False
    phase, origin = oracle.phase(max(1, number)), int(clock["origin"])
    return origin == phase.origin and 0 <= steps - origin <= (phase.length or LARGEST)


# -- constants ------------------------------------------------------------------------------------------------------


def oracle_constants(
    reward: Reward, phase: Phase, step: OracleKernel, threshold: float | Schedule | None, tau_offset: int
) -> OracleConstants:
    """The constants of an oracle in a phase, and of the threshold."""
    horizon = phase.oracle.horizon
    fixed = reward if horizon is None else reward.at(horizon)  # as it is then, if it changes with time
    scale, exponent, floor = threshold_rule(threshold, fixed.lipschitz)
    moving = reward.kernels.lipschitz if horizon is None else None
    return OracleConstants(
        oracle=step.entry.address,
        oracle_params=step.params,
        frank_wolfe=step.entry is frank_wolfe_step,
        reward=reward_calls(step, reward),
        dual_norm=dual(reward.norm),
        threshold=scale,
        threshold_power=exponent,
        threshold_floor=floor,
        moving_threshold=moving.address if threshold is None and moving is not None else 0,
        tau_offset=tau_offset,
    )


def phase_constants(agent: TocUCRL2, oracle: OracleConstants, delta: float, rows: int, sparse: bool) -> PhaseConstants:
    """The constants of an agent in a phase with that delta, after so many rows of logs."""
    confidence, kernels, laws = agent.confidence, agent.reward.kernels, agent.space.laws
    tolerance, tolerance_power, _ = tolerance_rule(agent.tolerance)
    floats, ints = kernel_numbers(confidence)
    proving, units = _proving(agent), count_layout(agent.space, sparse)
    options = agent.planner if isinstance(agent.planner, Planner) else Planner()
    return PhaseConstants(
        **oracle._asdict(),
        laws=None if laws is None else laws.arrays,
        first_pair=agent.space.first_pair,
        known_mask=units.known_mask,
        known_outcomes=units.known_outcomes,
        told=units.told,
        confidence=kernel_address(confidence),
        drawn=bool(confidence.drawn),
        timeless=bool(confidence.timeless),
        floats=floats,
        ints=ints,
        delta=delta,
        rows=rows,
        tolerance=tolerance,
        tolerance_power=tolerance_power,
        relaxation=options.relaxation or confidence.relaxation,
        sweep_limit=options.limit,
        pause=_pause(agent, options),
        growth=agent.visit_growth,
        warm_after=_warm_after(options),
        leaps=options.leaps,
        elsewhere=not isinstance(agent.planner, Planner),
        proving=proving,
        value=kernels.value.address if proving else 0,
        slope=kernels.gradient.address if proving == BY_TANGENT else 0,
        conjugate_argmax=kernels.conjugate_argmax.address if proving in (BY_CONJUGATE, BY_TANGENT) else 0,
    )


def _warm_after(planner: Planner) -> int:
    """The ends of an episode after which a plan starts from the last bias."""
    if planner.warm_start == AFTER_VISITS:
        return BY_VISITS
    return BY_GRADIENT | BY_VISITS | BY_RESTART if planner.warm_start else 0


def _pause(agent: TocUCRL2, options: Planner) -> int:
    """How many sweeps a kernel makes in one call; one, if the others are shared among threads."""
    laws, n_pairs = agent.space.laws, agent.space.n_pairs
    if laws is not None:
        return sweeps_per_call(laws.arrays.child.size)
    return 1 if worth_sharing(n_pairs) and not options.leaps else sweeps_per_call(n_pairs)


def _proving(agent: TocUCRL2) -> int:
    """How the plans of an agent bound the optimum."""
    if agent.confidence.caveat:
        return NOT_AT_ALL
    moving = agent.reward.kernels.lipschitz is not None
    if isinstance(agent.oracle, FrankWolfe) and not moving:  # theta is minus the gradient at the average at all times
        return AT_THE_AVERAGE
    return BY_CONJUGATE if agent.reward.exact_conjugate else BY_TANGENT
