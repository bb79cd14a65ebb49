"""The frame of the command line: commands with examples in their help, imported when they are called.

`LazyGroup` lists the commands from a table, so that ``--help``, ``--version`` and one command import nothing of the
others. `Command` is a command of click with examples in its help, options under headings, and modes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, NoReturn, TypeVar

import click

from dumbbell.satellites import load

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

__all__ = [
    "Argument",
    "Command",
    "Group",
    "LazyGroup",
    "Listed",
    "command",
    "directory",
    "entry",
    "every_row",
    "file",
    "jobs",
    "joined",
    "json",
    "names",
    "option",
    "tables",
]

FORMAT = "dumbbell.cli.format"
"""Key of the tables' format in the context of a command."""
F = TypeVar("F", bound=Callable[..., Any])


class Option(click.Option):
    """An option that the help may list under a heading of its own, after the others."""

    def __init__(self, *args: Any, heading: str | None = None, **kwargs: Any) -> None:  # noqa: ANN401
        super().__init__(*args, **kwargs)
        self.heading = heading


class Argument(click.Argument):
    """The first argument of a command with modes: completion offers the modes too."""

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Complete the name of a mode or the argument."""
        from click.shell_completion import CompletionItem  # only for completion

        modes = getattr(ctx.command, "modes", {}) if not ctx.params.get(self.name or "") else {}
        found = [CompletionItem(name) for name in modes if name.startswith(incomplete)]
        return [*found, *super().shell_complete(ctx, incomplete)]


class Command(click.Command):
    """A command with examples in its help, options under headings, and modes.

    Parameters
    ----------
    examples : sequence of str
        Lines as a user types them; a remark follows after ``#``.
    modes : sequence of Command
        Commands that are called if their name is the first argument: ``dumbbell analyze pair A B``. A file of that
        name is reached as ``./pair``.
    removed : mapping of str to str
        Options that the command no longer has, with what to write instead.
    """

    def __init__(
        self,
        *args: Any,  # noqa: ANN401
        examples: Sequence[str] = (),
        modes: Sequence[Command] = (),
        removed: Mapping[str, str] | None = None,
        **kwargs: Any,  # noqa: ANN401
    ) -> None:
        super().__init__(*args, **kwargs)
        self.examples = tuple(examples)
        self.modes = {str(mode.name): mode for mode in modes}
        self.removed = dict(removed or {})

    def make_context(
        self,
        info_name: str | None,
        args: list[str],
        parent: click.Context | None = None,
        **extra: Any,  # noqa: ANN401
    ) -> click.Context:
        """Parse the arguments, those of a mode if the first one names it."""
        mode = self.modes.get(args[0]) if args else None
        if mode is not None:
            return mode.make_context(f"{info_name} {mode.name}", args[1:], parent, **extra)
        return super().make_context(info_name, args, parent, **extra)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options: those without a heading first, then heading by heading; then the modes."""
        groups: dict[str, list[tuple[str, str]]] = {"Options": []}
        for option in self.get_params(ctx):
            record = option.get_help_record(ctx)
            if record is not None and isinstance(option, click.Option):
                groups.setdefault(getattr(option, "heading", None) or "Options", []).append(record)
        for heading, records in groups.items():
            with formatter.section(heading):
                formatter.write_dl(records)
        if self.modes:
            with formatter.section("Modes"):
                texts = ((name, (mode.help or "").split("\n\n")[0]) for name, mode in self.modes.items())
                formatter.write_dl([(name, " ".join(text.split())) for name, text in texts])

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the examples, one per line; long lines are not wrapped, so that they can be copied."""
        super().format_epilog(ctx, formatter)
        if self.examples:
            with formatter.section("Examples"):
                formatter.write("".join(f"  {line}\n" for line in self.examples))

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the arguments; the message for an unknown option has its replacement or the nearest one."""
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as e:
            if e.option_name in self.removed:
                raise click.UsageError(f"{e.option_name}: use {self.removed[e.option_name]}", ctx) from None
            known = [name for p in self.get_params(ctx) if isinstance(p, click.Option) for name in p.opts]
            _unknown("option", e.option_name, known, ctx)


class Group(click.Group):
    """A group of commands; the message for an unknown one has the nearest one."""

    command_class = Command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command that is called."""
        try:
            return super().resolve_command(ctx, args)
        except click.NoSuchCommand as e:
            _unknown("command", e.command_name, self.list_commands(ctx), ctx)


class Listed(NamedTuple):
    """A command that isn't imported yet: its help of one line, and its home, ``module:name``."""

    text: str
    home: str


