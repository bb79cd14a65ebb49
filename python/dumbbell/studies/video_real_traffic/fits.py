"""The settings that the report leaves out, fitted to CUBIC's numbers: the error of each setting, and the best one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from dumbbell.common.numbers import whole
from dumbbell.exceptions import ResultsError
from dumbbell.plots.spec import Grid, Panel, Picture
from dumbbell.report.finding import Note, Table
from dumbbell.results import Results
from dumbbell.scenario.paths import split
from dumbbell.studies.video_real_traffic.data import METRICS, Captured

__all__ = ["SHAPED_ON", "WIFI_ON", "Fit", "error_of", "fit_note", "fit_picture", "fit_table", "nearest"]

SHAPED_ON = ("throughput", "retransmitted", "duplicate ACKs")
"""The quantities to which the shaped link is fitted: CUBIC's medians of the report's five runs."""
WIFI_ON = ("throughput", "packets", "spikes", "largest spike")
"""The quantities to which the fast access is fitted: those of the report's capture of CUBIC."""
SHORT = {
    "network.bottleneck.queue.limit": "queue",
    "network.bottleneck.policer.burst": "burst",
    "network.bottleneck.loss": "loss",
    "network.bottleneck.delay": "delay",
    "flows.video.stack.mss": "segments",
    "flows.page.application.size": "page",
    "flows.page.application.repeat": "page loads",
}
"""The swept settings, apart from the player's."""
LONG = {"segments": "segments (bytes)"}
"""Names with their unit, of settings whose values are drawn without it."""
BLOCK = ("flows.video.application.on", "flows.video.application.off", "flows.video.stop")


def error_of(measured: Mapping[str, float], reported: Mapping[str, float]) -> float:
    """Return the mean factor by which quantities differ from the report's: 1 is equal, 2 twice or half.

    One is added to both numbers, so that a count of zero has a factor too.
    """
    off = [abs(np.log((measured[name] + 1) / (value + 1))) for name, value in reported.items()]
    return float(np.exp(np.mean(off)))


@dataclass(frozen=True)
class Setting:
    """A setting of a fit: its values by path, its medians, its error."""

    cell: Mapping[str, Any]
    medians: Mapping[str, float]
    error: float

    @property
    def player(self) -> str:
        """How the video is asked for: a block every so often, and until when."""
        on, off, stop = (self.cell.get(path) for path in BLOCK)
        period = sum(float(str(x).removesuffix(" ms")) for x in (on, off)) / 1000
        return f"a block every {period:g} s" + (f" until {stop}" if stop else "")

    @property
    def words(self) -> dict[str, str]:
        """Its swept values by short name, the player's last."""
        return {**{SHORT[p]: str(v) for p, v in self.cell.items() if p in SHORT}, "player": self.player}

    def is_of(self, document: Any) -> bool:  # noqa: ANN401 - a scenario in plain values
        """Return True if a scenario has its values."""
        return all(_at(document, path) == self.cell.get(path) for path in {*self.cell, *BLOCK})

    @property
    def text(self) -> str:
        """All of it in one line."""
        return ", ".join(f"{name} {value}" if name != "player" else value for name, value in self.words.items())


def by_cell(results: Results) -> Captured:
    """Return the captures of a fit, by the number of the cell."""
    cells = [runs[0].cell for runs in results.by_cell()]
    return Captured(results, lambda cell: [(str(cells.index(dict(cell))),)])


class Fit:
    """An experiment that sweeps settings with CUBIC, compared with the report's numbers of CUBIC.

    Parameters
    ----------
    name : str
        Of its table and picture.
    what : str
        The fitted part in words.
    results : Results
    reported : mapping of str to float
        The quantities of the fit, in the units of `data.METRICS`.
    headline : Results
        The experiment that uses the fit.
    captured : Captured, optional
        That of `by_cell`, if it was made already.

    Raises
    ------
    ResultsError
        If no setting of the fit is the one that the headline experiment uses.
    """

    def __init__(
        self,
        name: str,
        what: str,
        results: Results,
        reported: Mapping[str, float],
        headline: Results,
        captured: Captured | None = None,
    ) -> None:
        self.name, self.what, self.reported = name, what, reported
        cells = [runs[0].cell for runs in results.by_cell()]
        captured = captured or by_cell(results)
        self.n = captured.n
        found = []
        for k, cell in enumerate(cells):
            medians = {m: float(np.median(captured.get(m, str(k)))) for m in METRICS}
            found.append(Setting(cell, medians, error_of(medians, reported)))
        self.settings = sorted(found, key=lambda s: s.error)
        documents = [cell.scenario.to_dict() for cell in headline.scenario.cells]
        used = [k for k, s in enumerate(self.settings) if any(s.is_of(d) for d in documents)]
        if not used:
            paths = dict.fromkeys((*SHORT, *BLOCK))
            values = {p: value for p in paths if (value := _at(documents[0], p)) is not None} if documents else {}
            raise ResultsError(
                f"{name}: none of its {len(self.settings)} settings is the one of the experiment that uses the fit ("
                + ", ".join(f"{path} = {value!r}" for path, value in values.items())
                + "): change its sweep or the experiment's values"
            )
        self._used = used[0]

    @property
    def best(self) -> Setting:
        """The setting with the smallest error."""
        return self.settings[0]

    @property
    def used(self) -> Setting:
        """The setting of the experiment that the claims are judged by."""
        return self.settings[self._used]

    @property
    def rank(self) -> int:
        """The place of the used setting, from 1."""
        return self._used + 1


