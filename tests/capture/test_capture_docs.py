"""Every column that an analysis gives is explained in the documentation, and nothing else is."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from captures import connection, pcap
from dumbbell import capture

DOCS = Path(__file__).parents[2] / "docs"


def explained(name: str) -> set[str]:
    """Return the names in the first cells of the table behind the mark."""
    text = (
        DOCS / ("how-to/pair-captures.md" if name.startswith("pair.") else "reference/capture-tables.md")
    ).read_text(encoding="utf-8")
    table = text.split(f"<!-- columns: {name} -->")[1].strip().split("\n\n")[0]
    cells = [row.split("|")[1] for row in table.splitlines()[2:]]
    labels = set(capture.Capture.labels.fget(None)) if "the labels" in table else set()  # type: ignore[attr-defined]
    return labels | {word for cell in cells for word in re.findall(r"`([\w-]+)`", cell)}


@pytest.fixture(scope="module")
def columns(tmp_path_factory: pytest.TempPathFactory) -> dict[str, set[str]]:
    folder = tmp_path_factory.mktemp("captures")
    for name in ("a", "b"):
        (folder / f"{name}.pcap").write_bytes(pcap(connection()))
    found = capture.analyze(folder / "a.pcap")
    both = capture.pair(folder / "a.pcap", folder / "b.pcap", matches=True)
    assert both.matches is not None
    return {
        **{name: set(table.columns) for name, table in found.tables.items()},
        "properties": set(found.properties[0]),
        "lengths": set(found.lengths.columns),
        "packets": set(found.packets.collect_schema().names()),
        "sacks": set(found.sacks.collect_schema().names()),
        "pair.flows": set(both.flows.columns),
        "pair.series": set(both.series.columns),
        "pair.matches": set(both.matches.columns),
    }


def test_columns(columns: dict[str, set[str]]) -> None:
    assert len(columns) == 18
    for name, given in columns.items():
        assert explained(name) == given, name


def test_families_and_kinds_are_explained() -> None:
    # Fails if a warning has a kind that the page does not list.
    source = Path(__file__).parents[2] / "crates" / "capture" / "src" / "analyze" / "warnings.rs"
    kinds = set(re.findall(r'warnings\.add\(\s*"([\w ]+)"', source.read_text(encoding="utf-8")))
    page = (DOCS / "reference" / "capture-warnings.md").read_text(encoding="utf-8")
    assert len(kinds) >= 12
    assert all(f"`{kind}`" in page for kind in kinds), kinds
