"""Directories that may come from others, such as results: links in them are never followed.

A file is opened relative to the descriptor of its folder [openat(2)], and each folder relative to the one above it.
Systems without such calls (Windows) check the type of each folder of a path before they use it.
"""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from dumbbell.exceptions import ResultsError

__all__ = ["LinkFreeFolder", "size_text"]

LARGEST = 256_000_000
"""Default maximum size of a file that is read into memory, bytes: a manifest with a million cells has about as many."""
DEEPEST = 12
"""Maximum depth of nested folders. The results of a study have six."""
DESCRIPTORS = {os.open, os.mkdir, os.unlink, os.stat, os.rename} <= os.supports_dir_fd
FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_CLOEXEC", 0)
NO_LINK = getattr(os, "O_NOFOLLOW", 0)
FILE = NO_LINK | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
"""Flags for opening a file: no links, and a FIFO doesn't block."""


class LinkFreeFolder:
    """A directory. Its own path may be a link; below it, anything but folders and regular files is refused.

    Names are paths within it, with ``/``. Methods raise OSError as the system's calls do, and ResultsError for a
    link, a pipe, a device or a socket.

    Parameters
    ----------
    path : path
    temporary : str, optional
        Folder within the directory for files while they are being written; default: that of the file.
    """

    def __init__(self, path: str | os.PathLike[str], temporary: str | None = None) -> None:
        self.path = Path(path)
        self._temporary = temporary

    def check(self, *names: str) -> None:
        """Check the types of all files and folders, or of those in some entries; ResultsError at the first link."""
        places = [self.path / name for name in names] or [self.path]
        if names:
            for place in places:
                with suppress(FileNotFoundError):
                    _check_type(place, place.lstat().st_mode)
        deep = len(self.path.parts) + DEEPEST
        folders = [place for place in places if place.is_dir()]
        while folders:
            folder = folders.pop()
            if len(folder.parts) > deep:
                raise ResultsError(f"{folder}: more than {DEEPEST} folders within each other")
            try:
                with os.scandir(folder) as entries:
                    for entry in entries:
                        if entry.is_dir(follow_symlinks=False):
                            folders.append(Path(entry.path))
                        elif not entry.is_file(follow_symlinks=False):
                            _check_type(Path(entry.path), entry.stat(follow_symlinks=False).st_mode)
            except FileNotFoundError:
                continue  # another process has removed it
            except OSError as e:
                raise ResultsError(f"{folder}: can't be read: {e.strerror or e}") from None

    # ------------------------------------------------------------ read

    def exists(self, name: str) -> bool:
        """Return True if the directory has an entry of this name."""
        try:
            with self._parent(name) as (folder, last):
                os.stat(last, dir_fd=folder, follow_symlinks=False)
        except FileNotFoundError:
            return False
        return True

    def open(self, name: str, most: int) -> BinaryIO:
        """Open a regular file for reading; ResultsError if it has more than ``most`` bytes."""
        with self._parent(name) as (folder, last):
            file = self._opened(name, last, os.O_RDONLY, folder)
        if (size := os.fstat(file.fileno()).st_size) > most:
            file.close()
            raise ResultsError(f"{self.path / name}: {size_text(size)} given: at most {size_text(most)} are possible")
        return file

    def read(self, name: str, most: int = LARGEST) -> bytes:
        """Read a regular file of at most ``most`` bytes."""
        with self.open(name, most) as file:
            return file.read()

    def entries(self, name: str, ending: str = "") -> list[str]:
        """Return the sorted names, within the directory, of a folder's entries with this ending; [] without it."""
        try:
            with (
                self._parent(f"{name}/_") as (folder, path),
                os.scandir(Path(path).parent if folder is None else folder) as entries,
            ):
                found = [entry.name for entry in entries]
        except FileNotFoundError:
            return []
        return sorted(f"{name}/{each}" for each in found if each.endswith(ending))

    # ------------------------------------------------------------ write

    def make(self, name: str) -> None:
        """Make a folder, and those above it, unless they exist; the directory, too."""
        self.path.mkdir(parents=True, exist_ok=True)
        with self._parent(f"{name}/_", make=True):
            pass

    def remove(self, name: str) -> None:
        """Remove a file, or a folder with its content. Of a link, the link is removed and not its target."""
        try:
            with self._parent(name) as (folder, last):
                if stat.S_ISDIR(os.stat(last, dir_fd=folder, follow_symlinks=False).st_mode):
                    shutil.rmtree(last, dir_fd=folder)
                else:
                    os.unlink(last, dir_fd=folder)
        except FileNotFoundError:
            return

    def write(self, name: str, write: Callable[[Path], object]) -> None:
        """Call ``write`` with the path of a temporary file, then rename that file to its name."""
        place = PurePosixPath(name)
        apart = f"{self._temporary or place.parent}/{place.name}.new"
        self.make(str(PurePosixPath(apart).parent))
        self.remove(apart)
        write(self.path / apart)
        with self._parent(apart) as (temporary, new), self._parent(name, make=True) as (folder, last):
            os.replace(new, last, src_dir_fd=temporary, dst_dir_fd=folder)

    def write_text(self, name: str, text: str) -> None:
        """Write a file of UTF-8 text; see `write`."""
        self.write(name, lambda path: path.write_text(text, encoding="utf-8"))

    def append(self, name: str) -> BinaryIO:
        """Open a file to append to it; it is created if it doesn't exist."""
        with self._parent(name) as (folder, last):
            return self._opened(name, last, os.O_WRONLY | os.O_APPEND | os.O_CREAT, folder)

    def is_same(self, name: str, file: BinaryIO) -> bool:
        """Return True if an open file still has this name."""
        try:
            with self._parent(name) as (folder, last):
                named, opened = os.stat(last, dir_fd=folder, follow_symlinks=False), os.fstat(file.fileno())
        except FileNotFoundError:
            return False
        return (named.st_dev, named.st_ino) == (opened.st_dev, opened.st_ino)

    # ------------------------------------------------------------ one door

    def _opened(self, name: str, last: str, flags: int, folder: int | None) -> BinaryIO:
        if not DESCRIPTORS:  # there is no flag against links either
            self.check(name)
        try:
            file = os.open(last, flags | FILE, 0o666, dir_fd=folder)
        except FileNotFoundError:
            raise
        except OSError:
            self.check(name)  # the clearer error, if it is no regular file
            raise
        mode = os.fstat(file).st_mode
        if not stat.S_ISREG(mode):
            os.close(file)
            _check_type(self.path / name, mode)
            raise ResultsError(f"{self.path / name}: a folder: a regular file is needed")
        return os.fdopen(file, "rb" if flags == os.O_RDONLY else "ab", buffering=-1)

    @contextmanager
    def _parent(self, name: str, *, make: bool = False) -> Iterator[tuple[int | None, str]]:
        """Yield an entry's address for system calls: the descriptor of its folder, and its name in that folder."""
        *parts, last = PurePosixPath(name).parts
        if not DESCRIPTORS:
            yield None, str(self._checked_folder(parts, make=make) / last)
            return
        folder = os.open(self.path, FOLDER)
        place = self.path
        try:
            for part in parts:
                place /= part
                if make:
                    with suppress(FileExistsError):
                        os.mkdir(part, dir_fd=folder)
                try:
                    inner = os.open(part, FOLDER | NO_LINK, dir_fd=folder)
                except FileNotFoundError:
                    raise
                except OSError:
                    _check_type(place, place.lstat().st_mode, folder=True)
                    raise
                os.close(folder)
                folder = inner
            yield folder, last
        finally:
            os.close(folder)

    def _checked_folder(self, parts: list[str], *, make: bool) -> Path:
        """Return the path of a folder. None of its parts is a link."""
        place = self.path
        for part in parts:
            place /= part
            if make:
                place.mkdir(exist_ok=True)
            _check_type(place, place.lstat().st_mode, folder=True)
        return place


def _check_type(place: Path, mode: int, *, folder: bool = False) -> None:
    """Refuse what is neither a folder nor a regular file, or what isn't a folder."""
    kinds = {stat.S_IFLNK: "a link", stat.S_IFIFO: "a pipe", stat.S_IFSOCK: "a socket"}
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        kind = kinds.get(stat.S_IFMT(mode), "a device")
        raise ResultsError(f"{place}: {kind}: only folders and regular files are used")
    if folder and not stat.S_ISDIR(mode):
        raise ResultsError(f"{place}: a file: a folder is needed")


def size_text(size: int) -> str:
    """Write a number of bytes in MB."""
    return f"{size / 1e6:,.0f} MB"
