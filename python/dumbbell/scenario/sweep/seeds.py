"""Seeds: one per repetition, the same in every cell."""

from __future__ import annotations

import hashlib

__all__ = ["repetition_seed"]


def repetition_seed(seed: int, repetition: int) -> int:
    """Derive the seed of a repetition (from 0) from the scenario's seed.

    The first 48 bits of SHA-256 over the text ``"dumbbell/<seed>/<repetition>"``: any two differ, neighboring seeds
    share nothing, and every JSON reader holds the number exactly.
    """
    digest = hashlib.sha256(f"dumbbell/{seed}/{repetition}".encode()).digest()
    return int.from_bytes(digest[:6])
