"""The river."""

import pytest

from equipoise import models
from equipoise.errors import ModelError


def test_riverswim():
    river = models.riverswim(3)
    assert river.transitions().toarray().tolist() == [
        [1, 0, 0], [0.4, 0.6, 0],
        [1, 0, 0], [0.05, 0.6, 0.35],
        [0, 1, 0], [0, 0.4, 0.6],
    ]  # fmt: skip
    assert river.means.ravel().tolist() == [0.005, 0, 0, 0, 0, 1]
    assert (river.start, river.noise) == (0, "bernoulli")
    assert models.riverswim(2).transitions().toarray().tolist() == [[1, 0], [0.4, 0.6], [1, 0], [0.4, 0.6]]
    assert river.labels.actions == ("left", "right")


def test_a_river_has_two_ends():
    with pytest.raises(ModelError, match="n: got 1"):
        models.riverswim(1)
