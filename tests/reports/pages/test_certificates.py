"""Certificates in a report: beside the regret, alone where there is none, and in words; closed forms."""

from __future__ import annotations

import csv
import json
import re
from dataclasses import replace

import polars as pl
import pytest

from equipoise._statistics import Interval
from equipoise.reports import write_figures, write_tables
from equipoise.reports.charts import theme
from equipoise.reports.numbers.digest import CertifiedRegret, digest, summarise_certificates
from equipoise.reports.pages.proofs import certificate_words, within_cell
from equipoise.reports.pages.report import render_report
from equipoise.reports.pages.sentences import summary, when_proven
from tests.reports import synthetic
from tests.reports.pages.test_page import Reader
from tests.reports.synthetic import checkpoints, optimum_of, problem, results

STEADY = (3 * 0.9 / 0.05) ** 2  # where 2.7 / sqrt(t) is 0.05
FIRST = min(t for t in checkpoints(10**5) if t >= STEADY)


@pytest.fixture(scope="module")
def made():
    return synthetic.certified()


@pytest.fixture(scope="module")
def reader(made):
    return Reader(render_report(made))


def chart(reader, beginning):
    (place,) = [div for div in reader.all("div") if div.get("aria-label", "").startswith(beginning)]
    return json.loads(reader.scripts()[0])[int(place["data-chart"])]


def thin(spec):
    return [layer for layer in spec["layer"] if layer.get("mark", {}).get("strokeDash") == [3, 2]]


# -- numbers -----------------------------------------------------------------------------------------


def test_the_steps_are_those_of_the_closed_form(made):
    known, unknown = digest(made)
    for found in (known.agent("steady").proven, unknown.agent("steady").proven):
        assert found.since == (FIRST,) * 6
        assert (found.all, found.half, found.runs, found.certainty) == (FIRST, FIRST, 6, 0.95)
        assert found.final.mean == pytest.approx(2.7 / 10**2.5)
    assert known.agent("silent").proven is None


def test_some_runs_late_some_never():
    """Run k of five certifies 0.2 / k from t = 10 k on."""
    rows = [
        ("p", "A", k, f"run {k}", t, 0.2 / k if t >= 10 * k else 0.9) for k in range(1, 6) for t in range(10, 60, 10)
    ]
    frame = pl.DataFrame(rows, schema=["problem", "agent", "seed", "run", "t", "certified"], orient="row")
    found = summarise_certificates(frame, 50, 0.1, None)  # runs 2, 3, 4 and 5
    assert found.since == (20, 30, 40, 50)
    assert (found.half, found.all, found.runs) == (40, None, 5)
    assert summarise_certificates(frame, 50, 0.05, None).half is None  # runs 4 and 5 alone
    assert summarise_certificates(frame, 50, 0.2, None).all == 50
    assert found.final.mean == pytest.approx(0.2 * (1 + 1 / 2 + 1 / 3 + 1 / 4 + 1 / 5) / 5)
    nothing = frame.with_columns(certified=pl.lit(None, pl.Float64))
    assert summarise_certificates(nothing, 50, 0.1, None) is None


def test_an_early_success_by_luck_does_not_count():
    """The hasty agent is within 0.1 at t = 10 alone; the steady one from t = 30 on, and so is the faster of the two."""
    times = (10, 20, 30, 40, 50)
    found = {}
    agents = {"hasty": (0.0, 0.5, 0.4, 0.3, 0.2), "steady": (0.9, 0.5, 0.1, 0.09, 0.08)}
    for name, certified in agents.items():
        rows = [
            ("p", name, seed, f"{name} {seed}", t, x) for seed in (0, 1) for t, x in zip(times, certified, strict=True)
        ]
        frame = pl.DataFrame(rows, schema=["problem", "agent", "seed", "run", "t", "certified"], orient="row")
        found[name] = summarise_certificates(frame, 50, 0.1, None)
    assert (found["hasty"].since, found["hasty"].half) == ((), None)
    assert (found["steady"].since, found["steady"].half) == ((30, 30), 30)
    assert within_cell(found["hasty"]) == "0 of 2 runs"
    assert when_proven(found["hasty"]) == "at the end it is not proven in any of 2 runs that at most 0.1 is lost"


def test_regret_and_certified_regret_have_one_axis(made):
    known, unknown = digest(made)
    assert known.certified.floor == known.curves.floor
    assert unknown.measure == "value"
    assert unknown.certified.floor is not None
    assert unknown.curves.floor is None
    assert set(known.certified.frame["agent"]) == {"steady", "noisy"}


def test_without_certificates_nothing_is_said_of_them():
    plain = results([problem("p", 2, optimum_of(2)), problem("q", 2, None)], seeds=2, last=100)
    said = Reader(render_report(plain)).text()
    assert "certified to be lost" not in said
    assert "Certified" not in said
    assert all(found.certified is None for found in digest(plain))


# -- the page ----------------------------------------------------------------------------------------


def test_measured_and_certified_are_drawn_together(made, reader):
    spec = chart(reader, "Regret against steps on known")
    lines = thin(spec)
    assert [layer["data"]["values"][0]["agent"] for layer in lines] == ["steady", "noisy"]
    for row in lines[0]["data"]["values"]:
        assert row["y"] == pytest.approx(2.7 / row["t"] ** 0.5, rel=1e-5)
    assert lines[0]["mark"]["strokeWidth"] < spec["layer"][1]["mark"]["strokeWidth"]
    colours = lines[0]["encoding"]["color"]["scale"]
    assert dict(zip(colours["domain"], colours["range"], strict=True))["steady"] == "var(--agent-0)"
    assert spec["layer"][0]["encoding"]["y"]["scale"]["domain"][1] > 2.7  # all of it is to be seen
    assert ("span", "certified: lost at most, in the same colour") in reader.texts


