"""The forest's file has the trees of scikit-learn: the same shares, but for their 8 bits.

The tests of the crate `capture` read a small forest, which `python tests/validation/test_forest_file.py` renews.
"""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from forest_file import forest_file, parts, trees_of
from required import require_packages
from thresholds import FLOOR, NEVER, OTHER, Vote, are_right, calibrate

STORED = Path(__file__).parents[2] / "crates" / "capture" / "tests" / "forest" / "small"
CLASSES = ["bbr1", "cubic", "other", "reno-like"]
ROUNDED = 0.5 / 255 + 1e-6
"""A share of a tree has 8 bits."""


def forest() -> tuple[Any, npt.NDArray[np.float32]]:
    """Train a forest of eight trees with transfers at random, and draw others."""
    require_packages("sklearn")
    from sklearn import ensemble

    draw = np.random.default_rng(37)
    rows = draw.normal(size=(360, 6)).astype(np.float32)
    rows[:, 5] = np.round(rows[:, 5])  # values that are equal to thresholds' neighbors
    names = np.array(CLASSES)[(rows[:, 0] + draw.normal(scale=0.4, size=360) > 0) + 2 * (rows[:, 5] > 0)]
    model = ensemble.RandomForestClassifier(8, max_depth=7, min_samples_leaf=2, random_state=1)
    return model.fit(rows[:300], names[:300], np.where(rows[:300, 1] > 0, 3.0, 1.0)), rows[300:]


def as_file(model: Any) -> bytes:
    return forest_file(list(model.classes_), [0.5] * 4, [(0.0, 0.6), (0.7, 0.9)], trees_of(model))


def shares(trees: bytes, classes: int, row: npt.NDArray[np.float32]) -> npt.NDArray[np.float64]:
    """Walk through the trees, as forest.rs describes them."""
    _, count = struct.unpack_from("<BH", trees)
    at, found = 3, np.zeros(classes)
    for _ in range(count):
        (size,) = struct.unpack_from("<H", trees, at)
        nodes: list[Any] = []
        at += 2
        for _ in range(size):
            if trees[at] == 255:
                pairs = trees[at + 2 : at + 2 + 2 * trees[at + 1]]
                nodes.append(dict(zip(pairs[::2], pairs[1::2], strict=True)))
                at += 2 + len(pairs)
            else:
                nodes.append(struct.unpack_from("<BfH", trees, at))
                at += 7
        node = 0
        while not isinstance(nodes[node], dict):
            feature, threshold, larger = nodes[node]
            node = node + 1 if row[feature] <= threshold else larger
        for name, share in nodes[node].items():
            found[name] += share / 255 / count
    assert at == len(trees)
    return found


def test_the_file_has_the_shares_of_scikit_learn() -> None:
    model, others = forest()
    classes, trees = parts(as_file(model))
    assert classes == list(model.classes_) == CLASSES
    assert trees == trees_of(model)
    for row, expected in zip(others, model.predict_proba(others), strict=True):
        assert shares(trees, len(classes), row) == pytest.approx(expected, abs=ROUNDED)


def test_the_stored_forest_has_the_classes_that_the_crate_expects() -> None:
    classes, trees = parts(STORED.with_suffix(".bin").read_bytes())
    assert classes == CLASSES
    for line in STORED.with_suffix(".csv").read_text(encoding="utf-8").splitlines():
        values = np.array(line.split(","), np.float64)
        assert shares(trees, 4, values[:6].astype(np.float32)) == pytest.approx(values[6:], abs=ROUNDED)


def votes(name: str, backend: str, *shares_and_right: tuple[float, bool]) -> list[Vote]:
    return [Vote(n, n % 5, backend, name, share, right) for n, (share, right) in enumerate(shares_and_right)]


def test_a_class_is_sure_from_the_share_at_which_enough_names_are_right() -> None:
    # 24 right names down to a share of 0.67. With the next one 24 of 25 are right (96 %), then 24 of 26 (92 %).
    right = [(0.9 - 0.01 * n, True) for n in range(24)]
    others = [(0.66, False), (0.65, False), (0.36, True), (0.34, False), (0.32, True), (0.3, False)]
    found = calibrate(votes("cubic", "sim", *right, *others), ["bic", "cubic"])
    assert found.thresholds == pytest.approx({"bic": NEVER, "cubic": 0.66})
    assert found.steps[0] == pytest.approx((0.0, 27 / 32))  # Laplace's rule: (26 + 1) / (30 + 2)
    assert [share for share, _ in found.steps] == pytest.approx(np.arange(19) / 20)
    assert [part for _, part in found.steps] == sorted(part for _, part in found.steps)
    assert calibrate(votes("cubic", "sim", *[(0.2, True)] * 30), ["cubic"]).thresholds["cubic"] == pytest.approx(FLOOR)
    assert calibrate(votes(OTHER, "sim", *[(0.9, True)] * 30), [OTHER]).steps == []


def test_names_are_right_on_each_back_end_too() -> None:
    kernel = votes("cubic", "uml", *[(0.9, True)] * 8)
    simulated = votes("cubic", "sim", *[(0.9, True)] * 92)
    assert are_right([*kernel, *simulated], 0.95)
    assert are_right([*kernel, *simulated, *votes("cubic", "uml", (0.9, False))], 0.95)  # one of nine is no evidence
    assert not are_right([*kernel, *simulated, *votes("cubic", "uml", *[(0.9, False)] * 2)], 0.95)
    assert not are_right(simulated[:19], 0.95)


if __name__ == "__main__":
    made, drawn = forest()
    STORED.with_suffix(".bin").write_bytes(as_file(made))
    table = np.hstack([drawn.astype(np.float64), made.predict_proba(drawn)])
    STORED.with_suffix(".csv").write_text(
        "".join(",".join(f"{value:.9g}" for value in row) + "\n" for row in table.tolist()), encoding="utf-8"
    )
