"""The program of a worker process: see `dumbbell.workers.local`."""

from __future__ import annotations

import gc
import os
import pickle
import sys
from collections.abc import Callable
from importlib import import_module
from queue import SimpleQueue
from threading import Thread
from typing import Any, BinaryIO

from dumbbell.exceptions import DumbbellError

__all__ = ["main", "maker"]

COLLECTED = (50_000, 10, 10)
"""Thresholds of the garbage collector. With Python's (700, 10, 10), it takes a quarter of the time of a small run."""


def main() -> None:
    """Do tasks until stdin is closed."""
    given, replies = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)  # what a library prints must not get between the replies
    tasks: SimpleQueue[Any] = SimpleQueue()
    Thread(target=_read, args=(given, tasks), daemon=True).start()
    make, setup = tasks.get()
    work: Callable[[Any], Any] | None = None
    while True:
        number, task = tasks.get()
        try:
            if work is None:
                work = maker(make)(setup)
                gc.freeze()
                gc.set_threshold(*COLLECTED)
            reply = number, True, work(task)
        except DumbbellError as e:
            reply = number, False, str(e)
        except Exception as e:
            reply = number, False, f"a worker process failed: {type(e).__name__}: {e}"
        pickle.dump(reply, replies, protocol=5)
        replies.flush()


def maker(name: str) -> Callable[[Any], Callable[[Any], Any]]:
    """Find a function by ``module:function``."""
    module, _, function = name.partition(":")
    found: Callable[[Any], Callable[[Any], Any]] = getattr(import_module(module), function)
    return found


def _read(given: BinaryIO, tasks: SimpleQueue[Any]) -> None:
    """Read tasks. At the end of the stream the process ends, whatever it does: nobody needs its replies any more."""
    try:
        while True:
            tasks.put(pickle.load(given))
    except EOFError:
        os._exit(0)
    except BaseException as e:
        sys.stderr.write(f"dumbbell worker: {type(e).__name__}: {e}\n")
        os._exit(1)
