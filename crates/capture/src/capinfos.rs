//! Capture properties as text, with the lines and digits of `capinfos` [Wireshark capinfos.c]. Hashes of the file are
//! left out; times are in UTC.

use std::fmt::Write as _;

use crate::LinkType;
use crate::properties::{Digits, Properties};
use crate::read::{Interface, Section};

/// Rounded numbers (`12 kB`) or exact ones (`12345 bytes`, as `capinfos -M`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Numbers {
    /// Rounded down to a decimal prefix.
    Short,
    /// Exact.
    Full,
}

/// Column at which the values begin.
const LABEL: usize = 21;

/// The report of `capinfos` without hashes.
pub fn report(properties: &Properties, numbers: Numbers) -> String {
    let mut lines = Lines { text: String::new(), numbers };
    lines.file(properties);
    lines.times(properties);
    lines.rates(properties);
    lines.origin(properties);
    lines.text
}

struct Lines {
    text: String,
    numbers: Numbers,
}

impl Lines {
    fn line(&mut self, label: &str, value: impl AsRef<str>) {
        // Writing to a string can't fail.
        let _ = writeln!(self.text, "{label:LABEL$}{}", value.as_ref());
    }

    /// A line of details of the line above. A label longer than the column moves its value to the right.
    fn below(&mut self, text: impl AsRef<str>) {
        self.line("", text);
    }

    fn full(&self) -> bool {
        self.numbers == Numbers::Full
    }

    fn encapsulation(&self, link: LinkType) -> String {
        if self.full() { link.name() } else { link.title() }
    }

    fn file(&mut self, p: &Properties) {
        self.line("File name:", &p.file);
        let kind = if self.full() { p.kind.name() } else { p.kind.title() };
        let compressed = p.compression.map_or(String::new(), |c| format!(" ({} compressed)", c.name()));
        self.line("File type:", format!("{kind}{compressed}"));
        let word = |short: &str, full: &str| if self.full() { full.to_owned() } else { short.to_owned() };
        match p.encapsulations.as_slice() {
            [] => self.line("File encapsulation:", word("Unknown", "unknown")),
            [(link, _)] => self.line("File encapsulation:", self.encapsulation(*link)),
            several => {
                self.line("File encapsulation:", word("Per packet", "per-packet"));
                let _ = writeln!(self.text, "Encapsulation in use by packets (# of pkts):");
                let mut used: Vec<_> = several.iter().filter(|(_, frames)| *frames > 0).collect();
                used.sort_by_key(|(link, _)| link.wireshark_number());
                for (link, frames) in used {
                    self.below(format!("{} ({frames})", link.title()));
                }
            }
        }
        let digits = match p.digits() {
            None => "UNKNOWN (-2)".to_owned(),
            Some(Digits::Differ) => "per-packet (-1)".to_owned(),
            Some(Digits::All(digits)) => precision(digits),
        };
        self.line("File timestamp precision:", format!("  {digits}"));
        let snaplen = p.snaplen.map_or("(not set)".to_owned(), |n| format!("{n} bytes"));
        self.line("Packet size limit:", format!("file hdr: {snaplen}"));
        if let Some((least, most)) = p.inferred_snaplen {
            let range = if least == most {
                format!("inferred: {least} bytes")
            } else {
                format!("inferred: {least} bytes - {most} bytes (range)")
            };
            self.line("Packet size limit:", range);
        }
        self.line("Number of packets:", self.count(p.packets, ""));
        if let Some(size) = p.file_size {
            self.line("File size:", self.count(size, "B"));
        }
        self.line("Data size:", self.count(p.bytes, "B"));
    }

    /// `B` after a prefix, ` bytes` without one; nothing after a packet count.
    fn count(&self, n: u64, unit: &str) -> String {
        match (unit, self.full()) {
            ("", true) => n.to_string(),
            ("", false) => with_prefix(n, "", "").trim_end().to_owned(),
            (_, true) => format!("{n} bytes"),
            (_, false) => with_prefix(n, unit, "bytes"),
        }
    }

