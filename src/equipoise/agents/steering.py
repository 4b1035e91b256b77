r"""The gradient threshold procedure without a model (lines 10, 11 and 14 to 16 of Algorithm TOC-UCRL2).

After each step the oracle makes theta_{t+1} from the outcomes, and the drift grows:

    Psi <- Psi + ||theta_{t+1} - theta_ref||_*.

When Psi > Q, theta_ref becomes theta_{t+1} and Psi zero. In between the scalar -theta_ref . V_t is a fixed reward,
which any learner of scalar rewards can maximise: the procedure needs neither states nor actions ("Practical
Implementation", the last paragraph of the paper). It uses the kernels and the phases of `TocUCRL2`: for the same
outcomes theta, theta_ref and Psi are bit-identical to those of an agent whose episodes end by theta alone.

The paper's bounds are for its own learner. Two of them need no learner and hold here: how often theta_ref changes
(`Oracle.theory.gradient_episodes`), and that the distances of theta from one theta_ref sum to at most Q, but for the
last step.
"""

# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, Final, NamedTuple, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from equipoise._files import blaming, ensure, load_array, read_npz, write_npz
from equipoise._runtime.compiler import kernel
from equipoise._runtime.frames import framed
from equipoise.agents.kernels import move_theta, oracle_frame, threshold_at, threshold_of
from equipoise.agents.phase import (
    OracleConstants,
    begin_phase,
    check_kind,
    check_oracle,
    check_reward,
    clock_fits_oracle,
    get_oracle_kernel,
    is_phase_due,
    memory_size,
    nonfinite_theta_error,
    oracle_constants,
    set_up_phase,
)
from equipoise.agents.schedules import Schedule, check_threshold, threshold_rule
from equipoise.agents.state import DRIFT_STATE, as_plain, as_record
from equipoise.errors import FileError, ParameterError, ProtocolError
from equipoise.oracles.base import Oracle
from equipoise.oracles.choice import fitting_oracle
from equipoise.rewards.base import Reward

CLOCK: Final = np.dtype(
    [
        ("time", np.int64),  # t: the time of the next step, from 1
        ("origin", np.int64),  # steps taken before the oracle's present phase
        ("phase", np.int64),  # number of that phase, from 1; 0 before the first
        ("referred", np.int64),  # whether theta_ref was taken in that phase
        ("changes", np.int64),  # how often theta_ref was replaced, the first one not counted
    ]
)
_KIND: Final = "steering"
_VERSION: Final = 1
_CLOSE: Final = 1e-9  # how far the values of a reward may be from those in a file; a logarithm differs between machines


class SteeringMemory(NamedTuple):
    """What the procedure remembers; the names are those of an agent's `Memory`."""

    total: NDArray[np.float64]
    average: NDArray[np.float64]
    theta: NDArray[np.float64]
    reference: NDArray[np.float64]
    oracle: NDArray[np.float64]
    clock: NDArray[np.void]
    drift_state: NDArray[np.void]


class SteeringBuffers(NamedTuple):
    """Scratch for one step; the names are those of an agent's `Buffers`."""

    outcome: NDArray[np.float64]
    limit: NDArray[np.float64]
    oracle: NDArray[np.float64]


class SteeringArrays(NamedTuple):
    """All arrays that the kernels work on."""

    memory: SteeringMemory
    buffers: SteeringBuffers


@kernel
def take_in(arrays, constants):
    """Lines 14 to 16: the outcomes in the buffer are averaged, theta_{t+1} is made, and Psi grows."""
    memory, outcome = arrays.memory, arrays.buffers.outcome
    clock = memory.clock[0]
    t = clock.time
    for k in range(outcome.shape[0]):
        memory.total[k] += outcome[k]
        memory.average[k] = memory.total[k] / t
    frame = framed(oracle_frame(arrays, constants))
    memory.drift_state[0].drift += move_theta(memory, constants, frame, t, t - clock.origin)
    clock.time = t + 1


