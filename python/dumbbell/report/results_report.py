"""The report of the results of any scenario: everything that needs no knowledge of its purpose."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from dumbbell import _core
from dumbbell.common.words import counted
from dumbbell.exceptions import DumbbellError, ResultsError
from dumbbell.metrics import number, summarize, summarize_all
from dumbbell.plots import Picture
from dumbbell.plots.axis_labels import quantity
from dumbbell.plots.axis_values import AxisValues
from dumbbell.plots.catalog import make
from dumbbell.plots.cell_table import word
from dumbbell.report.content import Content, Ran
from dumbbell.report.finding import Table
from dumbbell.report.reading import extremes
from dumbbell.report.setting import setting_of
from dumbbell.results.frames.summary import flow_summary, queue_summary, short_names
from dumbbell.results.frames.swept_values import paths_of
from dumbbell.results.results import Results
from dumbbell.results.runs.record import Run
from dumbbell.results.statistics.changes import METRICS
from dumbbell.results.statistics.lint import lint
from dumbbell.results.statistics.slowdowns import ALL, groups_of, interval_text, slowdown_table, slowdowns
from dumbbell.results.statistics.warning import cell_names
from dumbbell.results.store.directory import Store

__all__ = ["comparison_sentences", "extremes", "host", "of_results"]

FEW_CELLS = 6
"""Most cells whose goodput is written one by one."""
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
        setting=list(setting_of(results)),
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
        figure_note="Bands and bars are intervals of the median, of the level in the title; dots are single runs.",
        again="dumbbell run SCENARIO.toml --out DIR     # the scenario is below: save it as SCENARIO.toml\n"
        "dumbbell report DIR",
        notice="" if manifest["finished"] else "The run isn't finished: the missing runs are not in this report.",
        summary=list(_summary(results)),
        tables=list(_tables(results)),
        warnings=[("", warned) for warned in lint(results)],
        facts=[("made by", f"Dumbbell {manifest['version']}, report by {_core.version}"), ("host", host(manifest))],
        definitions=_definitions(results),
    )


def _definitions(results: Results) -> str:
    text = (
        "Goodput is payload that reached the receiver, each byte once, over the flow's measured time; "
        "round-trip times are those of packets sent once; drop rate is dropped over sent packets."
    )
    if results.has_workloads:
        text += (
            " The completion time of a transfer is from its start to its last byte at the receiver, its slowdown "
            "that time over the time at the full rate of the empty path."
        )
    return text


def _repetitions(cells: Sequence[Sequence[Run]]) -> str:
    """Return the number of repetitions of each cell in words."""
    numbers = [len(runs) for runs in cells]
    if min(numbers) == max(numbers):
        return counted(numbers[0], "repetition")
    return f"{min(numbers)} to {counted(max(numbers), 'repetition')}"


def _summary(results: Results) -> Iterator[str]:
    cells = results.by_cell()
    if not cells:
        yield "No run is finished yet."
        return
    yield f"{counted(len(results), 'run')}: {counted(len(cells), 'cell')} x {_repetitions(cells)}."
    yield from _busiest(results)
    generated = groups_of(results.scenario)
    if generated:
        yield from _slowdowns(results)
    for flow in results.flows["name"].unique(maintain_order=True):
        if flow not in generated:
            yield f"Flow '{flow}': {_goodput(cells, flow)}."
    yield from comparison_sentences(results)


def _slowdowns(results: Results) -> Iterator[str]:
    """Write the mean slowdown of each flow with generated transfers. Their goodput is the load that was asked for."""
    try:
        table = slowdowns(results)
    except ResultsError:
        return  # none began in the measured time
    table = table.filter((pl.col("size") == ALL) & (pl.col("statistic") == "mean"))
    paths = table.columns[: table.columns.index("flow")]
    short = short_names(paths)
    for flow in table["flow"].unique(maintain_order=True):
        found = {
            ", ".join(f"{short[path]} {row[path]}" for path in paths): row
            for row in table.filter(pl.col("flow") == flow).iter_rows(named=True)
            if row["value"] is not None
        }
        if not found:
            continue
        if len(found) <= FEW_CELLS:
            said = "; ".join(
                f"{cell}: {interval_text(row)}" if cell else interval_text(row) for cell, row in found.items()
            )
            yield f"Transfers of '{flow}': mean slowdown {said}."
            continue
        low, high = (pick(found, key=lambda cell: found[cell]["value"]) for pick in (min, max))
        least, most = (number(found[cell]["value"]) for cell in (low, high))
        cells = f"in {len(found)} cells from {least} ({low}) to {most} ({high})"
        yield f"Transfers of '{flow}': mean slowdown {cells}."


def _busiest(results: Results) -> Iterator[str]:
    """Name the link that is in use for most of the time, with its utilization in the cells."""
    queues = results.queues.filter(pl.col("utilization") > 0.05)
    if queues.is_empty():
        return
    name = queues.group_by("name").agg(pl.col("utilization").mean()).sort("utilization")["name"][-1]
    of_cells = [
        [q["utilization"] for run in runs for q in run.queues if q["name"] == name] for runs in results.by_cell()
    ]
    used = [100 * float(np.mean(values)) for values in of_cells if values]
    if len(used) == 1:
        yield f"The busiest link is {name}: in use for {used[0]:.1f} % of the time."
    else:
        yield f"The busiest link is {name}: in use for {min(used):.1f} to {max(used):.1f} % of the time, by cell."


def _goodput(cells: Sequence[Sequence[Run]], flow: str) -> str:
    """Write a flow's goodput: in each cell, or the extremes where the cells are many. Cells are never pooled."""
    samples = {
        next(iter(cell_names(runs)), ""): [
            1e-6 * row["goodput_bps"] for run in runs for row in run.flows if row["name"] == flow
        ]
        for runs in cells
    }
    found = dict(zip(samples, summarize_all(list(samples.values())), strict=True))
    if len(found) == 1:
        (only,) = found.values()
        (values,) = samples.values()
        spread = f", {number(min(values))} to {number(max(values))} over {len(values)} runs" if len(values) > 1 else ""
        return f"goodput {only.text('Mbit/s')}{spread}"
    if len(found) <= FEW_CELLS:
        return "goodput in Mbit/s: " + "; ".join(f"{cell}: {summary.text()}" for cell, summary in found.items())
    low, high = (pick(found, key=lambda cell: found[cell].value) for pick in (min, max))
    return (
        f"median goodput in {len(found)} cells from {number(found[low].value)} Mbit/s ({low}) to "
        f"{number(found[high].value)} Mbit/s ({high})"
    )


