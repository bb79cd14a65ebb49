//! Congestion control that the running kernel lacks, as BPF struct_ops: loaded for one run, under names of its own
//! [Linux Documentation/bpf/index.rst; bpf(2)].
//!
//! ```text
//! object -> constants in array maps -> CO-RE relocation -> a program for each operation -> struct_ops map -> link
//! ```
//! The link registers a variant [Linux kernel/bpf/bpf_struct_ops.c bpf_struct_ops_link_create]; this process holds its
//! descriptor, so the kernel unregisters the variant when the process ends, for any reason. Needs Linux 6.4 or later
//! with BTF, and root.

mod btf;
mod bytes;
mod elf;
mod registered;
mod relocate;

use crate::error::{KernelError, Step};
use crate::sys;
pub(crate) use registered::{LoadedVariants, make_default};

use btf::Btf;
use elf::Elf;
use std::fs;
use std::os::fd::{AsRawFd, OwnedFd};

/// The kernel's name of each variant, and its object.
const OBJECTS: &[(&str, &[u8])] = &[
    ("bic", include_bytes!("../../bpf/bic.bpf.o")),
    ("highspeed", include_bytes!("../../bpf/highspeed.bpf.o")),
    ("htcp", include_bytes!("../../bpf/htcp.bpf.o")),
    ("hybla", include_bytes!("../../bpf/hybla.bpf.o")),
    ("illinois", include_bytes!("../../bpf/illinois.bpf.o")),
    ("scalable", include_bytes!("../../bpf/scalable.bpf.o")),
    ("vegas", include_bytes!("../../bpf/vegas.bpf.o")),
    ("veno", include_bytes!("../../bpf/veno.bpf.o")),
    ("westwood", include_bytes!("../../bpf/westwood.bpf.o")),
    ("yeah", include_bytes!("../../bpf/yeah.bpf.o")),
];

const VMLINUX_BTF: &str = "/sys/kernel/btf/vmlinux";
const OPERATIONS: &str = "tcp_congestion_ops";
const VALUE: &str = "bpf_struct_ops_tcp_congestion_ops";
/// Size of a congestion control's name, final zero included [Linux include/net/tcp.h TCP_CA_NAME_MAX].
const TCP_CA_NAME_MAX: usize = 16;

// [Linux include/uapi/linux/bpf.h].
const BPF_MAP_CREATE: i32 = 0;
const BPF_MAP_UPDATE_ELEM: i32 = 2;
const BPF_PROG_LOAD: i32 = 5;
const BPF_BTF_LOAD: i32 = 18;
const BPF_MAP_FREEZE: i32 = 22;
const BPF_LINK_CREATE: i32 = 28;
const BPF_MAP_TYPE_ARRAY: u32 = 2;
const BPF_MAP_TYPE_STRUCT_OPS: u32 = 26;
const BPF_PROG_TYPE_STRUCT_OPS: u32 = 27;
const BPF_STRUCT_OPS: u32 = 44;
/// Programs may only read the map.
const BPF_F_RDONLY_PROG: u32 = 1 << 7;
/// The map is registered by a link, not by its update.
const BPF_F_LINK: u32 = 1 << 13;
/// Processes without CAP_NET_ADMIN may choose it [Linux include/net/tcp.h TCP_CONG_NON_RESTRICTED].
const TCP_CONG_NON_RESTRICTED: u32 = 1;

/// The kernel's names of the variants that can be loaded.
pub fn names() -> impl Iterator<Item = &'static str> {
    OBJECTS.iter().map(|(name, _)| *name)
}

/// A registered variant; it is unregistered when this is dropped.
pub(crate) struct Loaded {
    /// Its name in `TCP_CONGESTION`.
    pub(crate) name: String,
    _held: Vec<OwnedFd>,
}

/// `union bpf_attr`, filled by offset.
struct BpfAttr([u8; 144]);

impl BpfAttr {
    fn new() -> BpfAttr {
        BpfAttr([0; 144])
    }

    fn word(mut self, at: usize, value: u32) -> BpfAttr {
        self.0[at..at + 4].copy_from_slice(&value.to_ne_bytes());
        self
    }

    fn long(mut self, at: usize, value: u64) -> BpfAttr {
        self.0[at..at + 8].copy_from_slice(&value.to_ne_bytes());
        self
    }
}

