"""``dumbbell stacks``: lists the presets of the TCP and QUIC endpoints."""

from __future__ import annotations

from dataclasses import asdict

from dumbbell.cli import front, output

__all__ = ["stacks"]


@front.command("stacks", "dumbbell stacks", "dumbbell stacks ns2")
@front.entry("stacks")
@front.json("Print one JSON document instead of a table.")
def stacks(name: str | None, as_json: bool) -> None:
    """List the presets of the TCP and QUIC endpoints, or show one."""
    from dumbbell import registry
    from dumbbell.cli.registry_entry import print_details  # loads rich

    rows = list(registry.stacks().values()) if name is None else [registry.stack(name)]
    if as_json:
        output.document([asdict(row) for row in rows])
    elif name is None:
        default = {registry.default_stack(transport) for transport in ("tcp", "quic")}
        presets = [(s.name, s.transport, "yes" if s.name in default else "", s.title) for s in rows]
        output.print_table("Stack presets", ["name", "transport", "default", "description"], presets)
    else:
        s = rows[0]
        print_details(s.name, s.title, {"description": s.doc}, s.params)
        if s.facts:
            cells = [(f.name, f.value, f.doc) for f in s.facts]
            output.print_table("What a scenario can't set", ["name", "value", "description"], cells)
