"""The scenario: one description of an experiment."""

from __future__ import annotations

import copy
import os
from collections.abc import Collection, Mapping
from functools import cached_property, partial
from pathlib import Path
from typing import Annotated, Any, Protocol, Self, TypeVar

from pydantic import Field, PrivateAttr, ValidationError

from dumbbell.common.formats import newer
from dumbbell.common.reading import read_text
from dumbbell.exceptions import Problem, ScenarioError
from dumbbell.registry import unknown
from dumbbell.scenario import files, toml
from dumbbell.scenario.base import LONGEST_NAME, Part, Text, Whole
from dumbbell.scenario.capture import Capture, Points
from dumbbell.scenario.errors import translate
from dumbbell.scenario.flow.flow_copies import copies_of
from dumbbell.scenario.flow.model import Flow
from dumbbell.scenario.flow.presets import Preset
from dumbbell.scenario.layout.graph import Graph, graph_of, shape_of
from dumbbell.scenario.layout.model import Layout, lay_out
from dumbbell.scenario.network.model import Network
from dumbbell.scenario.own import disciplines as own_disciplines
from dumbbell.scenario.own import variants as own_variants
from dumbbell.scenario.own.code import OwnCode, Source
from dumbbell.scenario.own.disciplines import DisciplineSource
from dumbbell.scenario.own.variants import VariantSource
from dumbbell.scenario.paths import Document, canonical, join, overlap
from dumbbell.scenario.reading_modes import announce, checks_cells, trusted
from dumbbell.scenario.sweep.cell_parts import Swept
from dumbbell.scenario.sweep.cells import Cell, Cells
from dumbbell.scenario.sweep.model import Sweep
from dumbbell.scenario.sweep.seeds import repetition_seed
from dumbbell.scenario.sweep.until import Until
from dumbbell.scenario.trace import Trace
from dumbbell.scenario.units import Duration, PositiveDuration

__all__ = ["Cell", "Cells", "Scenario", "load"]

