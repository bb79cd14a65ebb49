"""The Wi-Fi media of a network: their links and the stations on them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dumbbell.exceptions import Problem, ScenarioError
from dumbbell.registry import unknown
from dumbbell.scenario.layout.drawing import Drawing
from dumbbell.scenario.network.wifi import Wifi

__all__ = ["Medium", "media"]


@dataclass(frozen=True)
class Medium:
    """A medium in place of the rates of two edges.

    Attributes
    ----------
    down, up : int
        The edges from the access point to the stations and back.
    stations : list of str
        The hosts that are stations, in the order of the nodes.
    wifi : Wifi
        Its parameters.
    """

    down: int
    up: int
    stations: list[str]
    wifi: Wifi


def media(drawing: Drawing, forward: Sequence[set[int]], flows: Sequence[Sequence[int]]) -> list[Medium]:
    """Find the media and their stations.

    Parameters
    ----------
    drawing : Drawing
        The network.
    forward : sequence of sets of int
        By flow: the edges that its data cross.
    flows : sequence of sequences of int
        By edge: the flows that cross it in either direction.
    """
    found = []
    for down, edge in enumerate(drawing.edges):
        wifi = edge.settings.wifi
        if wifi is None or down % 2 == 1:  # edges follow each other in pairs: forward, reverse
            continue
        ends = {drawing.ends[n][1 if down in forward[n] else 0] for n in flows[down]}
        stations = [node for node in drawing.nodes if node in ends]
        place = f"{edge.settings.place}.wifi"
        if not stations:
            raise ScenarioError([Problem(place, f"no flow crosses {edge.name}, so it has no station")])
        for name in wifi.stations or {}:
            if name not in stations:
                raise ScenarioError([Problem(f"{place}.stations.{name}", unknown("station", name, stations))])
        found.append(Medium(down, down + 1, stations, wifi))
    return found
