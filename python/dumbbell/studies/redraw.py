"""The report of a study's directory, drawn again from the runs in it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from dumbbell.cli import output
from dumbbell.common.documents import read_json
from dumbbell.common.formats import newer
from dumbbell.common.link_free_folder import LinkFreeFolder
from dumbbell.exceptions import DumbbellError
from dumbbell.report.markdown import markdown
from dumbbell.report.write import Format, write_text
from dumbbell.studies.catalog import study
from dumbbell.studies.json_document import FORMAT
from dumbbell.studies.report import of_study
from dumbbell.studies.runner import run_study

__all__ = ["redraw"]


def _decisions(kept: dict[str, Any]) -> dict[str, Any]:
    """Return the options of `run_study` for a design that was kept."""
    seeds = [None if seed is None else int(seed) for seed in kept["seeds"]]
    of = {name: None if kept[name] is None else int(kept[name]) for name in ("repetitions", "budget")}
    if int(kept["looks"]) == 1 and len(seeds) == 1:
        return {"seed": seeds[0], "repetitions": of["repetitions"], "once": True}
    return {"seed": seeds[0], "seeds": len(seeds), **of}


def redraw(directory: Path, out: Path | None, form: Format, jobs: int | None) -> Path:
    """Draw a study again from the runs that it kept (missing ones are made)."""
    try:
        kept = read_json(LinkFreeFolder(directory).read("study.json"))
        if (refused := newer(kept.get("format"), FORMAT)) is not None:
            raise ValueError(f"format: {refused}")
        name, quick = str(kept["study"]), bool(kept["quick"])
        decisions = _decisions(kept["decisions"]) if "decisions" in kept else {"once": True}  # 0.1.0 judged once
    except (OSError, ValueError, LookupError, TypeError, AttributeError) as e:
        raise DumbbellError(f"{directory / 'study.json'}: not a study's: {e}") from None
    done = run_study(
        study(name), directory, quick=quick, jobs=jobs, watch=output.progress, note=output.note, **decisions
    )
    if form == "md":
        place = out or directory / "report.md"
        write_text(place, markdown(of_study(done), done.drawn, place.parent))
        return place
    if out is not None:
        write_text(out, done.report.read_text(encoding="utf-8"))
    return out or done.report
