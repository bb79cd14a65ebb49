#!/usr/bin/env python3
"""Builds `dumbbell.wasm`, the simulator for WebAssembly (crate `web`), into the Python package.

    python packaging/build_web.py

Where no toolchain for WebAssembly can be had, one line has the reasons, and everything else works without the file.
"""

from __future__ import annotations

import gzip
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

from wasm_toolchain import ROOT, TARGET, MissingError, find

WASM = ROOT / "python" / "dumbbell" / "studio" / "dumbbell.wasm"
CARGO = [
    *("cargo", "rustc", "--profile", "web", "--target", TARGET, "--package", "dumbbell-web", "--lib"),
    *("--crate-type", "cdylib", "--message-format=json-render-diagnostics"),
]


def build_web() -> bool:
    """Build `dumbbell.wasm`; return False where that isn't possible."""
    try:
        toolchain = find()
    except MissingError as e:
        print(f"dumbbell.wasm is not built: {e}", file=sys.stderr)
        return False
    environment = {**os.environ, **toolchain.environment}
    command = [*CARGO, *toolchain.arguments]
    done = subprocess.run(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True, check=False)
    messages = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    files = [Path(name) for m in messages for name in m.get("filenames", ())]
    built = next((path for path in files if path.suffix == ".wasm"), None)
    if done.returncode != 0 or built is None:
        print("dumbbell.wasm is not built: see the messages of the compiler", file=sys.stderr)
        return False
    new = WASM.with_suffix(".new")
    shutil.copyfile(built, new)
    new.replace(WASM)
    content = WASM.read_bytes()
    packed = len(gzip.compress(content))
    print(f"{WASM.relative_to(ROOT)}: {len(content) / 1e6:.2f} MB, {packed / 1e6:.2f} MB with gzip")
    return True


if __name__ == "__main__":
    sys.exit(0 if build_web() else 1)
