"""The page on learning is true: its programs run, its regions are nested as it says, its study can be planned."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import betaln, xlogy

import equipoise as eq
from equipoise._runtime.compiler import call_for_two, kernel
from equipoise.studies import make_plan, read_study

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "confidence.md").read_text()
PROGRAMS = re.findall(r"```python\n(.*?)```", PAGE, flags=re.DOTALL)


@pytest.mark.parametrize("program", PROGRAMS, ids=range(len(PROGRAMS)))
def test_its_programs_run(program, tmp_path):
    (tmp_path / "program.py").write_text(program)
    subprocess.run([sys.executable, "program.py"], cwd=tmp_path, check=True, capture_output=True, timeout=120)


def test_its_confidence_may_be_typed_in():
    """Without a file there is nothing to cache by."""
    exec(compile(PROGRAMS[-1], "<stdin>", "exec"), {"__name__": "__main__"})


def test_it_speaks_of_every_confidence():
    named = {name for name in eq.confidence.__all__ if name not in ("Confidence", "Region", "intervals")}
    assert named == {name for name in named if f"`{name}" in PAGE or f"({name})" in PAGE}


@kernel
def _ask(address, tau, delta, count, binary, n, total, squares, floats, out):
    out[0], out[1] = call_for_two(address, (tau, delta, count, binary, n, total, squares, floats))


def interval(confidence: eq.confidence.Elementwise, tau: int, delta: float, count: int, binary: int, *sample: float):
    out = np.zeros(2)
    _ask(confidence.interval.address, tau, delta, float(count), binary, *sample, np.zeros(1), out)
    return out


@settings(max_examples=300, deadline=None)
@given(
    n=st.integers(1, 10**9), share=st.floats(0, 1), power=st.sampled_from([0.1, 1, 10]), delta=st.floats(1e-9, 0.99),
    count=st.integers(1, 10**7), binary=st.integers(0, 1), spread=st.floats(0, 1), later=st.integers(0, 10**6),
)  # fmt: skip
def test_adaptive_intervals_lie_within_the_papers(n, share, power, delta, count, binary, spread, later):
    total = n * share**power
    total = float(round(total)) if binary else total
    squares = total if binary else total * total / n + spread * (total - total * total / n)
    case = (n + 1 + later, delta, count, binary, float(n), total, squares)
    inner, outer = interval(eq.confidence.Adaptive(), *case), interval(eq.confidence.Bernstein(), *case)
    assert outer[0] <= inner[0] <= total / n <= inner[1] <= outer[1]


def test_the_mixture_is_never_less_than_the_page_says():
    """Krichevsky and Trofimov: B(k + 1/2, n - k + 1/2) / pi >= (k/n)^k (1 - k/n)^(n - k) / (2 sqrt n), k real."""
    for n in (1, 2, 3, 7, 30, 1000, 10**6):
        k = np.linspace(0.0, n, 5001)
        mixture = betaln(k + 0.5, n - k + 0.5) - np.log(np.pi)
        largest = xlogy(k, k / n) + xlogy(n - k, (n - k) / n)
        assert np.all(mixture >= largest - np.log(2 * np.sqrt(n)) - 1e-9)


def test_the_leaderboard_is_a_study_of_all_variants():
    study = read_study(ROOT / "studies" / "leaderboard.toml")
    plan = make_plan(study, ROOT / "studies" / "leaderboard.toml", ready=False)
    assert len(plan.problems) >= 12
    assert len(study.seeds) == 20
    assert study.steps == 10**6
    said = [agent.table().get("confidence", "Bernstein") for agent in study.agents if agent.kind == "TocUCRL2"]
    kinds = {part if isinstance(part, str) else part["kind"] for part in said}
    assert kinds == set(eq.confidence.__all__) - {"Confidence", "Region", "Elementwise", "intervals"}
