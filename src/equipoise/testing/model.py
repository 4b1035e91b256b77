"""The contract of models, beyond what a `Model` checks when it is made.

It must be the same each time, communicating, sampled as it is, and the same in a file and in another process.
"""

from __future__ import annotations

import math
import pickle
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Final, TypeAlias

import numpy as np
from scipy.stats import binom

from equipoise._types import Index, Vector
from equipoise.errors import ContractError, EquipoiseError
from equipoise.models.model import Model
from equipoise.models.outcome_rows import dense_row, differing_rows, mask_rows
from equipoise.testing._shared import name_clauses

Made: TypeAlias = Model | Callable[[], Model]

_ROUNDING: Final = 1e-9
_PAIRS: Final = 25  # that are sampled
_DRAWS: Final = 2000  # of each
_CHANCE: Final = 1e-6  # of an alarm about a world that is right
_SEED: Final = 20_240_229


def check_model(made: Made) -> None:
    """Check that a model keeps its contract; a `ContractError` names the clause, the state and the action.

    Parameters
    ----------
    made : Model, or callable
        A model, or a function without arguments that makes one, which is called twice and must return equal models.

    Examples
    --------
    >>> from equipoise.models import riverswim
    >>> check_model(riverswim)
    >>> check_model(riverswim(12))
    """
    for clause in MODEL_CLAUSES.values():
        clause(made)


def is_made_alike_each_time(made: Made) -> None:
    """It is a `Model`, and the function makes an equal one when it is called again."""
    first = _model(made, "is_made_alike_each_time")
    if isinstance(made, Model):
        return
    again = _model(made, "is_made_alike_each_time")
    if again != first or again.labels != first.labels:
        what = "the labels differ" if again == first else first.space.difference(again.space) or "the laws differ"
        raise ContractError(f"is_made_alike_each_time: made twice, it is not the same world: {what}")


def has_proper_laws(made: Made) -> None:
    """Probabilities are positive and sum to 1, outcomes lie in [0, 1], and p and v follow from the branches."""
    model = _model(made, "has_proper_laws")
    p = model.transitions()
    first = model.branch_first[:-1]
    weights = np.repeat(np.arange(model.n_pairs), np.diff(model.branch_first))
    dense = np.zeros((model.n_pairs, model.n_outcomes))
    np.add.at(dense, weights, model.branch_probability[:, None] * model.rows[model.branch_row])
    reached = np.add.reduceat(model.branch_probability * (model.branch_next + 1.0), first)
    for pair in range(model.n_pairs):
        where = f"has_proper_laws: {model.space.name_pair(pair)}"
        part = slice(p.indptr[pair], p.indptr[pair + 1])
        chances, states = p.data[part], p.indices[part]
        if not np.all(chances > 0.0) or abs(chances.sum() - 1.0) > _ROUNDING:
            raise ContractError(f"{where}: the probabilities {chances.tolist()} are not positive and of sum 1")
        if abs(float(chances @ (states + 1.0)) - reached[pair]) > _ROUNDING * model.n_states:
            raise ContractError(f"{where}: its transitions are not those of its branches")
        mean = dense_row(model.mean_rows, pair)
        if not np.all((mean >= 0.0) & (mean <= 1.0)):
            raise ContractError(f"{where}: the mean outcomes {mean.tolist()} do not lie in [0, 1]")
        if np.abs(mean - dense[pair]).max() > _ROUNDING:
            raise ContractError(f"{where}: its mean outcomes are not those of its branches")


def is_communicating(made: Made) -> None:
    """Some policy leads from any state to any other: without that nothing can be learnt for the long run."""
    try:
        _model(made, "is_communicating").require_communicating()
    except EquipoiseError as error:
        raise ContractError(f"is_communicating: {error}") from error


def is_sampled_as_it_is(made: Made) -> None:
    """Next states and outcomes occur as often as p and v say, up to what chance allows."""
    model = _model(made, "is_sampled_as_it_is")
    rng = np.random.default_rng(_SEED)
    pairs = np.sort(rng.permutation(model.n_pairs)[:_PAIRS])
    level = _CHANCE / (pairs.size * (model.n_states + model.n_outcomes))
    world = model.world(_SEED)
    for pair in pairs.tolist():
        where = f"is_sampled_as_it_is: {model.space.name_pair(pair)}"
        state = int(model.state_of[pair])
        action = pair - int(model.first_pair[state])
        visits = np.zeros(model.n_states, np.int64)
        total = np.zeros(model.n_outcomes)
        for _ in range(_DRAWS):
            world.state = state
            outcomes, after = world.step(action)
            if not np.all((outcomes >= 0.0) & (outcomes <= 1.0)):
                raise ContractError(f"{where}: the outcomes {outcomes.tolist()} do not lie in [0, 1]")
            visits[after] += 1
            total += outcomes
        expected = model.transitions()[[pair]].toarray().ravel()
        odd = np.flatnonzero(_tail(visits, expected) < level)
        if odd.size:
            there = int(odd[0])
            raise ContractError(
                f"{where}: {model.space.name_state(there)} came next {visits[there]} times of {_DRAWS}; "
                f"its probability is {expected[there]:.6g}"
            )
        _check_averages(where, model, total, dense_row(model.mean_rows, pair), level)


