//! The simulator and the analysis of captures for WebAssembly. A plan (JSON) goes in, results (JSON) and series
//! (arrays) come out, in steps of virtual time. Or a capture file goes in, in pieces, and its tables come out.
//!
//! **Interface.** C functions whose arguments and results are integers, and one region of memory for each direction;
//! `python/dumbbell/studio/engine.mjs` calls them. `wasm-bindgen` would write that file, but it needs a program of its
//! own whose version must be that of the crate, and its interface copies arrays and strings. Here a column is read
//! where it is.
//!
//! ```text
//! dumbbell_input(length)                  makes room for the text of the next call, and returns its address
//! dumbbell_start()                        begins the run of the plan in the input; returns its number
//! dumbbell_advance(run, until_ns)         processes the events until then; returns 1, or 0 at the end of the run
//! dumbbell_tables(run)                    puts out the tables so far: names, rows, columns and their types
//! dumbbell_column(run, table, column)     puts out the values of a column, little-endian
//! dumbbell_finish(run)                    processes the rest, and puts out the results
//! dumbbell_capture(run, capture)          puts out a pcapng file, after the end
//! dumbbell_free(run)                      forgets the run
//!
//! dumbbell_analyze()                      reads the file that the input describes, analyzes it, and puts out a summary
//! dumbbell_capture_rows()                 puts out the rows of the table that the input names
//! dumbbell_capture_largest(most)          puts out the numbers of the largest connections
//! dumbbell_segments(flow)                 reads the file again, and puts out heads of the tables of a connection's
//!                                         segments
//! dumbbell_segment_column(table, column)  puts out the values of a column of them
//! dumbbell_close()                        forgets the capture
//!
//! dumbbell_output(), dumbbell_output_length()   the region that the last call has put out, until the next call
//! dumbbell_version()                      puts out the version of the crate
//! ```
//! A negative number is an error, and the output is its message. A panic, which stops the instance, leaves its message
//! there too.
//!
//! The page gives one function, `dumbbell.read(address, length)`: it writes the next bytes of the file there, at most
//! `length`, and returns their number, 0 at the end, or a negative number if the file can't be read. The file begins
//! anew with each call that reads it.
//!
//! Several runs can be in progress. A table number is the place in the last list of [`dumbbell_tables`] before the run
//! went on. The memory belongs to one thread: each worker of a page has an instance of its own.
//!
//! Nothing here, and nothing in the crates below, reads a clock or a file or makes a thread.

mod capture;
mod run;

use capture::{Capture, Source};
use dumbbell_units::Time;
use run::Run;
use std::cell::{Cell, RefCell};

/// The region of memory that the last call has put out: address and length.
type Region = (usize, usize);

thread_local! {
    static INPUT: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
    /// Texts and files that a call has put out; columns stay where they are.
    static OUTPUT: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
    static REGION: Cell<Region> = const { Cell::new((0, 0)) };
    static RUNS: RefCell<Vec<Option<Run>>> = const { RefCell::new(Vec::new()) };
    static CAPTURE: RefCell<Option<Capture>> = const { RefCell::new(None) };
}

const ERROR: i32 = -1;

/// Keeps a text or a file until the next call.
fn put(bytes: Vec<u8>) {
    REGION.set((bytes.as_ptr() as usize, bytes.len()));
    OUTPUT.set(bytes);
}

/// Returns the number, or puts out the message of the error.
fn answer(result: Result<i32, String>) -> i32 {
    result.unwrap_or_else(|message| {
        put(message.into_bytes());
        ERROR
    })
}

/// Leaves the message of a panic where the page finds it.
fn report_panics() {
    #[cfg(target_family = "wasm")]
    std::panic::set_hook(Box::new(|info| put(info.to_string().into_bytes())));
}

#[cfg(target_family = "wasm")]
#[link(wasm_import_module = "dumbbell")]
unsafe extern "C" {
    /// See the top of this file. It writes at most `length` bytes, so a call is safe with the region of a slice.
    #[link_name = "read"]
    safe fn read_file(address: *mut u8, length: usize) -> i32;
}

/// The file of the page, from its beginning.
#[cfg(target_family = "wasm")]
fn source() -> Source {
    Box::new(capture::Pieces(|to: &mut [u8]| read_file(to.as_mut_ptr(), to.len())))
}

/// Only a page has files.
#[cfg(not(target_family = "wasm"))]
fn source() -> Source {
    Box::new(capture::Pieces(|_: &mut [u8]| -1))
}

/// Calls a function with the capture.
fn with_capture(call: impl FnOnce(&mut Capture) -> Result<i32, String>) -> i32 {
    CAPTURE.with_borrow_mut(|capture| answer(capture.as_mut().ok_or_else(|| "no capture".to_owned()).and_then(call)))
}

/// Calls a function with a run.
fn with_run(number: u32, call: impl FnOnce(&mut Run) -> Result<i32, String>) -> i32 {
    RUNS.with_borrow_mut(|runs| {
        let run = runs.get_mut(number as usize).and_then(Option::as_mut);
        answer(run.ok_or_else(|| format!("no run {number}")).and_then(call))
    })
}

/// Makes room for `length` bytes of input, and returns the address.
#[unsafe(no_mangle)]
pub extern "C" fn dumbbell_input(length: usize) -> *mut u8 {
    INPUT.with_borrow_mut(|input| {
        input.clear();
        input.resize(length, 0);
        input.as_mut_ptr()
    })
}

