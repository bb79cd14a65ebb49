"""Window laws that users bring: a Python class in a file or of the running program, or a library written in Rust.

A scenario names one in place (``variant = { python = "mylaw.py:MyLaw" }``, ``variant = { library = "libmine.so" }``)
or gives it a name for all its flows (``[laws]``). `register` gives a class of the running program a name.
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
from dumbbell.scenario import files
from dumbbell.scenario.base import Part, Text, problem

__all__ = ["Law", "LawSource", "current", "load", "named", "register", "scope"]

KEYS = ("python", "library")
"""What a variant holds in place of a name, where it says itself where the law is."""


@dataclass(frozen=True)
class Law:
    """A law that is none of the registry's.

    Attributes
    ----------
    name : str
        What plans and results call it.
    content : str
        Names its content: of two laws that differ in it, neither has the other's results.
    key, text : str
        Where it is: "python" or "library" and what a scenario says there; empty for a class of the program.
    in_place : bool
        Whether variants say where it is, instead of a name.
    handle : _core.Law or None
        The law itself; None where only results are read.
    """

    name: str
    content: str
    key: str = ""
    text: str = ""
    in_place: bool = False
    handle: Any = field(default=None, compare=False, repr=False)

    def check(self, params: dict[str, Any], preset: str) -> None:
        """Check parameters; ParamError says what is wrong."""
        if self.handle is None:
            return
        if self.key != "library":  # a library knows its parameters itself
            known = [name for name, *_ in self.handle.params]
            for name in params:
                if name not in known:
                    raise _core.ParamError(name, unknown("parameter", name, known))
        self.handle.check(params, preset)


class LawSource(Part):
    """Where a law of one's own is: a Python class, or a library written in Rust."""

    python: Annotated[Text | None, Field(min_length=3)] = None
    """A class in a file, `"mylaw.py:MyLaw"`; the file is found from the scenario's folder."""
    library: Annotated[Text | None, Field(min_length=1)] = None
    """A library, such as `"target/release/libmylaw.so"`, likewise."""

    @model_validator(mode="after")
    def _one(self) -> LawSource:
        if (self.python is None) == (self.library is None):
            raise problem("needed: one of 'python' and 'library'", "python")
        return self

    @property
    def place(self) -> tuple[str, str]:
        """The key and what stands there."""
        return ("python", self.python) if self.python is not None else ("library", str(self.library))


# ---------------------------------------------------------------- names

_REGISTERED: dict[str, Law] = {}
_SCENARIO: ContextVar[Mapping[str, Law] | None] = ContextVar("laws", default=None)


@contextmanager
def scope(laws: Mapping[str, Law]) -> Iterator[None]:
    """Let a scenario's own names hold, within the block."""
    token = _SCENARIO.set({**(_SCENARIO.get() or {}), **laws})
    try:
        yield
    finally:
        _SCENARIO.reset(token)


def current() -> Mapping[str, Law]:
    """List the laws that have names now."""
    return {**_REGISTERED, **(_SCENARIO.get() or {})}


def named(name: str) -> Law | None:
    """Look a name up."""
    return current().get(name)


def register(law: type, name: str | None = None) -> type:
    """Give a class of this program a name, by which scenarios can use it as a variant.

    Parameters
    ----------
    law : type
        A class with ``on_ack`` and ``on_congestion``.
    name : str, optional
        Its name; default: the class's. A name that is taken already by such a class is given anew.

    Returns
    -------
    type
        The class, so that this can stand above it as a decorator.

    Raises
    ------
    DumbbellError
        If the class is no law, or the name one of Dumbbell's own.
    """
    name = name or law.__name__
    try:
        free(name)
        _REGISTERED[name] = Law(name, _content_of(law), handle=_handle(law, name, _file_of(law)))
    except ValueError as e:
        raise DumbbellError(f"{name}: {e}") from None
    return law


def free(name: str) -> None:
    """Refuse a name of the registry; ValueError says so."""
    own = [n for v in registry.variants().values() for n in (v.name, *v.aliases)]
    if name in own:
        raise ValueError(f"'{name}' is the name of a variant of Dumbbell: take another")


def _file_of(law: type) -> str:
    try:
        return inspect.getfile(law)
    except (OSError, TypeError):
        return f"<{law.__name__}>"  # of an interactive session


def _content_of(law: type) -> str:
    """Name a class by its source, or by its code where there is none."""
    try:
        text = inspect.getsource(law)
    except (OSError, TypeError):
        text = repr([(name, _code(member)) for name, member in sorted(vars(law).items())])
    return hashlib.sha256(text.encode()).hexdigest()[:24]


def _code(member: object) -> object:
    code = getattr(member, "__code__", None)
    if not isinstance(code, CodeType):
        return type(member).__name__ if callable(member) else repr(member)
    inner = [_code(c) if isinstance(c, CodeType) else c for c in code.co_consts]
    return code.co_code, code.co_names, repr(inner)


# ---------------------------------------------------------------- loading


