"""What the reference pages and the picture of the README say is so: errors, symbols, counts, bits."""

from __future__ import annotations

import importlib
import inspect
import json
import re
import shlex
from importlib.util import find_spec
from pathlib import Path

import pytest
from typer.main import get_group

import equipoise
from benchmarks import balance, first_contact
from equipoise import errors
from equipoise.adapters import exploration
from equipoise.cli.main import app
from tests.mutations.catalogue import mutations

pytestmark = pytest.mark.docs

ROOT = Path(__file__).parent.parent


def page(name: str) -> str:
    return (ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8")


def test_every_error_is_explained_and_provoked():
    text = page("reference/errors")
    printed = "".join(re.findall(r"```text\n(.*?)```", text, flags=re.DOTALL))
    classes = {name for name, one in inspect.getmembers(errors, inspect.isclass) if one.__module__ == errors.__name__}
    for name in classes - {"EquipoiseError"}:
        assert f"| `{name}` |" in text
        assert f"{name}: " in printed


def test_the_page_on_reliability_counts_right():
    text = page("reference/reliability")
    pins, saved = (
        json.loads((ROOT / "tests" / "pins" / path).read_text()) for path in ("digests.json", "saved/expected.json")
    )
    assert f"{len(pins)} trajectories" in text
    assert f"{len(saved)} agents as files" in text
    assert text.count(str(len(mutations()))) == 2
    holds, corrected = map(int, re.findall(r"Statements: holds (\d+), holds as corrected (\d+)\.", page("checks"))[0])
    assert f"{holds + corrected} statements" in text
    assert f"{holds} hold as printed and {corrected} as" in text
    (certificates,) = re.findall(r"Of (\d+)\s+certificates (\d+) were below the truth", page("certificates"))
    assert f"of {certificates[0]} certificates {certificates[1]} were" in text


def test_the_picture_is_what_its_program_draws():
    assert balance.PICTURE.read_text(encoding="utf-8") == balance.drawn(balance.rows())
    assert balance.PICTURE.stat().st_size < 30_000


def test_what_the_picture_shows():
    often, once, told, learning = balance.rows()
    assert balance.share_of(often.loops, -1) > 0.7  # always on the way
    assert balance.share_of(once.loops, 0) > 0.99
    for row in (told, learning):
        shares = [balance.share_of(row.loops, k) for k in range(balance.BRANCHES)]
        assert max(shares) - min(shares) < 0.02


def test_links_of_the_readme_lead_somewhere():
    links = re.findall(r"\]\((?!https:)([^)#:]+)[^)]*\)", (ROOT / "README.md").read_text(encoding="utf-8"))
    assert len(links) > 20
    assert [link for link in links if not (ROOT / link).exists()] == []


def test_first_contact_is_what_its_program_measures(tmp_path):
    """The rows are those of the program, which makes of the README what it needs."""
    measured = page("reference/reliability").partition(first_contact.MARK)[2]
    assert measured.startswith(first_contact.TEXT)
    rows = [what for what, _ in first_contact.contacts(tmp_path)]
    assert re.findall(r"^\| (.*?) \| [\d.]+ \|$", measured, flags=re.MULTILINE) == rows


def test_how_much_faster_than_peers():
    """The page beside other tools has the least and the largest ratio of the table of peers, in round numbers."""
    rows = re.findall(
        r"^\| ([\w ]+) \| (`?[\w, -]+`?) \| [^|]+ \| \d+ \| ([\d,]+) \|$", page("leaderboard"), re.MULTILINE
    )
    speeds = {(problem, agent): int(speed.replace(",", "")) for problem, agent, speed in rows}
    same = {"PSRL": "`PosteriorSampling`", "UCRL2": "`L1`", "UCRL2B": "`Bernstein`"}
    ratios = [speeds[problem, same[peer]] / speed for (problem, peer), speed in speeds.items() if peer in same]
    assert len(ratios) >= 12
    ((least, most),) = re.findall(r"runs ([\d,]+) to ([\d,]+) times as", page("reference/comparison"))
    for said, measured in ((least, min(ratios)), (most, max(ratios))):
        assert int(said.replace(",", "")) == float(f"{measured:.2g}")


def test_what_mechanics_are_worth():
    """The page on choices has the extremes of the table of the three largest systems."""
    table = page("mechanics").partition("table / mechanics at 10,000 |")[2]
    worth = dict(re.findall(r"^\| ([\w, ]+) \|.*\| ([\d.]+) \|$", table, flags=re.MULTILINE))
    large = sorted(round(float(worth[name])) for name in ("inventory, 189 states", "queue, 169 states", "department"))
    for name in ("mechanics", "reference/choosing"):
        assert f"{large[0]} to {large[-1]} times less" in page(name)


def applications() -> dict[tuple[str, str], list[float]]:
    """Mean regrets at 10^4, 10^5 and 10^6 steps in the tables of measured applications, by problem and agent."""
    found, problem = {}, ""
    for line in re.findall(r"^\|(.*±.*)\|$", page("applications/measured"), flags=re.MULTILINE):
        first, agent, *cells = [cell.strip(" *") for cell in line.split("|")]
        problem = first or problem
        found[problem, agent] = [float(cell.split(" ±")[0]) for cell in cells]
    return found


def test_what_the_measured_applications_say():
    """The sentences under the tables, from the tables."""
    text, regrets = page("applications/measured"), applications()
    assert len(regrets) > 50
    learning = {
        problem: means for (problem, agent), means in regrets.items() if agent in ("TOC-UCRL2", "KnapsackTocUCRL2")
    }
    knowing = {
        problem: min(means[-1] for (of, agent), means in regrets.items() if of == problem and "stationary" in agent)
        for problem in learning
        if problem != "patrol"
    }
    assert all(means == sorted(means, reverse=True) for means in learning.values())
    ignoring = ("random", "round robin", "only ", "most ")
    for (problem, agent), means in regrets.items():
        assert not agent.startswith(ignoring) or learning[problem][-1] < means[-1]
    one_class = ("queue", "queue, 2-norm", "proportional", "worst user", "Gini")
    assert all(knowing[problem] < learning[problem][-1] for problem in one_class)
    assert all(learning[problem][-1] < knowing[problem] for problem in ("inventory", "sites"))
    assert f"{1 - learning['patrol'][-1]:.5f}".removeprefix("0") + " of the optimal entropy" in text
    worst, gini = (learning[name][-1] / regrets[name, "counts inherited"][-1] for name in ("worst user", "Gini"))
    assert f"at 10⁶ by {worst:.1f} (worst user) and by {gini:.1f} (Gini)" in " ".join(text.split())


def test_what_the_page_on_the_department_takes_from_the_page_on_mechanics():
    text = " ".join(page("applications/department").split())
    rows = re.findall(r"^\| (\d+) \|(.*)\| (\d+) of 10 \|$", page("mechanics"), flags=re.MULTILINE)
    weeks = {int(week): [float(x) for x in cells.split("|")] for week, cells, _ in rows}
    proven = {int(week): int(often) for week, _, often in rows}
    rule, table, told, mean, most = range(5)
    assert f"loses {weeks[52][rule]:.3f} for good" in text
    assert weeks[52][table] == weeks[26][table]
    assert f"loses {weeks[52][table]:.3f} after a year as after half of it" in text
    assert f"loses {weeks[1][told]:.1g} after a week and {weeks[4][told]:.1g} after four" in text
    assert "in the mean after four weeks that less than 1 % is lost, in all of them after half a year" in text
    assert weeks[2][mean] >= 0.01 > weeks[4][mean]
    assert weeks[8][most] >= 0.01 > weeks[26][most]
    assert "in all of them after two weeks that the goals cannot all be met" in text
    assert proven[1] < proven[2] == 10
    ward = equipoise.mechanics.department().space
    assert f"{ward.n_states} states and {ward.n_pairs:,} pairs" in text
    assert f"has {365 * 144:,} slots" in text


def test_what_easing_a_constraint_is_worth():
    text = page("constraints")
    (multiplier,) = re.findall(r"^\| shop \| fill rate at least 0.9 \| [\d.]+ \| ([\d.]+) \|", text, re.MULTILINE)
    assert f"would free {0.01 * float(multiplier):.3f} of the shelves" in text


def test_how_far_a_model_of_an_environment_is_checked():
    text = page("gymnasium")
    assert f"for {exploration._CHECK:,} steps (`check=`)" in text
    assert exploration._LAWS_PER_STEP == 20
    assert "the whole law of every twentieth" in text


def named(text: str) -> set[str]:
    """Names of the package in a page, such as eq.rewards.Linear."""
    found = re.findall(r"\b(?:eq|equipoise)((?:\.[A-Za-z_]\w*)+)", text)
    return {name for name in found if name.rpartition(".")[2] not in ("md", "npz", "toml")}


def exists(name: str) -> bool:
    place: object = equipoise
    path = "equipoise"
    for part in name.split(".")[1:]:
        path += f".{part}"
        place = getattr(place, part, None) or (importlib.import_module(path) if find_spec(path) else None)
        if place is None:
            return False
    return True


PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "RELEASING.md", ROOT / "SECURITY.md"]
PAGES += [path for path in sorted((ROOT / "docs").rglob("*.md")) if "generated" not in path.parts]


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_what_a_page_names_is_there(path):
    """Names of the package, targets of the Makefile, files and folders of the repository, programs."""
    text = path.read_text(encoding="utf-8")
    assert sorted(name for name in named(text) if ".deep" not in name and not exists(name)) == []
    code = re.findall(r"`([^`\n]+)`", re.sub(r"```.*?```", "", text, flags=re.DOTALL))
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), flags=re.MULTILINE))
    assert {target for one in code for target in re.findall(r"^make ([a-z-]+)", one)} <= targets
    files = [one for one in code if re.fullmatch(r"(?:docs|tests|examples|studies|benchmarks|src|\.ci)/[\w./-]*", one)]
    programs = [
        f"{name.replace('.', '/')}" for one in code for name in re.findall(r"^python -m (benchmarks[\w.]*)", one)
    ]
    files += [name if (ROOT / name).is_dir() else f"{name}.py" for name in programs]
    assert [name for name in files if not (ROOT / name).exists()] == []


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_what_a_page_types_is_understood(path):
    """The commands of the program `equipoise` and their options, in blocks and in lines."""
    text = path.read_text(encoding="utf-8")
    blocks = "".join(re.findall(r"```sh\n(.*?)```", text, flags=re.DOTALL)).replace("\\\n", " ")
    typed = re.findall(r"^(?:\.venv/bin/)?equipoise (.*)$", blocks, flags=re.MULTILINE)
    typed += re.findall(r"`equipoise ([a-z][^`\n]*|--[^`\n]*)`", text)
    program = get_group(app)
    for line in typed:
        words = shlex.split(line, comments=True)
        command = program if words[0].startswith("--") else program.commands[words[0]]
        options = {option for parameter in command.params for option in (*parameter.opts, *parameter.secondary_opts)}
        assert {word for word in words if word.startswith("--")} <= options | {"--help"}, line
