"""The reference of the Python API: every public name of `dumbbell`, with its signature, docstring and source.

Docstrings have numpy's form: paragraphs, then sections (Parameters, Returns, Raises) with an underlined title.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import re
from itertools import pairwise
from pathlib import Path
from types import ModuleType
from typing import Any

import dumbbell
from md import cell, fenced, table

ROOT = Path(__file__).resolve().parents[2]
SECTION = re.compile(r"^([A-Z][A-Za-z ]+)\n-{3,}\n", re.MULTILINE)
ENTRY = re.compile(r"^(\S[^\n]*)\n((?: {4}[^\n]*\n?|\n)*)", re.MULTILINE)
TABLES = {
    "Parameters": ("parameter", "meaning"),
    "Attributes": ("attribute", "meaning"),
    "Returns": ("returns", "meaning"),
    "Yields": ("yields", "meaning"),
    "Raises": ("raises", "condition"),
}
"""Sections that are shown as tables, with their titles."""
FUNCTION = re.compile(r"<function .+? at 0x[0-9a-f]+>")
"""A function as the default of a parameter."""
HOOKS = ("model_post_init",)
"""Methods that only pydantic calls."""


def names() -> list[str]:
    """Name the public names, without the version."""
    return [name for name in dumbbell.__all__ if not name.startswith("_")]


def reference() -> str:
    """Write a section for each public name; classes have one for each public method and property."""
    kinds: dict[str, list[str]] = {"Functions": [], "Classes": [], "Exceptions": [], "Modules": []}
    for name in names():
        thing = getattr(dumbbell, name)
        if isinstance(thing, ModuleType):
            kinds["Modules"].append(_module(f"dumbbell.{name}", thing))
        elif inspect.isclass(thing) and issubclass(thing, BaseException):
            kinds["Exceptions"].append(_entry(f"dumbbell.{name}", thing, 3, signature=False))
        elif inspect.isclass(thing):
            kinds["Classes"].append(_class(f"dumbbell.{name}", thing))
        else:
            kinds["Functions"].append(_entry(f"dumbbell.{name}", thing, 3))
    return "\n\n".join("\n\n".join([f"## {kind}", *entries]) for kind, entries in kinds.items() if entries)


def _class(name: str, thing: type) -> str:
    own = vars(thing)
    members = [m for m, value in own.items() if m[0] != "_" and m not in HOOKS and _is_member(value)]
    parts = [_entry(name, thing, 3, signature=_has_signature(thing))]
    for member in members:
        value = own[member]
        target = value.fget if isinstance(value, property) else getattr(value, "func", None) or getattr(thing, member)
        parts.append(_entry(f"{thing.__name__}.{member}", target, 4, signature=not _is_attribute(value)))
    return "\n\n".join(parts)


def _module(name: str, thing: ModuleType) -> str:
    parts = [_entry(name, thing, 3, signature=False)]
    for member in getattr(thing, "__all__", ()):
        value = getattr(thing, member)
        if isinstance(value, ModuleType) or inspect.isclass(value) or inspect.isroutine(value):
            parts.append(_entry(f"{name}.{member}", value, 4, signature=inspect.isfunction(value)))
        else:
            parts.append(f"#### {name}.{member}\n\n{docstring(_constant_doc(thing, member))}")
    return "\n\n".join(parts)


def _constant_doc(module: ModuleType, name: str) -> str:
    """Return the text below the definition of a constant or type alias, in the module that defines it."""
    body = ast.parse(inspect.getsource(module)).body
    for statement, below in pairwise([*body, ast.Pass()]):
        if isinstance(statement, ast.ImportFrom) and name in {alias.name for alias in statement.names}:
            return _constant_doc(importlib.import_module(statement.module or ""), name)
        targets = statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]
        if name in {target.id for target in targets if isinstance(target, ast.Name)}:
            text = below.value.value if isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant) else ""
            return inspect.cleandoc(str(text))
    return ""


def _is_attribute(value: Any) -> bool:
    return isinstance(value, property) or hasattr(value, "func")


def _is_member(value: Any) -> bool:
    return _is_attribute(value) or inspect.isfunction(value) or isinstance(value, classmethod | staticmethod)


def _has_signature(thing: type) -> bool:
    return not hasattr(thing, "model_fields")


def _entry(name: str, thing: Any, level: int, *, signature: bool = True) -> str:
    doc = inspect.getdoc(thing) or ""
    parts = [f"{'#' * level} {name}"]
    if signature and callable(thing):
        parts.append(fenced(_signature(name, thing), "python"))
    parts.append(docstring(doc))
    if where := _source(thing):
        parts.append(f"Source: `{where}`")
    return "\n\n".join(part for part in parts if part)


def _signature(name: str, thing: Any) -> str:
    """Write a signature, one parameter per line if it is long."""
    try:
        signature = inspect.signature(thing)
    except (TypeError, ValueError):
        return name
    parameters = [p for p in signature.parameters.values() if p.name not in ("self", "cls")]
    signature = signature.replace(parameters=parameters)
    short = f"{name}{signature}".replace("'", "")
    if len(short) <= 88:
        return short
    lines, keyword_only = [], False
    for p in parameters:
        if p.kind is p.KEYWORD_ONLY and not keyword_only:
            lines.append("    *,")
            keyword_only = True
        lines.append(f"    {FUNCTION.sub('...', str(p))},".replace("'", ""))
    returns = "" if signature.return_annotation is signature.empty else f" -> {signature.return_annotation}"
    return "\n".join([f"{name}(", *lines, f"){returns}"]).replace("'", "")


def _source(thing: Any) -> str:
    try:
        file = inspect.getsourcefile(thing)
        line = 1 if isinstance(thing, ModuleType) else inspect.getsourcelines(thing)[1]
    except (TypeError, OSError):
        return ""
    path = Path(file or "")
    return f"{path.relative_to(ROOT).as_posix()}:{line}" if path.is_relative_to(ROOT) else ""


def docstring(text: str) -> str:
    """Turn a docstring of numpy's form into Markdown."""
    first, *sections = SECTION.split(text)
    parts = [_paragraphs(first)]
    for title, body in zip(sections[::2], sections[1::2], strict=True):
        if title in TABLES:
            rows = [[f"`{head}`", cell(_inline(inspect.cleandoc(rest)))] for head, rest in ENTRY.findall(f"{body}\n")]
            described = any(meaning for _, meaning in rows)
            parts.append(table(TABLES[title], rows) if described else f"Returns: {', '.join(r[0] for r in rows)}")
        else:
            parts.append(f"**{title}**\n\n{_paragraphs(body)}")
    return "\n\n".join(part for part in parts if part)


def _paragraphs(text: str) -> str:
    """Keep paragraphs; examples of the interpreter and indented blocks are code."""
    found = []
    for paragraph in text.strip("\n").split("\n\n"):
        if paragraph.lstrip().startswith(">>>"):
            found.append(fenced(inspect.cleandoc(paragraph), "pycon"))
        elif paragraph.startswith("    "):
            found.append(fenced(inspect.cleandoc(paragraph), "python"))
        else:
            found.append("" if paragraph == "::" else _inline(re.sub(r"::$", ":", paragraph)))
    return "\n\n".join(p for p in found if p.strip())


def _inline(text: str) -> str:
    """Escape Markdown outside of code."""
    parts = text.replace("``", "`").split("`")
    parts[::2] = [part.replace("[", "\\[").replace("<", "&lt;") for part in parts[::2]]
    return "`".join(parts)
