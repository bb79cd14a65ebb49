"""The kernel's side as a file, so that the simulator can be compared with it on machines without a built kernel.

::

    DIR/cases.jsonl    a line for each case: its name, the version of the kernel, its figures and curves; its
                       scenario, unless it is one of the built-in set
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from dumbbell.common.documents import read_json
from dumbbell.common.formats import newer
from dumbbell.common.link_free_folder import LinkFreeFolder
from dumbbell.exceptions import DumbbellError, ResultsError
from dumbbell.kernel.validate.cases import Case, built_in
from dumbbell.kernel.validate.measurements import Measured
from dumbbell.scenario import Scenario, gate

__all__ = ["load", "store"]

FORMAT = 1
NAME = "cases.jsonl"
THINNED = 5
"""Bins of a curve that are stored as one."""
ALL = 10_000
"""The same for cases whose curves are not kept."""


def store(folder: Path, cases: Sequence[Case], measured: Mapping[str, Measured], kernel: str) -> Path:
    """Write cases; other cases in the folder are kept. ResultsError if that fails."""
    place = folder / NAME
    lines = _lines(folder) if place.exists() else {}
    known = {case.name: case for case in built_in()}
    for case in cases:
        content: dict[str, Any] = {"case": case.name, "kernel": kernel, "plan": _mark(case)}
        if case.name not in known or _mark(known[case.name]) != content["plan"]:
            content["scenario"] = case.scenario.to_dict()
        bins = ALL if case.name.startswith(("near/", "shares/")) else THINNED
        content["flows"] = measured[case.name].thinned(bins).document()
        lines[case.name] = json.dumps(content, allow_nan=False, separators=(",", ":"))
    try:
        LinkFreeFolder(folder).write_text(NAME, "".join(f"{lines[name]}\n" for name in sorted(lines)))
    except OSError as e:
        raise ResultsError(f"{place}: can't be written: {e.strerror or e}") from None
    return place


def _refuse(what: str) -> None:
    raise ResultsError(f"a stored scenario runs {what}, and code of stored cases never runs")


def load(folder: Path) -> list[tuple[Case, Measured]]:
    """Read all cases of a folder, by name; ResultsError if one can't be read."""
    place = folder / NAME
    known = {case.name: case for case in built_in()}
    found = []
    for name, line in sorted(_lines(folder).items()):
        try:
            content = read_json(line)
            if (refused := newer(content.get("format"), FORMAT)) is not None:
                raise ResultsError(f"{place}: {name}: format: {refused}")
            given = content.get("scenario")
            with gate.guarded(_refuse):
                case = known[name] if given is None else Case(name, Scenario.from_dict(given))
            if _mark(case) != content["plan"]:
                raise ResultsError(f"{place}: {name}: the built-in case has changed since: measure it again")
            found.append((case, Measured.read(content["flows"])))
        except ResultsError:
            raise
        except (ValueError, KeyError, TypeError, DumbbellError) as e:
            raise ResultsError(f"{place}: {name}: not a stored case: {e!r}") from None
    if not found:
        raise ResultsError(f"{place}: holds no stored cases")
    return found


def _lines(folder: Path) -> dict[str, str]:
    try:
        lines = LinkFreeFolder(folder).read(NAME).decode().splitlines()
        return {str(read_json(line)["case"]): line for line in lines if line}
    except (OSError, ValueError, KeyError, TypeError) as e:
        raise ResultsError(f"{folder / NAME}: not stored cases: {e!r}") from None


def _mark(case: Case) -> str:
    """Return True if a case is the one that was measured."""
    scenario = case.scenario
    seeds = [scenario.repetition_seed(r) for r in range(scenario.repetitions)]
    text = json.dumps([scenario.to_dict(), seeds], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]
