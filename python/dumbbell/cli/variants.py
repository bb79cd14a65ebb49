"""``dumbbell variants``: lists the congestion control variants."""

from __future__ import annotations

from dataclasses import asdict

from dumbbell.cli import front, output

__all__ = ["variants"]


@front.command("variants", "dumbbell variants", "dumbbell variants vegas")
@front.entry("variants")
@front.json("Print one JSON document instead of a table.")
def variants(name: str | None, as_json: bool) -> None:
    """List the congestion control variants, or show one."""
    from dumbbell import registry
    from dumbbell.cli.registry_entry import print_details  # loads rich

    rows = list(registry.variants().values()) if name is None else [registry.variant(name)]
    if as_json:
        output.document([asdict(row) for row in rows])
    elif name is None:
        cells = [(", ".join([v.name, *v.aliases]), v.year, v.title, ", ".join(p.name for p in v.params)) for v in rows]
        output.print_table("Variants", ["name", "year", "description", "parameters"], cells)
    else:
        v = rows[0]
        facts = {
            **({"also called": ", ".join(v.aliases)} if v.aliases else {}),
            "year": v.year,
            "source": v.source,
            "recovery": f"{v.loss_recovery}, on the stacks {', '.join(registry.recovery_stacks(v.name))}"
            if v.loss_recovery
            else "chosen by the stack",
            "answer to loss": v.on_loss,
            "answer to delay": v.on_delay,
            "answer to ECN marks": v.on_ecn,
            "traced beside cwnd": ", ".join(v.columns) or "nothing",
        }
        print_details(v.name, v.title, facts, v.params)
