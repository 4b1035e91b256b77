"""What `make mutations` found, as a part of a Markdown page."""

from __future__ import annotations

from collections.abc import Sequence

from tests.mutations.catalogue import Mutation


def table(listed: Sequence[Mutation], caught: dict[str, list[str]], checks: Sequence[str]) -> str:
    """One row a mutation with the checks that notice it, and one row a check with how many it notices."""
    lines = [
        "## Broken on purpose",
        "",
        f"`make mutations` breaks the package in {len(listed)} ways, one at a time, and runs the quick checks on each."
        " A check has noticed if its verdict is not what it is otherwise. Those that a mutation was aimed at stand"
        " first, in bold. With `--aimed` only these are tried.",
        "",
        "| what is broken | where | noticed by |",
        "|---|---|---|",
    ]
    for mutation in listed:
        if mutation.name not in caught:
            lines.append(f"| {mutation.says} | `{mutation.file}` | not run |")
            continue
        noticed = caught[mutation.name]
        names = [f"**`{name}`**" for name in mutation.aimed if name in noticed]
        names += [f"`{name}`" for name in noticed if name not in mutation.aimed]
        lines.append(f"| {mutation.says} | `{mutation.file}` | {', '.join(names) or 'none'} |")
    lines += ["", "| check | aimed at it | and noticed | noticed in all |", "|---|---|---|---|"]
    for check in checks:
        aimed = [mutation for mutation in listed if check in mutation.aimed and mutation.name in caught]
        hits = sum(check in caught.get(mutation.name, []) for mutation in aimed)
        lines.append(f"| `{check}` | {len(aimed)} | {hits} | {sum(check in names for names in caught.values())} |")
    return "\n".join(lines) + "\n"
