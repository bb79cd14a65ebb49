"""Names are data: whatever they contain, no writer lets them end a cell, a tag, a line or a folder."""

from __future__ import annotations

import csv
import io
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from tempfile import TemporaryDirectory

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from dumbbell.capture.files import write_frames, write_pages
from dumbbell.cli import output
from dumbbell.common.link_free_folder import LinkFreeFolder
from dumbbell.plots.notebook import page_of
from dumbbell.report.content import Content, Ran
from dumbbell.report.finding import Note, Table
from dumbbell.report.html_page import page
from dumbbell.report.markdown import markdown
from dumbbell.results.frames.export import write_csv
from dumbbell.results.store.file_names import file_name, files_in, write_names
from required import require_packages

PIECES = [
    "[/b]", "[red]x", "<!--<script>", "</script><script>alert(1)</script>", "<img src=x onerror=alert(1)>", "&amp;",
    "{{ 7 }}", "\"'>", "=1+1", "@SUM(A1)", "+cmd|' /C calc'!A0", "-1+1", "-5 %", "\t=x", "\x1b[2J", "\x1b]0;t\x07",
    "\x9b31m", "\r", "\n", "\n\n# x", "|", "`", "```", "\\", "../", "/", "\0", "%2F", "%~", "CON", "$(id)", "\u202e",
    "\u2066", "\u061c", "\u2028", "\N{PARTY POPPER}", "é", "a", " ", ",", ";", "x" * 300,
]  # fmt: skip
NAMES = (
    st.lists(
        st.sampled_from(PIECES) | st.text(st.characters(exclude_categories=["Cs"]), max_size=3), min_size=1, max_size=6
    )
    .map("".join)
    .filter(bool)
)
"""Markup, HTML, formulas, commands of terminals, separators, paths, long names, and any characters."""
CONTROLS = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
"""Characters that a terminal obeys; newlines end lines."""


@given(NAMES)
@settings(deadline=None)
def test_a_table_on_the_terminal_has_its_lines(name: str) -> None:
    def printed(name: str) -> str:
        with pytest.MonkeyPatch.context() as patched:
            lines: list[str] = []
            patched.setattr("dumbbell.cli.output.click.echo", lines.append)
            output.print_table(name, ["name", f"flows.{name}"], [[name, 1.0], ["b", name]])
        return re.sub("\x1b\\[(1|0)m", "", "".join(lines))  # the title is bold

    found = printed(name)
    assert not CONTROLS.search(found)
    assert found.count("\n") == printed("a").count("\n")


@given(NAMES)
@settings(deadline=None)
def test_csv_has_its_cells_and_no_formula(name: str) -> None:
    frame = pl.DataFrame({"name": [name, "b"], "n": [1, 2]})
    rows = list(csv.reader(io.StringIO(write_csv(frame), newline=""), strict=True))
    assert [row[1] for row in rows] == ["n", "1", "2"]
    cell = rows[1][0]
    assert cell in {name, f"'{name}"}
    assert not is_formula(cell)


def is_formula(cell: str) -> bool:
    """Return True if a spreadsheet computes a cell."""
    return bool(re.match(r"[=+\-@\t\r\uff1d\uff0b\uff0d\uff20]", cell)) and not re.fullmatch(r"[+-][\d.,]+ ?%?", cell)


@given(NAMES)
@settings(deadline=None)
def test_tables_of_captures_have_no_formula(name: str) -> None:
    """Names in captures, and names of capture files, which are columns of a comparison, come from elsewhere."""
    made = pl.DataFrame({name: [name], f"'{name}": ["b"], "lists": [[name]]})
    frames: dict[str, pl.DataFrame | pl.LazyFrame] = {"frame": made, "lazy": made.drop("lists").lazy()}
    with TemporaryDirectory() as folder:
        written = [*write_frames(frames, Path(folder), "csv")]
        written.append(write_pages(iter([made.drop("lists")] * 2), Path(folder, "pages.csv"), "csv"))
        for file in written:
            rows = list(csv.reader(io.StringIO(file.read_bytes().decode(), newline=""), strict=True))
            cells = [cell for row in rows for cell in row]
            assert not any(map(is_formula, cells))
            assert len(rows[0]) == len(set(rows[0]))
            assert rows[1][0] in {name, f"'{name}"}


