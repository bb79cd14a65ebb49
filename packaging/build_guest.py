"""Builds `dumbbell-guest`, the only program inside the User-mode Linux kernel of the back end `uml`.

It is a static executable for Linux on x86-64. On other platforms, and where no static C library is installed, the
package is built without it; the back end `uml` then reports what is missing, and everything else works.
"""

from __future__ import annotations

import json
import platform
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
GUEST = ROOT / "python" / "dumbbell" / "kernel" / "dumbbell-guest"
CARGO = [
    *("cargo", "rustc", "--release", "--package", "dumbbell-kernel", "--bin", "dumbbell-guest"),
    *("--message-format=json-render-diagnostics", "--", "-C", "target-feature=+crt-static", "-C", "strip=symbols"),
]


def build_guest() -> bool:
    """Build `dumbbell-guest` into the Python package; return False where that isn't possible."""
    if (platform.system(), platform.machine()) != ("Linux", "x86_64"):
        return False
    done = subprocess.run(CARGO, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=False)
    messages = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    executable = next((m["executable"] for m in messages if m.get("executable")), None)
    if done.returncode != 0 or executable is None:
        print(
            "dumbbell-guest is not built: the back end uml needs a static C library (libc6-dev, glibc-static)",
            file=sys.stderr,
        )
        return False
    new = GUEST.with_suffix(".new")
    shutil.copy(executable, new)
    new.replace(GUEST)  # a run may be using the file
    return True
