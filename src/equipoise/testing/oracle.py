"""The contract of oracles: clauses follow the compiled step on random and on adversarial sequences of outcomes.

**Regret term.** The theorems use of an oracle that for every w in the box, with certainty,

    g(w) - g(average of V_1 .. V_T) <= term(T) + (1/T) sum over t <= T of (-theta_t).(w - V_t).

The largest of g(w) + (mean of theta_t).w over the box is g* of the mean, so all w are tried at once:

    g*(mean of theta_t) - (1/T) sum of theta_t.V_t - g(average) <= term(T).

For a descent it follows from its regret on f_t(theta) = g*(theta) - theta.V_t, as g* is convex and
g(average) = min over theta of the mean of f_t(theta); for Frank-Wolfe from smoothness.

**Mirror maps.** For any two thetas in the domain of F (minus supergradients, thetas of paths, and mixtures), with |.|
the dual norm,

    F at the middle  <=  the mean of F at both ends  -  |one - other|^2 / 8,

which for a continuous F is to be 1-strongly convex. As eta Z.theta + F(theta) is strongly convex too, its minimiser
over the domain is theta_{t+1} exactly if every other theta is worse by at least |theta - theta_{t+1}|^2 / 2.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, Final

import numpy as np

from equipoise._runtime.compiler import Entry
from equipoise._types import Index, Vector
from equipoise.agents.toc_ucrl2 import TocUCRL2
from equipoise.errors import ContractError, OracleError
from equipoise.models.standard import garnet
from equipoise.oracles.base import Oracle, OracleKernel, OracleTheory, Phase
from equipoise.oracles.descent import TunedMirrorDescent
from equipoise.oracles.frame import OracleFrame
from equipoise.rewards.audit import box_points, show
from equipoise.rewards.base import Reward
from equipoise.rewards.distance import TargetDistance
from equipoise.rewards.entropy import Entropy
from equipoise.rewards.norms import dual, length
from equipoise.rewards.ordered import BottomSum
from equipoise.rewards.separable import Linear, Quadratic
from equipoise.testing._oracle_paths import GUARD, MARK, Leg, Moment, legs, padded, remembered, sources, take_step, walk
from equipoise.testing._shared import demand_copies, demand_resumes, name_clauses

_STEPS: Final = 300
_FEW_STEPS: Final = 30
_PHASES: Final = 12  # how many phases are looked at
_SEED: Final = 5
_POINTS: Final = 40  # of the box, and mixtures
_SLACK: Final = 1e-9  # what rounding may cost, relative to the size of the numbers compared
_CALLS: Final = ("gradient", "conjugate_argmax")
_VECTORS: Final = ("theta", "outcome", "average", "memory")  # of a `Moment`
_WRITTEN: Final = ("theta", "memory", "scratch")  # what a step may change
_THRESHOLDS: Final = (0.03, 0.3, 3.0, 30.0)  # Q, in multiples of L


def check_oracle(oracle: Oracle, reward: Reward) -> None:
    """Check that an oracle keeps its contract; a `ContractError` names the clause, what was given and the numbers.

    Parameters
    ----------
    oracle : Oracle
        The one to check.
    reward : Reward
        One that it is for.

    Examples
    --------
    >>> from equipoise.oracles import FrankWolfe
    >>> from equipoise.rewards import Quadratic
    >>> check_oracle(FrankWolfe(), Quadratic([0.5, 0.2]))
    """
    for clause in ORACLE_CLAUSES.values():
        clause(oracle, reward)


def says_what_it_is(oracle: Oracle, reward: Reward) -> None:
    """It is an oracle with a step that can be called; a copy of it, and one made of its arguments, is the same."""
    clause = "says_what_it_is"
    if not isinstance(oracle, Oracle):
        raise ContractError(f"{clause}: got {type(oracle).__name__}; an Oracle is needed")
    demand_copies(clause, oracle)
    if not isinstance(oracle.theory, OracleTheory):
        raise ContractError(f"{clause}: theory: got {oracle.theory!r}; an OracleTheory is needed")
    horizon: Any = oracle.horizon
    if horizon is not None and (not isinstance(horizon, int) or horizon < 1):
        raise ContractError(f"{clause}: horizon: got {horizon!r}; a number of steps, or None, is needed")
    _demand_kernel(clause, oracle, reward)


def refuses_what_does_not_fit(oracle: Oracle, reward: Reward) -> None:
    """`check` accepts its reward; another it refuses with an `OracleError`, or is in order with that one too."""
    clause = "refuses_what_does_not_fit"
    if (error := _refusal(clause, oracle, reward)) is not None:
        raise ContractError(f"{clause}: check refuses {reward!r}, which it should fit ({error})")
    for other in _others(reward.n_outcomes):
        if _refusal(clause, oracle, other) is not None:
            continue
        blamed = f"{clause}: check accepts {other!r}, and there"
        try:
            for source in sources(other.n_outcomes, _SEED).values():
                for leg in legs(oracle, other, source, _steps(oracle, _FEW_STEPS)):
                    _demand_within(blamed, other, leg)
        except ContractError:
            raise
        except Exception as trouble:  # whatever follows from a reward that it does not fit
            raise ContractError(f"{blamed} {type(trouble).__name__} was raised: {trouble}") from trouble


def starts_within_reach(oracle: Oracle, reward: Reward) -> None:
    """theta_1 of every phase has K finite numbers, and lies in the dual ball of radius L."""
    for index, phase in _phases(oracle):
        theta: Any = phase.oracle.initial_theta(reward)
        where = f"starts_within_reach: phase {index}: the first theta"
        if not isinstance(theta, np.ndarray) or theta.shape != (reward.n_outcomes,) or theta.dtype != np.float64:
            raise ContractError(f"{where} is {theta!r}; a float64 vector of {reward.n_outcomes} numbers is needed")
        _demand_in_ball(where, _in_force(phase, reward, 1), theta)


def writes_only_its_own(oracle: Oracle, reward: Reward) -> None:
    """A step writes theta, its memory and its scratch, nothing around them, and none of what it is given to read."""
    for where, kernel, moment in _some_steps(oracle, reward):
        vectors = {name: getattr(moment, name) for name in _VECTORS} | {
            "scratch": np.zeros(kernel.scratch),
            "params": np.array(kernel.params, dtype=np.float64, ndmin=1),
            "the reward's params": reward.params,
        }
        wider = {name: padded(vector) for name, vector in vectors.items()}
        inner = {name: within for name, (_, within) in wider.items()}
        given = Moment(moment.t, moment.local, *(inner[name] for name in _VECTORS))
        own = kernel._replace(params=inner["params"])
        take_step(own, reward, given, inner["scratch"], inner["the reward's params"])
        for name, (wide, within) in wider.items():
            if np.any(wide[:GUARD] != MARK) or np.any(wide[GUARD + within.size :] != MARK):
                raise ContractError(
                    f"writes_only_its_own: {where}: it writes beyond the {within.size} numbers of {name}"
                )
            if name not in _WRITTEN and not np.array_equal(within, vectors[name]):
                was, now = show(vectors[name]), show(within)
                raise ContractError(f"writes_only_its_own: {where}: it changes {name} from {was} to {now}")


def is_a_function_of_what_it_is_given(oracle: Oracle, reward: Reward) -> None:
    """The same inputs give the same bits, whatever was left in the scratch."""
    for where, kernel, moment in _some_steps(oracle, reward):
        answers = []
        for left in (0.0, math.nan, MARK):
            given = moment._replace(theta=moment.theta.copy(), memory=moment.memory.copy())
            take_step(kernel, reward, given, np.full(kernel.scratch, left), reward.params)
            answers.append((given.theta, given.memory))
        for again in answers[1:]:
            for name, one, other in zip(("theta", "memory"), answers[0], again, strict=True):
                if one.tobytes() != other.tobytes():
                    raise ContractError(
                        f"is_a_function_of_what_it_is_given: {where}: {name} is {show(one)}, and when called again "
                        f"{show(other)}; the scratch held other numbers"
                    )


def stays_within_reach(oracle: Oracle, reward: Reward) -> None:
    """Theta stays finite, and in the dual ball of radius L, where minus all supergradients lie."""
    for name, path in _paths(oracle, reward):
        for leg in path:
            _demand_within(f"stays_within_reach: {name}:", reward, leg)


def has_phases_that_follow_one_another(oracle: Oracle, reward: Reward) -> None:
    """Phases begin where those before end, fit the reward, and spend no more than delta together."""
    clause, begun, spent, level = "has_phases_that_follow_one_another", 0, 0.0, 0.0
    most = remembered(oracle.kernel(reward), reward)
    for index, phase in _phases(oracle):
        where = f"{clause}: phase {index}"
        if repr(phase) != repr(oracle.phase(index)):
            raise ContractError(f"{where}: it is {phase!r}, and when asked again {oracle.phase(index)!r}")
        if phase.length is not None and not phase.length >= 1:
            raise ContractError(f"{where}: its length is {phase.length!r}; a number of steps, or None, is needed")
        if phase.origin != begun:
            raise ContractError(f"{where}: its origin is {phase.origin}; {begun} steps were taken before it")
        if not 0.0 < phase.share <= 1.0:
            raise ContractError(f"{where}: its share of delta is {phase.share!r}; one in (0, 1] is needed")
        spent, level = (spent, max(level, phase.share)) if phase.inherit else (spent + level, phase.share)
        if spent + level > 1.0 + _SLACK:
            raise ContractError(f"{where}: up to it {spent + level:.9g} of delta is spent; 1 is all there is")
        horizon = phase.oracle.horizon
        too_long = horizon is not None and (phase.length is None or phase.length > horizon)
        if too_long and phase.oracle is not oracle:  # the horizon of the oracle itself ends its only phase
            raise ContractError(f"{where}: it has {phase.length} steps, and {phase.oracle!r} is made for {horizon}")
        _demand_kernel(where, phase.oracle, reward)
        if remembered(phase.oracle.kernel(reward), reward) > most:
            needs = remembered(phase.oracle.kernel(reward), reward)
            raise ContractError(f"{where}: it remembers {needs} numbers; the oracle's own kernel asks for {most}")
        if phase.length is None:
            return
        begun += phase.length


def keeps_its_regret_term(oracle: Oracle, reward: Reward) -> None:
    """If it declares its own term of the regret: that holds on every path, at every T."""
    term = oracle.theory.regret_term
    if term is None or reward.at(1) is not reward:  # the theorems are for rewards that stay what they are
        return
    for name, path in _paths(oracle, reward):
        parts = list(path)
        thetas = np.concatenate([leg.thetas[:-1] for leg in parts])
        outcomes = np.concatenate([leg.outcomes for leg in parts])
        played = np.cumsum(np.sum(thetas * outcomes, axis=1))
        for T in range(1, len(outcomes) + 1):
            mean, average = thetas[:T].mean(axis=0), outcomes[:T].mean(axis=0)
            lost = reward.conjugate(mean) - played[T - 1] / T - reward.value(average)
            bound = term(reward, T)
            if not lost <= bound + _SLACK * max(1.0, reward.lipschitz):
                raise ContractError(
                    f"keeps_its_regret_term: {name}: after {T} steps its own part of the regret is {lost:.9g}, more "
                    f"than the {bound:.9g} that its theory declares"
                )


def keeps_its_episode_bound(oracle: Oracle, reward: Reward) -> None:
    """If it declares how many episodes the gradient threshold ends, there are no more; if not to move, it does not."""
    for name, path in _paths(oracle, reward):
        for leg in path:
            knowledge = leg.phase.oracle.theory
            clause = f"keeps_its_episode_bound: {name}:"
            moves = knowledge.moves is None or knowledge.moves(reward)
            if not moves and np.any(leg.thetas != leg.thetas[0]):
                raise ContractError(f"{clause} theta moves, and its theory declares that it does not")
            L = reward.lipschitz
            if knowledge.gradient_episodes is None or not moves or not 0.0 < L < math.inf:
                continue
            for threshold in (share * L for share in _THRESHOLDS):
                ended = _ended_by_the_gradient(leg.thetas, dual(reward.norm), threshold)
                bound = knowledge.gradient_episodes(reward, threshold, len(leg.outcomes))
                if not ended <= bound:
                    raise ContractError(
                        f"{clause} with the threshold {threshold:.9g} the gradient ends {ended} episodes in "
                        f"{len(leg.outcomes)} steps, more than the {bound:.9g} that its theory declares"
                    )


def steps_by_its_mirror_map(oracle: Oracle, reward: Reward) -> None:
    """If it is mirror descent: F is 1-strongly convex in the dual norm, and each theta the minimiser that it claims."""
    clause = "steps_by_its_mirror_map"
    if not isinstance(oracle.phase(1).oracle, TunedMirrorDescent) or reward.at(1) is not reward:
        return
    points = _candidates(reward, _SEED)
    for name, path in _paths(oracle, reward):
        for leg in path:
            descent = leg.phase.oracle
            if isinstance(descent, TunedMirrorDescent):
                seen = np.concatenate((points, leg.thetas[:: max(1, len(leg.thetas) // _FEW_STEPS)]))
                _demand_strong_convexity(f"{clause}: {name}", descent, reward, seen)
                _demand_minimisers(f"{clause}: {name}", descent, reward, leg, seen)


def is_kept_with_an_agent(oracle: Oracle, reward: Reward) -> None:
    """In an agent, whose memory is taken and given back, it goes on bit for bit; step by step as in one call."""
    model = garnet(3, 2, 2, reward.n_outcomes, seed=_SEED)
    looks: dict[str, Callable[[TocUCRL2], Vector | Index]] = {
        "theta": lambda agent: agent.theta,
        "its memory": lambda agent: agent.loop.arrays.memory.oracle,
        "the average": lambda agent: agent.average,
    }
    make = partial(TocUCRL2, model.space, reward, oracle)
    demand_resumes("is_kept_with_an_agent", make, model, _steps(oracle, _STEPS), _SEED, looks)


ORACLE_CLAUSES: Final[dict[str, Callable[[Oracle, Reward], None]]] = name_clauses(
    says_what_it_is,
    refuses_what_does_not_fit,
    starts_within_reach,
    has_phases_that_follow_one_another,
    writes_only_its_own,
    is_a_function_of_what_it_is_given,
    stays_within_reach,
    keeps_its_regret_term,
    keeps_its_episode_bound,
    steps_by_its_mirror_map,
    is_kept_with_an_agent,
)


def _demand_kernel(clause: str, oracle: Oracle, reward: Reward) -> None:
    kernel: Any = oracle.kernel(reward)
    if not isinstance(kernel, OracleKernel):
        raise ContractError(f"{clause}: kernel: got {kernel!r}; an OracleKernel is needed")
    if not isinstance(kernel.entry, Entry) or not kernel.entry.takes(OracleFrame):
        raise ContractError(f"{clause}: kernel.entry: got {kernel.entry!r}; declare the step by @oracle_entry")
    try:
        finite = bool(np.all(np.isfinite(np.array(kernel.params, dtype=np.float64))))
    except (TypeError, ValueError):
        finite = False
    if not finite:
        raise ContractError(f"{clause}: kernel.params: got {kernel.params!r}; finite numbers are needed")
    for name, size in (("memory", remembered(kernel, reward)), ("scratch", kernel.scratch)):
        if not isinstance(size, int) or size < 0:
            raise ContractError(f"{clause}: kernel.{name}: got {size!r}; a number of numbers is needed")
    if not set(kernel.calls) <= set(_CALLS):
        raise ContractError(f"{clause}: kernel.calls: got {kernel.calls!r}; some of {', '.join(_CALLS)} are needed")


def _refusal(clause: str, oracle: Oracle, reward: Reward) -> OracleError | None:
    try:
        oracle.check(reward)
    except OracleError as error:
        return error
    except Exception as error:  # whatever the oracle raises
        raise ContractError(
            f"{clause}: check raises {type(error).__name__} for {reward!r} ({error}); an OracleError is needed"
        ) from error
    return None


def _others(size: int) -> list[Reward]:
    """Rewards of all norms: smooth, not smooth, with a simplex of supergradients, and without a constant L."""
    target = np.linspace(0.3, 0.7, size)
    rewards: list[Reward] = [Linear(target, norm) for norm in (1.0, 2.0, math.inf)]
    rewards += [TargetDistance(target, norm) for norm in (1.0, 2.0, math.inf)]
    rewards += [Quadratic(target), BottomSum(size, 1)]
    return [*rewards, Entropy(size)] if size > 1 else rewards


def _steps(oracle: Oracle, most: int) -> int:
    return most if oracle.horizon is None else min(most, oracle.horizon)


def _phases(oracle: Oracle) -> Iterator[tuple[int, Phase]]:
    for index in range(1, _PHASES + 1):
        phase = oracle.phase(index)
        yield index, phase
        if phase.length is None:
            return


def _paths(oracle: Oracle, reward: Reward) -> Iterator[tuple[str, Iterator[Leg]]]:
    for name, source in sources(reward.n_outcomes, _SEED).items():
        yield name, legs(oracle, reward, source, _steps(oracle, _STEPS))


def _some_steps(oracle: Oracle, reward: Reward) -> Iterator[tuple[str, OracleKernel, Moment]]:
    for name, source in sources(reward.n_outcomes, _SEED).items():
        for step in walk(oracle, reward, source, _steps(oracle, _FEW_STEPS)):
            yield f"{name}, time {step.before.t}", step.kernel, step.before


def _demand_within(clause: str, reward: Reward, leg: Leg) -> None:
    origin = leg.phase.origin
    for place, theta in enumerate(leg.thetas):
        fixed = _in_force(leg.phase, reward, max(1, origin + place))
        _demand_in_ball(f"{clause} theta after {origin + place} steps", fixed, theta)


def _in_force(phase: Phase, reward: Reward, t: int) -> Reward:
    """The reward that an oracle follows at time t: one that changes is taken at the horizon of a phase."""
    horizon = phase.oracle.horizon
    return reward.at(t if horizon is None else horizon)


def _demand_in_ball(where: str, reward: Reward, theta: Vector) -> None:
    if not np.all(np.isfinite(theta)):
        raise ContractError(f"{where} is {show(theta)}; finite numbers are needed")
    far = length(theta, dual(reward.norm))
    if far > reward.lipschitz * (1.0 + _SLACK) + _SLACK:
        raise ContractError(
            f"{where} is {show(theta)}, of length {far:.9g} in the dual of norm {reward.norm:g}; no supergradient is "
            f"longer than L = {reward.lipschitz:.9g}"
        )


def _ended_by_the_gradient(thetas: Vector, norm: float, threshold: float) -> int:
    """How many episodes end because Psi, the sum of the distances of theta from where it was at their start, is > Q."""
    ended, reference, drift = 0, thetas[0], 0.0
    for theta in thetas[1:-1]:  # the episode that the last step would end is not ended by time T
        drift += length(theta - reference, norm)
        if drift > threshold:
            ended, reference, drift = ended + 1, theta, 0.0
    return ended


def _candidates(reward: Reward, seed: int) -> Vector:
    """Minus supergradients, and mixtures of some of them: a row for each theta."""
    rng = np.random.default_rng(seed)
    corners = -np.array([reward.gradient(w) for w in box_points(rng, _POINTS, reward.n_outcomes)])
    shares = rng.dirichlet(np.full(3, 0.5), len(corners))
    mixed = np.einsum("ij,ijk->ik", shares, corners[rng.integers(len(corners), size=(len(corners), 3))])
    return np.concatenate((corners, mixed))


def _demand_strong_convexity(clause: str, oracle: TunedMirrorDescent, reward: Reward, points: Vector) -> None:
    """F is finite where minus supergradients lie, 1-strongly convex, least at theta_1, and its range is L'^2."""
    F = oracle.mirror_map
    values = np.asarray(F.value(reward, points), dtype=np.float64)
    if values.shape != points.shape[:-1]:
        raise ContractError(
            f"{clause}: value: of {len(points)} thetas it has the shape {values.shape}; one number each"
        )
    alone = np.asarray(F.value(reward, points[0]))
    if alone.shape != () or not np.isclose(alone, values[0], rtol=1e-12, atol=1e-12, equal_nan=True):
        raise ContractError(f"{clause}: value: of one theta alone it is {alone!r}, and among others {values[0]!r}")
    outside = np.flatnonzero(~np.isfinite(values))
    if outside.size:
        raise ContractError(
            f"{clause}: value: at theta = {show(points[outside[0]])}, a mixture of minus supergradients, it is "
            f"{values[outside[0]]}; the domain of F must hold it"
        )
    scale = max(1.0, float(np.abs(values).max()), reward.lipschitz**2)
    others = np.roll(np.arange(len(points)), 1)
    far = np.linalg.norm(points - points[others], ord=dual(reward.norm), axis=1)
    middle = F.value(reward, 0.5 * (points + points[others]))
    allowed = 0.5 * (values + values[others]) - 0.125 * far**2
    i = int(np.argmax(middle - allowed))
    if not middle[i] <= allowed[i] + _SLACK * scale:
        raise ContractError(
            f"{clause}: value: not 1-strongly convex: midway between {show(points[i])} and {show(points[others[i]])}, "
            f"{far[i]:.9g} apart in the dual of norm {reward.norm:g}, it is {middle[i]:.9g}, more than {allowed[i]:.9g}"
        )
    first = oracle.initial_theta(reward)
    least = float(F.value(reward, first))
    if not values.min() >= least - _SLACK * scale:
        raise ContractError(f"{clause}: initial_theta: F is {least:.9g} there, and {values.min():.9g} elsewhere")
    reach = F.radius(reward)
    if not values.max() - least <= reach**2 + _SLACK * scale:
        raise ContractError(
            f"{clause}: radius: L'^2 = {reach**2:.9g}, and F ranges over {values.max() - least:.9g} at least"
        )


