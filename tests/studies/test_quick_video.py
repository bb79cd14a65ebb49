"""The quick study video-real-traffic from beginning to end, and its physics."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator

import numpy as np
import pytest

from dumbbell.capture import Capture
from dumbbell.results import Results
from dumbbell.studies import Done
from dumbbell.studies.declared import All
from dumbbell.studies.video_real_traffic import data
from quick import check_quick
from required import require_packages

require_packages("matplotlib", "jinja2")


@pytest.fixture(scope="module", autouse=True)
def captures_are_read_once() -> Iterator[None]:
    """Keep the numbers of a capture, for the study and for the tests: reading them takes longest."""
    kept: dict[tuple[str, ...], dict[str, float]] = {}
    read = data.read

    def once(capture: Capture) -> dict[str, float]:
        return kept.get(tuple(capture.files)) or kept.setdefault(tuple(capture.files), read(capture))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(data, "read", once)
        yield


def test_quick_study(done: Callable[[str], Done]) -> None:
    check_quick(done("video-real-traffic"))


def test_video(done: Callable[[str], Done]) -> None:
    from dumbbell.studies.video_real_traffic.data import CLIENT, SERVER, VARIANTS
    from dumbbell.studies.video_real_traffic.experiments import MERGED, WIRE, Experiments
    from dumbbell.studies.video_real_traffic.player import NAMES, QUIC

    ran = done("video-real-traffic")
    reported = ran.study.paper.figures
    found = Experiments.read(ran.results, reported)
    for metric in ("retransmitted", "duplicate ACKs"):
        for v in VARIANTS:
            assert (found.queue.get(metric, CLIENT, v) == found.queue.get(metric, SERVER, "cubic")).all()
    for v in VARIANTS:
        # 38.4 kB/s of payload in segments of 1448 bytes: with headers (1514 bytes) and ACKs (66) at most 42 kB/s.
        assert np.median(found.queue.get("throughput", SERVER, v)) == pytest.approx(41, rel=0.05)
        assert (found.queue.get("duplicate ACKs", SERVER, v) > 0).all()
        # Six segments are merged, so the video's packets are a sixth; the page's aren't merged.
        packets = [found.wifi.get("packets", "Wi-Fi", s, v) for s in (MERGED, WIRE)]
        assert (2 * packets[0] < packets[1]).all()
    for fit in found.fits.values():
        assert fit.settings == sorted(fit.settings, key=lambda s: s.error)
        assert fit.best.error < 1.25
        assert fit.rank <= 6  # of fewer repetitions than those of the whole study
    assert set(found.losses) == {"weak", "strong", "hall"}
    played = found.player
    for v in NAMES:
        # 270 s at 330 kbit/s and a page of 750 kB are 11.9 MB of payload; headers and ACKs are 6 to 9 % more.
        assert played.seen("throughput", "Wi-Fi", v) == pytest.approx(1.075 * 11_887.5 / 271, rel=0.02)
        # A full segment of TCP or QUIC is a frame of 1514 bytes: merged ones exist in the captures of blocks only.
        assert played.captured.captures["Wi-Fi", v][0].lengths["count"][-1] == 0
    # Wireshark labels no errors in QUIC. The medium of the hall drops packets of CUBIC at the access point.
    assert (played.seen("errors", "hall", QUIC) == 0).all()
    assert (played.seen("errors", "hall", "cubic") > 0).all()


def test_a_claim_that_the_model_cannot_show_has_variants_that_are_alike(done: Callable[[str], Done]) -> None:
    """On its path no two variants are shown to differ by more than 3 %: the report's differ by up to a factor of 2."""
    from dumbbell.metrics import paired
    from dumbbell.studies.video_real_traffic.data import VARIANTS
    from dumbbell.studies.video_real_traffic.experiments import Experiments
    from dumbbell.studies.video_real_traffic.quantities import quantities

    ran = done("video-real-traffic")
    get = quantities(Experiments.read(ran.results, ran.study.paper.figures)).get
    unmodeled = [claim for claim in ran.study.paper.judged if claim.unmodeled]
    assert unmodeled
    for claim in unmodeled:
        rule = claim.rule
        assert rule is not None
        assert not isinstance(rule, All)
        for each in itertools.product(*rule.each.values()):
            at = {**rule.at, **dict(zip(rule.each, each, strict=True))}
            values = [get(rule.metric, {**at, "variant": v}) for v in VARIANTS]
            for a, b in itertools.combinations(values, 2):
                difference, part = paired(a, b), 0.03 * max(a.mean(), b.mean())
                assert difference.low <= part, (claim.id, at)
                assert difference.high >= -part, (claim.id, at)


def test_video_where_a_back_end_has_no_policer(done: Callable[[str], Done]) -> None:
    from dumbbell.studies.video_real_traffic.experiments import Experiments
    from dumbbell.studies.video_real_traffic.figures import pictures
    from dumbbell.studies.video_real_traffic.tables import predictions, tables

    ran = done("video-real-traffic")
    reported = ran.study.paper.figures
    without = {name: Results(ran.results[name].scenario, []) for name in ("policer", "fit-policer")}
    found = Experiments.read({**ran.results, **without}, reported)
    names = {p.name for p in pictures(found, reported)} | {t.name for t in tables(found, reported)}
    assert {"fit-queue", "fit-wifi", "medians", "fig3-duplicate-acks"} <= names
    assert "fit-policer" not in names
    assert "policer, at the server" not in predictions(found, reported, "vegas")
