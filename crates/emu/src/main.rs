//! `dumbbell-guest`: the first process of the virtual machine.

#[cfg(target_os = "linux")]
fn main() {
    dumbbell_emu::guest::run();
}

#[cfg(not(target_os = "linux"))]
fn main() {}
