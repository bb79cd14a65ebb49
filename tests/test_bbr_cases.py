"""The test cases of the BBR draft's appendix, each a simulation (validation/bbr_cases)."""

from __future__ import annotations

import pytest

import cases


def test_every_case_is_there() -> None:
    assert set(cases.CHECKS) | set(cases.LAW_LEVEL) == set(range(1, 23))
    assert len(list((cases.HERE / "cases").glob("a*.toml"))) == 22


@pytest.mark.parametrize("number", sorted(cases.CHECKS))
def test_case(number: int) -> None:
    case = cases.examine(number)
    assert case.holds, [what for what, holds in case.seen if not holds]
