"""Real programs of a run: their commands, and refusals where one can't run."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from dumbbell.common.extras import missing
from dumbbell.exceptions import BackendError
from dumbbell.kernel.programs.certificate import fingerprint, make_certificate
from dumbbell.kernel.programs.chromium import CHROMIUM, find_chromium
from dumbbell.scenario import Scenario
from dumbbell.scenario.flow.programs import own_commands

__all__ = ["ProgramError", "commands", "in_plan", "machine_refusal", "prepare", "refusal", "without_consent"]

HERE = Path(__file__).parent
SCRIPTS = {
    **{f"{{{name}}}": str(HERE / f"{name}.py") for name in ("web", "web_server", "web_client", "browser_client")},
    "{player}": str(HERE / "player"),
}
"""Programs of the package, by the words of plans, and the folder of the browser's page."""
CHROMIUM_WORD = "{chromium}"
WEB_PACKAGES = ("aioquic", "hypercorn", "cryptography")
"""Packages of the extra ``web`` that the server and the client of HTTP/3 import."""
AIOQUIC = {"reno": "reno", "newreno": "reno", "cubic": "cubic"}
"""Variants of aioquic, with its names."""
HTTP3 = "--http3-only"
PACKAGES = {"iperf3": "iperf3", "curl": "curl", "ping": "iputils-ping"}
"""Debian's packages of the programs that scenarios name by kind."""
MACHINE_PATH = "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin"
"""The PATH of programs in the virtual machine; `surroundings.rs` has the same."""


class ProgramError(BackendError):
    """A program of a run has failed; other runs may still succeed."""


def in_plan(plan: dict[str, Any]) -> int:
    """Return the number of programs in a plan."""
    applications = [flow["application"] for flow in plan["flows"]]
    return sum(1 + (a["server"] is not None) for a in applications if a["kind"] == "program")


def commands(plan: dict[str, Any], *, public: bool = False) -> dict[str, Any]:
    """Return a plan in which the commands of programs have this host's paths.

    Parameters
    ----------
    plan : dict
        The plan.
    public : bool
        True if another user than the present one starts the programs.
    """
    plan = json.loads(json.dumps(plan, allow_nan=False))
    for flow in plan["flows"]:
        if flow["application"]["kind"] == "program" and flow["transport"]["kind"] == "quic":
            variant = flow["transport"]["variant"]["name"]
            command = flow["application"]["server"]["command"]
            command[:] = [AIOQUIC.get(variant, variant) if word == "{variant}" else word for word in command]
    text = json.dumps(plan, allow_nan=False)
    found = {"{python}": _python(public=public), "{site}": _site(), CHROMIUM_WORD: find_chromium() or "", **SCRIPTS}
    for word, path in found.items():
        text = text.replace(word, json.dumps(path)[1:-1])
    return dict(json.loads(text))


def prepare(plan: dict[str, Any], folder: Path) -> None:
    """Write a certificate for each server with TLS into its directory: made for the run, and removed with it.

    A browser's directory has the fingerprint of the only certificate that it trusts.
    """
    for number, flow in enumerate(plan["flows"]):
        application = flow["application"]
        if application["kind"] == "program" and "{web_server}" in (application["server"] or {}).get("command", []):
            place = folder / f"flow-{number}-server"
            place.mkdir()
            certificate, key = make_certificate()
            (place / "cert.pem").write_bytes(certificate)
            (place / "key.pem").write_bytes(key)
            if CHROMIUM_WORD in application["client"]["command"]:
                place = folder / f"flow-{number}-client"
                place.mkdir()
                (place / "spki").write_text(fingerprint(certificate), encoding="ascii")


def _site() -> str:
    """Return the folders with the packages of the extra ``web``: the interpreter of programs may be another one."""
    found = [find_spec(name) for name in WEB_PACKAGES]
    places = [str(Path(spec.origin).parent.parent) for spec in found if spec is not None and spec.origin]
    return os.pathsep.join(dict.fromkeys(places))


def _python(*, public: bool = False) -> str:
    """Return an interpreter that an unprivileged user can start; programs of root's runs are such a user's."""
    public = public or os.geteuid() == 0
    own = Path(sys.executable)
    candidates = [own, own.resolve(), *(Path(p) for p in [shutil.which("python3", path=os.defpath)] if p)]
    return str(next((p for p in candidates if not public or _is_public(p)), own))


def _is_public(program: Path) -> bool:
    """Return True if every user can reach and start a program."""
    try:
        return all(p.stat().st_mode & 0o001 for p in (program, *program.parents, *program.resolve().parents))
    except OSError:
        return False


