"""Claims of the reports with made-up numbers: verdicts that were wrong before the rules were declared."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from types import SimpleNamespace

import numpy as np
import numpy.typing as npt
import pytest
from pydantic import ValidationError

from dumbbell.studies import Finding, Verdict, study
from dumbbell.studies.declared import Near, Setting
from dumbbell.studies.geni_fairness.fits import ALL, READINGS, Fit, Fits, read_cell
from dumbbell.studies.geni_fairness.paths import Path
from dumbbell.studies.geni_fairness.readings import readings
from dumbbell.studies.geni_fairness.sensitivity import judge_over_settings
from dumbbell.studies.judge import Quantities, judge

Floats = npt.NDArray[np.float64]
NOISE = np.random.default_rng(11).normal(size=(40, 10))


def around(mean: float, sd: float, row: int, n: int = 10) -> Floats:
    """Return values with exactly this mean and standard deviation."""
    values = NOISE[row, :n]
    return np.asarray(mean + sd * (values - values.mean()) / values.std(ddof=1))


def judged(name: str, claim: str, get: Callable[[Setting], Floats]) -> Finding:
    found = study(name)
    words = import_module(f"dumbbell.studies.{found.folder.name}.quantities").WORDS
    return judge(found.claim(claim), Quantities(lambda _metric, at: get(at), words), {})


def test_vegas_with_four_times_the_reported_share_differs() -> None:
    share = {"cubic": 11.3, "reno": 7.4}
    found = judged(
        "geni-fairness", "part2-vegas-ratio", lambda at: around(share[str(at["beside"])], 0.5, len(str(at["beside"])))
    )
    assert found.verdict is Verdict.DIFFERS
    assert "shown not to hold for 2 of 2" in found.why
    assert "11.3" in found.why
    assert "as the report has it" not in found.why
    agrees = judged("geni-fairness", "part2-vegas-ratio", lambda _at: around(2.7, 0.2, 3))
    assert agrees.verdict is Verdict.AGREES


def test_bbr_that_moves_less_than_cubic_is_named() -> None:
    # Of the seven pairs with BBR three move less than the nine without.
    moved = {"bbr/bbr": 0.043, "bbr/vegas": 0.054, "vegas/bbr": 0.071}

    def get(at: Setting) -> Floats:
        pair, this = str(at["pair"]), at["than"] == "this pair"
        return around(moved.get(pair, 0.3) if this else 0.09, 0.004, len(pair) + 20 * this)

    found = judged("geni-fairness", "part2-bbr-dynamic", get)
    assert found.verdict is Verdict.DEPENDS
    assert "it holds for 4 of 7" in found.why
    assert "Shown not to hold for 3 of 7: BBR then BBR" in found.why


@pytest.mark.parametrize("bend", [-0.8, 0.8])
def test_a_setting_without_values_keeps_a_claim_open(bend: float) -> None:
    def get(at: Setting) -> Floats:
        return around(bend, 0.01, 1) if at["queue"] == "large" else np.array([])

    found = judged("bufferbloat", "cubic-concave", get)
    assert found.verdict is Verdict.NOT_MEASURED
    assert found.why.startswith("it holds: 100 packets" if bend < 0 else "shown not to hold: 100 packets")
    assert found.why.endswith(". Not measured for 1 of 2: 20 packets")


def test_a_setting_without_values_cannot_undo_depends() -> None:
    def get(at: Setting) -> Floats:
        missing = (at["queue"], at["bend"]) == ("small", "convex")
        return np.array([]) if missing else around(0.0 if at["bend"] == "concave" else 0.5, 0.01, 1)

    found = judged("bufferbloat", "reno-sawtooth", get)
    assert found.verdict is Verdict.DEPENDS
    assert "Not measured for 1 of 4" in found.why


def test_a_setting_that_a_back_end_cannot_run_is_left_out() -> None:
    words = import_module("dumbbell.studies.bufferbloat.quantities").WORDS

    def get(_metric: str, at: Setting) -> Floats:
        return around(-0.8, 0.01, 1) if at["queue"] == "large" else np.array([])

    claim = study("bufferbloat").claim("cubic-concave")
    found = judge(claim, Quantities(get, words, {"curve": "it has no such queue"}), {})
    assert found.verdict is Verdict.AGREES
    assert "Not run here: 1 of 2 settings (it has no such queue)" in found.why


def test_cells_of_the_table_are_judged_in_both_readings() -> None:
    # Of the pair 47.2 and 47.5 Mbit/s are the report's; A has them, and under B the second flow has a tenth.
    def get(at: Setting) -> Floats:
        mirrored = at["reading"] == "B" and at["cell"] == "reno with cubic"
        return around(4.7 if mirrored else 47.3, 0.2, 3 + mirrored)

    found = judged("geni-fairness", "table1-cubic-reno", get)
    assert found.verdict is Verdict.DEPENDS
    assert "Shown not to hold for 1 of 4: reading B, Reno with CUBIC" in found.why


def test_readings_of_a_cell() -> None:
    goodputs = {("cubic", "reno"): (60.0, 35.0), ("reno", "cubic"): (50.0, 45.0), ("reno", "reno"): (52.0, 44.0)}

    class Made:
        def both(self, first: str, second: str) -> Floats:
            return np.array([goodputs[first, second]])

    pairs = Made()
    found = {
        (cell, reading): read_cell(pairs, cell, reading).tolist()  # type: ignore[arg-type]
        for cell in goodputs
        for reading in "AB"
    }
    assert found == {
        (("cubic", "reno"), "A"): [60.0],
        (("cubic", "reno"), "B"): [60.0],
        (("reno", "cubic"), "A"): [50.0],
        (("reno", "cubic"), "B"): [35.0],
        (("reno", "reno"), "A"): [52.0],
        (("reno", "reno"), "B"): [48.0],
    }


@pytest.mark.parametrize(
    ("other", "quick", "verdict"),
    [
        (1.0, False, Verdict.AGREES),
        (-1.0, False, Verdict.DEPENDS),
        (0.0, False, Verdict.NOT_SHOWN),
        (1.0, True, Verdict.NOT_SHOWN),
    ],
)
def test_a_claim_holds_at_every_setting_that_the_fit_leaves_open(other: float, quick: bool, verdict: Verdict) -> None:
    """BBR is ahead at the best fit; at another setting that isn't distinguished it is ahead, behind, or neither.

    A quick run has few of the settings.
    """
    geni = study("geni-fairness")
    claims = [c for c in geni.paper.claims if c.id == "part2-bbr-above"]
    one = geni.model_copy(update={"paper": geni.paper.model_copy(update={"claims": claims})})
    one._quick = quick
    far = SETTING._replace(buffer="400 packets")
    part = "the cells without BBR"
    fits = Fits({(r, part): Fit(SETTING, {SETTING: 1.0, far: 1.1}, (SETTING, far), 1.0) for r in READINGS})
    words = import_module("dumbbell.studies.geni_fairness.quantities").WORDS

    def at(path: Path | None) -> Quantities:
        ahead = other if path == far else 1.0

        def get(_metric: str, where: Setting) -> Floats:
            who = str(where["variant"])
            return around(60.0 + 20 * ahead * (who == "bbr"), 1.0 if ahead else 30.0, len(who))

        return Quantities(get, words)

    (found,), table = judge_over_settings(one, fits, at, {})
    assert found.verdict is verdict
    assert found.why.startswith("Over the 2 settings that the fits don't distinguish: ")
    assert f"With {SETTING.words}, alone at 95 %: goodput" in found.why
    assert (f". It agrees at: {SETTING.words}. " in found.why) == (verdict is Verdict.DEPENDS)
    assert ("To decide at all of them" in found.why) == (verdict is Verdict.NOT_SHOWN and not quick)
    assert ("A quick run has too few settings" in found.why) == quick
    assert (found.needs is not None) == (verdict is Verdict.NOT_SHOWN and not quick)
    contrary = table.frame["decided otherwise at"].to_list()
    assert contrary == ["400 packets" if verdict is Verdict.DEPENDS else "-"]


def test_order_of_the_start_decides_where_the_sentence_has_it() -> None:
    from dumbbell.studies.geni_fairness.quantities import quantities

    class Made:
        def share(self, first: str, second: str) -> Floats:
            return np.array([{("cubic", "vegas"): 0.96, ("vegas", "cubic"): 0.2}[first, second]])

    made = quantities(None, None, {}, None, None, Made())  # type: ignore[arg-type]
    part = [made.get("pairs vegas part", {"pair": pair}).tolist() for pair in ("cubic/vegas", "vegas/cubic")]
    assert part == [pytest.approx([4.0]), pytest.approx([20.0])]
    assert made.get("pairs vegas share", {"beside": "cubic"}).tolist() == pytest.approx([12.0])


def test_a_hall_in_which_nothing_stalls_has_nothing_to_compare() -> None:
    """Stalls occur in one of three halls; there Veno has the least."""

    def get(at: Setting) -> Floats:
        stalls = at["access"] == "hall as rates"
        return around(1.0 if at["variant"] == "veno" else 9.0, 0.1, 1) if stalls else np.zeros(10)

    found = judged("video-real-traffic", "veno-qoe", get)
    assert found.verdict is Verdict.AGREES
    assert found.why.endswith("zero in every run: the lecture hall; the lecture hall with a weak uplink")
    nowhere = judged("video-real-traffic", "veno-qoe", lambda _at: np.zeros(10))
    assert nowhere.verdict is Verdict.NOT_MEASURED


def test_a_median_of_the_report_is_compared_with_ours() -> None:
    # Eight of ten runs near the report's 134, two far above: the median lies in its band, the mean doesn't.
    values = np.array([120.0, 125, 128, 130, 133, 136, 140, 144, 800, 900])
    found = judged("video-real-traffic", "median-dupacks-veno", lambda _at: values)
    assert values.mean() > 134 * 1.5
    # Both settings together: 97.5 % each, so the interval ends at the second smallest and the second largest value.
    assert "number of duplicate ACKs 134 [125, 800]" in found.why
    assert found.verdict is Verdict.NOT_SHOWN
    assert judged("video-real-traffic", "median-dupacks-veno", lambda _at: values[:8]).verdict is Verdict.AGREES
    assert "The median number of duplicate ACKs" in found.rule


def test_settling_is_measured() -> None:
    slow = judged("geni-fairness", "part2-settles", lambda _at: around(30.0, 2.0, 1))
    quick = judged("geni-fairness", "part2-settles", lambda _at: around(4.0, 1.0, 2))
    assert (slow.verdict, quick.verdict) == (Verdict.DIFFERS, Verdict.AGREES)


def test_ping_depends_on_its_time() -> None:
    beside = {"reno": 10.0, "cubic": 11.0, "vegas": 2.5}

    def get(at: Setting) -> Floats:
        variant = str(at["variant"])
        return around(2.1 if at["ping"] == "before" else beside[variant], 0.02, len(variant))

    found = judged("geni-fairness", "part1-delay-alike", get)
    assert found.verdict is Verdict.DEPENDS
    held, failed = found.why.split("Shown not to hold for 2 of 4: ")
    assert "it holds for 2 of 4: one hop, ping before the flow" in held
    assert "two hops, ping before the flow" in held
    assert failed.count("ping beside the flow") == 2
    assert "ping before the flow" not in failed


def test_latency_within_its_noise_is_not_shown() -> None:
    # +1.8 ms with an interval of some 8 ms is neither higher nor shown to be alike.
    def get(at: Setting) -> Floats:
        high = at["discipline"] == "RED"
        return around(70.0 + 1.8 * high, 5.5, 2 * len(str(at["variant"])) + high)

    found = judged("ns2-cbr", "exp3-red-latency", get)
    assert found.verdict is Verdict.NOT_SHOWN
    assert found.needs is not None
    assert found.needs > 10
    assert f"about {found.needs}" in found.why


def test_five_noisy_runs_do_not_contradict_an_order() -> None:
    retransmitted = {"cubic": 45.0, "veno": 40.0, "vegas": 30.0}

    def get(at: Setting) -> Floats:
        variant = str(at["variant"])
        return around(retransmitted[variant], 25.0, sorted(retransmitted).index(variant), n=5)

    assert judged("video-real-traffic", "retransmissions-order", get).verdict is Verdict.NOT_SHOWN


def test_three_printed_pings_are_compared() -> None:
    # The report prints 640, 580 and 630 ms.
    values = np.linspace(634.0, 784.0, 40)
    found = judged("bufferbloat", "cubic-ping-beside", lambda _at: values)
    assert found.verdict is Verdict.AGREES
    assert "report 616.7" in found.why
    assert judged("bufferbloat", "cubic-ping-beside", lambda _at: values + 50).verdict is Verdict.DIFFERS
    assert judged("bufferbloat", "cubic-ping-beside", lambda _at: values[:5] + 50).verdict is Verdict.NOT_SHOWN


def test_throughput_and_the_poorest_combination_are_two_claims() -> None:
    got = {"reno/droptail": 2.0, "reno/red": 1.6, "sack/droptail": 2.8, "sack/red": 2.2}

    def get(at: Setting) -> Floats:
        key = str(at["combination"])
        return around(got[key], 0.05, sorted(got).index(key))

    def discipline(at: Setting) -> Floats:
        return get({"combination": f"{at['variant']}/{str(at['discipline']).lower()}"})

    assert judged("ns2-cbr", "exp3-red-throughput", discipline).verdict is Verdict.AGREES
    assert judged("ns2-cbr", "exp3-sack-red-throughput", get).verdict is Verdict.DIFFERS


def test_packet_lengths_depend_on_merging() -> None:
    size = {"1460 bytes": 897.0, "8760 bytes": 3231.0}

    def get(at: Setting) -> Floats:
        return around(1019.0, 1.0, 2) if at["transport"] == "quic" else around(size[str(at["segments"])], 20.0, 1)

    found = judged("video-real-traffic", "tcp-packets-larger", get)
    assert found.verdict is Verdict.DEPENDS
    assert "it holds for 3 of 6" in found.why
    # Packets that are longer by half aren't very large: twice as long is what counts.
    size["8760 bytes"] = 1500.0
    assert judged("video-real-traffic", "tcp-packets-larger", get).verdict is Verdict.DIFFERS


def test_values_of_a_table_are_judged_one_by_one() -> None:
    # The report has 109 s for Veno and 124 s for Vegas, a tenth more or less.
    found = judged("video-real-traffic", "values-load-wifi", lambda _at: around(123.0, 0.1, 1))
    assert found.verdict is Verdict.DEPENDS
    assert "it holds for 1 of 2: Vegas" in found.why
    assert "Veno 98.1 to 119.9 s (report 109); Vegas 111.6 to 136.4 s (report 124)" in found.rule
    own = {"veno": 109.0, "vegas": 124.0}
    agrees = judged("video-real-traffic", "values-load-wifi", lambda at: around(own[str(at["variant"])], 0.1, 1))
    assert agrees.verdict is Verdict.AGREES


def test_a_table_of_values_needs_its_key() -> None:
    for wrong in ({"numbers": {"veno": 1.0}}, {"along": "variant"}, {"value": 1.0, "along": "variant"}, {}):
        with pytest.raises(ValidationError, match="either value, or along and numbers"):
            Near(kind="near", metric="x", part=0.1, **wrong)


def test_straight_and_whole_teeth_are_counted_apart() -> None:
    from dumbbell.studies.bufferbloat.data import Curves, Teeth

    class Made(Curves):
        def __init__(self) -> None:
            self._runs = {("small", "cubic"): [None]}  # type: ignore[list-item]

        def teeth(self, queue: str, variant: str, repetition: int = 0) -> Teeth:
            del queue, variant, repetition
            ones = np.ones(4)
            return Teeth(ones, ones, ones, np.array([0.1, 0.3, 0.3, -0.1]), np.array([-0.1, 0.3, 0.0, -0.2]))

    # Straight: the first one only; the fourth bends at its end. Whole: the second one.
    assert Made().straight("small", "cubic", 0.15).tolist() == [0.25]
    assert Made().whole("small", "cubic", 0.15).tolist() == [0.25]


class Runs:
    """Two flows that share a link of 95 Mbit/s; the first one gets 50 beside every other variant."""

    n = 10

    def both(self, first: str, second: str) -> Floats:  # noqa: ARG002 - the arguments of `Pairs.both`
        return np.column_stack([around(50.0, 0.1, 1), around(45.0, 0.1, 2)])

    def medians(self, first: str, second: str) -> tuple[float, float]:
        one, two = np.median(self.both(first, second), axis=0)
        return float(one), float(two)


SETTING = Path("100 Mbit/s", "1 ms", "200 packets", "0.5 ms")


@pytest.mark.parametrize(("squares", "words"), [(150.0, "doesn't decide between them"), (900.0, "is smaller for A")])
def test_readings_of_the_table_are_computed(squares: float, words: str) -> None:
    reported = study("geni-fairness").paper.figures["throughput_mbps"]
    # With 16 cells and 4 settings squares up to 2.09 times the smallest aren't distinguished.
    fits = Fits({(r, ALL): Fit(SETTING, {SETTING: 5.0}, (SETTING,), 100.0 if r == "A" else squares) for r in READINGS})
    table, note = readings(Runs(), "100 packets", reported, fits)  # type: ignore[arg-type]
    # One run's sum is 95; the first flows of two runs make 100. Five of the report's six sums are 94.7 to 97.5.
    assert note.headline.endswith(
        f"By the number of its sums near one value the better one: B. The error of the fits {words}"
    )
    assert "5 of 6 sums" in note.text
    one, two = (table.frame[c].to_list() for c in table.frame.columns[2:])
    assert all(float(x) == 95 for x in one)
    assert all(float(x) == 100 for x in two)
    assert sum(94.6 <= float(x) <= 97.6 for x in table.frame["report: sum of both cells"]) == 5


def test_spread_of_waiting_packets_by_hand() -> None:
    from dumbbell.studies.bufferbloat.data import Curves

    class Made(Curves):
        def __init__(self) -> None:
            self._runs = {("large", "reno"): [None]}  # type: ignore[list-item]

        def waiting(self, queue: str, variant: str, repetition: int = 0) -> tuple[Floats, Floats]:
            del queue, variant, repetition
            return np.array([0.0, 40.0, 43.0, 44.0]), np.array([99.0, 10.0, 30.0, 7.0])

    # From 40 s on 10 packets for 3 s and 30 for 1 s: mean 15, variance (3 x 25 + 225) / 4 = 75.
    assert Made().spread_of_waiting("large", "reno").tolist() == [np.sqrt(75) / 15]


def test_an_unknown_parameter_of_red_makes_a_claim_depend_on_it() -> None:
    # With ns-2's defaults RED is slower, with the suited ones faster than DropTail of its length.
    def get(at: Setting) -> Floats:
        red = at["discipline"] == "RED"
        return around(80.0 + red * (10 if at["parameters"] == "defaults" else -15), 0.5, 1 + red)

    found = judged("ns2-cbr", "exp3-red-latency", get)
    assert found.verdict is Verdict.DEPENDS
    assert "it holds for 2 of 4: 10 packets, RED at ns-2's defaults, Reno" in found.why


def test_a_cause_makes_at_least_half_of_the_effect() -> None:
    parts = {"tahoe": 17.0, "reno": 9.0, "newreno": 14.0, "vegas": 31.0}
    found = judged("ns2-cbr", "exp1-latency-queueing", lambda at: around(parts[str(at["variant"])], 1.0, 1))
    assert found.verdict is Verdict.DIFFERS
    assert judged("ns2-cbr", "exp1-latency-queueing", lambda _at: around(80.0, 1.0, 1)).verdict is Verdict.AGREES


def test_a_longer_ping_is_no_improvement() -> None:
    for gain, verdict in ((-30.0, Verdict.AGREES), (10.0, Verdict.AGREES), (30.0, Verdict.DIFFERS)):
        found = judged("bufferbloat", "cubic-ping-alike", lambda _at, gain=gain: around(gain, 1.0, 2))  # type: ignore[misc]
        assert found.verdict is verdict


def test_all_cases_have_the_variant_that_stalls_least() -> None:
    from dumbbell.studies.video_real_traffic.quantities import quantities

    stalls = {"cubic": np.array([2.0, 3.0]), "veno": np.array([0.0, 5.0]), "vegas": np.array([1.0, 1.0])}
    player = SimpleNamespace(get=lambda _name, _access, variant: stalls[variant])
    found = quantities(SimpleNamespace(player=player))  # type: ignore[arg-type]
    assert found.get("player fewest stalls", {"access": "hall"}).tolist() == [1.0, 1.0]


def test_fair_and_unfair_have_one_measure() -> None:
    # A pair whose index is shown to be above 0.95 is fair, and not unfair; below it is the reverse.
    for index, fair in ((0.97, True), (0.9, False)):
        found = [
            judged("ns2-cbr", claim, lambda _at, index=index: around(index, 0.002, 1)).verdict  # type: ignore[misc]
            for claim in ("exp2-like-fair", "exp2-newreno-reno-unfair", "exp2-unlike-unfair")
        ]
        assert found == ([Verdict.AGREES] if fair else [Verdict.DIFFERS]) + 2 * (
            [Verdict.DIFFERS] if fair else [Verdict.AGREES]
        )


def test_lengths_of_teeth_count_once_or_by_time() -> None:
    from dumbbell.studies.bufferbloat.data import Curves, Teeth

    class Made(Curves):
        def __init__(self) -> None:
            self._runs = {("small", "reno"): [None]}  # type: ignore[list-item]

        def teeth(self, queue: str, variant: str, repetition: int = 0) -> Teeth:
            del queue, variant, repetition
            ones = np.ones(2)
            return Teeth(np.array([1.0, 3.0]), ones, ones, ones, np.array([0.1, 0.2]))

    # Mean 2, deviation 1; by length the mean is (1 + 9) / 4 = 2.5 and the variance (2.25 + 3 x 0.25) / 4 = 0.75.
    assert Made().spread_of_lengths("small", "reno", over_time=False).tolist() == [0.5]
    assert Made().spread_of_lengths("small", "reno", over_time=True) == pytest.approx([np.sqrt(0.75) / 2.5])
    # The longer tooth alone is concave and convex.
    assert Made().whole("small", "reno", 0.15).tolist() == [0.5]
    assert Made().whole("small", "reno", 0.15, over_time=True).tolist() == [0.75]


def test_slow_start_is_measured_from_its_first_growth_to_its_end() -> None:
    import polars as pl

    from dumbbell.studies.bufferbloat.data import MSS, Curves

    # It grows from 1 s on by 2 segments a second, and is over after 5 s; what follows bends.
    t, cwnd = np.array([0, 1, 2, 3, 4, 5, 6, 9.0]), np.array([10, 12, 14, 16, 18, 20, 20, 50.0])
    table = pl.DataFrame({"t_ns": t * 1e9, "cwnd": cwnd * MSS, "phase": [0, 0, 0, 0, 0, 0, 1, 1]})

    class Made(Curves):
        def __init__(self, table: pl.DataFrame) -> None:
            self._runs = {("small", "cubic"): [None]}  # type: ignore[list-item]
            self.results = SimpleNamespace(table=lambda _run, _name: table)  # type: ignore[assignment]

    assert Made(table).start_bend("small", "cubic") == pytest.approx([0])
    # Doubling each second: from 12 over 24 to 96, of 84 all but 12 in the second half.
    doubled = table.with_columns(cwnd=pl.Series(np.array([10, 12, 24, 24, 48, 96, 96, 96.0]) * MSS))
    assert Made(doubled).start_bend("small", "cubic") == pytest.approx([(72 - 12) / 84])


def test_low_tops_by_hand() -> None:
    from dumbbell.studies.bufferbloat.data import Curves, Teeth

    class Made(Curves):
        def __init__(self) -> None:
            self._runs = {("small", "reno"): [None]}  # type: ignore[list-item]

        def teeth(self, queue: str, variant: str, repetition: int = 0) -> Teeth:
            del queue, variant, repetition
            ones = np.ones(5)
            return Teeth(ones, ones, np.array([24.0, 24.0, 25.0, 22.0, 21.0]), ones, ones)

    # The median is 24, a tenth less 21.6: one of five.
    assert Made().low_tops("small", "reno").tolist() == [0.2]


def test_only_teeth_while_pages_load_count() -> None:
    import polars as pl

    from dumbbell.studies.bufferbloat.data import Pages

    class Run:
        index = 0

    # Six teeth of ten seconds; the first two never count, the pages load from 25 to 52 s.
    t = np.arange(0.0, 60.0, 0.5)
    avoiding = t % 10 < 9
    table = pl.DataFrame(
        {"t_ns": (t * 1e9).astype(np.uint64), "cwnd": 1448 * (20 + t % 10), "phase": np.where(avoiding, 1, 2)}
    )

    class Made(Pages):
        def __init__(self) -> None:
            self._runs = {("large", "reno"): [Run()]}  # type: ignore[list-item]
            self._spans = {0: (25.0, 52.0)}

            class Tables:
                def table(self, _run: object, _name: str) -> pl.DataFrame:
                    return table

            self.results = Tables()  # type: ignore[assignment]

    made = Made()
    assert [float(one[0]) for one, _ in made.rises("large", "reno")] == pytest.approx([30.0, 40.0])
    assert made.settled("large", "reno") == (40.0, 52.0)


def test_the_drop_rate_at_the_knee_by_hand() -> None:
    from dumbbell.studies.ns2_cbr.quantities import quantities

    rates = np.array([1.0, 5.0, 6.0, 7.0, 8.0])
    curves = {
        # A tenth less than 10 lies between 6 and 7: at 6.5.
        "throughput": np.array([10.0, 10.0, 10.0, 8.0, 6.0]),
        "drop rate": np.array([0.0, 0.0, 0.0, 1.0, 2.0]),
        "queue delay": np.array([0.0, 1.0, 1.0, 2.0, 5.0]),
        "latency": np.array([60.0, 60.0, 60.0, 60.0, 70.0]),
    }

    class Made:
        n = 1

        def __init__(self) -> None:
            self.rates = rates

        def grid(self, metric: str, variant: str, jitter: float = 0.5) -> Floats:
            del variant, jitter
            return curves[metric][:, None]

        def get(self, metric: str, variant: str, rate: float) -> Floats:
            del variant
            return np.asarray(curves[metric][rates == rate])

    found = quantities(Made(), Made(), None, None, None)  # type: ignore[arg-type]
    # At the knee the queue adds 1.5 ms to 60, 2.4 % of the throughput; a tenth is lost.
    (beside,) = found.get("exp1 loss beside queueing", {"variant": "reno"})
    assert beside == pytest.approx(100 * (1 - 10 * 1.5 / 61.5))
    # From a mean of 1 at 1 to 7 to 5 at 8: 4 of 10 ms.
    assert found.get("exp1 queue part", {"variant": "reno"}).tolist() == [40.0]


def test_the_window_in_use_ends_at_the_limit() -> None:
    import polars as pl

    from dumbbell.studies.ns2_cbr.data_windows import PairWindows

    # 10 packets for 1 s, 40 for 3 s, of which 20 are used: 70 / 4.
    table = pl.DataFrame({"t_ns": np.array([0, 10**9, 4 * 10**9]), "cwnd": np.array([10_000, 40_000, 5_000])})

    class Made(PairWindows):
        def __init__(self) -> None:
            self._runs = {("newreno/vegas", 5.0): [None]}  # type: ignore[list-item]

            class Tables:
                def table(self, _run: object, _name: str) -> pl.DataFrame:
                    return table

            self._results = Tables()  # type: ignore[assignment]

    assert Made().used("newreno/vegas", "first", 5.0).tolist() == [17.5]


def test_range_of_the_variants_by_hand() -> None:
    from dumbbell.studies.ns2_cbr.quantities import quantities

    class Made:
        rates = np.array([8.0])

        def get(self, metric: str, variant: str, rate: float) -> Floats:
            assert (metric, rate) == ("throughput", 8.0)
            return np.array([{"tahoe": 1.0, "reno": 2.0, "newreno": 2.0, "vegas": 3.0}[variant]])

    made = quantities(Made(), Made(), None, None, None)  # type: ignore[arg-type]
    # (3 - 1) / 2.
    assert made.get("exp1 range", {"cbr": 8.0}).tolist() == [1.0]
