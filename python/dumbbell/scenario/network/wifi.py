"""Wi-Fi in place of a link's rate: an access point and its stations share a medium.

Forward is the direction from the access point to the stations. Each host behind the far end whose flows cross the
link is a station. The models are in ``crates/wifi``.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import Discriminator, Field, Tag, model_validator

from dumbbell import _core
from dumbbell.scenario.base import Flag, Part, Text, Whole, problem
from dumbbell.scenario.network.impairments import PLAIN, TABLE
from dumbbell.scenario.units import ChannelWidth, Decibels, Duration, PacketSize, PositiveDuration, Rate, Signal

__all__ = ["PRESETS", "Background", "Fading", "Station", "Wifi", "WifiRate"]


class MediumPacket(PacketSize):
    """The size of a packet on the medium."""

    __slots__ = ()
    maximum = (2304, "at most 2304 bytes, the largest MSDU [IEEE 802.11-2016 §9.2.3]")


class FrameTime(Duration):
    """The duration of an A-MPDU."""

    __slots__ = ()
    example = '"4 ms"'
    maximum = (10_000_000, "at most 10 ms, the longest PPDU [IEEE 802.11-2016 §19.4.4]")


class Fading(Part):
    """Slow fading of each station's signal: normal in dB, with a correlation that decays exponentially."""

    deviation: Decibels
    """Standard deviation; "0 dB": no fading."""
    time: PositiveDuration = PositiveDuration("1 s")
    """Time in which the correlation decays to 1/e."""


class WifiRate(Part):
    """A given rate instead of a rate control."""

    fixed: Rate
    """One of the standard's rates."""


def _form(value: Any) -> str:  # noqa: ANN401
    return TABLE if isinstance(value, dict | WifiRate) else PLAIN


RateControl = Annotated[
    Annotated[Literal["ideal", "minstrel_ht"], Tag(PLAIN)] | Annotated[WifiRate, Tag(TABLE)], Discriminator(_form)
]


class Station(Part):
    """A station whose signal differs from the others'."""

    signal: Signal | None = None
    """Signal of the access point at this station. Default: that of the medium."""
    uplink_signal: Signal | None = None
    """Signal of this station at the access point. Default: its `signal` here, or else that of the medium."""


class Background(Part):
    """Stations whose traffic the model makes."""

    stations: Annotated[Whole, Field(ge=1, le=200)] = 1
    """Number of stations."""
    traffic: Literal["up", "down", "both"] = "up"
    """"up": each always has packets to send. "down": packets for each of them always wait at the access point."""
    packet: MediumPacket = MediumPacket("1500 bytes")
    """Size of the packets."""
    signal: Signal | None = None
    """Signal of the access point at these stations. Default: that of the medium."""
    uplink_signal: Signal | None = None
    """Signal of these stations at the access point. Default: as for the other stations."""


PRESETS: dict[str, dict[str, Any]] = {
    "strong": {"standard": "11n", "signal": "-45 dBm", "fading": {"deviation": "1.5 dB"}},
    "weak": {"standard": "11n", "signal": "-80 dBm", "fading": {"deviation": "1.5 dB"}},
    "lecture-hall": {
        "standard": "11g",
        "signal": "-70 dBm",
        "rate_control": {"fixed": "24 Mbit/s"},
        "background": [{"stations": 7}],
    },
}
"""Values that a preset gives. "lecture-hall": a download over UDP gets 1.9 Mbit/s, as measured in a lecture hall."""

KEYS = {
    "width_mhz": "width",
    "short_guard": "guard_interval",
    "ampdu_ns": "aggregation",
    "noise_figure_db": "noise_figure",
    "rate_control": "rate_control.fixed",
}
"""Keys of the scenario by the plan's, where they differ."""