FORMAT = 1
TIMED = frozenset({"duration", "flows", "measure_from", "repetitions", "start_jitter", "until"})
"""Parts whose values have to suit each other."""


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
        data, added = _add_preset(data)
        with (
            files.beside(files.current().fresh()) as found,
            own_variants.scope(_load_own_code("variants", data, VariantSource, own_variants)),
            own_disciplines.scope(_load_own_code("disciplines", data, DisciplineSource, own_disciplines)),
        ):
            try:
                super().__init__(**data)
            except ValidationError as e:
                raise translate(e, data) from None
            self._of_preset = len(added.pop("flows", []))
            self.__pydantic_fields_set__.difference_update(added)
            self._check_together(found)
            if checks_cells():
                announce(self)
                if self.cells.properties.problems:
                    raise ScenarioError(self.cells.properties.problems)

    def _check_together(self, found: files.Files, changed: Collection[str] = TIMED) -> None:
        """Check what several parts have to do with each other, as far as some of them have changed."""
        self._files = found
        if not TIMED.isdisjoint(changed) and (problems := self._own_problems()):
            raise ScenarioError(problems)
        _ = self.layout

    def _unchanged_caches(self, parts: Mapping[str, Any]) -> set[str]:
        """Return the cached properties that a change of these parts leaves as they are."""
        if "flows" in parts:
            return set()
        same = shape_of(parts.get("network", self.network)) == shape_of(self.network)
        return {"single_flows", "graph"} if same else {"single_flows"}

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
        """Read TOML text; ``source`` is its name in errors."""
        try:
            return cls.from_dict(toml.read(text), changes)
        except ScenarioError as e:
            raise ScenarioError(e.problems, source) from None

    @classmethod
    def from_dict(cls, document: Document, changes: Mapping[str, Any] | None = None) -> Self:
        """Read a document of plain values, as a TOML or JSON reader gives it."""
        try:
            document = copy.deepcopy(document)
        except RecursionError:
            raise ScenarioError([Problem("", "nested too deeply")]) from None
        changed: dict[tuple[str, ...], str] = {}
        for path, value in (changes or {}).items():
            before = changed.setdefault(canonical(document, path), path)
            if before != path:
                raise ScenarioError([Problem(path, f"the same place as '{before}': it is set twice")])
            _change(document, path, value)
        return cls(**{str(k): v for k, v in document.items()})

    def with_changes(self, changes: Mapping[str, Any]) -> Self:
        """Make a scenario that differs in ``changes`` (path -> value)."""
        with files.beside(self._files):
            return type(self).from_dict(self.to_dict(), changes)

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
        swept = Swept(self, self.sweep)
        return Cells(len(self.sweep), self.sweep.values, partial(self._of_cell, swept), self)

    def _of_cell(self, swept: Swept, number: int) -> Scenario:
        """Make the scenario of a cell from its changed parts, or whole where that fails: its errors are complete."""
        values = swept.sweep.values(number)
        with files.beside(self._files), trusted():
            try:
                made = self._with_parts(swept.parts(values))
            except (ScenarioError, ValidationError):
                try:
                    made = type(self)(**swept.document(values))
                except ScenarioError as e:
                    raise ScenarioError([_place_in_sweep(p, swept.base, values) for p in e.problems]) from None
        self._files.used.update(made.external_files)
        return made

    def _with_parts(self, parts: Mapping[str, Any] | None) -> Scenario:
        """Make a scenario without a sweep that differs in some parts, which are checked already."""
        if parts is None:
            raise ScenarioError([])
        made = self.__copy__()
        own = made.__dict__
        for name in own.keys() - type(self).model_fields.keys() - self._unchanged_caches(parts):
            del own[name]  # cached properties
        own.update(parts, sweep=None)
        made.__pydantic_fields_set__.discard("sweep")
        made.__pydantic_fields_set__.update(parts)
        with files.beside(files.current().fresh()) as found:
            made._check_together(found, parts)
        return made

    def repetition_seed(self, repetition: int) -> int:
        """The seed of a repetition (from 0): the same in every cell."""
        return repetition_seed(self.seed, repetition)

    def _own_problems(self) -> list[Problem]:
        """Return the problems between parts, except those of the topology."""
        found = []
        if self.measure_from.ns >= self.duration.ns:
            found.append(
                Problem(
                    "measure_from",
                    f"'{self.measure_from}' given: must be before the end at '{self.duration}'",
                )
            )
        if self.until is not None and self.until.at_most < self.repetitions:
            found.append(
                Problem("until.at_most", f"{self.until.at_most} given: repetitions are {self.repetitions} already")
            )
        singles = [flow.name for flow in self.single_flows]
        if self.until is not None and self.until.flow not in {None, *singles}:
            message = unknown("flow", str(self.until.flow), singles)
            found.append(Problem("until.flow", message))
        names: set[str] = set()
        for number, flow in enumerate(self.flows):
            if flow.name in names:
                found.append(Problem(f"flows.{number}.name", f"'{flow.name}' is taken by an earlier flow"))
            names.add(flow.name)
            found += self._flow_problems(flow)
        return found or self._copy_problems(names)

    def _copy_problems(self, names: set[str]) -> list[Problem]:
        """Return the first problem of a copy of a flow."""
        for single in self.single_flows:
            if single.group is None:
                continue
            place = join(["flows", single.group])
            if single.name in names:
                return [Problem(f"{place}.count", f"'{single.name}' is taken by another flow")]
            if len(single.name) > LONGEST_NAME:
                why = f"'{single.group}' given: names of copies have at most {LONGEST_NAME} characters"
                return [Problem(f"{place}.name", why)]
            end, jitter = single.stop or self.duration, single.start_jitter or self.start_jitter
            if single.start.ns + (jitter.ns if jitter is not None else 0) > end.ns or single.start.ns >= end.ns:
                return [Problem(f"{place}.spread", f"copy '{single.name}' may start after its end at '{end}'")]
        return []

    def _flow_problems(self, flow: Flow) -> list[Problem]:
        place = join(["flows", flow.name])
        if flow.start.ns >= self.duration.ns:
            return [Problem(f"{place}.start", f"'{flow.start}' given: must be before the end at '{self.duration}'")]
        if flow.stop is not None and flow.stop.ns > self.duration.ns:
            return [Problem(f"{place}.stop", f"'{flow.stop}' given: the run ends earlier, at '{self.duration}'")]
        end = flow.stop or self.duration
        jitter = flow.start_jitter or self.start_jitter
        if jitter is not None and flow.start.ns + jitter.ns > end.ns:
            late = f"'{flow.start}' given: with start_jitter '{jitter}' it may start after its end at '{end}'"
            return [Problem(f"{place}.start", late)]
        return []


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


