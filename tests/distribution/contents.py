"""What must and must not be in the archives that are published."""

from __future__ import annotations

import email
import tarfile
import tomllib
import zipfile
from collections.abc import Iterable
from email.message import Message
from pathlib import Path, PurePosixPath

PACKAGE = "equipoise"
RUBBISH = {
    ".git", ".venv", "__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache", ".hypothesis", "node_modules",
}  # fmt: skip
MADE = {"out", "site", "dist", "build"}  # by make, in the first folder; deeper, a folder of that name is a source's
COMPILED = {".pyc", ".pyo", ".nbc", ".nbi", ".so"}
FOR_A_SOURCE = {
    "PKG-INFO", "README.md", "LICENSE", "CHANGELOG.md", "CITATION.cff", "CONTRIBUTING.md", "SECURITY.md", "Makefile",
    "pyproject.toml", "constraints.txt", "constraints-lowest.txt", "conftest.py",
}  # fmt: skip
WANTED_LINKS = {"documentation", "repository", "issues", "changelog"}


def names_in(archive: Path) -> list[str]:
    """The files of a wheel, or of a source archive without the folder that holds them all."""
    if archive.suffix == ".whl":
        with zipfile.ZipFile(archive) as wheel:
            return [name for name in wheel.namelist() if not name.endswith("/")]
    with tarfile.open(archive) as source:
        return [member.name.partition("/")[2] for member in source.getmembers() if member.isfile()]


def metadata_of(wheel: Path) -> Message:
    """What a wheel says of itself."""
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        return email.message_from_bytes(archive.read(name))


def sources(root: Path) -> set[str]:
    """The files of the package, as a wheel should name them."""
    files = (path for path in (root / "src" / PACKAGE).rglob("*") if path.is_file())
    return {
        path.relative_to(root / "src").as_posix()
        for path in files
        if path.suffix not in COMPILED and not RUBBISH & set(path.parts[len(root.parts) :])
    }


def wrong_in_wheel(names: Iterable[str], wanted: set[str]) -> list[str]:
    """What a wheel has that it should not, and what it lacks."""
    names = set(names)
    own = {name for name in names if PurePosixPath(name).parts[0] == PACKAGE}
    about = {name for name in names if PurePosixPath(name).parts[0].endswith(".dist-info")}
    wrong = [f"not of the package: {name}" for name in sorted(names - own - about)]
    wrong += [f"rubbish: {name}" for name in sorted(own) if _is_rubbish(name)]
    wrong += [f"missing: {name}" for name in sorted(wanted - own)]
    wrong += [f"of nowhere: {name}" for name in sorted(own - wanted) if not _is_rubbish(name)]
    if not any(name.endswith("/licenses/LICENSE") for name in about):
        wrong.append("missing: the licence")
    return wrong


def wrong_in_source(names: Iterable[str], wanted: set[str]) -> list[str]:
    """The same of a source archive, which has the tests and all else that is needed to work on it."""
    names = set(names)
    wrong = [f"rubbish: {name}" for name in sorted(names) if _is_rubbish(name)]
    wrong += [f"missing: {name}" for name in sorted(FOR_A_SOURCE - names)]
    wrong += [f"missing: src/{name}" for name in sorted(wanted) if f"src/{name}" not in names]
    if not any(name.startswith("tests/") for name in names):
        wrong.append("missing: the tests")
    return wrong


def _is_rubbish(name: str) -> bool:
    path = PurePosixPath(name)
    return path.parts[0] in MADE or bool(RUBBISH & set(path.parts)) or path.suffix in COMPILED


def wrong_in_metadata(about: Message, project: Path) -> list[str]:
    """What pyproject.toml promises and a wheel does not say, or the other way round."""
    said = tomllib.loads(project.read_text(encoding="utf-8"))["project"]
    wrong = []
    if about["Requires-Python"] != said["requires-python"]:
        wrong.append(f"Requires-Python: {about['Requires-Python']}")
    if set(about.get_all("Classifier", [])) != set(said["classifiers"]):
        wrong.append("the classifiers differ")
    if about["License-Expression"] != said["license"]:
        wrong.append(f"License-Expression: {about['License-Expression']}")
    if about["Description-Content-Type"] != "text/markdown" or not about.get_payload():
        wrong.append("the README is missing")
    return wrong


def missing_links(about: Message) -> list[str]:
    """The addresses of its own that a release must have, and that this wheel does not name; the paper's is not one."""
    pairs = (line.partition(",")[::2] for line in about.get_all("Project-URL", []))
    links = {name.strip().lower(): address.strip() for name, address in pairs}
    paper = links.get("paper")
    return sorted(name for name in WANTED_LINKS if not links.get(name) or links[name] == paper)
