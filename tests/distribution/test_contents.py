"""What is wrong with an archive is seen; the archives themselves are built and tried by `make dist`."""

from __future__ import annotations

import email
import io
import tarfile
import zipfile
from pathlib import Path

import pytest

from tests.distribution import contents

ROOT = Path(__file__).parents[2]
WANTED = {"equipoise/__init__.py", "equipoise/py.typed", "equipoise/reports/pages/templates/page.html.j2"}
WHEEL = {*WANTED, "equipoise-1.0.dist-info/METADATA", "equipoise-1.0.dist-info/licenses/LICENSE"}
SOURCE = {*contents.FOR_A_SOURCE, *(f"src/{name}" for name in WANTED), "tests/test_package.py"}


def test_the_package_has_what_a_wheel_must_have():
    assert contents.sources(ROOT) >= WANTED
    assert not [name for name in contents.sources(ROOT) if "__pycache__" in name]


@pytest.mark.parametrize(
    ("added", "removed", "complaint"),
    [
        ("", "", None),
        ("tests/test_package.py", "", "not of the package: tests/test_package.py"),
        (
            "equipoise/__pycache__/__init__.cpython-311.pyc",
            "",
            "rubbish: equipoise/__pycache__/__init__.cpython-311.pyc",
        ),
        ("equipoise/draft.py", "", "of nowhere: equipoise/draft.py"),
        ("", "equipoise/py.typed", "missing: equipoise/py.typed"),
        ("", "equipoise-1.0.dist-info/licenses/LICENSE", "missing: the licence"),
    ],
)
def test_a_wheel(added, removed, complaint):
    names = (WHEEL | {added or "equipoise/py.typed"}) - {removed}
    assert contents.wrong_in_wheel(names, WANTED) == ([] if complaint is None else [complaint])


@pytest.mark.parametrize(
    ("added", "removed", "complaint"),
    [
        ("", "", None),
        (".venv/bin/python", "", "rubbish: .venv/bin/python"),
        ("out/quick/report.html", "", "rubbish: out/quick/report.html"),
        ("site/index.html", "", "rubbish: site/index.html"),
        ("tests/site/test_site.py", "", None),
        ("", "CITATION.cff", "missing: CITATION.cff"),
        ("", "src/equipoise/py.typed", "missing: src/equipoise/py.typed"),
        ("", "tests/test_package.py", "missing: the tests"),
    ],
)
def test_a_source_archive(added, removed, complaint):
    names = (SOURCE | {added or "README.md"}) - {removed}
    assert contents.wrong_in_source(names, WANTED) == ([] if complaint is None else [complaint])


def test_archives_are_read(tmp_path):
    with zipfile.ZipFile(tmp_path / "a.whl", "w") as wheel:
        wheel.writestr("equipoise/__init__.py", "")
        wheel.writestr("a.dist-info/METADATA", "Name: equipoise\nRequires-Python: >=3.11\n")
    assert contents.names_in(tmp_path / "a.whl") == ["equipoise/__init__.py", "a.dist-info/METADATA"]
    assert contents.metadata_of(tmp_path / "a.whl")["Requires-Python"] == ">=3.11"
    with tarfile.open(tmp_path / "a.tar.gz", "w:gz") as source:
        member = tarfile.TarInfo("equipoise-1.0/README.md")
        source.addfile(member, io.BytesIO())
    assert contents.names_in(tmp_path / "a.tar.gz") == ["README.md"]


def test_metadata_and_addresses():
    about = email.message_from_string(
        "Name: equipoise\nRequires-Python: >=3.8\nLicense-Expression: MIT\nDescription-Content-Type: text/markdown\n"
        "Project-URL: Repository, https://example.org/x\nProject-URL: Issues, https://example.org/y\n\nReadme."
    )
    wrong = contents.wrong_in_metadata(about, ROOT / "pyproject.toml")
    assert wrong == ["Requires-Python: >=3.8", "the classifiers differ"]
    assert contents.missing_links(about) == ["changelog", "documentation"]


def test_the_address_of_the_paper_is_no_home():
    about = email.message_from_string(
        "Name: equipoise\nProject-URL: Paper, https://example.org/paper\n"
        "Project-URL: Repository, https://example.org/paper\n\nReadme."
    )
    assert contents.missing_links(about) == sorted(contents.WANTED_LINKS)
