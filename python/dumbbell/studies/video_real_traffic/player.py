"""The player on the report's accesses: what the runs measured, its figures and its table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import polars as pl

from dumbbell.exceptions import ResultsError
from dumbbell.plots import Curve, Panel, Picture
from dumbbell.plots.spec import Span
from dumbbell.plots.videos_over_time import buffer_curve, stalls_of
from dumbbell.report.finding import Table
from dumbbell.results import Results
from dumbbell.studies.reference import points
from dumbbell.studies.shared import LABELS, Floats
from dumbbell.studies.video_real_traffic.data import DATA, Captured, Key

__all__ = ["ACCESSES", "NAMES", "QUIC", "RADIO", "Played", "played_keys", "player_pictures", "player_table", "slug"]

ACCESSES = ("Ethernet", "Wi-Fi", "weak signal", "shaped", "hall", "hall with weak uplink", "hall as rates")
"""The lecture hall is as the preset has it, with a weak uplink, and as the rates of the report's speed test."""
RADIO = {"weak": "weak signal", "strong": "Wi-Fi", "hall": "hall"}
"""The accesses over a medium, by the report's signal, and of the lecture hall."""
QUIC = "quic"
"""CUBIC over QUIC, as a variant among those of TCP."""
NAMES = {**{v: LABELS[v] for v in ("cubic", "veno", "vegas", "bbr")}, QUIC: "QUIC (CUBIC)"}
METRICS = {
    "load time": ("load_time_s", "load time (s)"),
    "startup delay": ("startup_delay_s", "startup delay (s)"),
    "stalls": ("stalls", "stalls"),
    "stall time": ("stall_s", "stall time (s)"),
    "mean rate": ("goodput_bps", "goodput (bit/s)"),
}
"""Columns of the flows by the study's metrics, with their axes."""
_BY_RATE = {"100 Mbit/s": "Ethernet", "1024 kbit/s": "shaped", "1.89 Mbit/s": "hall as rates"}
_BY_PRESET = {"strong": "Wi-Fi", "weak": "weak signal", "lecture-hall": "hall"}
OVER = 3
"""Code of a video that has ended, in the table `video/NAME`."""
THRESHOLD = 50 * 1448 / 1e3
"""kB/s of 50 full segments in a second, the report's threshold of a spike."""


def played_keys(cell: Mapping[str, Any]) -> list[Key]:
    """Name a cell of the player by its access and its variant."""
    link = cell["network.bottleneck"]
    wifi = link.get("wifi")
    access = _BY_RATE[str(link["rate"])] if wifi is None else _BY_PRESET[wifi["preset"]]
    if wifi is not None and "uplink_signal" in wifi:
        access = "hall with weak uplink"
    return [(access, QUIC if cell.get("flows.video.transport") == "quic" else str(cell[DATA]))]


class Played:
    """The runs of the player, by access and variant.

    Parameters
    ----------
    results : Results
    """

    def __init__(self, results: Results) -> None:
        self.n = results.scenario.repetitions
        self.end = results.scenario.duration.seconds
        self._rows: dict[Key, list[dict[str, Any]]] = {}
        self.tables: dict[Key, tuple[pl.DataFrame, pl.DataFrame]] = {}
        for runs in results.by_cell():
            (key,) = played_keys(runs[0].cell)
            self._rows[key] = [run.flows[0] for run in runs]
            known = results.tables(runs[0])
            if "video/video" in known:
                series = results.table(runs[0], "flow/video") if "flow/video" in known else pl.DataFrame()
                self.tables[key] = (results.table(runs[0], "video/video"), series)

        self._captured = Captured(results, played_keys) if results.scenario.capture.at else None

    @property
    def captured(self) -> Captured:
        """The captures of the runs, by access and variant."""
        if self._captured is None:
            raise ResultsError("the runs of the player have no captures")
        return self._captured

    def seen(self, metric: str, access: str, variant: str) -> Floats:
        """Return a metric of the captures by repetition; (n,) float64, its unit as in `data.METRICS`.

        The report's captures last until the video ends: the throughput is that over this time, in kB/s.
        """
        values = self.captured.get(metric, access, variant)
        if metric != "throughput" or not values.size:
            return values
        size = self.captured.get("packets", access, variant) * self.captured.get("packet size", access, variant)
        rows = self._rows[access, variant]
        ends = [
            self.end if r["startup_delay_s"] is None else r["startup_delay_s"] + r["stall_s"] + r["played_s"]
            for r in rows
        ]
        return 1e-3 * size / np.array(ends, dtype=np.float64)

    @property
    def ran(self) -> bool:
        """True if any run was made."""
        return bool(self._rows)

    def has(self, access: str, variant: str) -> bool:
        """Return True if a variant was run on an access."""
        return (access, variant) in self._rows

    @property
    def accesses(self) -> list[str]:
        """The accesses with runs."""
        return [access for access in ACCESSES if any(a == access for a, _ in self._rows)]

    def variants(self, access: str) -> list[str]:
        """Return the variants that were run on an access."""
        return [variant for variant in NAMES if self.has(access, variant)]

    def get(self, metric: str, access: str, variant: str) -> Floats:
        """Return a metric by repetition; (n,) float64, s or a count. A time that never came is the run's length."""
        if metric == "head start of QUIC":
            return self.get("startup delay", access, variant) - self.get("startup delay", access, QUIC)
        if metric == "buffering":
            return self.get("startup delay", access, variant) + self.get("stall time", access, variant)
        column = METRICS[metric][0]
        rows = self._rows.get((access, variant), [])
        return np.array([self.end if row[column] is None else float(row[column]) for row in rows])


