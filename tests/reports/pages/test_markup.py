"""Text in Markdown: plain text comes back from it whole, and nothing in it is obeyed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from equipoise.reports.pages.markup import (
    code,
    escape,
    join_lines,
    render_inline,
    render_markdown,
    strip_markup,
    write_code_block,
    write_list,
)
from tests.reports.pages.test_page import Reader

MARKS = st.text(alphabet="*_`[]()<>#+-=~|\\!&;:.1\"'a \n\t\xa0", max_size=30)
NAMES = st.one_of(MARKS, st.text(st.characters(exclude_categories=["Cc", "Cs"]), max_size=20))


@given(NAMES)
def test_plain_text_comes_back_from_markdown(text):
    plain = join_lines(text)
    assert strip_markup(escape(text)) == strip_markup(code(text)) == plain
    for part in (escape(text), write_list([text, "last"]), f"**a**, {code(text)}"):
        reader = Reader(render_markdown(part))
        assert {tag for tag, _ in reader.elements} <= {"p", "ul", "li", "strong", "code"}
        assert join_lines(plain).replace("\xa0", " ") in reader.text()


@given(NAMES)
def test_the_lines_of_a_file_come_back(text):
    (shown,) = [found for tag, found in Reader(render_markdown(write_code_block(text))).texts if tag == "code"]
    assert shown == f"{text}\n"


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script>",
        "a <img src=x onerror=alert(1)> b",
        "![a](https://example.org/a.png)",
        "[a](javascript:alert(1))",
        "<!-- a --> <b>b</b>",
    ],
)
def test_nothing_is_obeyed(text):
    for html in (render_markdown(text), render_inline(text)):
        reader = Reader(html)
        assert {tag for tag, _ in reader.elements} <= {"p", "a"}
        assert all(not attributes or attributes["href"].startswith("https:") for _, attributes in reader.elements)


def test_headings_stand_below_those_of_the_page():
    assert [tag for tag, _ in Reader(render_markdown("# a\n\n## b\n\n#### c")).elements] == ["h3", "h3", "h4"]
    assert [tag for tag, _ in Reader(render_markdown("# a\n\n### b", 2)).elements] == ["h2", "h3"]


def test_formulas_do_not_break():
    assert render_inline("x = 1 ± 2 %") == "x\xa0=\xa01\xa0±\xa02\xa0%"
