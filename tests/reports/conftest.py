"""The pages that are looked at in a browser."""

from __future__ import annotations

from pathlib import Path

import pytest

from equipoise.reports import write_report
from tests.reports import synthetic


@pytest.fixture(scope="session")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """One written page for each of the made-up studies."""
    folder = tmp_path_factory.mktemp("pages")
    makers = (
        synthetic.showcase, synthetic.hostile, synthetic.crowd, synthetic.vanishing, synthetic.without_chance,
        synthetic.empty, synthetic.one_checkpoint, synthetic.guaranteed, synthetic.certified, synthetic.learnt,
    )  # fmt: skip
    return {maker.__name__: write_report(maker(), folder / f"{maker.__name__}.html") for maker in makers}
