"""The command line: ``dumbbell run``, ``schema``, ``variants`` ... One file per command.

Data go to stdout, everything else to stderr. Exit codes: 0 done, 2 wrong usage or input (with a message, never a
traceback), 1 the environment fails, 130 interrupted, 143 terminated.
"""

from __future__ import annotations

import atexit
import os
import signal
import sys
from typing import NoReturn

import click

from dumbbell.cli import front, output
from dumbbell.cli.signals import Signals
from dumbbell.satellites import satellites

__all__ = ["app", "main"]

SECTIONS = {
    "Experiments": {
        "run": "Run a scenario: every cell of its sweep, every repetition, in parallel.",
        "check": "Check a scenario: what will run, how long it takes, where it can run, and its warnings.",
    },
    "Teaching": {},
    "Results": {
        "results": "Summarize, query, export, verify or merge results that were kept with --out.",
        "stats": "Print a metric's statistics over repetitions, and its significant differences.",
        "compare": "Compare two sets of results and list the significant changes.",
        "plot": "Draw a figure of results that were kept with --out.",
        "report": "Write the report of results that were kept with --out.",
    },
    "Captures": {},
    "Your own algorithms": {
        "variant": "Check your own congestion control variant.",
        "discipline": "Check your own queue discipline.",
    },
    "Names for scenario files": {
        "variants": "List the congestion control variants, or show one.",
        "disciplines": "List the queue disciplines, or show one.",
        "stacks": "List the presets of the TCP and QUIC endpoints, or show one.",
        "schema": "Print the JSON Schema of scenario files.",
    },
    "Real kernel": {
        "mahimahi": "Write the packets that a link delivered as a trace for mahimahi.",
        "clean": "Remove the folders and processes that killed runs, kernel builds, analyses and labs have left.",
    },
}
"""The core's commands with the first sentence of their help, in the order of the sections; satellites add theirs."""


def _sections() -> dict[str, dict[str, front.Listed]]:
    """Return every command with its help and its home, section by section."""
    found = {
        title: {name: front.Listed(text, f"{__name__}.{name}:{name}") for name, text in own.items()}
        for title, own in SECTIONS.items()
    }
    for package, one in satellites().items():
        for title, commands in one.commands.items():
            for name, text in commands.items():
                found[title][name] = front.Listed(text, f"dumbbell.{package}.commands.{name}:{name}")
    return found


def _version(ctx: click.Context, _param: click.Parameter, wanted: bool) -> None:
    if wanted and not ctx.resilient_parsing:
        from dumbbell import __version__

        click.echo(f"dumbbell {__version__}")
        ctx.exit()


@click.group(
    "dumbbell",
    cls=front.LazyGroup,
    sections=_sections(),
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="`dumbbell COMMAND --help` explains a command, with examples.",
)
@click.option(
    "--version", is_flag=True, is_eager=True, expose_value=False, callback=_version, help="Print the version."
)
def app() -> None:
    """A laboratory for TCP congestion control."""


def _leave(code: int) -> NoReturn:
    """End the process at once: after the clean-up, without waiting for threads that still simulate.

    A further signal doesn't wait for the clean-up either.
    """
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda _number, _frame: os._exit(code))
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def main() -> None:
    """Run the command line; errors of Dumbbell become messages."""
    # Looking for plugins of pydantic reads the metadata of every installed package, and no command needs one.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    signals = Signals()
    signals.install()
    try:
        code = app.main(prog_name="dumbbell", standalone_mode=False)
        sys.stdout.flush()
        # All is done: an interrupt from here on changes nothing.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        sys.exit(code)
    except BaseException as e:
        number = signal.SIGINT if isinstance(e, click.Abort) else signals.of(e)
        if number is None:
            _explain(e)
            raise
        if number == signal.SIGINT:
            output.errors("interrupted")
        for sentence in signals.notes(e):
            output.note(sentence)
        _leave(128 + number)


def _explain(error: BaseException) -> None:
    """End with a message if the exception is one that has a message."""
    from dumbbell.exceptions import DumbbellError, EndlessCallError

    match error:
        case click.exceptions.NoArgsIsHelpError():
            error.show()
            sys.exit(2)
        case click.ClickException():
            output.errors(error.format_message())
            if isinstance(error, click.UsageError) and error.ctx is not None:
                output.note(f"`{error.ctx.command_path} --help` explains the usage")
            sys.exit(2)
        case DumbbellError():
            output.errors(": ".join([str(error), *getattr(error, "__notes__", ())]))
            if isinstance(error, EndlessCallError):
                _leave(2)
            sys.exit(2)
        case ModuleNotFoundError():
            from dumbbell.common.extras import EXTRAS, missing

            module = (error.name or "").partition(".")[0]
            if module in EXTRAS:
                output.errors(missing(module))
                sys.exit(2)
        case BrokenPipeError():
            # The reader of stdout has closed the pipe: nothing more may be written to it, not even at exit.
            _drop_stdout()
            sys.exit(1)
        case RecursionError():
            _drop_stdout()
            output.errors("the input is nested too deeply")
            sys.exit(2)
    from dumbbell.common.failures import failed_write, is_panic, means_no_memory

    of_system = isinstance(error, OSError) or means_no_memory(error) or is_panic(error) or "(os error " in str(error)
    if of_system and (why := failed_write(error)) is not None:  # such as a full disk
        _drop_stdout()
        name = getattr(error, "filename", None)
        output.errors(why if name is None else f"{name}: {why}")
        sys.exit(1)


def _drop_stdout() -> None:
    """Send the rest of stdout nowhere: at the end of the process it would fail again."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
