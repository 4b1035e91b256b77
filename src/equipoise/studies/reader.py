"""Read the results of a study by the manifest in its folder, and export them for other programs.

Files of other runs are ignored, damaged ones reported. In a flat table the list in the column `outcomes` is spread over
columns named by the labels of the outcomes, else ``outcome_0``, ``outcome_1`` and so on; a label that names another
column has ``outcome_`` before it. Violations become ``violation of`` and the constraint's name. Outcomes that a problem
does not have are null. CSV escapes formulas (`_files.escape_formulas`).
"""

from __future__ import annotations

import os
import warnings
from typing import TYPE_CHECKING, Any

from equipoise.errors import FileError
from equipoise.studies.record import LAWS, VIOLATIONS, Record
from equipoise.studies.results import LAW_NUMBERS, Failure, Optimum, Results, make_law_frame, make_result_frame
from equipoise.studies.store import Folder

if TYPE_CHECKING:
    import polars


from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Final

from equipoise._files import atomically, escape_formulas
from equipoise.errors import ParameterError, StudyError
from equipoise.studies.results import ProblemRecord

if TYPE_CHECKING:
    import polars


def load_results(folder: str | os.PathLike[str], *, flat: bool = False) -> polars.DataFrame:
    """Load the results of a study as one tidy table: one row per run and checkpoint.

    Columns: problem, agent, seed, run, t, outcomes, value, optimum, regret, certified, episodes, gradient, visits,
    both, restart, sweeps, steps, seconds, and violations if a problem has constraints; see `equipoise.studies.results`.

    Parameters
    ----------
    folder : str or PathLike
        What was given to ``equipoise run --out``. Damaged and missing results are left out, with a warning.
    flat : bool
        Whether each outcome has its own column instead of the list in `outcomes`: named by its label if the problem has
        labels, else ``outcome_0`` and so on. Such a table can be written as CSV; see `equipoise.studies.reader`.

    Returns
    -------
    polars.DataFrame
        The columns that are listed above.

    Examples
    --------
    >>> import tempfile
    >>> from equipoise.studies import AgentSpec, Problem, Study, run_study
    >>> star = Problem(world="star", reward={"kind": "BottomSum", "kappa": 1})
    >>> study = Study(name="tiny", steps=100, seeds=2, problems=[star], agents=[AgentSpec(kind="RoundRobin")])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     progress = run_study(study, folder, jobs=1)
    ...     frame = load_results(folder)
    ...     flat = load_results(folder, flat=True)
    >>> frame.filter(frame["t"] == 100).select("problem", "agent", "seed", "t").rows()
    [('star, BottomSum', 'RoundRobin', 0, 100), ('star, BottomSum', 'RoundRobin', 1, 100)]
    >>> flat.columns[4:9]
    ['t', 'loop 0', 'loop 1', 'loop 2', 'value']
    """
    results = _open_with_warnings(folder)
    return flat_frame(results) if flat else results.frame


def load_laws(folder: str | os.PathLike[str]) -> polars.DataFrame:
    """Load what agents with known dynamics have learnt of the unknown distributions: one row per run and value.

    Columns: problem, agent, seed, law, value, visits, estimate, low, high, truth; see `equipoise.studies.results`.
    Without such agents the table has no rows.

    Parameters
    ----------
    folder : str or PathLike
        What was given to ``equipoise run --out``. Damaged and missing results are left out, with a warning.

    Returns
    -------
    polars.DataFrame
        The columns that are listed above.

    Examples
    --------
    A shop whose demand is one of four numbers; one agent is told how stock moves, the other is not:

    >>> import tempfile
    >>> from equipoise.studies import AgentSpec, Problem, Study, run_study
    >>> shop = Problem(world={"mechanics": "inventory"}, reward={"kind": "TargetSquared", "kpi": [0.9, 0.5, 0.5]})
    >>> agents = [AgentSpec(name="told", kind="TocUCRL2"), AgentSpec(name="not", kind="TocUCRL2", told="table")]
    >>> study = Study(name="shop", steps=200, seeds=1, problems=[shop], agents=agents)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     progress = run_study(study, folder, jobs=1)
    ...     laws = load_laws(folder)
    >>> laws.select("agent", "law", "value", "visits").rows()[:2]
    [('told', 'demand', '0', 200), ('told', 'demand', '1', 200)]
    >>> laws["agent"].unique().to_list(), laws["truth"].sum()
    (['told'], 1.0)
    """
    return _open_with_warnings(folder).laws


def _open_with_warnings(folder: str | os.PathLike[str]) -> Results:
    results = open_results(folder)
    for reason in results.damaged:
        warnings.warn(f"not read: {reason}", RuntimeWarning, stacklevel=3)
    if results.missing:
        runs = results.frame["run"].n_unique() + results.missing + len(results.failures)
        warnings.warn(f"{results.missing} of {runs} runs have not been run yet", RuntimeWarning, stacklevel=3)
    return results


