"""Reports on one self-contained page, and the same as Markdown: of results; satellites add studies and captures."""

from dumbbell.report.latex import latex_table
from dumbbell.report.write import Format, write_content, write_results_report

__all__ = ["Format", "latex_table", "write_content", "write_results_report"]
