//! Discovery of the datagram size by probes: DPLPMTUD [RFC 8899 §5, RFC 9000 §14.3].
//!
//! A probe is a PING with padding. It is acknowledged: that size is in use from then on. It is lost three times: the
//! size is too large. The sizes halve the interval between both bounds, until it is short; at last the upper bound
//! itself is tried. From 1200 to 1452 bytes: 1326, 1389, 1420, 1452.

/// Probes of one size [RFC 8899 §5.1.2, MAX_PROBES].
const MAX_PROBES: u32 = 3;
/// Differences below this are not worth a probe, bytes.
const MIN_CHANGE: u32 = 20;

/// See the top of this file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MtuDiscovery {
    /// The datagram size in use.
    pub(crate) current: u32,
    /// The largest size that is not known to be too large.
    upper: u32,
    /// The size of the probe in flight.
    probe: Option<u32>,
    failures: u32,
}

impl MtuDiscovery {
    pub(crate) fn new(initial: u32, max: u32) -> MtuDiscovery {
        MtuDiscovery { current: initial, upper: max, probe: None, failures: 0 }
    }

    /// The size of the next probe, if one is to be sent now.
    pub(crate) fn next_probe(&self) -> Option<u32> {
        if self.probe.is_some() || self.upper - self.current < MIN_CHANGE {
            return None;
        }
        let middle = u32::midpoint(self.current, self.upper);
        Some(if middle - self.current < MIN_CHANGE { self.upper } else { middle })
    }

    /// The size of the probe in flight.
    pub(crate) fn probe_size(&self) -> Option<u32> {
        self.probe
    }

    pub(crate) fn on_probe_sent(&mut self, size: u32) {
        self.probe = Some(size);
    }

    pub(crate) fn on_probe_acked(&mut self) {
        self.current = self.probe.take().unwrap_or(self.current);
        self.failures = 0;
    }

    pub(crate) fn on_probe_lost(&mut self) {
        self.failures += 1;
        if let Some(size) = self.probe.take()
            && self.failures == MAX_PROBES
        {
            self.failures = 0;
            // The last step tries the upper bound itself.
            let is_last = size - self.current < 2 * MIN_CHANGE;
            self.upper = if is_last { self.current } else { size - 1 };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The sizes probed on a path that carries datagrams of up to `largest` bytes.
    fn probes(largest: u32) -> (Vec<u32>, u32) {
        let mut mtu = MtuDiscovery::new(1200, 1452);
        let mut sizes = Vec::new();
        while let Some(size) = mtu.next_probe() {
            sizes.push(size);
            mtu.on_probe_sent(size);
            assert_eq!(mtu.next_probe(), None, "one probe at a time");
            if size <= largest { mtu.on_probe_acked() } else { mtu.on_probe_lost() }
        }
        (sizes, mtu.current)
    }

    #[test]
    fn four_probes_find_the_largest_size() {
        assert_eq!(probes(1452), (vec![1326, 1389, 1420, 1452], 1452));
    }

    #[test]
    fn a_size_that_is_lost_three_times_is_too_large() {
        // 1326 fits; 1389 doesn't: the bounds are 1326 and 1388. The middle is 1357, which fits; then
        // 1372 is too near, so that 1388 is the last.
        let (sizes, found) = probes(1360);
        assert_eq!((sizes, found), (vec![1326, 1389, 1389, 1389, 1357, 1388, 1388, 1388], 1357));
    }
}
