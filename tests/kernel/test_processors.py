"""One processor for each virtual machine."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import ExitStack

from dumbbell.kernel.uml.processors import claimed, pinned


def test_each_run_has_a_processor_until_there_are_none() -> None:
    have = sorted(os.sched_getaffinity(0))
    with ExitStack() as runs:
        got = [runs.enter_context(claimed()) for _ in have]
        # Others on this machine may have claimed some.
        numbers = [n for n in got if n is not None]
        assert len(set(numbers)) == len(numbers)
        assert set(numbers) <= set(have)
        with claimed() as more:
            assert more is None
    with claimed() as again:
        assert again in have or not numbers


def test_what_is_started_stays_there_and_this_thread_does_not() -> None:
    before = os.sched_getaffinity(0)
    number = max(before)
    command = [sys.executable, "-c", "import os; print(os.sched_getaffinity(0))"]
    with pinned(number):
        output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert output.strip() == str({number})
    assert os.sched_getaffinity(0) == before
    with pinned(None):
        assert os.sched_getaffinity(0) == before
