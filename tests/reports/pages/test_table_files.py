"""Tables as files: the numbers of the page, in three formats, each read back by a reader of its own."""

from __future__ import annotations

import csv
import re
from html.parser import HTMLParser

import pytest

from equipoise.errors import FileError, ParameterError
from equipoise.reports import Column, Table, write_tables
from equipoise.reports.pages.files import csv_table, latex_table, markdown_table
from equipoise.reports.pages.markup import latex_text
from equipoise.reports.pages.report import render_report
from tests.reports import synthetic


class Tables(HTMLParser):
    """The cells of all tables of a page, by what the table is called."""

    def __init__(self, source):
        super().__init__()
        self.tables, self.label, self.inside = {}, None, False
        self.feed(source)

    def handle_starttag(self, tag, attrs):
        if dict(attrs).get("class") == "scroll":
            self.label = dict(attrs)["aria-label"]
            self.tables[self.label] = []
        if tag == "tr":
            self.tables[self.label].append([])
        if tag in ("td", "th"):
            self.tables[self.label][-1].append("")
            self.inside = True

    def handle_endtag(self, tag):
        if tag in ("td", "th"):
            self.inside = False

    def handle_data(self, data):
        if self.inside:
            self.tables[self.label][-1][-1] += data


@pytest.fixture(scope="module")
def made():
    return synthetic.guaranteed()


@pytest.fixture(scope="module")
def shown(made):
    return Tables(render_report(made).replace("\xa0", " ")).tables


NAMES = {"final": "Final regret on", "pairs": "All 6 pairs of agents on", "speed": "Steps per second on"}


def test_csv_holds_what_the_page_shows(made, shown, tmp_path):
    written = {path.name: path for path in write_tables(made, tmp_path / "new" / "folder")}
    kinds = ("final", "pairs", "optimum", "speed")
    expected = [f"{name}-{kind}.csv" for name in ("bounded", "large") for kind in kinds]
    assert list(written) == [*expected, "unknown-final.csv", "unknown-pairs.csv", "unknown-speed.csv"]
    for name in ("bounded", "large"):
        for kind, label in NAMES.items():
            with written[f"{name}-{kind}.csv"].open(encoding="utf-8", newline="") as file:
                assert list(csv.reader(file)) == shown[f"{label} {name}"]


def unescaped(text):
    """What a reader of LaTeX sees, for the commands that occur."""
    text = re.sub(r"\\textbf\{(.*)\}$", r"\1", text)
    text = re.sub(r"\\textsuperscript\{(-?)(\d+)\}", lambda m: ("⁻" if m[1] else "") + raised(m[2]), text)
    commands = {
        r"\ensuremath{\pm}": "±", r"\ensuremath{\times}": "×", r"\ensuremath{-}": "−", r"\ensuremath{\theta}": "θ",
        r"\ensuremath{<}": "<", "---": "—", r"\_": "_", r"\%": "%", r"\&": "&",
    }  # fmt: skip
    for command, character in commands.items():
        text = text.replace(command, character)
    return text


def raised(digits):
    return digits.translate(str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹"))


def test_latex_holds_what_the_page_shows(made, shown, tmp_path):
    (path,) = [path for path in write_tables(made, tmp_path, "latex") if path.name == "bounded-final.tex"]
    lines = path.read_text(encoding="utf-8").splitlines()
    assert lines[0].startswith("% Final regret on bounded")
    assert lines[1] == r"\begin{tabular}{lrrrrrr}"
    assert (lines[2], lines[4], lines[-2], lines[-1]) == (r"\toprule", r"\midrule", r"\bottomrule", r"\end{tabular}")
    rows = [lines[3], *lines[5:-2]]
    assert all(row.endswith(r" \\") for row in rows)
    cells = [[unescaped(cell.strip()) for cell in row.removesuffix(r" \\").split(" & ")] for row in rows]
    assert cells == shown["Final regret on bounded"]
    assert sum(r"\textbf" in row for row in rows) == 1  # the best agent


def test_nothing_in_a_name_is_a_command():
    bad = r"a_b & 50% $x$ #1 {y} \input{z} ~ ^ < > | [opt]"
    text = latex_text(bad)
    assert not re.search(r"(?<!\\)[&%$#_]", text)
    commands = {"textbackslash", "textasciitilde", "textasciicircum", "ensuremath"}
    assert set(re.findall(r"\\([a-z]+)", text)) == commands
    assert text.count(r"\textbackslash{}input\{z\}") == 1
    source = latex_table(Table("t", "x\n\\end{tabular}", (Column("a"),), (("[b]",), ("two\nlines",))))
    assert len(source.splitlines()) == 9  # no name starts a line of its own
    assert "{}[b]" in source


def test_markdown_holds_what_the_page_shows(made, shown, tmp_path):
    (path,) = [path for path in write_tables(made, tmp_path, "markdown") if path.name == "bounded-optimum.md"]
    head, marks, *rows = path.read_text(encoding="utf-8").splitlines()
    assert marks == "|---|---:|---:|---:|"
    cells = [[cell.strip().replace("\\*", "*") for cell in row.strip("|").split("|")] for row in (head, *rows)]
    assert cells == shown["Optimal outcomes and shadow prices of bounded"]


def test_marks_in_a_name_are_plain_in_markdown():
    source = markdown_table(Table("t", "T", ["a"], [("x|y *z* <b> `c` [d](e)\nf",)]))
    row = source.splitlines()[2]
    assert row == r"| x\|y \*z\* &lt;b> \`c\` \[d\](e) f |"
    assert len(source.splitlines()) == 3


def test_cells_in_markdown_are_the_same_in_every_format():
    columns = [Column("a", form="markdown"), Column("b", form="code")]
    table = Table("t", "T", columns, [("**x_1** *(a|b)*", "f(`|`)")])
    assert csv_table(table) == "a,b\nx_1 (a|b),f(`|`)\n"
    assert markdown_table(table).splitlines()[2] == r"| **x_1** *(a\|b)* | ``f(`\|`)`` |"
    assert latex_table(table).splitlines()[5] == r"x\_1 (a\ensuremath{|}b) & \texttt{f(`\ensuremath{|}`)} \\"


def test_no_cell_is_a_formula_in_a_spreadsheet():
    cells = ["=1+1", "+1", "-1", "@f", "\t=1"]
    for form in ("plain", "code", "agent", "markdown"):
        table = Table("t", "T", [Column("=a", form=form)], [(cell,) for cell in cells])
        for line in csv_table(table).splitlines():
            assert line.lstrip('"')[0] == "'"
    numbers = Table("t", "T", [Column("n", "number")], [("-1.5",), ("-1.5 ± 0.2",), ("=1",)])
    assert csv_table(numbers) == "n\n-1.5\n-1.5 ± 0.2\n'=1\n"


def test_another_format_is_refused_and_a_folder_that_cannot_be_made(made, tmp_path):
    with pytest.raises(ParameterError, match="format: got 'xls'; 'csv', 'latex', 'markdown' are accepted"):
        write_tables(made, tmp_path / "x", "xls")
    assert not (tmp_path / "x").exists()
    (tmp_path / "file").write_text("")
    with pytest.raises(FileError, match="cannot be made"):
        write_tables(made, tmp_path / "file")
