"""Laws in a report: the picture, its words and its table; nothing where no agent was told mechanics."""

from __future__ import annotations

import csv
import json
from dataclasses import replace

import polars as pl
import pytest

from equipoise.reports import write_figures, write_tables
from equipoise.reports.charts import theme
from equipoise.reports.charts.curves import TRUTH, law_chart
from equipoise.reports.numbers.laws import LawAccuracy, summarise_laws
from equipoise.reports.pages.proofs import law_words
from equipoise.reports.pages.report import render_report
from tests.reports import synthetic
from tests.reports.pages.test_page import Reader
from tests.reports.synthetic import law_rows


@pytest.fixture(scope="module")
def made():
    return synthetic.learnt()


@pytest.fixture(scope="module")
def reader(made):
    return Reader(render_report(made))


def charts(reader, beginning):
    places = [div for div in reader.all("div") if div.get("aria-label", "").startswith(beginning)]
    specs = json.loads(reader.scripts()[0])
    return [specs[int(place["data-chart"])] for place in places]


def layers(spec, mark, field):
    """The layers of a mark whose y is that field."""
    return [
        layer
        for layer in spec["layer"]
        if layer["mark"]["type"] == mark and layer["encoding"]["y"]["field"] == field and layer["mark"]["opacity"] > 0
    ]


def test_each_law_has_a_panel_and_the_star_has_none(reader):
    assert len(charts(reader, "The law ")) == 3
    assert len(charts(reader, "The law demand on shop")) == 1
    headings = [text for tag, text in reader.texts if tag == "h3"]
    assert headings.count("Estimated laws against the truth") == 1
    assert "lead <b>time</b>" in reader.text()  # as it was given, escaped


def test_the_picture_has_the_numbers(made, reader):
    (spec,) = charts(reader, "The law demand on shop")
    (truth,) = layers(spec, "rule", "truth")
    assert [(row["value"], row["truth"]) for row in truth["data"]["values"]] == [
        ("0", 0.5), ("1", 0.25), ("2", 0.15), ("3", 0.1)
    ]  # fmt: skip
    first = made.laws.filter(seed=0, law="demand")
    for place, name in enumerate(("wide", "narrow")):
        own = first.filter(agent=name)
        points, rules = layers(spec, "point", "estimate")[place], layers(spec, "rule", "low")[place]
        assert {row["agent"] for row in points["data"]["values"]} == {name}
        assert [row["estimate"] for row in points["data"]["values"]] == pytest.approx(own["estimate"].to_list())
        assert rules["encoding"]["y2"]["field"] == "high"
        ends = [(row["low"], row["high"]) for row in rules["data"]["values"]]
        assert ends == [pytest.approx(pair) for pair in own.select("low", "high").rows()]
    hues = layers(spec, "point", "estimate")[0]["encoding"]["color"]["scale"]
    assert hues["domain"] == ["wide", "narrow", TRUTH]
    assert hues["range"] == ["var(--agent-0)", "var(--agent-2)", "var(--ink)"]  # places in the study, in both themes


def test_agents_stand_side_by_side_within_the_band_of_a_value(reader):
    (spec,) = charts(reader, "The law demand on shop")
    shares = [layer["encoding"]["x"]["bandPosition"] for layer in layers(spec, "point", "estimate")]
    assert 0 < shares[0] < 0.5 < shares[1] < 1
    assert shares[0] + shares[1] == pytest.approx(1)
    (truth,) = layers(spec, "rule", "truth")
    ends = truth["encoding"]["x"]["bandPosition"], truth["encoding"]["x2"]["bandPosition"]
    assert ends[0] < shares[0] < shares[1] < ends[1]


def test_a_law_that_was_never_seen_has_intervals_and_no_estimate(made):
    never = summarise_laws(made, "shop").laws[1]
    spec = law_chart(never, {"wide": "wide", "table": "table", "narrow": "narrow"}, theme.PRINT).to_dict()
    assert spec["layer"][0]["encoding"]["y"]["scale"]["domain"] == [0, 1.0]
    assert spec["layer"][0]["encoding"]["x"]["axis"]["title"] == "0 visits"
    rows = spec["layer"][1]["data"]["values"]
    assert [(row["estimate"], row["low"], row["high"]) for row in rows] == [(None, 0.0, 1.0)] * 2


