//! The text form of quantities: `"40 ms"`, `"10 Mbit/s"`, `"1 bdp"`, `"20 packets"`, `"0.1 %"`.
//!
//! Prefixes are decimal (k = 1000, M = 10^6, G = 10^9); `KiB`, `MiB`, `GiB` are the binary ones.
//! A number without a unit is an error; the message shows the correct form.

use crate::{Bytes, Dur, Packets, Prob, Rate};

/// An amount given as packets or as bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    /// A number of packets.
    Packets(Packets),
    /// A number of bytes.
    Bytes(Bytes),
}

/// A queue length: packets, bytes, a time at the link's rate, or a multiple of the bandwidth-delay product.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Length {
    /// A number of packets.
    Packets(Packets),
    /// A number of bytes.
    Bytes(Bytes),
    /// The bytes that the link sends in this time.
    Time(Dur),
    /// A multiple of link rate x base round-trip time.
    Bdp(f64),
}

const TIME: &[(&str, f64)] =
    &[("ns", 1.0), ("us", 1e3), ("µs", 1e3), ("ms", 1e6), ("s", 1e9), ("min", 60e9), ("h", 3600e9)];
const RATE: &[(&str, f64)] = &[
    ("bit/s", 1.0),
    ("kbit/s", 1e3),
    ("Mbit/s", 1e6),
    ("Gbit/s", 1e9),
    ("bps", 1.0),
    ("kbps", 1e3),
    ("Mbps", 1e6),
    ("Gbps", 1e9),
];
const BYTES: &[(&str, f64)] = &[
    ("bytes", 1.0),
    ("byte", 1.0),
    ("B", 1.0),
    ("kB", 1e3),
    ("MB", 1e6),
    ("GB", 1e9),
    ("KiB", 1024.0),
    ("MiB", 1048576.0),
    ("GiB", 1073741824.0),
];
const PACKETS: &[(&str, f64)] = &[("packets", 1.0), ("packet", 1.0)];
const BDP: &[(&str, f64)] = &[("bdp", 1.0), ("BDP", 1.0)];
const DBM: &[(&str, f64)] = &[("dBm", 1.0)];
const DB: &[(&str, f64)] = &[("dB", 1.0)];
const MHZ: &[(&str, f64)] = &[("MHz", 1.0), ("GHz", 1000.0)];
const PER_SECOND: &[(&str, f64)] = &[("/s", 1.0), ("/min", 1.0 / 60.0), ("/h", 1.0 / 3600.0)];
const PERCENT: &[(&str, f64)] = &[("%", 0.01)];

/// Splits "12.5 ms" into 12.5 and "ms".
fn split(text: &str) -> Option<(f64, &str)> {
    let text = text.trim();
    let end = text
        .char_indices()
        .find(|&(i, c)| {
            let exponent_sign = matches!(c, '+' | '-') && i > 0 && matches!(text.as_bytes()[i - 1], b'e' | b'E');
            let exponent = matches!(c, 'e' | 'E')
                && text[i + 1..].starts_with(|n: char| n.is_ascii_digit() || n == '-' || n == '+');
            !(c.is_ascii_digit()
                || c == '.'
                || c == '_'
                || (i == 0 && matches!(c, '+' | '-'))
                || exponent
                || exponent_sign)
        })
        .map_or(text.len(), |(i, _)| i);
    let number = text[..end].replace('_', "").parse::<f64>().ok()?;
    // The Greek letter mu looks like the micro sign.
    let unit = text[end..].trim();
    Some((number, if unit == "\u{3bc}s" { "µs" } else { unit }))
}

