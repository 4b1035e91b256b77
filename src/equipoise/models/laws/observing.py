"""Which case was it: from what is seen of a step to what it proves.

Two cases that look the same prove the same: what is seen of a law depends on nothing that is hidden. So any case that
fits an observation will do. If those that fit differ in what they prove, something is missing that was to be seen.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from equipoise._types import Index, Vector
from equipoise._words import nearest
from equipoise.errors import ModelError, ParameterError, ProtocolError
from equipoise.models._label_rows import text
from equipoise.models.laws.laws import Laws
from equipoise.models.laws.truth import contradiction

if TYPE_CHECKING:
    from equipoise.models.model import Model
    from equipoise.models.space import Space

_CLOSE: Final = 1e-9  # outcomes are compared to within that: they may have been computed in another order


def case_of(space: Space, pair: int, outcomes: Vector, next_state: int, noise: Mapping[str, Any] | None) -> int:
    """The case of a step that was observed.

    Parameters
    ----------
    space : Space
        With laws.
    pair : int
        What was done, and where.
    outcomes : float array
        The K outcomes.
    next_state : int
        The state that it led to.
    noise : mapping, optional
        The values of the noises that are seen, by name.

    Raises
    ------
    ProtocolError
        When the mechanics do not allow it, or when a noise is missing that they do not determine.
    """
    laws = space.laws
    assert laws is not None
    cases = np.arange(laws.first_case[pair], laws.first_case[pair + 1])
    fits = laws.case_next[cases] == next_state
    if laws.noises:
        rows = laws.arrays.rows[laws.case_row[cases]]
        fits &= np.all(np.abs(rows - outcomes) <= _CLOSE, axis=1)
    cases = cases[fits]
    if noise is not None:
        cases = cases[_with_noise(laws, space.name_pair(pair), cases - int(laws.first_case[pair]), noise)]
    if not cases.size:
        raise ProtocolError(
            f"observe: {space.name_pair(pair)} cannot lead to {space.name_state(next_state)} with the outcomes "
            f"{outcomes.tolist()}{_drawn(noise)}, by the mechanics that the agent was told"
        )
    _require_one(space, pair, cases)
    return int(cases[0])


def cases_of(model: Model, space: Space) -> Index | None:
    """The case of each branch of a model; None if the space has no laws.

    Parameters
    ----------
    model : Model
        The world.
    space : Space
        What an agent was told of it.

    Raises
    ------
    ParameterError
        When the branches of the model do not tell what was drawn, or have not the probabilities that the agent was
        told.
    """
    laws = space.laws
    if laws is None:
        return None
    if model.laws is not None and (model.laws is laws or model.laws == laws):
        _require_true(model.untold)
        return model.branch_case
    cases = np.empty(model.branch_next.size, dtype=np.int64)
    outcomes = model.rows[model.branch_row]
    if laws.noises and model.noise != "none":
        raise ParameterError("model: its outcomes are drawn, and the agent was told mechanics in which they are not")
    try:
        for pair in range(model.n_pairs):
            for j in range(int(model.branch_first[pair]), int(model.branch_first[pair + 1])):
                cases[j] = case_of(space, pair, outcomes[j], int(model.branch_next[j]), None)
    except ProtocolError as error:
        raise ParameterError(f"model: it is not of the mechanics that the agent was told ({error})") from None
    _require_true(contradiction(model, space, cases))
    cases.setflags(write=False)  # as those of a model of mechanics are: of one type for the kernels
    return cases


def _require_true(wrong: str) -> None:
    if wrong:
        raise ParameterError(f"model: it is not of the mechanics that the agent was told: {wrong}")


def _with_noise(laws: Laws, pair: str, places: Index, noise: Mapping[str, Any]) -> NDArray[np.bool_]:
    """Which cases, counted from the first of their pair, have these values."""
    if not isinstance(noise, Mapping):
        raise ProtocolError(f"noise, {pair}: got {noise!r}; a mapping from names to values is needed")
    sizes = tuple(len(support) for support in laws.supports)
    drawn = np.unravel_index(places, sizes) if sizes else ()
    fits = np.ones(places.size, dtype=np.bool_)
    for name, value in noise.items():
        if name not in laws.noises:
            raise ProtocolError(
                f"noise, {pair}: there is no {name!r}{nearest(str(name), laws.noises)}; they are "
                f"{', '.join(laws.noises) or 'none'}"
            )
        j = laws.noises.index(name)
        if value not in laws.supports[j]:
            listed = ", ".join(text(one) for one in laws.supports[j])
            raise ProtocolError(f"noise, {pair}, {name}: {value!r} is not one of its values, {listed}")
        if name in laws.hidden:
            continue  # what is hidden by declaration is not used, or it would be seen in some steps only
        fits &= drawn[j] == laws.supports[j].index(value)
    return fits


def _require_one(space: Space, pair: int, cases: Index) -> None:
    """Refuse cases that prove different things."""
    laws = space.laws
    assert laws is not None
    arrays = laws.arrays
    proofs = {
        tuple(
            (int(arrays.seen_unit[i]), int(arrays.seen_value[i]))
            for i in range(int(arrays.seen_first[case]), int(arrays.seen_first[case + 1]))
        )
        for case in cases.tolist()
    }
    if len(proofs) == 1:
        return
    sizes = tuple(len(support) for support in laws.supports)
    drawn = np.unravel_index(cases - int(laws.first_case[pair]), sizes)
    for name, support, values in zip(laws.noises, laws.supports, drawn, strict=True):
        possible = np.unique(values).tolist()
        if name not in laws.hidden and len(possible) > 1:
            listed = ", ".join(text(support[i]) for i in possible)
            raise ProtocolError(
                f"noise, {space.name_pair(pair)}: {name} may have been {listed}; give it, as in "
                f"observe(outcomes, next_state, noise={{{name!r}: ...}}), or make the mechanics with "
                f"hidden=[{name!r}]"
            )
    raise ModelError("laws: cases that look the same prove different things")  # never: that is what `seeing` is for


def _drawn(noise: Mapping[str, Any] | None) -> str:
    return "" if not noise else " and " + ", ".join(f"{name}={value!r}" for name, value in noise.items())