    fn times(&mut self, p: &Properties) {
        if p.untimed > 0 {
            return;
        }
        let (of_first, of_last) = p.time_digits;
        let duration = p.duration().map(|ns| {
            let plural = if ns == 1_000_000_000 { "" } else { "s" };
            format!("{} second{plural}", seconds(ns, of_first.max(of_last)))
        });
        let none = || "n/a".to_owned();
        self.line("Capture duration:", duration.unwrap_or_else(none));
        self.line("First packet time:", p.first.map_or_else(none, |t| utc(t, of_first)));
        self.line("Last packet time:", p.last.map_or_else(none, |t| utc(t, of_last)));
    }

    fn rates(&mut self, p: &Properties) {
        let timed = p.untimed == 0;
        if timed {
            self.line("Data byte rate:", self.rate(p.byte_rate(), "Bps", "bytes"));
            self.line("Data bit rate:", self.rate(p.bit_rate(), "bps", "bits"));
        }
        self.line("Average packet size:", format!("{:.2} bytes", p.mean_length().unwrap_or(0.0)));
        if timed {
            self.line("Average packet rate:", self.rate(p.packet_rate(), "packets/s", "packets"));
        }
        let order = match p.in_order() {
            None => "Unknown",
            Some(true) => "True",
            Some(false) => "False",
        };
        self.line("Strict time order:", order);
    }

    fn rate(&self, rate: Option<f64>, short: &str, unit: &str) -> String {
        match (rate, self.full()) {
            (Some(rate), true) => format!("{rate:.2} {unit}/sec"),
            (None, true) => "n/a".to_owned(),
            (rate, false) => with_prefix(rate.unwrap_or(0.0) as u64, short, &format!("{unit}/s")),
        }
    }

    fn origin(&mut self, p: &Properties) {
        let many = p.sections.len() > 1;
        for (i, section) in p.sections.iter().enumerate() {
            if many {
                let _ = writeln!(self.text, "Section {i}:\n");
            }
            self.section(section);
            let first = section.first_interface as usize;
            let end = p.sections.get(i + 1).map_or(p.interfaces.len(), |next| next.first_interface as usize);
            let own = p.interfaces.get(first..end).unwrap_or_default();
            if own.is_empty() {
                continue;
            }
            self.line("Number of interfaces in file:", format!(" {}", own.len()));
            for (id, interface) in own.iter().enumerate() {
                let _ = writeln!(self.text, "Interface #{} info:", first + id);
                self.interface(interface);
            }
        }
    }

    fn section(&mut self, section: &Section) {
        let parts = [
            ("Capture hardware:", &section.hardware),
            ("Capture oper-sys:", &section.os),
            ("Capture application:", &section.application),
        ];
        for (label, value) in parts {
            if let Some(value) = value {
                self.line(label, value);
            }
        }
        for comment in &section.comments {
            self.line("Capture comment:", comment.replace('\n', " "));
        }
    }

    fn interface(&mut self, i: &Interface) {
        let mut field = |label: &str, value: Option<String>| {
            if let Some(value) = value {
                self.below(format!("{label} = {value}"));
            }
        };
        field("Name", i.name.clone());
        field("Description", i.description.clone());
        let link = i.link;
        let encapsulation = format!("{} ({} - {})", link.title(), link.wireshark_number(), link.name());
        field("Encapsulation", Some(encapsulation));
        field("Hardware", i.hardware.clone());
        field("Speed", i.speed.map(|n| n.to_string()));
        field("Capture length", Some(i.snaplen.to_string()));
        field("FCS length", i.fcs_len.map(|n| n.to_string()));
        field("Time precision", Some(precision(i.resolution.digits())));
        field("Time ticks per second", Some(i.resolution.per_second().to_string()));
        field("Time resolution", i.tsresol.map(|n| format!("{n:#04x}")));
        field("Timestamp offset", (i.time_offset != 0).then(|| i.time_offset.to_string()));
        field("Filter string", i.filter.clone());
        field("BPF filter length", i.filter_program.map(|n| n.to_string()));
        field("Operating system", i.os.clone());
        field("Comment", i.comments.first().map(|text| text.replace('\n', " ")));
        field("Number of stat entries", Some(i.statistics.to_string()));
        field("Number of packets", Some(i.frames.to_string()));
    }
}

