"""Topologies as drawings, made from the nodes and links of a scenario."""

from __future__ import annotations

from dumbbell import Scenario
from dumbbell.scenario.layout.drawing import Drawing

EXAMPLES = {
    "dumbbell": """
name = "dumbbell"
duration = "1 s"
[network]
topology = "dumbbell"
bottleneck = { rate = "10 Mbit/s", delay = "18 ms" }
access = { rate = "100 Mbit/s", delay = "1 ms" }
[[flows]]
name = "a"
variant = "reno"
[[flows]]
name = "b"
variant = "reno"
[[flows]]
name = "cbr"
transport = "udp"
at = "routers"
application = { kind = "cbr", rate = "1 Mbit/s" }
""",
    "chain": """
name = "chain"
duration = "1 s"
[network]
topology = "chain"
hops = 3
bottleneck = { rate = "10 Mbit/s", delay = "5 ms" }
access = { rate = "100 Mbit/s", delay = "1 ms" }
[[flows]]
name = "a"
variant = "reno"
[[flows]]
name = "b"
variant = "reno"
""",
    "parking-lot": """
name = "parking lot"
duration = "1 s"
[network]
topology = "parking-lot"
hops = 3
bottleneck = { rate = "10 Mbit/s", delay = "5 ms" }
access = { rate = "100 Mbit/s", delay = "1 ms" }
[[flows]]
name = "long"
variant = "reno"
[[flows]]
name = "first hop"
variant = "reno"
leave = "r2"
[[flows]]
name = "middle"
variant = "reno"
enter = "r2"
leave = "r3"
""",
    "custom": """
name = "triangle"
duration = "1 s"
[network]
topology = "custom"
nodes = ["a", "b", "c"]
links = [
    { from = "a", to = "b", rate = "10 Mbit/s", delay = "5 ms" },
    { from = "b", to = "c", rate = "5 Mbit/s", delay = "10 ms", reverse = { rate = "1 Mbit/s" } },
]
[[flows]]
name = "there"
variant = "reno"
from = "a"
to = "c"
""",
}

STEP, ROW, RADIUS = 150, 62, 19


def topology(name: str) -> str:
    """Draw a topology, with the scenario that makes it below."""
    scenario = Scenario.from_toml(EXAMPLES[name])
    block = "\n".join("    " + line for line in f"```toml\n{EXAMPLES[name].strip()}\n```".splitlines())
    return f'{_svg(scenario.layout.drawing, scenario)}\n\n??? example "Its scenario"\n\n{block}'


def _places(drawing: Drawing) -> dict[str, tuple[float, float]]:
    """Routers in a row, hosts of the outer ones beside them, others above (receivers) and below (senders)."""
    routers = [n for n in drawing.nodes if n.startswith("r")] or list(drawing.nodes)
    places: dict[str, tuple[float, float]] = {r: ((n + 1) * STEP, 0.0) for n, r in enumerate(routers)}
    hosts: dict[tuple[str, str], list[str]] = {}
    for edge in drawing.edges:
        if edge.from_[0] == "s" and edge.to in places:
            hosts.setdefault((edge.to, "s"), []).append(edge.from_)
        if edge.to[0] == "d" and edge.from_ in places:
            hosts.setdefault((edge.from_, "d"), []).append(edge.to)
    for (router, side), names in hosts.items():
        x, _ = places[router]
        outer = router == (routers[0] if side == "s" else routers[-1])
        for n, name in enumerate(names):
            if outer:
                shift = (n - (len(names) - 1) / 2) * ROW
                places[name] = (x - STEP if side == "s" else x + STEP, shift)
            else:
                places[name] = (x + (n - (len(names) - 1) / 2) * ROW, 1.5 * ROW if side == "s" else -1.5 * ROW)
    return places


def _svg(drawing: Drawing, scenario: Scenario) -> str:
    places = _places(drawing)
    xs, ys = [p[0] for p in places.values()], [p[1] for p in places.values()]
    left, top = min(xs) - 40, min(ys) - 40
    width, height = max(xs) - left + 40, max(ys) - top + 40
    parts = [
        f'<div class="drawing"><svg class="topology" style="max-width: {1.3 * width:.0f}px" role="img" '
        f'viewBox="{left:g} {top:g} {width:g} {height:g}" '
        f'aria-label="nodes {", ".join(places)}" font-family="sans-serif" font-size="12">'
    ]
    for edge in drawing.edges[::2]:
        (x1, y1), (x2, y2) = places[edge.from_], places[edge.to]
        core = edge.from_[0] == edge.to[0] == "r" or not edge.from_[0].startswith(("s", "r"))
        stroke = 3.5 if core else 1.5
        parts.append(
            f'<line x1="{x1:g}" y1="{y1:g}" x2="{x2:g}" y2="{y2:g}" stroke="currentColor" stroke-width="{stroke:g}"/>'
        )
        if core and edge.settings.rate and edge.settings.delay is not None:
            parts.append(
                f'<text x="{(x1 + x2) / 2:g}" y="{(y1 + y2) / 2 - 24:g}" text-anchor="middle" fill="currentColor">'
                f'{edge.settings.rate}</text><text x="{(x1 + x2) / 2:g}" y="{(y1 + y2) / 2 - 10:g}" '
                f'text-anchor="middle" fill="currentColor">{edge.settings.delay}</text>'
            )
    owners = {end: f.name for f, ends in zip(scenario.flows, drawing.ends, strict=True) for end in ends}
    for name, (x, y) in places.items():
        router = name.startswith("r")
        shape = (
            f'<rect x="{x - RADIUS:g}" y="{y - RADIUS:g}" width="{2 * RADIUS}" height="{2 * RADIUS}" rx="4" '
            if router
            else f'<circle cx="{x:g}" cy="{y:g}" r="{RADIUS}" '
        )
        title = "" if router or name not in owners else f"<title>{owners[name]}</title>"
        color = "#56B4E9" if router else "#ffffff"
        parts.append(
            f'<g>{title}{shape}fill="{color}" stroke="currentColor" stroke-width="1.5"/>'
            f'<text x="{x:g}" y="{y + 4:g}" text-anchor="middle" fill="#111">{name}</text></g>'
        )
    return "".join([*parts, "</svg></div>"])
