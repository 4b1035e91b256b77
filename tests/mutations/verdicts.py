"""Run quick checks in this process, and print a line of JSON for each: for `running`, in a copy of the sources."""

from __future__ import annotations

import json
import sys

from paper.findings import Size
from paper.running import run_check

if __name__ == "__main__":
    for name in sys.argv[1:]:
        outcome = run_check(name, Size.QUICK)
        failing = ""
        if outcome.checked is not None:
            found = [f.instance for f in (*outcome.checked.corrected, *outcome.checked.written) if f.verdict == "fails"]
            failing = found[0] if found else ""
        else:
            failing = outcome.error.splitlines()[-1]
        print(json.dumps({"check": name, "verdict": outcome.verdict, "on": failing}), flush=True)
