//! Captures as users have them: compared with stored results and with Wireshark's, damaged, and changed while they are
//! read.

mod analysis;
mod changing_files;
mod common;
mod damaged_compression;
mod numbered_blocks;
mod stored;
