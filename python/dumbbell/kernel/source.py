"""The kernel's source: Debian's package, or a given archive."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

from dumbbell.exceptions import BackendError
from dumbbell.kernel.build_folder import die_with_parent

__all__ = ["SERIES", "obtain", "version_of"]

SERIES = "6.12"
"""The long-term series that the configuration and the edits are made for."""
PACKAGE = f"linux-source-{SERIES}"
INSTALLED = Path(f"/usr/src/{PACKAGE}.tar.xz")


def obtain(into: Path, given: Path | None, kept: Path) -> Path:
    """Unpack the source below ``into``.

    Parameters
    ----------
    into : Path
        An empty directory.
    given : Path or None
        An archive (``linux-6.12.N.tar.xz`` of kernel.org works), or a Debian package of one. None: the archive that
        Debian's package has installed, else the package itself, downloaded with apt.
    kept : Path
        The directory for the downloaded package. It stays, so that a later build needs no download; apt continues one
        that was interrupted.

    Returns
    -------
    Path
        The directory of the unpacked tree.

    Raises
    ------
    BackendError
        No source is available, or it isn't of this series.
    """
    archive = given or (INSTALLED if INSTALLED.exists() else _download(kept))
    if not archive.is_file():
        raise BackendError(f"{archive}: no such file: an archive or a Debian package of Linux {SERIES} is needed")
    if archive.suffix == ".deb":
        archive = _archive_in(archive, into)
    before = set(into.iterdir())
    _run(["tar", "-x", "-f", str(archive), "-C", str(into)], "unpack the source")
    trees = [p for p in set(into.iterdir()) - before if (p / "arch" / "um").is_dir()]
    if len(trees) != 1:
        raise BackendError(f"{archive}: not an archive of the Linux source")
    version = version_of(trees[0])
    if not version.startswith(f"{SERIES}."):
        raise BackendError(f"{archive}: Linux {version} given: {SERIES} is needed")
    return trees[0]


def version_of(tree: Path) -> str:
    """Return the version in a source tree's Makefile, such as ``6.12.117``."""
    text = (tree / "Makefile").read_text(encoding="utf-8")
    numbers = [re.search(rf"^{name} = (\d+)$", text, re.MULTILINE) for name in ("VERSION", "PATCHLEVEL", "SUBLEVEL")]
    return ".".join(m[1] if m else "?" for m in numbers)


def _download(into: Path) -> Path:
    if shutil.which("apt-get") is None:
        raise BackendError(
            f"the source of Linux {SERIES} is needed and this host has no apt to get it: download "
            f"linux-{SERIES}.N.tar.xz from kernel.org and give it with --source"
        )
    into.mkdir(exist_ok=True)
    _run(["apt-get", "download", "-qq", PACKAGE], f"download {PACKAGE}", cwd=into)
    packages = sorted(into.glob(f"{PACKAGE}_*.deb"))
    if not packages:
        raise BackendError(f"apt-get download {PACKAGE} left no package")
    return packages[-1]


def _archive_in(package: Path, into: Path) -> Path:
    """Return the archive inside a Debian package."""
    place = into / "package"
    _run(["dpkg-deb", "-x", str(package), str(place)], f"unpack {package.name}")
    found = sorted(place.glob("usr/src/linux-source-*.tar.*"))
    if not found:
        raise BackendError(f"{package}: holds no usr/src/linux-source-*.tar.xz")
    return found[0]


def _run(command: list[str], what: str, cwd: Path | None = None) -> None:
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False, preexec_fn=die_with_parent)
    if done.returncode != 0:
        last = (done.stderr.strip() or done.stdout.strip() or "no message").splitlines()[-1]
        raise BackendError(f"can't {what}: {last}")
