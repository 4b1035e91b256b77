r"""The gradient threshold procedure on its own (lines 10, 11 and 14 to 16 of Algorithm TOC-UCRL2), without a model.

After each step the oracle makes theta_{t+1} from the outcomes, and the drift grows:

    Psi <- Psi + ||theta_{t+1} - theta_ref||_*.

When Psi > Q, theta_ref becomes theta_{t+1} and Psi zero. In between the scalar -theta_ref . V_t is a reward that does
not change, so that any learner of scalar rewards can follow it: the procedure needs neither states nor actions
("Practical Implementation", the last paragraph of the paper). The kernels are those of `TocUCRL2`: for the same
outcomes theta, theta_ref and Psi are the same, to the last bit, as in an agent whose episodes end by theta alone.

The paper's bounds are for its own learner. What is left of them here is what needs no learner: how often theta_ref
changes (`Oracle.theory.gradient_episodes`), and that while a theta_ref is in force, theta drifts from it by at most Q
in sum, but for the last step.
"""

# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, Final, NamedTuple, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from equipoise._compile import kernel
from equipoise._files import read_npz, write_npz
from equipoise._frames import framed
from equipoise._numbers import MOST
from equipoise.agents.base import check_kind
from equipoise.agents.kernels import move_theta, oracle_frame, threshold_at, threshold_of
from equipoise.agents.memory import GAUGE, as_plain, as_record
from equipoise.agents.parts import (
    asking,
    calls_of,
    check_declared,
    check_theory,
    first_theta_of,
    kernel_of,
    no_theta,
    phase_of,
    remembered,
)
from equipoise.agents.restoring import array_in, require
from equipoise.agents.schedules import Schedule, checked_threshold, threshold_rule
from equipoise.errors import FileError, OracleError, ParameterError, ProtocolError
from equipoise.oracles.base import Oracle
from equipoise.oracles.choice import fitting_oracle
from equipoise.oracles.frame import RewardCalls
from equipoise.oracles.frank_wolfe import frank_wolfe_step
from equipoise.rewards.base import Reward
from equipoise.rewards.norms import dual

CLOCK: Final = np.dtype(
    [
        ("time", np.int64),  # t: the time of the next step, from 1
        ("origin", np.int64),  # steps taken before the oracle's present phase
        ("phase", np.int64),  # number of that phase, from 1; 0 before the first
        ("referred", np.int64),  # whether theta_ref was taken in that phase
        ("changes", np.int64),  # how often theta_ref was replaced, the first one not counted
    ]
)
_MOST_PHASES: Final = 1 << 12  # as of an agent: later ones never come
_KIND: Final = "steering"
_VERSION: Final = 1
_CLOSE: Final = 1e-9  # how far the values of a reward may be from those in a file; a logarithm differs between machines


class Steered(NamedTuple):
    """What the procedure remembers; the names are those of an agent's `Memory`."""

    total: NDArray[np.float64]
    average: NDArray[np.float64]
    theta: NDArray[np.float64]
    reference: NDArray[np.float64]
    oracle: NDArray[np.float64]
    clock: NDArray[np.void]
    gauge: NDArray[np.void]


class SteeringBuffers(NamedTuple):
    """Scratch for one step; the names are those of an agent's `Buffers`."""

    outcome: NDArray[np.float64]
    limit: NDArray[np.float64]
    oracle: NDArray[np.float64]


class SteeringMachine(NamedTuple):
    """All arrays that the kernels work on."""

    memory: Steered
    buffers: SteeringBuffers


class SteeringRules(NamedTuple):
    """What does not change within a phase; the names are those of an agent's `Rules`."""

    oracle: int
    oracle_params: NDArray[np.float64]
    frank_wolfe: bool
    reward: RewardCalls
    dual_norm: float
    threshold: float
    threshold_power: float
    threshold_floor: float
    moving_threshold: int
    tau_origin: int


