"""Results that lack cells: of a back end that can't run all of a study, or of the decisive cells only."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar, cast

from dumbbell.exceptions import DumbbellError
from dumbbell.results import Results

__all__ = ["NotRunError", "Refused", "StudyResults", "absent", "data", "late", "made"]

T = TypeVar("T")
_LISTED = re.compile(r" \(it has .*?\)")
Refused = dict[str, dict[str, str]]
"""By experiment: the cells that a back end can't run, in words, each with the reason."""


class NotRunError(DumbbellError):
    """A quantity, figure or table needs cells that were not run."""


class StudyResults(dict[str, Results]):
    """Results by experiment, and the cells that are missing in them.

    Attributes
    ----------
    refused : Refused
    """

    def __init__(self, results: Mapping[str, Results], refused: Refused) -> None:
        super().__init__(results)
        self.refused = refused
        self._data: dict[tuple[str, Callable[[Results], Any]], Any] = {}

    def changed(self, results: Mapping[str, Results]) -> StudyResults:
        """Return the same with other results of some experiments; data of the others aren't made again."""
        found = StudyResults({**self, **results}, self.refused)
        found._data = {key: data for key, data in self._data.items() if key[0] not in results}
        return found

    def data(self, name: str, make: Callable[[Results], T]) -> T:
        """Return the data of an experiment, made when first used."""
        found = self._data
        if (name, make) not in found:
            found[name, make] = make(self[name])
        return cast("T", found[name, make])


def data(results: Mapping[str, Results], name: str, make: Callable[[Results], T]) -> T:
    """Return the data of an experiment, of `StudyResults` made once."""
    return results.data(name, make) if isinstance(results, StudyResults) else make(results[name])


class _Late:
    """Stands for an object that is made when one of its attributes is first used."""

    def __init__(self, make: Callable[[], object]) -> None:
        self._make = make
        self._made: object | None = None

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - of any kind
        if self._made is None:
            self._made = self._make()
        return getattr(self._made, name)


def late(make: Callable[[Results], T], results: Mapping[str, Results], name: str) -> T:
    """Return the data of an experiment, made when first used; NotRunError is raised then if it has no runs."""

    def now() -> T:
        found = results.get(name)
        if found is None or not len(found):
            raise NotRunError(f"the experiment {name} was not run")
        return data(results, name, make)

    return cast("T", _Late(now))


def absent(results: Mapping[str, Results]) -> dict[str, str]:
    """Return, by experiment, the reasons against cells that were not run, each once, without lists in parentheses."""
    refused = results.refused if isinstance(results, StudyResults) else {}
    return {
        name: "; ".join(dict.fromkeys(_LISTED.sub("", reason) for reason in cells.values()))
        for name, cells in refused.items()
    }


def made(makers: Iterable[Callable[[], T]]) -> list[T]:
    """Make everything that the runs suffice for."""
    found = []
    for make in makers:
        try:
            found.append(make())
        except NotRunError:
            continue
    return found
