"""Code that users write: Python classes in files or of the running program, and libraries written in Rust.

Own variants (`variants`), own queue disciplines (`disciplines`) and own rules of videos (`abr`) are loaded with these
functions. `kind.py` has what variants and disciplines share beyond that.
"""

from __future__ import annotations

import hashlib
import importlib.util
import inspect
import sys
import textwrap
import traceback
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from types import CodeType, ModuleType
from typing import Annotated, Any

from pydantic import Field, model_validator

from dumbbell.registry import unknown
from dumbbell.scenario import files, gate
from dumbbell.scenario.base import Part, Text, problem

__all__ = [
    "KEYS",
    "Found",
    "OwnCode",
    "Source",
    "class_of",
    "columns_of",
    "content_of",
    "file_of",
    "find",
    "module_of",
    "parameters_of",
    "title_of",
]

KEYS = ("python", "library")
"""The keys that replace a name and give the source of own code."""


@dataclass(frozen=True)
class OwnCode:
    """A variant or queue discipline that is not in the registry.

    Attributes
    ----------
    name : str
        Its name in plans and results.
    content : str
        A hash of its code. Results of another content are results of another scenario.
    key, text : str
        Its source: "python" or "library", and the text in the scenario; empty for a class of the program.
    in_place : bool
        True if the scenario gives the source where it is used, instead of a name.
    handle : object or None
        The loaded code; None if results are only read.
    """

    name: str
    content: str
    key: str = ""
    text: str = ""
    in_place: bool = False
    handle: Any = field(default=None, compare=False, repr=False)


class Source(Part):
    """The source of own code: a Python class, or a library written in Rust."""

    python: Annotated[Text | None, Field(min_length=3)] = None
    """A class in a file, `"mine.py:Mine"`; the path is relative to the scenario's folder."""
    library: Annotated[Text | None, Field(min_length=1)] = None
    """A library, such as `"target/release/libmine.so"`; the path is relative to the scenario's folder."""

    @model_validator(mode="after")
    def _one(self) -> Source:
        if (self.python is None) == (self.library is None):
            raise problem("needed: one of 'python' and 'library'", "python")
        return self

    @property
    def place(self) -> tuple[str, str]:
        """The key and its text."""
        return ("python", self.python) if self.python is not None else ("library", str(self.library))


# ---------------------------------------------------------------- loading


@dataclass(frozen=True)
class Found:
    """Own code that a scenario names: its file and, in Python, its class.

    Attributes
    ----------
    path : Path
    class_name : str
        Empty for a library.
    content : str
        A hash of the file, with the class.
    loads : bool
        False while results are only read.
    """

    path: Path
    class_name: str
    content: str
    loads: bool


def find(key: str, text: str) -> Found:
    """Find the file of own code and ask whether it may run; raises ValueError with the reason if that fails.

    Raises
    ------
    ScenarioError
        Code isn't loaded here.
    """
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
    what = f"{text} ({'Rust library' if key == 'library' else 'Python'})"
    mode = files.current().code
    if mode == "refused":
        gate.refuse(what)
    if mode == "loaded":
        gate.ask(what)
    return Found(path, class_name, content, mode == "loaded")


def class_of(found: Found, text: str) -> type:
    """Run the file of a class and return the class; raises ValueError with the reason if that fails."""
    module = module_of(found.path, found.content)
    python_class = getattr(module, found.class_name, None)
    if not isinstance(python_class, type):
        classes = [n for n, c in vars(module).items() if isinstance(c, type) and c.__module__ == module.__name__]
        raise ValueError(f"{text.rpartition(':')[0]}: {unknown('class', found.class_name, classes)}")
    return python_class


@lru_cache(maxsize=256)
def module_of(path: Path, content: str) -> ModuleType:
    """Run a file, once for each content. It can import other files of its folder."""
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


# ---------------------------------------------------------------- classes


def file_of(python_class: type) -> str:
    """Return the file of a class of the running program, for messages."""
    try:
        return inspect.getfile(python_class)
    except (OSError, TypeError):
        return f"<{python_class.__name__}>"  # of an interactive interpreter


def content_of(python_class: type) -> str:
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


def title_of(python_class: type) -> str:
    """Return the first paragraph of a class's docstring, or its name."""
    return textwrap.shorten((inspect.getdoc(python_class) or python_class.__name__).split("\n\n")[0], 100)


def columns_of(python_class: type) -> list[str]:
    """Return the names of a class's trace columns; raises ValueError if they aren't names."""
    columns = getattr(python_class, "columns", ())
    if isinstance(columns, str) or not all(isinstance(c, str) and c for c in columns):
        raise ValueError(f"class {python_class.__name__}: columns is {columns!r}: a tuple of names is needed")
    return list(columns)


def parameters_of(python_class: type, first: str) -> list[tuple[str, str, str, str]]:
    """Read the parameters from the signature: all after the first argument, which is called ``first`` in messages."""
    signature = list(inspect.signature(python_class).parameters.values())
    if not signature or signature[0].kind not in (
        inspect.Parameter.POSITIONAL_ONLY,
        inspect.Parameter.POSITIONAL_OR_KEYWORD,
    ):
        name = first.rsplit(maxsplit=1)[-1]
        raise ValueError(f"class {python_class.__name__}: __init__ must take the {first}: __init__(self, {name}, ...)")
    found = []
    for p in signature[1:]:
        if p.kind in (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD):
            raise ValueError(
                f"class {python_class.__name__}: __init__ has {p}: name each parameter, so that it can be checked"
            )
        default = "needed" if p.default is inspect.Parameter.empty else str(p.default)
        found.append((p.name, "a value", default, f"see {python_class.__name__}"))
    return found
