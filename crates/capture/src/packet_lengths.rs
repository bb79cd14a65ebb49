//! The packet-length table of Wireshark (`tshark -z plen,tree`), with the same ranges and digits
//! [Wireshark pinfo_stats_tree.c, stats_tree.c].

use std::collections::VecDeque;
use std::fmt::Write as _;

/// Least and greatest length of each range; the first row, without a range, has all frames.
const RANGES: [(u32, u32); 10] = [
    (0, 19),
    (20, 39),
    (40, 79),
    (80, 159),
    (160, 319),
    (320, 639),
    (640, 1279),
    (1280, 2559),
    (2560, 5119),
    (5120, u32::MAX),
];

/// Milliseconds of a bucket.
const BUCKET: f64 = 5.0;
/// Milliseconds of the window in which a burst is counted.
const WINDOW: f64 = 100.0;
/// Buckets in the window.
const BUCKETS: i64 = 20;

/// Counts frames by length; [`rows`](Self::rows) returns the table.
#[derive(Clone, Debug)]
pub struct PacketLengths {
    all: Counter,
    ranges: [Counter; RANGES.len()],
    first: Option<i64>,
    /// Milliseconds from the first to the last frame of the file.
    elapsed: f64,
}

impl Default for PacketLengths {
    fn default() -> Self {
        Self { all: Counter::default(), ranges: std::array::from_fn(|_| Counter::default()), first: None, elapsed: 0.0 }
    }
}

/// One row of the table.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Row {
    /// Least and greatest length; `None` for the row of all frames.
    pub range: Option<(u32, u32)>,
    /// Number of frames.
    pub count: u64,
    /// Mean length, bytes, in single precision as in Wireshark. `None` without frames; so are all fields below.
    pub average: Option<f32>,
    /// Shortest, bytes.
    pub min: Option<u32>,
    /// Longest, bytes.
    pub max: Option<u32>,
    /// Frames per millisecond from the first to the last frame of the capture (negative if the last one is earlier);
    /// `None` if that duration is 0.
    pub rate: Option<f64>,
    /// Share of all frames, percent; `None` if there are none.
    pub percent: Option<f64>,
    /// Frames per millisecond in the busiest 100 ms.
    pub burst_rate: Option<f64>,
    /// Start of those 100 ms, seconds after the first frame.
    pub burst_start: Option<f64>,
}

impl PacketLengths {
    /// Counts a frame of `len` bytes on the wire at `time` (ns).
    #[inline]
    pub fn add(&mut self, time: Option<i64>, len: u32) {
        // A frame without a time counts as of 1970.
        let time = time.unwrap_or(0);
        let since = time.saturating_sub(*self.first.get_or_insert(time));
        // Seconds and nanoseconds separately, as in Wireshark.
        let now = (since / 1_000_000_000) as f64 * 1000.0 + (since % 1_000_000_000) as f64 / 1e6;
        self.elapsed = now;
        // Rounds down without `f64::floor`, which is a function call on processors without SSE 4.
        let exact = now / BUCKET;
        let bucket = exact as i64 - i64::from(exact < (exact as i64) as f64);
        self.all.add(len, now, bucket);
        // Ranges double from 20 on: the index is the number of bits of length / 20.
        let range = (u32::BITS - (len / 20).leading_zeros()).min(RANGES.len() as u32 - 1);
        self.ranges[range as usize].add(len, now, bucket);
    }

    /// The row of all frames, then one for each range.
    pub fn rows(&self) -> Vec<Row> {
        let ranges = RANGES.iter().zip(&self.ranges).map(|(&range, counter)| (Some(range), counter));
        std::iter::once((None, &self.all)).chain(ranges).map(|(range, c)| self.row(range, c)).collect()
    }

    fn row(&self, range: Option<(u32, u32)>, c: &Counter) -> Row {
        let some = c.count > 0;
        // Frames that are too old belong to no burst.
        let busy = c.burst.best > 0;
        Row {
            range,
            count: c.count,
            average: some.then(|| c.sum as f32 / c.count as f32),
            min: some.then_some(c.min),
            max: some.then_some(c.max),
            rate: (self.elapsed != 0.0).then(|| f64::from(c.count as f32) / self.elapsed),
            percent: (self.all.count > 0).then(|| c.count as f64 * 100.0 / self.all.count as f64),
            burst_rate: busy.then(|| c.burst.best as f64 / WINDOW),
            burst_start: busy.then(|| c.burst.best_start / 1000.0),
        }
    }

