"""Sections as data: what they hold, and what is refused."""

from __future__ import annotations

import pytest

from equipoise.errors import ReportError
from equipoise.reports import Beside, Column, Figure, Panels, Section, Table, Text

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
        (lambda: Section("S", "x"), "section 'S': parts: got str; a list is needed"),
        (lambda: Section("S", (Text("x"), 7)), "section 'S': part 1 is of type int; one of str, Text, Mapping"),
        (lambda: Section("S", (table(), table())), "section 'S': two of its tables are called 't'"),
        (lambda: table("No Name"), "table: name: got 'No Name'; small letters"),
        (lambda: Table("t", "T", (), ()), "table 't': it has no columns"),
        (lambda: Table("t", "T", (Column("a"),), (("x", "y"),)), "table 't': row 0 is .* 1 cells are needed"),
        (lambda: Table("t", "T", (Column("a"),), ((0.5,),)), "row 0: the cell 0.5 is of type float; a text is needed"),
        (lambda: Figure("f", 7, "F"), "figure 'f': chart: got int; a chart of Altair"),
        (lambda: Figure("f", POINT, "F", height=0), "figure 'f': height: got 0"),
        (lambda: Figure("../f", POINT, "F"), "figure: name: got '../f'"),
    ],
)
def test_what_is_no_section_is_refused_by_name(make, message):
    with pytest.raises(ReportError, match=message):
        make()


def test_lists_do_as_well_as_tuples():
    section = Section("S", ["One.", Table("t", "A table", ["a", "b"], [["x", "1"]])])
    assert section.tables[0].columns == (Column("a"), Column("b"))
