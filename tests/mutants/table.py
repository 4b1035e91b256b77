"""What `make mutants` found, as a part of a Markdown page."""

from __future__ import annotations

from collections.abc import Sequence

from tests.mutants.trials import Trial


def killed_share(trials: Sequence[Trial]) -> float:
    """Of the mutants that can be told from the original."""
    told = [trial for trial in trials if trial.outcome != "equivalent"]
    return sum(trial.outcome == "killed" for trial in told) / len(told) if told else 1.0


def table(trials: Sequence[Trial], per_module: int, seed: int) -> str:
    """One row per module, and the survivors."""
    counts: dict[str, dict[str, int]] = {}
    for trial in trials:
        row = counts.setdefault(trial.mutant.file, {"killed": 0, "equivalent": 0, "survived": 0})
        row[trial.outcome] += 1
    lines = [
        f"Drawn with `--per-module {per_module} --seed {seed}`: {len(trials)} mutants of {len(counts)} modules;"
        f" {killed_share(trials):.1%} of those that are not equivalent are killed.",
        "",
        "| module | mutants | killed | equivalent | survivors |",
        "|---|---:|---:|---:|---:|",
    ]
    for file, row in sorted(counts.items()):
        numbers = (sum(row.values()), row["killed"], row["equivalent"], row["survived"])
        lines.append(f"| `{file}` | {' | '.join(map(str, numbers))} |")
    survivors = [trial.mutant for trial in trials if trial.outcome == "survived"]
    if survivors:
        lines += ["", "## Survivors", ""]
    for mutant in survivors:
        lines += [f"`{mutant.file}`, `{mutant.owner}`:", "", "```diff"]
        lines += [f"- {mutant.before}", f"+ {mutant.after}", "```", ""]
    return "\n".join(lines).rstrip() + "\n"
