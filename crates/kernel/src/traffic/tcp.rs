//! TCP applications over real sockets: bulk, transfers, pages, and constant rate over a connection [tcp(7)].

use super::{Counters, Cx, Host, Traffic};
use crate::error::{KernelError, Step};
use crate::meter::TcpSample;
use crate::meter::tcp_info;
use crate::sys;
use dumbbell_plan::{AppPlan, FlowResult, Transfer};
use dumbbell_sim::Source;
use std::os::fd::OwnedFd;

const LISTENER: u32 = 1;
const SENDER: u32 = 2;
const RECEIVER: u32 = 3;
/// Port of the first connection at the client.
pub(super) const FIRST_PORT: u16 = 20_000;
/// Bytes of one write.
pub(super) const CHUNK: usize = 1 << 18;
/// Connections that may wait at a listener: a flow has one at a time.
const BACKLOG: i32 = 64;
/// SO_RCVLOWAT of a bulk receiver on fast links, bytes [Linux tcp.c tcp_set_rcvlowat].
const RCVLOWAT: i32 = 1 << 17;
/// Receive buffer from which it is set, bytes: half of it is window, and half of the window remains beyond the mark.
const LEAST_BUFFER: i32 = 4 * RCVLOWAT;

/// See the top of this file.
pub(crate) struct TcpTraffic {
    hosts: [Host; 2],
    app: AppPlan,
    variant: String,
    source: Option<Source>,
    /// True until the receiver of a bulk flow has [`RCVLOWAT`], so that it isn't woken for each packet.
    rarely_woken: bool,
    /// Largest receive window, bytes.
    window: Option<u32>,
    /// True if the sockets have TCP_NODELAY.
    nodelay: bool,
    /// Largest segment, where the route doesn't give it, bytes.
    mss: Option<u32>,
    /// Counters of closed connections, if only one end is local.
    closed: Counters,
    /// Payload read by the data receiver, bytes.
    read: u64,
    listener: Option<OwnedFd>,
    sender: Option<OwnedFd>,
    receiver: Option<OwnedFd>,
    /// Payload not yet written to the sender's socket, bytes.
    to_send: u64,
    /// True if the sender closes after that.
    then_closes: bool,
    /// Bytes of a page's request that were sent, and that were received.
    asked: u64,
    requested: u64,
    /// Payload that the data receiver has received, bytes.
    received: u64,
    /// Numbers of transfers begun and completed.
    begun: u64,
    completed: u64,
    /// Times of the last beginning, of the first one, and of the last completion, ns of the run.
    begun_at: u64,
    first_begun_at: u64,
    completed_at: u64,
    /// Index of the running transfer in [`Cx::transfers`].
    running: Option<usize>,
    stopped: bool,
    chunk: Vec<u8>,
}

impl TcpTraffic {
    pub(crate) fn new(
        hosts: [Host; 2],
        app: AppPlan,
        variant: String,
        source: Option<Source>,
        rarely_woken: bool,
        window: Option<u32>,
        nodelay: bool,
    ) -> TcpTraffic {
        TcpTraffic {
            hosts,
            variant,
            source,
            rarely_woken: rarely_woken && window.is_none() && matches!(app, AppPlan::Bulk {}),
            app,
            window,
            nodelay,
            mss: None,
            closed: Counters::default(),
            read: 0,
            listener: None,
            sender: None,
            receiver: None,
            to_send: 0,
            then_closes: false,
            asked: 0,
            requested: 0,
            received: 0,
            begun: 0,
            completed: 0,
            begun_at: 0,
            first_begun_at: 0,
            completed_at: 0,
            running: None,
            stopped: false,
            chunk: vec![0; CHUNK],
        }
    }

    /// Bounds the segments of this end, bytes.
    pub(crate) fn with_mss(mut self, mss: Option<u32>) -> TcpTraffic {
        self.mss = mss;
        self
    }

    /// True if the other end is on another machine.
    fn is_split(&self) -> bool {
        self.hosts.iter().any(|host| !host.local)
    }

    /// Returns bytes of a transfer, repetitions (0: endless), interval, ns; None for endless data.
    fn transfer(&self) -> Option<(u64, u64, u64)> {
        match self.app {
            AppPlan::Transfer { bytes, repeat, every_ns } | AppPlan::Page { bytes, repeat, every_ns, .. } => {
                Some((bytes, repeat, every_ns))
            }
            _ => None,
        }
    }

    fn is_page(&self) -> bool {
        matches!(self.app, AppPlan::Page { .. })
    }

    /// Returns the side that connects: the data receiver of a page, else the data sender.
    fn client(&self) -> usize {
        usize::from(self.is_page())
    }

