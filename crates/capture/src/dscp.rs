//! Counts of differentiated services code points [RFC 2474 §3], in the order of their first packets. 0 isn't counted:
//! most packets have it.

/// Packets with each code point.
pub(crate) type Counts = Vec<(u8, u32)>;

/// Counts a packet.
#[inline]
pub(crate) fn count(counts: &mut Counts, dscp: u8) {
    if dscp != 0 {
        add(counts, dscp);
    }
}

#[cold]
fn add(counts: &mut Counts, dscp: u8) {
    match counts.iter_mut().find(|(known, _)| *known == dscp) {
        Some((_, count)) => *count += 1,
        None => counts.push((dscp, 1)),
    }
}

/// Code points with the number of their packets, the most frequent first: `46:120 10:3`.
pub(crate) fn text(counts: &Counts) -> String {
    let mut counts = counts.clone();
    counts.sort_by_key(|&(dscp, count)| (std::cmp::Reverse(count), dscp));
    counts.iter().map(|(dscp, count)| format!("{dscp}:{count}")).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_frequent_code_point_is_first() {
        let mut counts = Counts::new();
        for dscp in [10, 0, 46, 8, 46, 0, 0] {
            count(&mut counts, dscp);
        }
        assert_eq!(text(&counts), "46:2 8:1 10:1");
        assert_eq!(text(&Counts::new()), "");
    }
}