def _at(document: Any, path: str) -> Any:  # noqa: ANN401 - a value of a scenario
    """Look up a path of a scenario; flows are found by their name. None if nothing is set."""
    for key in split(path):
        if isinstance(document, list):
            document = next((part for part in document if part.get("name") == key), None)
        else:
            document = document.get(key) if isinstance(document, dict) else None
    return document


def fit_table(fit: Fit) -> Table:
    """List every setting with its error, the best first."""
    rows = []
    for setting in fit.settings:
        row = {**setting.words, "error, factor": f"{setting.error:.3f}"}
        rows.append({**row, **{METRICS[m]: f"{setting.medians[m]:.4g}" for m in fit.reported}})
    reported = ", ".join(f"{METRICS[m]} {v:.4g}" for m, v in fit.reported.items())
    title = f"Fit of {fit.what}: mean factor by which CUBIC's numbers differ from the report's ({reported})"
    return Table(fit.name, title, pl.DataFrame(rows))


def fit_note(fit: Fit) -> Note:
    """State the best setting, and which one the claims use."""
    worst = fit.settings[-1]
    used = "The claims are judged with it" if fit.rank == 1 else (
        f"The claims are judged with number {fit.rank} ({fit.used.text}), a factor of {fit.used.error:.3f}"
    )  # fmt: skip
    return Note(
        f"Fit of {fit.what}: {fit.best.text}",
        f"Of {len(fit.settings)} settings this one is nearest to the report's numbers of CUBIC "
        f"({', '.join(METRICS[m] for m in fit.reported)}), by a mean factor of {fit.best.error:.3f}. {used}. The "
        f"worst ({worst.text}) has {worst.error:.2f}. CUBIC's numbers are fitted, those of Veno and Vegas predicted.",
    )


def fit_picture(fit: Fit, rows: Sequence[str], columns: Sequence[str]) -> Picture:
    """Draw the error of every setting as a cell: a panel for each value of what is in neither rows nor columns."""
    panels: dict[str, dict[tuple[str, str], float]] = {}
    for setting in fit.settings:
        words = setting.words
        title = ", ".join(f"{n} {v}" if n != "player" else v for n, v in words.items() if n not in (*rows, *columns))
        place = tuple(", ".join(_short(n, words[n]) for n in names) for names in (rows, columns))
        panels.setdefault(title, {})[place[0], place[1]] = setting.error
    most = fit.settings[len(fit.settings) // 2].error
    drawn = []
    for title, cells in sorted(panels.items(), key=lambda item: (_number(item[0]), item[0])):
        up, along = (sorted({place[k] for place in cells}, key=_number) for k in (0, 1))
        values = np.array([[cells.get((u, a), np.nan) for a in along] for u in up])
        texts = [[f"{x:.2f}" for x in line] for line in values]
        grid = Grid(up, along, values, texts, "error (factor)", low=1.0, high=most)
        across, down = (", ".join(LONG.get(name, name) for name in names) for names in (columns, rows))
        drawn.append(Panel(title, across, down, [], grid=grid))
    best = fit.best
    reading = (
        f"Nearest to the report's CUBIC: {best.text}, a factor of {best.error:.3f}; half of all {len(fit.settings)} "
        f"settings exceed {most:.2f}, where the color ends."
    )
    return Picture(fit.name, f"Fit of {fit.what}: error against the report's CUBIC", reading, drawn, columns=2)


def _short(name: str, value: str) -> str:
    return value.removesuffix(" bytes") if name in LONG else value


def _number(text: str) -> tuple[float, ...]:
    return tuple(float(part) for part in text.replace(",", " ").split() if whole(part.replace(".", "", 1)) is not None)


def nearest(captured: Captured, metric: str, value: float, losses: Sequence[str]) -> str:
    """Return the loss with which CUBIC's median of a metric is nearest to the report's, by its factor."""
    medians = {loss: float(np.median(captured.get(metric, loss, "cubic"))) for loss in losses}
    return min(medians, key=lambda loss: error_of({metric: medians[loss]}, {metric: value}))
