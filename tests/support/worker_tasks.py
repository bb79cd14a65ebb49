"""Tasks for worker processes of the tests."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable

__all__ = ["maker"]


def maker(setup: str) -> Callable[[str], str]:
    """Return a task that does what it is asked for."""

    def do(task: str) -> str:
        if task == "end":
            os._exit(3)
        if task == "fail":
            raise ValueError("no good")
        if task == "wait":
            time.sleep(600)  # the test ends this process
        if task == "print":
            print("printed")
            sys.stdout.flush()
        return f"{setup} {task}"

    return do
