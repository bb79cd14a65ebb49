//! Tables as JSON: one object for each row [RFC 8259]. Missing values are null.

use std::io::Write;

use crate::table::{MISSING, Table, Values};

/// The text before a value, and with the most frequent values: most cells of a table are one copy.
struct Key {
    plain: Vec<u8>,
    zero: Vec<u8>,
    null: Vec<u8>,
}

impl Key {
    fn new(n: usize, name: &str) -> Self {
        let plain = format!("{}\"{name}\":", if n > 0 { "," } else { "" });
        let with = |value: &str| format!("{plain}{value}").into_bytes();
        Self { zero: with("0"), null: with("null"), plain: plain.into_bytes() }
    }

    fn cell(&self, values: &Values, row: usize, to: &mut Vec<u8>) {
        match values {
            Values::U64(v) => self.unsigned(v[row], to),
            Values::U32(v) => self.unsigned(v[row].into(), to),
            Values::U16(v) => self.unsigned(v[row].into(), to),
            Values::U8(v) => self.unsigned(v[row].into(), to),
            Values::I64(v) if v[row] == MISSING => to.extend_from_slice(&self.null),
            Values::I64(v) => self.signed(v[row], to),
            Values::I32(v) if v[row] < 0 => to.extend_from_slice(&self.null),
            Values::I32(v) => self.signed(v[row].into(), to),
            Values::F64(v) if !v[row].is_finite() => to.extend_from_slice(&self.null),
            Values::F64(v) => {
                to.extend_from_slice(&self.plain);
                float(v[row], to);
            }
            Values::Text(v) => {
                to.extend_from_slice(&self.plain);
                text(&v[row], to);
            }
        }
    }

    #[inline]
    fn unsigned(&self, n: u64, to: &mut Vec<u8>) {
        if n == 0 {
            to.extend_from_slice(&self.zero);
        } else {
            to.extend_from_slice(&self.plain);
            unsigned(n, to);
        }
    }

    #[inline]
    fn signed(&self, n: i64, to: &mut Vec<u8>) {
        if n < 0 {
            to.extend_from_slice(&self.plain);
            to.push(b'-');
            unsigned(n.unsigned_abs(), to);
        } else {
            self.unsigned(n.unsigned_abs(), to);
        }
    }
}

impl Table {
    /// Appends the rows as JSON objects with `separator` between them: a comma, or a line feed.
    pub fn write_json(&self, separator: u8, to: &mut Vec<u8>) {
        let keys: Vec<Key> = self.columns.iter().enumerate().map(|(n, (name, _))| Key::new(n, name)).collect();
        for row in 0..self.rows() {
            if row > 0 {
                to.push(separator);
            }
            to.push(b'{');
            for (key, (_, values)) in keys.iter().zip(&self.columns) {
                key.cell(values, row, to);
            }
            to.push(b'}');
        }
    }
}

/// The shortest decimal that is read as the same number, as `{:?}` writes it.
fn float(x: f64, to: &mut Vec<u8>) {
    /// Decimals of most quantities: milliseconds with nanoseconds, segments.
    const SCALE: f64 = 1e6;
    // Different decimals of at most 15 digits are different numbers. So a decimal of 15 digits that is read as `x` is,
    // without zeros at its end, the shortest one.
    let scaled = (x * SCALE).round_ties_even();
    if scaled.abs() < 1e15 && scaled / SCALE == x && (x.abs() >= 1e-4 || x == 0.0 && x.is_sign_positive()) {
        if x < 0.0 {
            to.push(b'-');
        }
        let n = scaled.abs() as u64;
        unsigned(n / 1_000_000, to);
        let mut digits = [b'0'; 7];
        digits[0] = b'.';
        let mut rest = (n % 1_000_000) as u32;
        let mut end = 2;
        for at in (1..7).rev() {
            digits[at] = b'0' + (rest % 10) as u8;
            if end == 2 && !rest.is_multiple_of(10) {
                end = at + 1;
            }
            rest /= 10;
        }
        to.extend_from_slice(&digits[..end]);
    } else {
        // Writing to memory cannot fail.
        let _ = write!(to, "{x:?}");
    }
}

fn unsigned(mut n: u64, to: &mut Vec<u8>) {
    let mut digits = [0; 20];
    let mut at = digits.len();
    loop {
        at -= 1;
        digits[at] = b'0' + (n % 10) as u8;
        n /= 10;
        if n == 0 {
            break;
        }
    }
    to.extend_from_slice(&digits[at..]);
}

/// A string, with the escapes that RFC 8259 §7 requires.
fn text(s: &str, to: &mut Vec<u8>) {
    to.push(b'"');
    for c in s.bytes() {
        match c {
            b'"' | b'\\' => to.extend_from_slice(&[b'\\', c]),
            0..0x20 => {
                let _ = write!(to, "\\u{c:04x}");
            }
            _ => to.push(c),
        }
    }
    to.push(b'"');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_are_written_as_debug_writes_them() {
        let mut state = 1_u64;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            state >> 11
        };
        let mut values = vec![0.0, -0.0, 1.0, 1e15, 1e16, 999_999_999.999_999, 1e9, 0.1, 1e-5, 9.9e-5, 1e-4, 0.3, 2.5];
        values.extend([0.1 + 0.2, 1.0 / 3.0, f64::MAX, f64::MIN_POSITIVE, 5e-324, 123_456.789, 4_503_599_627.370_497]);
        for _ in 0..20_000 {
            let n = next();
            values.extend([n as f64, (n >> (n % 50)) as f64 / 1e6, (n % 1_000_000) as f64 / 1e3, n as f64 / 7e9]);
            values.push(f64::from_bits(n << 11 | n));
        }
        for x in values.into_iter().flat_map(|x| [x, -x]).filter(|x| x.is_finite()) {
            let mut bytes = Vec::new();
            float(x, &mut bytes);
            assert_eq!(String::from_utf8(bytes).unwrap(), format!("{x:?}"));
        }
    }

    #[test]
    fn rows_are_objects_and_missing_values_are_null() {
        let table = Table::default()
            .with("a", vec![0_u64, u64::MAX])
            .with("b", vec![MISSING, -12_i64])
            .with("c", vec![-1_i32, 7])
            .with("d", vec![f64::NAN, 0.1])
            .with("e", vec!["a\"b\\c\n\u{e9}".to_owned(), String::new()]);
        let mut bytes = Vec::new();
        table.write_json(b',', &mut bytes);
        let expected = r#"{"a":0,"b":null,"c":null,"d":null,"e":"a\"b\\c\u000aé"},{"a":18446744073709551615,"b":-12,"c":7,"d":0.1,"e":""}"#;
        assert_eq!(String::from_utf8(bytes).unwrap(), expected);
    }
}
