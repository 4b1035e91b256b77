"""What it costs to start: importing, and compiling for the first time."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time

IMPORT = "import equipoise"
FIRST = (
    "import equipoise as eq\n"
    "m = eq.models.star()\n"
    "a = eq.TocUCRL2(m.space, eq.rewards.Quadratic([1/3]*3))\n"
    "eq.simulate(m, a, 1000)\n"
)


def seconds(code: str, cache: str | None = None) -> float:
    environment = dict(os.environ) | ({"EQUIPOISE_CACHE_DIR": cache} if cache else {})
    began = time.perf_counter()
    subprocess.run([sys.executable, "-c", code], check=True, env=environment, capture_output=True)
    return time.perf_counter() - began


def report() -> list[tuple[str, str, str]]:
    """Rows of the table: what, measured, asked."""
    with tempfile.TemporaryDirectory() as cache:
        cold = seconds(FIRST, cache)
        warm = min(seconds(FIRST, cache) for _ in range(3))
        imported = min(seconds(IMPORT, cache) for _ in range(3))
    return [
        ("import equipoise, warm", f"{imported:.2f} s", "< 1.5 s"),
        ("first agent and 1000 steps, nothing compiled yet", f"{cold:.1f} s", "< 40 s"),
        ("the same in a second process", f"{warm:.2f} s", ""),
    ]
