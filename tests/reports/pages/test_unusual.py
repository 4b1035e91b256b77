"""Results that a report must take as they are: labels, no bound, parts written elsewhere."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from pathlib import Path

import pytest

import equipoise as eq
from equipoise.errors import ParameterError
from equipoise.reports import write_figures, write_report, write_tables
from equipoise.reports.pages.report import render_report
from equipoise.studies import open_results
from equipoise.studies.results import AgentRecord
from tests.reports import synthetic
from tests.reports.pages.test_page import Reader
from tests.reports.synthetic import optimum_of, problem, results

PINS = Path(__file__).parents[2] / "pins" / "results"


@pytest.fixture(scope="module")
def labelled():
    named = replace(problem("shop", 3, optimum_of(3)), outcome_labels=["fill rate", "waste <b>", "profit"])
    return results([named, problem("star", 2, optimum_of(2))], seeds=2, last=100)


def test_outcomes_go_by_their_labels(labelled, tmp_path):
    reader = Reader(render_report(labelled))
    captions = [text for tag, text in reader.texts if tag == "b"]
    assert [name for name in captions if name in ("fill rate", "waste <b>", "profit")] == [
        "fill rate",
        "waste <b>",
        "profit",
    ]
    assert [name for name in captions if name.startswith("Outcome")] == ["Outcome 0", "Outcome 1"]  # of the other
    assert any(div.get("aria-label", "").startswith("Average of fill rate") for div in reader.all("div"))
    (prices,) = [p for p in write_tables(labelled, tmp_path / "tables") if p.name == "shop-optimum.csv"]
    with prices.open(newline="", encoding="utf-8") as file:
        assert [row[0] for row in csv.reader(file)] == ["outcome", "fill rate", "waste <b>", "profit"]
    (figure,) = [p for p in write_figures(labelled, tmp_path / "figures") if p.name == "shop-outcomes.svg"]
    assert ">fill rate, optimum 0.222<" in figure.read_text(encoding="utf-8")


def test_that_no_bound_is_known_is_said_in_words():
    made = results([problem("star", 3, optimum_of(3))], seeds=3, last=1000, rates={})
    said = Reader(render_report(made)).text()
    assert "No bound is known for TOC-UCRL2, Frank-Wolfe UCB and round robin." in said
    assert "Measured regret and what is guaranteed" not in said
    some = Reader(render_report(synthetic.guaranteed())).text()
    assert "No bound is known for round robin and PSRL." in some
    known = replace(made, rates={("star", agent.name): -0.5 for agent in made.agents})
    assert "No bound is known" not in Reader(render_report(known)).text()
    assert "No bound is known" not in Reader(render_report(results([problem("p", 2, None)], seeds=2, last=10))).text()


def test_parts_written_elsewhere_are_shown_by_their_kind(tmp_path):
    made = results([problem("star", 2, optimum_of(2), world="mine.worlds:Shop(size=3)")], seeds=2, last=100)
    agents = (AgentRecord("TOC-UCRL2", "mine.agents:Greedy(rate=0.5)"), *made.agents[1:])
    reader = Reader(render_report(replace(made, agents=agents)))
    assert ("code", "mine.agents:Greedy(rate=0.5)") in reader.texts
    assert ("code", "mine.worlds:Shop(size=3)") in reader.texts


def test_the_report_of_the_pinned_folder(tmp_path):
    made = open_results(PINS)
    star = next(record for record in made.problems if record.name == "star")
    assert star.outcome_labels == list(eq.models.star(3, 4).labels.outcomes)
    reader = Reader(write_report(PINS, tmp_path / "report.html").read_text(encoding="utf-8"))
    assert [text for tag, text in reader.texts if tag == "h2" and text in {p.name for p in made.problems}] == [
        record.name for record in made.problems
    ]
    assert len(json.loads(reader.scripts()[0])) >= 3 * len(made.problems)
    assert "No run has a result yet" not in reader.text()
    tables = write_tables(PINS, tmp_path / "tables", "latex")
    assert len([path for path in tables if path.name.endswith("-final.tex")]) == len(made.problems)


def test_a_page_of_a_folder_is_put_into_it(tmp_path):
    with pytest.raises(ParameterError, match="path: it is missing"):
        write_report(synthetic.empty())
    assert not (PINS / "report.html").exists()
