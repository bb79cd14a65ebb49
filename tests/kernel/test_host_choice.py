"""Choice of the emulation, refusals, marks, and the report of `dumbbell doctor`."""

from __future__ import annotations

import json
import os
import re
import stat
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from begun_runs import given_to_nobody

from dumbbell import registry
from dumbbell.backends import Job, backend
from dumbbell.exceptions import BackendError
from dumbbell.kernel.guest import GUEST
from dumbbell.kernel.host import features
from dumbbell.kernel.host.backend import Kernel
from dumbbell.kernel.host.features import bpf_variants
from dumbbell.kernel.host.host_kernel import impossible_windows, run_host
from dumbbell.kernel.host.link_emulation import LinkEmulation
from hosts import once, scenario
from required import require, require_root

pytestmark = pytest.mark.usefixtures("require_link_emulation")


def test_impossible_windows_are_reported() -> None:
    flows: list[dict[str, Any]] = [
        {"name": "a", "cwnd_mean_packets": 6.7e8},
        {"name": "b", "cwnd_mean_packets": 1e6},
        {"name": "p", "cwnd_mean_packets": None},
    ]
    assert [text.split()[1] for text in impossible_windows(flows)] == ["'a'"]


@pytest.mark.parametrize("emulation", ["link", "tc"])
@pytest.mark.parametrize(
    ("expected", "message"),
    [
        # 10 of 10.5 Mbit/s: 4.8 % too little, or more on a busy host.
        ({"rate_bps": 10_500_000}, r"the rate of r1->r2 is -\d+\.\d % off: \d+ bit/s, expected 10500000 within 2 %"),
        # 2 ms more in one direction than the scenario has.
        ({"delay_ns": 2_000_000}, r"the RTT of flow f is \d+\.\d+ ms, expected 2\.\d+ ms within 0\.20 ms"),
    ],
)
def test_a_link_that_is_off_is_refused_with_the_numbers(
    emulation: str, expected: dict[str, int], message: str, tmp_path: Path
) -> None:
    plan = Job(scenario(network__bottleneck__delay="0 ms").cells[0], 0, 1).plan()
    links = [{**link, **(expected if link["name"] == "r1->r2" else {})} for link in plan["links"]]
    order = {
        "plan": plan,
        "expected": {**plan, "links": links},
        "sample_ns": 10_000_000,
        "calibration": "refuse",
        "emulation": emulation,
    }
    with pytest.raises(BackendError, match=f"^the link differs from the scenario: .*{message}"):
        run_host(tmp_path, order, 10)
    assert not (tmp_path / "result.json").exists()


def test_a_late_run_is_marked() -> None:
    late = once(scenario(duration="1 s"), max_late_ms=1e-6, calibration="off")
    assert "one packet in a hundred" in late.runs[0].invalid[0]
    assert any(w.name == "invalid-run" for w in late.lint())


def test_refusals_come_before_anything_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_args: Any, **_more: Any) -> None:
        raise AssertionError("a run was begun")

    monkeypatch.setattr("dumbbell.kernel.host.host_kernel.run_host", never)
    monkeypatch.setattr("dumbbell.kernel.host.host_kernel.available_variants", lambda: {"reno": "built-in"})
    monkeypatch.setattr("dumbbell.kernel.host.host_kernel.bpf_variants", lambda: ([], "too old"))
    with pytest.raises(BackendError, match=r"flows\.f\.variant: 'tahoe' given: the kernel doesn't have it"):
        once(scenario(flows=[{"name": "f", "variant": "tahoe"}]))
    with pytest.raises(BackendError, match=r"flows\.f\.variant: this host's kernel doesn't have 'veno'.*--backend uml"):
        once(scenario(flows=[{"name": "f", "variant": "veno"}]))
    tuned = {"name": "cubic", "beta": 0.8}
    with pytest.raises(BackendError, match=r"flows\.f\.variant\.beta: .*one set of parameters"):
        once(scenario(flows=[{"name": "f", "variant": tuned}]))
    with pytest.raises(BackendError, match="calibration 'marc': did you mean 'mark'"):
        LinkEmulation(calibration="marc")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("name", "option", "value", "expected"),
    [
        ("kernel", "sample", 1, "back end 'kernel': unknown option 'sample': did you mean 'sample_ms'?"),
        ("kernel", "sample_ms", "abc", "sample_ms: abc given: must be a number from 0.1 to 10000"),
        ("uml", "sample_ms", True, "sample_ms: true given: must be a number from 0.1 to 10000"),
        ("kernel", "sample_ms", float("nan"), "sample_ms: nan given: must be a number from 0.1 to 10000"),
        ("kernel", "max_late_ms", 0, "max_late_ms: 0 given: must be a number of 1e-06 or more"),
        ("uml", "limit_s", -5, "limit_s: -5 given: must be a number of 0.1 or more"),
        ("kernel", "offloads", True, "unknown offloads 'true' (known: auto, off, on)"),
        ("kernel", "emulation", "netem", "unknown emulation 'netem' (known: best, link, tc, uml)"),
        ("kernel", "emulation", "lnik", "unknown emulation 'lnik': did you mean 'link'?"),
        ("kernel", "way", "tc", "back end 'kernel': option 'way' is called 'emulation' now: emulation=tc"),
        ("sim", "way", "link", "back end 'sim': unknown option 'way': it has none"),
    ],
)
def test_options_are_refused_with_the_allowed_values(name: str, option: str, value: object, expected: str) -> None:
    with pytest.raises(BackendError) as refused:
        backend(name, {option: value})
    assert str(refused.value) == expected


