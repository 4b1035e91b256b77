"""What tests of several rooms need."""

from __future__ import annotations

import signal

import pytest


@pytest.fixture
def ctrl_c_is_heard():
    """Python's own answer to SIGINT, here and in programs started from here.

    A program that a shell script starts by `command &` ignores SIGINT, and so do all that it starts, unless it says
    otherwise.
    """
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)