/// Returns the number in base units and the index of the table that has its unit.
fn scaled(text: &str, what: &str, example: &str, tables: &[&[(&str, f64)]]) -> Result<(f64, usize), String> {
    let bad = |why: String| Err(format!("{why}: {what} such as {example} is needed"));
    let Some((number, unit)) = split(text) else {
        return bad(format!("'{text}' does not start with a number"));
    };
    if unit.strip_prefix(',').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit())) {
        return bad(format!("'{text}' has a comma: a point separates decimals, and nothing separates thousands"));
    }
    if !number.is_finite() {
        return bad(format!("'{text}' is not finite"));
    }
    if number < 0.0 {
        return bad(format!("'{text}' is negative"));
    }
    if unit.is_empty() {
        return bad(format!("'{text}' has no unit"));
    }
    for (index, table) in tables.iter().enumerate() {
        if let Some((_, scale)) = table.iter().find(|(name, _)| *name == unit) {
            return Ok((number * scale, index));
        }
    }
    let known: Vec<&str> = tables.iter().flat_map(|t| t.iter().map(|(n, _)| *n)).collect();
    let hint = crate::param::suggestion(unit, known.iter().copied())
        .map_or(String::new(), |suggestion| format!(", {suggestion}"));
    bad(format!("unknown unit '{unit}' in '{text}'{hint} (known: {})", known.join(", ")))
}

fn whole(value: f64, text: &str) -> Result<u64, String> {
    if value > 1e18 {
        return Err(format!("'{text}' is too large"));
    }
    Ok(value.round() as u64)
}

/// Parses a duration.
///
/// # Errors
/// The fault in `text` and the correct form, here and in the other parsers.
pub fn duration(text: &str) -> Result<Dur, String> {
    whole(scaled(text, "a time", "\"40 ms\"", &[TIME])?.0, text).map(Dur)
}

/// Parses a bit rate.
///
/// # Errors
/// The errors of [`duration`].
pub fn rate(text: &str) -> Result<Rate, String> {
    whole(scaled(text, "a rate", "\"10 Mbit/s\"", &[RATE])?.0, text).map(Rate)
}

/// Parses a signal in dBm, which may be negative.
///
/// # Errors
/// The errors of [`duration`].
pub fn dbm(text: &str) -> Result<f64, String> {
    let (sign, magnitude) = signed(text);
    Ok(sign * scaled(magnitude, "a signal", "\"-70 dBm\"", &[DBM])?.0)
}

/// Parses a ratio in dB.
///
/// # Errors
/// The errors of [`duration`].
pub fn db(text: &str) -> Result<f64, String> {
    let (sign, magnitude) = signed(text);
    Ok(sign * scaled(magnitude, "a ratio", "\"7 dB\"", &[DB])?.0)
}

/// The sign of a quantity, and the rest of its text.
fn signed(text: &str) -> (f64, &str) {
    text.trim().strip_prefix('-').map_or((1.0, text), |rest| (-1.0, rest))
}

/// Parses the width of a channel, in MHz.
///
/// # Errors
/// The errors of [`duration`].
pub fn megahertz(text: &str) -> Result<u64, String> {
    whole(scaled(text, "a width", "\"20 MHz\"", &[MHZ])?.0, text)
}

/// Parses a number of bytes.
///
/// # Errors
/// The errors of [`duration`], and a number that is not an integer.
pub fn bytes(text: &str) -> Result<Bytes, String> {
    let (value, _) = scaled(text, "a size", "\"1000 bytes\"", &[BYTES])?;
    integral(value, text).map(Bytes)
}

/// Parses a number of packets.
///
/// # Errors
/// The errors of [`bytes`].
pub fn packets(text: &str) -> Result<Packets, String> {
    let (value, _) = scaled(text, "a count", "\"20 packets\"", &[PACKETS])?;
    integral(value, text).map(Packets)
}

/// Parses a mean number of packets, which can have a fraction.
///
/// # Errors
/// The errors of [`duration`].
pub fn mean_packets(text: &str) -> Result<f64, String> {
    Ok(scaled(text, "a mean number of packets", "\"2.5 packets\"", &[PACKETS])?.0)
}

fn integral(value: f64, text: &str) -> Result<u64, String> {
    if (value - value.round()).abs() > 1e-6 * value.abs().max(1.0) {
        return Err(format!("'{text}' is not a whole number"));
    }
    whole(value, text)
}

