"""Applications that are real programs: they run on a real kernel only.

In their arguments ``{from}`` and ``{to}`` are replaced by the addresses of the flow's ends, ``{url_from}`` and
``{url_to}`` by the same as URLs have them (IPv6 addresses in brackets), ``{seconds}`` by the whole seconds that the
flow lasts, less one, ``{variant}`` by the kernel's name of its congestion control.
"""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from pydantic import Field, model_validator

from dumbbell.scenario.base import Flag, Fraction, Part, Text, Whole, problem
from dumbbell.scenario.units import Volume

if TYPE_CHECKING:
    from dumbbell.scenario.model import Scenario

__all__ = ["Commands", "Http", "Iperf3", "own_commands", "program"]

HTTP_PORT = "8080"
HTTPS_PORT = "8443"
FILE = "file"
VERSIONS = {1.1: "--http1.1", 2: "--http2", 3: "--http3-only"}
"""Versions of HTTP over TLS, with curl's option for each."""
TLS_SERVER = ["{python}", "-I", "{web_server}", "{site}", "{from}", HTTPS_PORT]
"""The server of all three; congestion control of QUIC follows."""
NO_QUIC = "reno"
"""aioquic's congestion control where no connection uses it."""


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
        client = ["iperf3", "-c", "{to}", "-B", "{from}", "-t", "{seconds}", "-J"]  # the route has its variant
        return program("iperf3", [*client, "-P", str(self.parallel), *self.args], ["iperf3", "-s", "-1", "-B", "{to}"])


class Http(Part):
    """Downloads from a web server, one after the other, each over a connection of its own.

    Without `version`, curl downloads over HTTP/1.1 without TLS. With `version` the server is hypercorn with aioquic
    (extra `web`) and TLS 1.3; its certificate is made for the run. HTTP/3 runs over QUIC (transport = "quic").
    """

    transports: ClassVar[tuple[str, ...]] = ("tcp", "quic")

    kind: Literal["http"]
    version: Fraction | Whole | None = None
    """Version of HTTP over TLS: 1.1, 2 or 3. Default: HTTP/1.1 without TLS."""
    tool: Literal["curl", "aioquic"] | None = None
    """The program that downloads. Default: aioquic for version 3, else curl. Few builds of curl have 3."""
    size: Volume
    """Bytes of each."""
    repeat: Annotated[Whole, Field(ge=1, le=1000)] = 1
    """The number of downloads."""
    qlog: Flag = False
    """True: the client (aioquic) writes a qlog file per connection, which the results directory keeps."""

    @model_validator(mode="after")
    def _consistent(self) -> Http:
        if self.version is not None and self.version not in VERSIONS:
            raise problem(f"{self.version} given: 1.1, 2 or 3 are possible", "version")
        if self.tool == "aioquic" and self.version != 3:
            raise problem("'aioquic' given: it has version 3 only", "tool")
        if self.qlog and (self.version != 3 or self.tool == "curl"):
            raise problem("only aioquic writes qlog files: version = 3 with its default tool", "qlog")
        return self

    def check_transport(self, transport: str) -> None:
        """Refuse a version that another transport has; `problem` at ``application.version``."""
        if (self.version == 3) != (transport == "quic"):
            needs = "version 3 runs over QUIC" if transport != "quic" else "a quic flow has version 3"
            given = "no version" if self.version is None else f"{self.version:g}"
            raise problem(f"{given} given with transport = '{transport}': {needs}", "application.version")

    def plan(self) -> dict[str, Any]:
        """Return its part of the plan, as plain values."""
        if self.version is None:
            url = ["-o", "/dev/null", f"http://{{url_from}}:{HTTP_PORT}/{FILE}"]
            client = ["curl", "-sS", "-w", r"%{json}\n", *(url * self.repeat)]
            server = ["{python}", "-I", "{web}", "{from}", HTTP_PORT]
        elif self.version == 3 and self.tool != "curl":
            client = ["{python}", "-I", "{web_client}", "{site}", "{from}", HTTPS_PORT, f"/{FILE}", str(self.repeat)]
            client += ["QLOG"] * self.qlog
            server = [*TLS_SERVER, "{variant}"]
        else:
            client = ["curl", "-sSk", VERSIONS[self.version], "-w", r"%{json}\n"]
            # A name for each: curl uses the connection to a name again. The certificate is made for the run (-k).
            for number in range(self.repeat):
                name = f"{number}.server.test:{HTTPS_PORT}"
                client += ["--resolve", f"{name}:{{url_from}}", "-o", "/dev/null", f"https://{name}/{FILE}"]
            server = [*TLS_SERVER, "{variant}" if self.version == 3 else NO_QUIC]
        return program("http", client, server, client_receives=True, file=(FILE, self.size.bytes))


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


def own_commands(scenario: Scenario) -> dict[str, str]:
    """Return the commands that a scenario makes up itself, by their places.

    These are all of kind ``command``, and iperf3 with ``args``. The other kinds start only commands of Dumbbell's.
    """
    found = {}
    for flow in scenario.single_flows:
        application, place = flow.application, f"flows.{flow.name}.application"
        if isinstance(application, Commands):
            for part, command in (("server", application.server), ("client", application.client)):
                if command:
                    found[f"{place}.{part}"] = shlex.join(command)
        elif isinstance(application, Iperf3) and application.args:
            found[f"{place}.args"] = shlex.join(["iperf3", "...", *application.args])
    return found