def without_consent(scenario: Scenario, *, allowed: bool) -> str | None:
    """Return the first program of a scenario's own choice, if such programs aren't allowed; else None."""
    for place, command in own_commands(scenario).items():
        if not allowed:
            return (
                f"{place}: the scenario runs a program of its own choice: {command}: if you trust it, give "
                "--allow-programs (in Python: allow_programs='on')"
            )
    return None


def _not_installed(flow: dict[str, Any], path: str | None) -> str | None:
    """Return a sentence about a program of a flow that the host lacks; ``path``: instead of the user's PATH."""
    application = flow["application"]
    for part in (application["server"], application["client"]):
        name = part["command"][0] if part else "{python}"
        if name not in ("{python}", CHROMIUM_WORD) and shutil.which(name, path=path) is None:
            remedy = f" (Debian: `apt-get install {PACKAGES[name]}`)" if name in PACKAGES else ""
            where = f" in {path}, the PATH of virtual time" if path is not None and shutil.which(name) else ""
            return f"flows.{flow['name']}.application: '{name}' isn't installed{where}{remedy}"
    return None


def machine_refusal(plan: dict[str, Any]) -> str | None:
    """Return the first program of a plan that can't run in virtual time, with its place; None if all can."""
    for flow in plan["flows"]:
        application = flow["application"]
        if application["kind"] != "program":
            continue
        elsewhere = "it can't run in virtual time: --backend kernel -o emulation=link runs it"
        place = f"flows.{flow['name']}.application"
        if application["name"] == "video":
            return f"{place}.client: 'browser' given: {elsewhere}"
        if "{web_server}" in (application["server"] or {}).get("command", []):
            return f"{place}.version: HTTP over TLS needs a certificate, which no two runs share: {elsewhere}"
        if (reason := _not_installed(flow, MACHINE_PATH)) is not None:
            return reason
    return None


def refusal(plan: dict[str, Any]) -> str | None:
    """Return the first program of a plan that can't run here, with its place and remedy; None if all can."""
    for flow in plan["flows"]:
        application = flow["application"]
        if application["kind"] != "program":
            continue
        place = f"flows.{flow['name']}.application"
        if (reason := _not_installed(flow, None)) is not None:
            return reason
        if application["server"] and "{web_server}" in application["server"]["command"]:
            reason = _no_web_server(flow)
            if reason is not None:
                return f"flows.{flow['name']}.{reason}"
        if CHROMIUM_WORD in application["client"]["command"] and find_chromium() is None:
            return (
                f"{place}.client: no browser is installed ({', '.join(CHROMIUM)}; Debian: `apt-get install chromium`)"
            )
        if HTTP3 in application["client"]["command"] and not _curl_has_http3():
            return f"{place}.tool: this curl was built without HTTP/3 (`curl -V`): remove it, and aioquic downloads"
    return None


def _no_web_server(flow: dict[str, Any]) -> str | None:
    """Return why the server for TLS and QUIC can't run a flow, with the place within the flow."""
    key = "client" if flow["application"]["name"] == "video" else "version"
    for module in WEB_PACKAGES:
        if find_spec(module) is None:
            return f"application.{key}: {missing(module)}"
    transport = flow["transport"]
    if transport["kind"] == "quic":
        variant = transport["variant"]["name"]
        if variant not in AIOQUIC:
            return f"variant: '{variant}' given: aioquic's server has {', '.join(AIOQUIC)}"
        for part in ("variant", "stack"):
            if transport[part]["params"]:
                return f"{part}.{next(iter(transport[part]['params']))}: aioquic's server has no such parameter"
    reason = _no_import(_python(), _site())
    return None if reason is None else f"application.{key}: {reason}"


@cache
def _no_import(python: str, site: str) -> str | None:
    """Return why the interpreter of programs can't import the packages of the extra ``web``; None if it can."""
    code = f"import sys; sys.path[:0] = sys.argv[1].split({os.pathsep!r}); import {', '.join(WEB_PACKAGES)}"
    done = subprocess.run([python, "-I", "-c", code, site], capture_output=True, text=True, check=False)
    if done.returncode == 0:
        return None
    last = done.stderr.strip().splitlines()[-1:]
    return f"{python} can't import the packages in {site}: {''.join(last)}"


@cache
def _curl_has_http3() -> bool:
    found = subprocess.run(["curl", "-V"], capture_output=True, text=True, check=False).stdout
    return "HTTP3" in found.partition("Features:")[2].split()
