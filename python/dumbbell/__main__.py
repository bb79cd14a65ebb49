"""The command ``dumbbell``, and ``python -m dumbbell``: from here on, Ctrl-C ends it with one message."""

import os
import signal
import sys

__all__ = ["main"]


def main() -> None:
    """Run the command line.

    An interrupt during the imports ends the process at once: there is nothing to clean up yet, and an import can turn
    the exception into another one.
    """
    closed = _open_closed()
    asked = signal.getsignal(signal.SIGINT) is signal.default_int_handler  # a background job ignores it
    if asked:
        signal.signal(signal.SIGINT, _end)
    from dumbbell.cli import main as run

    if asked:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if closed:
        os.write(2, b"error: stdout is closed: send it to /dev/null if it isn't needed\n")
        sys.exit(1)
    run()


def _open_closed() -> bool:
    """Open closed standard streams, so that no file gets their numbers; True if stdout was closed."""
    closed = []
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # gets the lowest free number
            closed.append(number)
    if 2 in closed:
        sys.stderr = open(2, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    return 1 in closed


def _end(_number: int, _frame: object) -> None:
    os.write(2, b"error: interrupted\n")
    os._exit(130)


if __name__ == "__main__":
    main()