fn precision(digits: u8) -> String {
    let name = match digits {
        0 => "seconds",
        1 => "deciseconds",
        2 => "centiseconds",
        3 => "milliseconds",
        6 => "microseconds",
        _ => "nanoseconds",
    };
    format!("{name} ({digits})")
}

/// Rounds down with the largest decimal prefix that leaves at least 10; `bare` is the unit without a prefix.
fn with_prefix(n: u64, unit: &str, bare: &str) -> String {
    let prefixes = [(1_000_000_000_000, "T"), (1_000_000_000, "G"), (1_000_000, "M"), (1000, "k")];
    match prefixes.into_iter().find(|(size, _)| n / size >= 10) {
        Some((size, prefix)) => format!("{} {prefix}{unit}", n / size),
        None => format!("{n} {bare}"),
    }
}

/// Seconds with `digits` decimals, rounded down.
fn seconds(ns: i64, digits: u8) -> String {
    let sign = if ns < 0 { "-" } else { "" };
    let ns = ns.unsigned_abs();
    let (whole, rest) = (ns / 1_000_000_000, format!("{:09}", ns % 1_000_000_000));
    match digits {
        0 => format!("{sign}{whole}"),
        digits => format!("{sign}{whole}.{}", &rest[..usize::from(digits).min(9)]),
    }
}

/// Date and time of day with `digits` decimals, rounded down.
fn utc(ns: i64, digits: u8) -> String {
    let (second, rest) = (ns.div_euclid(1_000_000_000), ns.rem_euclid(1_000_000_000));
    let (day, time) = (second.div_euclid(86_400), second.rem_euclid(86_400));
    let (year, month, day) = date(day);
    let (h, m, s) = (time / 3600, time / 60 % 60, time % 60);
    let fraction = seconds(rest, digits);
    format!("{year:04}-{month:02}-{day:02} {h:02}:{m:02}:{s:02}{}", &fraction[1..])
}

/// The Gregorian date of a day counted from 1970-01-01.
///
/// Years begin in March here, so that the leap day is the last day; 400 years have 146,097 days.
fn date(day: i64) -> (i64, i64, i64) {
    // 719,468 days from 0000-03-01 to 1970-01-01.
    let day = day + 719_468;
    let (era, day) = (day.div_euclid(146_097), day.rem_euclid(146_097));
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let of_year = day - (365 * year + year / 4 - year / 100);
    // Months of 31, 30, 31, 30, 31 days repeat every 153 days.
    let month = (5 * of_year + 2) / 153;
    let of_month = of_year - (153 * month + 2) / 5 + 1;
    let (month, next) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    (era * 400 + year + next, month, of_month)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_of_known_days() {
        // `date -u -d @SECONDS` of GNU coreutils.
        assert_eq!(utc(0, 0), "1970-01-01 00:00:00");
        assert_eq!(utc(1_700_000_000_123_456_789, 9), "2023-11-14 22:13:20.123456789");
        assert_eq!(utc(1_709_164_799_999_999_999, 3), "2024-02-28 23:59:59.999");
        assert_eq!(utc(1_709_251_199_000_000_000, 1), "2024-02-29 23:59:59.0");
        // The fraction counts forward before 1970 too.
        assert_eq!(utc(-98_500_000_000, 6), "1969-12-31 23:58:21.500000");
        assert_eq!(utc(4_107_542_399_000_000_000, 0), "2100-02-28 23:59:59");
        assert_eq!(utc(4_107_542_400_000_000_000, 0), "2100-03-01 00:00:00");
    }

    #[test]
    fn prefixes_begin_at_ten() {
        assert_eq!(with_prefix(9_999, "B", "bytes"), "9999 bytes");
        assert_eq!(with_prefix(10_000, "B", "bytes"), "10 kB");
        assert_eq!(with_prefix(9_999_999, "B", "bytes"), "9999 kB");
        assert_eq!(with_prefix(10_999_999, "Bps", "bytes/s"), "10 MBps");
    }
}
