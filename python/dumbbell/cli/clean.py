"""``dumbbell clean``: removes the remains of killed runs and builds."""

from __future__ import annotations

from dumbbell.cli import front, output

__all__ = ["clean"]


@front.command("clean", "dumbbell clean")
def clean() -> None:
    """Remove the folders and processes that killed runs, kernel builds, analyses and labs have left.

    Nothing else is removed. The kernel itself removes the namespaces, interfaces and queue disciplines of a run when
    its process ends, also when it is killed.
    """
    from dumbbell.kernel.build_folder import clean_builds  # noqa: PLC0415
    from dumbbell.kernel.folders import clean as clean_up  # noqa: PLC0415
    from dumbbell.kernel.store import places  # noqa: PLC0415

    for folder in (left for place in places() for left in clean_builds(place)):
        output.note(f"removed {folder}")
    for left in clean_up():
        output.note(f"removed {left.place}" + (f", ended {len(left.processes)} processes" if left.processes else ""))