@kernel
def take_in(machine, rules):
    """Lines 14 to 16: the outcomes in the buffer are averaged, theta_{t+1} is made, and Psi grows."""
    memory, outcome = machine.memory, machine.buffers.outcome
    clock = memory.clock[0]
    t = clock.time
    for k in range(outcome.shape[0]):
        memory.total[k] += outcome[k]
        memory.average[k] = memory.total[k] / t
    frame = framed(oracle_frame(machine, rules))
    memory.gauge[0].drift += move_theta(memory, rules, frame, t, t - clock.origin)
    clock.time = t + 1


@kernel
def beyond(machine, rules):
    """Whether Psi > Q; also if Psi is not a number, so that it is noticed."""
    memory = machine.memory
    return not memory.gauge[0].drift <= threshold_at(machine, rules, memory.clock[0].time)


@kernel
def refer(machine, rules):
    """Line 10: theta_ref = theta and Psi = 0. False, and nothing is done, if theta is not finite."""
    memory = machine.memory
    for k in range(memory.theta.shape[0]):
        if not abs(memory.theta[k]) < np.inf:
            return False
    for k in range(memory.theta.shape[0]):
        memory.reference[k] = memory.theta[k]
    clock, gauge = memory.clock[0], memory.gauge[0]
    gauge.drift = 0.0
    gauge.threshold = threshold_of(rules, clock.time - rules.tau_origin, 0.0)
    clock.referred = 1
    return True


