"""Programs that a kernel build needs."""

from __future__ import annotations

import platform
import shutil
import subprocess
import tempfile
from pathlib import Path

__all__ = ["missing", "remedy", "unsupported"]

TOOLS = {
    "gcc": "gcc",
    "ld": "binutils",
    "make": "make",
    "flex": "flex",
    "bison": "bison",
    "bc": "bc",
    "tar": "tar",
    "xz": "xz-utils",
    "perl": "perl",
    "awk": "mawk",
    "nm": "binutils",
}
"""Programs, each with Debian's package of it."""


def unsupported() -> str | None:
    """Return why this host can't run User-mode Linux at all; None if it can."""
    if platform.system() != "Linux":
        return f"User-mode Linux runs on Linux only, this is {platform.system()}"
    if platform.machine() not in ("x86_64", "AMD64"):
        return f"User-mode Linux runs on x86-64 only, this is {platform.machine()}"
    return None


def missing() -> list[str]:
    """Return the Debian packages that are needed and missing."""
    packages = [package for tool, package in TOOLS.items() if shutil.which(tool) is None]
    if "gcc" not in packages and not _compiles():
        packages.append("libc6-dev")
    return list(dict.fromkeys(packages))


def remedy(packages: list[str]) -> str:
    """Return a sentence that lists the packages to install, with the command."""
    names = " ".join(packages)
    if shutil.which("apt-get") is not None:
        return (
            f"needed to build a kernel and missing here: {', '.join(packages)}: run `apt-get install {names}` as root"
        )
    return f"needed to build a kernel and missing here: {', '.join(packages)} (names of Debian's packages)"


def _compiles() -> bool:
    """Return True if the compiler finds the C library's headers and can link."""
    with tempfile.TemporaryDirectory() as place:
        source = Path(place) / "t.c"
        source.write_text('#include <stdio.h>\n#include <linux/types.h>\nint main(void) { return puts(""); }\n')
        command = ["gcc", str(source), "-o", str(source.with_suffix(""))]
        return subprocess.run(command, capture_output=True, check=False).returncode == 0