    /// The table as tshark prints it.
    pub fn report(&self) -> String {
        let head = ["Count", "Average", "Min Val", "Max Val", "Rate (ms)", "Percent", "Burst Rate", "Burst Start"];
        let cells: Vec<(String, [String; 8])> = self.rows().iter().map(|row| (row.title(), row.cells())).collect();
        // A column is as wide as its longest value.
        let least = |i: usize| if i == 7 { 11 } else { 12 };
        let width = |i: usize| cells.iter().map(|(_, c)| c[i].len()).fold(least(i), usize::max) + 2;
        let widths: [usize; 8] = std::array::from_fn(width);
        let total = 19 + widths.iter().sum::<usize>();
        let (double, single) = ("=".repeat(total), "-".repeat(total));
        let mut text = format!("\n{double}\nPacket Lengths:\n");
        let mut line = |title: &str, cells: [&str; 8]| {
            let _ = write!(text, "{title:19}");
            for (cell, width) in cells.iter().zip(widths) {
                let _ = write!(text, "{cell:width$}");
            }
            text.push('\n');
        };
        line("Topic / Item", head);
        line(&single, [""; 8]);
        for (title, row) in &cells {
            line(title, std::array::from_fn(|i| row[i].as_str()));
        }
        let _ = write!(text, "\n{single}\n");
        text
    }
}

impl Row {
    /// Wireshark's name of the row; ranges are indented by one space.
    pub fn title(&self) -> String {
        match self.range {
            None => "Packet Lengths".to_owned(),
            Some((least, u32::MAX)) => format!(" {least} and greater"),
            Some((least, most)) => format!(" {least}-{most}"),
        }
    }

    /// The values in Wireshark's format.
    pub fn cells(&self) -> [String; 8] {
        let (empty, percent) = match self.range {
            None => ("", "100%".to_owned()),
            Some(_) => ("-", self.percent.map_or_else(String::new, |v| format!("{v:.2}%"))),
        };
        let none = || empty.to_owned();
        let dash = || "-".to_owned();
        [
            self.count.to_string(),
            self.average.map_or_else(none, |v| format!("{v:.2}")),
            self.min.map_or_else(none, |v| v.to_string()),
            self.max.map_or_else(none, |v| v.to_string()),
            self.rate.map_or_else(String::new, |v| format!("{v:.4}")),
            percent,
            self.burst_rate.map_or_else(dash, |v| format!("{v:.4}")),
            self.burst_start.map_or_else(dash, |v| format!("{v:.3}")),
        ]
    }
}

/// Counts of a row.
#[derive(Clone, Debug, Default)]
struct Counter {
    count: u64,
    sum: u64,
    min: u32,
    max: u32,
    burst: Burst,
}

impl Counter {
    #[inline]
    fn add(&mut self, len: u32, now: f64, bucket: i64) {
        self.min = if self.count == 0 { len } else { self.min.min(len) };
        self.max = self.max.max(len);
        self.count += 1;
        self.sum += u64::from(len);
        self.burst.add(now, bucket);
    }
}

/// Search for the busiest window.
#[derive(Clone, Debug)]
struct Burst {
    /// Buckets of the current window, by number. As in Wireshark the first one is empty at time 0, so a first burst
    /// within 100 ms begins at 0.
    buckets: VecDeque<Bucket>,
    /// Number of frames in the buckets.
    sum: u64,
    best: u64,
    /// Milliseconds after the first frame.
    best_start: f64,
}

#[derive(Clone, Copy, Debug)]
struct Bucket {
    number: i64,
    count: u64,
    /// Time of its first frame, milliseconds after the first of all.
    start: f64,
}

impl Default for Burst {
    fn default() -> Self {
        let empty = Bucket { number: 0, count: 0, start: 0.0 };
        Self { buckets: VecDeque::from([empty]), sum: 0, best: 0, best_start: 0.0 }
    }
}

