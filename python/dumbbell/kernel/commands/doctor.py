"""``dumbbell doctor``: lists the features of this host."""

from __future__ import annotations

from pathlib import Path

import click

from dumbbell.cli import front, output

__all__ = ["doctor"]


@front.command("doctor", "dumbbell doctor", "dumbbell doctor --hosts hosts.toml    # the machines of --backend ssh")
@click.option(
    "--hosts",
    type=front.file(),
    metavar="FILE",
    help="Examine the machines of this file instead, over SSH: whether --backend ssh can use them.",
)
@front.json()
def doctor(hosts: Path | None, as_json: bool) -> None:
    """List the features that this host supports, and how to add the others."""
    from dumbbell.kernel.host.doctor import examine
    from dumbbell.kernel.ssh.doctor import examine_hosts

    report = examine() if hosts is None else examine_hosts(hosts)
    if as_json:
        output.document(report.document())
        return
    for title, findings in report.sections.items():
        output.print_table(title, ["", "state", "how to get it"], [(f.name, f.state, f.remedy or "") for f in findings])
