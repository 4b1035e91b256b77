"""Break the package in every way that is listed, and write down which checks of the paper notice.

    python -m tests.mutations [--aimed] [--kept] [--jobs N] [--markdown FILE] [NAME ...]

Every mutation, or those named, against all quick checks, or with --aimed only those that it is aimed at. Answers are
kept in out/mutations for as long as neither the sources nor the mutation change, so that a run can be interrupted and
gone on with; --kept runs nothing, and shows what is there. The exit code is 1 if a mutation is caught by none of the
checks that it is aimed at.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import hashlib
import json
import os
import sys
import threading
import time
from pathlib import Path

from paper.catalogue import CHECKS
from paper.page import REST
from tests.mutations.catalogue import SOURCES, Mutation, mutations
from tests.mutations.running import Verdict, verdicts
from tests.mutations.table import table

OUT = SOURCES.parent / "out" / "mutations"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.mutations", description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help="which mutations; all by default")
    parser.add_argument("--aimed", action="store_true", help="only the checks that a mutation is aimed at")
    parser.add_argument("--kept", action="store_true", help="run nothing; show the answers that are kept")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)), help="mutations at a time")
    parser.add_argument("--markdown", type=Path, help="a page to put the table into, after the mark")
    chosen = parser.parse_args()
    listed = [mutation for mutation in mutations() if not chosen.names or mutation.name in chosen.names]
    stop = threading.Event()
    began = time.monotonic()
    if chosen.kept:
        stop.set()
    tried = {name for mutation in listed for name in mutation.aimed} if chosen.aimed else set(CHECKS)
    usual = {verdict.check: verdict.verdict for verdict in _answers(None, [n for n in CHECKS if n in tried], stop)}
    caught: dict[str, list[str]] = {}
    with concurrent.futures.ThreadPoolExecutor(chosen.jobs) as pool:
        try:
            futures = {}
            for mutation in listed:
                others = [name for name in CHECKS if name not in mutation.aimed and not chosen.aimed]
                futures[pool.submit(_answers, mutation, [*mutation.aimed, *others], stop)] = mutation
            for future in concurrent.futures.as_completed(futures):
                mutation, answers = futures[future], future.result()
                if not answers:
                    continue
                caught[mutation.name] = [a.check for a in answers if a.verdict != usual[a.check]]
                _tell(mutation, answers, usual, time.monotonic() - began)
        except KeyboardInterrupt:
            stop.set()
            pool.shutdown(cancel_futures=True)
            return 130
    if chosen.markdown is not None:
        before = chosen.markdown.read_text(encoding="utf-8").partition(REST)[0]
        chosen.markdown.write_text(before + REST + "\n\n" + table(listed, caught, list(CHECKS)), encoding="utf-8")
    ran = [mutation for mutation in listed if mutation.name in caught]
    missed = [mutation.name for mutation in ran if not set(mutation.aimed) <= set(caught[mutation.name])]
    print(f"{len(ran)} mutations, {len(ran) - len(missed)} noticed by every check that they are aimed at")
    if missed:
        print(f"not by every one: {', '.join(missed)}")
    return 1 if any(not set(m.aimed) & set(caught[m.name]) for m in ran) else 0


def _answers(mutation: Mutation | None, checks: list[str], stop: threading.Event) -> list[Verdict]:
    """From the folder, or from a run that goes into it."""
    path = OUT / f"{'none' if mutation is None else mutation.name}.json"
    key = hashlib.sha256(repr((_hash(), mutation)).encode()).hexdigest()
    known: dict[str, Verdict] = {}
    if path.exists():
        kept = json.loads(path.read_text(encoding="utf-8"))
        if kept["key"] == key:
            known = {entry[0]: Verdict(*entry) for entry in kept["verdicts"]}
    missing = [name for name in checks if name not in known]
    if missing and not stop.is_set():
        known |= {verdict.check: verdict for verdict in verdicts(mutation, missing, stop)}
        if not stop.is_set():
            OUT.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps({"key": key, "verdicts": list(known.values())}), encoding="utf-8")
    return [known[name] for name in checks if name in known]


def _hash() -> str:
    digest = hashlib.sha256()
    for path in sorted(SOURCES.rglob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def _tell(mutation: Mutation, answers: list[Verdict], usual: dict[str, str], seconds: float) -> None:
    changed = [answer for answer in answers if answer.verdict != usual[answer.check]]
    words = "; ".join(f"{a.check}: {a.verdict} ({a.on})" for a in changed) or "NOBODY"
    unmoved = [name for name in mutation.aimed if name not in {a.check for a in changed}]
    print(f"[{seconds:.0f} s] {mutation.name}: {words}", flush=True)
    if unmoved:
        print(f"    aimed at, and not noticed by: {', '.join(unmoved)}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
