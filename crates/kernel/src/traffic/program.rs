//! Real programs: a server that starts before the run, and a client that is the flow. Their output is kept. The
//! client's socket is sampled by sock_diag [sock_diag(7)].

use super::{Cx, Host, Traffic};
use crate::error::{KernelError, Step};
use crate::guest::surroundings::{self, INSIDE};
use crate::host::pid_namespace::WITHIN;
use crate::meter::TcpSample;
use crate::meter::tcp_info;
use crate::netlink::{Connections, Netlink};
use crate::sys::{self, Clock};
use dumbbell_plan::{FlowResult, ProgramPlan};
use serde_json::{Value, json};
use std::fs::{self, File};
use std::io::Read as _;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};

const CLIENT: u32 = 1;
/// The part of each output that is kept, bytes: an hour of iperf3's intervals takes 3 MB.
const OUTPUT_BYTES: u64 = 8 << 20;
/// Groups whose processes may send echo requests without further rights [icmp(7)]; within a user namespace only its
/// own.
const PING_GROUPS: &str = "/proc/sys/net/ipv4/ping_group_range";
/// TCP_LISTEN in `/proc/net/tcp` [Linux include/net/tcp_states.h].
const TCP_LISTEN: &str = "0A";

/// The programs of a flow.
#[derive(Clone, Debug)]
pub(crate) struct ProgramConfig {
    pub(crate) server: Option<ProgramPlan>,
    pub(crate) client: ProgramPlan,
    pub(crate) file: Option<(String, u64)>,
    /// The flow's number, part of the names of its files.
    pub(crate) number: usize,
    /// The flow's duration, whole seconds less one, so that programs end by themselves.
    pub(crate) seconds: u64,
    /// The value of `{variant}`.
    pub(crate) variant: String,
    /// True within a virtual machine, whose programs have other surroundings.
    pub(crate) in_machine: bool,
}

struct Running {
    child: Child,
    command: Vec<String>,
    /// Files of its stdout and stderr.
    files: [PathBuf; 2],
    /// Its user within a virtual machine.
    user: Option<u32>,
    status: Option<i32>,
}

/// See the top of this file.
pub(crate) struct ProgramTraffic {
    hosts: [Host; 2],
    config: ProgramConfig,
    server: Option<Running>,
    client: Option<Running>,
    watched: Option<OwnedFd>,
    /// Of both hosts: a program may send from either.
    connections: Option<Connections>,
    /// The kernel's name of the congestion control of the connection that has sent most.
    variant: Option<String>,
    over: Option<u64>,
    /// Time of the wall clock at time 0 of the run, ns; programs have that clock.
    zero: Option<u64>,
}

impl ProgramTraffic {
    pub(crate) fn new(hosts: [Host; 2], config: ProgramConfig) -> ProgramTraffic {
        ProgramTraffic {
            hosts,
            config,
            server: None,
            client: None,
            watched: None,
            connections: None,
            variant: None,
            over: None,
            zero: None,
        }
    }

    fn begin(&self, plan: &ProgramPlan, role: &str) -> Result<Running, KernelError> {
        let [from, to] = [0, 1].map(|n| self.hosts[n].address.to_string());
        // An IPv6 address has brackets in a URL [RFC 3986 §3.2.2].
        let [url_from, url_to] = [&from, &to].map(|a| if a.contains(':') { format!("[{a}]") } else { a.clone() });
        let seconds = self.config.seconds.to_string();
        let values = [
            ("{from}", &from),
            ("{to}", &to),
            ("{url_from}", &url_from),
            ("{url_to}", &url_to),
            ("{seconds}", &seconds),
            ("{variant}", &self.config.variant),
        ];
        let fill = |argument: &String| values.iter().fold(argument.clone(), |a, (k, v)| a.replace(k, v));
        let command: Vec<String> = plan.command.iter().map(fill).collect();
        let place = PathBuf::from(format!("flow-{}-{role}", self.config.number));
        fs::create_dir_all(&place).step(|| place.display().to_string())?;
        let user = self.config.in_machine.then(|| surroundings::user(self.config.number, role == "server"));
        if let Some(user) = user {
            surroundings::scratch(&place, user)?;
        }
        if let Some((name, bytes)) = self.config.file.as_ref().filter(|_| role == "server") {
            let file = File::create(place.join(name)).step(|| name.clone())?;
            file.set_len(*bytes).step(|| name.clone())?;
        }
        let files = ["out", "err"].map(|name| PathBuf::from(format!("flow-{}-{role}.{name}", self.config.number)));
        // An empty file, because a virtual machine has no /dev/null.
        let input = PathBuf::from(format!("flow-{}-{role}.in", self.config.number));
        let open_input = || File::create(&input).and_then(|_| File::open(&input));
        let stdin = open_input().step(|| input.display().to_string())?;
        let open = |n: usize| File::create(&files[n]).step(|| files[n].display().to_string());
        self.hosts[usize::from(plan.at_receiver)].enter().step(|| "namespace".into())?;
        allow_ping();
        let mut starts = Command::new(std::env::current_exe().step(|| "the name of this program".into())?);
        match user {
            // Nothing that needs fork: the standard library then calls posix_spawn, which copies no memory. Copying the
            // rings of the taps is an error of User-mode Linux ("Bad page map").
            Some(user) => starts.args([INSIDE, &user.to_string()]).arg(&place),
            None => starts.arg(WITHIN).current_dir(&place),
        };
        starts.args(&command).stdin(stdin).stdout(open(0)?).stderr(open(1)?);
        std::os::unix::process::CommandExt::process_group(&mut starts, 0);
        if user.is_none() {
            sys::kill_with_parent(&mut starts).step(|| "pidfd".into())?;
        }
        let child = starts.spawn().step(|| format!("start {}", command.join(" ")))?;
        Ok(Running { child, command, files, user, status: None })
    }

