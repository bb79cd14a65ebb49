//! `dumbbell-guest`: process 1 of the virtual machine; on a host, the process that executes a run (`host`), tries the
//! host's features (`probe`), or starts a program in a process namespace; on another machine, the agent (`agent`,
//! `router`).

#[cfg(target_os = "linux")]
fn main() {
    use dumbbell_kernel::guest::surroundings::{self, INSIDE};
    use dumbbell_kernel::host::entrance::{self, ENTER};
    use dumbbell_kernel::host::pid_namespace::{self, INIT, INIT_WITH_NETWORK, WITHIN};
    let rest: Vec<String> = std::env::args().skip(2).collect();
    match std::env::args().nth(1).as_deref() {
        Some(WITHIN) if !rest.is_empty() => pid_namespace::within(&rest),
        Some(INIT) if !rest.is_empty() => pid_namespace::init(&rest, false),
        Some(INIT_WITH_NETWORK) if !rest.is_empty() => pid_namespace::init(&rest, true),
        Some(ENTER) if rest.len() > 4 => entrance::enter(&rest),
        Some(INSIDE) if rest.len() > 2 => surroundings::inside(&rest),
        Some(role @ ("agent" | "router" | "links")) => dumbbell_kernel::agent::run(role, &rest),
        Some("host") => dumbbell_kernel::host::run(),
        Some("probe") => dumbbell_kernel::host::probe::print(),
        _ if std::process::id() == 1 => dumbbell_kernel::guest::run(),
        _ => {
            eprintln!("dumbbell-guest: started by dumbbell run --backend kernel, or as a virtual machine's init");
            std::process::exit(2);
        }
    }
}

#[cfg(not(target_os = "linux"))]
fn main() {}
