"""The files that a repository is met by: they agree with one another, and what they name is there."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version
from trove_classifiers import classifiers

import equipoise as eq
from tests.distribution.contents import WANTED_LINKS
from tests.mutations.catalogue import mutations

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
PAGES = ("README.md", "CONTRIBUTING.md", "SECURITY.md", "CODE_OF_CONDUCT.md", "RELEASING.md")
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
FORMS = sorted(path for path in (ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml") if path.stem != "config")


def text(name):
    return (ROOT / name).read_text(encoding="utf-8")


def read(path):
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def anchors(page):
    """The places in a page, by the rule that hosts and documentation builders share."""
    titles = re.findall(r"^#+ (.+)$", page, flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.replace("`", "").lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("name", PAGES)
def test_links_lead_somewhere(name):
    for link in re.findall(r"\]\(([^)\s]+)\)", text(name)):
        if re.match(r"[a-z]+:", link):
            continue
        file, _, place = link.partition("#")
        page = ROOT / file if file else ROOT / name
        assert page.exists(), link
        assert not place or place in anchors(page.read_text(encoding="utf-8")), link


def targets():
    return set(re.findall(r"^([\w-]+):", text("Makefile"), flags=re.MULTILINE))


@pytest.mark.parametrize("name", [*PAGES, ".ci/run", ".github/pull_request_template.md"])
def test_targets_of_make_are_there(name):
    commands = re.findall(r"\bmake((?: [a-z][\w-]*)+)", "\n".join(re.findall(r"`[^`\n]+`|^make .+$", text(name), re.M)))
    named = {word for command in commands for word in command.split()}
    assert named <= targets(), name
    assert named or name in ("SECURITY.md", "CODE_OF_CONDUCT.md")


def test_files_and_mutations_that_contributing_names_are_there():
    page = text("CONTRIBUTING.md")
    paths = re.findall(r"\b((?:tests|src|docs|examples|studies|benchmarks)/[\w/.]+\w)", page)
    assert len(paths) >= 6
    assert [path for path in paths if not (ROOT / path).exists()] == []
    (tried,) = re.findall(r"tests\.mutations --aimed (.+)", page)
    assert set(tried.split()) <= {mutation.name for mutation in mutations()}


def lint_commands():
    """What `make lint` runs."""
    (rule,) = re.findall(r"^lint:.*\n((?:\t.+\n)+)", text("Makefile"), flags=re.MULTILINE)
    return [line.strip().replace("$(BIN)", ".venv/bin") for line in rule.splitlines()]


def test_hooks_are_what_make_lint_runs_and_fetch_nothing():
    repos = read(ROOT / ".pre-commit-config.yaml")["repos"]
    assert [repo["repo"] for repo in repos] == ["local"]
    assert [hook["entry"] for hook in repos[0]["hooks"]] == lint_commands()
    assert {hook["language"] for hook in repos[0]["hooks"]} == {"system"}


def pythons_tried():
    jobs = read(ROOT / ".github" / "workflows" / "ci.yml")["jobs"]
    steps = jobs["everything"]["steps"]
    assert [step["run"] for step in steps if "run" in step] == [".ci/run"]
    first = next(step["with"]["python-version"] for step in steps if "setup-python" in step.get("uses", ""))
    return [first, *jobs["pythons"]["strategy"]["matrix"]["python"]]


def test_the_pythons_that_are_promised_are_tried():
    promised = [found[1] for name in PROJECT["classifiers"] if (found := re.search(r":: Python :: (3\.\d+)$", name))]
    assert pythons_tried() == promised
    assert PROJECT["requires-python"] == f">={promised[0]}"


def test_the_lowest_versions_that_are_tested_are_those_that_are_promised():
    pinned = dict(line.split("==") for line in text("constraints-lowest.txt").splitlines() if not line.startswith("#"))
    tried = {canonicalize_name(name): version for name, version in pinned.items()}
    extras = PROJECT["optional-dependencies"]
    of_tests = [line for line in extras["dev"] if line.startswith(("pandas", "hypothesis", "pytest"))]
    for_users = [*PROJECT["dependencies"], *extras["cluster"], *extras["gymnasium"], *extras["mo-gymnasium"]]
    for needed in map(Requirement, [*for_users, *of_tests]):
        if needed.name != PROJECT["name"]:
            (lowest,) = (one.version for one in needed.specifier if one.operator == ">=")
            assert Version(tried[canonicalize_name(needed.name)]) == Version(lowest), needed
    assert "make lowest" in text(".ci/run").splitlines()


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_workflows_have_few_rights_and_pinned_parts(path):
    flow = read(path)
    assert flow["permissions"] == {"contents": "read"}
    assert "secrets." not in path.read_text(encoding="utf-8")  # nothing is stored that could be stolen
    for name, job in flow["jobs"].items():
        rights = job.get("permissions", {})
        assert rights in ({}, {"contents": "read"}, {"id-token": "write"})
        assert ("id-token" in rights) == (name == "publish")
        for step in job.get("steps", []):
            assert re.fullmatch(r"[\w./-]+@[0-9a-f]{40}", step.get("uses", f"a@{'0' * 40}")), step
        commands = [word for step in job.get("steps", []) for word in re.findall(r"^make (.+)", step.get("run", ""))]
        assert {word for command in commands for word in command.split()} <= targets()


def test_a_release_is_checked_before_it_is_published():
    jobs = read(ROOT / ".github" / "workflows" / "release.yml")["jobs"]
    assert jobs["publish"]["needs"] == "build"
    assert jobs["build"]["needs"] == "check"
    assert jobs["check"]["uses"] == "./.github/workflows/ci.yml"
    assert {"run": "make release-check"} in jobs["build"]["steps"]
    assert jobs["publish"]["environment"] == "pypi"


@pytest.mark.parametrize("path", FORMS, ids=lambda path: path.stem)
def test_forms_of_issues(path):
    form = read(path)
    assert {"name", "description", "body"} <= set(form)
    identities = [field["id"] for field in form["body"]]
    assert len(identities) == len(set(identities))
    for field in form["body"]:
        assert field["type"] in {"textarea", "input", "dropdown"}
        assert field["attributes"]["label"]
        assert ("options" in field["attributes"]) == (field["type"] == "dropdown")


def test_there_is_a_form_for_each_kind():
    assert [path.stem for path in FORMS] == ["bug", "model", "paper"]
    assert "equipoise doctor --json" in (ROOT / ".github" / "ISSUE_TEMPLATE" / "bug.yml").read_text(encoding="utf-8")


def test_the_citation_is_of_this_version_and_of_the_paper():
    citation = read(ROOT / "CITATION.cff")
    assert citation["version"] == eq.__version__
    assert citation["license"] == PROJECT["license"]
    (paper,) = citation["references"]
    assert f"*{paper['title']}*" in re.sub(r"\s+", " ", text("README.md"))
    assert paper["url"] == PROJECT["urls"]["Paper"]
    (author,) = paper["authors"]
    assert (author["given-names"], author["family-names"]) == ("Wang Chi", "Cheung")


def test_classifiers_are_known_and_leave_the_licence_to_its_field():
    assert set(PROJECT["classifiers"]) <= classifiers
    assert not [name for name in PROJECT["classifiers"] if name.startswith("License")]


def test_addresses_of_the_project_are_all_there_or_none():
    """An address that nobody has would be worse than none; RELEASING.md says when to write them down."""
    urls = {name.lower() for name in PROJECT["urls"]}
    assert urls == {"paper"} or urls >= WANTED_LINKS
    assert all(f"`{name.capitalize()}`" in text("RELEASING.md") for name in WANTED_LINKS)