    fn prepare(&self, fd: &OwnedFd) -> Result<(), KernelError> {
        prepare(fd, &self.variant, self.nodelay)?;
        if let Some(mss) = self.mss {
            sys::set_option(fd, libc::IPPROTO_TCP, libc::TCP_MAXSEG, mss as i32).step(|| "TCP_MAXSEG".into())?;
        }
        Ok(())
    }

    fn connect(&mut self, cx: &mut Cx<'_>) -> Result<(), KernelError> {
        let client = self.client();
        // On another machine's network the kernel chooses a port that is free.
        let port = if self.is_split() { 0 } else { FIRST_PORT + (self.begun % 40_000) as u16 };
        let fd = self.hosts[client].socket(libc::SOCK_STREAM, port)?;
        self.prepare(&fd)?;
        let server = &self.hosts[1 - client];
        sys::connect(&fd, server.at(server.port)).step(|| "connect".into())?;
        (self.asked, self.requested, self.received) = (0, 0, 0);
        (self.to_send, self.then_closes) = (0, false);
        self.begin_transfer(cx);
        match self.app {
            AppPlan::Bulk {} => self.to_send = u64::MAX,
            AppPlan::Transfer { bytes, .. } => (self.to_send, self.then_closes) = (bytes, true),
            _ => {}
        }
        if self.is_page() {
            cx.watch(&fd, RECEIVER)?;
            self.receiver = Some(fd);
            self.ask()
        } else {
            cx.watch(&fd, SENDER)?;
            self.sender = Some(fd);
            self.push()
        }
    }

    /// Records the beginning of a transfer.
    fn begin_transfer(&mut self, cx: &mut Cx<'_>) {
        if let Some((bytes, ..)) = self.transfer() {
            if self.begun == 0 {
                self.first_begun_at = cx.clock;
            }
            self.running = Some(cx.transfers.len());
            cx.transfers.push(Transfer {
                flow: String::new(), // set by the event loop
                number: self.begun,
                start_s: cx.clock as f64 * 1e-9,
                end_s: None,
                bytes,
                ..Transfer::default()
            });
            self.begun_at = cx.now;
        }
        self.begun += 1;
    }

    /// Sends the request of a page as far as the socket accepts it.
    fn ask(&mut self) -> Result<(), KernelError> {
        let (AppPlan::Page { request_bytes, .. }, Some(fd)) = (&self.app, &self.receiver) else {
            return Ok(());
        };
        while self.asked < *request_bytes {
            let n = (request_bytes - self.asked).min(CHUNK as u64) as usize;
            match sys::send(fd, &self.chunk[..n]) {
                Ok(Some(n)) => self.asked += n as u64,
                Ok(None) => return Ok(()),
                Err(e) => return Err(e).step(|| "request".into()),
            }
        }
        Ok(())
    }

    /// Writes as much as the socket accepts.
    fn push(&mut self) -> Result<(), KernelError> {
        let Some(fd) = &self.sender else { return Ok(()) };
        while self.to_send > 0 {
            let n = self.to_send.min(CHUNK as u64) as usize;
            match sys::send(fd, &self.chunk[..n]) {
                Ok(Some(n)) if self.to_send < u64::MAX => self.to_send -= n as u64,
                Ok(Some(_)) => {}
                Ok(None) => return Ok(()),
                // The other machine has ended the flow: its clock was ahead.
                Err(e) if is_reset(&e) && self.hosts.iter().any(|host| !host.local) => return Ok(()),
                Err(e) => return Err(e).step(|| "send".into()),
            }
        }
        if self.then_closes {
            self.then_closes = false;
            sys::shutdown(fd).step(|| "shutdown".into())?;
        }
        Ok(())
    }

    /// Accepts connections at the server.
    fn accept(&mut self, cx: &mut Cx<'_>) -> Result<(), KernelError> {
        while let Some((fd, _)) =
            self.listener.as_ref().map(sys::accept).transpose().step(|| "accept".into())?.flatten()
        {
            if !self.hosts[self.client()].local {
                (self.requested, self.received) = (0, 0);
                (self.to_send, self.then_closes) = (0, false);
                self.begin_transfer(cx);
            }
            if self.is_page() {
                cx.watch(&fd, SENDER)?;
                self.sender = Some(fd);
            } else {
                cx.watch(&fd, RECEIVER)?;
                self.receiver = Some(fd);
            }
        }
        Ok(())
    }

