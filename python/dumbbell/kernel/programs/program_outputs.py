"""The output of real programs of a run, as results and tables of the simulator's form."""

from __future__ import annotations

import math
import re
import signal
from collections.abc import Mapping, MutableMapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import numpy as np
import polars as pl

from dumbbell import _core
from dumbbell.backends import Table
from dumbbell.common.documents import read_json
from dumbbell.kernel.guest import VARIANT_OF_A_RUN
from dumbbell.kernel.programs import browser_record, quic_sender
from dumbbell.kernel.programs.commands import HTTP3

__all__ = ["Readings", "read"]

CURL_VERSIONS = {"--http1.1": "1.1", "--http2": "2", HTTP3: "3"}
"""Versions of HTTP as curl reports them, by its options."""
REASON_LENGTH = 300
"""Characters of a program's message that are shown."""
DIFFERENCE = 0.05
"""Largest difference of a program's count from that of the links, as a fraction."""
IN_FLIGHT = 4 * 1500
"""Bytes for each packet in flight on average, by which the counts may differ: the program ends before they arrive."""
MOST_PINGS = 10_000_000
"""Packets of one ping: more than its output, which is kept up to a limit, can list."""
CONTROL = 65_536
"""Bytes of control connections and headers by which the counts may differ, too."""
REPLY = re.compile(r"icmp_seq=(\d+) .*time=([\d.]+) ms")
SUMMARY = re.compile(r"(\d+) packets transmitted, (\d+) received.* time (\d+)ms")


@dataclass
class Readings:
    """What `read` has found.

    Attributes
    ----------
    reports : dict
        Commands, outputs and results of the programs by flow.
    failures : list of str
        Sentences: programs that have failed. The run has no valid result.
    contradictions : list of str
        Sentences: figures of a program that differ from those of the link.
    warnings : list of str
        Sentences about doubtful results.
    """

    reports: dict[str, Any]
    failures: list[str] = field(default_factory=list)
    contradictions: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


def read(
    plan: dict[str, Any],
    result: dict[str, Any],
    tables: MutableMapping[str, Table],
    senders: Mapping[str, pl.DataFrame] = MappingProxyType({}),
) -> Readings:
    """Read the output of a run's programs into its flows, transfers and tables.

    Parameters
    ----------
    plan : dict
        The run's plan.
    result : dict
        The run's results. Rows of flows are changed, transfers are added, ``facts.programs`` is taken out.
    tables : dict of str to Table
        The run's series; tables of the programs are added.
    senders : mapping of str to DataFrame
        By flow: what its QUIC server has recorded, of `quic_sender.records`.
    """
    found = Readings(result["facts"].pop("programs", {}))
    rows = {row["name"]: row for row in result["flows"]}
    for flow in plan["flows"]:
        report = found.reports.get(flow["name"], {})
        client = report.get("client")
        if client is None:
            continue
        name, row = flow["application"]["name"], rows[flow["name"]]
        who = f"flow '{row['name']}'"
        for part in ("server", "client"):
            _check_end(report.get(part), name, f"{who}: its {part} ", found)
        try:
            if name == "iperf3":
                report["figures"] = _iperf3(read_json(client["stdout"]), row, tables)
            elif name == "ping":
                _ping(client["stdout"], row, tables, flow)
            elif name == "video":
                report["browser"] = browser_record.read(flow, report, row, result["transfers"], tables)
            elif name == "http":
                found.warnings += _http(client["stdout"], row, result["transfers"], flow["application"])
        except browser_record.PlayerError as e:
            found.failures.append(f"{who}: {e}")
        except (ValueError, LookupError, TypeError, AttributeError, ArithmeticError) as e:
            found.failures.append(f"{who}: the output of {client['command'][0]} can't be read ({e})")
        if row["name"] in senders:
            quic_sender.read(senders[row["name"]], report["zero_unix_ns"] * 1e-9, row, plan, tables)
        _check_variant(report, flow, row, found)
        if "figures" in report and plan["measure_from_ns"] <= row["start_s"] * 1e9:
            _compare(report["figures"]["delivered_bytes"], row, who, found)
    return found


def _check_end(program: dict[str, Any] | None, name: str, who: str, found: Readings) -> None:
    """Note a program that has failed, or whose output is too long."""
    if program is None:
        return
    if program.get("left_out_bytes"):
        found.warnings.append(f"{who}wrote {program['left_out_bytes']} bytes more than are kept")
    code = program["exit"]
    if code in (0, None) or (name == "ping" and code == 1 and SUMMARY.search(program["stdout"])):
        # ping ends with 1 if a reply is missing. A program that still runs at the flow's end is ended then.
        return
    how = f"ended by signal {_signal_name(code - 128)}" if code > 128 else f"ended with {code}"
    found.failures.append(f"{who}({program['command'][0]}) {how}{_reason(program)}")


def _signal_name(number: int) -> str:
    """Return a signal's name, such as SIGSEGV."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return str(number)


def _reason(program: dict[str, Any]) -> str:
    """Return the line of a program's output that has the reason of its failure."""
    try:
        return f": {read_json(program['stdout'])['error']}"
    except (ValueError, KeyError, TypeError):
        pass
    lines = [line.strip() for line in (program["stderr"] or program["stdout"]).splitlines() if line.strip()]
    if not lines:
        return ""
    # Python's reason is in the last line; other programs begin with it and may add their usage.
    return f": {lines[-1] if lines[0].startswith('Traceback') else lines[0]}"[:REASON_LENGTH]