/// The address of the region that the last call has put out.
#[unsafe(no_mangle)]
pub extern "C" fn dumbbell_output() -> *const u8 {
    REGION.get().0 as *const u8
}

/// The length of the region that the last call has put out, in bytes.
#[unsafe(no_mangle)]
pub extern "C" fn dumbbell_output_length() -> usize {
    REGION.get().1
}

/// Puts out the version.
#[unsafe(no_mangle)]
pub extern "C" fn dumbbell_version() -> i32 {
    put(env!("CARGO_PKG_VERSION").into());
    0
}

/// Begins the run of the plan in the input, and returns its number.
#[unsafe(no_mangle)]
pub extern "C" fn dumbbell_start() -> i32 {
    report_panics();
    let input = INPUT.take();
    answer(Run::start(&input).map(|run| {
        RUNS.with_borrow_mut(|runs| {
            let free = runs.iter().position(Option::is_none).unwrap_or_else(|| {
                runs.push(None);
                runs.len() - 1
            });
            runs[free] = Some(run);
            free as i32
        })
    }))
}

/// Processes the events of a run until `until_ns`, in nanoseconds of virtual time. Returns 1, or 0 at the end of the
/// run.
#[unsafe(no_mangle)]
pub extern "C" fn dumbbell_advance(run: u32, until_ns: u64) -> i32 {
    with_run(run, |run| run.advance(Time(until_ns)).map(i32::from))
}

/// Puts out the tables so far, or all tables after the end, as JSON: `[{"name": ..., "rows": ..., "columns": [{"name":
/// ..., "type": ...}]}]`. The types have NumPy's names.
#[unsafe(no_mangle)]
pub extern "C" fn dumbbell_tables(run: u32) -> i32 {
    with_run(run, |run| {
        put(run.tables()?.into_bytes());
        Ok(0)
    })
}

/// Puts out the values of a column, without a copy: the region is valid until the next call.
#[unsafe(no_mangle)]
pub extern "C" fn dumbbell_column(run: u32, table: u32, column: u32) -> i32 {
    with_run(run, |run| {
        REGION.set(run.column(table as usize, column as usize)?);
        Ok(0)
    })
}

/// Processes the rest of a run and puts out the results as JSON: `flows`, `queues` and `transfers` as the native core
/// has them; `tables` as in [`dumbbell_tables`]; the names of the `captures`; `qlogs` with names and texts; the number
/// of `events`.
#[unsafe(no_mangle)]
pub extern "C" fn dumbbell_finish(run: u32) -> i32 {
    with_run(run, |run| {
        put(run.finish()?.into_bytes());
        Ok(0)
    })
}

/// Puts out a capture of a finished run as a pcapng file.
#[unsafe(no_mangle)]
pub extern "C" fn dumbbell_capture(run: u32, capture: u32) -> i32 {
    with_run(run, |run| {
        put(run.capture(capture as usize)?);
        Ok(0)
    })
}

/// Forgets a run; its number can return.
#[unsafe(no_mangle)]
pub extern "C" fn dumbbell_free(run: u32) {
    RUNS.with_borrow_mut(|runs| {
        if let Some(place) = runs.get_mut(run as usize) {
            *place = None;
        }
    });
}

/// Reads and analyzes the file whose name and size are in the input (JSON), and puts out a summary as JSON.
#[unsafe(no_mangle)]
pub extern "C" fn dumbbell_analyze() -> i32 {
    report_panics();
    CAPTURE.set(None);
    answer(Capture::open(&INPUT.take(), source()).map(|capture| {
        put(capture.summary().into_bytes());
        CAPTURE.set(Some(capture));
        0
    }))
}

/// Puts out rows of the capture's tables as JSON. The input is `{"table": NAME, "numbers": [...]}`; null means all
/// connections.
#[unsafe(no_mangle)]
pub extern "C" fn dumbbell_capture_rows() -> i32 {
    let input = INPUT.take();
    with_capture(|capture| {
        put(capture.rows(&input)?);
        Ok(0)
    })
}

/// Puts out the numbers of the connections with the most payload as JSON, the largest first.
#[unsafe(no_mangle)]
pub extern "C" fn dumbbell_capture_largest(most: u32) -> i32 {
    with_capture(|capture| {
        put(capture.largest(most as usize).into_bytes());
        Ok(0)
    })
}

/// Reads the file once more and keeps the segments of a connection. Puts out the heads of the tables `packets` and
/// `sacks`, as in [`dumbbell_tables`].
#[unsafe(no_mangle)]
pub extern "C" fn dumbbell_segments(flow: u64) -> i32 {
    with_capture(|capture| {
        capture.read_segments(flow, source())?;
        put(capture.segment_tables().into_bytes());
        Ok(0)
    })
}

/// Puts out the values of a column of segments, without a copy: the region is valid until the next call.
#[unsafe(no_mangle)]
pub extern "C" fn dumbbell_segment_column(table: u32, column: u32) -> i32 {
    with_capture(|capture| {
        REGION.set(capture.segment_column(table as usize, column as usize)?);
        Ok(0)
    })
}

/// Forgets the capture.
#[unsafe(no_mangle)]
pub extern "C" fn dumbbell_close() {
    CAPTURE.set(None);
}

#[cfg(test)]
mod tests;