    /// Handles an event of the data sender's socket.
    fn serve_sender(&mut self, over: bool, cx: &mut Cx<'_>) -> Result<(), KernelError> {
        self.push()?;
        let Some(fd) = &self.sender else { return Ok(()) };
        let read = drained(fd, over, self.is_split()).step(|| format!("connection of flow {}", cx.flow))?;
        if let AppPlan::Page { bytes, request_bytes, .. } = self.app {
            let before = self.requested;
            self.requested += read.bytes;
            if before < request_bytes && self.requested >= request_bytes {
                (self.to_send, self.then_closes) = (bytes, true);
                self.push()?;
            }
        }
        if let Some(fd) = self.sender.take_if(|_| read.closed) {
            self.count(&fd);
            lingers(&fd, true).step(|| "SO_LINGER".into())?;
            drop(fd);
            if !self.hosts[1].local && self.running.take().is_some() {
                // The receiver closes when it has everything; its own process records when that was.
                self.completed += 1;
                self.completed_at = cx.now;
            }
            self.next_transfer(cx);
        }
        Ok(())
    }

    /// Handles an event of the data receiver's socket.
    fn serve_receiver(&mut self, over: bool, cx: &mut Cx<'_>) -> Result<(), KernelError> {
        if let Some(running) = self.running.filter(|_| self.is_page()) {
            // The first event of a connecting socket is that it is connected [Linux tcp.c tcp_poll].
            cx.transfers[running].connected_s.get_or_insert(cx.now as f64 * 1e-9);
        }
        self.ask()?;
        let Some(fd) = &self.receiver else { return Ok(()) };
        if let Some(window) = self.window {
            // Each time, because the kernel resets the bound when it has measured the overhead of packets
            // [Linux tcp_input.c tcp_measure_rcv_mss].
            sys::set_option(fd, libc::IPPROTO_TCP, libc::TCP_WINDOW_CLAMP, window as i32)
                .step(|| "TCP_WINDOW_CLAMP".into())?;
        }
        let read = drained(fd, over, self.is_split()).step(|| format!("connection of flow {}", cx.flow))?;
        if self.rarely_woken && wakes_rarely(fd)? {
            self.rarely_woken = false; // it stays so
        }
        self.received += read.bytes;
        self.read += read.bytes;
        let whole = self.transfer().is_some_and(|(bytes, ..)| self.received >= bytes);
        if let Some(running) = self.running.filter(|_| whole) {
            cx.transfers[running].end_s = Some(cx.now as f64 * 1e-9);
            self.running = None;
            self.completed += 1;
            self.completed_at = cx.now;
        }
        if let Some(fd) = self.receiver.take_if(|_| read.closed) {
            self.count(&fd);
            lingers(&fd, true).step(|| "SO_LINGER".into())?;
            drop(fd);
            self.next_transfer(cx);
        }
        Ok(())
    }

    /// Schedules the next transfer, if both sides have closed.
    fn next_transfer(&mut self, cx: &mut Cx<'_>) {
        let Some((_, repeat, every)) = self.transfer() else { return };
        let over = self.sender.is_none() && self.receiver.is_none() && self.running.is_none();
        if over && self.hosts[self.client()].local && !self.stopped && (repeat == 0 || self.begun < repeat) {
            cx.alarm((self.begun_at + every).max(cx.now));
        }
    }
}

impl TcpTraffic {
    /// Adds the counters of a connection that ends.
    fn count(&mut self, fd: &OwnedFd) {
        if self.is_split() {
            self.closed = self.closed.and(Counters::of(fd));
        }
    }
}

/// Sets SO_RCVLOWAT of a receiver once its buffer is so large that the option doesn't bound the window: with a smaller
/// one, the kernel makes the window as large as the option, and it stays so [Linux tcp.c tcp_set_rcvlowat].
fn wakes_rarely(fd: &OwnedFd) -> Result<bool, KernelError> {
    let mut size = [0; 4];
    sys::option(fd, libc::SOL_SOCKET, libc::SO_RCVBUF, &mut size).step(|| "SO_RCVBUF".into())?;
    if i32::from_ne_bytes(size) < LEAST_BUFFER {
        return Ok(false);
    }
    sys::set_option(fd, libc::SOL_SOCKET, libc::SO_RCVLOWAT, RCVLOWAT).step(|| "SO_RCVLOWAT".into())?;
    Ok(true)
}

/// Gives a socket its congestion control, and TCP_NODELAY if asked; closing it resets the connection, see [`lingers`].
pub(super) fn prepare(fd: &OwnedFd, variant: &str, nodelay: bool) -> Result<(), KernelError> {
    sys::set_option_bytes(fd, libc::IPPROTO_TCP, libc::TCP_CONGESTION, variant.as_bytes())
        .step(|| format!("congestion control '{variant}'"))?;
    if nodelay {
        sys::set_option(fd, libc::IPPROTO_TCP, libc::TCP_NODELAY, 1).step(|| "TCP_NODELAY".into())?;
    }
    lingers(fd, false).step(|| "SO_LINGER".into())
}

