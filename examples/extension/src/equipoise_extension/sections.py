"""A section of a report: one function of the `Results` of a study."""

from __future__ import annotations

import polars as pl

from equipoise.reports import Column, Figure, Results, Section, Table


def luck(results: Results) -> Section:
    """How far the best and the worst seed of each agent are apart."""
    frame = results.frame
    last = frame.filter(pl.col("t") == pl.col("t").max().over("problem"))
    spread = last.group_by("problem", "agent", maintain_order=True).agg(
        worst=pl.col("value").min(), best=pl.col("value").max()
    )
    columns = [Column("agent", form="agent"), "problem", Column("worst", "number"), Column("best", "number")]
    rows = [
        (agent, problem, f"{worst:.4f}", f"{best:.4f}")
        for problem, agent, worst, best in spread.select("problem", "agent", "worst", "best").rows()
    ]
    chart = {
        "data": {"values": spread.to_dicts()},
        "mark": {"type": "bar", "height": 6},
        "encoding": {
            "x": {"field": "worst", "type": "quantitative", "title": "value", "scale": {"zero": False}},
            "x2": {"field": "best"},
            "y": {"field": "agent", "type": "nominal", "title": None},
        },
    }
    return Section(
        "Luck",
        [
            "The value after the last step, for the seed with the least and the one with the most.",
            Table("luck", "Value of the worst and of the best seed", columns, rows),
            Figure("luck", chart, "From the worst to the best seed of each agent"),
        ],
    )
