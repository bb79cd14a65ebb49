"""Variants that users write: a Python class in a file or of the running program, or a library written in Rust.

A scenario gives the source in place (``variant = { python = "mine.py:Mine" }`` or ``{ library = "libmine.so" }``), or
names it for all its flows (``[variants]``). `register` names a class of the running program.
"""

from __future__ import annotations

import hashlib
import importlib.util
import inspect
import sys
import textwrap
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from types import CodeType, ModuleType
from typing import Annotated, Any

from pydantic import Field, model_validator

from dumbbell import _core, registry
from dumbbell.exceptions import DumbbellError
from dumbbell.registry import unknown
from dumbbell.scenario import code_gate, files
from dumbbell.scenario.base import Part, Text, problem

__all__ = ["OwnVariant", "VariantSource", "current", "load", "module_of", "named", "register", "scope"]

KEYS = ("python", "library")
"""The keys of a variant that replace its name and give its source."""


@dataclass(frozen=True)
class OwnVariant:
    """A variant that is not in the registry.

    Attributes
    ----------
    name : str
        Its name in plans and results.
    content : str
        A hash of its code. Results of another content are results of another scenario.
    key, text : str
        Its source: "python" or "library", and the text in the scenario; empty for a class of the program.
    in_place : bool
        True if the flows give the source instead of a name.
    handle : _core.ExternalVariant or None
        The loaded variant; None if results are only read.
    """

    name: str
    content: str
    key: str = ""
    text: str = ""
    in_place: bool = False
    handle: Any = field(default=None, compare=False, repr=False)

    def check(self, params: dict[str, Any], preset: str) -> None:
        """Check parameters; raises ParamError."""
        if self.handle is None:
            return
        if self.key != "library":  # a library checks its parameters itself
            known = [name for name, *_ in self.handle.params]
            for name in params:
                if name not in known:
                    raise _core.ParamError(name, unknown("parameter", name, known))
        self.handle.check(params, preset)


class VariantSource(Part):
    """The source of an own variant: a Python class, or a library written in Rust."""

    python: Annotated[Text | None, Field(min_length=3)] = None
    """A class in a file, `"mine.py:Mine"`; the path is relative to the scenario's folder."""
    library: Annotated[Text | None, Field(min_length=1)] = None
    """A library, such as `"target/release/libmine.so"`; the path is relative to the scenario's folder."""

    @model_validator(mode="after")
    def _one(self) -> VariantSource:
        if (self.python is None) == (self.library is None):
            raise problem("needed: one of 'python' and 'library'", "python")
        return self

    @property
    def place(self) -> tuple[str, str]:
        """The key and its text."""
        return ("python", self.python) if self.python is not None else ("library", str(self.library))


# ---------------------------------------------------------------- names

_REGISTERED: dict[str, OwnVariant] = {}
_SCENARIO: ContextVar[Mapping[str, OwnVariant] | None] = ContextVar("own_variants", default=None)


@contextmanager
def scope(variants: Mapping[str, OwnVariant]) -> Iterator[None]:
    """Make the names of a scenario valid within the block."""
    token = _SCENARIO.set({**(_SCENARIO.get() or {}), **variants})
    try:
        yield
    finally:
        _SCENARIO.reset(token)


def current() -> Mapping[str, OwnVariant]:
    """Return the own variants by their currently valid names."""
    return {**_REGISTERED, **(_SCENARIO.get() or {})}


def named(name: str) -> OwnVariant | None:
    """Return the own variant of that name, if any."""
    return current().get(name)


def register(python_class: type, name: str | None = None) -> type:
    """Register a class of this program as a variant that scenarios can name.

    Parameters
    ----------
    python_class : type
        A class with ``on_ack`` and ``on_congestion``.
    name : str, optional
        The variant's name; default: the class's name. A class that was registered with this name before is replaced.

    Returns
    -------
    type
        The class, so that this function can be used as a decorator.

    Raises
    ------
    DumbbellError
        If the class lacks a method or attribute of a variant, or the name is one of a built-in variant.
    """
    name = name or python_class.__name__
    try:
        free(name)
        handle = _handle(python_class, name, _file_of(python_class))
        _REGISTERED[name] = OwnVariant(name, _content_of(python_class), handle=handle)
    except ValueError as e:
        raise DumbbellError(f"{name}: {e}") from None
    return python_class


def free(name: str) -> None:
    """Raise ValueError if the name is one of a built-in variant."""
    builtin = [n for v in registry.variants().values() for n in (v.name, *v.aliases)]
    if name in builtin:
        raise ValueError(f"'{name}' is the name of a variant of Dumbbell: choose another name")


def _file_of(python_class: type) -> str:
    try:
        return inspect.getfile(python_class)
    except (OSError, TypeError):
        return f"<{python_class.__name__}>"  # of an interactive interpreter


def _content_of(python_class: type) -> str:
    """Return a hash of a class's source, or of its code if the source is not available."""
    try:
        text = inspect.getsource(python_class)
    except (OSError, TypeError):
        text = repr([(name, _code(member)) for name, member in sorted(vars(python_class).items())])
    return hashlib.sha256(text.encode()).hexdigest()[:24]


def _code(member: object) -> object:
    code = getattr(member, "__code__", None)
    if not isinstance(code, CodeType):
        return type(member).__name__ if callable(member) else repr(member)
    inner = [_code(c) if isinstance(c, CodeType) else c for c in code.co_consts]
    return code.co_code, code.co_names, repr(inner)


