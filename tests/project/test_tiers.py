"""Each test has its marker without a list of tests: by folder, by fixture, by what it requires."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

import required
from browser import probe
from tiers import MARKERS, needs

MAKEFILE = (Path(__file__).parents[2] / "Makefile").read_text(encoding="utf-8")


def root() -> None:
    required.require_root()


def root_in_a_helper() -> Callable[[], None]:
    def call() -> None:
        root()

    return call


def users() -> None:
    required.require("users", None)


def programs() -> None:
    required.require_programs("iperf3")


def packages_and_linux() -> None:
    required.require_packages("numpy")
    required.require("linux", None)


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (root, {"kernel"}),
        (root_in_a_helper, {"kernel"}),
        (users, {"kernel"}),
        (programs, {"programs"}),
        (probe, {"browser", "programs"}),
        (packages_and_linux, set()),
    ],
)
def test_code_shows_what_a_test_requires(function: Callable[[], None], expected: set[str]) -> None:
    assert needs(function) == expected


def test_this_test_is_quick(request: pytest.FixtureRequest) -> None:
    assert request.node.get_closest_marker("quick")
    assert required.quick


@pytest.mark.parametrize("group", ["host", "users", "uml", "programs", "studio"])
def test_a_quick_test_requires_no_root_kernel_program_or_browser(group: required.Group) -> None:
    """Where the requirement is fulfilled too: otherwise the test would skip on other machines, unnoticed."""
    with pytest.raises(pytest.fail.Exception, match=f"a quick test requires '{group}'"):
        required.require(group, None)


def test_each_marker_is_in_a_target_of_make() -> None:
    choices = re.findall(r"PYTEST.* -m (.*)", MAKEFILE)
    chosen = set(re.findall(r"\w+", " ".join(choices))) - {"not", "and"}
    assert chosen <= set(MARKERS)
    assert {"quick", "kernel", "studies", "browser", "cluster", "host_clock"} <= chosen