def _add_preset(data: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Add the flows and defaults of a preset to a raw document; also return the added ones."""
    if data.get("preset") is None:
        return data, {}
    try:
        preset = Preset.model_validate(data["preset"])
    except ValidationError as e:
        problems = translate(e, data["preset"]).problems
        raise ScenarioError(
            [Problem(f"preset.{p.place}" if p.place else "preset", p.message) for p in problems]
        ) from None
    added: dict[str, Any] = {"flows": preset.flows()}
    added |= {key: value for key, value in preset.defaults().items() if key not in data}
    flows = data.get("flows", [])
    return {**data, **added, "flows": [*flows, *added["flows"]] if isinstance(flows, list) else flows}, added


Code = TypeVar("Code", bound=OwnCode)
Code_co = TypeVar("Code_co", bound=OwnCode, covariant=True)


class _CodeLoader(Protocol[Code_co]):
    """A module of own code."""

    def free(self, name: str) -> None: ...
    def load(self, key: str, text: str, name: str | None = None) -> Code_co: ...


def _load_own_code(
    section: str, data: Mapping[str, Any], kind: type[Source], loader: _CodeLoader[Code]
) -> dict[str, Code]:
    """Load the own code that a section of a raw document names. The model reports entries that are not tables."""
    found: dict[str, Code] = {}
    problems = []
    given = data.get(section)
    for name, source in given.items() if isinstance(given, dict) else ():
        place = join([section, str(name)])
        try:
            key, text = kind.model_validate(source).place
        except ValidationError:
            continue
        try:
            loader.free(str(name))
            found[str(name)] = loader.load(key, text, str(name))
        except ValueError as e:
            problems.append(Problem(f"{place}.{key}", str(e)))
    if problems:
        raise ScenarioError(problems)
    return found


def _change(document: Document, path: str, value: object) -> None:
    """Make one change to a raw document."""
    place = canonical(document, path)
    sweep = document.get("sweep")
    if isinstance(sweep, dict) and place[0] != "sweep":
        try:
            parsed = Sweep.model_validate(sweep)
        except ValidationError:
            parsed = None  # the check of the scenario reports it with its place
        if parsed is not None:
            parsed.check(document)
            axes = dict(parsed.axes)
            for axis in axes:
                if canonical(document, axis) == place:
                    axes[axis] = [value]
                elif overlap(canonical(document, axis), place):
                    raise ScenarioError([Problem(path, f"the sweep varies '{axis}': change that")])
            for case in parsed.cases:
                for swept in case:
                    if overlap(canonical(document, swept), place):
                        raise ScenarioError([Problem(path, f"the cases of the sweep set '{swept}'")])
            document["sweep"] = {**axes, **({"cases": parsed.cases} if parsed.cases else {})}
    Sweep.apply(document, {path: value})


def _place_in_sweep(problem: Problem, base: Document, values: dict[str, Any]) -> Problem:
    """Move a problem of a cell to the swept path that caused it, if one did."""
    try:
        place = canonical(base, problem.place) if problem.place else ()
    except ScenarioError:
        place = ()
    for path in values:
        if place and overlap(canonical(base, path), place):
            inner = "" if len(place) <= len(canonical(base, path)) else f"{problem.place}: "
            return Problem(f"sweep.{join([path])}", inner + problem.message)
    cell = ", ".join(f"{k} = {v!r}" for k, v in values.items())
    return Problem(problem.place, f"{problem.message} (in the sweep's cell {cell})")