# ---------------------------------------------------------------- loading


def load(key: str, text: str, name: str | None = None) -> OwnVariant:
    """Load a variant from the source that a scenario gives; raises ValueError with the reason if that fails."""
    in_place = name is None
    name = name or (text if key == "python" else Path(text).name)
    if key == "python":
        file, colon, class_name = text.rpartition(":")
        if not colon or not file or not class_name.isidentifier():
            raise ValueError(f"'{text}' given: a file and a class are needed, such as \"mine.py:Mine\"")
    else:
        file, class_name = text, ""
    path = files.resolve(file)
    try:
        content = files.digest(path)
    except (OSError, ValueError) as e:
        why = e.strerror if isinstance(e, OSError) and e.strerror else e
        raise ValueError(f"'{file}' can't be read: {why} ({path.absolute()})") from None
    content = f"{content}:{class_name}" if class_name else content
    if files.current().asleep:
        return OwnVariant(name, content, key, text, in_place)
    code_gate.ask(f"{text} ({'Rust library' if key == 'library' else 'Python'})")
    if key == "library":
        return OwnVariant(name, content, key, text, in_place, _library(path.absolute(), content, name, file))
    module = module_of(path, content)
    classes = [n for n, c in vars(module).items() if isinstance(c, type) and c.__module__ == module.__name__]
    if not isinstance(getattr(module, class_name, None), type):
        raise ValueError(f"{file}: {unknown('class', class_name, classes)}")
    handle = _from_class(getattr(module, class_name), name, str(path))
    return OwnVariant(name, content, key, text, in_place, handle)


@lru_cache(maxsize=256)
def _library(path: Path, _content: str, name: str, shown: str) -> _core.ExternalVariant:
    try:
        return _core.ExternalVariant.from_library(path, name)
    except ValueError as e:
        raise ValueError(f"'{shown}' is not a variant: {e}") from None


@lru_cache(maxsize=256)
def module_of(path: Path, content: str) -> ModuleType:
    """Run the file of a variant or rule, once for each content. It can import other files of its folder."""
    module_name = f"dumbbell_plugin_{path.stem}_{content.partition(':')[0][:8]}"
    spec = importlib.util.spec_from_file_location(module_name, path)
    if spec is None or spec.loader is None:
        raise ValueError(f"{path}: a Python file is needed (.py)")
    module = importlib.util.module_from_spec(spec)
    sys.modules[module_name] = module
    sys.path.insert(0, str(path.parent.absolute()))
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as e:
        del sys.modules[module_name]
        raise ValueError(_words(e, path)) from None
    finally:
        sys.path.remove(str(path.parent.absolute()))
    return module


def _words(error: BaseException, path: Path) -> str:
    """Return the message of an exception that running a file has raised, with its line."""
    kind = type(error).__name__
    if isinstance(error, SyntaxError):
        return f"{error.filename or path}, line {error.lineno}: {kind}: {error.msg}"
    own = [f for f in traceback.extract_tb(error.__traceback__) if f.filename == str(path)]
    line = f", line {own[-1].lineno}" if own else ""
    return f"{path}{line}: {kind}: {error}"


@lru_cache(maxsize=256)
def _from_class(python_class: type, name: str, file: str) -> _core.ExternalVariant:
    return _handle(python_class, name, file)


def _handle(python_class: type, name: str, file: str) -> _core.ExternalVariant:
    """Make a variant of a class; raises ValueError if the class lacks something."""
    for method in ("on_ack", "on_congestion"):
        if not callable(getattr(python_class, method, None)):
            raise ValueError(f"class {python_class.__name__} has no method {method}: a variant needs it")
    columns = getattr(python_class, "columns", ())
    if isinstance(columns, str) or not all(isinstance(c, str) and c for c in columns):
        raise ValueError(f"class {python_class.__name__}: columns is {columns!r}: a tuple of names is needed")
    ecn = getattr(python_class, "ecn", "stack")
    if ecn not in ("stack", "dctcp", "scalable"):
        raise ValueError(
            f"class {python_class.__name__}: " + unknown("ecn", str(ecn), ["stack", "dctcp", "scalable"])
        )
    title = textwrap.shorten((inspect.getdoc(python_class) or python_class.__name__).split("\n\n")[0], 100)
    return _core.ExternalVariant.from_class(
        python_class,
        name,
        title=title,
        file=file,
        columns=list(columns),
        params=_parameters(python_class),
        ecn=ecn,
        own_recovery=bool(getattr(python_class, "own_recovery", False)),
    )


def _parameters(python_class: type) -> list[tuple[str, str, str, str]]:
    """Read the parameters from the signature: all after the first, which is the connection's setup."""
    signature = list(inspect.signature(python_class).parameters.values())
    if not signature or signature[0].kind not in (
        inspect.Parameter.POSITIONAL_ONLY,
        inspect.Parameter.POSITIONAL_OR_KEYWORD,
    ):
        raise ValueError(
            f"class {python_class.__name__}: __init__ must take the connection's setup: __init__(self, setup, ...)"
        )
    found = []
    for p in signature[1:]:
        if p.kind in (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD):
            raise ValueError(
                f"class {python_class.__name__}: __init__ has {p}: name each parameter, so that it can be checked"
            )
        default = "needed" if p.default is inspect.Parameter.empty else str(p.default)
        found.append((p.name, "a value", default, f"see {python_class.__name__}"))
    return found
