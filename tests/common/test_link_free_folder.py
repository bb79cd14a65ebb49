"""Folders in which no link is followed, with descriptors and on systems without them."""

from __future__ import annotations

import os
import tracemalloc
from pathlib import Path

import pytest

import dumbbell
from dumbbell import Results, ResultsError, Scenario
from dumbbell.common import link_free_folder
from dumbbell.common.link_free_folder import LinkFreeFolder

DOCUMENT = {
    "name": "small",
    "duration": "20 ms",
    "trace": {"series": True},
    "network": {"bottleneck": {"rate": "10 Mbit/s", "delay": "1 ms"}, "access": {"rate": "1 Gbit/s", "delay": "1 ms"}},
    "flows": [{"name": "a", "variant": "cubic"}],
}


@pytest.fixture(params=[True, False], ids=["descriptors", "paths"])
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> LinkFreeFolder:
    if request.param:
        assert link_free_folder.DESCRIPTORS
    else:
        monkeypatch.setattr(link_free_folder, "DESCRIPTORS", False)
        monkeypatch.setattr(link_free_folder, "FILE", link_free_folder.FILE & ~os.O_NOFOLLOW)
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "file").write_text("kept")
    return LinkFreeFolder(tmp_path / "folder")


def test_files_are_written_read_listed_and_removed(folder: LinkFreeFolder) -> None:
    folder.write_text("a/b/one.txt", "first")
    folder.write_text("a/b/one.txt", "second")
    with folder.append("a/b/two.txt") as file:
        file.write(b"added")
    assert folder.entries("a/b") == ["a/b/one.txt", "a/b/two.txt"]
    assert folder.entries("nothing") == []
    assert (folder.read("a/b/one.txt"), folder.read("a/b/two.txt")) == (b"second", b"added")
    with folder.open("a/b/one.txt", 100) as file:
        assert folder.is_same("a/b/one.txt", file)
        assert not folder.is_same("a/b/two.txt", file)
    folder.remove("a/b")
    folder.remove("a/b")
    assert folder.exists("a")
    assert not folder.exists("a/b")


def test_links_are_not_followed(folder: LinkFreeFolder) -> None:
    outside = folder.path.parent / "outside"
    folder.make("within")
    (folder.path / "link").symlink_to(outside)
    (folder.path / "within" / "link").symlink_to(outside / "file")
    for refused in (
        lambda: folder.read("link/file"),
        lambda: folder.read("within/link"),
        lambda: folder.append("within/link"),
        lambda: folder.entries("link"),
        lambda: folder.write_text("link/file", "changed"),
        lambda: folder.make("link/made"),
        lambda: folder.remove("link/file"),
        folder.check,
    ):
        with pytest.raises(ResultsError, match="a link"):
            refused()
    folder.write_text("within/link", "own")  # replaces the link
    folder.remove("link")
    folder.check()
    assert folder.read("within/link") == b"own"
    assert [file.name for file in outside.iterdir()] == ["file"]
    assert (outside / "file").read_text() == "kept"


def test_other_entries_are_refused(folder: LinkFreeFolder) -> None:
    folder.make("a/b")
    folder.write_text("large", "x" * 2_000_000)
    with pytest.raises(ResultsError, match="a folder: a regular file is needed"):
        folder.read("a/b")
    with pytest.raises(ResultsError, match="a file: a folder is needed"):
        folder.entries("large")
    with pytest.raises(ResultsError, match="2 MB given: at most 1 MB are possible"):
        folder.read("large", 1_000_000)
    folder.make("/".join("d" * (link_free_folder.DEEPEST + 1)))
    with pytest.raises(ResultsError, match="more than 12 folders within each other"):
        folder.check()


def test_a_small_file_takes_little_memory(folder: LinkFreeFolder) -> None:
    folder.write_text("small", "x" * 1000)
    tracemalloc.start()
    try:
        folder.read("small")
        assert tracemalloc.get_traced_memory()[1] < 1_000_000
    finally:
        tracemalloc.stop()


def test_results_are_the_same(folder: LinkFreeFolder) -> None:
    made = dumbbell.run(Scenario.from_dict(DOCUMENT), out=folder.path)
    read = Results.load(folder.path)
    assert read.runs[0] == made.runs[0]
    assert read.tables(0) == made.tables(0) != []
