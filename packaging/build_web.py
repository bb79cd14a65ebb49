#!/usr/bin/env python3
"""Builds `dumbbell.wasm` (crate `web`), the simulator and the analysis of captures, into the Python package.

    python packaging/build_web.py

Rust's standard library for the target `wasm32-unknown-unknown` is needed; rustup adds it to the toolchain in use.
Where that isn't possible, one line has the reason, and everything else works without the file.
"""

from __future__ import annotations

import gzip
import json
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TARGET = "wasm32-unknown-unknown"
WASM = ROOT / "python" / "dumbbell" / "studio" / "dumbbell.wasm"
CARGO = [
    *("cargo", "rustc", "--profile", "web", "--target", TARGET, "--package", "dumbbell-web", "--lib"),
    *("--crate-type", "cdylib", "--message-format=json-render-diagnostics"),
]


def missing() -> str | None:
    """Add the target with rustup if the compiler doesn't have it; return the reason where that isn't possible."""
    if shutil.which("rustc") is None or shutil.which("cargo") is None:
        return "Rust is needed: https://rustup.rs"
    if has_target():
        return None
    if shutil.which("rustup") is None:
        return f"rustc has no standard library for {TARGET}: rustup adds it (https://rustup.rs)"
    add = ["rustup", "target", "add", TARGET]
    done = subprocess.run(add, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        errors = [line for line in done.stderr.splitlines() if line.startswith("error")]
        return f"`{' '.join(add)}` failed: {(errors or ['no message'])[0]}"
    return None


def has_target() -> bool:
    """Return True if the compiler has the target's standard library."""
    command = ["rustc", "--print", "target-libdir", "--target", TARGET]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    return done.returncode == 0 and any(Path(done.stdout.strip()).glob("libstd-*.rlib"))


def build_web() -> bool:
    """Build `dumbbell.wasm`; return False where that isn't possible."""
    if (reason := missing()) is not None:
        print(f"dumbbell.wasm is not built: {reason}. Everything but `dumbbell studio` works.", file=sys.stderr)
        return False
    done = subprocess.run(CARGO, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=False)
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