def is_the_same_elsewhere(made: Made) -> None:
    """A file and a pickle give the same world back, labels included."""
    model = _model(made, "is_the_same_elsewhere")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.npz"
        try:
            model.save(path)
            loaded = Model.load(path)
        except EquipoiseError as error:
            raise ContractError(f"is_the_same_elsewhere: it cannot be saved and loaded: {error}") from error
    try:
        sent = pickle.loads(pickle.dumps(model))
    except Exception as error:  # whatever a label's own class may raise
        raise ContractError(f"is_the_same_elsewhere: it cannot be sent to another process ({error})") from error
    for way, other in (("from its file", loaded), ("from a pickle", sent)):
        if other != model or other.space != model.space:
            raise ContractError(f"is_the_same_elsewhere: {way} it comes back as another world")
        if repr(other.labels) != repr(model.labels):
            raise ContractError(f"is_the_same_elsewhere: {way} it comes back with other labels")


def has_labels_that_fit(made: Made) -> None:
    """There are as many labels as it needs, and each leads back to its own number."""
    model = _model(made, "has_labels_that_fit")
    labels = model.labels
    try:
        labels.check(model.n_actions, model.n_outcomes)
        for s, count in enumerate(model.n_actions):
            actions = [labels.action_index(s, labels.action(s, a)) for a in range(count)]
            if labels.state_index(labels.state(s)) != s or actions != list(range(count)):
                raise ContractError(f"has_labels_that_fit: the labels of {model.space.name_state(s)} lead elsewhere")
    except (EquipoiseError, AttributeError) as error:
        raise ContractError(f"has_labels_that_fit: {error}") from error


def tells_its_agents_the_truth(made: Made) -> None:
    """Its space has its shape, and the outcomes told in advance are the means."""
    model = _model(made, "tells_its_agents_the_truth")
    space = model.space
    mine = (model.n_states, model.n_pairs, model.n_outcomes, model.start, model.n_actions)
    theirs = (space.n_states, space.n_pairs, space.n_outcomes, space.start, space.n_actions)
    if mine != theirs or not np.array_equal(space.known_mask, model.known_mask) or space.labels != model.labels:
        raise ContractError("tells_its_agents_the_truth: its space is not of its shape")
    wrong = differing_rows(space.known_rows, mask_rows(model.mean_rows, model.known_mask))
    if wrong.size:
        pair = int(wrong[0])
        told, truth = (dense_row(rows, pair).tolist() for rows in (space.known_rows, model.mean_rows))
        raise ContractError(
            f"tells_its_agents_the_truth: {space.name_pair(pair)}: agents are told {told}; the means are {truth}"
        )


MODEL_CLAUSES: Final[dict[str, Callable[[Made], None]]] = name_clauses(
    is_made_alike_each_time,
    has_proper_laws,
    is_communicating,
    is_sampled_as_it_is,
    is_the_same_elsewhere,
    has_labels_that_fit,
    tells_its_agents_the_truth,
)


def _model(made: Made, clause: str) -> Model:
    if not isinstance(made, Model) and not callable(made):
        raise ContractError(f"{clause}: got {made!r}; a Model, or a function that makes one, is needed")
    try:
        model = made if isinstance(made, Model) else made()
    except (TypeError, EquipoiseError) as error:
        raise ContractError(f"{clause}: called without arguments, it raised {error!r}") from error
    if not isinstance(model, Model):
        raise ContractError(f"{clause}: it made {model!r}; a Model is needed")
    return model


def _tail(counts: Index | Vector, probability: Vector) -> Vector:
    """How likely a count of draws as far out as this one is, on its side of the mean; one probability an entry."""
    chance = np.clip(probability, 0.0, 1.0)
    below, above = binom.cdf(counts, _DRAWS, chance), binom.sf(counts - 1, _DRAWS, chance)
    return np.minimum(below, above).astype(np.float64)


def _check_averages(where: str, model: Model, total: Vector, means: Vector, level: float) -> None:
    """Sums of draws of 0 and 1 are binomial; of others, Hoeffding's inequality says how far they may be off."""
    if model.noise == "bernoulli":
        odd = np.flatnonzero(_tail(total, means) < level)
    else:
        odd = np.flatnonzero(np.abs(total / _DRAWS - means) > math.sqrt(math.log(2.0 / level) / (2.0 * _DRAWS)))
    if odd.size:
        k = int(odd[0])
        raise ContractError(
            f"{where}, {model.space.name_outcome(k)}: its average over {_DRAWS} draws is {total[k] / _DRAWS:.6g}; "
            f"its mean is {means[k]:.6g}"
        )
