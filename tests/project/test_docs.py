"""The documentation: its examples run, every registry row has its page, every directive gives content."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import dumbbell
from dumbbell import Scenario, registry
from dumbbell.kernel.ssh.hosts import read
from machines import KERNELS
from required import require

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]
LINKS = [DOCS / "how-to" / "links" / f"{page}.md" for page in ("over-time", "traces", "losses", "order", "policer")]
WITH_EXAMPLES = [
    ROOT / "README.md",
    *sorted((DOCS / "tutorials").glob("*.md")),
    DOCS / "how-to" / "own-discipline.md",
    DOCS / "how-to" / "own-variant.md",
    DOCS / "how-to" / "publish.md",
    DOCS / "how-to" / "sweeps.md",
    *LINKS,
]
BLOCK = re.compile(r'^```(\w+)(?: title="([\w.-]+)")?\n(.*?)^```', re.MULTILINE | re.DOTALL)
KERNEL = re.compile(r"--backend uml|^dumbbell validate")
"""Commands that need Linux in virtual time."""


def name(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def blocks(page: Path) -> Iterator[tuple[str, str, str]]:
    """Language, title and text of each block of code."""
    yield from BLOCK.findall(page.read_text(encoding="utf-8"))


@pytest.fixture
def generator(monkeypatch: pytest.MonkeyPatch) -> dict[str, ModuleType]:
    monkeypatch.syspath_prepend(DOCS / "generator")
    return {
        n: import_module(n)
        for n in ("api_reference", "data_tables", "directives", "drawings", "figures", "trace_columns")
    }


@pytest.mark.parametrize("page", WITH_EXAMPLES, ids=name)
def test_examples_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    for language, title, text in blocks(page):
        if title:
            assert language in ("toml", "python", "rust")
            (tmp_path / title).write_text(text, encoding="utf-8")
    names: dict[str, object] = {}
    commands = 0
    for language, title, text in blocks(page):
        if language == "python" and not title:
            exec(compile(text, name(page), "exec"), names)
        if language == "sh":
            for line in text.splitlines():
                if KERNEL.search(line) and not KERNELS:
                    require("uml", "the commands after this one need Linux in virtual time: `dumbbell kernel build`")
                program, *arguments = shlex.split(line, comments=True)
                assert program == "dumbbell"
                command = [sys.executable, "-m", "dumbbell", *arguments]
                done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
                assert done.returncode == 0, f"{line}: {done.stderr}"
                commands += 1
    assert commands > 0


@pytest.mark.usefixtures("allow_code")
@pytest.mark.parametrize("page", PAGES, ids=name)
def test_toml_reads(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for language, title, text in blocks(page):
        if language == "python" and title:
            (tmp_path / title).write_text(text, encoding="utf-8")
        if language == "toml":
            document = tomllib.loads(text)
            if title == "hosts.toml":
                (tmp_path / title).write_text(text, encoding="utf-8")
                assert read(tmp_path / title).machines
            elif title and title != "Cargo.toml":
                Scenario.from_dict(document)


def test_the_error_of_the_first_tutorial_is_the_real_one(cli: Callable[..., Any], tmp_path: Path) -> None:
    page = DOCS / "tutorials" / "first-run.md"
    text = page.read_text(encoding="utf-8")
    command, expected = re.findall(r"^    \$ dumbbell (.*)\n    (error: .*)$", text, re.MULTILINE)[0]
    scenario = next(text for _, title, text in blocks(page) if title == "first.toml")
    (tmp_path / "first.toml").write_text(scenario, encoding="utf-8")
    assert cli(*shlex.split(command)).stderr.strip() == expected


@pytest.mark.usefixtures("allow_code")
def test_the_tutorial_that_compares_variants_states_what_its_runs_show(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = DOCS / "tutorials" / "first-variant.md"
    monkeypatch.chdir(tmp_path)
    for _, title, text in blocks(page):
        if title:
            (tmp_path / title).write_text(text, encoding="utf-8")
    text = " ".join(page.read_text(encoding="utf-8").split())

    def stated(pattern: str) -> list[float]:
        (found,) = re.findall(pattern, text)
        return [float(number) for number in ([found] if isinstance(found, str) else found)]

    def measured(seed: int) -> dict[str, Any]:
        """Columns of the three cells, ten repetitions each."""
        results = dumbbell.run("gentle.toml", changes={"seed": seed})
        assert set(results.flows["stack"]) == {registry.default_stack()}
        columns = {name: results.flows[name].to_numpy() for name in ("goodput_bps", "rtt_mean_ms", "dropped_packets")}
        columns["utilization"] = results.queues.filter(name="r1->r2")["utilization"].to_numpy()
        return {name: column.reshape(3, 10) for name, column in columns.items()}

    first, second = measured(1), measured(2)
    for of_seed in (first, second):
        # Copies that are shifted in time have the same number of drops.
        assert all(len(set(drops)) > 3 for drops in of_seed["dropped_packets"])
        reno, gentle, gentlest = of_seed["dropped_packets"].mean(axis=1)
        assert gentlest > 2 * gentle > 2 * reno
    utilization = 100 * first["utilization"].mean(axis=1)
    assert stated(r"its utilization is (\d+) %") == [round(utilization[0])]
    assert stated(r"the utilization is (\d+) %\. With 0\.9") == [round(utilization[1])]
    rtt = first["rtt_mean_ms"].mean(axis=1)
    assert stated(r"RTT is (\d+) ms longer") == [round(rtt[2] - rtt[1])]

    def gained(of_seed: dict[str, Any]) -> list[float]:
        means = 1e-6 * of_seed["goodput_bps"].mean(axis=1)
        return [round(float(difference), 2) for difference in (means[1] - means[0], means[2] - means[1])]

    of_reno, of_gentle = gained(first)
    assert stated(r"Yours has ([\d.]+) Mbit/s more than Reno") == [of_reno]
    means = first["goodput_bps"].mean(axis=1)
    share = round(100 * float(means[2] / means[1] - 1), 1)
    assert stated(r"only ([\d.]+) Mbit/s more than 0\.7, which is ([\d.]+) %") == [of_gentle, share]
    assert stated(r"seed=2`, in another directory\) gives ([\d.]+) and ([\d.]+) Mbit/s") == gained(second)


@pytest.mark.parametrize(
    ("folder", "row"),
    [("variants", v) for v in registry.variants()] + [("disciplines", d) for d in registry.disciplines()],
)
def test_every_row_has_a_page(folder: str, row: str) -> None:
    text = (DOCS / "reference" / folder / f"{row}.md").read_text(encoding="utf-8")
    for part in ("## Model", "## State", "## Left out"):
        assert part in text
    columns = registry.variant(row).columns if folder == "variants" else registry.discipline(row).columns
    front = text.split("---")[1] if text.startswith("---") else ""
    assert re.findall(r"^  (\w+): [^\n:]*$", front, re.MULTILINE) == list(columns)  # a second colon isn't YAML


def test_traced_columns_are_described(generator: dict[str, ModuleType]) -> None:
    generator["trace_columns"].check()


@pytest.mark.slow
def test_every_directive_gives_something(generator: dict[str, ModuleType]) -> None:
    used = re.compile(r"^\{\{ (?!output|help)[a-z-]+.*\}\}$", re.MULTILINE)
    for page in PAGES:
        for directive in used.findall(page.read_text(encoding="utf-8")):
            assert len(generator["directives"].replace(directive)) > 20, directive


def test_tables_are_links_to_files_and_every_file_is_shown(generator: dict[str, ModuleType]) -> None:
    tables = generator["data_tables"]
    shown = set()
    for page in PAGES[1:]:
        for _, path, _ in tables.LINE.findall(text := page.read_text(encoding="utf-8")):
            shown.add((page.parent / path).resolve())
        rendered = tables.replace(text, page.relative_to(DOCS).as_posix())
        assert not tables.LINE.search(rendered)
    assert shown == {path.resolve() for path in (DOCS / "data").rglob("*.csv")}


def test_the_api_page_has_every_public_name_with_its_parameters(generator: dict[str, ModuleType]) -> None:
    text = generator["api_reference"].reference()
    for public in generator["api_reference"].names():
        assert f"### dumbbell.{public}\n" in text
    assert "| `DumbbellError` | If the class lacks" in text
    assert "[`Results`]" not in text and "--------" not in text
    assert "#### dumbbell.mahimahi.OPPORTUNITY\n\nBytes of one line." in text  # not the docstring of int
    assert " at 0x" not in text and "\n::\n" not in text


def test_scenarios_of_figures_are_scenarios(generator: dict[str, ModuleType]) -> None:
    figures = generator["figures"]
    for row in registry.variants():
        Scenario.from_toml(figures.variant(row).scenario)
    for row in registry.disciplines():
        Scenario.from_toml(figures.discipline(row).scenario)


def test_every_page_is_in_the_contents() -> None:
    listed = (ROOT / "mkdocs.yml").read_text()
    folders = re.findall(r": ([\w/]+/)$", listed, flags=re.MULTILINE)  # all pages of these
    pages = [str(page.relative_to(DOCS)) for page in DOCS.rglob("*.md")]
    assert [p for p in pages if p not in listed and not p.startswith(tuple(folders))] == []


def test_the_site_has_dark_pages_and_drawings_take_the_color_of_the_text(generator: dict[str, ModuleType]) -> None:
    palette = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    assert "(prefers-color-scheme: dark)" in palette
    assert "scheme: slate" in palette
    style = (DOCS / "style.css").read_text(encoding="utf-8")
    assert '[data-md-color-scheme="slate"] .md-typeset img' in style
    drawing = generator["drawings"].topology("dumbbell").split("\n")[0]
    assert drawing.count("<div") == drawing.count("</div>") == 1
    assert 'stroke="currentColor"' in drawing
    # Words beside lines are as dark or light as the page; those in nodes are on the nodes' own color.
    assert not re.search(r'<text [^>]*text-anchor="middle" fill="#(?!111)', drawing)


def test_the_numbers_of_the_readme_are_counted() -> None:
    from dumbbell.plots.catalog import KINDS
    from dumbbell.studies import studies

    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert f"**Choose from {len(registry.variants())} congestion control variants**" in text
    assert f"**Choose from {len(registry.disciplines())} queue disciplines**" in text
    assert f"{len(KINDS)} kinds of figures" in text
    numbers = ("seven", "eight", "nine", "ten", "eleven", "twelve")
    assert f"{numbers[len(studies()) - 7]} are included" in text
