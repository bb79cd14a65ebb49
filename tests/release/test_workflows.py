"""Workflows: actions are pinned by hash, jobs have few permissions and an end, and call commands that exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


@pytest.fixture(params=WORKFLOWS, ids=lambda path: path.stem)
def text(request: pytest.FixtureRequest) -> str:
    path: Path = request.param
    return path.read_text(encoding="utf-8")


def test_actions_are_pinned_by_hash_with_their_version(text: str) -> None:
    used = re.findall(r"uses: (.*)", text)
    assert used
    assert [each for each in used if not re.fullmatch(r"[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", each)] == []


def test_one_action_has_one_hash() -> None:
    used = {each for path in WORKFLOWS for each in re.findall(r"uses: (\S+@\S+)", path.read_text(encoding="utf-8"))}
    assert len(used) == len({each.split("@")[0] for each in used})


def test_permissions_concurrency_and_an_end(text: str) -> None:
    assert "\npermissions:\n  contents: read\n" in text
    assert "\nconcurrency:\n  group: " in text
    assert text.count("runs-on:") == text.count("timeout-minutes:")
    assert text.count("actions/checkout@") == text.count("persist-credentials: false")


def test_their_commands_exist(text: str) -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    assert set(re.findall(r"(?:run: make|- target:) ([a-z-]+)", text)) <= targets


def test_each_week_dependencies_and_unsafe_code_are_checked() -> None:
    """Licenses, bans and sources need no data of others: a source of advisories that can't be reached hides nothing."""
    weekly = (ROOT / ".github" / "workflows" / "security.yml").read_text(encoding="utf-8")
    assert "\n  schedule:\n    - cron: " in weekly
    assert set(re.findall(r"- target: ([a-z-]+)", weekly)) == {"deny", "advisories", "audit", "miri"}
    make = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert "\tcargo deny --locked --offline check licenses bans sources\n" in make
    assert re.search(r"^miri:.*\n\t.* cargo \+nightly miri test ", make, re.MULTILINE)
