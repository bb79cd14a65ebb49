"""What is common to the tests of quick studies: the properties of all, and readers of the files."""

from __future__ import annotations

import csv
import json
from pathlib import Path

from dumbbell.studies import Done, Study, Verdict
from whole_verdicts import unlike_whole

__all__ = ["check_quick", "check_quick_in", "table", "verdicts"]


def table(done: Done, name: str) -> list[dict[str, str]]:
    """Read a table as it was written."""
    with (done.out / "tables" / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def verdicts(done: Done) -> dict[str, str]:
    """Return the verdicts as they were written, by claim."""
    content = json.loads((done.out / "study.json").read_text(encoding="utf-8"))
    return {claim["id"]: claim["verdict"] for claim in content["claims"]}


def check_quick(ran: Done) -> None:
    """Check the properties of every quick study."""
    check_quick_in(ran.study, ran.out)


def check_quick_in(study: Study, out: Path) -> None:
    """Check them in the files that a study has written."""
    content = json.loads((out / "study.json").read_text())
    assert [c["id"] for c in content["claims"]] == [c.id for c in study.paper.judged]
    for claim in content["claims"]:
        assert claim["verdict"] in set(Verdict)
        assert claim["rule"]
        assert claim["why"]
        assert claim["measured"] or claim["verdict"] == Verdict.NOT_MEASURED
        assert claim["needs"] is None or claim["verdict"] == Verdict.UNDECIDED
        assert "nan" not in claim["why"].split()
    assert unlike_whole(study.name, content["claims"]) == {}
    assert content["figures"]
    page = (out / content["report"]).read_text()
    for figure in content["figures"]:
        assert all((out / figure[key]).stat().st_size > 0 for key in ("png", "svg", "rows"))
        assert f'<figure id="{figure["name"]}"' in page
        assert figure["reading"].endswith(".")
        assert "nan" not in figure["reading"].split()
    shown = {f["name"] for f in content["figures"]} | {t["name"] for t in content["tables"]}
    for exhibit in study.paper.exhibits:
        assert set(exhibit.here) <= shown, exhibit.id
    if study.paper.listed:
        assert all(c["verdict"] != Verdict.NOT_MEASURED for c in content["claims"])
        assert {"report-claims", "report-exhibits", "report-setup"} <= shown
    for table in content["tables"]:
        assert (out / table["rows"]).stat().st_size > 0
