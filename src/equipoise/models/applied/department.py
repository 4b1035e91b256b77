r"""An emergency department, or a call centre: who is seen first, by how many, so that each class is seen in time.

States        (period, waits of class 0, waits of class 1, ...): the time of the day, and for everybody who waits how
              many slots of ten minutes they have waited, the longest first, counted up to the limit of the class.
Actions       n doctors, 1 to `doctors`, and the class that they see first; then come the other classes in their order.
              Within a class they see who has waited longest.
Noises        free: how many doctors are free to see somebody in this slot; one law for each number of doctors that are
              there (no more are free than are there). <class>_arrivals: how many patients of the class come; one law
              per period. change: whether the next period of the day begins; known to the agent.
Step          The free doctors see patients, in time if these have waited for fewer slots than the limit. Who is not
              seen waits another slot. Then patients arrive, and wait if there is room. Then the period may change.
Outcomes      For each class, "<class> seen" and "<class> seen in time": how many were seen, as a part of `doctors`.
              "nobody sent away": 1 if all who came found room. "no further doctor": 1 - (n - 1) / (doctors - 1).

That the share of a class that is seen in time is at least z is a linear condition: in_time - z seen >= 0. A period has
only a mean length, so that the state need not hold the time: a day of 144 slots would have 48 times as many states.

Communicating if no arrivals and a free doctor have positive probability.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final

from equipoise._checks import check_float
from equipoise.errors import ModelError
from equipoise.models.applied.system import binomial, check_size, coin
from equipoise.models.checks import check_list
from equipoise.models.mechanics import Mechanics

Waits = tuple[int, ...]
Department = tuple[Any, ...]  # the period, then the waits of each class

_SLOTS_AN_HOUR: Final = 6
_FREE: Final = 0.7  # how often a doctor is free, by the usual law
_BUSY: Final = 0.75  # patients a slot in the busiest period, by the usual law, over all classes


def department(
    classes: Sequence[str] = ("urgent", "standard"),
    limits: Sequence[int] = (1, 2),
    room: Sequence[int] = (2, 3),
    largest_arrivals: Sequence[int] = (1, 2),
    doctors: int = 2,
    periods: Sequence[str] = ("night", "day", "evening"),
    hours: float = 8.0,
) -> Mechanics:
    """Describe an emergency department; it starts empty, in the first period.

    A state is (period, waits of class 0, ...), the waits in slots of ten minutes. An action chooses the number of
    doctors and the class that they see first. Unknown are the arrivals by period, and how many doctors are free. By the
    usual laws a doctor is free in seven slots of ten, and 0.25, 0.75 and 0.5 patients come in a slot by night, day and
    evening, twice as many of each class as of the class before it: one doctor is enough for the night, not for the day.

    Parameters
    ----------
    classes : sequence of str
        The classes of patients, the most urgent first. They are parts of the names of noises.
    limits : sequence of int
        By class: within how many slots of ten minutes they are seen in time, at least 1.
    room : sequence of int
        By class: how many can wait, at least 1.
    largest_arrivals : sequence of int
        By class: how many come in a slot at most, at least 1.
    doctors : int
        How many there are at most, at least 1.
    periods : sequence of str
        The periods of the day, in their order.
    hours : float
        The mean length of a period, at least ten minutes.

    Examples
    --------
    >>> ward = department()
    >>> ward.space.n_states, ward.space.n_pairs
    (270, 1080)
    >>> ward.labels.outcomes
    ('urgent seen', 'urgent seen in time', 'standard seen', 'standard seen in time', 'nobody sent away',
     'no further doctor')
    >>> ward.laws["urgent_arrivals"], ward.laws["free"]
    (['night', 'day', 'evening'], ['1 doctor', '2 doctors'])

    One doctor, who sees urgent patients first; an urgent one is past the limit, a standard one has just come.

    >>> world = ward.model(free={"1 doctor": [0.0, 1.0, 0.0]})
    >>> pair = world.pair(world.labels.state_index(("day", (1,), (0,))), 0)
    >>> world.means[pair].tolist()
    [0.5, 0.0, 0.0, 0.0, 1.0, 1.0]
    """
    names = _check_names(classes, "classes")
    K = len(names)
    limit = _check_sizes(limits, "limits", K)
    chairs = _check_sizes(room, "room", K)
    most = _check_sizes(largest_arrivals, "largest_arrivals", K)
    staff = check_size(doctors, "doctors")
    times = _check_names(periods, "periods")
    slots = check_float(hours, "hours", error=ModelError) * _SLOTS_AN_HOUR
    if not 1.0 <= slots < math.inf:
        raise ModelError(f"hours: got {hours}; ten minutes are needed at least, which is 1/6")
    later = {time: times[(i + 1) % len(times)] for i, time in enumerate(times)}
    actions = {
        f"{_doctors(n)}, {name} first": (n, (k, *(j for j in range(K) if j != k)))
        for n in range(1, staff + 1)
        for k, name in enumerate(names)
    }

    def step(
        state: Department, action: str, free: int, change: bool, **arrivals: int
    ) -> tuple[Department, list[float]]:
        time, *lines = state
        n, order = actions[action]
        seen, in_time, away = [0] * K, [0] * K, 0
        left = min(free, n)
        for k in order:
            called, lines[k] = lines[k][:left], lines[k][left:]
            left -= len(called)
            seen[k], in_time[k] = len(called), sum(wait < limit[k] for wait in called)
        for k, name in enumerate(names):
            waits = [min(wait + 1, limit[k]) for wait in lines[k]]
            come = min(arrivals[f"{name}_arrivals"], chairs[k] - len(waits))
            away += arrivals[f"{name}_arrivals"] - come
            lines[k] = (*waits, *[0] * come)
        counts = [count / staff for pair in zip(seen, in_time, strict=True) for count in pair]
        rested = 1.0 - (n - 1) / (staff - 1) if staff > 1 else 1.0
        return (later[time] if change else time, *lines), [*counts, float(away == 0), rested]

    def law(noise: str, state: Department, action: str) -> str | None:
        if noise == "change":
            return None
        return _doctors(actions[action][0]) if noise == "free" else str(state[0])

    arriving = {f"{name}_arrivals": range(count + 1) for name, count in zip(names, most, strict=True)}
    return Mechanics(
        step,
        start=(times[0], *[()] * K),
        actions=actions,
        outcomes=[f"{name} {word}" for name in names for word in ("seen", "seen in time")]
        + ["nobody sent away", "no further doctor"],
        noises={"free": range(staff + 1), **arriving, "change": (False, True)},
        law=law,
        given={"change": coin(1.0 / slots)},
        usual=_usual(names, most, staff, times),
    )


def _usual(names: Sequence[str], most: Sequence[int], staff: int, times: Sequence[str]) -> dict[str, Any]:
    """Binomial counts; the first period is the quietest, the second the busiest."""
    weights = [2.0**k for k in range(len(names))]
    laws: dict[str, Any] = {
        "free": {_doctors(n): binomial(n, _FREE) + [0.0] * (staff - n) for n in range(1, staff + 1)}
    }
    for name, count, weight in zip(names, most, weights, strict=True):
        share = _BUSY * weight / math.fsum(weights)
        laws[f"{name}_arrivals"] = {
            time: binomial(count, min(0.9, share * _busy(i, len(times)) / count)) for i, time in enumerate(times)
        }
    return laws


def _busy(period: int, periods: int) -> float:
    """How busy a period is, as a part of the busiest: 1/3, 1, 2/3 for three; falling from the second on."""
    return 1.0 / periods if period == 0 else (periods - period + 1) / periods


def _doctors(n: int) -> str:
    return "1 doctor" if n == 1 else f"{n} doctors"


def _check_names(x: Any, name: str) -> list[str]:
    names = check_list(x, name, some=True)
    for i, one in enumerate(names):
        if not isinstance(one, str) or not one.isidentifier() or one in names[:i]:
            raise ModelError(f"{name}[{i}]: got {one!r}; names are needed, all different, as in 'urgent'")
    return names


def _check_sizes(x: Any, name: str, n: int) -> list[int]:
    return [check_size(one, f"{name}[{i}]") for i, one in enumerate(check_list(x, name, n, "class"))]