@kernel
def beyond(arrays, constants):
    """Whether Psi > Q; also if Psi is not a number, so that it is noticed."""
    memory = arrays.memory
    return not memory.drift_state[0].drift <= threshold_at(arrays, constants, memory.clock[0].time)


@kernel
def refer(arrays, constants):
    """Line 10: theta_ref = theta and Psi = 0. False, and nothing is done, if theta is not finite."""
    memory = arrays.memory
    for k in range(memory.theta.shape[0]):
        if not abs(memory.theta[k]) < np.inf:
            return False
    for k in range(memory.theta.shape[0]):
        memory.reference[k] = memory.theta[k]
    clock, drift_state = memory.clock[0], memory.drift_state[0]
    drift_state.drift = 0.0
    drift_state.threshold = threshold_of(constants, clock.time - constants.tau_offset, 0.0)
    clock.referred = 1
    return True


@final
class Steering:
    """theta, theta_ref and the drift between them, for a learner of your own.

    Parameters
    ----------
    reward : Reward
        The concave g, to be maximised at the average outcome vector.
    oracle : Oracle, optional
        None: the one that fits the reward, see `eq.oracles.fitting_oracle`.
    threshold : float or Schedule, optional
        Q. None: the Lipschitz constant of g; 0: theta_ref follows every step; `math.inf`: it changes only when the
        oracle restarts. `Power` changes Q with time; `Span` needs a plan and raises an error.

    See Also
    --------
    equipoise.adapters.GradientThreshold : For environments of Gymnasium.

    Examples
    --------
    Two outcomes that should be equal; the scalar reward changes when one is ahead.

    >>> import equipoise as eq
    >>> steering = Steering(eq.rewards.Quadratic([0.5, 0.5]))
    >>> for _ in range(1000):
    ...     worth = -steering.theta_ref  # of a unit of each outcome: the learner's scalar reward is worth @ outcomes
    ...     steering.observe([1.0, 0.0] if worth[0] > worth[1] else [0.0, 1.0])
    ...     moved = steering.turn()
    >>> steering.average.round(1).tolist(), steering.changes < 100
    ([0.5, 0.5], True)
    """

    _arrays: SteeringArrays
    _constants: OracleConstants

    def __init__(self, reward: Reward, oracle: Oracle | None = None, threshold: float | Schedule | None = None) -> None:
        check_kind(reward, Reward, "reward", "eq.rewards.Quadratic(target)")
        check_reward(reward)
        self.reward = reward
        self.oracle = fitting_oracle(reward) if oracle is None else oracle
        check_oracle(self.oracle, reward)
        self.threshold = check_threshold(threshold, reward)
        if threshold_rule(self.threshold, reward.lipschitz).floor > 0.0:
            raise ParameterError(
                f"threshold: {threshold!r} is made of the span of a plan, and here nothing plans; a number, a Power, "
                "or None is needed"
            )
        clock = np.zeros(1, dtype=CLOCK)
        clock["time"] = 1
        K, step = reward.n_outcomes, get_oracle_kernel(self.oracle, reward)
        total, average, theta, reference = (np.zeros(K) for _ in range(4))
        memory = SteeringMemory(
            total, average, theta, reference, np.zeros(memory_size(step, reward)), clock, np.zeros(1, DRIFT_STATE)
        )
        self._adopt(memory)
        self.turn()

    # -- what a user may look at ------------------------------------------------------------------------

    @property
    def t(self) -> int:
        """The time of the next step, from 1."""
        return int(self._now["time"])

    @property
    def theta(self) -> NDArray[np.float64]:
        """theta_t: minus a supergradient of g."""
        return self._arrays.memory.theta.copy()

    @property
    def theta_ref(self) -> NDArray[np.float64]:
        """Theta at the last `turn`; -theta_ref is the scalar reward of a unit of each outcome."""
        return self._arrays.memory.reference.copy()

    @property
    def drift(self) -> float:
        """Psi: the distance of theta from theta_ref, summed over the steps since the last change of theta_ref."""
        return float(self._arrays.memory.drift_state["drift"][0])

    @property
    def average(self) -> NDArray[np.float64]:
        """The average outcome vector so far; zero before the first step."""
        return self._arrays.memory.total / max(1, self.t - 1)

    @property
    def changes(self) -> int:
        """How often theta_ref was replaced."""
        return int(self._now["changes"])

    @property
    def due(self) -> bool:
        """Whether theta_ref must be replaced before the next step: Psi > Q, or the oracle restarts."""
        return (
            is_phase_due(self._phase, self._now)
            or self._now["referred"] == 0
            or bool(beyond(self._arrays, self._constants))
        )

    # -- steering ---------------------------------------------------------------------------------------

    def observe(self, outcomes: ArrayLike) -> None:
        """Process the outcomes of one step: update the average, theta and the drift.

        Parameters
        ----------
        outcomes : array of float
            K numbers in [0, 1].

        Raises
        ------
        ProtocolError
            If they are not such numbers, or if the horizon of the oracle is over.
        """
        try:
            vector = np.atleast_1d(np.asarray(outcomes, dtype=np.float64))
        except (TypeError, ValueError, OverflowError):
            raise ProtocolError(f"outcomes: got {outcomes!r}; a vector of numbers is needed") from None
        if vector.shape != (self.reward.n_outcomes,):
            raise ProtocolError(f"outcomes: got shape {vector.shape}; {self.reward.n_outcomes} numbers are needed")
        wrong = np.flatnonzero(~((vector >= 0) & (vector <= 1)))
        if wrong.size:
            raise ProtocolError(f"outcomes, outcome {wrong[0]}: got {vector[wrong[0]]}; it must lie in [0, 1]")
        if self.oracle.horizon is not None and self.t > self.oracle.horizon:
            raise ProtocolError(f"the horizon of {self.oracle.horizon} steps that the oracle is made for is over")
        self._begin_phase_if_due()  # which nobody has done if theta_ref was held
        self._arrays.buffers.outcome[:] = vector
        take_in(self._arrays, self._constants)

    def turn(self) -> bool:
        """Replace theta_ref by theta if that is `due`; returns whether it was.

        A learner whose reward can change only at certain times calls it at those.

        Raises
        ------
        RewardError, OracleError
            If theta is not a number.
        """
        if not self.due:
            return False
        self._begin_phase_if_due()
        first = self._now["phase"] == 1 and self._now["referred"] == 0
        memory = self._arrays.memory
        if not refer(self._arrays, self._constants):
            raise nonfinite_theta_error(self._phase.oracle, self.reward, self.t, self.average, memory.theta.copy())
        self._now["changes"] += not first
        return True

    # -- keeping ----------------------------------------------------------------------------------------

    def memory(self) -> dict[str, NDArray[Any]]:
        """The state of the procedure, as plain arrays by name."""
        return {name: as_plain(part).copy() for name, part in self._arrays.memory._asdict().items()}

    def restore(self, memory: Mapping[str, Any]) -> None:
        """Continue from what `memory` of a steering with the same parts returned.

        Parameters
        ----------
        memory : mapping
            The arrays by name.

        Raises
        ------
        FileError
            If they are not such arrays.
        """
        fresh = self._arrays.memory
        parts = {
            name: as_record(load_array(memory, name, as_plain(part)), part) for name, part in fresh._asdict().items()
        }
        kept = SteeringMemory(**parts)
        clock = kept.clock[0]
        steps = int(clock["time"]) - 1
        ensure(
            clock_fits_oracle(self.oracle, clock)
            and clock["phase"] >= 1
            and clock["referred"] in (0, 1)
            and 0 <= clock["changes"] <= steps,
            "the array 'clock' has numbers that its oracle never reaches",
        )
        total = kept.total
        ensure(np.all((total >= 0.0) & (total <= steps)), "the array 'total' is not of so many outcomes in [0, 1]")
        ensure(np.array_equal(kept.average, total / max(1, steps)), "the array 'average' is not that of its total")
        for name in ("theta", "reference"):
            ensure(np.all(np.isfinite(getattr(kept, name))), f"the array {name!r} is not finite")
        drift, threshold = kept.drift_state[0]["drift"], kept.drift_state[0]["threshold"]
        ensure(drift >= 0.0 and threshold >= 0.0, "the array 'drift_state' is negative or not a number")
        self._adopt(kept)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the state to one file, atomically.

        Parameters
        ----------
        path : path
            The file; an ordinary .npz without pickle.

        Raises
        ------
        FileError
            If it cannot be written.
        """
        write_npz(path, self.memory(), self._identity(), _KIND, _VERSION)

    def resume(self, path: str | os.PathLike[str]) -> None:
        """Continue bit-identically from a file written by `save`.

        Parameters
        ----------
        path : path
            The file. It must be of the same reward, oracle and threshold.

        Raises
        ------
        FileError
            If the file is missing, damaged, or of another reward, oracle or threshold.
        """
        header, arrays = read_npz(path, _KIND, _VERSION)
        own = self._identity()
        for part, ours in own.items():
            theirs = header.get(part)
            alike = theirs == ours or (part == "fingerprint" and _is_close(theirs, ours))
            if not alike:
                raise FileError(f"{path}: its {part} is {theirs!r}; this steering has {ours!r}")
        with blaming(path, "holds no steering that can go on"):
            self.restore(arrays)

    def __repr__(self) -> str:
        made_of = f"{self.reward!r}, oracle={self.oracle!r}, threshold={self.threshold!r}"
        return f"{type(self).__name__}({made_of}; t={self.t})"

    def __getstate__(self) -> dict[str, Any]:
        parts = {name: getattr(self, name) for name in ("reward", "oracle", "threshold")}
        return parts | {"memory": self._arrays.memory}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.reward, self.oracle, self.threshold = state["reward"], state["oracle"], state["threshold"]
        self._adopt(state["memory"])  # compiled code has another address in another process

    # -- inside -----------------------------------------------------------------------------------------

    def _identity(self) -> dict[str, Any]:
        """What a file must agree with; a reward is compared by its values, as functions have no name."""
        parts = {"oracle": repr(self.oracle), "threshold": repr(self.threshold)}
        return {"reward": type(self.reward).__name__, "fingerprint": self.reward.fingerprint(), **parts}

    @property
    def _now(self) -> Any:
        return self._arrays.memory.clock[0]

    def _adopt(self, memory: SteeringMemory) -> None:
        buffers = SteeringBuffers(np.zeros(self.reward.n_outcomes), np.zeros(1), np.zeros(0))
        self._arrays = SteeringArrays(memory, buffers)
        self._set_up_phase()

    def _begin_phase_if_due(self) -> None:
        """Restart the oracle if its phase is over; the average and theta_ref stay."""
        if is_phase_due(self._phase, self._now):
            begin_phase(self.oracle, self.reward, self._arrays.memory)
            self._now["referred"] = 0
            self._set_up_phase()

    def _set_up_phase(self) -> None:
        memory, buffers = self._arrays
        self._phase, step, scratch = set_up_phase(self.oracle, self.reward, memory, buffers.oracle)
        self._arrays = SteeringArrays(memory, buffers._replace(oracle=scratch))
        forgotten = 0 if self._phase.inherit else int(self._now["origin"])
        self._constants = oracle_constants(self.reward, self._phase, step, self.threshold, forgotten)


def _is_close(theirs: Any, ours: list[float]) -> bool:
    try:
        values = np.array(theirs, dtype=np.float64)
    except (TypeError, ValueError):
        return False
    return values.shape == (len(ours),) and bool(np.allclose(values, ours, rtol=_CLOSE, atol=_CLOSE))
