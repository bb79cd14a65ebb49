"""The report of the results of any scenario: everything that needs no knowledge of its purpose."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from dumbbell import _core
from dumbbell.exceptions import DumbbellError
from dumbbell.metrics import number, summarize
from dumbbell.plots import Picture
from dumbbell.plots.axis_labels import quantity
from dumbbell.plots.catalog import make
from dumbbell.report.content import Content, Ran
from dumbbell.results.lint import lint
from dumbbell.results.results import Results
from dumbbell.results.store import Store
from dumbbell.results.summary import flow_summary, queue_summary, short_names
from dumbbell.studies.finding import Table

__all__ = ["host", "of_results"]

METRICS = ("goodput_bps", "rtt_p95_ms", "drop_rate", "completion_time_s")
"""Metrics that are drawn over the sweep, where they were measured."""
FEW = 12
"""Most comparisons that are written as sentences; more are not readable."""


def host(manifest: dict[str, Any]) -> str:
    """Describe where runs were made."""
    h = manifest["host"]
    return f"{h['system']}, {h['machine']}, {h['cpus']} cores, Python {h['python']}"


def of_results(results: Results, folder: Path) -> Content:
    """Make the report of the runs in a results directory."""
    manifest = Store(folder).manifest()
    scenario = results.scenario
    seeds = sorted({run.seed for run in results.runs})
    counts = sorted({len(runs) for runs in results.by_cell()})
    return Content(
        title=scenario.name,
        kind="Results of a scenario",
        what=scenario.description,
        version=str(manifest["version"]),
        begun=str(manifest["started"])[:19].replace("T", " "),
        ran=[
            Ran(
                name=scenario.name,
                what=f"back end {manifest['backend']}",
                cells=len(scenario.cells),
                runs=len(results),
                repetitions=" to ".join(str(c) for c in dict.fromkeys((counts[0], counts[-1]))) if counts else "no",
                duration=str(scenario.duration),
                seeds=f"{scenario.seed}, which gives {', '.join(str(s) for s in seeds)}",
                text=scenario.to_toml(),
            )
        ],
        pictures=list(_pictures(results)),
        figure_note="Bands and bars are 95 % intervals of the median over repetitions, dots are single runs.",
        again="dumbbell run SCENARIO.toml --out DIR     # the scenario is below: save it as SCENARIO.toml\n"
        "dumbbell report DIR",
        notice="" if manifest["finished"] else "The run isn't finished: the missing runs are not in this report.",
        summary=list(_summary(results)),
        tables=list(_tables(results)),
        warnings=[("", warned) for warned in lint(results)],
        facts=[("made by", f"Dumbbell {manifest['version']}, report by {_core.version}"), ("host", host(manifest))],
        definitions="Goodput is payload delivered in order, each byte once, over the flow's own time; round-trip "
        "times are those of packets sent once; drop rate is dropped over sent packets.",
    )


def _summary(results: Results) -> Iterator[str]:
    cells = results.by_cell()
    if not cells:
        yield "No run is finished yet."
        return
    least = min(len(runs) for runs in cells)
    yield f"{len(results)} runs: {len(cells)} cell{'s' if len(cells) > 1 else ''} x at least {least} repetitions."
    queues = results.queues.filter(pl.col("utilization") > 0.05)
    if queues.height:
        busiest = queues.group_by("name").agg(pl.col("utilization").mean()).sort("utilization")
        name, used = busiest["name"][-1], busiest["utilization"][-1]
        yield f"The busiest link is {name}: {100 * used:.1f} % of the time in use, on average over all runs."
    for flow in results.flows["name"].unique(maintain_order=True):
        values = results.flows.filter(pl.col("name") == flow)["goodput_bps"].to_numpy() * 1e-6
        yield f"Flow '{flow}': goodput {summarize(values).text('Mbit/s')} over all runs, {number(values.min())} to " \
              f"{number(values.max())}."  # fmt: skip
    yield from _comparisons(results)


def _comparisons(results: Results) -> Iterator[str]:
    """Compare the values of a swept path where it is the only one: the family of `Results.comparisons`."""
    flows = results.flows
    paths = flows.columns[: flows.columns.index("run")]
    if len(paths) != 1 or flows[paths[0]].n_unique() * (flows[paths[0]].n_unique() - 1) // 2 > FEW:
        return
    for cell, compared in results.comparisons("goodput_bps", paths[0]):
        sentence = compared.scaled(1e-6).sentence()
        yield f"Goodput of '{cell['name']}' in Mbit/s, {short_names(paths)[paths[0]]}: {sentence}."


def _pictures(results: Results) -> Iterator[Picture]:
    swept = results.flows.columns[: results.flows.columns.index("run")]
    wanted: list[tuple[str, dict[str, Any]]] = []
    for metric in METRICS:
        if metric in results.flows.columns and results.flows[metric].drop_nulls().len():
            wanted.append(("lines" if swept else "bars", {"metric": metric} | ({} if swept else {"by": "name"})))
    wanted += [("matrix", {}), ("ellipse", {})]
    wanted += [(kind, {}) for kind in ("cwnd", "inflight", "rtt", "goodput", "queue")]
    for kind, options in wanted:
        try:
            picture = make(results, kind, **options)
        except DumbbellError:
            continue  # the results have no data for this kind: no series, no pair of flows, or a single value
        name = f"{picture.name}-{options['metric'].rsplit('_', 1)[0]}" if "metric" in options else picture.name
        yield Picture(name, picture.title, picture.reading or _reading(picture), picture.panels, picture.columns,
                      picture.markers, picture.share_y)  # fmt: skip


def _reading(picture: Picture) -> str:
    """Name the largest and the smallest value of a figure with their places."""
    best: list[tuple[float, str]] = []
    for panel in picture.panels:
        for curve in panel.curves:
            if curve.kind in {"steps", "events"} or np.isnan(curve.y).all():
                continue
            where = panel.categories
            for pick in (np.nanargmax, np.nanargmin):
                k = int(pick(curve.y))
                x = where[int(curve.x[k])] if where else f"{curve.x[k]:g}"
                best.append((float(curve.y[k]), f"{curve.label} at {x}{f' ({panel.title})' if panel.title else ''}"))
    if len(best) < 4:
        return ""
    (low, there), (high, here) = min(best), max(best)
    return f"Highest: {number(high)} ({here}); lowest: {number(low)} ({there})."


def _tables(results: Results) -> Iterator[Table]:
    for name, title, frame in (
        ("flows", "Flows: means over repetitions", flow_summary(results)),
        ("queues", "Queues: means over repetitions", queue_summary(results)),
    ):
        if frame.height:
            yield Table(name, title, frame)
    flows = results.flows
    paths = flows.columns[: flows.columns.index("run")]
    rows = []
    for key, part in flows.partition_by([*paths, "name"], as_dict=True, maintain_order=True).items():
        row = dict(zip([*short_names(paths).values(), "flow"], key, strict=True))
        for metric in METRICS:
            if metric in part.columns and part[metric].drop_nulls().len():
                shown = quantity(metric)
                values = part[metric].cast(pl.Float64).fill_null(np.nan).to_numpy() * shown.factor
                row[shown.label] = summarize(values).text()
        rows.append(row)
    if rows:
        yield Table("intervals", "Medians with 95 % intervals (BCa bootstrap)", pl.DataFrame(rows))
