//! `dumbbell-guest`: the first process of the virtual machine; on a host, what runs flows over our own link.

#[cfg(target_os = "linux")]
fn main() {
    match std::env::args().nth(1).as_deref() {
        Some("live") => dumbbell_emu::live::run(),
        Some("probe") => dumbbell_emu::live::probe::print(),
        _ if std::process::id() == 1 => dumbbell_emu::guest::run(),
        _ => {
            eprintln!(
                "dumbbell-guest: started by dumbbell run --backend kernel, or as a virtual machine's init"
            );
            std::process::exit(2);
        }
    }
}

#[cfg(not(target_os = "linux"))]
fn main() {}
