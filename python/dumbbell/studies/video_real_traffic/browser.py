"""The part of the study with a real browser, on back end `kernel`: its figures and its table, without verdicts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from dumbbell.report.finding import Analysis, Note
from dumbbell.results import Results
from dumbbell.studies.judge import Quantities, judge_all
from dumbbell.studies.listing import list_tables
from dumbbell.studies.shared import counted
from dumbbell.studies.video_real_traffic.player import Played, player_pictures, player_table
from dumbbell.studies.video_real_traffic.player_captures import captured_pictures, captured_table
from dumbbell.studies.video_real_traffic.quantities import WORDS

if TYPE_CHECKING:
    from dumbbell.studies.definition import Study

__all__ = ["EXPERIMENT", "analyze_browser"]

EXPERIMENT = "browser"


def analyze_browser(study: Study, results: Mapping[str, Results]) -> Analysis:
    """List the browser's runs. The claims are about a video of 4:30 min at half the bit rate: none is judged."""
    played = Played(results[EXPERIMENT])
    without = Quantities(lambda _metric, _at: np.array([]), WORDS)
    findings = judge_all(study, without)
    return Analysis(
        findings=findings,
        pictures=[*player_pictures(played, {"load_seconds": {}}), *captured_pictures(played, {})],
        tables=[player_table(played, {"load_seconds": {}}), captured_table(played, {}), *list_tables(study, findings)],
        summary=[counted(study.paper, findings)],
        notes=[
            Note(
                "A real browser on a real kernel",
                "Chromium plays a video of 681 kbit/s from a local server, over HTTP/2 and the kernel's TCP, over "
                "HTTP/3 and aioquic's CUBIC. The report's video has half the bit rate and 4:30 min: no claim of the "
                "report is judged by these runs.",
            )
        ],
    )
