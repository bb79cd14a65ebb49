"""Exceptions that mean a failure of the environment: no memory, a full disk, a place that can't be written.

A library in Rust may panic then. Each such library has its own class of panics, which isn't an `Exception`. Without
memory, loading a library raises ImportError, and starting a thread raises RuntimeError.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from dumbbell.exceptions import ResultsError

__all__ = ["failed_write", "is_panic", "means_no_memory", "writing"]

_OF_SYSTEM = re.compile(r"\(os error ([0-9]{1,5})\)")
_NO_MEMORY = ("cannot allocate memory", "failed to map segment", "start new thread", "out of memory")


def is_panic(error: BaseException) -> bool:
    """Return True for a panic of an extension module written in Rust."""
    return type(error).__module__ == "pyo3_runtime"


def means_no_memory(error: BaseException) -> bool:
    """Return True if memory was missing."""
    # polars goes on without its extension module where that can't be loaded, until it needs a name of it.
    half_loaded = "polars" in sys.modules and "polars._plr" not in sys.modules
    return (
        isinstance(error, MemoryError)
        or (half_loaded and isinstance(error, NameError))
        or (
            (isinstance(error, ImportError | OSError | RuntimeError) or is_panic(error))
            and any(words in str(error).lower() for words in _NO_MEMORY)
        )
    )


def failed_write(error: BaseException) -> str | None:
    """Return the reason if an exception means that a file couldn't be written, an error of polars and a panic too.

    None for errors of Dumbbell, signals and bugs.
    """
    if means_no_memory(error):
        return "out of memory"
    if isinstance(error, OSError):
        return error.strerror or str(error)
    polars = sys.modules.get("polars")  # slow to import, and no error of it is raised before
    if is_panic(error) or (polars is not None and isinstance(error, polars.exceptions.PolarsError)):
        number = _OF_SYSTEM.search(str(error))
        return os.strerror(int(number[1])) if number else str(error).strip().partition("\n")[0]
    return None


@contextmanager
def writing(place: str | os.PathLike[str]) -> Iterator[None]:
    """Turn the exceptions of a full disk, of a place that can't be written or of missing memory into `ResultsError`."""
    try:
        yield
    except BaseException as e:
        if (why := failed_write(e)) is None:
            raise
        raise ResultsError(f"{os.fspath(place)}: can't be written: {why}") from None
