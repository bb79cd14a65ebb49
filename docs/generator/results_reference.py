"""Every column of the results, with the definition from the source."""

from __future__ import annotations

import rust_docs
import trace_columns
from dumbbell import registry
from md import escaped, table

RESULT = "crates/plan/src/result.rs"
TYPES = {"String": "text", "Name": "text", "f64": "number", "Optional": "number", "u64": "count"}
UNITS = [("_bps", "bit/s"), ("_ms", "ms"), ("_s", "s"), ("_bytes", "bytes"), ("_packets", "packets")]


def metrics(struct: str) -> str:
    """Return the columns of one frame, from the fields of its struct."""
    rows = []
    for field in rust_docs.structs(RESULT)[struct].fields:
        optional = field.type.startswith("Option")
        kind = TYPES[field.type.removeprefix("Option<").removesuffix(">")]
        unit = next((unit for end, unit in UNITS if field.name.endswith(end)), "")
        if not unit and field.name == "bytes":
            unit = "bytes"
        what = f"{kind}, {unit}" if unit else kind
        rows.append([f"`{field.name}`", what + (", or null" if optional else ""), escaped(field.doc)])
    return table(["column", "type, unit", "definition"], rows)


def trace(name: str) -> str:
    """Return the columns of one kind of traced table."""
    tables = trace_columns.TABLES | {"kernel-flow": trace_columns.KERNEL_FLOW}
    columns = tables[name].items()
    return table(["column", "unit", "definition"], [[f"`{c}`", unit, doc] for c, (unit, doc) in columns])


def codes(what: str) -> str:
    """Return the words for the numbers of a column."""
    words = {"phase": registry.phases, "reason": registry.drop_reasons}[what]()
    return table([f"`{what}`", "word"], [[number, word] for number, word in enumerate(words)])