def load(key: str, text: str, name: str | None = None) -> Law:
    """Load a law from where a scenario says it is; ValueError says what is wrong."""
    in_place = name is None
    name = name or (text if key == "python" else Path(text).name)
    if key == "python":
        file, colon, class_name = text.rpartition(":")
        if not colon or not file or not class_name.isidentifier():
            raise ValueError(f"'{text}' given: a file and a class are needed, such as \"mylaw.py:MyLaw\"")
    else:
        file, class_name = text, ""
    path = files.resolve(file)
    try:
        content = files.digest(path)
    except OSError as e:
        raise ValueError(f"'{file}' can't be read: {e.strerror or e} ({path.absolute()})") from None
    content = f"{content}:{class_name}" if class_name else content
    if files.current().asleep:
        return Law(name, content, key, text, in_place)
    if key == "library":
        return Law(name, content, key, text, in_place, _library(path.absolute(), content, name, file))
    module = _module(path, content)
    classes = [n for n, c in vars(module).items() if isinstance(c, type) and c.__module__ == module.__name__]
    if not isinstance(getattr(module, class_name, None), type):
        raise ValueError(f"{file}: {unknown('class', class_name, classes)}")
    return Law(name, content, key, text, in_place, _from_class(getattr(module, class_name), name, str(path)))


@lru_cache(maxsize=256)
def _library(path: Path, _content: str, name: str, shown: str) -> _core.Law:
    try:
        return _core.Law.library(path, name)
    except ValueError as e:
        raise ValueError(f"'{shown}' is no law: {e}") from None


@lru_cache(maxsize=256)
def _module(path: Path, content: str) -> ModuleType:
    """Run a law's file, once for each content. What lies beside it can be imported."""
    module_name = f"dumbbell_plugin_{path.stem}_{content.partition(':')[0][:8]}"
    spec = importlib.util.spec_from_file_location(module_name, path)
    if spec is None or spec.loader is None:
        raise ValueError(f"{path}: a Python file is needed (.py)")
    module = importlib.util.module_from_spec(spec)
    sys.modules[module_name] = module
    sys.path.insert(0, str(path.parent.absolute()))
    try:
        spec.loader.exec_module(module)
    except Exception as e:
        del sys.modules[module_name]
        raise ValueError(_words(e, path)) from None
    finally:
        sys.path.remove(str(path.parent.absolute()))
    return module


def _words(error: Exception, path: Path) -> str:
    """Word what running a file has raised, with its line."""
    kind = type(error).__name__
    if isinstance(error, SyntaxError):
        return f"{error.filename or path}, line {error.lineno}: {kind}: {error.msg}"
    own = [f for f in traceback.extract_tb(error.__traceback__) if f.filename == str(path)]
    line = f", line {own[-1].lineno}" if own else ""
    return f"{path}{line}: {kind}: {error}"


@lru_cache(maxsize=256)
def _from_class(law: type, name: str, file: str) -> _core.Law:
    return _handle(law, name, file)


def _handle(law: type, name: str, file: str) -> _core.Law:
    """Make a law of a class; ValueError says what it lacks."""
    for method in ("on_ack", "on_congestion"):
        if not callable(getattr(law, method, None)):
            raise ValueError(f"class {law.__name__} has no method {method}: a window law needs it")
    columns = getattr(law, "columns", ())
    if isinstance(columns, str) or not all(isinstance(c, str) and c for c in columns):
        raise ValueError(f"class {law.__name__}: columns is {columns!r}: a tuple of names is needed")
    ecn = getattr(law, "ecn", "stack")
    if ecn not in ("stack", "dctcp", "scalable"):
        raise ValueError(f"class {law.__name__}: " + unknown("ecn", str(ecn), ["stack", "dctcp", "scalable"]))
    title = textwrap.shorten((inspect.getdoc(law) or law.__name__).split("\n\n")[0], 100)
    return _core.Law.python(
        law,
        name,
        title=title,
        file=file,
        columns=list(columns),
        params=_parameters(law),
        ecn=ecn,
        own_recovery=bool(getattr(law, "own_recovery", False)),
    )


def _parameters(law: type) -> list[tuple[str, str, str, str]]:
    """Read the parameters from the signature: what follows the first, the connection's start."""
    signature = list(inspect.signature(law).parameters.values())
    if not signature or signature[0].kind not in (
        inspect.Parameter.POSITIONAL_ONLY,
        inspect.Parameter.POSITIONAL_OR_KEYWORD,
    ):
        raise ValueError(
            f"class {law.__name__}: __init__ must take the connection's start: __init__(self, start, ...)"
        )
    found = []
    for p in signature[1:]:
        if p.kind in (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD):
            raise ValueError(
                f"class {law.__name__}: __init__ has {p}: name each parameter, so that it can be checked"
            )
        default = "needed" if p.default is inspect.Parameter.empty else str(p.default)
        found.append((p.name, "a value", default, f"see {law.__name__}"))
    return found
