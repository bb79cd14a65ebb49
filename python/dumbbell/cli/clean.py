"""``dumbbell clean``: removes the remains of killed runs and builds."""

from __future__ import annotations

from dumbbell.cli import front, output
from dumbbell.satellites import load, satellites

__all__ = ["clean"]


@front.command("clean", "dumbbell clean")
def clean() -> None:
    """Remove the folders and processes that killed runs, kernel builds, analyses and labs have left.

    Nothing else is removed. The kernel itself removes the namespaces, interfaces and queue disciplines of a run when
    its process ends, also when it is killed.
    """
    from dumbbell.common.run_folders import clean as clean_up

    for sentence in (text for one in satellites().values() for home in one.remains for text in load(home)()):
        output.note(sentence)
    for left in clean_up():
        output.note(f"removed {left.place}" + (f", ended {len(left.processes)} processes" if left.processes else ""))
