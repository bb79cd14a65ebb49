"""`dumbbell validate` says in words what it has found, and its exit code too."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from click.testing import CliRunner

from dumbbell.cli import app
from dumbbell.kernel.validate import Comparison, Measured, compare, load
from dumbbell.kernel.validate.deviations import Difference
from dumbbell.kernel.validate.measurements import STEP_S
from dumbbell.kernel.validate.page import content
from dumbbell.kernel.validate.words import sentences, tolerances
from dumbbell.plots import Drawn
from dumbbell.report.html_page import page

Floats = npt.NDArray[np.float64]

ROOT = Path(__file__).resolve().parents[2]


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
    done = CliRunner().invoke(app, ["validate", "stored", str(ROOT / "validation" / "linux"), "--only", pattern])
    assert done.exit_code == code, done.output
    assert "A flow is within if both sides differ in" in done.stdout
    assert f"{1 - code} of 1 flows are within in every figure." in done.stdout


def fine(measured: Measured, seed: int) -> Measured:
    """Return measurements with curves as a run has them: a value for each 0.2 s, none twice."""
    random = np.random.default_rng(seed)

    def curve(values: Floats, bins: int) -> Floats:
        repeated: Floats = np.repeat(values, bins)
        return repeated + random.normal(0, 1, len(repeated))

    return Measured(
        [
            replace(f, cwnd=curve(f.cwnd, n), srtt=curve(f.srtt, n), step_s=STEP_S)
            for f in measured.flows
            for n in [round(f.step_s / STEP_S) if len(f.cwnd) > 2 else 1]
        ]
    )


def test_the_page_of_all_cases_is_below_2_mb() -> None:
    held = load(ROOT / "validation" / "linux")
    sides = [{case.name: fine(measured, seed) for case, measured in held} for seed in (1, 2)]
    cases = [case for case, _ in held]
    compared = [c for case in cases for c in compare(case.name, sides[0][case.name], sides[1][case.name])]
    made = content(cases, sides[0], sides[1], compared, "6.12", "dumbbell validate")
    assert len(made.pictures) > 60
    # A panel with two curves has some 20 kB.
    drawn = [
        Drawn(p, Path(f"{p.name}.png"), Path(f"{p.name}.svg"), f"<svg>{'x' * 20_000 * len(p.panels)}</svg>")
        for p in made.pictures
    ]
    text = page(made, drawn)
    assert 1e6 < len(text.encode()) < 2e6
    shown = sum(f'<figure id="{p.name}"' in text for p in made.pictures)
    linked = [p.name for p in made.pictures if f'<a href="figures/{p.name}.svg">' in text]
    assert shown > 3
    assert shown + len(linked) == len(made.pictures)
