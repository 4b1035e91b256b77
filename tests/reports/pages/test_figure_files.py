"""Figures: the right files, in the right format, with the right names."""

from __future__ import annotations

import re
import struct

import pytest

from equipoise.errors import FileError, ParameterError, ReportError
from equipoise.reports import write_figures
from equipoise.reports.charts import theme
from equipoise.reports.pages.section import file_stems
from tests.reports import synthetic
from tests.reports.synthetic import optimum_of, problem, results


@pytest.fixture(scope="module")
def small():
    return results([problem("star", 3, optimum_of(3)), problem("Star", 2, None)], seeds=3, last=1000)


@pytest.mark.parametrize(("format", "magic"), [("svg", b"<svg"), ("png", b"\x89PNG\r\n\x1a\n"), ("pdf", b"%PDF-")])
def test_every_chart_is_written(small, tmp_path, format, magic):
    written = write_figures(small, tmp_path / "new" / "folder", format)
    assert [path.name for path in written] == [
        f"{name}.{format}"
        for name in (
            "star-regret", "star-outcomes", "star-episodes", "star-triggers",
            "star-2-value", "star-2-outcomes", "star-2-episodes", "star-2-triggers",
        )
    ]  # fmt: skip
    assert sorted(written) == sorted((tmp_path / "new" / "folder").iterdir())
    for path in written:
        content = path.read_bytes()
        assert content.startswith(magic)
        assert len(content) > 3000


def test_a_figure_has_curves_in_the_agents_colours_names_and_a_white_ground(small, tmp_path):
    regret = write_figures(small, tmp_path, "svg")[0].read_text(encoding="utf-8")
    for colour, agent in zip(theme.LIGHT, small.agents, strict=False):
        assert re.search(rf'<path [^>]*stroke="{colour}"[^>]*stroke-width="2"', regret)
        assert f">{agent.name}<" in regret
    assert 'fill="#ffffff"' in regret
    assert "var(" not in regret
    assert "slope −1/2" in regret
    assert "http" not in regret.replace("http://www.w3.org/", "")


def test_another_format_is_refused_with_the_accepted_ones(small, tmp_path):
    with pytest.raises(ParameterError, match="format: got 'gif'; 'svg', 'png', 'pdf' are accepted"):
        write_figures(small, tmp_path / "x", "gif")
    assert not (tmp_path / "x").exists()


