"""The studies of this package by name, each of which can be run."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dumbbell.exceptions import DumbbellError
from dumbbell.registry import unknown
from dumbbell.studies.definition import Study

if TYPE_CHECKING:
    from dumbbell.studies.done import Done

__all__ = ["RunnableStudy", "studies", "study"]


class RunnableStudy(Study):
    """A study that can be run."""

    def run(self, out: str | os.PathLike[str], **options: Any) -> Done:  # noqa: ANN401 - those of run_study
        """Run the study and write its page, figures and tables into a directory.

        Parameters
        ----------
        out : path
            The directory; runs that it holds already are not made again.
        **options
            ``quick``, ``jobs``, ``backend``, ``kernel``: see `dumbbell.studies.run_study`.

        Returns
        -------
        Done
            With ``results`` by experiment, ``analysis`` with a finding for each claim, and ``report``, the page.
        """
        from dumbbell.studies.runner import run_study  # slow to import

        return run_study(self, out, **options)


@cache
def studies() -> dict[str, RunnableStudy]:
    """Return every study by name: each folder beside this file that holds a ``study.toml``."""
    found = [RunnableStudy.load(path.parent) for path in sorted(Path(__file__).parent.glob("*/study.toml"))]
    return {s.name: s for s in found}


def study(name: str) -> RunnableStudy:
    """Look up a study by its name; its method `run` runs it.

    Parameters
    ----------
    name : str
        One of `dumbbell.studies`.

    Returns
    -------
    RunnableStudy

    Raises
    ------
    DumbbellError
        If no study has this name, with the nearest name.

    Examples
    --------
    >>> import dumbbell
    >>> quickstart = dumbbell.study("quickstart")
    >>> [experiment.name for experiment in quickstart.experiments]
    ['sawtooth', 'cubic', 'bloat', 'pair']
    """
    known = studies()
    if name not in known:
        raise DumbbellError(unknown("study", name, list(known)))
    return known[name]