class LazyGroup(Group):
    """A group that imports the module of a command when the command is called.

    Parameters
    ----------
    sections : mapping of str to mapping of str to Listed
        The commands under the headings that the help shows.
    """

    def __init__(self, *args: Any, sections: Mapping[str, Mapping[str, Listed]], **kwargs: Any) -> None:  # noqa: ANN401
        super().__init__(*args, **kwargs)
        self.sections = sections

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Refuse arguments that aren't UTF-8, names of files too: tables and figures have such names as texts."""
        for given in args:
            if not given.isascii() and any("\ud800" <= letter <= "\udfff" for letter in given):
                raise click.UsageError(f"{given!r} given: not UTF-8", ctx)
        return super().parse_args(ctx, args)

    def list_commands(self, _ctx: click.Context) -> list[str]:
        """Name the commands, in the order of the help."""
        return [name for section in self.sections.values() for name in section]

    def get_command(self, _ctx: click.Context, name: str) -> click.Command | None:
        """Import a command."""
        listed = next((section[name] for section in self.sections.values() if name in section), None)
        return None if listed is None else load(listed.home)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands section by section, without importing them."""
        width = max(map(len, self.list_commands(ctx)))
        for title, commands in self.sections.items():
            with formatter.section(title):
                formatter.write_dl([(name.ljust(width), one.text) for name, one in commands.items()])

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Complete the name of a command, without importing any."""
        from click.shell_completion import CompletionItem  # only for completion

        texts = {name: one.text for section in self.sections.values() for name, one in section.items()}
        found = [CompletionItem(name, help=text) for name, text in texts.items() if name.startswith(incomplete)]
        return [*found, *click.Command.shell_complete(self, ctx, incomplete)]


def _unknown(what: str, given: str, known: Sequence[str], ctx: click.Context) -> NoReturn:
    from dumbbell.registry import unknown  # loads the core

    raise click.UsageError(unknown(what, given, list(known)), ctx)


def command(name: str, *examples: str, **more: Any) -> Callable[[Callable[..., Any]], click.Command]:  # noqa: ANN401
    """Make a function a command with these examples; its docstring is the help. ``more``: see `Command`."""
    return click.command(name, cls=Command, examples=examples, **more)


def option(*names: str, heading: str | None = None, **more: Any) -> Callable[[F], F]:  # noqa: ANN401
    """Return an option that the help lists under a heading of its own."""
    return click.option(*names, cls=Option, heading=heading, **more)


def joined(*decorators: Callable[[F], F]) -> Callable[[F], F]:
    """Join options; the help has them in this order."""

    def decorate(decorated: F) -> F:
        for one in reversed(decorators):
            decorated = one(decorated)
        return decorated

    return decorate


def file(*, exists: bool = False) -> click.Path:
    """Return the type of a file's path."""
    return click.Path(exists=exists, path_type=Path)


def directory() -> click.Path:
    """Return the type of a directory's path."""
    return click.Path(file_okay=False, path_type=Path)


def jobs(what: str = "Runs") -> Callable[[F], F]:
    """Return the option ``--jobs``."""
    text = f"{what} at a time. Default: one for each core."
    return click.option("--jobs", "-j", type=click.IntRange(min=1), metavar="N", help=text)


def json(what: str = "Print one JSON document instead of tables.", heading: str | None = None) -> Callable[[F], F]:
    """Return the option ``--json``."""
    return option("--json", "as_json", is_flag=True, help=what, heading=heading)


def margin() -> Callable[[F], F]:
    """Return the option ``--margin`` of commands that compare."""
    text = (
        "The difference that matters: a part of the larger mean such as '1 %', a value in the metric's unit such as "
        "'2 ms', or none. Default: that of the metric, which the output states."
    )
    return option("--margin", metavar="SIZE", help=text)


def every_row(heading: str | None = None) -> Callable[[F], F]:
    """Return the option ``--all`` of commands whose tables `output.print_summary` may shorten."""
    text = "Print every row of a large sweep, instead of the extremes."
    return option("--all", "every_row", is_flag=True, help=text, heading=heading)


def tables(heading: str | None = None) -> Callable[[F], F]:
    """Return the option ``--format`` of commands that print tables: `output.print_table` follows it."""

    def keep(ctx: click.Context, _param: click.Parameter, value: str) -> None:
        ctx.meta[FORMAT] = value

    return option(
        "--format",
        heading=heading,
        type=click.Choice(["text", "latex"]),
        default="text",
        show_default=True,
        expose_value=False,
        callback=keep,
        help="Format of the tables. latex: for a paper, with booktabs.",
    )


def names(known: Callable[[], Sequence[str]]) -> Callable[[click.Context, click.Parameter, str], list[str]]:
    """Return a completion by names that are looked up when they are needed."""

    def complete(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[str]:
        return [name for name in known() if name.startswith(incomplete)]

    return complete


def entry(registry: Literal["variants", "disciplines", "stacks"]) -> Callable[[F], F]:
    """Return the argument NAME of a command that lists a part of the registry, or shows one entry."""

    def known() -> list[str]:
        from dumbbell import registry as lists  # loads the core

        return list(getattr(lists, registry)())

    return click.argument(
        "name", required=False, metavar="[NAME]", shell_complete=names(known), help="Show one, with its parameters."
    )
