"""``dumbbell shell``: commands in the hosts of a live network."""

from __future__ import annotations

import sys

import click

from dumbbell.cli import front

__all__ = ["shell"]


def _hosts() -> list[str]:
    from dumbbell.kernel.host.live import live_networks

    return [name for network in live_networks() for name in network.hosts]


@front.command(
    "shell",
    "dumbbell run first.toml --backend kernel --hold    # in another terminal",
    "dumbbell shell                                     # a prompt; `help` there lists its commands",
    "dumbbell shell a.from ping -c 3 a.to               # one command",
    "dumbbell shell --rights network a.to tcpdump -ni tun0 -w - > a.pcap",
    context_settings={"allow_interspersed_args": False},
)
@click.option(
    "--network",
    type=click.IntRange(min=1),
    metavar="N",
    help="The number of the network, if several are live; without it, the message lists them.",
)
@click.option(
    "--rights",
    type=click.Choice(["none", "network"]),
    default="none",
    show_default=True,
    help="Rights of the commands. network: to the host's interfaces, routes, settings and packets (CAP_NET_ADMIN, "
    "CAP_NET_RAW), for tcpdump, ip and tc.",
)
@click.argument(
    "host",
    required=False,
    metavar="[HOST]",
    shell_complete=front.names(_hosts),
    help="The host; without one, a prompt.",
)
@click.argument(
    "command", nargs=-1, type=click.UNPROCESSED, metavar="[COMMAND...]", help="The command and its arguments."
)
def shell(network: int | None, rights: str, host: str | None, command: tuple[str, ...]) -> None:
    """Run commands in the hosts of a live network (`run --backend kernel --hold`).

    FLOW.from and FLOW.to are the hosts of a flow. Names of hosts in the command become their addresses. Each command
    is isolated like a program of a scenario: an unprivileged user, read-only files, a directory of its own that is
    removed afterwards. It ends with the network. The exit code is that of the command.
    """
    from dumbbell.kernel.host.live import find_live
    from dumbbell.kernel.host.prompt import Prompt, in_host

    found = find_live(network)
    if host is None:
        sys.exit(Prompt(found, network_rights=rights == "network").run())
    sys.exit(in_host(found, host, command, network_rights=rights == "network"))
