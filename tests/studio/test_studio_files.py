"""Files that the studio's page opens: results directories have their series, others are refused with the reason."""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
import pytest

import dumbbell
from studio_page import FOLDER, SCENARIO, curve, in_node, require_studio

PARQUET = "de7fcc5a3cd877448d0416a4e03829151d60fe3c3bd676fc69d58323c8ce21f1"
"""SHA-256 of hyparquet 1.31.5 and fzstd 0.1.1 as CONTRIBUTING.md joins them."""

require_studio()


def test_a_results_directory_shows_the_series_of_its_runs(tmp_path: Path) -> None:
    swept = {**SCENARIO, "sweep": {"flows.a.variant": ["cubic", "vegas"]}}
    results = dumbbell.run(swept, out=tmp_path / "kept", trace=True)
    files = [[str(p.relative_to(tmp_path)), str(p)] for p in (tmp_path / "kept").rglob("*") if p.is_file()]
    (answer,) = in_node("studio_files.mjs", [("opened", {"files": files, "labels": [], "choices": [0, 1]})])
    labels = [run["label"] for run in answer["results"]["runs"]]
    assert [label.split(",")[0] for label in labels] == ["flows.a.variant = cubic", "flows.a.variant = vegas"]
    for run, panels in enumerate(answer["panels"]):
        t, cwnd = results.series(run, "cwnd", flow="a")
        assert max(curve(panels, "cwnd", "a")) == pytest.approx(float(np.asarray(cwnd).max()) / 1e3)
        queue = results.arrays(run, "queue/r1->r2")["packets"]
        assert max(curve(panels, "queue", "r1->r2")) == queue.max()
        rtt = results.arrays(run, "rtt/b")["rtt_ns"]
        assert max(curve(panels, "rtt", "b")) == pytest.approx(rtt.max() / 1e6)
        assert panels["end"] < 3.01  # the last packet has begun before 3 s
        assert panels["end"] >= t[-1]
        assert max(curve(panels, "rates", "r1->r2")) == pytest.approx(10, rel=0.1)


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["kept/manifest.json"], "these results have no series: make them with `dumbbell run --trace`"),
        (["a.pcap", "b.pcap"], "2 files given: one capture, or one results directory can be opened"),
        (["first.toml"], "first.toml: `dumbbell studio first.toml` writes a page with this scenario"),
        ([], "no file given"),
    ],
)
def test_other_files_are_refused_with_the_reason(names: list[str], message: str, tmp_path: Path) -> None:
    (tmp_path / "any").write_bytes(b"any")
    files = [[name, str(tmp_path / "any")] for name in names]
    (answer,) = in_node("studio_files.mjs", [("opened", {"files": files, "labels": [], "choices": []})])
    assert answer["error"]["message"] == message


def test_the_parquet_reader_is_the_published_one() -> None:
    content = (FOLDER / "parquet" / "parquet.min.js").read_bytes()
    assert hashlib.sha256(content).hexdigest() == PARQUET