def comparison_sentences(results: Results) -> Iterator[str]:
    """Compare the values of a swept path where it is the only one: the family of `Results.comparisons`."""
    flows, generated = results.flows, groups_of(results.scenario)
    paths = paths_of(flows)
    if len(paths) != 1 or flows[paths[0]].n_unique() * (flows[paths[0]].n_unique() - 1) // 2 > FEW:
        return
    for cell, compared in results.comparisons("goodput_bps", paths[0]):
        if cell["name"] in generated:
            continue
        sentence = compared.scaled(1e-6).sentence()
        yield f"Goodput of '{cell['name']}' in Mbit/s, {short_names(paths)[paths[0]]}: {sentence}."


def _pictures(results: Results) -> Iterator[Picture]:
    swept = paths_of(results.flows)
    wanted: list[tuple[str, dict[str, Any]]] = [("slowdown", {})] if results.has_workloads else []
    for metric in METRICS:  # those that are compared by default, as far as they were measured
        if metric in results.flows.columns and results.flows[metric].drop_nulls().len():
            wanted.append(("lines" if swept else "bars", {"metric": metric} | ({} if swept else {"by": "name"})))
    wanted += [("matrix", {}), ("plane" if any(_is_number(results, path) for path in swept) else "ellipse", {})]
    over_time = ["timelapse"] if len(results.by_cell()) > 1 else []
    over_time += ["cwnd", "inflight", "rtt", "goodput", "fairness", "queue"]
    if "packets" in results.tables(0):
        over_time.append("sequence")
    wanted += [(kind, {}) for kind in over_time]
    for kind, options in wanted:
        try:
            picture = make(results, kind, **options)
        except DumbbellError:
            continue  # the results have no data for this kind: no series, no pair of flows, or a single value
        name = f"{picture.name}-{options['metric'].rsplit('_', 1)[0]}" if "metric" in options else picture.name
        yield replace(picture, name=name, reading=picture.reading or extremes(picture))


def _is_number(results: Results, path: str) -> bool:
    """Return True if a swept path has several values with an order, so that a path through them has a meaning."""
    words = [word(value) for value in results.flows[path].unique(maintain_order=True)]
    return len(words) > 1 and AxisValues.of(words).numeric


def _tables(results: Results) -> Iterator[Table]:
    for name, title, frame in (
        ("flows", "Flows: means over repetitions", flow_summary(results).frame()),
        ("queues", "Queues: means over repetitions", queue_summary(results).frame()),
    ):
        if frame.height:
            yield Table(name, title, frame)
    if results.has_workloads and results.transfers.height:
        yield Table("slowdowns", "Transfers by size: mean over repetitions [95 % interval]", slowdown_table(results))
    flows = results.flows
    paths = paths_of(flows)
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
        yield Table(
            "intervals",
            "Medians with intervals between ordered values: 95 % or more, or the level that is stated",
            pl.DataFrame(rows),
        )
