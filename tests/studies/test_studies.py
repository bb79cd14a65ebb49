"""Every study, quick, from beginning to end: the properties of all studies, and the physics of each one."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from pathlib import Path

from dumbbell.studies import studies
from required import require_packages

require_packages("matplotlib", "jinja2")

STUDIES = Path(__file__).parent


def test_every_study_is_run_quick_in_one_file() -> None:
    """Tests of a file share its run, and files are divided among processes."""
    calls = [(p.name, re.findall(r'\bdone\("([\w-]+)"\)', p.read_text())) for p in STUDIES.glob("*.py")]
    files = [(name, file) for file, names in calls for name in set(names)]
    assert sorted(name for name, _ in files) == sorted(set(studies()) - {"ns2-cbr"})  # test_study_run.py has it
    for name, file in files:
        assert f'check_quick(done("{name}"))' in (STUDIES / file).read_text(), file


def test_back_end_that_cant_is_refused_before_anything_is_run(
    cli: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path
) -> None:
    refused = cli("study", "run", "video-real-traffic", "--quick", "--backend", "nothing", "--out", tmp_path / "out")
    assert refused.returncode == 2
    assert "Traceback" not in refused.stderr
    assert not list(tmp_path.glob("out/runs/*"))
