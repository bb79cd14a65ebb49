"""Pages of variants and disciplines: head and tail from the registry, the middle written by hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import figures
from directives import DirectiveError
from dumbbell import registry
from dumbbell.scenario import Scenario
from dumbbell.studio import write
from dumbbell.studio.any_scenario import fragment
from md import escaped, fenced, table
from stacks_reference import own_parameters

STUDIO = "studio.html"
"""The studio in the built documentation: one file for all pages."""
LOAD = "const f = this.querySelector('iframe'); if (this.open &amp;&amp; !f.src) f.src = f.dataset.source"


def variants() -> list[str]:
    """Name the variants."""
    return list(registry.variants())


def disciplines() -> list[str]:
    """Name the disciplines."""
    return list(registry.disciplines())


def frame(folder: str, name: str, body: str, meta: Mapping[str, Any]) -> str:
    """Add the registry's facts and the figure to the part that was written by hand."""
    if body.startswith("---"):
        raise DirectiveError("the front matter is not YAML: does a description contain a colon and a space?")
    return _variant(name, body, meta) if folder == "reference/variants/" else _discipline(name, body, meta)


def _variant(name: str, body: str, meta: Mapping[str, Any]) -> str:
    v = registry.variant(name)
    recovery = "chosen by the stack (parameter `recovery`)"
    if v.loss_recovery:
        presets = ", ".join(f"`{stack}`" for stack in registry.recovery_stacks(name))
        recovery = f"`{v.loss_recovery}`, part of this variant on the [stacks](../stacks.md#loss-recovery) {presets}"
    facts: list[Sequence[object]] = [
        *([["Also called", ", ".join(f"`{alias}`" for alias in v.aliases)]] if v.aliases else []),
        ["Year", v.year],
        ["Source", escaped(v.source)],
        ["Loss recovery", recovery],
        ["Response to loss", escaped(v.on_loss)],
        ["Response to delay", escaped(v.on_delay)],
        ["Response to ECN marks", escaped(v.on_ecn)],
    ]
    return "\n\n".join(
        [
            f"# {name}: {escaped(v.title)}",
            table(["", ""], facts),
            f'In a scenario: `variant = "{name}"`, or with parameters `variant = {{ name = "{name}", ... }}`.',
            "## A run",
            _figure(figures.variant(name)),
            body.strip(),
            "## Parameters",
            own_parameters(v.params),
            "## Traced columns",
            "The [columns of every TCP flow](../results.md#series-of-a-tcp-flow), and:" if v.columns else "",
            _columns(v.columns, meta),
        ]
    )


def _discipline(name: str, body: str, meta: Mapping[str, Any]) -> str:
    d = registry.discipline(name)
    kernel = ["In the kernel", ", ".join(f"`{kind}`" for kind in d.kernel) or "none"]
    return "\n\n".join(
        [
            f"# {name}: {escaped(d.title)}",
            table(["", ""], [["Year", d.year], ["Source", escaped(d.source)], ["Effect", escaped(d.doc)], kernel]),
            f'In a scenario: `queue = {{ discipline = "{name}", limit = "1 bdp" }}`.',
            "## A run",
            _figure(figures.discipline(name)),
            body.strip(),
            "## Parameters",
            own_parameters(d.params),
            "## Traced columns",
            "The [columns of every queue](../results.md#series-of-a-queue), and:" if d.columns else "",
            _columns(d.columns, meta),
        ]
    )


def _figure(figure: figures.Figure) -> str:
    scenario = "\n".join("    " + line for line in fenced(figure.scenario, "toml").splitlines())
    return (
        f'<figure markdown="span">\n![{figure.alt}](img/{figure.name}.png)\n'
        f"<figcaption>{figure.caption}</figcaption>\n</figure>\n\n"
        f"{live(figure)}"
        f'??? example "The scenario of this figure"\n\n{scenario}'
    )


def live(figure: figures.Figure) -> str:
    """Return the studio with a figure's scenario; nothing where the engine isn't built.

    It is loaded when the reader opens it. (Chromium loads lazy frames of closed parts at once.)
    """
    if not write.available():
        return ""
    source = f"../../{STUDIO}#{fragment(Scenario.from_toml(figure.scenario))}"
    return (
        f'<details class="live" ontoggle="{LOAD}">'
        "<summary>Live: the simulator in this page, with the scenario of the figure</summary>"
        f'<iframe data-source="{source}" title="The studio with the scenario of the figure"></iframe>'
        f'<p><a href="{source}">Open it in a page of its own</a></p></details>\n\n'
    )


def _columns(columns: Sequence[str], meta: Mapping[str, Any]) -> str:
    written: dict[str, str] = meta.get("columns", {})
    if written and list(written) != list(columns):
        raise DirectiveError(f"columns {', '.join(written)} described, but the registry has {', '.join(columns)}")
    if not columns:
        return "None of its own."
    return table(["column", "definition"], [[f"`{c}`", written.get(c, "see the source")] for c in columns])
