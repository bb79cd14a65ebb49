"""A scenario as worker processes read it: plain values, and the places of its files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from dumbbell.scenario import files
from dumbbell.scenario.paths import Document
from dumbbell.scenario.reading_modes import trusted

if TYPE_CHECKING:
    from dumbbell.scenario.model import Scenario

__all__ = ["WorkerCopy"]


@dataclass(frozen=True)
class WorkerCopy:
    """A checked scenario that can be pickled.

    Attributes
    ----------
    kind : type
        The class of scenarios.
    document : dict
        The scenario, plain values.
    folder : Path
        The folder that relative paths start from.
    stored : mapping
        Paths as the scenario writes them whose file is a copy elsewhere.
    contents : mapping
        For other machines: the contents of all files, by their paths as the scenario writes them.
    """

    kind: type[Scenario]
    document: Document
    folder: Path
    stored: Mapping[str, Path]
    contents: Mapping[str, bytes] = field(default_factory=dict)

    @classmethod
    def of(cls, scenario: Scenario) -> WorkerCopy:
        """Describe a scenario."""
        places = scenario.places
        stored = {text: place.absolute() for text, place in places.stored.items()}
        return cls(type(scenario), scenario.to_dict(), places.folder.absolute(), stored)

    @classmethod
    def with_contents(cls, scenario: Scenario) -> WorkerCopy:
        """Describe a scenario for other machines. All of its cells must have been made."""
        found = cls.of(scenario)
        return replace(found, contents={text: place.read_bytes() for text, place in scenario.external_files.items()})

    def scenario(self) -> Scenario:
        """Make the scenario. Its cells are not checked again; files that came with it last as long as the process."""
        from dumbbell.common.run_folders import FILES_PREFIX, Folder, clean  # only workers need it

        stored = dict(self.stored)
        if self.contents:
            clean()  # nobody else removes the folders of workers that were killed on this machine
            folder = Folder(FILES_PREFIX).keep()
            for number, (text, content) in enumerate(self.contents.items()):
                stored[text] = folder / f"{number}{Path(text).suffix}"
                stored[text].write_bytes(content)
        with files.beside(files.Files(self.folder, stored)), trusted():
            return self.kind.from_dict(self.document)