impl Burst {
    #[inline]
    fn add(&mut self, now: f64, number: i64) {
        match self.buckets.back_mut() {
            Some(last) if last.number == number => {
                last.count += 1;
                last.start = last.start.min(now);
                self.sum += 1;
            }
            Some(last) if last.number > number => self.add_back_in_time(now, number),
            _ => {
                self.buckets.push_back(Bucket { number, count: 1, start: now });
                self.sum += 1;
                while let Some(head) = self.buckets.front()
                    && number >= head.number.saturating_add(BUCKETS)
                {
                    self.sum -= head.count;
                    self.buckets.pop_front();
                }
            }
        }
        if self.sum > self.best {
            self.best = self.sum;
            self.best_start = self.buckets.front().map_or(0.0, |head| head.start);
        }
    }

    /// Adds a frame that is older than the newest bucket.
    #[cold]
    fn add_back_in_time(&mut self, now: f64, number: i64) {
        let newest = self.buckets.back().map_or(number, |last| last.number);
        let oldest = self.buckets.front().map_or(number, |head| head.number);
        if number < oldest && newest >= number.saturating_add(BUCKETS) {
            return;
        }
        let place = self.buckets.partition_point(|bucket| bucket.number < number);
        match self.buckets.get_mut(place) {
            Some(bucket) if bucket.number == number => {
                bucket.count += 1;
                bucket.start = bucket.start.min(now);
            }
            _ => self.buckets.insert(place, Bucket { number, count: 1, start: now }),
        }
        self.sum += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: i64 = 1_000_000;

    #[test]
    fn ranges_by_length() {
        let mut table = PacketLengths::default();
        for (least, most) in RANGES {
            table.add(Some(0), least);
            table.add(Some(0), most.min(65_535));
        }
        let counts: Vec<u64> = table.rows().iter().map(|row| row.count).collect();
        assert_eq!(counts, [20, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2]);
    }

    #[test]
    fn the_burst_is_the_busiest_100_ms() {
        let mut table = PacketLengths::default();
        // Buckets of 5 ms: 0, then 60, 61, 62 (one frame each), then 79 and 80 (two each). When bucket 80 is added,
        // bucket 60 is 20 buckets older and is removed: 1+1+2+2 = 6 frames in 100 ms, and the window begins with bucket
        // 61, at 307 ms.
        for at in [0, 302, 307, 312, 396, 397, 401, 402] {
            table.add(Some(at * MS), 100);
        }
        let all = table.rows()[0];
        assert_eq!(all.burst_rate, Some(0.06));
        assert_eq!(all.burst_start, Some(0.307));
        assert_eq!(all.rate, Some(8.0 / 402.0));
    }

    #[test]
    fn the_first_burst_begins_at_zero() {
        let mut table = PacketLengths::default();
        table.add(Some(0), 60);
        // The first frame of the range 80-159 is at 50 ms, but its window has the empty bucket 0.
        table.add(Some(50 * MS), 100);
        assert_eq!(table.rows()[4].burst_start, Some(0.0));
    }

    #[test]
    fn means_have_single_precision() {
        let mut table = PacketLengths::default();
        // 16,777,217 = 2^24 + 1 has no single-precision representation: it becomes 2^24.
        table.add(Some(0), 16_777_217);
        assert_eq!(table.rows()[0].average, Some(16_777_216.0));
    }

    #[test]
    fn frames_older_than_the_first_one_are_counted() {
        let mut table = PacketLengths::default();
        table.add(Some(1000 * MS), 100);
        // 200 ms before the first frame: too old for the window, but counted.
        table.add(Some(800 * MS), 100);
        // 20 ms before it: a bucket in front of the window.
        table.add(Some(980 * MS), 100);
        let all = table.rows()[0];
        assert_eq!((all.count, all.burst_rate), (3, Some(0.02)));
        // The last frame of the file is 20 ms before the first one.
        assert_eq!(all.rate, Some(3.0 / -20.0));
        // All frames of the range 160-319 are at least 200 ms before its empty first bucket.
        table.add(Some(-200 * MS), 200);
        table.add(Some(790 * MS), 200);
        let range = table.rows()[5];
        assert_eq!((range.count, range.burst_rate, range.burst_start), (2, None, None));
    }
}
