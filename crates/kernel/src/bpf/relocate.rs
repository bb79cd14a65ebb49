//! Relocates an object for the running kernel: field offsets (CO-RE), BTF ids of the kernel's functions, and addresses
//! of the object's own constants [Linux Documentation/bpf/llvm_reloc.rst].

use super::btf::{Btf, Field};
use super::bytes::u32_at;
use super::elf::{Elf, Relocation};

/// Kinds of CO-RE relocations [Linux bpf.h enum bpf_core_relo_kind].
const BPF_CORE_FIELD_BYTE_OFFSET: u32 = 0;
const BPF_CORE_FIELD_BYTE_SIZE: u32 = 1;
const BPF_CORE_FIELD_LSHIFT_U64: u32 = 4;
const BPF_CORE_FIELD_RSHIFT_U64: u32 = 5;

const INSTRUCTION: usize = 8;
/// The instruction `BPF_JMP | BPF_CALL` [Linux include/uapi/linux/bpf.h].
const BPF_JMP_CALL: u8 = 0x85;
/// Source register of a call of a kernel function.
const BPF_PSEUDO_KFUNC_CALL: u8 = 2;

/// The 64-bit load `BPF_LD_IMM64`, two instructions long, and its source register for an address in a map's value.
const BPF_LD_IMM64: u8 = 0x18;
const BPF_PSEUDO_MAP_VALUE: u8 = 2;

/// Returns true if a section holds constants.
pub(super) fn is_constant(section: &str) -> bool {
    section == ".rodata" || section.starts_with(".rodata.")
}

/// A relocated program of an object.
pub(super) struct Program {
    /// The operation of `tcp_congestion_ops` that it implements.
    pub(super) operation: String,
    pub(super) instructions: Vec<u8>,
}

const PREFIX: &str = "struct_ops/";

/// Returns the programs of an object, relocated for a kernel. `constants` has the numbers of the sections of constants,
/// each with the descriptor of its map. The error names what the kernel lacks.
pub(super) fn programs(elf: &Elf<'_>, kernel: &Btf<'_>, constants: &[(usize, i32)]) -> Result<Vec<Program>, String> {
    let broken = || "the object is damaged".to_owned();
    let ours = elf.section(".BTF").and_then(|s| Btf::read(s.data)).ok_or_else(broken)?;
    let extra = elf.section(".BTF.ext").ok_or_else(broken)?.data;
    let mut made = Vec::new();
    for section in elf.sections.iter().filter(|s| s.name.starts_with(PREFIX) && !s.data.is_empty()) {
        let mut instructions = section.data.to_vec();
        for relocation in elf.relocations(section.name) {
            let place = instructions.get_mut(relocation.at..).ok_or_else(broken)?;
            match relocation.section {
                0 => call(place, relocation.symbol, kernel)?,
                number => match constants.iter().find(|(n, _)| *n == number) {
                    Some((_, map)) => constant(place, &relocation, *map).ok_or_else(broken)?,
                    None => return Err(unsupported(elf, &relocation)),
                },
            }
        }
        for relocation in core_relocations(extra, &ours, section.name).ok_or_else(broken)? {
            let value = relocation.value(&ours, kernel)?;
            set(&mut instructions, relocation.at, value).ok_or_else(broken)?;
        }
        made.push(Program { operation: section.name[PREFIX.len()..].to_owned(), instructions });
    }
    Ok(made)
}

/// Relocates a call of a kernel function.
fn call(place: &mut [u8], function: &str, kernel: &Btf<'_>) -> Result<(), String> {
    let id = kernel.function(function).ok_or(format!("the kernel has no function {function}"))?;
    let call = place.get_mut(..INSTRUCTION).filter(|i| i[0] == BPF_JMP_CALL).ok_or("the object is damaged")?;
    call[1] = call[1] & 0x0f | BPF_PSEUDO_KFUNC_CALL << 4;
    call[2..4].fill(0);
    call[4..].copy_from_slice(&id.to_le_bytes());
    Ok(())
}

/// Relocates a load of an address in a map of constants.
fn constant(place: &mut [u8], to: &Relocation<'_>, map: i32) -> Option<()> {
    let load = place.get_mut(..2 * INSTRUCTION).filter(|i| i[0] == BPF_LD_IMM64)?;
    let offset = u32_at(load, 4)?.checked_add(u32::try_from(to.value).ok()?)?;
    load[1] = load[1] & 0x0f | BPF_PSEUDO_MAP_VALUE << 4;
    load[4..8].copy_from_slice(&map.to_le_bytes());
    load[12..].copy_from_slice(&offset.to_le_bytes());
    Some(())
}