def test_words_say_of_which_run_and_what_holds(reader):
    text = reader.text()
    assert "Of one run an agent, seed 0: points are estimates" in text
    assert "wide, seed 0: no estimate is further than 0.010 from the truth; all 6 intervals hold the truth" in text
    assert "In 1 of 2 runs every interval does" in text
    assert "left out" not in text.split("Estimated laws against the truth")[1].split("Average outcomes")[0]


def test_what_is_left_out_is_said(made):
    laws = {f"law {i}": (100 + i, [0.5, 0.5]) for i in range(14)} | {"long": (3, [0.05] * 20)}
    text = Reader(render_report(replace(made, laws=law_rows("wide", 0, laws, 0.1)))).text()
    assert "Of 15 laws, the 12 that were seen least; 3 are left out." in text
    assert "8 of 20 values left out" in text
    assert "Of laws with more than 12 values, those with the widest intervals." in text


def test_an_agent_without_that_seed_is_said(made):
    laws = {"coin": (100, [0.5, 0.5])}
    rows = pl.concat([law_rows("wide", 7, laws, 0.1), law_rows("narrow", 3, laws, 0.1)])
    assert "No result with that seed yet: wide." in Reader(render_report(replace(made, laws=rows))).text()


@pytest.mark.parametrize(
    ("held", "proven", "words"),
    [
        (LawAccuracy("A", 4, 3, 0.0123, False, 1, 2), True, "further than 0.012 from the truth; 3 of 4 intervals hold"),
        (
            LawAccuracy("A", 4, 4, 0.0123, False, 1, 1),
            True,
            "A, seed 5: no estimate is further than 0.012 from the truth; all 4 intervals hold the truth.",
        ),
        (LawAccuracy("A", 4, 4, 0.01, False, 1, 1), False, "hold the truth. No proof says that they must."),
        (
            LawAccuracy("A", 4, 0, 0.01, True, 0, 9),
            True,
            "its regions are single points, and do not claim to hold the truth.",
        ),
        (LawAccuracy("A", 4, 4, None, False, 1, 1), True, "A, seed 5: no law was seen."),
    ],
)
def test_sentences(held, proven, words):
    assert words in law_words(held, 5, proven)


def test_the_table_and_the_figure_are_files(made, tmp_path):
    tables = {path.name: path for path in write_tables(made, tmp_path / "csv")}
    assert "star-laws.csv" not in tables
    with tables["shop-laws.csv"].open(encoding="utf-8") as handle:
        head, *rows = csv.reader(handle)
    assert head == ["law", "value", "agent", "seen", "estimate", "interval", "truth"]
    assert rows[0] == ["demand", "0", "wide", "510 of 1,000", "0.510", "0.460 to 0.560", "0.500"]
    assert rows[1] == ["demand", "0", "narrow", "510 of 1,000", "0.510", "0.490 to 0.530", "0.500"]
    assert ["lead <b>time</b>", "1", "wide", "0 of 0", "none", "0 to 1.00", "0.100"] in rows
    assert ["idle", "0", "wide", "0 of 0", "none", "0 to 1.00", "none"] in rows
    assert len(rows) == 16
    latex = {path.name: path for path in write_tables(made, tmp_path / "tex", "latex")}["shop-laws.tex"].read_text()
    assert "demand & 0 & wide & 510 of 1,000 & 0.510 & 0.460 to 0.560 & 0.500" in latex
    figures = {path.name: path for path in write_figures(made, tmp_path / "svg")}
    assert "star-laws.svg" not in figures
    drawn = figures["shop-laws.svg"].read_text()
    assert TRUTH in drawn
    assert "1,000 visits" in drawn


def test_a_report_without_laws_says_nothing_of_them(made):
    without = replace(made, laws=made.laws.clear())
    text = Reader(render_report(without)).text()
    assert "Estimated laws" not in text
    assert "A law is estimated by" not in text
    assert "A law is estimated by" in Reader(render_report(made)).text()
