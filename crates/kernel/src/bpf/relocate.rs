//! Making an object fit the kernel that runs: where fields lie, the numbers of the kernel's functions, and where the
//! object's own constants are.

use super::btf::{Btf, Field};
use super::bytes::u32_at;
use super::elf::{Elf, Relocation};

/// What is asked of a field.
const BYTE_OFFSET: u32 = 0;
const BYTE_SIZE: u32 = 1;
const LEFT_SHIFT: u32 = 4;
const RIGHT_SHIFT: u32 = 5;

const INSTRUCTION: usize = 8;
const CALL: u8 = 0x85;
/// A call's source register that says "a function of the kernel".
const KERNEL_FUNCTION: u8 = 2;

/// An instruction that loads 64 bits (it fills two), and its source register that says "an address in that map's value".
const LOAD: u8 = 0x18;
const MAP_VALUE: u8 = 2;

/// Whether a section holds constants.
pub(super) fn is_constant(section: &str) -> bool {
    section == ".rodata" || section.starts_with(".rodata.")
}

/// A program of an object, as its section has it.
pub(super) struct Program {
    /// The operation that it is.
    pub(super) operation: String,
    pub(super) instructions: Vec<u8>,
}

const PREFIX: &str = "struct_ops/";

/// The programs of an object, fit for a kernel; an error says what that kernel doesn't have. `constants` are the sections
/// of constants: their numbers, and the descriptors of the maps that hold them.
pub(super) fn programs(
    elf: &Elf<'_>,
    kernel: &Btf<'_>,
    constants: &[(usize, i32)],
) -> Result<Vec<Program>, String> {
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
                    None => return Err(elsewhere(elf, &relocation)),
                },
            }
        }
        for request in requests(extra, &ours, section.name).ok_or_else(broken)? {
            let value = request.value(&ours, kernel)?;
            set(&mut instructions, request.at, value).ok_or_else(broken)?;
        }
        made.push(Program { operation: section.name[PREFIX.len()..].to_owned(), instructions });
    }
    Ok(made)
}

/// Makes a call one of the kernel's function of that name.
fn call(place: &mut [u8], function: &str, kernel: &Btf<'_>) -> Result<(), String> {
    let id = kernel.function(function).ok_or(format!("the kernel has no function {function}"))?;
    let call = place.get_mut(..INSTRUCTION).filter(|i| i[0] == CALL).ok_or("the object is damaged")?;
    call[1] = call[1] & 0x0f | KERNEL_FUNCTION << 4;
    call[2..4].fill(0);
    call[4..].copy_from_slice(&id.to_le_bytes());
    Ok(())
}

/// Makes a load one of an address among the constants that a map holds.
fn constant(place: &mut [u8], to: &Relocation<'_>, map: i32) -> Option<()> {
    let load = place.get_mut(..2 * INSTRUCTION).filter(|i| i[0] == LOAD)?;
    let offset = u32_at(load, 4)?.checked_add(u32::try_from(to.value).ok()?)?;
    load[1] = load[1] & 0x0f | MAP_VALUE << 4;
    load[4..8].copy_from_slice(&map.to_le_bytes());
    load[12..].copy_from_slice(&offset.to_le_bytes());
    Some(())
}

/// Why a program can't refer to that: what a variant keeps belongs to its connection.
fn elsewhere(elf: &Elf<'_>, to: &Relocation<'_>) -> String {
    let section = elf.sections.get(to.section).map_or("?", |s| s.name);
    let what = if to.symbol.is_empty() { section.to_owned() } else { format!("{} in {section}", to.symbol) };
    format!("it refers to {what}: only constants (.rodata) can be had")
}

/// A field that an instruction asks about.
struct Request<'a> {
    /// Offset of the instruction in its section.
    at: usize,
    kind: u32,
    path: &'a str,
    question: u32,
}

/// The requests for a section.
fn requests<'a>(extra: &[u8], ours: &Btf<'a>, section: &str) -> Option<Vec<Request<'a>>> {
    let begin = u32_at(extra, 4)? as usize + u32_at(extra, 24)? as usize;
    let part = extra.get(begin..begin + u32_at(extra, 28)? as usize)?;
    let size = u32_at(part, 0)? as usize;
    let (mut at, mut found) = (4, Vec::new());
    while at < part.len() {
        let (name, count) = (ours.text(u32_at(part, at)?), u32_at(part, at + 4)? as usize);
        at += 8;
        for record in part.get(at..at + count * size)?.chunks_exact(size).filter(|_| name == section) {
            found.push(Request {
                at: u32_at(record, 0)? as usize,
                kind: u32_at(record, 4)?,
                path: ours.text(u32_at(record, 8)?),
                question: u32_at(record, 12)?,
            });
        }
        at += count * size;
    }
    Some(found)
}

impl Request<'_> {
    fn value(&self, ours: &Btf<'_>, kernel: &Btf<'_>) -> Result<u32, String> {
        let name = ours.name(ours.bare(self.kind));
        let field = self.find(ours, kernel).ok_or(format!("the kernel's {name} differs ({})", self.path))?;
        let size = kernel.size(field.kind).unwrap_or(1).max(1);
        // Of a bit-field: the aligned piece, of its type's size or larger, that holds it whole.
        let (mut size, mut offset) = (size, field.bit / 8);
        if field.bits > 0 {
            offset = offset / size * size;
            while field.bit + field.bits > (offset + size) * 8 {
                size *= 2;
                offset = field.bit / 8 / size * size;
            }
        }
        let bits = if field.bits > 0 { field.bits } else { size * 8 };
        match self.question {
            BYTE_OFFSET => Ok(offset),
            BYTE_SIZE => Ok(size),
            LEFT_SHIFT => Ok(64 - (field.bit + bits - offset * 8)),
            RIGHT_SHIFT => Ok(64 - bits),
            other => Err(format!("question {other} about a field")),
        }
    }

    /// The field in the kernel: our path's names, step by step.
    fn find(&self, ours: &Btf<'_>, kernel: &Btf<'_>) -> Option<Field> {
        let mut steps = self.path.split(':').map(|n| n.parse::<u32>().ok());
        let mut here = ours.bare(self.kind);
        let mut there = Field { kind: kernel.structure(ours.name(here))?, bit: 0, bits: 0 };
        // The first step is along an array of such structures.
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

/// Puts a value where an instruction has it.
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
