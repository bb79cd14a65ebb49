"""Reports: a study on one self-contained page, and the same for programs."""

from dumbbell.report.document import document
from dumbbell.report.write import files, write_report

__all__ = ["document", "files", "write_report"]
