"""The page as text: whole, closed, escaped, and with words where there is nothing to show."""

from __future__ import annotations

import itertools
import json
import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from equipoise.errors import FileError
from equipoise.reports import write_report
from equipoise.reports.pages.page import code_in_script, json_in_script
from equipoise.reports.pages.report import render_report
from tests.reports import synthetic
from tests.reports.synthetic import optimum_of, problem, results

VOID = {"meta", "link", "br", "line", "rect"}
ALL = ["showcase", "hostile", "crowd", "vanishing", "without_chance", "empty", "one_checkpoint", "guaranteed", "learnt"]


class Reader(HTMLParser):
    """All elements with their attributes and texts; complains where tags do not match."""

    def __init__(self, source: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[tuple[str, str]] = []
        self.open: list[str] = []
        self.feed(source)
        self.close()
        assert not self.open, f"left open: {self.open}"

    def handle_starttag(self, tag, attrs):
        assert len(attrs) == len(dict(attrs)), f"an attribute twice in {tag}"
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open, f"{tag} closes nothing"
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append((self.open[-1] if self.open else "", data))

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.elements if name == tag]

    def text(self) -> str:
        return "".join(text for tag, text in self.texts if tag not in ("script", "style")).replace("\xa0", " ")

    def scripts(self) -> list[str]:
        return [text for tag, text in self.texts if tag == "script"]


@pytest.fixture(scope="module")
def read(pages):
    return {name: Reader(path.read_text(encoding="utf-8")) for name, path in pages.items()}


@pytest.mark.parametrize("name", ALL)
def test_nothing_is_asked_of_anyone(read, name):
    reader = read[name]
    for tag, attributes in reader.elements:
        assert not {"src", "srcset", "action", "data", "poster", "background", "ping"} & attributes.keys(), tag
        for key in ("href", "xlink:href"):
            assert attributes.get(key, "#").startswith("#") or (tag, attributes[key]) == ("link", "data:,")
    assert not {"iframe", "object", "embed", "base", "form", "img"} & {tag for tag, _ in reader.elements}
    style = "".join(text for tag, text in reader.texts if tag == "style")
    assert "url(" not in style
    assert "@import" not in style
    charts, bundle, script = reader.scripts()
    assert "vegaEmbed" in bundle
    if name != "hostile":
        assert "://" not in charts + script + style + reader.text()
    assert reader.all("link") == [{"rel": "icon", "href": "data:,"}]  # or a browser would ask for one
    (policy,) = [m["content"] for m in reader.all("meta") if m.get("http-equiv") == "Content-Security-Policy"]
    assert policy == "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:"


@pytest.mark.parametrize("name", ALL)
def test_it_is_well_formed_and_accessible(read, name):
    reader = read[name]
    ids = [attributes["id"] for _, attributes in reader.elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    assert {a["href"][1:] for a in reader.all("a")} <= set(ids)
    levels = [int(tag[1]) for tag, _ in reader.elements if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(b - a <= 1 for a, b in itertools.pairwise(levels))
    assert all(th.get("scope") in ("col", "row") for th in reader.all("th"))
    places = [div for div in reader.all("div") if "data-chart" in div]
    assert all(div["role"] == "img" and len(div["aria-label"]) > 20 for div in places)
    assert [int(div["data-chart"]) for div in places] == list(range(len(json.loads(reader.scripts()[0]))))


def test_hostile_names_are_text_and_nothing_else(read):
    reader = read["hostile"]
    made = synthetic.hostile()
    bad = made.name
    assert len(reader.all("script")) == 3
    assert not reader.all("img")
    assert not any(key.startswith("on") for _, attributes in reader.elements for key in attributes)
    assert ("h1", bad) in reader.texts
    assert ("code", f"{bad}\n") in reader.texts
    assert reader.all("title") == [{}]
    assert ("title", f"{bad}: study report") in reader.texts
    agents = [agent.name for agent in made.agents]
    drawn = json.loads(reader.scripts()[0])
    assert {row["agent"] for row in drawn[0]["data"]["values"]} == set(agents)
    for plain in (bad, *agents):
        assert plain in reader.text()


def test_json_and_code_cannot_end_a_script():
    for bad in ("</script>", "<!--", "<script>", "]]>", "\u2028", "&lt;"):
        inside = json_in_script({bad: [bad]})
        assert not set("<>&") & set(inside)
        assert inside.isascii()
        assert json.loads(inside) == {bad: [bad]}
    code = "x = '</script>'; y = /</g.test('</SCRIPT>'); z = '<!--'; if (a<b) c"
    assert code_in_script(code) == r"x = '\x3c/script>'; y = /</g.test('\x3c/SCRIPT>'); z = '\x3c!--'; if (a<b) c"
    with pytest.raises(ValueError, match="JSON"):
        json_in_script(float("nan"))


def test_the_top_tells_the_state_of_the_study(read):
    said = read["showcase"].text()
    assert "runs done183" in said
    assert "failed2" in said
    assert "missing3" in said
    assert "The study is not complete" in said
    assert "Made by Equipoise 0.1.0." in said
    assert "coverage, Frank-Wolfe UCB, seed 20ConvergenceError: no span below 1e-9" in said
    assert "runs/7f3a.npz: truncated" in said
    complete = Reader(render_report(results([problem("star", 3, optimum_of(3))], seeds=2, last=100))).text()
    assert "not complete" not in complete
    assert "Failed runs" not in complete


def test_more_than_one_version_is_said(read):
    assert "Made by more than one version of Equipoise" in read["hostile"].text()
    assert "more than one version" not in read["showcase"].text()


def test_failures_of_one_kind_are_listed_together():
    made = synthetic.empty()
    failures = tuple(synthetic.Failure("star", "round robin", seed, "boom") for seed in (1, 2, 5))
    assert "star, round robin, seeds 1, 2 and 5boom" in Reader(render_report(replace(made, failures=failures))).text()


def test_the_words_of_a_problem_without_an_optimum(read):
    said = read["showcase"].text()
    assert "There is no certified optimum, so no regret; the value of the average outcome is shown instead." in said
    assert "Value over time" in said
    assert "The offline program has no certified answer for this problem" in said


def test_the_words_of_many_outcomes(read):
    said = read["showcase"].text()
    assert "Of 24 outcomes, the 5 on which TOC-UCRL2 ends furthest from the optimum" in said
    assert "All 24 outcomes and their prices" in said


def test_the_prices_are_minus_theta(read):
    said = read["showcase"].text()
    assert "outcomeoptimumbest agentprice −θ*00.2220.2220.40010.333" in said  # theta is -0.4 for the first
    assert "what a little more of each outcome is worth" in said


def test_agents_without_episodes_are_named(read):
    assert "Without episodes, and left out: round robin." in read["showcase"].text()


def test_what_a_log_axis_cannot_show_is_said(read):
    said = read["vanishing"].text()
    assert re.search(r"Marked ▽ at the bottom: \d+ means of the regret \(zero, negative, or below 0\.\d+\)", said)
    assert "regret reaches zero" in said
    assert "Bands that reach below the axis are cut there." in read["hostile"].text()
    assert "▽ at the bottom:" not in read["crowd"].text()


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("empty", ["No run has a result yet.", "No run of this problem has a result yet.", "missing120"]),
        ("one_checkpoint", ["No results yet: round robin.", "too few checkpoints"]),
        ("without_chance", ["All 10 seeds gave the same curves", "there is nothing to test"]),
        ("showcase", ["One seed only: no mean and no band.", "no test"]),
        ("crowd", ["The others are among all pairs, below.", "All 66 pairs of agents", "−1/2 and −1/3"]),
    ],
)
def test_partial_studies_have_words(read, name, words):
    for said in words:
        assert said in read[name].text()


