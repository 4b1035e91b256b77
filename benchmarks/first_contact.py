"""What a new user waits for: a fresh environment, nothing compiled, and what the README says.

`python -m benchmarks.first_contact` installs the package into an empty environment, runs the README's programs, a model
of one's own and a study of it, and writes the table at the end of docs/reference/reliability.md. Seconds are those of
the processor, all processes together; on an idle machine one waits for less, as studies run in parallel.
"""

from __future__ import annotations

import os
import re
import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from benchmarks.leaderboard import table
from equipoise._files import write_bytes

ROOT: Final = Path(__file__).parent.parent
PAGE: Final = ROOT / "docs" / "reference" / "reliability.md"
MARK: Final = "## First contact\n"
TEXT: Final = """
What a new user waits for: an empty environment, nothing compiled, and the programs of the README one after the other.
`python -m benchmarks.first_contact` measures it, in seconds of the processor. The wait is mostly for compilation, once
a version, and each stretch of it is announced.

"""
# Two machines and one mechanic, who wants the worse of the two to run as often as possible.
OWN: Final = """
import equipoise as eq

labels = eq.Labels(states=["both run", "A down", "B down", "both down"], outcomes=["A up", "B up"])
transitions = [
    [[0.81, 0.09, 0.09, 0.01], [0.81, 0.09, 0.09, 0.01]],
    [[0.72, 0.18, 0.08, 0.02], [0.09, 0.81, 0.01, 0.09]],
    [[0.09, 0.01, 0.81, 0.09], [0.72, 0.08, 0.18, 0.02]],
    [[0.0, 0.0, 0.8, 0.2], [0.0, 0.8, 0.0, 0.2]],
]
outcomes = [[[1, 1]] * 2, [[0, 1]] * 2, [[1, 0]] * 2, [[0, 0]] * 2]
model = eq.Model.from_arrays(transitions, outcomes, labels=labels)
agent = eq.recommended(model.space, eq.rewards.BottomSum(2, 1))
eq.simulate(model, agent, steps=100_000, seed=1)
print(agent.certificate())
model.save("mine.npz")
"""
STUDY: Final = """
name = "mine"
steps = 100_000
seeds = 5

[[problems]]
name = "machines"
world = { file = "mine.npz" }
reward = { kind = "BottomSum", kappa = 1 }

[[agents]]
kind = "recommended"

[[agents]]
kind = "RoundRobin"
"""


def readme() -> list[str]:
    """The programs of the README."""
    return re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), flags=re.DOTALL)


def contacts(folder: Path) -> Iterator[tuple[str, list[str]]]:
    """What is done, and the command; files are written on the way."""
    programs = folder / "env" / "bin"
    python, equipoise = str(programs / "python"), str(programs / "equipoise")
    first, _, own = readme()
    for name, text in {
        "first.py": first,
        "shop.py": f"import equipoise as eq\n{own}",
        "own.py": OWN,
        "mine.toml": STUDY,
    }.items():
        (folder / name).write_text(text, encoding="utf-8")
    install = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    yield "an empty environment, `pip install .`", [*install, "-c", str(ROOT / "constraints.txt"), str(ROOT)]
    yield "the first result: the README's first program", [python, "first.py"]
    yield "the same again", [python, "first.py"]
    yield "a system of one's own, as a step function: the README's shop", [python, "shop.py"]
    yield "a system of one's own, as tables", [python, "own.py"]
    yield "a study of it: two agents, five seeds", [equipoise, "run", "mine.toml", "--out", "out"]
    yield "its report", [equipoise, "report", "out"]
    yield (
        "the demo's study, `studies/quick.toml`",
        [equipoise, "run", str(ROOT / "studies" / "quick.toml"), "--out", "quick"],
    )
    yield "its report", [equipoise, "report", "quick"]


def measured(folder: Path) -> Iterator[tuple[str, str]]:
    """What is done, and the seconds it takes."""
    subprocess.run([sys.executable, "-m", "venv", str(folder / "env")], check=True)
    environment = dict(os.environ) | {"EQUIPOISE_CACHE_DIR": str(folder / "cache")}
    for what, command in contacts(folder):
        before = _processor()
        subprocess.run(command, check=True, cwd=folder, env=environment, capture_output=True)
        yield what, f"{_processor() - before:.1f}"


def _processor() -> float:
    """Seconds of the processor that all children have taken so far."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        rows = list(measured(Path(folder)))
    before, _, after = PAGE.read_text(encoding="utf-8").partition(MARK)
    rest = after[after.index("\n## ") :]
    write_bytes(PAGE, (before + MARK + TEXT + table(["what", "s"], rows) + rest).encode())


if __name__ == "__main__":
    main()
