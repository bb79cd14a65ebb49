"""Reports: a study, or the results of any scenario, on one self-contained page; and the same for programs."""

from dumbbell.report.json_document import document
from dumbbell.report.latex import latex_table
from dumbbell.report.write import (
    Format,
    files,
    write_capture_report,
    write_markdown,
    write_pair_report,
    write_report,
    write_results_report,
)

__all__ = [
    "Format",
    "document",
    "files",
    "latex_table",
    "write_capture_report",
    "write_markdown",
    "write_pair_report",
    "write_report",
    "write_results_report",
]
