"""Applications that are real programs: they run on a real kernel only.

In their arguments ``{from}`` and ``{to}`` are replaced by the addresses of the flow's ends, ``{seconds}`` by the
whole seconds that the flow lasts, less one, ``{variant}`` by the kernel's name of its congestion control.
"""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from dumbbell.scenario.base import Part, Text, Whole
from dumbbell.scenario.units import Volume

__all__ = ["Commands", "Http", "Iperf3", "program"]

HTTP_PORT = "8080"
FILE = "file"


def program(
    name: str,
    client: list[str],
    server: list[str] | None = None,
    *,
    client_receives: bool = False,
    file: tuple[str, int] | None = None,
) -> dict[str, Any]:
    """Return the plan's entry for real programs."""
    return {
        "kind": "program",
        "name": name,
        "server": {"at_receiver": not client_receives, "command": server} if server else None,
        "client": {"at_receiver": client_receives, "command": client},
        "file": list(file) if file else None,
    }


class Iperf3(Part):
    """iperf3: its server where data are received, its client where they are sent."""

    transports: ClassVar[tuple[str, ...]] = ("tcp",)

    kind: Literal["iperf3"]
    parallel: Annotated[Whole, Field(ge=1, le=128)] = 1
    """Connections at a time."""
    args: list[Text] = Field(default_factory=list)
    """Further arguments of the client."""

    def plan(self) -> dict[str, Any]:
        """Return its part of the plan, as plain values."""
        client = ["iperf3", "-c", "{to}", "-B", "{from}", "-t", "{seconds}", "-J", "-C", "{variant}"]
        return program(
            "iperf3",
            [*client, "-P", str(self.parallel), *self.args],
            ["iperf3", "-s", "-1", "-B", "{to}"],
        )


class Http(Part):
    """Downloads by curl from a web server, one after the other, each over a connection of its own."""

    transports: ClassVar[tuple[str, ...]] = ("tcp",)

    kind: Literal["http"]
    tool: Literal["curl"] = "curl"
    """The program that downloads."""
    size: Volume
    """Bytes of each."""
    repeat: Annotated[Whole, Field(ge=1, le=1000)] = 1
    """The number of downloads."""

    def plan(self) -> dict[str, Any]:
        """Return its part of the plan, as plain values."""
        url = ["-o", "/dev/null", f"http://{{from}}:{HTTP_PORT}/{FILE}"]
        return program(
            "http",
            ["curl", "-sS", "-w", r"%{json}\n", *(url * self.repeat)],
            ["{python}", "-I", "{web}", "{from}", HTTP_PORT],
            client_receives=True,
            file=(FILE, self.size.bytes),
        )


class Commands(Part):
    """Any programs: the server waits where data are received, the client is the flow."""

    transports: ClassVar[tuple[str, ...]] = ("tcp", "udp")

    kind: Literal["command"]
    server: list[Text] = Field(default_factory=list)
    """The server and its arguments; it is started before the run."""
    client: Annotated[list[Text], Field(min_length=1)]
    """The client and its arguments; the flow is over when it ends."""

    def plan(self) -> dict[str, Any]:
        """Return its part of the plan, as plain values."""
        return program("command", list(self.client), list(self.server) or None)
