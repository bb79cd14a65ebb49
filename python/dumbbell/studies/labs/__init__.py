"""Labs: exercises for a class, with a scenario for each student and answers that a run checks.

A lab is a folder here. To add one, add a folder with

``lab.toml``
    its title, the sets from which a student's parameters are drawn, the runs, the questions with their tolerances
``scenario.toml``
    a scenario in which ``$rate`` stands for the parameter ``rate``, ``$student`` and ``$seed`` for the student's
``handout.md``
    the text, with the same parameters; ``${run_NAME}`` stands for the command of a run. A line ``{questions: q1 q2}``
    becomes these questions
``figures.py``
    with one function ``figures(runs) -> dict``, which computes the figure of each question from the runs by name

No other file lists it: `definition.labs` finds the folders.
"""

from typing import TYPE_CHECKING

from dumbbell.common.lazy import lazy as _lazy

if TYPE_CHECKING:
    from dumbbell.studies.labs.definition import Lab, lab, labs
    from dumbbell.studies.labs.grade_sheet import find_hand_ins, write_sheet
    from dumbbell.studies.labs.grading import Checked, Verdict, check
    from dumbbell.studies.labs.starting import Started, start

__all__ = ["Checked", "Lab", "Started", "Verdict", "check", "find_hand_ins", "lab", "labs", "start", "write_sheet"]

_HOMES = {
    "grading": ("Checked", "Verdict", "check"),
    "definition": ("Lab", "lab", "labs"),
    "grade_sheet": ("find_hand_ins", "write_sheet"),
    "starting": ("Started", "start"),
}
__getattr__ = _lazy(
    __name__, {name: f"dumbbell.studies.labs.{home}" for home, names in _HOMES.items() for name in names}
)
