"""Builds the virtual-time kernel: source, edits, configuration, compilation, a first boot, the cache."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

from dumbbell.common.processors import cores
from dumbbell.exceptions import BackendError
from dumbbell.kernel.uml import patch, source, tools
from dumbbell.kernel.uml.build_folder import build_folder, die_with_parent
from dumbbell.kernel.uml.store import CONFIG, Kernel, cache_of_user, installed, key

__all__ = ["build"]

Watch = Callable[[str, int, int], None]
"""Called with the current step, the files done and the files of that step (0: unknown)."""

FILES = 1000
"""Approximate number of files that a build compiles, for the progress bar."""

# Names and dates of the build become part of the kernel, which mixes them into its random numbers. They are the same
# everywhere, so that runs are.
_NAMES = {
    "KBUILD_BUILD_TIMESTAMP": "Thu Jan  1 00:00:00 UTC 1970",
    "KBUILD_BUILD_USER": "dumbbell",
    "KBUILD_BUILD_HOST": "dumbbell",
    "KBUILD_BUILD_VERSION": "1",
}


def build(
    *,
    given: Path | None = None,
    cache: Path | None = None,
    jobs: int | None = None,
    again: bool = False,
    watch: Watch = lambda _what, _done, _all: None,
) -> Kernel:
    """Build the kernel, unless a suitable one exists.

    Parameters
    ----------
    given : Path, optional
        Archive of the source; see `source.obtain`.
    cache : Path, optional
        The cache directory; default: the user's own.
    jobs : int, optional
        Number of compilers at a time; default: one for each core.
    again : bool
        Build even if a suitable kernel exists.
    watch : callable, optional
        Called with the progress; see `Watch`.

    Returns
    -------
    Kernel
        The kernel that was built or found.

    Raises
    ------
    BackendError
        The host can't build it; the message lists the missing packages or features.
    """
    reason = tools.unsupported()
    if reason is not None:
        raise BackendError(reason)
    existing = installed()
    if existing and not again and cache is None:
        return existing[0]
    absent = tools.missing()
    if absent:
        raise BackendError(tools.remedy(absent))
    place = (cache or cache_of_user()) / "kernel"
    try:
        place.mkdir(parents=True, exist_ok=True)
        with build_folder(place) as work:
            return _build(work, place, given, jobs or cores(), watch)
    except OSError as e:
        raise BackendError(f"{e.filename or place}: {e.strerror or e}") from None


def _build(work: Path, place: Path, given: Path | None, jobs: int, watch: Watch) -> Kernel:
    began = time.monotonic()
    watch("source", 0, 0)
    tree = source.obtain(work, given, place / "source")
    version = source.version_of(tree)
    watch("configuration", 0, 0)
    patch.apply(tree)
    make = ["make", "-C", str(tree), "ARCH=um", f"-j{jobs}"]
    log = work / "make.log"
    _make([*make, f"KCONFIG_ALLCONFIG={CONFIG}", "allnoconfig"], log)
    _check_options(tree / ".config")
    _make([*make, "linux"], log, lambda done: watch("compilation", min(done, FILES), FILES))
    binary = work / "linux"
    _run(["strip", "-o", str(binary), str(tree / "linux")], "strip the kernel")
    watch("first boot", 0, 0)
    _boots(binary)
    target = place / f"{version}-{key()}"
    new = work / "new"
    new.mkdir()
    shutil.move(binary, new / "linux")
    about = {
        "version": version,
        "key": key(),
        "compiler": _run(["gcc", "--version"], "ask gcc").splitlines()[0],
        "seconds": round(time.monotonic() - began, 1),
        "bytes": (new / "linux").stat().st_size,
    }
    (new / "kernel.json").write_text(json.dumps(about, indent=2) + "\n", encoding="utf-8")
    shutil.rmtree(target, ignore_errors=True)
    new.rename(target)
    return Kernel(target / "linux", version, key())


def _check_options(config: Path) -> None:
    """Refuse a configuration that lacks an option of ours: this source doesn't have it, or it depends on another."""
    taken = set(config.read_text(encoding="utf-8").splitlines())
    wanted = [line for line in CONFIG.read_text(encoding="utf-8").splitlines() if line.startswith("CONFIG_")]
    lost = [line for line in wanted if line not in taken]
    if lost:
        raise BackendError(f"this source doesn't have the options {', '.join(lost)}")


def _make(command: list[str], log: Path, each: Callable[[int], None] | None = None) -> str:
    """Run make, calling ``each`` with the number of files done; returns its output."""
    done = 0
    lines: list[str] = []
    with log.open("a", encoding="utf-8") as kept:
        process = subprocess.Popen(
            command,
            env={**os.environ, **_NAMES, "LC_ALL": "C"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            text=True,
            start_new_session=True,
            preexec_fn=die_with_parent,  # noqa: PLW1509 - a build starts no threads
        )
        try:
            for line in process.stdout or ():
                kept.write(line)
                lines.append(line)
                if each is not None and line.startswith(("  CC ", "  AS ", "  AR ", "  LD ")):
                    done += 1
                    each(done)
            code = process.wait()
        except BaseException:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            raise
    if code != 0:
        errors = [line.strip() for line in lines if "rror" in line] or [line.strip() for line in lines[-3:]]
        raise BackendError("the kernel doesn't compile:\n" + "\n".join(errors[:8]))
    return "".join(lines)


def _boots(binary: Path) -> None:
    """Start the kernel with --version: a kernel that can't run on this host fails here."""
    _run([str(binary), "--version"], "start the kernel")


def _run(command: list[str], what: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    if done.returncode != 0:
        last = (done.stderr.strip() or done.stdout.strip() or f"exit code {done.returncode}").splitlines()[-1]
        raise BackendError(f"can't {what}: {last}")
    return done.stdout