def test_a_folder_that_cannot_be_made(small, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(FileError, match="cannot be made"):
        write_figures(small, tmp_path / "file", "svg")


def test_hostile_names_stay_in_the_folder_and_in_the_text(tmp_path):
    written = write_figures(synthetic.hostile(), tmp_path, "svg")
    assert all(path.parent == tmp_path and re.fullmatch(r"[a-z0-9-]+\.svg", path.name) for path in written)
    assert len({path.name for path in written}) == len(written) == 8
    assert all("<script" not in path.read_text(encoding="utf-8") for path in written)


def test_stems_are_plain_different_and_short():
    names = file_stems(["../../etc/passwd", "", "a" * 300, "A" * 300, "x-2", "x", "X", "x"])
    assert names[:2] == ["etc-passwd", "section"]
    assert names[4:] == ["x-2", "x", "x-3", "x-4"]
    assert len(set(names)) == len(names)
    assert max(map(len, names)) < 70


def test_a_study_without_results_has_no_figures(tmp_path):
    assert write_figures(synthetic.empty(), tmp_path, "svg") == []


def svg_size(path):
    found = re.search(r'<svg [^>]*?width="([\d.]+)" height="([\d.]+)"', path.read_text(encoding="utf-8"))
    return tuple(map(float, found.groups()))


def test_a_figure_has_the_size_that_was_asked_for(small, tmp_path):
    written = {path.stem: path for path in write_figures(small, tmp_path, "svg", width=480, height=300)}
    for name in ("star-regret", "star-episodes", "star-triggers", "star-2-value"):
        assert svg_size(written[name]) == (480, 300), name
    width, height = svg_size(written["star-outcomes"])  # panels share what is left, in whole pixels
    assert abs(width - 480) <= 3
    assert abs(height - 300) <= 1


def test_one_measure_leaves_the_other_as_it_is(small, tmp_path):
    free = {path.stem: svg_size(path) for path in write_figures(small, tmp_path / "a", "svg")}
    wide = {path.stem: svg_size(path) for path in write_figures(small, tmp_path / "b", "svg", width=900)}
    for name in ("star-regret", "star-episodes"):
        assert wide[name] == (900, free[name][1])
    tall = {path.stem: svg_size(path) for path in write_figures(small, tmp_path / "c", "svg", height=500)}
    assert abs(tall["star-outcomes"][1] - 500) <= 1  # panels, too


@pytest.mark.slow
def test_png_and_pdf_have_the_same_size(small, tmp_path):
    png = write_figures(small, tmp_path, "png", width=400, height=240)[0].read_bytes()
    assert struct.unpack(">II", png[16:24]) == (1200, 720)  # three pixels for one
    pdf = write_figures(small, tmp_path, "pdf", width=400, height=240)[0].read_bytes()
    box = re.search(rb"/MediaBox\s*\[\s*0 0 ([\d.]+) ([\d.]+)\s*\]", pdf)
    assert [float(x) for x in box.groups()] == [400, 240]


def test_a_figure_has_the_font_that_was_asked_for(small, tmp_path):
    drawn = write_figures(small, tmp_path, "svg", font="Times New Roman", font_size=9)[0].read_text(encoding="utf-8")
    assert set(re.findall(r'font-family="([^"]*)"', drawn)) == {"Times New Roman"}
    assert set(re.findall(r'font-size="([\d.]+)px"', drawn)) == {"8", "9"}


def test_on_a_screen_there_is_no_ground_and_letters_are_larger(small, tmp_path):
    drawn = write_figures(small, tmp_path, "svg", style="screen")[0].read_text(encoding="utf-8")
    assert not re.search(r'<rect width="\d+" height="\d+" fill="#ffffff"', drawn)
    assert set(re.findall(r'font-size="([\d.]+)px"', drawn)) == {"15", "16"}


@pytest.mark.parametrize(
    ("look", "message"),
    [
        ({"style": "dark"}, "style: got 'dark'; 'print', 'screen' are accepted"),
        ({"width": 20}, "width: got 20; a whole number from 100 to 10,000 is needed"),
        ({"height": 99_999}, "height: got 99999"),
        ({"width": 300.5}, "width: got 300.5"),
        ({"font": " "}, "font: got ' '; the name of a font is needed"),
        ({"font_size": 0}, "font_size: got 0; a whole number from 4 to 100"),
    ],
)
def test_a_look_that_is_none_is_refused(small, tmp_path, look, message):
    with pytest.raises(ParameterError, match=message):
        write_figures(small, tmp_path / "x", "svg", **look)
    assert not (tmp_path / "x").exists()


@pytest.mark.parametrize("format", ["png", "pdf"])
def test_a_font_that_is_not_installed_is_no_figure_without_letters(small, tmp_path, format):
    with pytest.raises(ParameterError, match="font: 'No Such Font' is not installed, so the figures would have no"):
        write_figures(small, tmp_path / "figures", format, font="No Such Font")
    assert not (tmp_path / "figures").exists()
    assert write_figures(small, tmp_path / "figures", format, font="No Such Font, sans-serif")


def test_a_figure_without_room_for_its_plot_is_refused(small, tmp_path):
    for width, height in ((150, 120), (100, 400), (400, 100)):
        with pytest.raises(ReportError, match=r"cannot be drawn \(its axes and legend leave "):
            write_figures(small, tmp_path / "figures", width=width, height=height)
    assert not (tmp_path / "figures").exists()


def test_in_a_column_nothing_is_cut_off(small, tmp_path):
    """At the width of a column the legend has as many rows as it needs, and panels stand below one another."""
    for path in write_figures(small, tmp_path, width=240, height=300, font_size=9):
        width, height = svg_size(path)
        assert abs(width - 240) <= 3
        assert height == 300 or "outcomes" in path.stem  # whose panels need more
        drawn = path.read_text(encoding="utf-8")
        legend = [float(x) for x in re.findall(r"role-legend-entry.*?translate\(([\d.]+),", drawn)]
        assert all(x < 240 for x in legend)
