"""The kernel's source: Debian's package, or a given archive."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

from dumbbell.exceptions import BackendError
from dumbbell.kernel.uml.build_folder import die_with_parent
from dumbbell.kernel.uml.download import PART, download

__all__ = ["SERIES", "obtain", "version_of"]

SERIES = "6.12"
"""The long-term series that the configuration and the edits are made for."""
PACKAGE = f"linux-source-{SERIES}"
SCHEMES = ("http", "https")
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
        The directory for the downloaded package. It stays, so that a later build needs no download. A download that
        was killed or cut is continued.

    Returns
    -------
    Path
        The directory of the unpacked tree.

    Raises
    ------
    BackendError
        No source is available, or it isn't of this series.
    """
    archive = given or (INSTALLED if INSTALLED.exists() else _download(kept, into))
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


def _download(into: Path, work: Path) -> Path:
    """Return Debian's package in a directory, downloaded if it isn't there; older versions are removed."""
    if shutil.which("apt-get") is None:
        raise BackendError(
            f"the source of Linux {SERIES} is needed and this host has no apt to get it: download "
            f"linux-{SERIES}.N.tar.xz from kernel.org and give it with --source"
        )
    into.mkdir(exist_ok=True)
    try:
        found = _newest(into, work)
    except BackendError:
        kept = _packages(into)
        if not kept:
            raise
        return kept[-1]  # without a network, for example
    for other in into.glob(f"{PACKAGE}_*"):
        if other != found:
            other.unlink(missing_ok=True)
    return found


def _newest(into: Path, work: Path) -> Path:
    """Return the package of the newest version that apt knows."""
    listed = _run(["apt-get", "download", "-qq", "--print-uris", PACKAGE], f"download {PACKAGE}", cwd=into).split()
    if not listed and (kept := _packages(into)):
        return kept[-1]  # apt lists nothing if the newest one is there
    if len(listed) == len(("uri", "name", "size", "hash")):
        uri, to, sha256 = listed[0].strip("'"), into / Path(listed[1]).name, listed[3].removeprefix("SHA256:")
        if uri.partition(":")[0] in SCHEMES and sha256 != listed[3]:
            try:
                download(uri, to, sha256, _proxies())
            except BackendError:
                if to.with_name(f"{to.name}{PART}").stat().st_size > 0:
                    raise
            else:
                return to
    # Only apt knows other schemes, such as mirror+file, and some proxies. Its file has its name before it is whole.
    place = work / "apt"
    place.mkdir()
    _run(["apt-get", "download", "-qq", PACKAGE], f"download {PACKAGE}", cwd=place)
    packages = _packages(place)
    if not packages:
        raise BackendError(f"apt-get download {PACKAGE} left no package")
    return packages[-1].rename(into / packages[-1].name)


def _packages(place: Path) -> list[Path]:
    """Return the packages in a directory, the last modified one at the end."""
    return sorted(place.glob(f"{PACKAGE}_*.deb"), key=lambda p: p.stat().st_mtime_ns)


def _proxies() -> dict[str, str] | None:
    """Return apt's proxies by scheme; None if it has none of its own."""
    found = {}
    for scheme in SCHEMES:
        text = _run(["apt-config", "shell", "PROXY", f"Acquire::{scheme}::Proxy"], "ask apt for its proxy").strip()
        value = text.removeprefix("PROXY=").strip("'")
        if value:
            found[scheme] = value
    if not found:
        return None
    return {scheme: value for scheme, value in found.items() if value != "DIRECT"}


def _archive_in(package: Path, into: Path) -> Path:
    """Return the archive inside a Debian package."""
    place = into / "package"
    _run(["dpkg-deb", "-x", str(package), str(place)], f"unpack {package.name}")
    found = sorted(place.glob("usr/src/linux-source-*.tar.*"))
    if not found:
        raise BackendError(f"{package}: holds no usr/src/linux-source-*.tar.xz")
    return found[0]


def _run(command: list[str], what: str, cwd: Path | None = None) -> str:
    """Run a program; returns its output."""
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False, preexec_fn=die_with_parent)
    if done.returncode != 0:
        last = (done.stderr.strip() or done.stdout.strip() or "no message").splitlines()[-1]
        raise BackendError(f"can't {what}: {last}")
    return done.stdout
