"""The part of a documentation page that a benchmark writes: what stands between two comments that name it.

put("threads", table)        # between <!-- threads --> and <!-- end of threads --> of docs/performance.md
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from equipoise._files import write_bytes

PERFORMANCE: Final = Path(__file__).parent.parent / "docs" / "performance.md"


def put(name: str, text: str, source: Path = PERFORMANCE, out: Path | None = None) -> None:
    r"""Replace a part of a page, and leave the rest as it is.

    Parameters
    ----------
    name : str
        Of the part.
    text : str
        What is to stand there.
    source : Path
        The page.
    out : Path, optional
        Where to write it; None: in its place.

    Raises
    ------
    SystemExit
        When the page has no such part.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     page = Path(folder) / "page.md"
    ...     _ = page.write_text("a\n<!-- b -->\nold\n<!-- end of b -->\nc\n")
    ...     put("b", "new", page)
    ...     page.read_text().split()
    ['a', '<!--', 'b', '-->', 'new', '<!--', 'end', 'of', 'b', '-->', 'c']
    """
    begin, end = f"<!-- {name} -->", f"<!-- end of {name} -->"
    before, found, rest = source.read_text(encoding="utf-8").partition(begin)
    _, closed, after = rest.partition(end)
    if not (found and closed):
        raise SystemExit(f"{source}: no part between {begin} and {end}")
    write_bytes(out or source, f"{before}{begin}\n\n{text.strip()}\n\n{end}{after}".encode())
