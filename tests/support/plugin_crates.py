"""Crates of variants and queue disciplines, built as their authors would."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

__all__ = ["blocks", "build", "new_crate"]

ROOT = Path(__file__).parents[2]
TARGET = ROOT / "target" / "plugin-crates"
"""Shared and kept, so that the crates' dependencies are compiled once."""


def blocks(page: Path, language: str) -> dict[str, str]:
    """Return the titled blocks of a page."""
    text = page.read_text(encoding="utf-8")
    return dict(re.findall(rf'^```{language} title="([\w.]+)"\n(.*?)^```', text, re.MULTILINE | re.DOTALL))


def new_crate(folder: Path, page: Path, name: str | None = None) -> Path:
    """Make the crate of a page without its source; ``name`` replaces its own."""
    (folder / "src").mkdir(parents=True)
    manifest = blocks(page, "toml")["Cargo.toml"].replace("DUMBBELL", str(ROOT))
    if name is not None:
        manifest = re.sub(r'^name = ".*"$', f'name = "{name}"', manifest, count=1, flags=re.MULTILINE)
    (folder / "Cargo.toml").write_text(manifest + "\n[workspace]\n")
    shutil.copy(ROOT / "Cargo.lock", folder / "Cargo.lock")
    return folder


def build(crate: Path, code: str, to: Path) -> Path:
    """Build a crate with this source, offline, and keep the library where the next build doesn't overwrite it."""
    (crate / "src" / "lib.rs").write_text(code)
    command = ["cargo", "build", "--release", "--offline", "--quiet"]
    environment = {**os.environ, "CARGO_TARGET_DIR": str(TARGET)}
    done = subprocess.run(command, cwd=crate, env=environment, capture_output=True, text=True, timeout=900, check=False)
    assert done.returncode == 0, done.stderr + done.stdout
    name = re.search(r'^name = "(.*)"$', (crate / "Cargo.toml").read_text(), re.MULTILINE)
    assert name is not None
    stem = name[1].replace("-", "_")
    found = [p for p in (TARGET / "release").iterdir() if p.stem in (f"lib{stem}", stem)]
    (library,) = [p for p in found if p.suffix in (".so", ".dylib", ".dll")]
    shutil.copy(library, to)
    return to
