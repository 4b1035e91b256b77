"""Python, this package, and the libraries that it needs, set against what the package's own metadata asks for."""

from __future__ import annotations

import importlib.metadata
import platform
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

import equipoise
from equipoise._version import VERSION
from equipoise.cli.health.finding import Finding

_NAME: Final = "equipoise"
_NOT_FOR_USERS: Final = frozenset({"dev"})

VersionOf = Callable[[str], str | None]
"""The version of a library by the name of its distribution; None if it is not installed."""


def libraries() -> list[Finding]:
    """What is installed, and whether it fits."""
    place = Path(equipoise.__file__).parent
    try:
        about = importlib.metadata.metadata(_NAME)
    except importlib.metadata.PackageNotFoundError:
        advice = "install it, so that what it needs is known: pip install FOLDER"
        return [Finding("equipoise", f"{VERSION} in {place}, which is not installed", "note", advice)]
    lines = importlib.metadata.requires(_NAME) or []
    extras = about.get_all("Provides-Extra") or []
    return [
        python(platform.python_version(), about["Requires-Python"] or ""),
        package(VERSION, about["Version"], place),
        *needed(lines, installed),
        *optional(lines, sorted(set(extras) - _NOT_FOR_USERS), installed),
    ]


def installed(name: str) -> str | None:
    """The version that is installed of a library, if any.

    >>> installed("no-such-library") is None
    True
    """
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def python(version: str, wanted: str) -> Finding:
    """The interpreter.

    >>> python("3.10.2", ">=3.11").seen.split(" in ")[0]
    '3.10.2; >=3.11 is needed'
    """
    where = f"{platform.python_implementation()} in {sys.executable}"
    if SpecifierSet(wanted).contains(version, prereleases=True):
        return Finding("Python", f"{version}, {where}")
    return Finding("Python", f"{version}; {wanted} is needed", "wrong", f"use a newer one; this is {where}")


def package(version: str, recorded: str, place: Path) -> Finding:
    """The package itself: the version of its code, and the one that was installed.

    >>> package("0.2.0", "0.1.0", Path("lib")).verdict
    'wrong'
    """
    if version == recorded:
        return Finding("equipoise", f"{version} in {place}")
    seen = f"the code in {place} is {version}, and what pip installed is {recorded}"
    return Finding("equipoise", seen, "wrong", "install it again, and look for a second copy on PYTHONPATH")


def needed(lines: Iterable[str], version_of: VersionOf) -> Iterator[Finding]:
    """The libraries that it cannot do without.

    >>> [one.seen for one in needed(["numpy<3,>=2.0", "torch; extra == 'deep'"], lambda name: "1.20.0")]
    ['1.20.0; <3,>=2.0 is needed']
    """
    for one in _applying(lines, ""):
        yield _fits(one, version_of) or Finding(one.name, version_of(one.name) or "")


def optional(lines: Sequence[str], extras: Iterable[str], version_of: VersionOf) -> Iterator[Finding]:
    """The extras: what of each is there.

    >>> [one.advice for one in optional(["torch<3; extra == 'deep'"], ["deep"], lambda name: None)]
    ["pip install 'equipoise[deep]'"]
    """
    core = {str(one) for one in _applying(lines, "")}
    for extra in extras:
        own = [one for one in _applying(lines, extra) if str(one) not in core]
        absent = [one.name for one in own if version_of(one.name) is None]
        unfit = [bad for one in own if one.name not in absent and (bad := _fits(one, version_of))]
        title = f"extra {extra}"
        if absent:
            advice = f"pip install '{_NAME}[{extra}]'"
            yield Finding(title, f"{', '.join(absent)} not installed; only for those who want it", "note", advice)
        elif not unfit:
            yield Finding(title, ", ".join(f"{one.name} {version_of(one.name)}" for one in own))
        for bad in unfit:
            yield Finding(f"{title}: {bad.about}", bad.seen, "wrong", bad.advice)


def _applying(lines: Iterable[str], extra: str) -> list[Requirement]:
    """What applies here with this extra (or none), other extras of this package left aside."""
    parsed = (Requirement(line) for line in lines)
    return [
        one for one in parsed if one.name != _NAME and (one.marker is None or one.marker.evaluate({"extra": extra}))
    ]


def _fits(one: Requirement, version_of: VersionOf) -> Finding | None:
    """What is wrong with a library; None if nothing is."""
    version, advice = version_of(one.name), f"pip install '{one.name}{one.specifier}'"
    if version is None:
        return Finding(one.name, "not installed", "wrong", advice)
    if not one.specifier.contains(version, prereleases=True):
        return Finding(one.name, f"{version}; {one.specifier} is needed", "wrong", advice)
    return None