def _demand_minimisers(clause: str, oracle: TunedMirrorDescent, reward: Reward, leg: Leg, points: Vector) -> None:
    """theta_{t+1} minimises eta Z.theta + F(theta), Z the sum of grad g*(theta_q) - V_q."""
    F, eta = oracle.mirror_map, oracle.eta(reward)
    Z = np.zeros(reward.n_outcomes)
    elsewhere = F.value(reward, points)
    for t in range(min(len(leg.outcomes), _FEW_STEPS)):
        Z += reward.conjugate_argmax(leg.thetas[t]) - leg.outcomes[t]
        theta = leg.thetas[t + 1]
        here = eta * float(Z @ theta) + float(F.value(reward, theta))
        there = eta * points @ Z + elsewhere
        far = np.linalg.norm(points - theta, ord=dual(reward.norm), axis=1)
        short = here + 0.5 * far**2 - there
        i = int(np.argmax(short))
        if not short[i] <= _SLACK * max(1.0, abs(here), reward.lipschitz**2):
            raise ContractError(
                f"{clause}: step {t + 1}: theta = {show(theta)} is not the minimiser of eta Z.theta + F(theta): it is "
                f"{here:.9g} there, and {there[i]:.9g} at {show(points[i])}, {far[i]:.9g} away"
            )
