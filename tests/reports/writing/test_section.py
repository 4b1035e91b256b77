"""Sections as data: what they hold, and what is refused."""

from __future__ import annotations

import pytest

from equipoise.errors import ReportError
from equipoise.reports import Beside, Column, Figure, Heading, Key, Panels, Section, Table, Text
from equipoise.reports.writing.inline import Aside, Code, plain

POINT = {"data": {"values": [{"x": 1, "y": 2}]}, "mark": "point", "encoding": {"x": {"field": "x"}}}


def table(name="t", **more):
    return Table(name, "A table", (Column("a"), Column("b", "number")), (("x", "1"),), **more)


def test_tables_and_figures_are_found_wherever_they_stand():
    one, other = Figure("one", POINT, "one"), Figure("other", POINT, "other")
    panels = Panels("panels", (Figure("inner", POINT, "inner"),), "several")
    beside = Beside(((table("left"), one), (Beside(((table("deep"),), (panels,))),)))
    section = Section("S", (table("first"), beside, Text("words"), other))
    assert [found.name for found in section.tables] == ["first", "left", "deep"]
    assert [found.name for found in section.figures] == ["one", "panels", "other"]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Section(3, ()), "title: got 3"),
        (lambda: Section("S", [Text("x")]), "section 'S': parts: got list; a tuple is needed"),
        (lambda: Section("S", (Text("x"), "y")), "section 'S': part 1 is of type str; one of Text, Heading"),
        (lambda: Section("S", (table(), table())), "section 'S': two of its tables are called 't'"),
        (lambda: table("No Name"), "table: name: got 'No Name'; small letters"),
        (lambda: Table("t", "T", (), ()), "table 't': it has no columns"),
        (lambda: Table("t", "T", (Column("a"),), (("x", "y"),)), "table 't': row 0 is .* a tuple of 1 cells"),
        (lambda: Table("t", "T", (Column("a"),), ((0.5,),)), "row 0: the cell 0.5 is of type float; a text is needed"),
        (lambda: Figure("f", 7, "F"), "figure 'f': chart: got int; a chart of Altair"),
        (lambda: Figure("f", POINT, "F", height=0), "figure 'f': height: got 0"),
        (lambda: Figure("../f", POINT, "F"), "figure: name: got '../f'"),
    ],
)
def test_what_is_no_section_is_refused_by_name(make, message):
    with pytest.raises(ReportError, match=message):
        make()


def test_a_content_as_plain_text():
    assert plain(("made by ", Code("f(x)"), Aside("slow"))) == "made by f(x) (slow)"
    assert plain(Key.agent(0, "mine")) == "mine"
    assert plain("two\nlines") == "two lines"


def test_headings_have_levels():
    assert Heading("x").level == 3
