"""Draw small changes of the sources per module, and see whether the tests notice.

    python -m tests.mutants [--per-module N] [--seed S] [--modules PATTERN] [--python | --compiled]
        [--markdown FILE]

Work is kept in out/mutants: a mutant that was killed is not tried again while its module stays as it is. The exit code
is 1 if fewer than nine mutants in ten are killed, leaving out those that are listed as equivalent.
"""

from __future__ import annotations

import argparse
import fnmatch
import json
import sys
import time
from pathlib import Path

from tests.mutants.references import References
from tests.mutants.sites import Mutant, modules, sample
from tests.mutants.table import killed_share, table
from tests.mutants.tree import PACKAGE, PROJECT
from tests.mutants.trials import Trial, try_all

OUT = PROJECT / "out" / "mutants"
EXCLUDED = frozenset({"paper"})
WANTED = 0.9
MARK = "<!-- The rest is written by `make mutants`. -->"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__.splitlines()[0])
    parser.add_argument("--per-module", type=int, default=2, metavar="N", help="how many of each module")
    parser.add_argument("--seed", type=int, default=0, metavar="S", help="of the draw")
    parser.add_argument("--modules", default="*", metavar="PATTERN", help="such as 'offline/*.py'; several with commas")
    code = parser.add_mutually_exclusive_group()
    code.add_argument("--python", action="store_true", help="leave out compiled code, which takes minutes per mutant")
    code.add_argument("--compiled", action="store_true", help="draw from compiled code only")
    parser.add_argument("--markdown", type=Path, help="a page to put the table into, after the mark")
    chosen = parser.parse_args()
    patterns = chosen.modules.split(",")
    files = [file for file in modules(PACKAGE, EXCLUDED) if any(fnmatch.fnmatch(file, one) for one in patterns)]
    references = References(PACKAGE)

    def wanted(mutant: Mutant) -> bool:
        return not chosen.compiled or references.reach(mutant.file, mutant.owner).compiled

    drawn = [mutant for file in files for mutant in sample(PACKAGE, file, chosen.per_module, chosen.seed, wanted)]
    OUT.mkdir(parents=True, exist_ok=True)
    log = OUT / "killed.jsonl"
    lines = log.read_text(encoding="utf-8").splitlines() if log.exists() else []
    killed = {tuple(json.loads(line)) for line in lines}
    print(f"{len(drawn)} mutants of {len(files)} modules", flush=True)

    def tell(trial: Trial) -> None:
        mutant = trial.mutant
        if trial.outcome == "killed":
            with log.open("a", encoding="utf-8") as file:
                file.write(json.dumps([*mutant.identity, mutant.source]) + "\n")
        place = f"{mutant.file}:{mutant.line} {mutant.owner}"
        print(f"{trial.outcome}, {trial.tests} tests: {place}")
        print(f"    - {mutant.before}\n    + {mutant.after}\n    {trial.killer}", flush=True)

    began = time.monotonic()
    known = [mutant for mutant in drawn if (*mutant.identity, mutant.source) in killed]
    rest = [mutant for mutant in drawn if mutant not in known]
    trials = [Trial(mutant, "killed", 0, "") for mutant in known]
    trials += try_all(rest, OUT, compiled=not chosen.python, kept=OUT / "tests.json", tell=tell)
    if chosen.markdown is not None:
        before = chosen.markdown.read_text(encoding="utf-8").partition(MARK)[0]
        page = table(trials, chosen.per_module, chosen.seed)
        chosen.markdown.write_text(f"{before}{MARK}\n\n{page}", encoding="utf-8")
    share = killed_share(trials)
    print(f"{share:.1%} of {len(trials)} mutants killed, equivalent ones left out, in {time.monotonic() - began:.0f} s")
    return 0 if share >= WANTED else 1


if __name__ == "__main__":
    sys.exit(main())