def _bars(found: Played, metric: str, name: str, title: str, reported: Mapping[str, Mapping[str, float]]) -> Picture:
    panels = []
    for access in found.accesses:
        variants = found.variants(access)
        x = np.arange(len(variants), dtype=np.float64)
        values = [found.get(metric, access, v) for v in variants]
        middle, low, high = (np.array([f(v) for v in values]) for f in (np.median, np.min, np.max))
        curves = [Curve("here: median, smallest to largest", "reno", x, middle, low, high, kind="bars")]
        own = [(n, reported[access][v]) for n, v in enumerate(variants) if v in reported.get(access, {})]
        if own:
            curves.append(points(np.array([n for n, _ in own], dtype=np.float64), [y for _, y in own], metric))
        panels.append(Panel(access, "variant", METRICS[metric][1], curves, categories=[NAMES[v] for v in variants]))
    of = {a: float(np.median(found.get(metric, a, "cubic"))) for a in found.accesses if found.has(a, "cubic")}
    reading = "CUBIC: " + ", ".join(f"{a} {s:.4g}" for a, s in of.items()) + "."
    return Picture(name, title, reading, panels, columns=2)


def slug(access: str) -> str:
    """Return an access as a part of a figure's name."""
    return access.lower().replace(",", "").replace(" ", "-")


def _buffers(found: Played, access: str) -> Picture:
    panels = []
    tables = [table for (a, _), (table, _) in found.tables.items() if a == access]
    last = max(table["t_ns"][-1] * 1e-9 if table["state"][-1] == OVER else found.end for table in tables)
    for variant, name in NAMES.items():
        if (access, variant) not in found.tables:
            continue
        table, _ = found.tables[access, variant]
        spans = [Span(begin, end, "stalled", "timeout") for begin, end in stalls_of(table, found.end)]
        curve = buffer_curve(table, "buffer", "reno")
        panels.append(Panel(name, "time (s)", "buffer (s)", [curve], spans=spans, x_range=(0.0, last), height=0.6))
    stalls = {NAMES[v]: float(np.median(found.get("stall time", access, v))) for v in found.variants(access)}
    reading = "Stall time, median: " + ", ".join(f"{n} {s:.3g} s" for n, s in stalls.items()) + "."
    title = f"Buffer of the player, first run: {access}"
    return Picture(f"player-{slug(access)}", title, reading, panels, markers=False)


def _throughput(found: Played, access: str) -> Picture:
    panels, bursts = [], {}
    for variant, name in NAMES.items():
        if (access, variant) not in found.tables:
            continue
        _, series = found.tables[access, variant]
        if series.is_empty():
            continue
        t, delivered = series["t_ns"].to_numpy() * 1e-9, series["delivered"].to_numpy().astype(np.float64)
        edges = np.arange(0.0, np.ceil(t[-1]) + 1.0)
        at = np.searchsorted(t, edges, side="right") - 1
        counts = 1e-3 * np.diff(np.where(at >= 0, delivered[np.maximum(at, 0)], 0.0))
        middle = edges[:-1] + 0.5
        bursts[name] = int((counts >= THRESHOLD).sum())
        curves = [
            Curve("payload", "reno", middle, counts),
            Curve("50 segments in a second", "cbr", middle, np.full(middle.size, THRESHOLD)),
        ]
        panels.append(Panel(name, "time (s)", "kB/s", curves, height=0.6))
    listed = ", ".join(f"{name} {n}" for name, n in bursts.items())
    reading = (
        f"Seconds with 50 segments or more: {listed}. Each is a segment of the video, or the page and first segments."
    )
    return Picture(f"player-throughput-{slug(access)}", f"Throughput per second of the player, first run: {access}",
                   reading, panels, markers=False)  # fmt: skip


def player_pictures(found: Played, reported: Mapping[str, Any]) -> list[Picture]:
    """Draw load times, startup delays, stalls, buffers and bursts; nothing if the back end can't run a player."""
    if not found.ran:
        return []
    loads: Mapping[str, Mapping[str, float]] = reported["load_seconds"]
    return [
        _bars(found, "load time", "player-load", "Load time of the video", loads),
        _bars(found, "startup delay", "player-startup", "Startup delay of the video, with its page", {}),
        _bars(found, "stall time", "player-stalls", "Stall time of the video", {}),
        *([_throughput(found, "Wi-Fi")] if any(access == "Wi-Fi" for access, _ in found.tables) else []),
        *(_buffers(found, access) for access in ACCESSES if any(a == access for a, _ in found.tables)),
    ]


def player_table(found: Played, reported: Mapping[str, Any]) -> Table:
    """List what the player measured on each access, beside the report's load times."""
    loads: Mapping[str, Mapping[str, float]] = reported["load_seconds"]
    rows = []
    for access in ACCESSES:
        for variant, name in NAMES.items():
            if not found.has(access, variant):
                continue
            own = loads.get(access, {}).get(variant)
            row = {"access": access, "variant": name, "load time (s): report": "" if own is None else f"{own:g}"}
            for metric in ("load time", "startup delay", "stalls", "stall time"):
                x = found.get(metric, access, variant)
                words = METRICS[metric][1] if metric != "load time" else "load time (s): here"
                row[words] = f"{np.median(x):.4g} ({x.min():.4g} to {x.max():.4g})"
            rows.append(row)
    return Table("player", "The player: medians (smallest to largest)", pl.DataFrame(rows))
