"""Every chart as a file for print: white paper, fixed width, legends inside."""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import altair as alt
import vl_convert

from equipoise import _files
from equipoise.errors import FileError, ParameterError
from equipoise.reports.charts import curve_chart, rate_guides, specification, trigger_chart
from equipoise.reports.digest import ProblemDigest, aim, ceiling, digest
from equipoise.reports.guarantees import guarantee_chart
from equipoise.reports.theme import PRINT
from equipoise.reports.words import number
from equipoise.studies.results import Results


def _svg(spec: dict[str, Any]) -> bytes:
    drawn: str = vl_convert.vegalite_to_svg(spec)
    return drawn.encode()


def _png(spec: dict[str, Any]) -> bytes:
    drawn: bytes = vl_convert.vegalite_to_png(spec, ppi=216)
    return drawn


def _pdf(spec: dict[str, Any]) -> bytes:
    drawn: bytes = vl_convert.vegalite_to_pdf(spec)
    return drawn


FORMATS: Final[dict[str, Callable[[dict[str, Any]], bytes]]] = {"svg": _svg, "png": _png, "pdf": _pdf}


def write_figures(results: Results, folder: str | os.PathLike[str], format: str) -> list[Path]:
    """Write every chart of a study into a folder, which is made if it is not there.

    Parameters
    ----------
    results : Results
        Of a study, complete or not.
    folder : str or PathLike
    format : "svg", "png" or "pdf"

    Returns
    -------
    list of Path
        The files, named after problem and chart, e.g. ``star-regret.svg``; in the order of the study.

    Raises
    ------
    ParameterError
        For another format.
    FileError
        When a file cannot be written.
    """
    if format not in FORMATS:
        raise ParameterError(f"format: got {format!r}; {', '.join(map(repr, FORMATS))} are accepted")
    target = Path(folder)
    try:
        target.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(f"{target}: cannot be made ({error.strerror or error})") from error
    agents = {agent.name: agent.label for agent in results.agents}
    problems = digest(results)
    written = []
    for problem, stem in zip(problems, file_stems([problem.record.name for problem in problems]), strict=True):
        for kind, chart in _charts(problem, agents):
            path = target / f"{stem}-{kind}.{format}"
            spec = specification(chart, PRINT, f"{kind} on {problem.record.name}")
            _files.write_bytes(path, FORMATS[format](spec))
            written.append(path)
    return written


def file_stems(names: Sequence[str]) -> list[str]:
    """Names of files for names of any kind: plain letters, digits and hyphens, each different.

    >>> file_stems(["Star, D = 4", "star d 4", "Überfluß/../x", "日本"])
    ['star-d-4', 'star-d-4-2', 'uberflu-x', 'problem']
    """
    stems: list[str] = []
    for name in names:
        plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
        stem = re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:60].strip("-") or "problem"
        unique, n = stem, 1
        while unique in stems:
            n += 1
            unique = f"{stem}-{n}"
        stems.append(unique)
    return stems


def _charts(problem: ProblemDigest, agents: Mapping[str, str]) -> Iterator[tuple[str, Any]]:
    if problem.curves is not None:
        level = ceiling(problem.record) if problem.measure == "value" else None
        guides = rate_guides(problem)
        yield problem.measure, curve_chart(problem.curves, agents, PRINT, problem.measure, 320, guides, level)
    bounds = guarantee_chart(problem, agents, PRINT, 320)
    if bounds is not None:
        yield "guarantee", bounds
    panels = []
    if problem.distance is not None:
        chart = curve_chart(problem.distance, agents, PRINT, "", 150, width=210)
        panels.append(chart.properties(title="distance to the optimum"))
    for k, curves in problem.outcomes.items():
        level = aim(problem.record, k)
        chart = curve_chart(curves, agents, PRINT, "", 150, level=level, width=210)
        panels.append(chart.properties(title=f"outcome {k}" + ("" if level is None else f", optimum {number(level)}")))
    if panels:
        yield "outcomes", alt.concat(*panels, columns=3, bounds="flush", spacing={"row": 78, "column": 58})
    if problem.episodes is not None:
        yield "episodes", curve_chart(problem.episodes, agents, PRINT, "episodes begun", 240)
        yield "triggers", trigger_chart(problem, PRINT)
