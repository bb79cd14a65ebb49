"""Writes the page: one HTML file without references to others."""

from __future__ import annotations

import base64
import gzip
import json
import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from dumbbell import _core, registry
from dumbbell.exceptions import DumbbellError
from dumbbell.studio.presets import PRESETS
from dumbbell.studio.settings import FLOW, MOST_FLOWS, PATH, fields
from dumbbell.studio.templates import templates

__all__ = ["available", "bundle", "model", "page"]

FOLDER = files("dumbbell.studio")
WORKER = ("engine", "page/reduce", "page/events", "page/worker", "page/boot-worker")
FILES_WORKER = ("engine", "page/reduce", "page/capture", "page/store", "page/files", "page/boot-files")
MODULES = (
    "dom keys settings events figures controls svg charts packets player predict panels capture-tables files-view "
    "given studio"
)
PAGE = tuple(f"page/{name}" for name in MODULES.split())
"""Modules in the order of their imports."""


def model(given: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return the data of the page: settings with bounds and help, templates, examples, names of the registries.

    Parameters
    ----------
    given : mapping, optional
        The scenario with which the page begins, from `dumbbell.studio.any_scenario`.
    """
    return {
        "given": given,
        "path": fields(PATH),
        "flow": fields(FLOW),
        "most_flows": MOST_FLOWS,
        **templates(),
        "presets": [
            {"name": each.name, "title": each.title, "about": each.about, "settings": each.settings}
            for each in PRESETS
        ],
        "phases": registry.phases(),
        "reasons": registry.drop_reasons(),
        "labels": _core.capture_labels(),
        "variants": {
            name: {
                "name": row.name,
                "source": row.source,
                "on_loss": row.on_loss,
                "on_delay": row.on_delay,
                "on_ecn": row.on_ecn,
            }
            for name, row in registry.variants().items()
        },
    }


def bundle(modules: tuple[str, ...]) -> str:
    """Join ES modules to one script: imports vanish, and what they import stands before.

    Parameters
    ----------
    modules : tuple of str
        Files of this package without ``.mjs``. Their top-level names differ, and their imports keep the names.
    """
    texts = [FOLDER.joinpath(f"{name}.mjs").read_text(encoding="utf-8") for name in modules]
    if any(re.search(r"^import [^;]* as ", text, flags=re.MULTILINE) for text in texts):
        raise AssertionError("an import with another name would be lost")
    joined = "\n".join(re.sub(r"^import [^;]*;\n", "", text, flags=re.MULTILINE) for text in texts)
    return re.sub(r"^export ", "", joined, flags=re.MULTILINE)


def available() -> bool:
    """Return True if this installation has the engine."""
    return FOLDER.joinpath("dumbbell.wasm").is_file()


def page(given: Mapping[str, Any] | None = None) -> str:
    """Return the page as HTML.

    Parameters
    ----------
    given : mapping, optional
        The scenario with which it begins, from `dumbbell.studio.any_scenario`; default: the first example.

    Raises
    ------
    DumbbellError
        If this installation was built without the engine.
    """
    wasm = FOLDER.joinpath("dumbbell.wasm")
    if not available():
        raise DumbbellError("this installation has no dumbbell.wasm: `make studio` in the source folder builds it")
    text = {name: FOLDER.joinpath(name).read_text(encoding="utf-8") for name in _TEXTS}
    parts = {
        "style": text["uplot/uPlot.min.css"] + text["page/studio.css"],
        "license": "\n\n".join(f"{name}\n{text[file]}" for name, file in LICENSES.items())
        .replace("&", "&amp;")
        .replace("<", "&lt;"),
        "model": json.dumps(model(given), ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c"),
        "wasm": _packed(wasm.read_bytes()),
        "worker": bundle(WORKER),
        "files_worker": text["parquet/parquet.min.js"] + bundle(FILES_WORKER),
        "uplot": text["uplot/uPlot.iife.min.js"],
        "script": bundle(PAGE),
    }
    if any("</script" in parts[name].lower() for name in ("worker", "files_worker", "uplot", "script")):
        raise AssertionError("a script can't have its own end tag as text")
    return re.sub(r"\{\{ (\w+) \}\}", lambda hole: parts[hole[1]], text["page/studio.html"])


@cache
def _packed(content: bytes) -> str:
    return base64.b64encode(gzip.compress(content, 9, mtime=0)).decode()


LICENSES = {
    "uPlot": "uplot/LICENSE",
    "hyparquet": "parquet/LICENSE-hyparquet",
    "fzstd": "parquet/LICENSE-fzstd",
}
_TEXTS = (
    *("page/studio.html", "page/studio.css", "uplot/uPlot.min.css", "uplot/uPlot.iife.min.js"),
    *("parquet/parquet.min.js", *LICENSES.values()),
)