    /// Starts the server.
    pub(crate) fn prepare(&mut self) -> Result<(), KernelError> {
        if let Some(plan) = self.config.server.clone() {
            self.server = Some(self.begin(&plan, "server")?);
        }
        Ok(())
    }

    /// Returns true if the server listens, or has ended.
    pub(crate) fn is_ready(&mut self) -> Result<bool, KernelError> {
        let (Some(server), Some(plan)) = (&mut self.server, &self.config.server) else { return Ok(true) };
        if server.child.try_wait().step(|| "server".into())?.is_some() {
            return Ok(true); // reported when the flow starts
        }
        self.hosts[usize::from(plan.at_receiver)].enter().step(|| "namespace".into())?;
        let table = if self.hosts[0].address.is_ipv6() { "tcp6" } else { "tcp" };
        let sockets = fs::read_to_string(format!("/proc/thread-self/net/{table}")).step(|| format!("net/{table}"))?;
        Ok(sockets.lines().any(|line| line.split_whitespace().nth(3) == Some(TCP_LISTEN)))
    }

    /// Returns commands, exit codes and outputs of the programs; null for one that the flow lacks.
    pub(crate) fn report(&mut self) -> Value {
        self.end();
        let of = |r: &Option<Running>| {
            r.as_ref().map(|r| {
                let [out, err] = r.files.each_ref().map(|f| beginning(f));
                json!({
                    "command": r.command, "exit": r.status, "stdout": out.0, "stderr": err.0,
                    "left_out_bytes": out.1 + err.1,
                })
            })
        };
        json!({
            "server": of(&self.server), "client": of(&self.client), "over_ns": self.over, "variant": self.variant,
            "zero_unix_ns": self.zero,
        })
    }

    fn end(&mut self) {
        for running in self.client.iter_mut().chain(&mut self.server) {
            if running.status.is_none() {
                if let Ok(Some(status)) = running.child.try_wait() {
                    running.status = status.code();
                } else {
                    sys::kill_group(running.child.id());
                    let _ = running.child.wait();
                }
                running.user.into_iter().for_each(surroundings::end_processes);
            }
        }
    }
}

/// Lets all users of this network namespace send echo requests, or those of its user namespace.
pub(crate) fn allow_ping() {
    if fs::write(PING_GROUPS, "0 2147483647").is_err() {
        let _ = fs::write(PING_GROUPS, "0 0");
    }
}

/// Returns the beginning of an output file, and the number of bytes after it.
fn beginning(file: &Path) -> (String, u64) {
    let mut bytes = Vec::new();
    let Ok(file) = File::open(file) else { return Default::default() };
    let size = file.metadata().map_or(0, |about| about.len());
    let _ = file.take(OUTPUT_BYTES).read_to_end(&mut bytes);
    (String::from_utf8_lossy(&bytes).into_owned(), size - bytes.len() as u64)
}

impl Drop for ProgramTraffic {
    fn drop(&mut self) {
        self.end();
    }
}

impl Traffic for ProgramTraffic {
    fn start(&mut self, cx: &mut Cx<'_>) -> Result<(), KernelError> {
        if let Some(server) = &mut self.server
            && let Some(status) = server.child.try_wait().step(|| "server".into())?
        {
            let stderr = fs::read_to_string(&server.files[1]).unwrap_or_default();
            return Err(KernelError::Invalid(format!(
                "flow {}: {} has ended before the run ({status}): {}",
                cx.flow,
                server.command[0],
                stderr.trim()
            )));
        }
        self.zero = Some(sys::now(Clock::Wall).saturating_sub(cx.clock));
        let client = self.begin(&self.config.client.clone(), "client")?;
        let watched = sys::pidfd_open(client.child.id()).step(|| "pidfd".into())?;
        cx.watch(&watched, CLIENT)?;
        let sockets = |host: &Host| {
            host.enter().step(|| "namespace".into())?;
            Netlink::sock_diag()
        };
        let both = [sockets(&self.hosts[0])?, sockets(&self.hosts[1])?];
        self.connections = Some(Connections::new(both, sys::family_of(self.hosts[0].address)));
        (self.client, self.watched) = (Some(client), Some(watched));
        Ok(())
    }

    fn on_alarm(&mut self, _cx: &mut Cx<'_>) -> Result<(), KernelError> {
        Ok(())
    }

    fn on_event(&mut self, _role: u32, _over: bool, cx: &mut Cx<'_>) -> Result<(), KernelError> {
        if let Some(client) = &mut self.client
            && let Some(status) = client.child.try_wait().step(|| "client".into())?
        {
            client.status = status.code();
            self.over = self.over.or(Some(cx.now));
        }
        Ok(())
    }

    fn stop(&mut self, _now: u64) {
        self.end();
    }

    fn sample(&mut self) -> Result<Option<TcpSample>, KernelError> {
        let Some(connections) = self.connections.as_mut().filter(|_| self.over.is_none()) else {
            return Ok(None);
        };
        let Some(socket) = connections.busiest()? else { return Ok(None) };
        self.variant = Some(socket.variant);
        Ok(tcp_info::read(&socket.info, socket.cc_info))
    }

    fn ended(&self) -> Option<u64> {
        self.over
    }

    fn finish(&self, _result: &mut FlowResult) {}
}
