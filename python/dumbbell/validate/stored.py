"""The kernel's side as files, so that the simulator can be held against it where no kernel is built.

::

    DIR/NAME.json    one file for each case: the scenario, the kernel's version, its figures and curves
"""

from __future__ import annotations

import json
from pathlib import Path

from dumbbell.exceptions import DumbbellError, ResultsError
from dumbbell.scenario import Scenario
from dumbbell.validate.cases import Case
from dumbbell.validate.measured import Measured

__all__ = ["load", "store"]


def store(folder: Path, case: Case, measured: Measured, kernel: str) -> Path:
    """Write a case; ResultsError if that can't be done."""
    place = folder / f"{case.name.replace('/', '_').replace('%', 'pct')}.json"
    content = {
        "case": case.name,
        "kernel": kernel,
        "scenario": case.scenario.to_dict(),
        "flows": measured.document(),
    }
    try:
        folder.mkdir(parents=True, exist_ok=True)
        place.write_text(json.dumps(content, allow_nan=False) + "\n", encoding="utf-8")
    except OSError as e:
        raise ResultsError(f"{place}: can't be written: {e.strerror or e}") from None
    return place


def load(folder: Path) -> list[tuple[Case, Measured]]:
    """Read all cases of a folder, by name; ResultsError if one can't be read."""
    found = []
    for place in sorted(folder.glob("*.json")):
        try:
            content = json.loads(place.read_text(encoding="utf-8"))
            case = Case(content["case"], Scenario.from_dict(content["scenario"]))
            found.append((case, Measured.read(content["flows"])))
        except (OSError, ValueError, KeyError, TypeError, DumbbellError) as e:
            raise ResultsError(f"{place}: not a stored case: {e}") from None
    if not found:
        raise ResultsError(f"{folder}: holds no stored cases")
    return sorted(found, key=lambda pair: pair[0].name)
