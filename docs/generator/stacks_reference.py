"""Tables of the registries: presets, their parameters side by side, variants, disciplines."""

from __future__ import annotations

from dumbbell import registry
from dumbbell.registry import Parameter
from md import escaped, table


def presets(transport: str) -> str:
    """Return every preset of a transport with its description."""
    rows = registry.stacks(transport).values()
    return "\n\n".join(f"**`{s.name}`**: {escaped(s.title)}. {escaped(s.doc)}" for s in rows)


def requirements() -> str:
    """Return the features of a stack on which variants rely."""
    rows = [
        [f"[`{v.name}`](variants/{v.name}.md)", "; ".join(f"{r.feature} ({escaped(r.source)})" for r in v.requires)]
        for v in registry.variants().values()
        if v.requires
    ]
    return table(["variant", "relies on"], rows)


def parameters(transport: str) -> str:
    """Return every parameter of a transport with the default of each preset; different defaults are bold."""
    stacks = list(registry.stacks(transport).values())
    first = stacks[0]
    rows = []
    for number, p in enumerate(first.params):
        defaults = [s.params[number].default for s in stacks]
        shown = [f"`{defaults[0]}`", *(f"`{d}`" if d == defaults[0] else f"**`{d}`**" for d in defaults[1:])]
        rows.append([f"`{p.name}`", escaped(p.doc), escaped(p.kind), *shown])
    return table(["parameter", "effect", "values", *(f"`{s.name}`" for s in stacks)], rows)


def facts() -> str:
    """Return what no scenario can set: the properties of each preset of TCP; those that differ are bold."""
    stacks = list(registry.stacks("tcp").values())
    rows = []
    for same in zip(*(s.facts for s in stacks), strict=True):
        first = same[0]
        values = [f"`{f.value}`" if f.value == first.value else f"**`{f.value}`**" for f in same]
        rows.append([f"`{first.name}`", escaped(first.doc), *values])
    return table(["property", "effect", *(f"`{s.name}`" for s in stacks)], rows)


def tls_parameters() -> str:
    """Return the parameters of every version of TLS."""
    parts = [f"### TLS {v.name} ({v.source})\n\n{own_parameters(v.params)}" for v in registry.tls_versions().values()]
    return "\n\n".join(parts)


def own_parameters(params: tuple[Parameter, ...]) -> str:
    """Return the parameters of one row."""
    if not params:
        return "None."
    rows = [[f"`{p.name}`", _defaults(p), escaped(p.kind), escaped(p.doc)] for p in params]
    return table(["parameter", "default", "values", "effect"], rows)


def _defaults(p: Parameter) -> str:
    return ", ".join([f"`{p.default}`", *(f"`{stack}`: `{value}`" for stack, value in p.defaults.items())])


def variants() -> str:
    """Return every variant, with a link to its page."""
    rows = [
        [
            ", ".join([f"[`{v.name}`](reference/variants/{v.name}.md)", *(f"`{alias}`" for alias in v.aliases)]),
            v.year,
            escaped(v.title),
            escaped(v.source),
        ]
        for v in registry.variants().values()
    ]
    return table(["variant", "year", "title", "source"], rows)


def disciplines() -> str:
    """Return every discipline, with a link to its page."""
    rows = [
        [f"[`{d.name}`](reference/disciplines/{d.name}.md)", d.year, escaped(d.title), escaped(d.source)]
        for d in registry.disciplines().values()
    ]
    return table(["discipline", "year", "title", "source"], rows)
