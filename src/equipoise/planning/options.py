"""How an agent runs its planner: the paper's way by default, accelerations by name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final, final

from equipoise._component import Component
from equipoise._numbers import counted, real
from equipoise.errors import ParameterError
from equipoise.planning.evi import SWEEP_LIMIT

AFTER_VISITS: Final = "visits"  # the trigger of an episode, as `TocUCRL2.episodes` names it


@final
@dataclass(frozen=True, repr=False, eq=False)
class Planner(Component):
    """Options of extended value iteration.

    Parameters
    ----------
    warm_start : bool or "visits"
        Start from the bias of the last plan instead of zero. Fewer sweeps; other policies may be returned
        within the same tolerance, so the trajectory is another one. "visits": only if the episode ended because
        visits had doubled. Where theta has moved, the last bias speaks for what was best before, and it may take more
        sweeps to forget it than to start from zero.
    relaxation : float in (0, 1], optional
        The step of the iteration. None: what the confidence asks for, which is 1, the paper's, unless the
        regions may be periodic.
    limit : int
        Sweeps before a plan is given up with `ConvergenceError`.
    leaps : bool
        Many steps at once where the sweeps go on in one direction; see `leaps`. For exact plans at every step: where
        two ways of living differ by little, plain sweeps take as long as the difference is small. Other policies may
        be returned within the same tolerance.

    Examples
    --------
    >>> Planner(warm_start=True, limit=1e5), Planner(leaps=True)
    (Planner(warm_start=True, relaxation=None, limit=100000),
     Planner(warm_start=False, relaxation=None, limit=1000000, leaps=True))
    """

    only_kind: ClassVar[bool] = True
    later: ClassVar[tuple[str, ...]] = ("leaps",)

    warm_start: bool | str = False
    relaxation: float | None = None
    limit: int = SWEEP_LIMIT
    leaps: bool = False

    def __post_init__(self) -> None:
        # coerced, because a kernel is compiled anew for an argument of another type
        if self.warm_start != AFTER_VISITS:
            if isinstance(self.warm_start, str):
                raise ParameterError(f'warm_start: got {self.warm_start!r}; True, False or "visits" is needed')
            object.__setattr__(self, "warm_start", bool(self.warm_start))
        object.__setattr__(self, "leaps", bool(self.leaps))
        object.__setattr__(self, "limit", counted(self.limit, "limit", 1, error=ParameterError))
        if self.relaxation is not None:
            object.__setattr__(self, "relaxation", real(self.relaxation, "relaxation", error=ParameterError))
            if not 0 < self.relaxation <= 1:
                raise ParameterError(f"relaxation: got {self.relaxation}; it must lie in (0, 1]")
