"""Plans and TOML files as texts with holes, so that the page needs no rules of scenarios.

`dumbbell.plan` writes the plan of a probe, a scenario whose values are all different. Each value of a setting in this
text becomes a hole, which states how the page writes the value. The same is done with the TOML file of the scenario.
`tests/studio/test_studio_page.py` compares the page's plans with Python's, byte for byte.

A template is a list of texts and holes. A hole is one of

- ``{"number": NAME, "times": X, "unit": TEXT}``: the setting times X, as a decimal number, with a unit if given;
- ``{"whole": [[NAME, X], ...]}``: the sum of settings times X, rounded to an integer;
- ``{"largest": [[[NAME, X], ...], ...]}``: the largest of such sums;
- ``{"float": NAME, "times": X}``: the setting times X, as Python writes floats;
- ``{"choice": NAME}``: the chosen name;
- ``{"pick": TABLE, "by": [NAME, ...]}``: the template in a table under the chosen names, joined by ``|``.

The setting of a flow has the name ``flows.N.NAME``. In a table, ``flow.NAME`` is that of the hole's flow.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from itertools import product
from typing import Any

from dumbbell.exceptions import ScenarioError
from dumbbell.plan.text import as_in_plan, plan_text
from dumbbell.scenario import Scenario
from dumbbell.scenario.sweep.seeds import repetition_seed
from dumbbell.scenario.toml import write
from dumbbell.studio.settings import FLOW, MOST_FLOWS, PATH, Choice, Number, document, number, scenario, stack_document

__all__ = ["defaults", "flow_defaults", "plan_of", "templates"]

Hole = dict[str, Any]
Template = list[str | Hole]
Tokens = dict[str, list[Hole]]
"""The texts of holes in a probe. A text that occurs several times has several holes; the last one repeats."""

MS = 10**6
S = 10**9


def defaults() -> dict[str, Any]:
    """Return the default of each setting, with one flow."""
    return {**{field.name: field.default for field in PATH}, "flows": [flow_defaults()]}


def flow_defaults() -> dict[str, Any]:
    """Return the default of each setting of a flow."""
    return {field.name: field.default for field in FLOW}


def plan_of(scenario: Scenario) -> str:
    """Return the plan of the first run of a scenario as the text that `dumbbell run` gives to the simulator."""
    return plan_text(scenario.cells[0]).with_seed(scenario.repetition_seed(0))


def templates() -> dict[str, Any]:
    """Return the templates of plans and of TOML files by the number of flows, and the tables of their holes."""
    counts = range(1, MOST_FLOWS + 1)
    return {
        "plans": [_plan_template(count) for count in counts],
        "files": [_file_template(count) for count in counts],
        "tables": _tables(),
        "refusals": [_late_start()],
    }


def _probe(flows: int) -> dict[str, Any]:
    """Make settings whose values in a plan are all different."""
    own = [
        {**flow_defaults(), "start": 1.237 + n, "extra": 4.04 + 0.4 * n, "stack": "rfc", "ecn": "on",
         "application": "transfer", "size": 12_345 + n}
        for n in range(flows)
    ]  # fmt: skip
    path = {"rate": 7.654, "rtt": 43.1, "buffer": 1999, "loss": 3.17, "duration": 37, "seed": 73}
    return {**defaults(), **path, "flows": own}


def _rtt(n: int) -> list[list[Any]]:
    return [["rtt", MS], [f"flows.{n}.extra", MS]]


def _plan_template(flows: int) -> Template:
    settings = _probe(flows)
    made = scenario(settings)
    plan = json.loads(plan_of(made))
    bottleneck = plan["links"][0]
    tokens: Tokens = {
        str(plan["seed"]): [{"pick": "seeds", "by": ["seed"]}],
        str(plan["duration_ns"]): [{"whole": [["duration", S]]}],
        str(bottleneck["rate_bps"]): [{"whole": [["rate", 10**6]]}],
        str(bottleneck["delay_ns"]): [{"whole": [["rtt", MS / 2]]}],
        str(bottleneck["loss"]): [{"float": "loss", "times": 0.01}],
        as_in_plan(bottleneck["queue"]): [{"pick": "queues", "by": ["discipline"]}],
    }
    for n, flow in enumerate(plan["flows"]):
        access = plan["links"][2 + 4 * n]
        tokens[str(access["base_rtt_ns"])] = [{"whole": _rtt(n)}]
        tokens[str(access["delay_ns"])] = [{"whole": [[f"flows.{n}.extra", MS / 4]]}]
        tokens[str(flow["start_ns"])] = [{"whole": [[f"flows.{n}.start", S]]}]
        tokens[as_in_plan(flow["application"])] = [{"pick": "applications", "by": [f"flows.{n}.application"]}]
        by = [f"flows.{n}.{name}" for name in ("variant", "stack", "ecn")]
        tokens.setdefault(as_in_plan(flow["transport"]), []).append({"pick": "transports", "by": by})
    # The base RTT of the bottleneck, in both directions, is the largest of the flows.
    longest: Hole = {"largest": [_rtt(n) for n in range(flows)]}
    key = str(bottleneck["base_rtt_ns"])
    tokens[key] = [longest, longest, *tokens[key]]
    return _cut(plan_of(made), tokens)


def _file_template(flows: int) -> Template:
    settings = _probe(flows)
    first = settings["flows"][0]
    tokens: Tokens = {
        f"{number(settings['duration'])} s": [{"number": "duration", "times": 1, "unit": "s"}],
        str(settings["seed"]): [{"number": "seed", "times": 1}],
        f"{number(settings['rate'])} Mbit/s": [{"number": "rate", "times": 1, "unit": "Mbit/s"}],
        f"{number(settings['rtt'] / 2)} ms": [{"number": "rtt", "times": 0.5, "unit": "ms"}],
        f"{number(settings['loss'])} %": [{"number": "loss", "times": 1, "unit": "%"}],
        settings["discipline"]: [{"choice": "discipline"}],
        f"{number(settings['buffer'])} packets": [{"number": "buffer", "times": 1, "unit": "packets"}],
        first["variant"]: [{"choice": f"flows.{n}.variant"} for n in range(flows)],
        _section(stack_document(first)): [
            {"pick": "stack sections", "by": [f"flows.{n}.stack", f"flows.{n}.ecn"]} for n in range(flows)
        ],
    }
    for n, flow in enumerate(settings["flows"]):
        tokens[f"{number(flow['start'])} s"] = [{"number": f"flows.{n}.start", "times": 1, "unit": "s"}]
        tokens[f"{number(flow['extra'] / 4)} ms"] = [{"number": f"flows.{n}.extra", "times": 0.25, "unit": "ms"}]
        application = {"application": document(settings)["flows"][n]["application"]}
        tokens[_section(application)] = [{"pick": "application sections", "by": [f"flows.{n}.application"]}]
    return _cut(write(document(settings)), tokens)


def _section(part: dict[str, Any]) -> str:
    """Write a table of a flow as TOML has it in a file."""
    return write(part).replace("[", "[flows.", 1)


def _tables() -> dict[str, dict[str, Template]]:
    """Return the templates that a choice selects: parts of plans and files that were made with this choice."""
    tables: dict[str, dict[str, Template]] = {
        "seeds": {str(seed): [str(repetition_seed(seed, 0))] for seed in _seeds()},
        "queues": {},
        "applications": {},
        "application sections": {},
        "transports": {},
        "stack sections": {},
    }
    settings = _probe(1)
    flow = settings["flows"][0]
    for discipline in _options(PATH, "discipline"):
        plan = json.loads(plan_of(scenario({**settings, "discipline": discipline})))
        limit = {f"{settings['buffer']} packets": [{"number": "buffer", "times": 1, "unit": "packets"}]}
        tables["queues"][discipline] = _cut(as_in_plan(plan["links"][0]["queue"]), limit)
    for kind in _options(FLOW, "application"):
        own = {**settings, "flows": [{**flow, "application": kind}]}
        made = json.loads(plan_of(scenario(own)))["flows"][0]["application"]
        size = {str(flow["size"] * 1000): [{"whole": [["flow.size", 1000]]}]}
        tables["applications"][kind] = _cut(as_in_plan(made), size if kind == "transfer" else {})
        section = _section({"application": document(own)["flows"][0]["application"]})
        text = {f"{flow['size']} kB": [{"number": "flow.size", "times": 1, "unit": "kB"}]}
        tables["application sections"][kind] = _cut(section, text if kind == "transfer" else {})
    stacks = list(product(_options(FLOW, "stack"), _options(FLOW, "ecn")))
    for stack, ecn in stacks:
        tables["stack sections"][f"{stack}|{ecn}"] = [_section(stack_document({"stack": stack, "ecn": ecn}))]
    for variant, (stack, ecn) in product(_options(FLOW, "variant"), stacks):
        chosen = {**flow, "variant": variant, "stack": stack, "ecn": ecn}
        made = json.loads(plan_of(scenario({**settings, "flows": [chosen]})))["flows"][0]["transport"]
        tables["transports"][f"{variant}|{stack}|{ecn}"] = [as_in_plan(made)]
    return tables


def _late_start() -> dict[str, Any]:
    """Return the refusal of a flow that starts at the end of the run or later, with the message of `Scenario`."""
    settings = _probe(1)
    flow = {**settings["flows"][0], "start": 51.7}
    try:
        scenario({**settings, "flows": [flow]})
    except ScenarioError as error:
        tokens: Tokens = {
            f"{number(flow['start'])} s": [{"number": "flow.start", "times": 1, "unit": "s"}],
            f"{number(settings['duration'])} s": [{"number": "duration", "times": 1, "unit": "s"}],
        }
        return {"setting": "start", "below": "duration", "message": _cut(error.problems[0].message, tokens)}
    raise AssertionError("a flow starts after the end")


def _options(which: Iterable[Any], name: str) -> list[str]:
    (found,) = (field for field in which if isinstance(field, Choice) and field.name == name)
    return [option for option, _ in found.options]


def _seeds() -> range:
    (found,) = (field for field in PATH if isinstance(field, Number) and field.name == "seed")
    return range(int(found.least), int(found.most) + 1)


def _cut(text: str, tokens: Tokens) -> Template:
    """Cut a text at the tokens, and put their holes there. Every hole has to be used."""
    if not tokens:
        return [text]
    longest_first = sorted(tokens, key=len, reverse=True)
    pattern = re.compile(r"(?<![\w.])(" + "|".join(map(re.escape, longest_first)) + r")(?![\w.])")
    found: Template = []
    used = dict.fromkeys(tokens, 0)
    for n, part in enumerate(pattern.split(text)):
        if n % 2 == 0:
            found.append(part)
        else:
            holes = tokens[part]
            found.append(holes[min(used[part], len(holes) - 1)])
            used[part] += 1
    if short := [token for token, holes in tokens.items() if used[token] < len(holes)]:
        raise AssertionError(f"not in the text: {short}")
    return found
