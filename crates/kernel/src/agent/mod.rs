//! The agent: a process on another machine, which serves the ends of flows there (`agent`), or carries the links of a
//! scenario on a router between the machines (`router`).
//!
//! ```text
//! standard input   requests, one JSON object in each line       about | clock | prepare | go | stop
//! standard output  a JSON object in a line for each request; "payloads" has the lengths of the bytes that follow it
//! ```
//! It keeps nothing on disk: it removes its own executable when it starts (unless `--keep`), and results go over the
//! connection. It ends when its standard input is closed, whatever it is doing; the kernel then closes its sockets. A
//! router's rules are removed by a second process, which waits for the first (`router`).

mod about;
mod datagrams;
mod order;
mod reply;
mod router;
mod sender_series;
mod session;

use crate::error::KernelError;
use crate::sys::{self, Clock};
use order::{Order, Request};
use reply::Reply;
use router::Router;
use serde_json::json;
use session::Session;
use std::fs;
use std::io::BufRead;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, channel};

/// Name of the folder that an agent's executable is copied to, up to its random part.
const FOLDER: &str = "dumbbell-agent-";

/// Serves requests until the standard input ends. `role`: `agent`, `router`, or `links` (the process of a router that
/// carries the links).
pub fn run(role: &str, arguments: &[String]) {
    if role != "links" && !arguments.iter().any(|a| a == "--keep") {
        remove_executable();
    }
    if role == "router" {
        router::watch_over();
    }
    sys::raise_nofile_limit();
    let stop = Arc::new(AtomicBool::new(false));
    let requests = reader(stop.clone());
    let mut prepared = None;
    for request in requests {
        let answer = match request {
            Ok(request) => serve(request, role == "links", &mut prepared, &stop),
            Err(e) => Err(e),
        };
        answer.unwrap_or_else(|e| Reply::of(json!({"error": e.to_string()}))).write();
    }
}

/// A run that is prepared.
enum Prepared {
    Ends(Box<Session>),
    Links(Box<Router>),
}

impl Prepared {
    fn new(order: Order, links: bool) -> Result<Prepared, KernelError> {
        Ok(if links {
            Prepared::Links(Box::new(Router::new(order)?))
        } else {
            Prepared::Ends(Box::new(Session::new(order)?))
        })
    }
}

fn serve(
    request: Request,
    links: bool,
    prepared: &mut Option<Prepared>,
    stop: &AtomicBool,
) -> Result<Reply, KernelError> {
    match request {
        Request::About {} => about::about().map(Reply::of),
        Request::Clock {} => Ok(Reply::of(json!({"steady": sys::now(Clock::Steady)}))),
        Request::Prepare(order) => {
            *prepared = None; // its sockets are closed before the new ones are made
            stop.store(false, Ordering::Relaxed);
            *prepared = Some(Prepared::new(*order, links)?);
            Ok(Reply::of(json!({"ready": true})))
        }
        Request::Go { zero } => match prepared.take() {
            Some(Prepared::Ends(session)) => session.run(zero, stop),
            Some(Prepared::Links(router)) => router.run(zero, stop),
            None => Err(KernelError::Invalid("no run is prepared".into())),
        },
        Request::Stop {} => Ok(Reply::of(json!({"stopped": true}))),
    }
}

/// Reads requests in a thread of its own: the process ends with its standard input, and `stop` ends a run.
fn reader(stop: Arc<AtomicBool>) -> Receiver<Result<Request, KernelError>> {
    let (requests, received) = channel();
    std::thread::spawn(move || {
        for line in std::io::stdin().lock().lines() {
            let Ok(line) = line else { break };
            let request =
                serde_json::from_str(&line).map_err(|e| KernelError::Invalid(format!("a request can't be read: {e}")));
            if matches!(request, Ok(Request::Stop {})) {
                stop.store(true, Ordering::Relaxed);
            }
            if requests.send(request).is_err() {
                break;
            }
        }
        std::process::exit(0);
    });
    received
}

/// Removes this process's executable and the folder that was made for it.
fn remove_executable() {
    let Ok(program) = fs::read_link("/proc/self/exe") else { return };
    let folder = program.parent();
    if folder.and_then(|f| f.file_name()).is_some_and(|name| name.to_string_lossy().starts_with(FOLDER)) {
        let _ = fs::remove_file(&program);
        let _ = folder.map(fs::remove_dir);
    }
}
