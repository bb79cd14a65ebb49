//! The ends of CBR and on/off flows over UDP between two machines [udp(7)]: each datagram carries the time at which it
//! was sent, by the run's clock on its machine.

use crate::error::{KernelError, Step};
use crate::netlink::head;
use crate::sys;
use crate::traffic::{Counters, Cx, Host, Traffic};
use dumbbell_plan::FlowResult;
use dumbbell_sim::Source;
use dumbbell_sim::meter::DurationStats;
use dumbbell_units::{Dur, Time};
use std::os::fd::OwnedFd;

const RECEIVER: u32 = 1;
/// Bytes of a time.
const STAMP: usize = 8;

/// The data sender.
pub(super) struct DatagramSender {
    hosts: [Host; 2],
    source: Source,
    payload: Vec<u8>,
    socket: Option<OwnedFd>,
    sent: u64,
    stopped: bool,
}

impl DatagramSender {
    pub(super) fn new(hosts: [Host; 2], source: Source) -> DatagramSender {
        let payload = vec![0; source.packet_bytes.saturating_sub(hosts[0].datagram_headers()) as usize];
        DatagramSender { hosts, source, payload, socket: None, sent: 0, stopped: false }
    }
}

impl Traffic for DatagramSender {
    fn start(&mut self, cx: &mut Cx<'_>) -> Result<(), KernelError> {
        let [here, there] = &self.hosts;
        let socket = here.socket(libc::SOCK_DGRAM, 0)?;
        sys::connect(&socket, there.at(there.port)).step(|| "connect".into())?;
        self.socket = Some(socket);
        cx.alarm(cx.now + self.source.phase.0);
        Ok(())
    }

    fn on_alarm(&mut self, cx: &mut Cx<'_>) -> Result<(), KernelError> {
        if let (Some(socket), false) = (&self.socket, self.stopped) {
            for (to, from) in self.payload.iter_mut().zip(cx.clock.to_le_bytes()) {
                *to = from;
            }
            // An error means that the queue of this machine is full: the packet is lost.
            let _ = sys::send(socket, &self.payload);
            self.sent += 1;
            cx.alarm(self.source.next(Time(cx.now)).0);
        }
        Ok(())
    }

    fn on_event(&mut self, _role: u32, _over: bool, _cx: &mut Cx<'_>) -> Result<(), KernelError> {
        Ok(())
    }

    fn stop(&mut self, _now: u64) {
        self.stopped = true;
    }

    fn finish(&self, r: &mut FlowResult) {
        r.phase_s = self.source.phase.as_secs().into();
    }

    fn counters(&self) -> Counters {
        let bytes_sent = self.sent * u64::from(self.source.packet_bytes);
        Counters { segments_sent: self.sent, bytes_sent, ..Counters::default() }
    }
}

/// The data receiver.
pub(super) struct DatagramReceiver {
    host: Host,
    socket: Option<OwnedFd>,
    received: u64,
    bytes: u64,
    delays: DurationStats,
    stopped: bool,
}

impl DatagramReceiver {
    pub(super) fn new(host: Host) -> DatagramReceiver {
        let delays = DurationStats::new();
        DatagramReceiver { host, socket: None, received: 0, bytes: 0, delays, stopped: false }
    }

    /// Counts a datagram that was received at `now`.
    fn count(&mut self, payload: &[u8], now: u64) {
        self.received += 1;
        self.bytes += payload.len() as u64 + u64::from(self.host.datagram_headers());
        if payload.len() >= STAMP {
            // Before zero only if the offset of the clocks is wrong by more than the delay.
            self.delays.record(Dur(now.saturating_sub(u64::from_le_bytes(head(payload)))));
        }
    }
}

impl Traffic for DatagramReceiver {
    fn start(&mut self, cx: &mut Cx<'_>) -> Result<(), KernelError> {
        let socket = self.host.socket(libc::SOCK_DGRAM, self.host.port)?;
        cx.watch(&socket, RECEIVER)?;
        self.socket = Some(socket);
        Ok(())
    }

    fn on_alarm(&mut self, _cx: &mut Cx<'_>) -> Result<(), KernelError> {
        Ok(())
    }

    fn on_event(&mut self, _role: u32, _over: bool, cx: &mut Cx<'_>) -> Result<(), KernelError> {
        let mut payload = vec![0; 1 << 16];
        while let Some(socket) = &self.socket
            && let Some(n) = sys::receive(socket, &mut payload).step(|| "datagrams".into())?
        {
            if !self.stopped {
                self.count(&payload[..n], cx.now);
            }
        }
        Ok(())
    }

    fn restart(&mut self) {
        self.delays.clear();
    }

    fn stop(&mut self, _now: u64) {
        self.stopped = true;
    }

    fn finish(&self, r: &mut FlowResult) {
        r.owd_mean_ms = self.delays.mean_ms().into();
        r.owd_p99_ms = self.delays.percentile_ms(0.99).into();
    }

    fn counters(&self) -> Counters {
        Counters { segments_received: self.received, bytes_read: self.bytes, ..Counters::default() }
    }
}
