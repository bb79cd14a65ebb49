"""Real programs of a run: their commands, and their output as results and tables of the simulator's form."""

from __future__ import annotations

import json
import re
import shutil
import sys
from pathlib import Path
from typing import Any

import numpy as np

from dumbbell import kernel
from dumbbell.kernel.outcome import Table

__all__ = ["commands", "read", "refusal"]

WEB = Path(kernel.__file__).with_name("web.py")
PACKAGES = {"iperf3": "iperf3", "curl": "curl", "ping": "iputils-ping"}
"""Debian's packages of the programs that scenarios name by kind."""
REPLY = re.compile(r"icmp_seq=(\d+) .*time=([\d.]+) ms")
SUMMARY = re.compile(r"(\d+) packets transmitted, (\d+) received.* time (\d+)ms")


def commands(plan: dict[str, Any]) -> dict[str, Any]:
    """Return a plan in which the commands of programs have this host's paths."""
    text = json.dumps(plan, allow_nan=False)
    for word, path in (("{python}", sys.executable), ("{web}", str(WEB))):
        text = text.replace(word, json.dumps(path)[1:-1])
    return dict(json.loads(text))


def refusal(plan: dict[str, Any]) -> str | None:
    """Return the first program of a plan that isn't installed here, with its place and package; None if all are."""
    for flow in plan["flows"]:
        application = flow["application"]
        if application["kind"] != "program":
            continue
        place = f"flows.{flow['name']}.application"
        for part in (application["server"], application["client"]):
            name = part["command"][0] if part else "{python}"
            if name != "{python}" and shutil.which(name) is None:
                remedy = f" (Debian: `apt-get install {PACKAGES[name]}`)" if name in PACKAGES else ""
                return f"{place}: '{name}' isn't installed{remedy}"
    return None


def read(
    plan: dict[str, Any],
    result: dict[str, Any],
    tables: dict[str, Table],
) -> tuple[dict[str, Any], list[str]]:
    """Read the output of a run's programs into its flows, transfers and tables.

    Parameters
    ----------
    plan : dict
        The run's plan.
    result : dict
        The run's results. Rows of flows are changed, transfers are added, ``facts.programs`` is taken out.
    tables : dict of str to Table
        The run's series; tables of the programs are added.

    Returns
    -------
    dict, list of str
        Commands, outputs and results of the programs by flow; a sentence for each failure.
    """
    reports: dict[str, Any] = result["facts"].pop("programs", {})
    failures = []
    rows = {row["name"]: row for row in result["flows"]}
    for flow in plan["flows"]:
        client = reports.get(flow["name"], {}).get("client")
        if client is None:
            continue
        name, row = flow["application"]["name"], rows[flow["name"]]
        if client["exit"] != 0:
            how = "didn't end by itself" if client["exit"] is None else f"ended with {client['exit']}"
            last = (client["stderr"].strip() or client["stdout"].strip()[-300:]).splitlines()[-1:]
            failures.append(
                f"flow '{row['name']}': {client['command'][0]} {how}{': ' if last else ''}{''.join(last)}"
            )
        try:
            if name == "iperf3":
                reports[row["name"]]["figures"] = _iperf3(json.loads(client["stdout"]), row, tables)
            elif name == "ping":
                _ping(client["stdout"], row, tables, flow)
            elif name == "http":
                _http(client["stdout"], row, result["transfers"])
        except (ValueError, KeyError, IndexError, TypeError) as e:
            failures.append(f"flow '{row['name']}': the output of {client['command'][0]} can't be read ({e})")
    return reports, failures


def _iperf3(document: dict[str, Any], row: dict[str, Any], tables: dict[str, Table]) -> dict[str, Any]:
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
        "sent_bps": end["sum_sent"]["bits_per_second"],
        "goodput_bps": end["sum_received"]["bits_per_second"],
        "delivered_bytes": end["sum_received"]["bytes"],
        "retransmits": end["sum_sent"].get("retransmits"),
        "congestion": end.get("sender_tcp_congestion"),
    }


def _ping(output: str, row: dict[str, Any], tables: dict[str, Table], flow: dict[str, Any]) -> None:
    """Read ping's replies and its summary."""
    replies = {int(number): float(ms) for number, ms in REPLY.findall(output)}
    sent, received, span_ms = (int(n) for n in SUMMARY.findall(output)[-1])
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


def _http(output: str, row: dict[str, Any], transfers: list[dict[str, Any]]) -> None:
    """Read curl's downloads, one per line."""
    at, done = row["start_s"], 0
    for number, line in enumerate(output.splitlines()):
        download = json.loads(line)
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
        at, done = end, done + whole
    tried = len(output.splitlines())
    row["transfers_started"], row["transfers_completed"] = tried, done
    if done == tried > 0:
        row["completion_time_s"] = at - row["start_s"]
