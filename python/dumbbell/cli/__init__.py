"""The command line: ``dumbbell run``, ``schema``, ``variants`` ... One file per command.

Data go to stdout, everything else to stderr. Exit codes: 0 done, 2 wrong usage or input (with a message, never a
traceback), 130 interrupted, 143 terminated.
"""

from __future__ import annotations

import os
import signal
import sys
from importlib import import_module
from pkgutil import iter_modules

import typer

from dumbbell.cli import output

__all__ = ["app", "main"]

app = typer.Typer(
    name="dumbbell",
    help="A laboratory for TCP congestion control.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)

FIRST = ("run", "study")
"""The commands that the help lists first."""
EXTRA = ("jinja2", "matplotlib", "plotly")
"""Modules of the extra `studies`, which figures and reports need."""


def _version(wanted: bool) -> None:
    if wanted:
        from dumbbell import __version__  # noqa: PLC0415

        typer.echo(f"dumbbell {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: bool = typer.Option(False, "--version", callback=_version, is_eager=True, help="Print the version."),
) -> None:
    """A laboratory for TCP congestion control."""


def _modules() -> list[str]:
    """Name the modules of this package, the main commands first."""
    names = sorted(module.name for module in iter_modules(__path__))
    return sorted(names, key=lambda n: FIRST.index(n) if n in FIRST else len(FIRST))


for _name in _modules():
    # Every module that defines ``register(app)`` adds its commands.
    if hasattr(_module := import_module(f"dumbbell.cli.{_name}"), "register"):
        _module.register(app)


def main() -> None:
    """Run the command line; errors of Dumbbell become messages."""
    from dumbbell.exceptions import DumbbellError  # noqa: PLC0415

    # With SystemExit, `finally` blocks and `atexit` functions run on this signal too.
    signal.signal(signal.SIGTERM, lambda number, _frame: sys.exit(128 + number))
    try:
        app()
    except DumbbellError as e:
        output.errors(str(e))
        sys.exit(2)
    except ModuleNotFoundError as e:
        module = (e.name or "").partition(".")[0]
        if module not in EXTRA:
            raise
        output.errors(f"this command needs {module}: pip install 'dumbbell[studies]'")
        sys.exit(2)
    except KeyboardInterrupt:
        output.errors("interrupted")
        sys.exit(130)
    except BrokenPipeError:
        # The reader of stdout has closed the pipe: nothing more may be written to it, not even at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
