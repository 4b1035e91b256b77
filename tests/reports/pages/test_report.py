"""Sections of one's own: on the page, in the tables and the figures; and what happens when they are wrong."""

from __future__ import annotations

import json
from dataclasses import replace

import altair as alt
import polars as pl
import pytest

from equipoise.errors import ReportError
from equipoise.reports import (
    Column,
    Figure,
    Key,
    Section,
    Table,
    Text,
    escape,
    load_section,
    write_figures,
    write_report,
    write_tables,
)
from equipoise.reports.pages.report import render_report
from tests.reports import synthetic
from tests.reports.pages.test_page import Reader
from tests.reports.synthetic import optimum_of, problem, results


@pytest.fixture(scope="module")
def made():
    return results([problem("star", 3, optimum_of(3))], seeds=2, last=100)


def counted(found):
    """A table of seeds, and three charts: Altair's, a specification, and a function of the theme."""
    counts = found.frame.group_by("agent", maintain_order=True).agg(pl.col("seed").n_unique().alias("seeds"))
    rows = tuple((agent, f"{n:,}") for agent, n in counts.rows())
    bars = alt.Chart(counts).mark_bar().encode(x="agent:N", y="seeds:Q")
    spec = {"data": {"values": counts.to_dicts()}, "mark": "point", "encoding": {"y": {"field": "seeds"}}}

    def themed(theme):
        return {**spec, "mark": {"type": "point", "color": theme.agents[2]}}

    return Section(
        "Seeds <b>",
        (
            Text("Counted by **hand**.", "note"),
            Table("seeds", "Seeds of agents", (Column("agent", form="agent"), Column("seeds", "number")), rows),
            Figure("bars", bars, "Seeds of each agent, as bars"),
            Figure("points", spec, "Seeds of each agent, as points", caption="A caption."),
            Figure("themed", themed, "Seeds of each agent, in the colour of the third"),
        ),
    )


def test_it_is_a_section_like_the_others(made, tmp_path):
    reader = Reader(render_report(made, [counted]))
    assert {"href": "#problem-1"} in reader.all("a")
    assert {"href": "#seeds-b"} in reader.all("a")  # with two sections there is a navigation
    assert ("h2", "Seeds <b>") in reader.texts
    assert "Counted by hand." in reader.text()
    specs = json.loads(reader.scripts()[0])
    assert [spec["width"] for spec in specs[-3:]] == ["container"] * 3
    assert specs[-1]["mark"]["color"] == "var(--agent-2)"
    assert not any("$schema" in spec for spec in specs)
    tables = write_tables(made, tmp_path / "tables", sections=[counted])
    assert tables[-1].name == "seeds-b-seeds.csv"
    assert tables[-1].read_text() == "agent,seeds\nTOC-UCRL2,2\nFrank-Wolfe UCB,2\nround robin,2\n"
    figures = write_figures(made, tmp_path / "figures", "svg", sections=[counted])
    assert [path.name for path in figures[-3:]] == [f"seeds-b-{name}.svg" for name in ("bars", "points", "themed")]
    assert "#045124" in figures[-1].read_text(encoding="utf-8")  # the third colour on paper


def test_one_that_is_made_already_is_taken_as_it_is(made):
    assert "Counted by hand." in Reader(render_report(made, [counted(made)])).text()


def test_an_agent_in_a_table_has_its_colour(made):
    reader = Reader(render_report(made, [counted]))
    strokes = [line["stroke"] for line in reader.all("line")][-3:]
    assert strokes == ["var(--agent-0)", "var(--agent-1)", "var(--agent-2)"]


def test_anchors_never_meet(made):
    def twin(_):
        return Section("problem 1", (Text("x"),), anchor="problem-1")

    def hostile(_):
        return Section("_charts", (Text("y"),))

    reader = Reader(render_report(made, [twin, twin, hostile]))
    ids = [attributes["id"] for _, attributes in reader.elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    assert {a["href"][1:] for a in reader.all("a")} <= set(ids)


def broken(_):
    raise KeyError("no such column")


def not_finite(_):
    return Section("S", (Figure("f", {"data": {"values": [{"x": float("nan")}]}, "mark": "point"}, "a label"),))


def undrawable(_):
    def chart(theme):
        raise RuntimeError("no ink")

    return Section("S", (Figure("f", chart, "a label"),))


@pytest.mark.parametrize(
    ("maker", "message"),
    [
        (broken, r"section tests\.reports\.pages\.test_report:broken: it raised KeyError: 'no such column'"),
        (lambda _: "text", r"section .*<lambda>: it returned str; a Section is needed"),
        (not_finite, "section 'S': figure 'f' cannot be drawn .*JSON"),
        (undrawable, r"section 'S': figure 'f' cannot be drawn \(RuntimeError: no ink\)"),
        ("mine:section", "sections: got 'mine:section'; functions of the results are needed"),
    ],
)
def test_one_that_is_wrong_is_named_and_nothing_is_written_over(made, tmp_path, maker, message):
    path = tmp_path / "report.html"
    path.write_text("old")
    with pytest.raises(ReportError, match=message):
        write_report(made, path, [counted, maker])
    assert path.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["report.html"]


def test_figures_and_tables_of_a_wrong_one_are_not_written_either(made, tmp_path):
    with pytest.raises(ReportError, match="test_report:broken"):
        write_tables(made, tmp_path / "x", sections=[broken])
    with pytest.raises(ReportError, match="no ink"):
        write_figures(made, tmp_path / "x", sections=[undrawable])
    assert not (tmp_path / "x").exists()


def resolve(kind, where, error):
    known = {"mine.parts:section": counted, "mine.parts:number": 3}
    if kind not in known:
        raise error(f"{where}: {kind} is not allowed")
    return known[kind]


def test_a_section_by_its_name():
    assert load_section("mine.parts:section", resolve) is counted


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("section", "got 'section'; \"package.module:name\" is needed"),
        ("mine.parts:", "is needed"),
        ("mine parts:f", "is needed"),
        ("mine:f()", "is needed"),
        ("os:system", "--section: os:system is not allowed"),
        ("mine.parts:number", "mine.parts:number is of type int; a function"),
    ],
)
def test_names_that_are_none(kind, message):
    with pytest.raises(ReportError, match=message):
        load_section(kind, resolve)


def test_the_names_of_sections_cannot_leave_the_folder(made, tmp_path):
    def hostile(_):
        return Section("../../etc", (Table("t", "T", (Column("a"),), (("x",),)),))

    written = write_tables(replace(made, problems=()), tmp_path, sections=[hostile])
    assert [path.relative_to(tmp_path).as_posix() for path in written] == ["etc-t.csv"]


def test_hostile_text_is_escaped_in_every_part():
    bad = synthetic.hostile().name

    def hostile(_):
        columns = [Column(bad, form=form) for form in ("plain", "code", "agent")]
        return Section(
            bad,
            (
                escape(bad),
                {bad: bad},
                Table("t", bad, columns, [(bad, bad, bad)], folded=bad),
                Figure("f", {"mark": "point"}, bad, bad, bad, bad, (Key.rule("ink", bad),)),
            ),
            about=escape(bad),
            entry=bad,
        )

    reader = Reader(render_report(synthetic.empty(), [hostile]))
    assert len(reader.all("script")) == 3
    assert not reader.all("img")
    assert reader.text().count(bad) >= 12
