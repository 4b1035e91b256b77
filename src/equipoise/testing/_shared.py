"""What several contracts have in common."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from typing import TypeVar

from equipoise._spec import Component
from equipoise._types import Index, Vector
from equipoise.agents.toc_ucrl2 import TocUCRL2
from equipoise.errors import ContractError, EquipoiseError
from equipoise.models.model import Model
from equipoise.simulation import simulate

Clause = TypeVar("Clause", bound=Callable[..., None])


def name_clauses(*clauses: Clause) -> dict[str, Clause]:
    """The clauses of a contract by their names."""
    return {clause.__name__: clause for clause in clauses}


def make_again(clause: str, part: Component) -> Component:
    """Make a component from its arguments."""
    try:
        return type(part)(**part.arguments())
    except (TypeError, EquipoiseError) as error:
        raise ContractError(f"{clause}: it cannot be made again from its arguments ({error})") from error


def demand_copies(clause: str, part: Component) -> None:
    """A copy of a component, and one made of its arguments, is the same."""
    for what, other in (("made from its arguments again", make_again(clause, part)), ("copied", copy.deepcopy(part))):
        if repr(other) != repr(part):
            raise ContractError(f"{clause}: {part!r}, {what}, is {other!r}")


def demand_resumes(
    clause: str,
    make: Callable[[], TocUCRL2],
    model: Model,
    steps: int,
    seed: int,
    looks: Mapping[str, Callable[[TocUCRL2], Vector | Index]],
) -> None:
    """Step by step, with its memory taken and given back, an agent does the same as in one call, bit for bit."""
    whole, parts = make(), make()
    simulate(model, whole, steps, seed, progress=False)
    for last in sorted({steps // 3, steps} - {0}):
        world = model.world(seed, t=parts.t, state=parts.state)
        while parts.t <= last:
            parts.observe(*world.step(parts.act(world.state)))
        kept, parts = copy.deepcopy(parts.memory()), make()
        parts.restore(kept)
    for name, look in looks.items():
        if look(whole).tobytes() != look(parts).tobytes():
            raise ContractError(
                f"{clause}: after {steps} steps {name} is {look(whole).tolist()} in one call, and "
                f"{look(parts).tolist()} step by step with the memory taken and given back"
            )