/// Loads a variant by its kernel name; `number` distinguishes it from others of this process.
pub(crate) fn load(variant: &str, number: usize) -> Result<Loaded, KernelError> {
    let refuse = |why: String| KernelError::Invalid(format!("congestion control '{variant}' in BPF: {why}"));
    let (_, object) =
        OBJECTS.iter().find(|(name, _)| *name == variant).ok_or_else(|| refuse("no program of it exists".into()))?;
    let types = fs::read(VMLINUX_BTF).step(|| VMLINUX_BTF.into())?;
    let kernel = Btf::read(&types).ok_or_else(|| refuse("the kernel's BTF can't be read".into()))?;
    let absent = |what: &str| refuse(format!("the kernel has no {what}"));
    let operations = kernel.structure(OPERATIONS).ok_or_else(|| absent(OPERATIONS))?;
    let value_type = kernel.structure(VALUE).ok_or_else(|| absent(VALUE))?;
    let size = kernel.size(value_type).ok_or_else(|| absent(VALUE))?;
    let data = kernel.named_member(value_type, "data").ok_or_else(|| absent(VALUE))?.bit / 8;
    let place = |name: &str| kernel.named_member(operations, name).map(|f| (data + f.bit / 8) as usize);

    let elf = Elf::read(object).ok_or_else(|| refuse("the object is damaged".into()))?;
    let mut value = vec![0u8; size as usize];
    let mut held = Vec::new();
    let mut maps = Vec::new();
    for (number, section) in elf.sections.iter().enumerate().filter(|(_, s)| relocate::is_constant(s.name)) {
        let map = constants(section.data).map_err(|e| refuse(format!("{}: {e}", section.name)))?;
        maps.push((number, map.as_raw_fd()));
        held.push(map);
    }
    for program in relocate::programs(&elf, &kernel, &maps).map_err(refuse)? {
        let operation = program.operation.as_str();
        let member = kernel.member_number(operations, operation);
        let (Some(member), Some(at)) = (member, place(operation)) else {
            return Err(absent(&format!("operation {operation}")));
        };
        let fd = load_program(&program.instructions, operations, member)
            .map_err(|why| refuse(format!("{operation}: {why}")))?;
        value[at..at + 8].copy_from_slice(&(fd.as_raw_fd() as u64).to_ne_bytes());
        held.push(fd);
    }
    let name = format!("db{:x}v{number}", std::process::id());
    let at = place("name").ok_or_else(|| absent("name"))?;
    value[at..at + name.len().min(TCP_CA_NAME_MAX - 1)]
        .copy_from_slice(&name.as_bytes()[..name.len().min(TCP_CA_NAME_MAX - 1)]);
    // Not restricted, so that it can be a namespace's default.
    let at = place("flags").ok_or_else(|| absent("flags"))?;
    value[at..at + 4].copy_from_slice(&TCP_CONG_NON_RESTRICTED.to_ne_bytes());
    held.push(register(&value, value_type).map_err(|e| refuse(e.to_string()))?);
    Ok(Loaded { name, _held: held })
}

fn load_program(instructions: &[u8], operations: u32, member: u32) -> Result<OwnedFd, String> {
    let license = *b"GPL\0";
    let attempt = |log: &mut [u8]| {
        let arguments = BpfAttr::new()
            .word(0, BPF_PROG_TYPE_STRUCT_OPS)
            .word(4, (instructions.len() / 8) as u32)
            .long(8, instructions.as_ptr() as u64)
            .long(16, license.as_ptr() as u64)
            .word(24, u32::from(!log.is_empty()))
            .word(28, log.len() as u32)
            .long(32, if log.is_empty() { 0 } else { log.as_mut_ptr() as u64 })
            .word(68, member)
            .word(108, operations);
        sys::bpf_fd(BPF_PROG_LOAD, &arguments.0)
    };
    attempt(&mut []).or_else(|first| {
        // Once more, with a buffer for the verifier's log.
        let mut log = vec![0; 1 << 18];
        attempt(&mut log).map_err(|_| {
            let log = elf::text(&log, 0);
            let last: Vec<&str> = log.lines().rev().take(6).collect();
            format!("{first}: {}", last.into_iter().rev().collect::<Vec<_>>().join(" | "))
        })
    })
}

/// Makes a map with one element that never changes.
fn constants(value: &[u8]) -> std::io::Result<OwnedFd> {
    let arguments = BpfAttr::new()
        .word(0, BPF_MAP_TYPE_ARRAY)
        .word(4, 4)
        .word(8, value.len() as u32)
        .word(12, 1)
        .word(16, BPF_F_RDONLY_PROG);
    let map = sys::bpf_fd(BPF_MAP_CREATE, &arguments.0)?;
    fill(&map, value)?;
    sys::bpf(BPF_MAP_FREEZE, &BpfAttr::new().word(0, map.as_raw_fd() as u32).0)?;
    Ok(map)
}

/// Sets the only element of a map.
fn fill(map: &OwnedFd, value: &[u8]) -> std::io::Result<()> {
    let key = [0u8; 4];
    let arguments =
        BpfAttr::new().word(0, map.as_raw_fd() as u32).long(8, key.as_ptr() as u64).long(16, value.as_ptr() as u64);
    sys::bpf(BPF_MAP_UPDATE_ELEM, &arguments.0).map(|_| ())
}