/// Parses a number of events per time, in events per second.
///
/// # Errors
/// The errors of [`duration`].
pub fn per_second(text: &str) -> Result<f64, String> {
    Ok(scaled(text, "a number per time", "\"200 /s\"", &[PER_SECOND])?.0)
}

/// Parses a probability in percent.
///
/// # Errors
/// The errors of [`duration`], and a number above 100 %.
pub fn probability(text: &str) -> Result<Prob, String> {
    let (value, _) = scaled(text, "a percentage", "\"0.1 %\"", &[PERCENT])?;
    Prob::new(value).ok_or_else(|| format!("'{text}' is above 100 %"))
}

/// Parses a number of bytes or packets.
///
/// # Errors
/// The errors of [`bytes`].
pub fn size(text: &str) -> Result<Size, String> {
    let (value, table) = scaled(text, "a size", "\"20 packets\" or \"64 KiB\"", &[PACKETS, BYTES])?;
    let n = integral(value, text)?;
    Ok(if table == 0 { Size::Packets(Packets(n)) } else { Size::Bytes(Bytes(n)) })
}

/// Parses a queue length.
///
/// # Errors
/// The errors of [`bytes`].
pub fn length(text: &str) -> Result<Length, String> {
    let example = "\"10 packets\", \"64 kB\", \"20 ms\" or \"1 bdp\"";
    let (value, table) = scaled(text, "a queue length", example, &[PACKETS, BYTES, TIME, BDP])?;
    Ok(match table {
        0 => Length::Packets(Packets(integral(value, text)?)),
        1 => Length::Bytes(Bytes(integral(value, text)?)),
        2 => Length::Time(Dur(whole(value, text)?)),
        _ => Length::Bdp(value),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_with_units_are_parsed() {
        assert_eq!(duration("40 ms"), Ok(Dur::millis(40)));
        assert_eq!(duration("0.5s"), Ok(Dur::millis(500)));
        assert_eq!(duration("1e-3 s"), Ok(Dur::millis(1)));
        assert_eq!(duration("10 \u{3bc}s"), duration("10 µs"));
        assert_eq!(rate("10 Mbit/s"), Ok(Rate(10_000_000)));
        assert_eq!(rate("7.2 Mbit/s"), Ok(Rate(7_200_000)));
        assert_eq!(bytes("177_669 bytes"), Ok(Bytes(177_669)));
        assert_eq!(bytes("64 KiB"), Ok(Bytes(65_536)));
        assert_eq!(size("20 packets"), Ok(Size::Packets(Packets(20))));
        assert_eq!(mean_packets("2.5 packets"), Ok(2.5));
        assert_eq!(length("1.5 bdp"), Ok(Length::Bdp(1.5)));
        assert_eq!(length("20 ms"), Ok(Length::Time(Dur::millis(20))));
        assert_eq!(probability("0.1 %").map(Prob::get), Ok(0.001));
    }

    #[test]
    fn every_error_shows_the_correct_form() {
        for (text, part) in [
            ("10", "has no unit"),
            ("-3 ms", "negative"),
            ("ten ms", "does not start with a number"),
            ("10 msec", "unknown unit 'msec'"),
            ("1e400 s", "not finite"),
            ("", "does not start with a number"),
            ("1,5 ms", "'1,5 ms' has a comma: a point separates decimals"),
            ("1,500.5 ms", "has a comma"),
        ] {
            let error = duration(text).unwrap_err();
            assert!(error.contains(part) && error.contains("\"40 ms\""), "{error}");
        }
        assert!(rate("10 mbit/s").unwrap_err().contains("did you mean 'Mbit/s'"));
        assert!(packets("1.5 packets").unwrap_err().contains("whole"));
        assert!(rate("1,5 Mbit/s").unwrap_err().contains("has a comma"));
        assert!(dbm("-70,5 dBm").unwrap_err().contains("has a comma"));
        assert!(probability("101 %").unwrap_err().contains("above 100 %"));
    }
}
