"""Sentences: what they say in each case that can happen."""

from __future__ import annotations

from dataclasses import replace

import polars as pl
import pytest

from equipoise._statistics import Interval
from equipoise.reports.numbers.comparisons import compare_all
from equipoise.reports.numbers.digest import digest
from equipoise.reports.numbers.format import number, plus_minus
from equipoise.reports.pages.sentences import family, summary, verdict
from tests.reports import synthetic
from tests.reports.synthetic import Law, optimum_of, problem, results


def pair(a, b):
    return compare_all({"A": dict(enumerate(a)), "B": dict(enumerate(b))})[0]


@pytest.mark.parametrize(
    ("x", "said"),
    [
        (0.5, "0.500"),
        (54321.0, "54,300"),
        (123456.0, "1.23 × 10⁵"),
        (0.00012, "0.000120"),
        (9.9996, "10.0"),
        (float("nan"), "not a number"),
        (float("-inf"), "−∞"),
    ],
)
def test_numbers(x, said):
    assert number(x) == said


@pytest.mark.parametrize(
    ("interval", "said"),
    [
        (Interval(0.0, 0.002, 9), "0.0000 ± 0.0020"),
        (Interval(-0.5, 0.25, 9), "−0.50 ± 0.25"),
        (Interval(1234.5, 20.0, 9), "1,234 ± 20"),
        (Interval(0.0, 0.0, 9), "0 on every seed"),
        (Interval(1e-7, 3e-5, 9), "(0.0 ± 3.0) × 10⁻⁵"),
    ],
)
def test_means_with_half_widths(interval, said):
    assert plus_minus(interval) == said


def test_a_verdict_says_who_on_how_many_seeds_by_how_much_and_how_surely():
    said = verdict(pair([0.1, 0.2, 0.1, 0.2, 0.1, 0.2], [0.3, 0.3, 0.4, 0.4, 0.5, 0.5]), "regret")
    assert said.startswith(
        "A has lower regret than B on 6 of 6 seeds; by 0.250 on average (95 % interval 0.140 to 0.360)"
    )
    assert said.endswith("sign-flip test, Holm-corrected p = 0.031.")


@pytest.mark.parametrize(
    ("a", "b", "said"),
    [
        ([0.1], [0.2], "A has lower regret than B by 0.100 on the one shared seed: no test."),
        ([0.1, 0.2], [0.1, 0.2], "A and B have the same regret on all 2 seeds: p = 1."),
        (
            [0.1, 0.1],
            [0.2, 0.2],
            "A has lower regret than B on 2 of 2 seeds, by 0.100 each time: the seed makes no difference, so there is"
            " nothing to test.",
        ),
        ([], [0.1], "A and B share no seed: not compared."),
    ],
)
def test_verdicts_where_there_is_no_test(a, b, said):
    assert verdict(pair(a, b), "regret") == said


def test_a_verdict_counts_ties():
    assert "on 1 of 3 seeds (1 tie)" in verdict(pair([0.1, 0.2, 0.5], [0.1, 0.3, 0.4]), "regret")


def test_the_summary_of_a_clear_case():
    said = " ".join(summary(digest(results([problem("star", 3, optimum_of(3))]))[0]))
    assert said.startswith("TOC-UCRL2 has the lowest regret at t = 1,000,000: ")
    assert "is significant (Holm-corrected p < 0.0001)" in said
    assert "times the regret" in said
    assert "the slope of its regret is −0.499 ± 0.019" in said
    assert "that of the theorem's bound is −1/2" in said


def test_the_summary_of_agents_alike():
    laws = {"A": Law(1, -0.5), "B": Law(1, -0.5)}
    said = " ".join(summary(digest(results([problem("star", 3, optimum_of(3))], laws, rates={}))[0]))
    assert "is not significant (Holm-corrected p = 0." in said
    assert "theorem" not in said


def test_the_summary_of_one_seed_and_of_no_chance():
    one = digest(results([problem("star", 3, optimum_of(3))], seeds=1))[0]
    assert "One seed is shared with" in " ".join(summary(one))
    assert family(one) == ""
    same = digest(synthetic.without_chance())[0]
    assert "chance plays no part in it" in " ".join(summary(same))


def test_the_summary_of_nothing():
    assert summary(digest(synthetic.empty())[0]) == ["No run of this problem has a result yet."]


def test_the_summary_when_seeds_differ_and_the_shared_ones_say_otherwise():
    made = results([problem("star", 3, optimum_of(3))], {"A": Law(1, -0.5), "B": Law(1, -0.5)}, 8, 1000, rates={})
    shared = pl.col("seed") < 4
    regret = pl.when(pl.col("agent") == "A").then(pl.when(shared).then(0.5).otherwise(0.0)).otherwise(0.4)
    frame = made.frame.with_columns(regret=regret + 0.01 * pl.col("seed")).filter((pl.col("agent") == "A") | shared)
    (found,) = digest(replace(made, frame=frame))
    assert found.best == "A"
    assert "On the seeds that they share B" in " ".join(summary(found))


def test_few_seeds_are_told_that_they_cannot_be_enough():
    (found,) = digest(results([problem("star", 3, optimum_of(3))], seeds=4))
    assert "With 4 shared seeds the smallest possible p is 0.12 before correction" in family(found)
    assert "with fewer than 7 seeds" in family(found)
    (enough,) = digest(results([problem("star", 3, optimum_of(3))], seeds=7))
    assert "smallest possible" not in family(enough)
    assert "over all 3 pairs" in family(enough)
