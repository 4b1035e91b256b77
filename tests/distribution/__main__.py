"""Build what is published, look into it, install it into an empty environment, and try it there.

    python -m tests.distribution [--release] [--out FOLDER] [--python PYTHON]

The wheel is built from the source archive. It is installed with the versions of constraints.txt and none of the
extras. The program and a quick part of the tests then run away from the sources, with an empty cache. With --release,
the addresses that a release must have are asked for too. The exit code is 1 at the first thing that is wrong.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
from pathlib import Path

from tests.distribution import contents

ROOT = Path(__file__).parents[2]
NEEDED_BY_TESTS = ("pytest>=8.2,<10", "pytest-xdist>=3.6,<4")
TRIED = (
    "tests/pins",
    "tests/cli/test_help.py",
    "tests/reference/test_reference.py",
)
STAR = ("--world", "star", "--reward", '{kind = "BottomSum", kappa = 1}')


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.distribution", description=__doc__.splitlines()[0])
    parser.add_argument("--release", action="store_true", help="ask for what a release must have")
    parser.add_argument("--out", type=Path, default=ROOT / "dist", help="where to leave both archives")
    parser.add_argument("--python", default=sys.executable, help="the Python to install it for")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="equipoise-dist-") as folder:
        work = Path(folder)
        source, wheel = built(work)
        looked_into(source, wheel, chosen.release)
        tried(work, source, wheel, chosen.python)
        chosen.out.mkdir(parents=True, exist_ok=True)
        for archive in (source, wheel):
            print(shutil.copy2(archive, chosen.out))


def built(work: Path) -> tuple[Path, Path]:
    """The source archive, and the wheel made from it."""
    archives = work / "archives"
    step("build", [sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-d", archives], cwd=ROOT)
    (source,) = archives.glob("*.tar.gz")
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "wheel", "--quiet", "--no-deps"]
    step("wheel from the source archive", [*pip, "--no-build-isolation", "-w", archives, source], cwd=work)
    (wheel,) = archives.glob("*.whl")
    return source, wheel


def looked_into(source: Path, wheel: Path, release: bool) -> None:
    wanted, about = contents.sources(ROOT), contents.metadata_of(wheel)
    wrong = [
        *contents.wrong_in_source(contents.names_in(source), wanted),
        *contents.wrong_in_wheel(contents.names_in(wheel), wanted),
        *contents.wrong_in_metadata(about, ROOT / "pyproject.toml"),
    ]
    if release:
        wrong += [f"[project.urls]: {name} is missing" for name in contents.missing_links(about)]
    if wrong:
        sys.exit("\n".join(f"wrong: {line}" for line in wrong))


def tried(work: Path, source: Path, wheel: Path, python: str) -> None:
    """Install the wheel alone, and run the program and a quick part of the tests from an empty folder."""
    place, there = work / "installed", work / "elsewhere"
    step("environment", [python, "-m", "venv", place])
    pip = [place / "bin" / "pip", "--disable-pip-version-check", "install", "--quiet", "-c", ROOT / "constraints.txt"]
    step("install", [*pip, wheel])
    with tarfile.open(source) as archive:
        archive.extractall(there, filter="data")
    (unpacked,) = there.iterdir()
    shutil.rmtree(unpacked / "src")  # so that nothing but what is installed can be imported
    environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PYTHONHOME")}
    environment |= {"EQUIPOISE_CACHE_DIR": str(work / "cache")}

    def there_runs(title: str, *command: object) -> None:
        step(title, [place / "bin" / command[0], *command[1:]], cwd=unpacked, env=environment)

    where = (
        "import equipoise, sys; from pathlib import Path; assert Path(equipoise.__file__).is_relative_to(sys.prefix)"
    )
    there_runs("import", "python", "-c", where)
    there_runs("version", "equipoise", "--version")
    there_runs("doctor", "equipoise", "doctor")
    there_runs("solve", "equipoise", "solve", *STAR)
    small = ("--steps", 2000, "--seeds", 1, "--jobs", 1)  # of two processes each would compile, as the cache is empty
    there_runs("run", "equipoise", "run", "studies/quick.toml", "--out", work / "out", *small)
    there_runs("report", "equipoise", "report", work / "out")
    step("what tests need", [*pip, *NEEDED_BY_TESTS])
    there_runs("tests", "python", "-m", "pytest", "-n", "auto", "-m", "not slow", *TRIED)


def step(title: str, command: list[object], **options: object) -> None:
    """Run a command; say how long it took, or what it said if it fails."""
    began = time.monotonic()
    words = [str(word) for word in command]
    done = subprocess.run(words, capture_output=True, text=True, check=False, **options)
    if done.returncode:
        sys.exit(f"wrong: {title}: exit code {done.returncode} of {' '.join(words)}\n{done.stdout}{done.stderr}")
    print(f"{title}: {time.monotonic() - began:.1f} s", flush=True)


if __name__ == "__main__":
    main()
