"""Runs external programs for the comparison with tshark."""

from __future__ import annotations

import shlex
import subprocess


def run(command: str, *, check: bool = True) -> str:
    """Run a command and return its output."""
    done = subprocess.run(shlex.split(command), capture_output=True, text=True, check=False)
    if check and done.returncode:
        raise RuntimeError(f"{command}: {done.stderr.strip()}")
    return done.stdout
