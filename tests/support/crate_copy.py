"""A copy of some crates, in which a test carries out the steps of a recipe in CONTRIBUTING."""

from __future__ import annotations

import os
import shutil
import subprocess
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path

__all__ = ["CrateCopy"]

ROOT = Path(__file__).parents[2]


class CrateCopy:
    """Crates with those that they need, in a folder of ``target``. It is kept, so that cargo compiles only changes.

    Parameters
    ----------
    name : str
        Name of the folder.
    crates : str
        The crates, by their folders.
    """

    def __init__(self, name: str, *crates: str) -> None:
        self.path = ROOT / "target" / name
        self._crates = crates

    def write(self, changes: Mapping[str, str], pages: Iterable[Path] = ()) -> None:
        """Bring the copy up to date, with other contents of some files (by their paths), and pages of the docs."""
        kept = set()
        for name in ("Cargo.toml", "Cargo.lock", "clippy.toml"):
            if (ROOT / name).exists():
                self._copy(name)
            kept.add(self.path / name)
        for page in pages:
            self._copy(page.relative_to(ROOT).as_posix())
        for crate in _closure(self._crates):
            for file in (ROOT / "crates" / crate).rglob("*"):
                place = file.relative_to(ROOT).as_posix()
                if file.is_file() and place not in changes:
                    self._copy(place)
                    kept.add(self.path / place)
        for place, text in changes.items():
            target = self.path / place
            target.parent.mkdir(parents=True, exist_ok=True)
            if not target.exists() or target.read_text(encoding="utf-8") != text:
                target.write_text(text, encoding="utf-8")
            kept.add(target)
        for file in (self.path / "crates").rglob("*"):
            if file.is_file() and file not in kept:
                file.unlink()

    def _copy(self, place: str) -> None:
        """Copy a file with its time, unless the copy is up to date."""
        source, target = ROOT / place, self.path / place
        if not target.exists() or target.read_bytes() != source.read_bytes():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target)

    def cargo(self, command: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Call a command of cargo on the crates: all of them each time, so that nothing is compiled twice."""
        environment = os.environ | {
            "CARGO_PROFILE_TEST_OPT_LEVEL": "0",
            "CARGO_PROFILE_TEST_DEBUG": "0",
            "CARGO_TARGET_DIR": str(self.path / "target"),
        }
        packages = [part for crate in self._crates for part in ("-p", f"dumbbell-{crate}")]
        line = ["cargo", command, "--offline", *packages, *arguments]
        return subprocess.run(line, cwd=self.path, env=environment, capture_output=True, text=True, check=False)


def _closure(crates: Iterable[str]) -> set[str]:
    """Return the crates of the project that some need, themselves and those of their tests included."""
    needed, todo = set[str](), [*crates]
    while todo:
        name = todo.pop()
        if name in needed:
            continue
        needed.add(name)
        manifest = tomllib.loads((ROOT / "crates" / name / "Cargo.toml").read_text(encoding="utf-8"))
        for section in ("dependencies", "dev-dependencies"):
            todo += [n.removeprefix("dumbbell-") for n in manifest.get(section, {}) if n.startswith("dumbbell-")]
    return needed
