//! Links and a variant for a program in another language: functions with the C calling convention on an opaque
//! [`Session`].
//!
//! Times are nanoseconds. Every pointer is one that `peers_new` returned and `peers_free` did not yet take.
#![allow(clippy::missing_safety_doc)]

use crate::hooks::Hooks;
use crate::link::Link;
use crate::settings::Settings;
use dumbbell_units::Time;
use std::ffi::{CStr, c_char};

/// Both links of a run, and the variant of the server.
pub struct Session {
    links: [Link; 2],
    hooks: Hooks,
}

/// Returns a session for settings separated by spaces; null if they are invalid, with the message on standard error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn peers_new(settings: *const c_char) -> *mut Session {
    // SAFETY: the caller passes a string that ends with a zero byte.
    let text = unsafe { CStr::from_ptr(settings) }.to_string_lossy().into_owned();
    let arguments: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
    let session = Settings::read(&arguments).and_then(|settings| {
        let hooks = Hooks::new(&settings.variant, &settings.config()?)?;
        Ok(Session { links: settings.links(), hooks })
    });
    match session {
        Ok(session) => Box::into_raw(Box::new(session)),
        Err(message) => {
            eprintln!("{message}");
            std::ptr::null_mut()
        }
    }
}

/// Frees a session.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn peers_free(session: *mut Session) {
    // SAFETY: see the top of this file.
    drop(unsafe { Box::from_raw(session) });
}

/// Sends a datagram on a link (0: to the server, 1: to the client); returns when it arrives, -1 if it is lost.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn peers_send(session: *mut Session, link: usize, bytes: u32, now: u64) -> i64 {
    // SAFETY: see the top of this file.
    let session = unsafe { &mut *session };
    session.links[link].send(bytes, Time(now)).map_or(-1, |at| at.0 as i64)
}

/// Returns a count of a link: packets offered (0), dropped (1), lost at random (2), ns of queueing delay (3).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn peers_count(session: *const Session, link: usize, which: u32) -> u64 {
    // SAFETY: see the top of this file.
    let link = unsafe { &(&(*session).links)[link] };
    match which {
        0 => link.offered,
        1 => link.drops,
        2 => link.losses,
        _ => link.queueing.0,
    }
}

/// [`Hooks::on_sent`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn peers_on_sent(session: *mut Session, bytes: u64, now: u64) {
    // SAFETY: see the top of this file.
    unsafe { &mut (*session).hooks }.on_sent(bytes, Time(now));
}

/// [`Hooks::on_acked`]; the window, not the application, limited sending.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn peers_on_acked(session: *mut Session, bytes: u64, newest: u64, in_flight: u64, now: u64) {
    // SAFETY: see the top of this file.
    unsafe { &mut (*session).hooks }.on_acked(bytes, Time(newest), in_flight, true, Time(now));
}

/// [`Hooks::on_lost`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn peers_on_lost(session: *mut Session, bytes: u64, newest: u64, persistent: bool, now: u64) {
    // SAFETY: see the top of this file.
    unsafe { &mut (*session).hooks }.on_lost(bytes, Time(newest), persistent, Time(now));
}

/// [`Hooks::on_discarded`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn peers_on_discarded(session: *mut Session, bytes: u64) {
    // SAFETY: see the top of this file.
    unsafe { &mut (*session).hooks }.on_discarded(bytes);
}

/// [`Hooks::window`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn peers_window(session: *const Session) -> f64 {
    // SAFETY: see the top of this file.
    unsafe { &(*session).hooks }.window()
}