class Tags(HTMLParser):
    """The tags of a page, with the names of their attributes."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[object] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, [name for name, _ in attrs if name != "class"]))  # long words may break

    def handle_endtag(self, tag: str) -> None:
        self.found.append(tag)

    def handle_comment(self, data: str) -> None:
        self.found.append(("comment", data))


def content(name: str) -> Content:
    frame = pl.DataFrame({"name": [name, "b"], "goodput": [1.5, 2.5]})
    table = Table("table", name, frame)
    return Content(
        name, "Results", name, "0", "now", [], [], name, setting=[(name, name)], summary=[name], tables=[table],
        facts=[(name, name)],
    )  # fmt: skip


@given(NAMES)
@settings(deadline=None, max_examples=25)
def test_a_page_has_its_tags(name: str) -> None:
    require_packages("jinja2")
    assert Tags(page(content(name), [])).found == Tags(page(content("a"), [])).found


@given(NAMES)
@settings(deadline=None)
def test_a_page_of_a_notebook_has_its_tags(name: str) -> None:
    def tags(name: str) -> list[object]:
        frame = pl.DataFrame({"name": [name], f"flows.{name}": [1.0]})
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr("dumbbell.plots.notebook.find_spec", lambda _: None)
            return Tags(page_of(name, [frame], None)).found  # type: ignore[arg-type]

    assert tags(name) == tags("a")


def described(name: str) -> Content:
    """Return content in which each text that a scenario gives has this name; a description may have paragraphs."""
    ran = Ran(name, f"back end {name}", 1, 1, "1", "1 s", "1", name, [name])
    made = replace(content(name), what=" ".join(name.split()), ran=[ran], notes=[Note(name, name)], disclosed=[name])
    return replace(made, warnings=[("", name)])  # type: ignore[list-item]


class Shown:
    """What a reader of Markdown shows: the kinds of its parts, and its texts."""

    def __init__(self, text: str) -> None:
        reader = MarkdownIt("commonmark").enable(["table", "strikethrough"])
        tokens = [inner for token in reader.parse(text) for inner in (token, *(token.children or ()))]
        self.kinds = [token.type for token in tokens if token.type not in {"text", "text_special"}]
        self.lines = [
            "".join(part.content for part in token.children or ()) for token in tokens if token.type == "inline"
        ]


def assert_is_text(name: str) -> None:
    """No name becomes a heading, a list, a link, a mark, a cell or a tag, and no fence ends in it."""
    line = " ".join("".join(c if c.isprintable() else " " for c in name).split())
    found, expected = (Shown(markdown(described(n), [], Path())) for n in (name, "a"))
    if line:
        assert found.kinds == expected.kinds
    assert found.lines.count(line) >= 5


@given(NAMES)
@settings(deadline=None, max_examples=60)
def test_names_in_markdown_are_texts(name: str) -> None:
    assert_is_text(name)


@pytest.mark.parametrize(
    "name",
    [
        "# a", "- a", "+ a", "1. a", "12) a", "=", "---", "> a", "* a", "_a_", "**a**", "`a`", "``` a", "~~~", "~~a~~",
        "a|b", "[a](http://b.c)", "![a](b)", "<http://b.c>", "<b>", "&lt;b&gt;", "&#60;b&#62;", "\\<b>", "a\\", "\\`a`",
        "<!-- a", "[a]: b", "[ ] a", "    a", "a\n# b", "a\n\n```\nb", "-1.5", "4.5 Mbit/s", "s1->r1",
        "snake_case_name",
    ],
)  # fmt: skip
def test_marks_are_shown_as_they_are(name: str) -> None:
    assert_is_text(name)


def test_usual_names_stay_readable_and_links_of_github_are_none() -> None:
    text = markdown(described("flow_1->r2: -1.5 https://a.b www.a.b c@a.b"), [], Path())
    assert text.startswith("# flow_1-&gt;r2: -1.5 https\\://a.b www\\.a.b c\\@a.b\n")


@given(st.sets(NAMES, min_size=1, max_size=4))
@settings(deadline=None)
def test_names_are_names_of_files(names: set[str]) -> None:
    with TemporaryDirectory() as folder:
        place = Path(folder, "kept")
        write_names(LinkFreeFolder(folder), "kept", names)
        place.mkdir(exist_ok=True)
        for name in names:
            stem = file_name(name)
            assert re.fullmatch(r"[\w.~%-]{1,240}", stem, re.ASCII)
            (place / f"{stem}.parquet").write_text(name, encoding="utf-8", newline="")
        found = files_in(LinkFreeFolder(folder), "kept", ".parquet")
        assert set(found) == names
        assert all(file.parent == place for file in found.values())
