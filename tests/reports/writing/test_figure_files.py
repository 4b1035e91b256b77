"""Figures: the right files, in the right format, with the right names."""

from __future__ import annotations

import re

import pytest

from equipoise.errors import FileError, ParameterError
from equipoise.reports import write_figures
from equipoise.reports.drawing import theme
from equipoise.reports.writing.names import stems
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
    names = stems(["../../etc/passwd", "", "a" * 300, "A" * 300, "x-2", "x", "X", "x"])
    assert names[:2] == ["etc-passwd", "section"]
    assert names[4:] == ["x-2", "x", "x-3", "x-4"]
    assert len(set(names)) == len(names)
    assert max(map(len, names)) < 70


def test_a_study_without_results_has_no_figures(tmp_path):
    assert write_figures(synthetic.empty(), tmp_path, "svg") == []
