"""The scenario: one description of an experiment."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from functools import cached_property, partial
from pathlib import Path
from typing import Annotated, Any, ClassVar, Self

from pydantic import Field, PrivateAttr, ValidationError

from dumbbell.common.formats import newer
from dumbbell.common.reading import read_text
from dumbbell.common.words import shown
from dumbbell.exceptions import Problem, ScenarioError
from dumbbell.scenario import files, toml
from dumbbell.scenario.base import LONGEST_NAME, Part, Text, Whole
from dumbbell.scenario.capture import Capture, Points
from dumbbell.scenario.errors import NOT_UTF8, translate
from dumbbell.scenario.extends import merge
from dumbbell.scenario.flow.flow_copies import copies_of
from dumbbell.scenario.flow.model import Flow
from dumbbell.scenario.flow.presets import Preset, add_preset
from dumbbell.scenario.layout.graph import Graph, graph_of
from dumbbell.scenario.layout.model import Layout, lay_out
from dumbbell.scenario.network.model import Network
from dumbbell.scenario.own import disciplines as own_disciplines
from dumbbell.scenario.own import variants as own_variants
from dumbbell.scenario.own.disciplines import DisciplineSource
from dumbbell.scenario.own.sections import load_section, may_have_code
from dumbbell.scenario.own.variants import VariantSource
from dumbbell.scenario.paths import Document, copied
from dumbbell.scenario.reading_modes import announce, checks_cells, trusted
from dumbbell.scenario.sweep.cell_parts import CellParts, read_part
from dumbbell.scenario.sweep.cells import Cell, Cells
from dumbbell.scenario.sweep.changes import change, place_in_sweep
from dumbbell.scenario.sweep.every import in_sweep
from dumbbell.scenario.sweep.model import Sweep
from dumbbell.scenario.sweep.seeds import repetition_seed
from dumbbell.scenario.sweep.until import Until
from dumbbell.scenario.timing import TIMED, timing_problems
from dumbbell.scenario.trace import Trace
from dumbbell.scenario.units import Duration, PositiveDuration

__all__ = ["Cell", "Cells", "Scenario", "load"]

FORMAT = 1
CACHED = ("single_flows", "graph", "layout", "cells")
"""The cached properties."""
READ_FIRST = {"variants", "disciplines", "preset", "format"}
"""Keys that change how others are read."""


class Scenario(Part):
    """One description of an experiment: a network, flows, durations, repetitions, and the values that vary.

    Read it with `Scenario.load` or `Scenario.from_toml`, or make it from Python with the same names::

        Scenario(
            name="one cubic",
            duration="10 s",
            network={"bottleneck": {"rate": "10 Mbit/s", "delay": "10 ms"},
                     "access": {"rate": "1 Gbit/s", "delay": "1 ms"}},
            flows=[{"name": "a", "variant": "cubic"}],
        )

    Raises
    ------
    ScenarioError
        With everything that is wrong, each with its place.
    """

    elsewhere: ClassVar[dict[str, str]] = {
        "extends": "only a scenario file extends another one: read it with Scenario.load"
    }

    format: Annotated[Whole, Field(ge=1, le=FORMAT)] = Field(default=FORMAT, exclude=True)
    """Version of the format of scenarios. A newer one is refused."""
    name: Annotated[Text, Field(min_length=1, max_length=LONGEST_NAME)]
    """Name of the experiment."""
    description: Text = ""
    """Purpose of the experiment."""
    duration: PositiveDuration
    """Length of each run; with a preset, by default that of the preset."""
    repetitions: Annotated[Whole, Field(ge=1, le=1_000_000)] = 1
    """Number of runs of each cell; they differ in their seed."""
    until: Until | None = None
    """Repeat cells further than `repetitions` until a metric is known well enough."""
    seed: Annotated[Whole, Field(ge=0, lt=2**63)] = 1
    """The seed that the repetitions' seeds are derived from; the same for every cell."""
    start_jitter: Duration | None = None
    """Each flow starts later by a uniform share of this, drawn per flow and repetition. Default: 10 ms, at most a
    hundredth of the shortest one, for bulk flows that start at the same instant; none for all others."""
    measure_from: Duration = Duration("0 s")
    """Metrics count from here to the end (cuts the warm-up)."""
    network: Network
    """Topology and links."""
    variants: dict[str, VariantSource] = Field(default_factory=dict)
    """Own variants by name; the flows' `variant` may name them."""
    disciplines: dict[str, DisciplineSource] = Field(default_factory=dict)
    """Own queue disciplines by name; the links' `queue` may name them."""
    flows: Annotated[list[Flow], Field(min_length=1)]
    """Senders, receivers, and the traffic between them; none is needed with a preset."""
    preset: Preset | None = None
    """Flows of a test of flent: its name, or { name = ..., keys that differ from the default }."""
    trace: Trace = Trace()
    """Series that are recorded beside the metrics."""
    capture: Points = Capture()
    """Capture points: a list of points, such as ``["sender", "bottleneck"]``, or a table."""
    sweep: Sweep | None = None
    """The sweep: paths with lists of values (multiplied), and `cases` (chosen combinations)."""
    _files: files.Files = PrivateAttr()
    _of_preset: int = PrivateAttr(default=0)

    def __init__(self, **data: Any) -> None:  # noqa: ANN401
        if (refused := newer(data.get("format"), FORMAT)) is not None:
            raise ScenarioError([Problem("format", refused)])
        if "laws" in data and "variants" not in data:
            data["variants"] = data.pop("laws")  # the name of the section in version 0.1
        data, added = add_preset(data)
        in_sweep(data)
        with (
            files.beside(files.current().fresh()) as found,
            own_variants.scope(load_section("variants", data, VariantSource, own_variants.KIND)),
            own_disciplines.scope(load_section("disciplines", data, DisciplineSource, own_disciplines.KIND)),
        ):
            try:
                super().__init__(**data)
            except ValidationError as e:
                raise translate(e, data) from None
            self._of_preset = len(added.pop("flows", []))
            self.__pydantic_fields_set__.difference_update(added)
            self._check_together(found)
            self._check_cells()

    def _check_together(self, found: files.Files, changed: Collection[str] = TIMED) -> None:
        """Check what several parts have to do with each other, as far as some of them have changed."""
        self._files = found
        if not TIMED.isdisjoint(changed) and (problems := timing_problems(self)):
            raise ScenarioError(problems)
        _ = self.layout

    def _check_cells(self, same: Cells | None = None) -> None:
        """Check all cells, unless those of another scenario, which are the same, were checked."""
        if not checks_cells():
            return
        announce(self)
        if same is not None and same.are_checked:
            self.cells.properties = same.properties
        if self.cells.properties.problems:
            raise ScenarioError(self.cells.properties.problems)

    @classmethod
    def load(cls, path: str | os.PathLike[str], changes: Mapping[str, Any] | None = None) -> Self:
        """Read a TOML file, with ``changes`` (path -> value) made to it before it is checked.

        A change of a swept path replaces its list of values by the one value.
        """
        source = os.fspath(path)
        try:
            text = read_text(path)
        except (OSError, ValueError) as e:
            why = e.strerror if isinstance(e, OSError) and e.strerror else str(e)
            raise ScenarioError([Problem("", f"can't be read: {why}")], source) from None
        with files.beside(files.Files(Path(source).parent)):
            return cls.from_toml(text, changes, source=source)

    @classmethod
    def from_toml(cls, text: str, changes: Mapping[str, Any] | None = None, *, source: str | None = None) -> Self:
        """Read TOML text, with the files that it extends; ``source`` is its file."""
        try:
            merged = merge(toml.read(text), source)
        except ScenarioError as e:
            raise ScenarioError(e.problems, e.source or source) from None
        try:
            return cls.from_dict(merged.document, changes)
        except ScenarioError as e:
            raise ScenarioError(merged.located(e.problems, changes or {}), source) from None

    @classmethod
    def from_dict(cls, document: Document, changes: Mapping[str, Any] | None = None) -> Self:
        """Read a document of plain values, as a TOML or JSON reader gives it."""
        try:
            document = copied(document)
        except RecursionError:
            raise ScenarioError([Problem("", "nested too deeply")]) from None
        try:
            change(document, changes or {})
            return cls(**{str(k): v for k, v in document.items()})
        except UnicodeEncodeError as e:
            raise ScenarioError([Problem("", f"{shown(e.object)} given: {NOT_UTF8}")]) from None

    def with_changes(self, changes: Mapping[str, Any]) -> Self:
        """Make a scenario that differs in ``changes`` (path -> value)."""
        with files.beside(self._files):
            document = self.to_dict()
            changed = change(document, changes)
            return self._with_changed(document, changed) or type(self)(**document)

    def _with_changed(self, document: Document, changed: set[str]) -> Self | None:
        """Read only the changed keys of a document; None where reading all of it may give something else."""
        same = READ_FIRST.isdisjoint(changed) and self.preset is None and not self._files.used
        if not same or may_have_code(document) or not changed <= type(self).model_fields.keys():
            return None
        with files.beside(files.current().fresh()) as found:
            try:
                made = self._with_parts({name: read_part(type(self), name, document[name]) for name in changed})
                made._check_together(found, changed)
            except (ScenarioError, ValidationError):
                return None
            made._check_cells(self.cells if changed <= self._unread_by_cells() else None)
        return made

    def _unread_by_cells(self) -> set[str]:
        """Return the keys that no check of a cell reads."""
        until = self.until is not None or (self.sweep is not None and "until" in self.sweep.keys)
        return {"name", "description", "seed"} | (set() if until else {"repetitions"})

    @property
    def external_files(self) -> Mapping[str, Path]:
        """The files that it reads, in any of its cells: each path as the scenario writes it, and where it leads."""
        return dict(self._files.used)

    @property
    def places(self) -> files.Files:
        """The places where the paths of its files are looked up."""
        return self._files

    def to_dict(self) -> Document:
        """Return the document: the values that were set, as plain values."""
        document: Document = self.model_dump(by_alias=True, exclude_unset=True, exclude_none=True)
        if self._of_preset:
            document["flows"] = document["flows"][: -self._of_preset]
            if not document["flows"]:
                del document["flows"]
        return document

    def to_toml(self) -> str:
        """Write it as TOML; `from_toml` reads it back to an equal scenario."""
        return toml.write(self.to_dict())

    @cached_property
    def single_flows(self) -> list[Flow]:
        """The flows, those with a `count` as their copies, in the order of the results."""
        return copies_of(self.flows)

    @cached_property
    def graph(self) -> Graph:
        """The part of the layout that does not depend on the links' settings."""
        return graph_of(self.network, self.single_flows)

    @cached_property
    def layout(self) -> Layout:
        """The network drawn out, with the ends and paths of the flows; the sweep is not part of it."""
        return lay_out(self)

    @cached_property
    def cells(self) -> Cells:
        """The cells of the sweep; without a sweep, one cell without values."""
        if self.sweep is None:
            return Cells(1, lambda _: {}, lambda _: self)
        parts = CellParts(self, self.sweep)
        return Cells(len(self.sweep), self.sweep.values, partial(self._of_cell, parts), self)

    def _of_cell(self, parts: CellParts, number: int) -> Scenario:
        """Make the scenario of a cell from its changed parts, or whole where that fails: its errors are complete."""
        with files.beside(self._files), trusted():
            try:
                made = self._of_parts(parts, number)
            except (ScenarioError, ValidationError):
                made = None
            if made is None:
                values = parts.sweep.values(number)
                try:
                    made = type(self)(**parts.document(values))
                except ScenarioError as e:
                    raise ScenarioError([place_in_sweep(p, parts.base, values) for p in e.problems]) from None
        self._files.used.update(made.external_files)
        return made

    def _of_parts(self, parts: CellParts, number: int) -> Scenario | None:
        """Make the scenario of a cell from its changed parts; None if it has to be read as a whole."""
        with files.beside(files.current().fresh()) as found:
            read = parts.of(number)
            if read is None:
                return None
            made = self._with_parts({**read.parts, "sweep": None})
            made.__pydantic_fields_set__.discard("sweep")
            made.__dict__.update(read.shared.caches(made.network))
            found.used.update(read.used)
            made._check_together(found, () if read.timed in parts.times_suit else TIMED)
            parts.keep(made, read)
        return made

    def _with_parts(self, parts: Mapping[str, Any]) -> Self:
        """Make a scenario that differs in some parts, which are checked already; not yet checked together."""
        made = self.__copy__()
        own = made.__dict__
        for name in CACHED:
            own.pop(name, None)
        own.update(parts)
        made.__pydantic_fields_set__.update(parts)
        return made

    def repetition_seed(self, repetition: int) -> int:
        """The seed of a repetition (from 0): the same in every cell."""
        return repetition_seed(self.seed, repetition)


def load(path: str | os.PathLike[str], changes: Mapping[str, Any] | None = None) -> Scenario:
    """Read a scenario from a TOML file.

    Parameters
    ----------
    path : path
        The file. Paths inside it are relative to its folder.
    changes : mapping, optional
        Changes made before the scenario is checked, path -> value, such as
        ``{"network.bottleneck.rate": "5 Mbit/s"}``. A change of a swept path replaces its list by the one value.

    Returns
    -------
    Scenario

    Raises
    ------
    ScenarioError
        With every problem and its place.

    Examples
    --------
    >>> import dumbbell
    >>> scenario = dumbbell.load("cbr.toml", {"duration": "10 s"})
    >>> scenario.name, str(scenario.duration), len(scenario.cells)
    ('TCP against CBR', '10 s', 2)
    """
    return Scenario.load(path, changes)