def test_without_an_optimum_the_certified_regret_is_all_there_is(made, reader):
    spec = chart(reader, "Certified regret against steps on unknown")
    assert {row["agent"] for row in spec["data"]["values"]} == {"steady", "noisy"}
    steady = [row for row in spec["data"]["values"] if row["agent"] == "steady"]
    assert all(row["y"] == pytest.approx(2.7 / row["t"] ** 0.5, rel=1e-5) for row in steady)
    said = reader.text()
    assert (
        "There is no certified optimum, so no regret; what is shown is the certified regret, which needs none" in said
    )
    assert said.index("Certified regret over time") < said.index("Value over time")
    assert "Certificates are proven without it." in said


def test_the_words_say_from_when_on(made, reader):
    said = reader.text()
    sentence = (
        f"from t = {FIRST:,} on it is proven in all 6 runs that at most 0.05 is lost, with probability 0.95 in each"
    )
    assert said.count(f"steady: {sentence}") == 2
    assert "At t = 100,000 at most 0.00854 is certified to be lost, mean over 6 runs: 3.0 times the measured" in said
    assert "Agents are also compared by the time from which on at most 0.05 is certified to be lost" in said
    known = digest(made)[0]
    assert known.best == "steady"
    assert f"F{sentence[1:]}." in summary(known)


@pytest.mark.parametrize(
    ("found", "words"),
    [
        (
            CertifiedRegret(0.01, 0.95, Interval(0.1, None, 1), 1, (100,)),
            "from t = 100 on it is proven that at most 0.01",
        ),
        (CertifiedRegret(0.01, 1.0, Interval(0.1, None, 1), 1, (100,)), "is lost, for certain"),
        (CertifiedRegret(0.01, None, Interval(0.1, None, 1), 1, (100,)), "at most 0.01 is lost"),
        (
            CertifiedRegret(0.01, 0.9, Interval(0.1, 0.1, 4), 4, (7, 8)),
            "in 2 of 4 runs that at most 0.01 is lost, from t = 7",
        ),
        (
            CertifiedRegret(0.01, 0.9, Interval(0.1, 0.1, 4), 4, (7, 8)),
            "from t = 7 on in the first, 8 in the last, with",
        ),
        (
            CertifiedRegret(0.01, 0.9, Interval(0.1, 0.1, 3), 3, (7,)),
            "0.01 is lost, from t = 7 on, with probability 0.9",
        ),
        (
            CertifiedRegret(0.01, 0.9, Interval(0.1, 0.1, 2), 2, (7, 8)),
            "from t = 8 on it is proven in all 2 runs that at most",
        ),
        (
            CertifiedRegret(0.01, 0.9, Interval(0.1, 0.1, 4), 4, ()),
            "it is not proven in any of 4 runs that at most 0.01",
        ),
    ],
)
def test_the_words_of_each_case(found, words):
    assert words in when_proven(found)


def test_a_regret_of_zero_is_no_divisor(made):
    zero = replace(made, frame=made.frame.with_columns(regret=pl.lit(0.0)), problems=made.problems[:1])
    (found,) = digest(zero)
    assert "the measured regret is zero or less, as far as can be told." in certificate_words(found, found.agents[0])


# -- files -------------------------------------------------------------------------------------------


def test_the_tables_have_the_certificates(made, tmp_path):
    written = {path.stem: path for path in write_tables(made, tmp_path)}
    with written["known-final"].open(encoding="utf-8") as handle:
        rows = list(csv.DictReader(handle))
    assert rows[0]["certified"].startswith("0.00854")
    assert rows[0]["within 0.05"] == f"6 of 6 runs, half from {FIRST:,} on"
    assert (rows[2]["certified"], rows[2]["within 0.05"]) == ("", "proves nothing")
    (known, _) = digest(made)
    assert rows[1]["within 0.05"] == within_cell(known.agent("noisy").proven)
    with written["unknown-final"].open(encoding="utf-8") as handle:
        assert next(row["within 0.05"] for row in csv.DictReader(handle)) == rows[0]["within 0.05"]


def test_the_figures_have_the_certificates(made, tmp_path):
    written = {path.stem: path for path in write_figures(made, tmp_path, "svg")}
    drawn = written["known-regret"].read_text(encoding="utf-8")
    for colour in theme.LIGHT[:2]:
        assert re.search(rf'<path [^>]*stroke="{colour}"[^>]*stroke-dasharray="3,2"', drawn)
    assert not re.search(rf'<path [^>]*stroke="{theme.LIGHT[2]}"[^>]*stroke-dasharray="3,2"', drawn)
    assert "thin dashes: certified, lost at most" in drawn
    assert "unknown-certified" in written
    assert "thin dashes" not in written["unknown-certified"].read_text(encoding="utf-8")


def test_one_checkpoint_is_drawn_as_a_point(made):
    short = replace(made, frame=made.frame.filter(pl.col("t") == 10**5))
    spec = chart(Reader(render_report(short)), "Regret against steps on known")
    assert sum(layer.get("mark", {}).get("shape") == "diamond" for layer in spec["layer"]) == 2
