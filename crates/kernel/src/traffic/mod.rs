//! Applications of flows. One thread serves all of them; in virtual time the clock stops while it works, so times are
//! exact.

mod counters;
mod ping;
mod program;
mod tcp;
mod udp;
mod workload;

pub(crate) use counters::Counters;
pub(crate) use ping::{PingConfig, PingTraffic};
pub(crate) use program::{ProgramConfig, ProgramTraffic, allow_ping};
pub(crate) use tcp::TcpTraffic;
pub(crate) use udp::UdpTraffic;
pub(crate) use workload::{WorkloadConfig, WorkloadTraffic};

use crate::error::{KernelError, Step};
use crate::meter::TcpSample;
use crate::sys;
use dumbbell_plan::{FlowResult, Transfer};
use dumbbell_trace::Table;
use std::io::ErrorKind;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

/// Longest wait for a port that is in use.
const HELD: Duration = Duration::from_secs(20);
/// Port at the data receiver (page: at the data sender).
pub(crate) const PORT: u16 = 5001;

/// One end of a flow: its namespace and address.
#[derive(Debug)]
pub(crate) struct Host {
    /// None: the namespace of this process.
    pub(crate) network: Option<OwnedFd>,
    pub(crate) address: IpAddr,
    /// Port on which the server of the flow listens.
    pub(crate) port: u16,
    /// False for an end on another machine, whose process serves it.
    pub(crate) local: bool,
}

impl Host {
    /// Makes this namespace the current one.
    pub(crate) fn enter(&self) -> std::io::Result<()> {
        self.network.as_ref().map_or(Ok(()), sys::enter_net_namespace)
    }

    /// Makes a socket in this namespace, bound to the address.
    pub(crate) fn socket(&self, kind: i32, port: u16) -> Result<OwnedFd, KernelError> {
        // The namespaces of a run are new; a machine's may still have connections of the run before.
        self.bound(kind, port, self.network.is_none() && kind == libc::SOCK_STREAM)
    }

    /// The same; `again`: the port may be that of an earlier connection to another address or port.
    pub(crate) fn bound(&self, kind: i32, port: u16, again: bool) -> Result<OwnedFd, KernelError> {
        let make = || {
            self.enter()?;
            let fd = sys::socket(sys::family_of(self.address), kind, 0)?;
            if again {
                sys::set_option(&fd, libc::SOL_SOCKET, libc::SO_REUSEADDR, 1)?;
            }
            self.bind(&fd, port)?;
            Ok(fd)
        };
        make().step(|| format!("socket at {}", self.address))
    }

    /// Binds a socket. On a machine of others, the process of a run that was lost may hold the port a moment longer.
    fn bind(&self, fd: &OwnedFd, port: u16) -> std::io::Result<()> {
        let began = Instant::now();
        loop {
            match sys::bind(fd, self.at(port)) {
                Err(e) if e.kind() == ErrorKind::AddrInUse && self.network.is_none() && began.elapsed() < HELD => {
                    std::thread::sleep(Duration::from_millis(20));
                }
                other => return other,
            }
        }
    }

    pub(crate) fn at(&self, port: u16) -> SocketAddr {
        SocketAddr::new(self.address, port)
    }

    /// Returns the bytes of the IP and UDP headers of its datagrams [RFC 791 §3.1, RFC 8200 §3, RFC 768].
    pub(crate) fn datagram_headers(&self) -> u32 {
        if self.address.is_ipv6() { 48 } else { 28 }
    }
}

/// The context of a call: times, epoll, alarm, transfers.
pub(crate) struct Cx<'a> {
    /// Time at which the event was due or happened, ns of the run.
    pub(crate) now: u64,
    /// Time of the clock: later than `now` in real time.
    pub(crate) clock: u64,
    pub(crate) flow: usize,
    epoll: &'a OwnedFd,
    alarm: Option<u64>,
    pub(crate) transfers: &'a mut Vec<Transfer>,
}

impl<'a> Cx<'a> {
    pub(crate) fn new(
        now: u64,
        clock: u64,
        flow: usize,
        epoll: &'a OwnedFd,
        transfers: &'a mut Vec<Transfer>,
    ) -> Cx<'a> {
        Cx { now, clock, flow, epoll, alarm: None, transfers }
    }

    /// Reports events of `fd` as `role`.
    pub(crate) fn watch(&self, fd: &OwnedFd, role: u32) -> Result<(), KernelError> {
        use std::os::fd::AsRawFd;
        let token = ((self.flow as u64) << 32) | u64::from(role);
        let events = libc::EPOLLIN | libc::EPOLLOUT | libc::EPOLLRDHUP;
        sys::epoll_add(self.epoll, fd.as_raw_fd(), events, token).step(|| "epoll".into())
    }

    /// Schedules [`Traffic::on_alarm`]; a later call replaces the time.
    pub(crate) fn alarm(&mut self, at: u64) {
        self.alarm = Some(at);
    }

    /// Takes the alarm that was set.
    pub(crate) fn take_alarm(&mut self) -> Option<u64> {
        self.alarm.take()
    }
}

/// The application of a flow.
pub(crate) trait Traffic {
    /// The flow starts.
    fn start(&mut self, cx: &mut Cx<'_>) -> Result<(), KernelError>;
    /// The alarm is due.
    fn on_alarm(&mut self, cx: &mut Cx<'_>) -> Result<(), KernelError>;
    /// An event of the descriptor watched as `role`; `over`: the peer has closed its sending direction.
    fn on_event(&mut self, role: u32, over: bool, cx: &mut Cx<'_>) -> Result<(), KernelError>;
    /// Measurement begins.
    fn restart(&mut self) {}
    /// The flow stops: it sends nothing more.
    fn stop(&mut self, now: u64);
    /// Returns a sample of the data sender's socket; None if it has no connection.
    fn sample(&mut self) -> Result<Option<TcpSample>, KernelError> {
        Ok(None)
    }
    /// Returns counters of this end's sockets so far; an end of another machine counts nothing.
    fn counters(&self) -> Counters {
        Counters::default()
    }
    /// Returns when the flow's measurement ends before its stop: its last transfer has completed.
    fn ended(&self) -> Option<u64> {
        None
    }
    /// Fills in the results that only the application has.
    fn finish(&self, result: &mut FlowResult);
    /// Returns the series that only the application has, if it is kept.
    fn table(&mut self, _name: &str) -> Option<Table> {
        None
    }
}
