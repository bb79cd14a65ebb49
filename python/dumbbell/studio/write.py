"""Writes the page: one HTML file without references to others."""

from __future__ import annotations

import base64
import gzip
import json
import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any

from dumbbell import _core, registry
from dumbbell.exceptions import DumbbellError
from dumbbell.plots.web import CHARTS, bundle, policy, style
from dumbbell.studio.presets import PRESETS
from dumbbell.studio.settings import FLOW, MOST_FLOWS, PATH, fields
from dumbbell.studio.templates import templates

__all__ = ["available", "model", "page"]

FOLDER = files("dumbbell.studio")
WORKER = "reduce events worker boot-worker"
FILES_WORKER = "reduce capture store files boot-files"
PAGE = (
    "dom keys settings events figures controls svg time-panels charts packets player predict capture-tables "
    "files-view given studio"
)
"""Modules of `page` in the order of their imports."""


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
            {"name": each.name, "title": each.title, "about": each.about, "settings": each.settings} for each in PRESETS
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
    engine = FOLDER.joinpath("engine.mjs")
    text = {name: FOLDER.joinpath(name).read_text(encoding="utf-8") for name in _TEXTS}
    parts = {
        "style": style() + text["page/studio.css"],
        "license": "\n\n".join(f"{name}\n{text[file]}" for name, file in LICENSES.items())
        .replace("&", "&amp;")
        .replace("<", "&lt;"),
        "model": json.dumps(model(given), ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c"),
        "wasm": _packed(wasm.read_bytes()),
        "worker": bundle([engine, *_modules(WORKER)]),
        "files_worker": text["parquet/parquet.min.js"] + bundle([engine, *_modules(FILES_WORKER)]),
        "script": f"{bundle([*CHARTS, *_modules(PAGE)])}start();\n",
    }
    parts["policy"] = policy(parts["script"], engine=True)
    if any("</script" in parts[name].lower() for name in ("worker", "files_worker", "script")):
        raise AssertionError("a script can't have its own end tag as text")
    return re.sub(r"\{\{ (\w+) \}\}", lambda hole: parts[hole[1]], text["page/studio.html"])


def _modules(names: str) -> list[Traversable]:
    return [FOLDER.joinpath("page", f"{name}.mjs") for name in names.split()]


@cache
def _packed(content: bytes) -> str:
    return base64.b64encode(gzip.compress(content, 9, mtime=0)).decode()


LICENSES = {"hyparquet": "parquet/LICENSE-hyparquet", "fzstd": "parquet/LICENSE-fzstd"}
_TEXTS = (*("page/studio.html", "page/studio.css", "parquet/parquet.min.js", *LICENSES.values()),)
