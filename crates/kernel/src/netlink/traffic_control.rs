//! What messages on queue disciplines and on filters have in common [Linux rtnetlink.h tcmsg, gen_stats.h].

pub(super) const NEW: i32 = libc::NLM_F_REQUEST | libc::NLM_F_ACK | libc::NLM_F_CREATE | libc::NLM_F_REPLACE;
pub(super) const TCA_KIND: u16 = 1;
pub(super) const TCA_OPTIONS: u16 = 2;
pub(super) const TCA_STATS_QUEUE: u16 = 3;
pub(super) const TC_LINKLAYER_ETHERNET: u8 = 1;

/// Returns a `tcmsg`.
pub(super) fn fixed(index: u32, handle: u32, parent: u32) -> Vec<u8> {
    [&[0; 4], &index.to_ne_bytes()[..], &handle.to_ne_bytes(), &parent.to_ne_bytes(), &[0; 4]].concat()
}

pub(super) fn words(values: &[u32]) -> Vec<u8> {
    values.iter().flat_map(|v| v.to_ne_bytes()).collect()
}
