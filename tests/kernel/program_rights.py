"""What a program of a scenario is and can do, by its own account: it has no rights, and sees its folder only."""

from __future__ import annotations

from pathlib import Path
from typing import Any

__all__ = ["CAN", "account", "check_no_rights"]

CAN = """
def can(action):
    try:
        action()
        return True
    except OSError:
        return False
"""
"""A function for programs in Python."""


def account(secret: Path, **more: str) -> list[str]:
    """Return the command of a program that prints it as JSON, with the values of more expressions in Python.

    ``secret`` is made: a file that only its owner can read.
    """
    secret.write_text("secret")
    secret.chmod(0o600)
    expressions = {
        "user": "os.getuid()",
        "capabilities": "int(status['CapEff'], 16) | int(status['CapBnd'], 16)",
        "new": "int(status['NoNewPrivs'])",
        "environment": "sorted(os.environ)",
        "run": "os.listdir('/run')",
        "here": "os.getcwd()",
        "writes here": "can(lambda: open('there', 'w'))",
        "writes": "can(lambda: open('/var/tmp/there', 'w'))",
        "reads": f"can(lambda: open({str(secret)!r}))",
        "kills": "can(lambda: os.kill(1, 9))",
        **more,
    }
    values = ", ".join(f"{name!r}: {text}" for name, text in expressions.items())
    script = f"""
import glob, json, os, socket
{CAN}
status = dict(line.split(":", 1) for line in open("/proc/self/status").read().splitlines())
print(json.dumps({{{values}}}))
"""
    return ["python3", "-I", "-c", script]


def check_no_rights(about: dict[str, Any]) -> None:
    assert (about["capabilities"], about["new"]) == (0, 1)
    assert set(about["environment"]) <= {"HOME", "LANG", "LC_CTYPE", "PATH", "TMPDIR"}
    assert (about["run"], about["here"]) == (["dumbbell"], "/run/dumbbell")
    assert (about["writes here"], about["writes"], about["kills"]) == (True, False, False)