def test_the_best_emulation_is_chosen_and_printed(
    cli: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path
) -> None:
    job = Job(scenario().cells[0], 0, 1)
    chosen, description = Kernel().choose([job])
    assert isinstance(chosen, LinkEmulation)
    assert "this host's own" in description
    file = tmp_path / "s.toml"
    file.write_text(scenario(duration="1 s").to_toml())
    plan = cli("kernel", "plan", file)
    assert plan.returncode == 0
    assert "ip -n 'f.from' addr add 10.1.0.0/32 dev tun0" in plan.stdout
    assert "link r1->r2: 10 Mbit/s; delay 20 ms; queue droptail limit 33 packets" in plan.stdout
    assert "flow f: bulk from 10.1.0.0 to 10.2.0.0 by s1->r1, r1->r2, r2->d1, TCP_CONGESTION reno" in plan.stdout
    assert "before the run: echoes" in plan.stdout
    done = cli("run", file, "--backend", "kernel", "--json", "-o", "calibration=off", "-o", "sample_ms=1")
    assert done.returncode == 0, done.stderr
    assert "this host's own, with link emulation" in done.stderr
    assert json.loads(done.stdout)["runs"][0]["facts"]["emulation"] == "link"


def test_doctor_knows_this_host(cli: Callable[..., subprocess.CompletedProcess[str]]) -> None:
    found = json.loads(cli("doctor", "--json").stdout)
    variants = {f["name"].partition(" ")[0]: f for f in found["Congestion control"]}
    assert variants["reno"]["ok"]
    assert all(variants[v]["ok"] for v in bpf_variants()[0])
    assert variants["tahoe"]["state"] == "simulator only"
    named = {word for f in found["Congestion control"] for word in re.findall(r"[\w+]+", f["name"])}
    assert set(registry.variants()) <= named
    assert all(f["ok"] or f["remedy"] for findings in found.values() for f in findings)
    assert next(f for f in found["Rights"] if f["name"] == "TUN interfaces")["ok"]


@pytest.mark.parametrize("emulation", ["link", "tc"])
def test_an_ordinary_user_can_run_it(emulation: str, tmp_path: Path) -> None:
    require_root()
    place, program = tmp_path / "run", tmp_path / "program"
    place.mkdir()
    as_nobody = given_to_nobody(place, program, GUEST)
    probed = subprocess.run([str(program), "probe"], capture_output=True, check=False, **as_nobody)
    refused = json.loads(probed.stdout)["namespaces"] is not None
    require("users", "this host allows ordinary users no namespaces" if refused else None)
    closed = not Path("/dev/net/tun").stat().st_mode & stat.S_IWOTH
    require("users", "/dev/net/tun is for root alone: chmod 0666 /dev/net/tun" if closed else None)
    order = {
        "plan": Job(scenario(duration="1 s", network__bottleneck__delay="0 ms").cells[0], 0, 1).plan(),
        "sample_ns": 10_000_000,
        "calibration": "off",
        "emulation": emulation,
        "parent_pid": os.getpid(),
    }
    (place / "plan.json").write_text(json.dumps(order))
    subprocess.run([str(program), "host"], cwd=place, timeout=300, check=False, **as_nobody)
    assert not (place / "error.txt").exists(), (place / "error.txt").read_text()
    result = json.loads((place / "result.json").read_text())
    assert result["flows"][0]["delivered_bytes"] > 100_000


def test_what_another_run_has_loaded_is_not_the_kernels(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    names = tmp_path / "available"
    names.write_text("reno db7bd2v0 cubic db1v12\n")
    monkeypatch.setattr(features, "AVAILABLE", names)
    monkeypatch.setattr(features, "_modules", list)
    assert set(features.available_variants()) == {"reno", "cubic"}