def open_results(folder: str | os.PathLike[str]) -> Results:
    """Read everything about a study that has been run, wholly or in part.

    Parameters
    ----------
    folder : str or PathLike
        What was given to ``equipoise run --out``.

    Returns
    -------
    Results
        Of the runs that are done; a `FileError` if the folder holds no study.

    Examples
    --------
    A folder that was made ready, of a study whose runs have not begun:

    >>> import tempfile
    >>> from equipoise.studies import AgentSpec, Problem, Study, make_plan
    >>> star = Problem(world="star", reward={"kind": "BottomSum", "kappa": 1})
    >>> study = Study(name="tiny", steps=100, seeds=2, problems=[star], agents=[AgentSpec(kind="RoundRobin")])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     damaged = Folder(folder).prepare(make_plan(study, ready=False))
    ...     results = open_results(folder)
    >>> results.name, results.missing, results.frame.height
    ('tiny', 2, 0)
    """
    place = Folder(folder)
    plan = place.read_manifest()
    optima: dict[str, Optimum | None] = {}
    records: list[Record] = []
    failures: list[Failure] = []
    damaged: list[str] = []
    missing = 0
    for problem in plan.problems:
        try:
            optima[problem["name"]] = place.read_optimum(problem["optimum"], problem["n_outcomes"])
        except FileError as error:
            damaged.append(str(error))
            optima[problem["name"]] = None
    sizes = {problem["name"]: (problem["n_outcomes"], len(problem.get("constraints", ()))) for problem in plan.problems}
    for run, title, agent, _ in plan.runs:
        try:
            record = place.read_result(run)
            failure = place.read_failure(run) if record is None else None
            if record is not None and record.sizes() != sizes[title]:
                wrong = f"its outcomes or violations are not those of the problem {title!r}"
                raise FileError(f"{place.result(run)}: {wrong}")
        except FileError as error:
            damaged.append(str(error))
            continue
        if record is not None:
            record.about.update(problem=title, agent=agent)  # it may have been renamed since
            records.append(record)
        elif failure is not None:
            failures.append(failure)
        else:
            missing += 1
    position = {(problem, agent): i for i, (problem, agent, _) in enumerate(plan.pairs)}
    records.sort(key=lambda record: position[record.about["problem"], record.about["agent"]])
    return Results(
        name=plan.name,
        toml=place.read_specification(),
        problems=tuple(plan.problem(i, optima[problem["name"]]) for i, problem in enumerate(plan.problems)),
        agents=tuple(plan.agents),
        frame=_frame(records, optima),
        rates={(problem, agent): rate for problem, agent, rate in plan.pairs if rate is not None},
        failures=tuple(failures),
        missing=missing,
        damaged=tuple(damaged),
        versions=tuple(sorted({str(record.about["versions"]["equipoise"]) for record in records})),
        description=plan.description,
        planned=frozenset((problem, agent) for problem, agent, _ in plan.pairs),
        guarantees=plan.bounds(),
        certified_within=plan.certified_within,
        laws=_laws(records),
    )


def _frame(records: list[Record], optima: dict[str, Optimum | None]) -> polars.DataFrame:
    import polars

    def best(problem: str) -> float | None:
        optimum = optima[problem]
        return optimum.value if optimum is not None and optimum.status == "optimal" else None

    def add_run(record: Record) -> polars.DataFrame:
        about = record.about
        optimum = polars.lit(best(about["problem"]), polars.Float64)
        return record.table.select(
            *(polars.lit(about[name], polars.String).alias(name) for name in ("problem", "agent")),
            polars.lit(about["seed"], polars.Int64).alias("seed"),
            polars.lit(about["id"], polars.String).alias("run"),
            "t",
            "outcomes",
            "value",
            optimum.alias("optimum"),
            (optimum - polars.col("value")).alias("regret"),
            "certified",
            polars.exclude("t", "outcomes", "value", "certified", VIOLATIONS),
            polars.lit(about["steps"], polars.Int64).alias("steps"),
            polars.lit(about["seconds"], polars.Float64).alias("seconds"),
            *([VIOLATIONS] if VIOLATIONS in record.table.columns else []),
        )

    if records:
        return polars.concat([add_run(record) for record in records], how="diagonal")
    return make_result_frame()


def _laws(records: list[Record]) -> polars.DataFrame:
    rows: list[tuple[Any, ...]] = []
    for record in records:
        about = record.about
        columns = about.get(LAWS)
        if columns is not None:
            run = (about["problem"], about["agent"], about["seed"])
            learnt = (columns[name] for name in ("law", "value", "visits", *LAW_NUMBERS))
            rows += [(*run, *row) for row in zip(*learnt, strict=True)]
    return make_law_frame(rows)


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
    """Write the flat table of a study to a file, atomically.

    Parameters
    ----------
    results : Results
        Of a study, complete or not: what `open_results` returns.
    path : str or PathLike
        Its ending decides the format: .csv, .parquet or .jsonl (one JSON object per line).

    Returns
    -------
    Path
        Of the file.

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

    Returns
    -------
    pandas.DataFrame
        With the same columns.

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
