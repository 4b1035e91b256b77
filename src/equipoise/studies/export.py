"""The results of a study for other programs: one column per outcome, as CSV, Parquet, JSON lines, or for pandas.

The list in the column `outcomes` is spread over columns named by the labels of the outcomes, else ``outcome_0``,
``outcome_1`` and so on; a label that is another column's name has ``outcome_`` before it. Violations become ``violation
of`` and the constraint's name. Outcomes that a problem does not have are null. CSV escapes formulas
(`_files.escape_formulas`).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Final

from equipoise._files import atomically, escape_formulas
from equipoise.errors import ParameterError, StudyError
from equipoise.studies.record import VIOLATIONS
from equipoise.studies.results import ProblemRecord, Results

if TYPE_CHECKING:
    import polars

_NESTED: Final = "outcomes"


def flat_frame(results: Results) -> polars.DataFrame:
    """The table of a study without lists in it: one column an outcome, in the place of `outcomes`."""
    import polars

    frame = results.frame.with_row_index("_row")
    others = [name for name in results.frame.columns if name not in (_NESTED, VIOLATIONS)]
    parts, names, violated = [], dict[str, None](), dict[str, None]()
    for record in results.problems:
        columns = outcome_columns(record, others)
        rows = frame.filter(polars.col("problem").cast(polars.String) == record.name)
        spread = (polars.col(_NESTED).list.get(k).alias(name) for k, name in enumerate(columns))
        lacking = [f"violation of {name}" for name in record.constraints] if VIOLATIONS in frame.columns else []
        lacks = (polars.col(VIOLATIONS).list.get(j).alias(name) for j, name in enumerate(lacking))
        parts.append(rows.with_columns(*spread, *lacks).drop(_NESTED, VIOLATIONS, strict=False))
        names |= dict.fromkeys(columns)
        violated |= dict.fromkeys(lacking)
    if not parts:
        return results.frame.drop(_NESTED, VIOLATIONS, strict=False)
    place = results.frame.columns.index(_NESTED)
    whole = polars.concat(parts, how="diagonal").sort("_row")
    return whole.select(*others[:place], *names, *others[place:], *violated)


def outcome_columns(record: ProblemRecord, others: Sequence[str]) -> list[str]:
    """The names of the columns of a problem's outcomes."""
    names: list[str] = []
    for k in range(record.n_outcomes):
        name = f"outcome_{k}" if record.outcome_labels is None else record.outcome_labels[k]
        name = f"outcome_{name}" if name in others else name
        names.append(f"outcome_{k}" if name in names else name)
    return names


ENDINGS: Final[dict[str, Callable[[Any, BinaryIO], None]]] = {
    ".csv": lambda frame, handle: escape_formulas(frame).write_csv(handle),
    ".parquet": lambda frame, handle: frame.write_parquet(handle),
    ".jsonl": lambda frame, handle: frame.write_ndjson(handle),
}


def export_results(results: Results, path: str | os.PathLike[str]) -> Path:
    """Write the flat table of a study to a file, atomically; return its path.

    Parameters
    ----------
    results : Results
        Of a study, complete or not: what `open_results` returns.
    path : str or PathLike
        Its ending decides the format: .csv, .parquet or .jsonl (one JSON object per line).

    Examples
    --------
    >>> import tempfile
    >>> import polars
    >>> from equipoise.studies.results import ProblemRecord
    >>> problem = ProblemRecord("p", "bandit()", "Linear()", 1, 2, 2, None, outcome_labels=["fill", "waste"])
    >>> frame = polars.DataFrame({"problem": ["p"], "agent": ["A"], "t": [10], "outcomes": [[0.5, 0.25]]})
    >>> results = Results("tiny", problems=(problem,), frame=frame)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     lines = export_results(results, Path(folder) / "tiny.csv").read_text(encoding="utf-8").splitlines()
    >>> lines
    ['problem,agent,t,fill,waste', 'p,A,10,0.5,0.25']
    """
    target = Path(path)
    if target.suffix.lower() not in ENDINGS:
        raise ParameterError(f"{target}: its ending is {target.suffix!r}; one of {', '.join(ENDINGS)} is needed")
    frame = flat_frame(results)
    with atomically(target) as handle:
        ENDINGS[target.suffix.lower()](frame, handle)
    return target


def to_pandas(frame: polars.DataFrame) -> Any:
    """Convert a table of results to a pandas.DataFrame; unlike polars' own `to_pandas` it does not need pyarrow.

    Parameters
    ----------
    frame : polars.DataFrame
        From `load_results`, flat or not; null becomes NaN.

    Examples
    --------
    Where pandas is installed:

    >>> import polars
    >>> to_pandas(polars.DataFrame({"t": [10, 100]}))["t"].tolist()  # doctest: +SKIP
    [10, 100]
    """
    try:
        import pandas
    except ImportError:
        raise StudyError("pandas is not installed; `pip install pandas` installs it") from None
    return pandas.DataFrame({column.name: column.to_numpy() for column in frame.iter_columns()})
