"""One version everywhere, and a changelog that states what users have to know of it."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

import dumbbell

ROOT = Path(__file__).parents[2]
VERSION: str = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))["workspace"]["package"]["version"]
PAGE = 100
"""Lines of a page, of at most 120 characters each."""
CHANGES = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
RELEASES = re.split(r"(?m)^## ", CHANGES)[1:]


def test_the_built_version_is_that_of_the_sources() -> None:
    assert dumbbell.__version__ == VERSION


@pytest.mark.parametrize("folder", ["", "fuzz", "validation/quic/peers"])
def test_lock_files_have_the_version(folder: str) -> None:
    packages = tomllib.loads((ROOT / folder / "Cargo.lock").read_text(encoding="utf-8"))["package"]
    versions = {each["version"] for each in packages if each["name"].startswith("dumbbell-") and "source" not in each}
    assert versions - {"0.0.0"} == {VERSION}  # 0.0.0: programs of these folders, which have no releases


def test_the_changelog_begins_with_this_version_or_the_next() -> None:
    headings = [release.splitlines()[0] for release in RELEASES]
    assert VERSION in headings[:2]
    assert all(re.fullmatch(r"\d+\.\d+\.\d+", heading) for heading in headings)


@pytest.mark.parametrize("release", RELEASES, ids=lambda release: release.split("\n", 1)[0])
def test_a_release_states_on_one_page_if_results_change(release: str) -> None:
    lines = release.splitlines()
    assert len(lines) <= PAGE
    assert max(map(len, lines)) <= 120
    change = re.match(r"\*\*Results change: (yes|no)\*\*", lines[2])
    assert change is not None
    assert (change[1] == "yes") == ("| which results change |" in release)


def test_links_of_the_changelog_lead_to_pages() -> None:
    links = re.findall(r"\]\(([^)#:]+)[)#]", CHANGES)
    assert len(links) > 10
    for link in links:
        assert (ROOT / link).exists(), link