/// Returns the refusal of a reference: a program has constants only; its state belongs to the connection.
fn unsupported(elf: &Elf<'_>, to: &Relocation<'_>) -> String {
    let section = elf.sections.get(to.section).map_or("?", |s| s.name);
    let what = if to.symbol.is_empty() { section.to_owned() } else { format!("{} in {section}", to.symbol) };
    format!("it refers to {what}: only constants (.rodata) are supported")
}

/// A CO-RE relocation (`struct bpf_core_relo`).
struct CoreRelocation<'a> {
    /// Offset of the instruction in its section.
    at: usize,
    kind: u32,
    path: &'a str,
    kind_of_value: u32,
}

/// Returns the CO-RE relocations of a section.
fn core_relocations<'a>(extra: &[u8], ours: &Btf<'a>, section: &str) -> Option<Vec<CoreRelocation<'a>>> {
    let begin = u32_at(extra, 4)? as usize + u32_at(extra, 24)? as usize;
    let part = extra.get(begin..begin + u32_at(extra, 28)? as usize)?;
    let size = u32_at(part, 0)? as usize;
    let (mut at, mut found) = (4, Vec::new());
    while at < part.len() {
        let (name, count) = (ours.text(u32_at(part, at)?), u32_at(part, at + 4)? as usize);
        at += 8;
        for record in part.get(at..at + count * size)?.chunks_exact(size).filter(|_| name == section) {
            found.push(CoreRelocation {
                at: u32_at(record, 0)? as usize,
                kind: u32_at(record, 4)?,
                path: ours.text(u32_at(record, 8)?),
                kind_of_value: u32_at(record, 12)?,
            });
        }
        at += count * size;
    }
    Some(found)
}

impl CoreRelocation<'_> {
    fn value(&self, ours: &Btf<'_>, kernel: &Btf<'_>) -> Result<u32, String> {
        let name = ours.name(ours.bare(self.kind));
        let field = self.find(ours, kernel).ok_or(format!("the kernel's {name} differs ({})", self.path))?;
        let size = kernel.size(field.kind).unwrap_or(1).max(1);
        // A bit-field: the aligned unit, of its type's size or larger, that contains it.
        let (mut size, mut offset) = (size, field.bit / 8);
        if field.bits > 0 {
            offset = offset / size * size;
            while field.bit + field.bits > (offset + size) * 8 {
                size *= 2;
                offset = field.bit / 8 / size * size;
            }
        }
        let bits = if field.bits > 0 { field.bits } else { size * 8 };
        match self.kind_of_value {
            BPF_CORE_FIELD_BYTE_OFFSET => Ok(offset),
            BPF_CORE_FIELD_BYTE_SIZE => Ok(size),
            BPF_CORE_FIELD_LSHIFT_U64 => Ok(64 - (field.bit + bits - offset * 8)),
            BPF_CORE_FIELD_RSHIFT_U64 => Ok(64 - bits),
            other => Err(format!("unknown CO-RE relocation {other}")),
        }
    }

    /// Finds the field in the kernel's types by the names of its access path.
    fn find(&self, ours: &Btf<'_>, kernel: &Btf<'_>) -> Option<Field> {
        let mut steps = self.path.split(':').map(|n| n.parse::<u32>().ok());
        let mut here = ours.bare(self.kind);
        let mut there = Field { kind: kernel.structure(ours.name(here))?, bit: 0, bits: 0 };
        // The first index is that of an array of such structures.
        there.bit = steps.next()?? * kernel.size(there.kind)? * 8;
        for step in steps {
            let n = step?;
            if let Some(element) = ours.element(here) {
                here = ours.bare(element);
                let element = kernel.element(there.kind)?;
                there = Field { kind: element, bit: there.bit + n * kernel.size(element)? * 8, bits: 0 };
            } else {
                let (name, field) = ours.nth_member(here, n)?;
                here = ours.bare(field.kind);
                let found = kernel.named_member(there.kind, name)?;
                there = Field { bit: there.bit + found.bit, ..found };
            }
        }
        Some(there)
    }
}

/// Writes a value into an instruction.
fn set(instructions: &mut [u8], at: usize, value: u32) -> Option<()> {
    let i = instructions.get_mut(at..at + INSTRUCTION)?;
    match i[0] & 7 {
        // Loads and stores: the offset.
        1..=3 => i[2..4].copy_from_slice(&u16::try_from(value).ok()?.to_le_bytes()),
        // A constant of 64 bits, or arithmetic with one.
        0 | 4 | 7 => i[4..].copy_from_slice(&value.to_le_bytes()),
        _ => return None,
    }
    Some(())
}
