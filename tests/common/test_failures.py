"""Failures of the environment are distinguished from bugs."""

from __future__ import annotations

import errno
import sys

import polars as pl
import pytest

from dumbbell.common.failures import failed_write, is_panic, means_no_memory, writing
from dumbbell.exceptions import ResultsError


def panic() -> BaseException:
    kind = pl.exceptions.PanicException
    return kind("failed to spawn thread: Cannot allocate memory")


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (OSError(errno.ENOSPC, "No space left on device"), "No space left on device"),
        (pl.exceptions.ComputeError("parquet: underlying IO error: x (os error 28)"), "No space left on device"),
        (pl.exceptions.SchemaError("wrong\nmore"), "wrong"),
        (MemoryError(), "out of memory"),
        (OSError(errno.ENOMEM, "Cannot allocate memory"), "out of memory"),
        (ImportError("x.so: failed to map segment from shared object"), "out of memory"),
        (RuntimeError("can't start new thread"), "out of memory"),
        (panic(), "out of memory"),
    ],
)
def test_a_failed_write_has_a_reason(error: BaseException, reason: str) -> None:
    assert failed_write(error) == reason
    with pytest.raises(ResultsError, match=f"^out: can't be written: {reason}$"), writing("out"):
        raise error


@pytest.mark.parametrize("error", [ResultsError("in use"), KeyboardInterrupt(), ValueError("x"), RuntimeError("x")])
def test_others_pass(error: BaseException) -> None:
    assert failed_write(error) is None
    with pytest.raises(type(error)) as found, writing("out"):
        raise error
    assert found.value is error


def test_panics_are_known() -> None:
    assert is_panic(panic()) and means_no_memory(panic())
    assert not is_panic(ValueError("x"))


def test_a_library_that_is_half_loaded_had_no_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not means_no_memory(NameError("name 'x' is not defined"))
    monkeypatch.delitem(sys.modules, "polars._plr")
    assert means_no_memory(NameError("name 'PySeries' is not defined"))
