"""The two kinds of own code in scenarios, variants and queue disciplines: what tests of both need."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dumbbell import Results
from python_disciplines import DROPTAIL

__all__ = ["DISCIPLINE", "KINDS", "LOUD", "NEWRENO", "VARIANT", "Kind", "alike", "drops"]

LOUD = """
import os, pathlib
print("loaded")
os.system("echo loaded too")
pathlib.Path(__file__).with_name("ran").touch()
"""
"""Before other code: what shows that it was loaded."""

# NewReno as crates/cc has it: with the same window after each event, the same bytes follow.
NEWRENO = '''
class Mine:
    """Reno"""

    columns = ("increase",)

    def __init__(self, setup, increase=1.0):
        self.mss, self.cwnd, self.ssthresh = setup.mss, setup.initial_window, setup.ssthresh
        self.increase = increase

    def on_ack(self, ack):
        if ack.in_recovery or ack.acked == 0 or not ack.cwnd_limited:
            return
        if self.cwnd < self.ssthresh:
            self.cwnd += min(ack.acked, self.mss)
        else:
            self.cwnd += self.increase * self.mss * ack.acked / self.cwnd

    def on_congestion(self, event):
        if event.kind != "timeout" or event.backoffs == 0:
            self.cwnd = self.ssthresh = max(0.5 * event.window, 2 * self.mss)
        if event.kind in ("timeout", "collapse"):
            self.cwnd = self.mss
'''


@dataclass(frozen=True)
class Kind:
    """A kind of own code, with a class in ``mine.py`` and a scenario that uses it."""

    name: str
    """Its command; with an s, its table in scenarios."""
    noun: str
    builtin: str
    place: str
    """Where the scenario uses it."""
    code: str
    example: str
    """The class in the code."""
    scenario: str
    options: tuple[str, ...] = ()
    """Of the command line, with which every method is called."""

    @property
    def own(self) -> str:
        """The scenario's words for it."""
        return f'{{ python = "mine.py:{self.example}" }}'

    def written(self, given: str) -> str:
        """Return the scenario with other words for it."""
        return self.scenario.replace(self.own, given)

    def tabled(self, name: str, table: str, given: str) -> str:
        """Return the scenario with other words, and a table that gives the name its code."""
        return self.written(given).replace("[[flows]]", f"[{self.name}s]\n{name} = {table}\n\n[[flows]]", 1)

    def with_lines(self, *lines: str) -> str:
        """Return the code with other lines at the begin of the first method that a run calls again and again."""
        return self.code.replace("        if ", "".join(f"        {line}\n" for line in lines) + "        if ", 1)

    def written_to(self, folder: Path, code: str | None = None, scenario: str | None = None) -> Path:
        """Write the code and the scenario into a folder; returns the scenario's file."""
        (folder / "mine.py").write_text(self.code if code is None else code)
        (folder / "own.toml").write_text(scenario or self.scenario)
        return folder / "own.toml"


NETWORK = """
repetitions = 2
start_jitter = "50 ms"

[network]
access = { rate = "100 Mbit/s", delay = "1 ms" }
bottleneck = { rate = "5 Mbit/s", delay = "10 ms", """
VARIANT = Kind(
    "variant", "a variant", "cubic", "flows.a.variant", NEWRENO, "Mine",
    f"""
name = "own"
duration = "3 s"
{NETWORK}queue = {{ limit = "20 packets" }} }}

[[flows]]
name = "a"
variant = {{ python = "mine.py:Mine" }}
stack = "rfc"
""",
    ("duration=20 s", "network.bottleneck.queue.limit=5 packets", "network.bottleneck.loss=5 %"),
)  # fmt: skip
DISCIPLINE = Kind(
    "discipline", "a queue discipline", "red", "network.bottleneck.queue", DROPTAIL, "Tail",
    f"""
name = "own"
duration = "4 s"
{NETWORK}queue = {{ python = "mine.py:Tail" }} }}

[[flows]]
name = "a"
variant = "cubic"

[[flows]]
name = "b"
variant = "newreno"
start = "500 ms"
""",
)  # fmt: skip
KINDS = [VARIANT, DISCIPLINE]


def alike(results: Results) -> dict[str, Any]:
    """Return the document of results without the names of disciplines and scenario."""
    runs = results.document()["runs"]
    for run in runs:
        for queue in run["queues"]:
            del queue["discipline"]
        run.pop("cell", None)
    return {"runs": runs}


def drops(results: Results) -> int:
    return int(results.queues["drops"].sum())
