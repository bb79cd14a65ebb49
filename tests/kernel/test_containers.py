"""Runs in containers: imitated by namespaces with a read-only /proc/sys, and the recipe's text against the code's."""

from __future__ import annotations

import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest

from dumbbell.kernel.host.doctor import PROGRAMS
from dumbbell.kernel.host.features import CAPABILITIES, READ_ONLY_SETTINGS
from hosts import scenario
from required import require, require_programs, require_root

ROOT = Path(__file__).parents[2]
READ_ONLY = "mount --bind /proc/sys /proc/sys && mount -o remount,bind,ro /proc/sys && "
"""As container engines mount it."""
MASKED = "mount --bind /dev/null /proc/interrupts && "
"""As container engines hide parts of /proc: in a user namespace below no other /proc can be mounted then."""


def run_within(options: list[str], script: str, place: Path) -> subprocess.CompletedProcess[str]:
    """Run a scenario for a second in namespaces, after a script in them."""
    file = place / "contained.toml"
    file.write_text(scenario(duration="1 s").to_toml())
    line = f"{sys.executable} -m dumbbell run {file} --backend kernel -o emulation=link -o calibration=off"
    return subprocess.run(["unshare", *options, "sh", "-c", script + line], capture_output=True, text=True, check=False)


@pytest.mark.usefixtures("require_link_emulation")
def test_a_run_works_where_settings_are_read_only(tmp_path: Path) -> None:
    require_root()
    require_programs("unshare")
    done = run_within(["--mount", "--pid", "--fork", "--mount-proc"], READ_ONLY, tmp_path)
    assert (done.returncode, "reno" in done.stdout) == (0, True), done.stderr


@pytest.mark.usefixtures("require_link_emulation")
def test_a_run_works_in_a_user_namespace(tmp_path: Path) -> None:
    """The recipe without an engine: root of a user namespace, with processes and mounts of its own."""
    require_programs("unshare")
    within = ["--user", "--map-root-user", "--mount", "--pid", "--fork", "--mount-proc"]
    allowed = subprocess.run(["unshare", *within, "true"], capture_output=True, check=False).returncode == 0
    require("users", None if allowed else "no user namespace can be made")
    done = run_within(within, READ_ONLY, tmp_path)
    assert (done.returncode, "reno" in done.stdout) == (0, True), done.stderr


@pytest.mark.usefixtures("require_link_emulation")
def test_where_no_settings_can_be_made_the_message_has_the_options(tmp_path: Path) -> None:
    require_programs("unshare")
    within = ["--user", "--map-root-user", "--mount"]
    script = f"{MASKED}{READ_ONLY}unshare {' '.join(within)} "
    possible = subprocess.run(["unshare", *within, "sh", "-c", script + "true"], capture_output=True, check=False)
    require("users", None if possible.returncode == 0 else "no user namespace can be made")
    done = run_within(within, script, tmp_path)
    assert done.returncode == 2, done.stdout
    [line] = done.stderr.strip().splitlines()
    assert "--security-opt systempaths=unconfined" in line


def test_the_recipe_has_every_option_that_messages_ask_for() -> None:
    page = (ROOT / "docs/security.md").read_text(encoding="utf-8")
    recipe = page[page.index("docker run") :].partition("```")[0].replace("\\\n", " ")
    for message in (CAPABILITIES, READ_ONLY_SETTINGS):
        words = message.split()
        options = {f"{w} {v}" for w, v in pairwise(words) if w.startswith("--")}
        assert options
        for option in options:
            assert option in recipe, option


def test_the_image_has_the_programs_and_files_that_it_names() -> None:
    lines = (ROOT / "packaging/Containerfile").read_text(encoding="utf-8")
    for name in ("iperf3", "ping", "curl"):
        assert PROGRAMS[name][1] in lines
    assert 'ENTRYPOINT ["dumbbell"]' in lines
    page = (ROOT / "docs/security.md").read_text(encoding="utf-8")
    assert "docker build -t dumbbell -f packaging/Containerfile ." in page
