//! Comparison of the results for a file with the output of Wireshark's command-line tools.
#![allow(dead_code, missing_docs, reason = "included by several tests and examples, which use different parts")]

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use dumbbell_capture::capinfos::{Numbers, report};
use dumbbell_capture::dissect::QuotedTransport;
use dumbbell_capture::{Dissected, Dissector, PacketLengths, Properties, Reader, TcpView, Transport};
use dumbbell_wire::{SackBlock, TcpOptions};

/// The results for a capture, as texts.
pub struct Results {
    pub properties: String,
    pub lengths: String,
    pub frames: String,
}

/// True if Wireshark's tools are installed in the version of the comparison; otherwise prints a message.
pub fn have_tools() -> bool {
    let version = |tool: &str| {
        let version = Command::new(tool).arg("--version").output().ok()?;
        String::from_utf8_lossy(&version.stdout).lines().next().map(ToOwned::to_owned)
    };
    for tool in ["tshark", "capinfos"] {
        let Some(version) = version(tool) else {
            eprintln!("skipped: {tool} isn't installed (Debian's packages tshark, wireshark-common)");
            return false;
        };
        if !version.contains(" 4.0.") {
            eprintln!("skipped: compared with Wireshark 4.0 only; {version} is installed");
            return false;
        }
    }
    true
}

/// Standard output of a tool, run in English and UTC.
pub fn output(tool: &str, arguments: &[&str], file: &Path) -> String {
    let mut command = Command::new(tool);
    command.args(arguments).arg(file).env("TZ", "UTC").env("LC_ALL", "C");
    let done = command.output().unwrap_or_else(|e| panic!("{tool}: {e}"));
    String::from_utf8_lossy(&done.stdout).into_owned()
}

const CAPINFOS: [&str; 17] =
    ["-M", "-t", "-E", "-I", "-F", "-k", "-c", "-s", "-d", "-l", "-u", "-a", "-e", "-o", "-y", "-i", "-z"];

const FIELDS: [&str; 18] = [
    "frame.number",
    "frame.time_epoch",
    "frame.len",
    "frame.cap_len",
    "tcp.srcport",
    "tcp.dstport",
    "tcp.seq_raw",
    "tcp.ack_raw",
    "tcp.flags",
    "tcp.window_size_value",
    "tcp.hdr_len",
    "tcp.len",
    "tcp.options.mss_val",
    "tcp.options.wscale.shift",
    "tcp.options.timestamp.tsval",
    "tcp.options.timestamp.tsecr",
    "tcp.options.sack_le",
    "tcp.options.sack_re",
];

/// The results of Wireshark's tools.
pub fn by_wireshark(file: &Path) -> Results {
    let capinfos: Vec<&str> = CAPINFOS.into_iter().chain(["-x"]).collect();
    let short: Vec<&str> = capinfos[1..].to_vec();
    let properties = output("capinfos", &capinfos, file) + &output("capinfos", &short, file);
    let mut fields = vec!["-z", "plen,tree", "-T", "fields", "-o", "tcp.relative_sequence_numbers:FALSE"];
    for field in FIELDS {
        fields.extend(["-e", field]);
    }
    fields.push("-r");
    let both = output("tshark", &fields, file);
    // One line for each frame, then the table between lines of equals signs.
    let table = both.find("\n==").unwrap_or(both.len());
    Results { properties, lengths: both[table..].to_owned(), frames: both[..table].to_owned() }
}

/// The results of this crate.
pub fn by_reader(file: &Path, tunnels: bool) -> Results {
    let mut reader = Reader::open(file).unwrap_or_else(|e| panic!("{e}"));
    let mut dissector = Dissector::new(tunnels);
    let mut lengths = PacketLengths::default();
    let mut frames = String::new();
    while let Some(frame) = reader.next_frame() {
        let time = frame
            .time
            .map_or(String::new(), |t| format!("{}.{:09}", t.div_euclid(1_000_000_000), t.rem_euclid(1_000_000_000)));
        let found = dissector.dissect(&frame);
        if found.is_counted() {
            lengths.add(frame.time, frame.len);
        }
        let _ = write!(frames, "{}\t{time}\t{}\t{}", frame.number, frame.len, frame.data.len());
        match tcp(&found) {
            Some(tcp) => write_tcp(&mut frames, tcp),
            None => frames.push_str(&"\t".repeat(14)),
        }
        frames.push('\n');
    }
    let properties = Properties::of(&reader);
    Results {
        properties: report(&properties, Numbers::Full) + &report(&properties, Numbers::Short),
        lengths: lengths.report(),
        frames,
    }
}

fn tcp<'a, 'b>(found: &'b Dissected<'a>) -> Option<&'b TcpView<'a>> {
    match &found.transport {
        Transport::Tcp(tcp) => Some(tcp),
        Transport::Icmp { quoted: Some(quoted), .. } => match &quoted.transport {
            QuotedTransport::Tcp(tcp) => Some(tcp),
            _ => None,
        },
        _ => None,
    }
}

fn write_tcp(frames: &mut String, tcp: &TcpView<'_>) {
    let text = |value: Option<u32>| value.map_or(String::new(), |v| v.to_string());
    let TcpOptions { mss, wscale, timestamps, .. } = tcp.options;
    let side = |pick: fn(&SackBlock) -> u32| {
        let blocks = tcp.options.sack.as_slice().iter().map(|b| pick(b).to_string());
        blocks.collect::<Vec<_>>().join(",")
    };
    let _ = write!(
        frames,
        "\t{}\t{}\t{}\t{}\t{:#06x}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}",
        tcp.src_port,
        tcp.dst_port,
        tcp.seq,
        tcp.ack,
        tcp.flags.bits(),
        tcp.window,
        tcp.header_len,
        text(tcp.len),
        text(mss.map(u32::from)),
        text(wscale.map(u32::from)),
        text(timestamps.map(|t| t.0)),
        text(timestamps.map(|t| t.1)),
        side(|b| b.left.0),
        side(|b| b.right.0),
    );
}

/// The lines in which two texts differ, the first twenty of them.
pub fn difference(what: &str, here: &str, wireshark: &str) -> Option<String> {
    let trim = |line: Option<&str>| line.map(|l| l.trim_end().to_owned());
    let (mut a, mut b) = (here.trim_end().lines(), wireshark.trim_end().lines());
    let mut found = Vec::new();
    for number in 1.. {
        let (ours, theirs) = (trim(a.next()), trim(b.next()));
        if ours == theirs {
            if ours.is_none() {
                break;
            }
            continue;
        }
        found.push(format!("{what}, line {number}:\n here      {ours:?}\n wireshark {theirs:?}"));
        if found.len() == 20 {
            break;
        }
    }
    (!found.is_empty()).then(|| found.join("\n"))
}

/// All differences between the results of this crate and of Wireshark's tools.
pub fn differences(file: &Path, tunnels: bool) -> Vec<String> {
    let (mut here, wireshark) = (by_reader(file, tunnels), by_wireshark(file));
    if wireshark.properties.is_empty() {
        // capinfos prints nothing for a damaged file, unless it is only cut.
        here.properties.clear();
    }
    [
        difference("properties", &here.properties, &wireshark.properties),
        difference("packet lengths", &here.lengths, &wireshark.lengths),
        difference("frames", &here.frames, &wireshark.frames),
    ]
    .into_iter()
    .flatten()
    .collect()
}