def test_a_study_of_nothing_at_all():
    made = replace(synthetic.empty(), problems=(), agents=(), name="")
    assert "No run has a result yet." in Reader(render_report(made)).text()


def test_one_problem_has_no_list_of_problems(read):
    assert len(read["showcase"].all("nav")) == 1
    assert not read["crowd"].all("nav")


def test_a_rate_draws_its_guide_above_the_curves_that_it_covers(read):
    spec = json.loads(read["showcase"].scripts()[0])[0]
    assert '"slope \\u22121/2"' in json.dumps(spec)
    (guide,) = [layer["data"]["values"] for layer in spec["layer"] if layer.get("mark", {}).get("clip")]
    start, end = guide
    assert (start["t"], end["t"]) == (10**4, 10**6)
    assert end["y"] / start["y"] == pytest.approx(0.1, rel=1e-4)  # two decades at slope -1/2
    covered = [row for row in spec["data"]["values"] if row["agent"] == "TOC-UCRL2" and row["t"] >= start["t"]]
    assert len(covered) == 21
    for row in covered:
        assert row["y"] < start["y"] * (row["t"] / start["t"]) ** -0.5


def test_the_size_does_not_depend_on_the_number_of_runs():
    few, many = (len(render_report(results([problem("p", 3, optimum_of(3))], seeds=n, last=10**4))) for n in (20, 200))
    assert many < 1.02 * few


def test_it_is_written_whole_or_not_at_all(tmp_path):
    made = synthetic.empty()
    path = tmp_path / "report.html"
    path.write_text("old")
    assert write_report(made, path) == path
    assert path.read_text(encoding="utf-8") == render_report(made)
    assert [p.name for p in tmp_path.iterdir()] == ["report.html"]
    with pytest.raises(FileError, match="cannot be written"):
        write_report(made, tmp_path)  # a folder
    with pytest.raises(FileError, match="cannot be written"):
        write_report(made, tmp_path / "no" / "report.html")
    assert [p.name for p in tmp_path.iterdir()] == ["report.html"]


def test_an_optimum_that_is_no_number_is_no_obstacle():
    nan = float("nan")
    broken = replace(optimum_of(8), value=nan, gap=float("inf"), status="infeasible", outcomes=(nan,) * 8)
    made = results([problem("p", 8, optimum_of(8))], seeds=3, last=100)
    frame = made.frame.with_columns(regret=None, optimum=None).cast({"regret": float, "optimum": float})
    said = Reader(render_report(replace(made, problems=(problem("p", 8, broken),), frame=frame))).text()
    assert "not certified as optimal (infeasible)" in said
    assert "on which the agents end furthest apart" in said
