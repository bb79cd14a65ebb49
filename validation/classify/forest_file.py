"""The file of a forest, `forest.bin`, which `crates/capture/src/flow/classify/forest.rs` reads and describes."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any

import numpy as np

__all__ = ["forest_file", "parts", "trees_of"]

MAGIC = b"DBF1"
LEAF = 255


def forest_file(
    classes: Sequence[str], thresholds: Sequence[float], steps: Sequence[tuple[float, float]], trees: bytes
) -> bytes:
    """Return the bytes of a forest.

    Parameters
    ----------
    classes, thresholds : sequences of str and float
        The names of the classes, and the smallest share from which each is sure.
    steps : sequence of (float, float)
        Shares, and the part of right names at or above each, in increasing order.
    trees : bytes
        Those of `trees_of`.
    """
    features, count = struct.unpack_from("<BH", trees)
    named = b"".join(
        struct.pack("<B", len(name)) + name.encode() + struct.pack("<f", threshold)
        for name, threshold in zip(classes, thresholds, strict=True)
    )
    confidence = struct.pack("<B", len(steps)) + b"".join(struct.pack("<ff", *step) for step in steps)
    return MAGIC + struct.pack("<BBH", len(classes), features, count) + named + confidence + trees[3:]


def trees_of(model: Any) -> bytes:  # noqa: ANN401 - a forest of scikit-learn
    """Return the trees of a forest, after the number of measurements (u8) and that of trees (u16)."""
    trees = [_tree(estimator.tree_) for estimator in model.estimators_]
    return struct.pack("<BH", model.n_features_in_, len(trees)) + b"".join(trees)


def _tree(tree: Any) -> bytes:  # noqa: ANN401 - a tree of scikit-learn
    """Return the nodes of a tree in preorder."""
    nodes: list[bytes] = []

    def add(node: int) -> None:
        at = len(nodes)
        if tree.children_left[node] < 0:
            shares = tree.value[node][0] / tree.value[node][0].sum()
            kept = [(n, share) for n, share in enumerate(np.rint(shares * 255).astype(int).tolist()) if share]
            nodes.append(struct.pack("<BB", LEAF, len(kept)) + b"".join(struct.pack("<BB", *part) for part in kept))
            return
        nodes.append(b"")
        add(tree.children_left[node])
        larger = len(nodes)
        add(tree.children_right[node])
        nodes[at] = struct.pack("<BfH", tree.feature[node], _below(tree.threshold[node]), larger)

    add(0)
    return struct.pack("<H", len(nodes)) + b"".join(nodes)


def _below(threshold: float) -> np.float32:
    """Return the largest float of 32 bits that is not above. Measurements have 32 bits: it divides the same ones."""
    near = np.float32(threshold)
    return near if near <= threshold else np.nextafter(near, np.float32(-np.inf))


def parts(forest: bytes) -> tuple[list[str], bytes]:
    """Return the classes of a forest, and its trees as `trees_of` does."""
    classes, features, count = struct.unpack_from("<BBH", forest, len(MAGIC))
    at, names = len(MAGIC) + 4, []
    for _ in range(classes):
        end = at + 1 + forest[at]
        names.append(forest[at + 1 : end].decode())
        at = end + 4
    return names, struct.pack("<BH", features, count) + forest[at + 1 + 8 * forest[at] :]
