"""Studies: published experiments repeated, with each claim compared with the measurements.

A study is a folder here. To add one, add a folder with

``study.toml``
    its description and its experiments: for each a scenario file and the changes that ``--quick`` makes to it.
    ``[every]`` holds what an experiment has unless it says otherwise
``paper.toml``
    the facts and claims of the publication. A report is listed whole: set-up, figures and tables with their
    counterparts, and each sentence of a result or conclusion with the words of the report and the rule that judges it
    (`dumbbell.studies.declared`), or the reason why none can. ``printed`` lists the report's numbers that the
    pictures show (`dumbbell.studies.reference`)
``lessons.toml``
    what a student should take from it: questions, and their answers with the claims and the figure that they rest on
    (`dumbbell.studies.lessons`). Without it, the page begins with the study's purpose and its first figure
the scenario files
    plain scenarios, which `dumbbell run` takes as well
``analysis.py``
    with one function ``analyze(study, results) -> Analysis``, where ``results`` maps the experiments' names to
    `dumbbell.Results`: it gives the findings (one for each claim), pictures, tables and words
``quantities.py``
    of a listed report: the quantities that its rules name, by metric and setting, and the words for them.
    `dumbbell.studies.judge.judge_all` makes the findings of rules and quantities

No other file lists it: `catalog.studies` finds the folders. ``dumbbell.studies()`` returns every study by name.
"""

from typing import TYPE_CHECKING

from dumbbell.common.callable_package import call_lists
from dumbbell.common.lazy import lazy as _lazy

if TYPE_CHECKING:
    from dumbbell.report.finding import Analysis, Finding, Measured, Note, Table, Verdict
    from dumbbell.studies.catalog import studies, study
    from dumbbell.studies.definition import Experiment, Study
    from dumbbell.studies.done import Done
    from dumbbell.studies.paper import Claim
    from dumbbell.studies.runner import run_study

__all__ = [
    "Analysis",
    "Claim",
    "Done",
    "Experiment",
    "Finding",
    "Measured",
    "Note",
    "Study",
    "Table",
    "Verdict",
    "run_study",
    "studies",
    "study",
]

_HOMES = {
    "dumbbell.report.finding": ("Analysis", "Finding", "Measured", "Note", "Table", "Verdict"),
    "dumbbell.studies.catalog": ("studies", "study"),
    "dumbbell.studies.definition": ("Experiment", "Study"),
    "dumbbell.studies.done": ("Done",),
    "dumbbell.studies.paper": ("Claim",),
    "dumbbell.studies.runner": ("run_study",),
}
__getattr__ = _lazy(__name__, {name: home for home, names in _HOMES.items() for name in names})


def _all_studies() -> object:
    """Return every study by name."""
    from dumbbell.studies.catalog import studies  # slow to import

    return studies()


call_lists(__name__, _all_studies)
