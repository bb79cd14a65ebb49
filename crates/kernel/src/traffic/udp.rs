//! UDP applications: CBR and on/off sources over real sockets [udp(7)], with the simulator's schedule. Sizes are those
//! of IP packets.

use super::{Cx, Host, PORT, Traffic};
use crate::error::{KernelError, Step};
use crate::sys;
use dumbbell_plan::FlowResult;
use dumbbell_sim::Source;
use std::os::fd::OwnedFd;

/// See the top of this file.
pub(crate) struct UdpTraffic {
    hosts: [Host; 2],
    source: Source,
    payload: Vec<u8>,
    sockets: Option<[OwnedFd; 2]>,
    stopped: bool,
}

impl UdpTraffic {
    pub(crate) fn new(hosts: [Host; 2], source: Source) -> UdpTraffic {
        let payload = vec![0; source.packet_bytes.saturating_sub(hosts[0].datagram_headers()) as usize];
        UdpTraffic { hosts, source, payload, sockets: None, stopped: false }
    }
}

impl Traffic for UdpTraffic {
    fn start(&mut self, cx: &mut Cx<'_>) -> Result<(), KernelError> {
        // The receiver never reads: its tap observes arrivals. Without its socket the kernel would send ICMP errors.
        let receiver = self.hosts[1].socket(libc::SOCK_DGRAM, PORT)?;
        let sender = self.hosts[0].socket(libc::SOCK_DGRAM, PORT)?;
        sys::connect(&sender, self.hosts[1].at(PORT)).step(|| "connect".into())?;
        self.sockets = Some([sender, receiver]);
        cx.alarm(cx.now + self.source.phase.0);
        Ok(())
    }

    fn on_alarm(&mut self, cx: &mut Cx<'_>) -> Result<(), KernelError> {
        if let (Some([sender, _]), false) = (&self.sockets, self.stopped) {
            // An error means that the queue of this host is full: the packet is lost.
            let _ = sys::send(sender, &self.payload);
            let next = self.source.next(dumbbell_units::Time(cx.now));
            cx.alarm(next.0);
        }
        Ok(())
    }

    fn on_event(&mut self, _role: u32, _over: bool, _cx: &mut Cx<'_>) -> Result<(), KernelError> {
        Ok(())
    }

    fn stop(&mut self, _now: u64) {
        self.stopped = true;
    }

    fn finish(&self, result: &mut FlowResult) {
        result.phase_s = self.source.phase.as_secs().into();
    }
}
