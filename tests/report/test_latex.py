"""Tables in LaTeX: whatever the names are, the source is well-formed, and its numbers are aligned."""

from __future__ import annotations

import re
from pathlib import Path

import polars as pl
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

import dumbbell
from dumbbell.cli import app
from dumbbell.report import latex_table
from dumbbell.report.latex import escaped
from scenario_texts import BASE

NAMED = {
    "name": "50 % of R&D_1",
    "duration": "1 s",
    "flows": [{"name": "a_b", "variant": "reno"}],
    "sweep": {"flows.a_b.variant": ["reno", "vegas"]},
}
"""Changes to the base scenario: names with characters that are commands of LaTeX."""


def rows_of(latex: str) -> list[list[str]]:
    """Return the cells of a table's rows: split at the ampersands that are not escaped."""
    lines = [line.strip() for line in latex.splitlines() if line.strip().endswith("\\\\")]
    return [[cell.strip() for cell in re.split(r"(?<!\\)&", line.removesuffix("\\\\"))] for line in lines]


def test_numbers_have_equal_decimals_and_the_head_has_the_units() -> None:
    frame = pl.DataFrame({"name": ["a", "b"], "goodput Mbit/s": [9.5, 0.125], "drops %": [1, None], "sd": [-1.5, 2.0]})
    latex = latex_table(frame, caption="10 % of it", units={"sd": "ms"})
    assert rows_of(latex) == [
        ["name", "goodput (Mbit/s)", r"drops (\%)", "sd (ms)"],
        ["a", "9.500", "1", "$-1.500$"],
        ["b", "0.125", "--", "2.000"],
    ]
    assert r"\begin{tabular}{lrrr}" in latex
    assert r"\caption{10 \% of it}" in latex
    assert [latex.count(rule) for rule in (r"\toprule", r"\midrule", r"\bottomrule")] == [1, 1, 1]
    assert "siunitx" not in latex


def test_a_small_number_beside_a_large_one_keeps_two_digits() -> None:
    (_, *rows) = rows_of(latex_table(pl.DataFrame({"x": [1234.5, 0.0123]})))
    assert rows == [["1234.500"], ["0.012"]]


@pytest.mark.parametrize(
    ("text", "latex"),
    [
        ("a_b & c", r"a\_b \& c"),
        ("50 % #1 $x^2", r"50 \% \#1 \$x\textasciicircum{}2"),
        ("\\end{table}", r"\textbackslash{}end\{table\}"),
        ("r1->r2", r"r1-\textgreater{}r2"),
        ("--set", "-{}-set"),
        ("± 3 µs", r"$\pm$ 3 $\mu$s"),
        ("[1, 2]", "{[}1, 2{]}"),
        ("two\nlines", "two lines"),
        ("größer", "größer"),
    ],
)
def test_special_characters_are_escaped(text: str, latex: str) -> None:
    assert escaped(text) == latex


@given(st.data())
def test_any_table_is_well_formed(data: st.DataObject) -> None:
    names = data.draw(st.lists(st.text(max_size=12), min_size=1, max_size=4, unique=True))
    cells = st.none() | st.floats() | st.integers() | st.booleans() | st.text()
    rows = data.draw(st.lists(st.tuples(*(cells for _ in names)), max_size=4))
    latex = latex_table((names, rows), caption="x")
    found = rows_of(latex)
    assert len(found) == len(rows) + 1
    assert {len(row) for row in found} == {len(names)}
    for cell in (cell for row in found for cell in row):
        plain = cell.replace("\\{", "").replace("\\}", "")
        assert plain.count("{") == plain.count("}")
        assert not re.search(r"(?<!\\)[#%_^~]", cell.replace("~", "")), cell
        assert len(re.findall(r"(?<!\\)\$", cell)) % 2 == 0
        assert not cell.startswith(("[", "*"))  # after \\ these would be an argument of the line break


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("latex") / "out"
    dumbbell.run(dumbbell.Scenario.from_toml(BASE, NAMED), out=place, jobs=1)
    return place


def only_latex(text: str) -> bool:
    """Return True if everything outside of tables is a comment."""
    outside = re.sub(r"\\begin\{table\}.*?\\end\{table\}", "", text, flags=re.DOTALL)
    return all(not line or line.startswith("%") for line in outside.splitlines())


def test_stats_and_compare_print_latex(folder: Path) -> None:
    for args in (["stats", str(folder), "--by", "variant"], ["compare", str(folder), str(folder), "--all"]):
        done = CliRunner().invoke(app, [*args, "--format", "latex"])
        assert done.exit_code == 0, done.output
        assert done.stdout.startswith("\\begin{table}")
        assert only_latex(done.stdout), done.stdout
        assert r"a\_b" in done.stdout
    assert "mean (Mbit/s)" in CliRunner().invoke(app, ["stats", str(folder), "--format", "latex"]).stdout


def test_run_prints_latex(tmp_path: Path) -> None:
    file = tmp_path / "s.toml"
    file.write_text(dumbbell.Scenario.from_toml(BASE, NAMED).to_toml())
    done = CliRunner().invoke(app, ["run", str(file), "--format", "latex"])
    assert done.exit_code == 0, done.output
    assert r"\caption{50 \% of R\&D\_1: flows" in done.stdout
    assert only_latex(done.stdout)


def test_latex_and_json_exclude_each_other(folder: Path) -> None:
    done = CliRunner().invoke(app, ["stats", str(folder), "--format", "latex", "--json"])
    assert done.exit_code == 2
    assert "can't be combined with --json" in done.output
