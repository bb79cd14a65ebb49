"""The cache of built kernels, and the choice among them.

::

    CACHE/kernel/VERSION-KEY/linux         the kernel, an ordinary program
    CACHE/kernel/VERSION-KEY/kernel.json   its source, configuration and edits

CACHE is ``$DUMBBELL_CACHE``, else ``$XDG_CACHE_HOME/dumbbell``, else ``~/.cache/dumbbell``. KEY is a hash of the
configuration and the edits, so a kernel built from others is never used. ``/var/cache/dumbbell`` is read too: a
kernel that root builds into it (``dumbbell kernel build --cache /var/cache/dumbbell``) serves every user.
"""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import dataclass
from pathlib import Path

from dumbbell.common.numbers import whole
from dumbbell.exceptions import BackendError
from dumbbell.kernel.uml.patch import EDITS

__all__ = ["CONFIG", "Kernel", "cache_of_user", "find", "installed", "key", "places"]

CONFIG = Path(__file__).with_name("uml.config")
SYSTEM = Path("/var/cache/dumbbell")


@dataclass(frozen=True)
class Kernel:
    """A built kernel.

    Attributes
    ----------
    path : Path
        The executable.
    version : str
        Version of its source, such as ``6.12.117``.
    key : str
        Hash of configuration and edits; see `key`.
    """

    path: Path
    version: str
    key: str


def key() -> str:
    """Return a hash of the configuration and the edits of this version of Dumbbell."""
    parts = [CONFIG.read_text(encoding="utf-8")]
    parts += [part for edit in EDITS for part in (edit.path, edit.anchor, edit.replacement)]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:12]


def cache_of_user() -> Path:
    """Return the user's own cache directory."""
    given = os.environ.get("DUMBBELL_CACHE")
    if given:
        return Path(given)
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "dumbbell"


def places() -> tuple[Path, Path]:
    """Return the directories of built kernels: the user's own, and that of the system."""
    return cache_of_user() / "kernel", SYSTEM / "kernel"


def installed() -> list[Kernel]:
    """Return the built kernels that this version of Dumbbell can use, the newest first."""
    kernels = []
    for place in places():
        try:
            found = sorted(place.glob("*/kernel.json"))
        except OSError:
            continue
        kernels += [kernel for kernel in map(_read, found) if kernel is not None and kernel.key == key()]
    return sorted(kernels, key=lambda k: _numbers(k.version), reverse=True)


def find() -> Kernel:
    """Return the newest kernel that this version of Dumbbell can use.

    Raises
    ------
    BackendError
        None is built.
    """
    kernels = installed()
    if not kernels:
        raise BackendError(
            "the virtual-time kernel isn't built, belongs to another version, or is incomplete: "
            "`dumbbell kernel build` builds it, once, in a few minutes"
        )
    return kernels[0]


def _read(manifest: Path) -> Kernel | None:
    try:
        content = json.loads(manifest.read_text(encoding="utf-8"))
        path = manifest.with_name("linux")
        size = path.stat().st_size
        whole = size == content.get("bytes", size)
        return Kernel(path, content["version"], content["key"]) if whole and os.access(path, os.X_OK) else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(n for n in map(whole, version.split(".")) if n is not None)
