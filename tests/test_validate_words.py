"""`dumbbell validate` says in words what it has found, and its exit code too."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from dumbbell.cli import app
from dumbbell.validate import Comparison
from dumbbell.validate.deviations import Difference
from dumbbell.validate.words import sentences, tolerances

ROOT = Path(__file__).resolve().parent.parent


def comparison(**figures: tuple[float, float]) -> Comparison:
    differences = {name: Difference(name, sim, kernel, 0.0) for name, (sim, kernel) in figures.items()}
    return Comparison("my", "f", "cubic", differences, None, None)


def test_differences_are_in_words() -> None:
    # 73.6 = 7.36 x 10: "+636 %" in other words.
    found = sentences([comparison(retransmitted_packets=(73.6, 10.0), goodput_bps=(9e6, 10e6)), comparison()])
    assert found == [
        "1 of 2 flows are within in every figure.",
        "my, flow f (cubic): goodput is 10 % smaller in the simulator (9 Mbit/s in the simulator, 10 on the kernel); "
        "the number of retransmissions is 7.36 times as large in the simulator as on the kernel (73.6 packets in the "
        "simulator, 10 on the kernel).",
    ]
    assert "goodput by at most 1 %" in tolerances()


@pytest.mark.parametrize(("pattern", "code"), [("single/reno/10M40/0.25bdp", 0), ("single/vegas/100M20/0.25bdp", 1)])
def test_the_exit_code_is_one_if_a_flow_is_outside(pattern: str, code: int) -> None:
    done = CliRunner().invoke(app, ["validate", "--stored", str(ROOT / "validation" / "linux"), "--only", pattern])
    assert done.exit_code == code, done.output
    assert "A flow is within if both sides differ in" in done.stdout
    assert f"{1 - code} of 1 flows are within in every figure." in done.stdout
