"""A world: one function that returns a `Model`."""

from __future__ import annotations

import equipoise as eq


def workshop(levels: int = 4, wear: float = 0.4) -> eq.Model:
    """A machine that wears out as it works, and can be serviced.

    The more it is worn, the less of what it makes is good. Fast work makes more, and wears twice as often.

    Parameters
    ----------
    levels : int
        How many levels of wear there are, at least 2.
    wear : float
        The probability that slow work wears the machine by one level, in (0, 0.5].

    Returns
    -------
    Model
        States: the level of wear. Actions: slow, fast, service. Outcomes: what is made, and what of it is good.
    """
    if levels < 2 or not 0.0 < wear <= 0.5:
        raise eq.errors.ModelError(f"workshop: got {levels} levels and wear {wear}; >= 2 and (0, 0.5] are needed")
    transitions, outcomes = [], []
    for level in range(levels):
        worse, health = min(level + 1, levels - 1), 1.0 - level / levels
        rows = [[0.0] * levels for _ in range(3)]
        for row, chance in zip(rows, (wear, 2.0 * wear), strict=False):
            row[level] += 1.0 - chance
            row[worse] += chance
        rows[2][0] = 1.0
        transitions.append(rows)
        outcomes.append([[0.5, 0.5 * health], [0.9, 0.9 * health**2], [0.0, 0.0]])
    labels = eq.Labels(
        states=[f"wear {level}" for level in range(levels)],
        actions=["slow", "fast", "service"],
        outcomes=["made", "good"],
    )
    return eq.Model.from_arrays(transitions, outcomes, labels=labels)
