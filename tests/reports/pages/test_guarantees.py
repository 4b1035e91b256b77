"""Bounds and caveats in a report: the picture, its words, and that nobody is shown as covered who is not."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import polars as pl
import pytest

from equipoise.reports import write_figures
from equipoise.reports.charts import theme
from equipoise.reports.numbers.bounds import agents_with_bound, bounded_regret
from equipoise.reports.numbers.digest import digest
from equipoise.reports.pages.proofs import guarantee_words
from equipoise.reports.pages.report import render_report
from equipoise.reports.pages.sentences import summary
from tests.reports import synthetic
from tests.reports.pages.test_page import Reader
from tests.reports.synthetic import LAWS, optimum_of, problem, results

HEADING = "Measured regret and what is guaranteed"
LABEL = "PSRL — without a proof here"


@pytest.fixture(scope="module")
def made():
    return synthetic.guaranteed()


@pytest.fixture(scope="module")
def reader(made):
    return Reader(render_report(made))


def chart(reader):
    (place,) = [div for div in reader.all("div") if div.get("aria-label", "").startswith("Regret and its bounds")]
    return json.loads(reader.scripts()[0])[int(place["data-chart"])]


def test_the_picture_holds_the_measured_curves_and_the_bounds(made, reader):
    spec = chart(reader)
    assert {row["agent"] for row in spec["data"]["values"]} == {"TOC-UCRL2", "Frank-Wolfe UCB"}
    dashed = [layer for layer in spec["layer"] if "strokeDashOffset" in layer["mark"]]
    for name, layer in zip(("TOC-UCRL2", "Frank-Wolfe UCB"), dashed, strict=True):
        drawn = [(row["agent"], row["t"], row["y"]) for row in layer["data"]["values"]]
        bounds = made.guarantees["bounded", name].bounds
        assert drawn == [(name, t, pytest.approx(bound, rel=1e-5)) for t, bound in bounds]
        assert layer["encoding"]["color"]["scale"]["range"] == ["var(--agent-0)", "var(--agent-1)"]
    assert spec["layer"][1]["encoding"]["y"]["scale"]["domain"][1] > 9e6  # all of it is to be seen


def test_the_words_say_how_far_above_and_from_when_on(made, reader):
    said = reader.text()
    (found,) = [p for p in digest(made) if p.record.name == "bounded"]
    mean = found.agent("TOC-UCRL2").final.mean
    told = re.search(
        r"TOC-UCRL2: with probability at least 0.85 the regret at t = 100,000 is at most 9.49, ([\d,]+)", said
    )
    assert float(told[1].replace(",", "")) == pytest.approx(3000 / 100_000**0.5 / mean, rel=0.05)
    assert "The bound is below 1.50 from about t = 4.0 × 10⁶ on." in said
    assert "The bound is not below 1.50 within 10¹⁸ steps." in said
    assert "No regret can be larger than L‖1‖ = 1.50" in said
    assert "holds with probability 1 − 3δ for all t at once" in said


def test_what_was_not_computed_is_said_and_values_have_no_bound(reader):
    said = reader.text()
    assert said.count(HEADING) == 2  # the bounded and the large problem; not the one without regret
    assert "There is an explicit bound on the regret of TOC-UCRL2; it was not computed." in said
    assert "more than 2,000 states" in said


def test_a_study_without_bounds_has_no_such_picture(made):
    said = Reader(render_report(replace(made, guarantees={})))
    assert HEADING not in said.text()
    assert "1 − 3δ" not in said.text()
    assert not [div for div in said.all("div") if div.get("aria-label", "").startswith("Regret and its bounds")]


@pytest.mark.parametrize(
    ("regret", "words"),
    [(0.0, "the measured one is zero or less"), (20.0, "the measured 20.0 is above that"), (1.0, "9.5 times the")],
)
def test_the_words_of_each_case(made, regret, words):
    moved = replace(made, frame=made.frame.with_columns(regret=pl.lit(regret)), problems=made.problems[:1])
    (found,) = digest(moved)
    agent, bound = agents_with_bound(found)[0]
    assert words in guarantee_words(agent, bound, 3e-9)


def test_the_axis_reaches_the_largest_regret_of_all_agents(made):
    fewer = replace(made.guarantees["bounded", "TOC-UCRL2"], largest=0.75)
    changed = replace(made, guarantees=made.guarantees | {("bounded", "TOC-UCRL2"): fewer})
    (found,) = [p for p in digest(changed) if p.record.name == "bounded"]
    assert bounded_regret(found).largest == 1.5


def test_an_agent_made_for_a_time_is_told_from_one_that_is_not(made):
    agent, bound = agents_with_bound(digest(made)[0])[1]
    assert "within the 5,000 steps that it is made for" in guarantee_words(agent, replace(bound, limit=5000), 0.0)


def test_the_figure_has_its_file(made, tmp_path):
    written = write_figures(replace(made, problems=made.problems[:1]), tmp_path, "svg")
    assert [path.stem for path in written] == [
        f"bounded-{kind}" for kind in ("regret", "guarantee", "outcomes", "episodes", "triggers")
    ]
    drawn = written[1].read_text(encoding="utf-8")
    for colour in theme.LIGHT[:2]:
        assert re.search(rf'<path [^>]*stroke="{colour}"[^>]*stroke-dasharray="5,4"', drawn)
    assert "dashed: the bounds" in drawn
    assert f">{LABEL}<" in written[0].read_text(encoding="utf-8")
    assert "PSRL" not in drawn


def test_a_caveat_is_in_every_list_of_agents(made, reader):
    assert ("span", LABEL) in reader.texts
    assert ("span", "PSRL") not in reader.texts  # neither in a table nor in a legend
    drawn = json.loads(reader.scripts()[0])
    named = {row["agent"] for spec in drawn for row in spec.get("data", {}).get("values", ())}
    assert named == {*LAWS, LABEL}
    assert "PSRL (without a proof here) has the lowest regret" in " ".join(summary(digest(made)[0]))


def test_no_caveat_no_dash():
    plain = Reader(render_report(results([problem("p", 2, optimum_of(2))], seeds=2, last=100)))
    assert "—" not in plain.text()