/// Loads a minimal BTF: the kernel requires one for struct_ops maps, but doesn't read its types.
fn minimal_btf() -> std::io::Result<OwnedFd> {
    const TEXTS: [u8; 5] = *b"\0int\0";
    // One type, its name at offset 1: BTF_KIND_INT (1), 4 bytes, signed, 32 bits.
    let words: [u32; 4] = [1, 1 << 24, 4, 1 << 24 | 32];
    let header: [u32; 6] = [0x0001_eb9f, 24, 0, 16, 16, TEXTS.len() as u32];
    let mut types: Vec<u8> = header.iter().chain(&words).flat_map(|w| w.to_ne_bytes()).collect();
    types.extend(TEXTS);
    let arguments = BpfAttr::new().long(0, types.as_ptr() as u64).word(16, types.len() as u32);
    sys::bpf_fd(BPF_BTF_LOAD, &arguments.0)
}

/// Registers the operations; closing the descriptor unregisters them.
fn register(value: &[u8], value_type: u32) -> std::io::Result<OwnedFd> {
    let types = minimal_btf()?;
    let arguments = BpfAttr::new()
        .word(0, BPF_MAP_TYPE_STRUCT_OPS)
        .word(4, 4)
        .word(8, value.len() as u32)
        .word(12, 1)
        .word(16, BPF_F_LINK)
        .word(48, types.as_raw_fd() as u32)
        .word(60, value_type);
    let map = sys::bpf_fd(BPF_MAP_CREATE, &arguments.0)?;
    fill(&map, value)?;
    sys::bpf_fd(BPF_LINK_CREATE, &BpfAttr::new().word(0, map.as_raw_fd() as u32).word(8, BPF_STRUCT_OPS).0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_have_the_required_operations() {
        for (name, object) in OBJECTS {
            let elf = Elf::read(object).unwrap();
            for needed in ["struct_ops/ssthresh", "struct_ops/undo_cwnd", "struct_ops/cong_avoid"] {
                assert!(elf.section(needed).is_some_and(|s| !s.data.is_empty()), "{name}: {needed}");
            }
            // Relocated against its own types, a field keeps its offset.
            let own = Btf::read(elf.section(".BTF").unwrap().data).unwrap();
            let tcp = own.structure("tcp_sock").unwrap();
            assert_eq!(own.named_member(tcp, "snd_ssthresh").map(|f| f.bit), Some(32), "{name}");
        }
    }

    /// Programs of an object against its own types; constants are in maps with descriptors from 70 on.
    fn programs(object: &[u8]) -> Result<Vec<relocate::Program>, String> {
        let elf = Elf::read(object).unwrap();
        let own = Btf::read(elf.section(".BTF").unwrap().data).unwrap();
        let all = elf.sections.iter().enumerate();
        let constants: Vec<usize> = all.filter(|(_, s)| relocate::is_constant(s.name)).map(|(n, _)| n).collect();
        let maps: Vec<_> = constants.into_iter().zip(70..).collect();
        relocate::programs(&elf, &own, &maps)
    }

    fn object(name: &str) -> &'static [u8] {
        OBJECTS.iter().find(|(n, _)| *n == name).unwrap().1
    }

    #[test]
    fn loads_of_constants_refer_to_the_map() {
        let highspeed = programs(object("highspeed")).unwrap();
        let ssthresh = highspeed.iter().find(|p| p.operation == "ssthresh").unwrap();
        let load = ssthresh.instructions.chunks_exact(16).find(|i| i[0] == 0x18);
        let either = ssthresh.instructions[8..].chunks_exact(16).find(|i| i[0] == 0x18);
        let load = load.or(either).unwrap();
        // Source register 2: an address in the value of the map 70; its offset is in the second half. A row is 8 bytes,
        // and its cut is the second half of it: at 0 with the offset in the read, or at 4.
        assert_eq!((load[1] >> 4, load[4]), (2, 70));
        assert!([0, 4].contains(&load[12]), "{load:?}");
    }

    #[test]
    fn a_program_with_variables_of_its_own_is_refused() {
        let mut hybla = object("hybla").to_vec();
        let at = hybla.windows(12).position(|w| w == b".rodata.cst8").unwrap();
        hybla[at..at + 12].copy_from_slice(b".bss.of.mine");
        let refused = programs(&hybla).err().unwrap();
        assert_eq!(refused, "it refers to .bss.of.mine: only constants (.rodata) are supported");
    }

    #[test]
    fn invalid_objects_are_none() {
        assert!(Elf::read(b"\x7fELF").is_none());
        assert!(Btf::read(&[0; 40]).is_none());
    }
}
