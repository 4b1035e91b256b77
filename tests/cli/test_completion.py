"""What shells offer after a TAB."""

from __future__ import annotations

import inspect
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import equipoise as eq
from equipoise.agents import vocabulary
from equipoise.cli import options
from tests.cli.inside import inside

STUDY = Path(__file__).parents[2] / "studies" / "kpis.toml"


def offered(monkeypatch, *words):
    """What bash is given for the last of these words."""
    monkeypatch.setenv("_EQUIPOISE_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", " ".join(("equipoise", *words)))
    monkeypatch.setenv("COMP_CWORD", str(len(words)))
    result = inside()
    assert result.returncode == 0
    assert result.stderr == ""
    return result.stdout.split()


def test_commands(monkeypatch):
    assert offered(monkeypatch, "do") == ["doctor"]
    assert {"run", "report", "solve", "list"} <= set(offered(monkeypatch, ""))


def test_names_of_parts(monkeypatch):
    assert offered(monkeypatch, "solve", "--world", "") == sorted(vocabulary.worlds())
    assert offered(monkeypatch, "describe", "--world", "riv") == ["riverswim"]
    assert offered(monkeypatch, "solve", "--reward", "") == sorted(vocabulary.reward_families())
    assert offered(monkeypatch, "certify", "log.csv", "--reward", "Li") == ["Linear"]
    shelves = offered(monkeypatch, "list", "")
    assert "mirror-maps" in shelves
    assert all(inside_list(name) for name in shelves)


def test_each_name_comes_with_the_first_line_of_its_description():
    ((name, line),) = options.rewards("Balan")
    assert name == "Balance"
    assert line.split(" [")[0] in inspect.getdoc(eq.rewards.Balance).splitlines()[0]
    assert len(line) > 10


def inside_list(shelf):
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("_EQUIPOISE_COMPLETE")
        return inside("list", shelf).returncode == 0


def test_problems_of_the_study_on_the_line(monkeypatch, tmp_path):
    assert offered(monkeypatch, "solve", str(STUDY), "--problem", "") == ["queue", "inventory"]  # no name with a blank
    assert offered(monkeypatch, "solve", "--problem", "") == []
    assert offered(monkeypatch, "solve", "absent.toml", "--problem", "") == []
    (tmp_path / "broken.toml").write_text("problems = [")
    (tmp_path / "strange.toml").write_text("problems = 3")
    for name in ("broken", "strange"):
        assert offered(monkeypatch, "solve", str(tmp_path / f"{name}.toml"), "--problem", "") == []


def test_files_are_left_to_the_shell(monkeypatch):
    assert offered(monkeypatch, "run", "stud") == []


SHELLS = {
    "bash": """source <(_EQUIPOISE_COMPLETE=source_bash equipoise)
COMP_WORDS=(equipoise solve --world sca); COMP_CWORD=3
_equipoise_completion equipoise; echo "${COMPREPLY[@]}" """,
    "zsh": """autoload -Uz compinit; compinit -u -D; eval "$(_EQUIPOISE_COMPLETE=source_zsh equipoise)"
_arguments() { echo "$@" }
words=(equipoise solve --world sca); CURRENT=4; _equipoise_completion""",
    "fish": """env _EQUIPOISE_COMPLETE=source_fish equipoise | source
complete -C 'equipoise solve --world sca'""",
}


@pytest.mark.parametrize(
    "shell", [pytest.param(name, marks=pytest.mark.slow if name != "bash" else ()) for name in SHELLS]
)
def test_in_a_shell(shell, tmp_path):
    """The script that the program prints, run by the shell itself; file names are the shell's own."""
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    program = Path(sys.executable).parent / "equipoise"
    if not program.exists():
        pytest.skip("the program is not installed beside this Python")
    environment = os.environ | {"PATH": f"{program.parent}:{os.environ['PATH']}", "HOME": str(tmp_path)}
    done = subprocess.run([shell, "-c", SHELLS[shell]], capture_output=True, text=True, check=False, env=environment)
    assert re.search(r"\bscalar_hub\b", done.stdout), done.stdout + done.stderr
    assert "star" not in done.stdout
