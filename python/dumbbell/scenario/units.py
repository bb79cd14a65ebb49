"""Quantities with their units, as a scenario writes them.

A quantity stays the text that the user wrote (``"10 Mbit/s"``) and knows its value in base units: ``.ns``, ``.bps``,
``.bytes``, ``.share``. The Rust side reads the text, so that both sides agree on every unit.
"""

from __future__ import annotations

from typing import Any, ClassVar, Self

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from dumbbell import _core
from dumbbell.common.words import shown

__all__ = [
    "ByteCount",
    "ChannelWidth",
    "Decibels",
    "Duration",
    "Frequency",
    "MeanPackets",
    "Overhead",
    "PacketCount",
    "PacketSize",
    "Percentage",
    "PositiveDuration",
    "Quantity",
    "Rate",
    "Ratio",
    "Signal",
    "Volume",
]


class Quantity(str):
    """A number with a unit. Equal quantities are equal texts: ``"1 s"`` is not ``"1000 ms"``."""

    __slots__ = ("_value",)

    kind: ClassVar[str]
    what: ClassVar[str]
    example: ClassVar[str]
    minimum: ClassVar[tuple[float, str] | None] = None
    maximum: ClassVar[tuple[float, str] | None] = None

    _value: int | float

    def __new__(cls, text: str) -> Self:
        """Read a text; ValueError explains the mistake and shows the right form."""
        if isinstance(text, cls):
            return text
        if not isinstance(text, str):
            raise ValueError(f"{shown(text)} given: {cls.what} such as {cls.example} is needed")
        value = _core.parse(cls.kind, text)
        if cls.minimum is not None and value < cls.minimum[0]:
            raise ValueError(f"'{text}' given: must be {cls.minimum[1]}")
        if cls.maximum is not None and value > cls.maximum[0]:
            raise ValueError(f"'{text}' given: must be {cls.maximum[1]}")
        self = super().__new__(cls, text)
        self._value = value
        return self

    def __getnewargs__(self) -> tuple[str]:
        return (str(self),)

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:  # noqa: ANN401
        """Validate by construction; serialize as the text."""
        return core_schema.no_info_plain_validator_function(
            cls._validate, serialization=core_schema.plain_serializer_function_ser_schema(str)
        )

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        """Describe the text form."""
        return {"type": "string", "examples": [cls.example.strip('"')]}

    @classmethod
    def _validate(cls, value: Any) -> Self:  # noqa: ANN401
        try:
            return cls(value)
        except ValueError as e:
            raise PydanticCustomError("quantity", "{message}", {"message": str(e)}) from None


class Duration(Quantity):
    """A span of time, zero allowed."""

    __slots__ = ()
    kind = "duration"
    what = "a time"
    example = '"40 ms"'

    @property
    def ns(self) -> int:
        """Nanoseconds."""
        return int(self._value)

    @property
    def seconds(self) -> float:
        """Seconds."""
        return self._value / 1e9


class PositiveDuration(Duration):
    """A span of time longer than zero."""

    __slots__ = ()
    minimum = (1, "longer than zero")


class Rate(Quantity):
    """A bit rate above zero."""

    __slots__ = ()
    kind = "rate"
    what = "a rate"
    example = '"10 Mbit/s"'
    minimum = (1, "above zero")

    @property
    def bps(self) -> int:
        """Bits per second."""
        return int(self._value)


class Frequency(Quantity):
    """A number of events per time, above zero."""

    __slots__ = ()
    kind = "per second"
    what = "a number per time"
    example = '"200 /s"'
    minimum = (1e-6, "at least 1e-6 /s")
    maximum = (1e9, "at most 1e9 /s")

    @property
    def per_s(self) -> float:
        """Events per second."""
        return float(self._value)


class ByteCount(Quantity):
    """A number of bytes, zero allowed."""

    __slots__ = ()
    kind = "bytes"
    what = "a size"
    example = '"1000 bytes"'

    @property
    def bytes(self) -> int:
        """Bytes."""
        return int(self._value)


class Volume(ByteCount):
    """A number of bytes above zero."""

    __slots__ = ()
    minimum = (1, "at least 1 byte")


class PacketSize(ByteCount):
    """The size of a packet: an IP packet holds at most 65535 bytes [RFC 791 §3.1]."""

    __slots__ = ()
    minimum = (1, "at least 1 byte")
    maximum = (65535, "at most 65535 bytes, the largest IP packet")


class Overhead(ByteCount):
    """Framing bytes added to each packet."""

    __slots__ = ()
    maximum = (65535, "at most 65535 bytes")


class PacketCount(Quantity):
    """A number of packets above zero."""

    __slots__ = ()
    kind = "packets"
    what = "a number of packets"
    example = '"3 packets"'
    minimum = (1, "at least 1 packet")

    @property
    def packets(self) -> int:
        """Packets."""
        return int(self._value)


class MeanPackets(Quantity):
    """A mean number of packets: at least one, fractions allowed."""

    __slots__ = ()
    kind = "mean packets"
    what = "a mean number of packets"
    example = '"2.5 packets"'
    minimum = (1, "at least 1 packet")

    @property
    def packets(self) -> float:
        """Packets."""
        return float(self._value)


class Percentage(Quantity):
    """A probability, in percent."""

    __slots__ = ()
    kind = "probability"
    what = "a percentage"
    example = '"0.1 %"'

    @property
    def share(self) -> float:
        """The probability, in 0..1."""
        return float(self._value)


class Signal(Quantity):
    """A signal in dBm."""

    __slots__ = ()
    kind = "dbm"
    what = "a signal"
    example = '"-70 dBm"'
    minimum = (-120, "at least -120 dBm")
    maximum = (30, "at most 30 dBm")

    @property
    def dbm(self) -> float:
        """The signal, dBm."""
        return float(self._value)


class Ratio(Quantity):
    """A ratio in dB, below 0 dB too."""

    __slots__ = ()
    kind = "db"
    what = "a ratio"
    example = '"7 dB"'

    @property
    def db(self) -> float:
        """The ratio, dB."""
        return float(self._value)


class Decibels(Ratio):
    """A ratio of at least 0 dB. Of fading, noise figures and margins, larger ones than this describe no radio."""

    __slots__ = ()
    minimum = (0, "at least 0 dB")
    maximum = (40, "at most 40 dB")


class ChannelWidth(Quantity):
    """The width of a channel."""

    __slots__ = ()
    kind = "megahertz"
    what = "a width"
    example = '"20 MHz"'
    minimum = (1, "at least 1 MHz")

    @property
    def mhz(self) -> int:
        """The width, MHz."""
        return int(self._value)