/// True if the peer has reset the connection.
fn is_reset(e: &std::io::Error) -> bool {
    use std::io::ErrorKind::{BrokenPipe, ConnectionReset};
    matches!(e.kind(), BrokenPipe | ConnectionReset)
}

/// Sets SO_LINGER. With a linger time of 0, closing the socket or killing the process resets the connection [Linux
/// tcp.c __tcp_close]; otherwise the kernel would retransmit for minutes, and namespace and congestion control would
/// exist as long. Accepted connections inherit the option.
pub(super) fn lingers(fd: &OwnedFd, lingers: bool) -> std::io::Result<()> {
    let option = [i32::from(!lingers), 0].map(i32::to_ne_bytes).concat();
    sys::set_option_bytes(fd, libc::SOL_SOCKET, libc::SO_LINGER, &option)
}

/// Data read from a socket.
pub(super) struct Read {
    pub(super) bytes: u64,
    pub(super) closed: bool,
}

/// Discards all data of a socket. One call discards everything; the end of the stream needs another.
/// `resets`: a reset is an end of the stream, because an end on another machine may stop earlier.
pub(super) fn drained(fd: &OwnedFd, over: bool, resets: bool) -> std::io::Result<Read> {
    let mut bytes = 0;
    loop {
        let read = match sys::discard(fd, 1 << 30) {
            Err(e) if resets && is_reset(&e) => Some(0),
            other => other?,
        };
        match read {
            None => return Ok(Read { bytes, closed: false }),
            Some(0) => return Ok(Read { bytes, closed: true }),
            Some(n) => {
                bytes += n as u64;
                if !over {
                    return Ok(Read { bytes, closed: false });
                }
            }
        }
    }
}

impl Traffic for TcpTraffic {
    fn start(&mut self, cx: &mut Cx<'_>) -> Result<(), KernelError> {
        let server = &self.hosts[1 - self.client()];
        if server.local {
            let listener = server.socket(libc::SOCK_STREAM, server.port)?;
            self.prepare(&listener)?;
            sys::listen(&listener, BACKLOG).step(|| "listen".into())?;
            cx.watch(&listener, LISTENER)?;
            self.listener = Some(listener);
        }
        if self.hosts[self.client()].local {
            self.connect(cx)?;
        }
        if let Some(source) = self.source.as_ref().filter(|_| self.hosts[0].local) {
            cx.alarm(cx.now + source.phase.0);
        }
        Ok(())
    }

    fn on_alarm(&mut self, cx: &mut Cx<'_>) -> Result<(), KernelError> {
        if self.stopped {
            return Ok(());
        }
        let Some(source) = &mut self.source else { return self.connect(cx) };
        self.to_send += u64::from(source.packet_bytes);
        cx.alarm(source.next(dumbbell_units::Time(cx.now)).0);
        self.push()
    }

    fn on_event(&mut self, role: u32, over: bool, cx: &mut Cx<'_>) -> Result<(), KernelError> {
        if self.stopped {
            return Ok(());
        }
        match role {
            LISTENER => {
                self.accept(cx)?;
                self.serve_sender(true, cx)?;
                self.serve_receiver(true, cx)
            }
            SENDER => self.serve_sender(over, cx),
            _ => self.serve_receiver(over, cx),
        }
    }

    fn stop(&mut self, _now: u64) {
        self.stopped = true;
        (self.sender, self.receiver, self.listener) = (None, None, None);
    }

    fn sample(&mut self) -> Result<Option<TcpSample>, KernelError> {
        let Some(fd) = &self.sender else { return Ok(None) };
        tcp_info::state(fd, &self.variant).step(|| "TCP_INFO".into())
    }

    fn counters(&self) -> Counters {
        let open = [&self.sender, &self.receiver].into_iter().flatten().map(Counters::of);
        open.fold(self.closed, Counters::and).with_read(self.read)
    }

    fn ended(&self) -> Option<u64> {
        let (_, repeat, _) = self.transfer()?;
        (repeat > 0 && self.completed == repeat).then_some(self.completed_at)
    }

    fn finish(&self, r: &mut FlowResult) {
        r.phase_s = self.source.as_ref().map(|s| s.phase.as_secs()).into();
        if self.transfer().is_some() {
            (r.transfers_started, r.transfers_completed) = (self.begun, self.completed);
        }
        r.completion_time_s = self.ended().map(|end| (end - self.first_begun_at) as f64 * 1e-9).into();
    }
}
