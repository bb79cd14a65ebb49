"""Descriptions of a scenario's keys: the texts below the attributes, read from the source when they are needed.

The JSON Schema and the reference pages need them; runs do not. Pydantic can read them as well
(``use_attribute_docstrings``), but at the import of the classes, which takes as long as the rest of the import.
"""

from __future__ import annotations

import ast
import inspect
import sys
from functools import cache
from itertools import pairwise
from pathlib import Path

__all__ = ["descriptions"]


def descriptions(model: type) -> dict[str, str]:
    """Return the description of each attribute of a class, its base classes included.

    Parameters
    ----------
    model : type
        A class that is defined at the top level of its module.

    Returns
    -------
    dict of str to str
        Attribute -> the text below it.
    """
    found: dict[str, str] = {}
    for part in reversed(model.__mro__):
        module = sys.modules[part.__module__]
        if part.__module__.startswith("dumbbell."):
            found |= _of_module(str(module.__file__)).get(part.__name__, {})
    return found


@cache
def _of_module(file: str) -> dict[str, dict[str, str]]:
    """Return the descriptions in each class of a file."""
    tree = ast.parse(Path(file).read_text(encoding="utf-8"))
    return {node.name: _of_class(node) for node in tree.body if isinstance(node, ast.ClassDef)}


def _of_class(node: ast.ClassDef) -> dict[str, str]:
    return {
        attribute.target.id: inspect.cleandoc(text.value.value)
        for attribute, text in pairwise(node.body)
        if isinstance(attribute, ast.AnnAssign)
        and isinstance(attribute.target, ast.Name)
        and isinstance(text, ast.Expr)
        and isinstance(text.value, ast.Constant)
        and isinstance(text.value.value, str)
    }
