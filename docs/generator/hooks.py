"""The hooks of mkdocs: pages from the registries, figures from runs, directives and tables replaced in every page.

A directive stands on a line of its own, ``{{ name }}`` or ``{{ name: argument }}``; `directives` lists them.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files

import directives
import figures
import five_reports
import pages
import trace_columns
import verdict_grid
import wifi_figures
import workload_figures
from dumbbell.exceptions import DumbbellError
from dumbbell.studio import write

GROUPS = {"reference/variants/": pages.variants, "reference/disciplines/": pages.disciplines}


def on_config(config: Any) -> Any:
    """Put a page for each registry row under its heading."""
    config["nav"] = [_expanded(item) for item in config["nav"]]
    return config


def _expanded(item: Any) -> Any:
    if isinstance(item, dict):
        return {title: _below(content) for title, content in item.items()}
    return item


def _below(content: Any) -> Any:
    if isinstance(content, list):
        return [_expanded(item) for item in content]
    if content in GROUPS:
        return [{name: f"{content}{name}.md"} for name in GROUPS[content]()]
    return content


def on_files(files: Files, config: Any) -> Files:
    """Add the figures, and a bare page for each registry row without a written page."""
    trace_columns.check()
    for folder, names in GROUPS.items():
        for name in names():
            if files.get_file_from_path(f"{folder}{name}.md") is None:
                files.append(File.generated(config, f"{folder}{name}.md", content="\n"))
    for path, draw in {**figures.all_figures(), **wifi_figures.all_figures(), **workload_figures.all_figures()}.items():
        files.append(File.generated(config, path, content=draw()))
    if write.available():
        files.append(File.generated(config, pages.STUDIO, content=write.page()))
    reports = five_reports.reports()
    counts = {report.name: report.counts for report in reports}
    for form in verdict_grid.FORMS:
        path = f"explanations/img/five-reports.{form}"
        files.append(
            File.generated(config, path, content=verdict_grid.draw(counts, five_reports.source(reports), form))
        )
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Files) -> str:
    """Frame the pages of registry rows and replace the directives."""
    del config, files
    path = page.file.src_uri
    try:
        for folder in GROUPS:
            if path.startswith(folder):
                markdown = pages.frame(folder, Path(path).stem, markdown, page.meta)
        return directives.replace(markdown, path)
    except (directives.DirectiveError, DumbbellError) as e:
        raise PluginError(f"{path}: {e}") from None