def _check_variant(report: dict[str, Any], flow: dict[str, Any], row: dict[str, Any], found: Readings) -> None:
    """Replace the row's variant if the program has chosen another one for its connection."""
    used, names = report.get("variant"), _core.kernel_variants()
    asked = flow["transport"].get("variant", {}).get("name")
    if not used or asked is None or VARIANT_OF_A_RUN.fullmatch(used) or names.get(asked, asked) == used:
        return
    row["variant"] = used
    found.warnings.append(f"flow '{row['name']}': the program chose '{used}' for its connection, not '{asked}'")


def _compare(delivered: float, row: dict[str, Any], who: str, found: Readings) -> None:
    """Compare the bytes that a program has counted with those that have passed the links."""
    on_link = row["delivered_bytes"]
    allowed = max(DIFFERENCE * delivered, CONTROL + IN_FLIGHT * (row["mean_inflight_packets"] or 0.0))
    if abs(on_link - delivered) > allowed:
        found.contradictions.append(
            f"{who}: the program counts {delivered:.0f} delivered bytes, the links {on_link:.0f}"
        )


def _iperf3(document: dict[str, Any], row: dict[str, Any], tables: MutableMapping[str, Table]) -> dict[str, Any]:
    """Add iperf3's intervals as a table; returns its sums."""
    if "error" in document:
        raise ValueError(document["error"])
    intervals = document["intervals"]
    of_first = [interval["streams"][0] for interval in intervals]
    tables[f"iperf3/{row['name']}"] = {
        "t_ns": np.array([round((row["start_s"] + i["sum"]["end"]) * 1e9) for i in intervals], np.uint64),
        "sent_bps": np.array([i["sum"]["bits_per_second"] for i in intervals]),
        "retransmits": np.array([i["sum"].get("retransmits", 0) for i in intervals], np.uint64),
        "cwnd": np.array([s.get("snd_cwnd", np.nan) for s in of_first], np.float64),
        "rtt_ns": np.array([s.get("rtt", np.nan) * 1e3 for s in of_first], np.float64),
    }
    end = document["end"]
    return {
        "version": document["start"]["version"],
        "sent_bps": _number(end["sum_sent"]["bits_per_second"]),
        "goodput_bps": _number(end["sum_received"]["bits_per_second"]),
        "delivered_bytes": _number(end["sum_received"]["bytes"]),
        "retransmits": end["sum_sent"].get("retransmits"),
        "congestion": end.get("sender_tcp_congestion"),
    }


def _number(value: Any) -> Any:  # noqa: ANN401
    """Return a number of a program's document as it is; ValueError if it is none."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ValueError(f"{str(value)[:30]!r} is not a number")
    return value


def _ping(output: str, row: dict[str, Any], tables: MutableMapping[str, Table], flow: dict[str, Any]) -> None:
    """Read ping's replies and its summary."""
    replies = {int(number): float(ms) for number, ms in REPLY.findall(output)}
    sent, received, span_ms = (int(n) for n in SUMMARY.findall(output)[-1])
    if not received <= sent <= MOST_PINGS:
        raise ValueError(f"{received} replies to {sent} packets")
    row["pings_sent"], row["pings_lost"] = sent, sent - received
    times = np.sort(np.array(list(replies.values())))
    if len(times):
        row["rtt_mean_ms"], row["rtt_min_ms"], row["rtt_max_ms"] = map(float, (times.mean(), times[0], times[-1]))
        for q in (50, 95, 99):
            row[f"rtt_p{q}_ms"] = float(times[max(0, -(-q * len(times) // 100) - 1)])
    command = flow["application"]["client"]["command"]
    # ping's intervals aren't exact to the millisecond: the mean interval is computed from the total time.
    interval = span_ms * 1e-3 / (sent - 1) if sent > 1 else float(command[command.index("-i") + 1])
    tables[f"ping/{row['name']}"] = {
        "t_ns": np.array([round((row["start_s"] + n * interval) * 1e9) for n in range(sent)], np.uint64),
        "rtt_ns": np.array([replies.get(n + 1, np.nan) * 1e6 for n in range(sent)]),
    }


def _http(output: str, row: dict[str, Any], transfers: list[dict[str, Any]], application: dict[str, Any]) -> list[str]:
    """Read the downloads of curl or aioquic, one per line; returns a sentence for each with another version."""
    client = application["client"]["command"]
    asked = next(
        (v for option, v in CURL_VERSIONS.items() if option in client), "3" if "{web_client}" in client else ""
    )
    at, done, odd = row["start_s"], 0, []
    for number, line in enumerate(output.splitlines()):
        download = read_json(line)
        whole = download["http_code"] == 200 and download["exitcode"] == 0
        end = at + download["time_total"]
        transfers.append(
            {
                "flow": row["name"],
                "number": number,
                "start_s": at,
                "end_s": end if whole else None,
                "bytes": download["size_download"],
            }
        )
        if whole and asked and download["http_version"] != asked:
            odd.append(f"flow '{row['name']}': download {number} had HTTP/{download['http_version']}, not {asked}")
        at, done = end, done + whole
    tried = len(output.splitlines())
    row["transfers_started"], row["transfers_completed"] = tried, done
    if done == tried > 0:
        row["completion_time_s"] = at - row["start_s"]
    return odd
