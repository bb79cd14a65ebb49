"""Ctrl-C and SIGTERM as exceptions, so that ``finally`` blocks and ``atexit`` functions run.

Such an exception can be raised at any instruction of Python, which has two consequences. Within a library's clean-up
it can turn into another exception: a wait for a thread that has just timed out then raises "release unlocked lock"
[Python threading.py Condition.wait]. Within a function whose exceptions are ignored, such as ``__del__``, it has no
effect.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from _thread import start_new_thread
from collections.abc import Iterator
from types import FrameType
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from sys import UnraisableHookArgs

__all__ = ["Signals"]

AGAIN_S = 0.01
"""Time until a signal without effect is sent again, s: the function that ignored it has returned then."""


class Signals:
    """The signals of this process."""

    def __init__(self) -> None:
        self._terminated = False
        self._ignored = sys.unraisablehook

    def install(self) -> None:
        """Make SIGTERM an exception, and send signals again whose exceptions were ignored."""
        signal.signal(signal.SIGTERM, self._terminate)
        sys.unraisablehook = self._send_again

    def _terminate(self, number: int, _frame: FrameType | None) -> NoReturn:
        self._terminated = True
        sys.exit(128 + number)

    def of(self, error: BaseException) -> int | None:
        """Return the signal that led to an exception, if one did."""
        if self._terminated:
            return signal.SIGTERM
        return signal.SIGINT if any(isinstance(e, KeyboardInterrupt) for e in _chain(error)) else None

    @staticmethod
    def notes(error: BaseException) -> list[str]:
        """Return the notes of an exception and of those during whose handling it was raised, each once."""
        return list(dict.fromkeys(note for e in _chain(error) for note in getattr(e, "__notes__", ())))

    def _send_again(self, ignored: UnraisableHookArgs) -> None:
        number = self.of(ignored.exc_value) if isinstance(ignored.exc_value, BaseException) else None
        if number is None:
            self._ignored(ignored)
        else:
            # Here its exception would be ignored, too.
            start_new_thread(_send, (number,))


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    """Yield an exception and those during whose handling it was raised."""
    while error is not None:
        yield error
        error = error.__context__


def _send(number: int) -> None:
    time.sleep(AGAIN_S)
    os.kill(os.getpid(), number)
