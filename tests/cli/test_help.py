"""The pages of `--help` are documentation: what a command does, what to type, what it writes, what it returns."""

from __future__ import annotations

import re
import shlex

import pytest
import typer
from typer import rich_utils

from equipoise.cli.main import app
from tests.cli.inside import inside

PROGRAM = typer.main.get_command(app)
COMMANDS = sorted(PROGRAM.commands)
WIDTHS = (80, 120)


def page(monkeypatch, *command, columns=80, colours=False):
    # Typer reads the environment once, when its pages are first drawn in a process: what it read there is set here.
    monkeypatch.setattr(rich_utils, "MAX_WIDTH", columns)
    monkeypatch.setattr(rich_utils, "FORCE_TERMINAL", colours or None)
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    monkeypatch.setenv(*(("FORCE_COLOR", "1") if colours else ("NO_COLOR", "1")))
    result = inside(*command, "--help")
    assert result.returncode == 0, result.stderr
    return result.stdout


def examples(text):
    return [line.strip() for line in text.splitlines() if re.match(r" +equipoise \w", line)]


def test_the_first_page_has_every_command_on_a_line_of_its_own(monkeypatch):
    text = page(monkeypatch)
    for name in COMMANDS:
        summary = PROGRAM.commands[name].help.splitlines()[0]
        assert re.search(rf"│ {name} +{re.escape(summary)} *│", text), name  # whole, at 80 columns
    assert "--version" in text
    assert "--install-completion" in text
    assert "doctor" in COMMANDS


@pytest.mark.parametrize("command", COMMANDS)
def test_a_page_says_what_is_written_what_to_type_and_what_comes_back(command, monkeypatch):
    about = PROGRAM.commands[command].help
    assert re.search(r"\b(Writes|writes|leaves) ", about)
    assert re.search(r"Exit codes: 0", about)
    assert [line for line in examples(page(monkeypatch, command)) if line.startswith(f"equipoise {command}")]


def understood(example):
    """The parameters that an example sets, as the parser reads them; nothing is run."""
    _, name, *words = shlex.split(example.partition(" > ")[0])
    with PROGRAM.commands[name].make_context(name, words) as context:
        return context.params


def test_every_example_is_understood(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "my").mkdir()
    (tmp_path / "my" / "sections.py").write_text("")
    texts = [page(monkeypatch), *(page(monkeypatch, command) for command in COMMANDS)]
    lines = [line for text in texts for line in examples(text)]
    assert len(lines) >= 2 * len(COMMANDS)
    for line in lines:
        assert understood(line), line


def test_every_example_that_needs_no_file_runs(monkeypatch):
    lines = {line for command in ("solve", "describe") for line in examples(page(monkeypatch, command))}
    alone = [line for line in lines if "--world" in line]
    assert len(alone) >= 3
    for line in alone:
        assert inside(*shlex.split(line)[1:]).returncode == 0, line


def test_an_example_that_is_wrong_is_seen():
    with pytest.raises(Exception, match=r"(?i)no such option|unexpected"):
        understood("equipoise solve --wrold star")


@pytest.mark.parametrize("columns", WIDTHS)
@pytest.mark.parametrize("command", [[], *([name] for name in COMMANDS)])
def test_a_page_keeps_to_its_width_and_has_colours_only_if_wanted(command, columns, monkeypatch):
    text = page(monkeypatch, *command, columns=columns)
    assert "\x1b" not in text
    assert max(map(len, text.splitlines())) <= columns
    for line in examples(text):  # none is broken in two, so that it can be copied
        assert line.count("'") % 2 == 0


def test_with_colours_there_are_some(monkeypatch):
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert "\x1b[" in page(monkeypatch, "run", colours=True)
