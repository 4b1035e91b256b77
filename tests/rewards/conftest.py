"""Which cases of the battery `make test` runs: of each family one for each property, chosen by their names."""

from __future__ import annotations

from pathlib import Path
from zlib import crc32

import pytest

BATTERY = Path(__file__).with_name("test_battery.py")
CASE = ("reward", "smooth", "name")  # the parameters of the battery that name a case


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark all other cases as slow."""
    groups: dict[tuple[str, str], dict[str, pytest.Item]] = {}
    for item in items:
        if item.path == BATTERY and isinstance(item, pytest.Function) and hasattr(item, "callspec"):
            case = next(item.callspec.params[name] for name in CASE if name in item.callspec.params)
            held, family = item.name.replace(case, ""), case.partition("-")[0]
            groups.setdefault((held, family), {})[case] = item
    for (held, _), cases in groups.items():
        chosen = min((crc32(f"{held} {case}".encode()), case) for case in cases)[1]
        for case, item in cases.items():
            if case != chosen:
                item.add_marker(pytest.mark.slow)
