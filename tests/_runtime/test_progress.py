"""The progress display: when it appears, what it shows, and that nothing of it is left."""

from __future__ import annotations

import io
import time

import pytest

from equipoise._runtime import progress
from equipoise._runtime.progress import progress_display


def open_terminal(monkeypatch) -> io.StringIO:
    """What is written to stderr from now on, as if it were a terminal."""
    text = io.StringIO()
    monkeypatch.setattr(text, "isatty", lambda: True)
    monkeypatch.setattr("sys.stderr", text)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "120")
    for name in ("NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
        monkeypatch.delenv(name, raising=False)
    return text


@pytest.mark.parametrize(
    ("rate", "text"),
    [
        (0.0, "0 "), (7.4, "7 "), (999.0, "999 "),
        (1000.0, "1.0 k "), (1234.0, "1.2 k "), (56_780.0, "56.8 k "),
        (1e6, "1.00 M "), (12_345_678.0, "12.35 M "),
    ],
)  # fmt: skip
def test_speeds_have_few_characters(rate, text):
    assert progress._short(rate) == text


def test_what_takes_long_is_shown_even_if_nothing_is_reported(monkeypatch):
    terminal = open_terminal(monkeypatch)
    monkeypatch.setattr(progress, "_SHOW_AFTER", 0.05)
    with progress_display("counting sheep", 10.0):
        time.sleep(0.4)  # inside a library that calls nobody back
        assert "counting sheep" in terminal.getvalue()


def test_what_is_soon_done_is_never_shown(monkeypatch):
    terminal = open_terminal(monkeypatch)
    monkeypatch.setattr(progress, "_SHOW_AFTER", 0.2)
    with progress_display("counting sheep", 10.0, unit="sheep") as display:
        display.done(10.0)
        display.tell("resting")
    time.sleep(0.4)
    assert terminal.getvalue() == ""


@pytest.mark.parametrize("wanted", [None, False])
def test_it_is_not_shown_in_a_file_unless_it_was_asked_for(monkeypatch, wanted):
    text = io.StringIO()
    monkeypatch.setattr("sys.stderr", text)
    monkeypatch.setattr(progress, "_SHOW_AFTER", 0.0)
    for name in ("FORCE_COLOR", "TTY_COMPATIBLE"):
        monkeypatch.delenv(name, raising=False)
    with progress_display("counting sheep", 10.0, wanted=wanted) as display:
        display.done(5.0)
        time.sleep(0.05)
    assert text.getvalue() == ""


def test_a_report_shows_the_share_the_speed_and_new_words(monkeypatch):
    terminal = open_terminal(monkeypatch)
    monkeypatch.setattr(progress, "_SHOW_AFTER", 0.0)
    clock = iter(range(1000))
    with progress_display("counting sheep", 4000.0, unit="sheep") as display:
        monkeypatch.setattr(progress.time, "perf_counter", lambda: display._began + 2.0 * (1 + next(clock)))
        display.done(3000.0)  # after two seconds
        display.tell("counting goats")
        display._bar.refresh()
    shown = terminal.getvalue()
    assert "1.5 k sheep/s" in shown
    assert "counting goats" in shown


def test_a_report_shows_the_display_as_soon_as_a_second_has_passed(monkeypatch):
    """Not only its own thread does, which waits while other code holds the interpreter."""
    terminal = open_terminal(monkeypatch)
    with progress_display("counting sheep", 10.0) as display:
        display._timer.cancel()
        for seconds, shown in ((0.5, False), (1.5, True)):
            monkeypatch.setattr(progress.time, "perf_counter", lambda now=display._began + seconds: now)
            display.done(seconds)
            assert ("counting sheep" in terminal.getvalue()) is shown


def test_a_report_at_the_very_beginning_has_no_speed(monkeypatch):
    open_terminal(monkeypatch)
    with progress_display("counting sheep", 10.0, unit="sheep") as display:
        monkeypatch.setattr(progress.time, "perf_counter", lambda: display._began)
        display.done(0.0)
        assert display._bar.tasks[0].fields["speed"] == ""


def test_without_a_total_there_is_no_share(monkeypatch):
    terminal = open_terminal(monkeypatch)
    monkeypatch.setattr(progress, "_SHOW_AFTER", 0.0)
    with progress_display("counting sheep") as display:
        display.done(3.0)
        time.sleep(0.1)
    assert "counting sheep" in terminal.getvalue()
    assert "%" not in terminal.getvalue()
    assert "/s" not in terminal.getvalue()