@final
class Steering:
    """theta, theta_ref and the drift between them, for a learner of one's own.

    Parameters
    ----------
    reward : Reward
        The concave g, to be maximised at the average outcome vector.
    oracle : Oracle, optional
        None: the one that fits the reward, see `eq.oracles.fitting_oracle`.
    threshold : float or Schedule, optional
        Q. None: the Lipschitz constant of g; 0: theta_ref follows every step; `math.inf`: it never changes, but for
        the restarts of an oracle that has some. `Power` changes it with time; `Span` needs a plan, and is refused.

    See Also
    --------
    equipoise.adapters.GradientThreshold : For environments of Gymnasium.

    Examples
    --------
    Two outcomes that should be equal; the scalar reward changes sides by itself.

    >>> import equipoise as eq
    >>> steering = Steering(eq.rewards.Quadratic([0.5, 0.5]))
    >>> for _ in range(1000):
    ...     worth = -steering.theta_ref  # of a unit of each outcome: the learner's scalar reward is worth @ outcomes
    ...     steering.observe([1.0, 0.0] if worth[0] > worth[1] else [0.0, 1.0])
    ...     moved = steering.turn()
    >>> steering.average.round(1).tolist(), steering.changes < 100
    ([0.5, 0.5], True)
    """

    _machine: SteeringMachine
    _rules: SteeringRules

    def __init__(self, reward: Reward, oracle: Oracle | None = None, threshold: float | Schedule | None = None) -> None:
        check_kind(reward, Reward, "reward", "eq.rewards.Quadratic(target)")
        check_declared(reward)
        self.reward = reward
        self.oracle = fitting_oracle(reward) if oracle is None else oracle
        check_kind(self.oracle, Oracle, "oracle", "eq.oracles.FrankWolfe()")
        with asking(self.oracle, "check", OracleError):
            self.oracle.check(reward)
        check_theory(self.oracle)
        self.threshold = checked_threshold(threshold, reward)
        if threshold_rule(self.threshold, reward.lipschitz).floor > 0.0:
            raise ParameterError(
                f"threshold: {threshold!r} is made of the span of a plan, and here nothing plans; a number, a Power, "
                "or None is needed"
            )
        clock = np.zeros(1, dtype=CLOCK)
        clock["time"] = 1
        K, step = reward.n_outcomes, kernel_of(self.oracle, reward)
        total, average, theta, reference = (np.zeros(K) for _ in range(4))
        memory = Steered(
            total, average, theta, reference, np.zeros(remembered(step, reward)), clock, np.zeros(1, GAUGE)
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
        return self._machine.memory.theta.copy()

    @property
    def theta_ref(self) -> NDArray[np.float64]:
        """What theta was when it was last turned to; -theta_ref is what a unit of each outcome is worth."""
        return self._machine.memory.reference.copy()

    @property
    def drift(self) -> float:
        """Psi: how far theta has been from theta_ref, summed over the steps since that was taken."""
        return float(self._machine.memory.gauge["drift"][0])

    @property
    def average(self) -> NDArray[np.float64]:
        """The average outcome vector so far; zero before the first step."""
        return self._machine.memory.total / max(1, self.t - 1)

    @property
    def changes(self) -> int:
        """How often theta_ref was replaced by another."""
        return int(self._now["changes"])

    @property
    def due(self) -> bool:
        """Whether theta_ref is to be replaced before the next step: Psi > Q, or the oracle starts anew."""
        return self._phase_is_over() or self._now["referred"] == 0 or bool(beyond(self._machine, self._rules))

    # -- steering ---------------------------------------------------------------------------------------

    def observe(self, outcomes: ArrayLike) -> None:
        """Take in the outcomes of one step: the average, theta and the drift.

        Parameters
        ----------
        outcomes : array of float
            K numbers in [0, 1].

        Raises
        ------
        ProtocolError
            When they are not such numbers, or when the horizon that the oracle is made for is over.
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
        self._machine.buffers.outcome[:] = vector
        take_in(self._machine, self._rules)

    def turn(self) -> bool:
        """Replace theta_ref by theta if that is `due`; says whether it was.

        A learner that cannot have its reward changed at any time calls it when it can.

        Raises
        ------
        RewardError, OracleError
            When theta is not a number.
        """
        if not self.due:
            return False
        self._begin_phase_if_due()
        first = self._now["phase"] == 1 and self._now["referred"] == 0
        memory = self._machine.memory
        if not refer(self._machine, self._rules):
            raise no_theta(self._phase.oracle, self.reward, self.t, self.average, memory.theta.copy())
        self._now["changes"] += not first
        return True

    # -- keeping ----------------------------------------------------------------------------------------

    def memory(self) -> dict[str, NDArray[Any]]:
        """All that decides what comes next, as plain arrays by name."""
        return {name: as_plain(part).copy() for name, part in self._machine.memory._asdict().items()}

    def restore(self, memory: Mapping[str, Any]) -> None:
        """Go on from what `memory` gave, of a steering made of the same parts.

        Parameters
        ----------
        memory : mapping
            The arrays by name.

        Raises
        ------
        FileError
            When they are not such arrays.
        """
        fresh = self._machine.memory
        parts = {
            name: as_record(array_in(memory, name, as_plain(part)), part) for name, part in fresh._asdict().items()
        }
        kept = Steered(**parts)
        clock = kept.clock[0]
        steps, phase = int(clock["time"]) - 1, int(clock["phase"])
        present = self.oracle.phase(min(max(1, phase), _MOST_PHASES))
        require(
            0 <= steps <= (self.oracle.horizon or MOST)
            and 1 <= phase <= (_MOST_PHASES if self.oracle.phase(1).length is not None else 1)
            and clock["origin"] == present.origin
            and 0 <= steps - int(clock["origin"]) <= (present.length or MOST)
            and clock["referred"] in (0, 1)
            and 0 <= clock["changes"] <= steps
            and np.all((kept.total >= 0.0) & (kept.total <= steps)),
            "its arrays do not fit together",
        )
        self._adopt(kept)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write everything that it remembers to one file, atomically.

        Parameters
        ----------
        path : path
            The file; an ordinary .npz without pickle.

        Raises
        ------
        FileError
            When it cannot be written.
        """
        write_npz(path, self.memory(), self._identity(), _KIND, _VERSION)

    def resume(self, path: str | os.PathLike[str]) -> None:
        """Go on, bit for bit, from a file written by `save`.

        Parameters
        ----------
        path : path
            The file. It must be of the same reward, oracle and threshold.

        Raises
        ------
        FileError
            When the file is missing, damaged, or of another reward, oracle or threshold.
        """
        header, arrays = read_npz(path, _KIND, _VERSION)
        own = self._identity()
        for part, ours in own.items():
            theirs = header.get(part)
            alike = theirs == ours or (part == "fingerprint" and _close(theirs, ours))
            if not alike:
                raise FileError(f"{path}: its {part} is {theirs!r}; this steering has {ours!r}")
        self.restore(arrays)

    def __repr__(self) -> str:
        made_of = f"{self.reward!r}, oracle={self.oracle!r}, threshold={self.threshold!r}"
        return f"{type(self).__name__}({made_of}; t={self.t})"

    def __getstate__(self) -> dict[str, Any]:
        parts = {name: getattr(self, name) for name in ("reward", "oracle", "threshold")}
        return parts | {"memory": self._machine.memory}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.reward, self.oracle, self.threshold = state["reward"], state["oracle"], state["threshold"]
        self._adopt(state["memory"])  # compiled code has another address in another process

    # -- inside -----------------------------------------------------------------------------------------

    def _identity(self) -> dict[str, Any]:
        """What a file must agree with; a reward by its values, as functions have no name."""
        parts = {"oracle": repr(self.oracle), "threshold": repr(self.threshold)}
        return {"reward": type(self.reward).__name__, "fingerprint": self.reward.fingerprint(), **parts}

    @property
    def _now(self) -> Any:
        return self._machine.memory.clock[0]

    def _adopt(self, memory: Steered) -> None:
        buffers = SteeringBuffers(np.zeros(self.reward.n_outcomes), np.zeros(1), np.zeros(0))
        self._machine = SteeringMachine(memory, buffers)
        self._set_up_phase()

    def _phase_is_over(self) -> bool:
        clock = self._now
        if clock["phase"] == 0:
            return True
        return self._phase.length is not None and int(clock["time"]) - 1 - int(clock["origin"]) >= self._phase.length

    def _begin_phase_if_due(self) -> None:
        """As of an agent: the oracle starts anew when its phase is over, and nothing else does."""
        if not self._phase_is_over():
            return
        clock, memory = self._now, self._machine.memory
        clock["phase"] += 1
        clock["origin"] = clock["time"] - 1
        clock["referred"] = 0
        memory.theta[:] = first_theta_of(phase_of(self.oracle, int(clock["phase"])).oracle, self.reward)
        memory.oracle[:] = 0.0
        self._set_up_phase()

    def _set_up_phase(self) -> None:
        number = max(1, int(self._now["phase"]))
        self._phase = phase_of(self.oracle, number)
        step = kernel_of(self._phase.oracle, self.reward)
        memory, buffers = self._machine
        if remembered(step, self.reward) > memory.oracle.size:
            raise OracleError(
                f"oracle: {self.oracle!r} remembers {memory.oracle.size} numbers, and {remembered(step, self.reward)} "
                f"in phase {number}; its `kernel` must ask for the most that any phase needs"
            )
        if buffers.oracle.size != step.scratch:
            self._machine = self._machine._replace(buffers=buffers._replace(oracle=np.zeros(step.scratch)))
        threshold, power, floor = threshold_rule(self.threshold, self.reward.lipschitz)
        moving = self.reward.kernels.lipschitz
        self._rules = SteeringRules(
            oracle=step.entry.address,
            oracle_params=step.params,
            frank_wolfe=step.entry is frank_wolfe_step,
            reward=calls_of(step, self.reward),
            dual_norm=dual(self.reward.norm),
            threshold=threshold,
            threshold_power=power,
            threshold_floor=floor,
            moving_threshold=moving.address if self.threshold is None and moving is not None else 0,
            tau_origin=0 if self._phase.inherit else int(self._now["origin"]),
        )


def _close(theirs: Any, ours: list[float]) -> bool:
    try:
        values = np.array(theirs, dtype=np.float64)
    except (TypeError, ValueError):
        return False
    return values.shape == (len(ours),) and bool(np.allclose(values, ours, rtol=_CLOSE, atol=_CLOSE))