class Wifi(Part):
    """A Wi-Fi medium. Defaults are those of the standard; a preset gives values that other keys replace."""

    preset: Literal["strong", "weak", "lecture-hall"] | None = None
    """Values to begin with: "strong" (-45 dBm), "weak" (-80 dBm), both 11n with fading; "lecture-hall": 11g at
    24 Mbit/s with 7 stations that always send."""
    standard: Literal["11b", "11a", "11g", "11n", "11ac"] | None = None
    """The standard; needed without a preset. "11g" has no 11b stations."""
    signal: Signal | None = None
    """Signal of the access point at the stations; needed without a preset."""
    uplink_signal: Signal | None = None
    """Signal of the stations at the access point. Default: `signal`."""
    stations: dict[Text, Station] | None = None
    """Stations, by their host, whose signals differ."""
    width: ChannelWidth | None = None
    """Width of the channel: 20 or 40 MHz (11n), 20, 40, 80 or 160 MHz (11ac). Default: the smallest."""
    streams: Annotated[Whole, Field(ge=1, le=8)] = 1
    """Largest number of spatial streams."""
    guard_interval: Literal["long", "short"] = "long"
    """Guard interval of all frames: 800 ns or 400 ns (11n, 11ac)."""
    noise_figure: Decibels = Decibels("7 dB")
    """Noise figure of the receivers."""
    margin: Decibels = Decibels("0 dB")
    """Implementation margin of the receivers; the standard's sensitivities assume 10 dB noise figure and 5 dB."""
    fading: Fading | None = None
    """Slow fading. Default: none."""
    rate_control: RateControl | None = None
    """"minstrel_ht" (the default): Linux's; "ideal": the best rate, from the true SNR; { fixed = "24 Mbit/s" }."""
    aggregation: FrameTime | None = None
    """Longest A-MPDU. Default: "4 ms" with 11n and 11ac; "0 s": none."""
    retry_limit: Annotated[Whole, Field(ge=1, le=255)] = 7
    """Transmissions of a frame before it is dropped."""
    cw_min: Annotated[Whole, Field(ge=0, le=32767)] | None = None
    """Smallest contention window, slots: a power of 2 less 1. Default: 31 with 11b, else 15."""
    cw_max: Annotated[Whole, Field(ge=0, le=32767)] = 1023
    """Largest contention window, slots: a power of 2 less 1."""
    aifsn: Annotated[Whole, Field(ge=2, le=15)] | None = None
    """Slots after SIFS that the medium must be idle. Default: 3 (best effort) with 11n and 11ac, else 2 (DIFS)."""
    airtime_fairness: Flag = False
    """True: the access point has a queue for each station and divides the airtime equally, as Linux does.
    False: one queue for all."""
    background: list[Background] | None = None
    """Stations whose traffic the model makes. Default: none."""

    @model_validator(mode="before")
    @classmethod
    def _presets(cls, data: Any) -> Any:  # noqa: ANN401
        """Fill in the values of the preset."""
        if isinstance(data, dict) and isinstance(data.get("preset"), str):
            return PRESETS.get(data["preset"], {}) | data
        return data

    @model_validator(mode="after")
    def _complete(self) -> Wifi:
        for key in ("standard", "signal"):
            if getattr(self, key) is None:
                raise problem(f"needed: the {key} (or a preset: {', '.join(PRESETS)})", key)
        try:
            self.rate_bps  # noqa: B018
        except _core.ParamError as e:
            where, message = e.args
            key = KEYS.get(where, where)
            raise problem(message, key if key.partition(".")[0] in type(self).model_fields else "") from None
        return self

    @property
    def rate_bps(self) -> int:
        """The fastest rate of the medium, bit/s."""
        return _core.check_wifi(json.dumps(self.plan(["station"]), allow_nan=False))

    def plan(self, hosts: Sequence[str]) -> dict[str, Any]:
        """Return the plan's entry for the medium with these stations, as plain values."""
        modern = self.standard in {"11n", "11ac"}
        widths = {"11b": 22, "11a": 20, "11g": 20}
        control: dict[str, Any] = {"name": self.rate_control or "minstrel_ht"}
        if isinstance(self.rate_control, WifiRate):
            control = {"name": "fixed", "rate_bps": self.rate_control.fixed.bps}
        aggregation = self.aggregation.ns if self.aggregation is not None else 4_000_000 * modern
        stations = self.stations or {}
        return {
            "standard": self.standard,
            "width_mhz": self.width.mhz if self.width is not None else widths.get(str(self.standard), 20),
            "streams": self.streams,
            "short_guard": self.guard_interval == "short",
            "noise_figure_db": self.noise_figure.db,
            "margin_db": self.margin.db,
            "fading_db": self.fading.deviation.db if self.fading is not None else 0.0,
            "fading_ns": self.fading.time.ns if self.fading is not None else 1_000_000_000,
            "rate_control": control,
            "ampdu_ns": aggregation,
            "retry_limit": self.retry_limit,
            "cw_min": self.cw_min if self.cw_min is not None else (31 if self.standard == "11b" else 15),
            "cw_max": self.cw_max,
            "aifsn": self.aifsn if self.aifsn is not None else (3 if modern else 2),
            "airtime_fairness": self.airtime_fairness,
            "stations": [{"name": host, **self._signals(stations.get(host))} for host in hosts],
            "background": self._background(),
        }

    def _signals(self, own: Station | Background | None) -> dict[str, float]:
        down = self.signal if own is None or own.signal is None else own.signal
        up = self.uplink_signal or self.signal
        if own is not None and (own.uplink_signal or own.signal) is not None:
            up = own.uplink_signal or own.signal
        return {"signal_dbm": down.dbm if down is not None else 0.0, "uplink_dbm": up.dbm if up is not None else 0.0}

    def _background(self) -> list[dict[str, Any]]:
        groups = [group for group in self.background or [] for _ in range(group.stations)]
        return [
            {
                "name": f"background{n}",
                **self._signals(group),
                "up": group.traffic != "down",
                "down": group.traffic != "up",
                "packet_bytes": group.packet.bytes,
            }
            for n, group in enumerate(groups, start=1)
        ]
