//! Tables as JSON: one object for each row [RFC 8259]. Missing values are null.

use std::io::Write;

use crate::table::{MISSING, Table, Values};

impl Table {
    /// Appends the rows as JSON objects with `separator` between them: a comma, or a line feed.
    pub fn write_json(&self, separator: u8, to: &mut Vec<u8>) {
        let keys: Vec<String> = self
            .columns
            .iter()
            .enumerate()
            .map(|(n, (name, _))| format!("{}\"{name}\":", if n > 0 { "," } else { "" }))
            .collect();
        for row in 0..self.rows() {
            if row > 0 {
                to.push(separator);
            }
            to.push(b'{');
            for (key, (_, values)) in keys.iter().zip(&self.columns) {
                to.extend_from_slice(key.as_bytes());
                cell(values, row, to);
            }
            to.push(b'}');
        }
    }
}

fn cell(values: &Values, row: usize, to: &mut Vec<u8>) {
    match values {
        Values::U64(v) => unsigned(v[row], to),
        Values::U32(v) => unsigned(v[row].into(), to),
        Values::U16(v) => unsigned(v[row].into(), to),
        Values::U8(v) => unsigned(v[row].into(), to),
        Values::I64(v) if v[row] == MISSING => to.extend_from_slice(b"null"),
        Values::I64(v) => signed(v[row], to),
        Values::I32(v) if v[row] < 0 => to.extend_from_slice(b"null"),
        Values::I32(v) => signed(v[row].into(), to),
        Values::F64(v) if !v[row].is_finite() => to.extend_from_slice(b"null"),
        Values::F64(v) => {
            // Writing to memory cannot fail.
            let _ = write!(to, "{:?}", v[row]);
        }
        Values::Text(v) => text(&v[row], to),
    }
}

fn signed(n: i64, to: &mut Vec<u8>) {
    if n < 0 {
        to.push(b'-');
    }
    unsigned(n.unsigned_abs(), to);
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
