"""The options that the modes of ``dumbbell analyze`` share, and what they mean for `dumbbell.capture.analyze`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from dumbbell.cli import front

__all__ = ["analysis", "classified", "files_argument", "intervals", "outputs", "reading", "seconds", "selection"]

F = TypeVar("F", bound=Callable[..., Any])
SELECTION = "Selection"
OUTPUT = "Output"

files_argument = click.argument(
    "files",
    nargs=-1,
    type=click.Path(),
    cls=front.Argument,
    metavar="[FILE]...",
    help="Files in pcap or pcapng format, also compressed; patterns; or - for stdin.",
)
classified = click.option(
    "--classify", is_flag=True, help="Estimate the congestion control of each long transfer, with the evidence."
)
intervals = click.option(
    "--interval", metavar="TIME", help="Length of the intervals of series, such as '100 ms'. Default: chosen."
)


def reading() -> Callable[[F], F]:
    """Return the options for reading a capture; `analysis` takes their values."""
    return front.joined(
        click.option(
            "--rules", metavar="NAME", help="Rules of the labels: wireshark-4.4 (default), wireshark-4.0 or dumbbell."
        ),
        click.option("--from", "begin", metavar="TIME", help="From this time after the first packet, such as '10 s'."),
        click.option("--to", "end", metavar="TIME", help="Up to this time."),
        intervals,
        click.option("--no-tunnels", is_flag=True, help="Read the outer headers of tunnels only."),
        front.jobs("Threads"),
    )


def selection() -> Callable[[F], F]:
    """Return the options that choose connections; `analysis` takes their values."""
    return front.joined(
        front.option(
            "--flow", multiple=True, type=int, metavar="N", help="Only this TCP connection. Repeatable.",
            heading=SELECTION,
        ),
        front.option(
            "--host", multiple=True, metavar="ADDRESS", help="Only this address or network. Repeatable.",
            heading=SELECTION,
        ),
        front.option(
            "--port", multiple=True, type=click.IntRange(0, 65_535), metavar="N", help="Only this port. Repeatable.",
            heading=SELECTION,
        ),
        front.option(
            "--where",
            metavar="CONDITION",
            help="Only connections that meet this condition: SQL over the table of flows, such as "
            "'goodput_bps > 1e6 AND retransmission > 0'.",
            heading=SELECTION,
        ),
    )  # fmt: skip


def outputs(*, graphs: bool) -> Callable[[F], F]:
    """Return the options for output; ``graphs``: those for xplot too."""
    texts = {
        "--out": "Write tables, figures and the report into this directory.",
        "--csv": "Write every table, packets too, as CSV into this directory.",
        "--parquet": "The same as Parquet.",
        **({"--xplot": "Write time-sequence graphs for xplot into it."} if graphs else {}),
    }
    places = (
        front.option(name, type=front.directory(), metavar="DIR", help=text, heading=OUTPUT)
        for name, text in texts.items()
    )
    return front.joined(front.json(heading=OUTPUT), *places, front.tables(OUTPUT))


def analysis(
    *,
    rules: str | None,
    begin: str | None,
    end: str | None,
    interval: str | None,
    no_tunnels: bool,
    jobs: int | None,
    **chosen: Any,  # noqa: ANN401
) -> dict[str, Any]:
    """Return the arguments of `dumbbell.capture.analyze` from those of `reading` and `selection`."""
    from dumbbell.capture import Selection

    options: dict[str, Any] = {
        "rules": rules,
        "interval_s": seconds("--interval", interval),
        "enter_tunnels": not no_tunnels,
        "from_s": seconds("--from", begin),
        "to_s": seconds("--to", end),
        "threads": jobs,
    }
    return {**options, "select": Selection(**chosen)} if chosen else options


def seconds(option: str, text: str | None) -> float | None:
    """Read a time that an option gives."""
    if text is None:
        return None
    from dumbbell.exceptions import CaptureError
    from dumbbell.scenario.units import Duration

    try:
        return Duration(text).seconds
    except ValueError as e:
        raise CaptureError(f"{option}: {e}") from None
