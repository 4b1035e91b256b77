"""The palette: apart for every kind of colour vision, and readable on its background."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from equipoise.reports.charts import theme

# Machado, Oliveira and Fernandes (2009), severity 1, on linear RGB.
VISION = {
    "full": np.eye(3),
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "tritanopia": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
}
LMS = [
    [0.4122214708, 0.5363325363, 0.0514459929],
    [0.2119034982, 0.6806995451, 0.1073969566],
    [0.0883024619, 0.2817188376, 0.6299787005],
]
LAB = [
    [0.2104542553, 0.7936177850, -0.0040720468],
    [1.9779984951, -2.4285922050, 0.4505937099],
    [0.0259040371, 0.7827717662, -0.8086757660],
]


def linear(colour):
    c = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    return np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4)


def oklab(colour, vision):
    return np.array(LAB) @ np.cbrt(np.array(LMS) @ np.clip(np.array(VISION[vision]) @ linear(colour), 0, 1))


def contrast(one, other):
    low, high = sorted(float(np.dot([0.2126, 0.7152, 0.0722], linear(colour))) for colour in (one, other))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("vision", VISION)
@pytest.mark.parametrize("palette", [theme.LIGHT, theme.DARK], ids=["light", "dark"])
def test_hues_are_apart(palette, vision):
    for one, other in itertools.combinations(palette, 2):
        assert np.linalg.norm(oklab(one, vision) - oklab(other, vision)) >= 0.09, (one, other)


@pytest.mark.parametrize(("palette", "ground"), [(theme.LIGHT, "#ffffff"), (theme.DARK, "#14161a")])
def test_hues_stand_out_from_the_ground(palette, ground):
    assert min(contrast(colour, ground) for colour in palette) >= 3


def test_forty_agents_are_all_different():
    looks = [(theme.colour(i, theme.PRINT), theme.dash(i)) for i in range(40)]
    assert len(set(looks)) == 40
    assert {dash for _, dash in looks[:8]} == {()}
