"""A kind of own code, variants or queue disciplines: its names, and how a source becomes one."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, Generic, TypeVar

from dumbbell.exceptions import DumbbellError
from dumbbell.scenario.own import code
from dumbbell.scenario.own.code import OwnCode

__all__ = ["Kind"]

T = TypeVar("T", bound=OwnCode)


@dataclass(eq=False)
class Kind(Generic[T]):
    """Own code of one kind by name: registered by the program, or of the current scenario.

    Attributes
    ----------
    noun : str
        In messages.
    own : type of OwnCode
    external : type
        The class of `_core` whose `from_class` and `from_library` load it.
    methods : tuple of str
        Methods that a class needs.
    first : str
        The first argument of its ``__init__``, in messages.
    builtin : callable
        Returns the names that are taken.
    more : callable
        Returns further arguments of `from_class`; raises ValueError.
    """

    noun: str
    own: type[T]
    external: Any
    methods: tuple[str, ...]
    first: str
    builtin: Callable[[], Collection[str]]
    more: Callable[[type], dict[str, Any]] = lambda _: {}
    registered: dict[str, T] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._scenario: ContextVar[Mapping[str, T] | None] = ContextVar(self.noun, default=None)
        self._of_library = lru_cache(maxsize=256)(self._from_library)
        self._of_class = lru_cache(maxsize=256)(self._from_class)

    @contextmanager
    def scope(self, named: Mapping[str, T]) -> Iterator[None]:
        """Make the names of a scenario valid within the block."""
        token = self._scenario.set({**(self._scenario.get() or {}), **named})
        try:
            yield
        finally:
            self._scenario.reset(token)

    def current(self) -> Mapping[str, T]:
        """Return the own code by its currently valid names."""
        return {**self.registered, **(self._scenario.get() or {})}

    def named(self, name: str) -> T | None:
        """Return the own code of that name, if any."""
        return self.current().get(name)

    def free(self, name: str) -> None:
        """Raise ValueError if the name is that of a built-in one."""
        if name in self.builtin():
            raise ValueError(f"'{name}' is the name of a {self.noun} of Dumbbell: choose another name")

    def register(self, python_class: type, name: str | None = None) -> type:
        """Register a class of this program; raises DumbbellError if it lacks something, or the name is taken."""
        name = name or python_class.__name__
        try:
            self.free(name)
            handle = self._from_class(python_class, name, code.file_of(python_class))
            self.registered[name] = self.own(name, code.content_of(python_class), handle=handle)
        except ValueError as e:
            raise DumbbellError(f"{name}: {e}") from None
        return python_class

    def load(self, key: str, text: str, name: str | None = None) -> T:
        """Load the source that a scenario gives; raises ValueError with the reason if that fails."""
        in_place = name is None
        name = name or (text if key == "python" else Path(text).name)
        found = code.find(key, text)
        handle = None
        if found.loads and key == "library":
            handle = self._of_library(found.path.absolute(), found.content, name, text)
        elif found.loads:
            handle = self._of_class(code.class_of(found, text), name, str(found.path))
        return self.own(name, found.content, key, text, in_place, handle)

    def _from_library(self, path: Path, _content: str, name: str, shown: str) -> object:
        try:
            return self.external.from_library(path, name)
        except ValueError as e:
            raise ValueError(f"'{shown}' is not a {self.noun}: {e}") from None

    def _from_class(self, python_class: type, name: str, file: str) -> object:
        for method in self.methods:
            if not callable(getattr(python_class, method, None)):
                raise ValueError(f"class {python_class.__name__} has no method {method}: a {self.noun} needs it")
        return self.external.from_class(
            python_class,
            name,
            title=code.title_of(python_class),
            file=file,
            columns=code.columns_of(python_class),
            params=code.parameters_of(python_class, self.first),
            **self.more(python_class),
        )
