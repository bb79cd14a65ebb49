"""The report of two captures of one path: its content as plain data."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from dumbbell import _core
from dumbbell.capture.pair_figures import pair_pictures
from dumbbell.capture.two_points import Pair
from dumbbell.report.content import Content
from dumbbell.report.finding import Table
from dumbbell.report.write import write_content
from dumbbell.results.running.runner import Progress
from dumbbell.results.statistics.lint import LintWarning

__all__ = ["of_pair", "write_pair_report"]


def of_pair(pair: Pair, command: Sequence[str]) -> Content:
    """Make the report of two captures of one path; ``command`` makes the same report again."""
    a, b = pair.files
    return Content(
        title="One path, two captures",
        kind="Analysis of a pair of captures",
        what="",
        setting=[("A", a), ("B", b)],
        version=_core.version,
        begun=datetime.now(UTC).strftime("%Y-%m-%d %H:%M:%S"),
        ran=[],
        pictures=list(pair_pictures(pair)),
        figure_note=f"Series are over intervals of {pair.interval_s:.3g} s, at the time of the first of both places.",
        again=" ".join(command),
        summary=list(pair.summary()),
        tables=[Table("flows", "Connections, by direction", pair.flows)] if pair.flows.height else [],
        warnings=[("damage", LintWarning("damage", text)) for text in pair.damage],
        facts=[("analyzed by", f"Dumbbell {_core.version}"), ("host", platform.platform())],
        definitions="Direction 0 is from A to B. A packet is lost if the first of both places has it and the second "
        "one doesn't have it within ten seconds. It is reordered if a packet that was behind it at the first place "
        "is before it at the second. Queueing is a delay minus the least of its direction.",
    )


def write_pair_report(pair: Pair, folder: Path, command: str, *, progress: Progress | None = None) -> Path:
    """Write ``report.html``, figures and tables of a pair of captures into a directory."""
    return write_content(of_pair(pair, [command]), folder, progress=progress)
