"""``dumbbell disciplines``: lists the queue disciplines."""

from __future__ import annotations

from dataclasses import asdict

from dumbbell.cli import front, output

__all__ = ["disciplines"]


@front.command("disciplines", "dumbbell disciplines", "dumbbell disciplines red")
@front.entry("disciplines")
@front.json("Print one JSON document instead of a table.")
def disciplines(name: str | None, as_json: bool) -> None:
    """List the queue disciplines, or show one."""
    from dumbbell import registry
    from dumbbell.cli.registry_entry import print_details  # loads rich

    rows = list(registry.disciplines().values()) if name is None else [registry.discipline(name)]
    if as_json:
        output.document([asdict(row) for row in rows])
    elif name is None:
        cells = [(d.name, d.year, d.title, ", ".join(p.name for p in d.params)) for d in rows]
        output.print_table("Queue disciplines", ["name", "year", "description", "parameters"], cells)
    else:
        d = rows[0]
        facts = {"year": d.year, "source": d.source, "description": d.doc}
        facts["traced beside its backlog"] = ", ".join(d.columns) or "nothing"
        facts["in the kernel"] = ", ".join(d.kernel) or "none: the simulator and link emulation have it"
        print_details(d.name, d.title, facts, d.params)
