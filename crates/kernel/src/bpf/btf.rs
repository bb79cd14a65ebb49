//! BTF, the description of types that a kernel and BPF objects carry.

use super::bytes::{u16_at, u32_at};
use super::elf::text;

const INT: u32 = 1;
const ARRAY: u32 = 3;
const STRUCT: u32 = 4;
const UNION: u32 = 5;
const ENUM: u32 = 6;
const FUNC: u32 = 12;
const PROTOTYPE: u32 = 13;
const VARIABLE: u32 = 14;
const SECTION: u32 = 15;
const TAG: u32 = 17;
const ENUM_64: u32 = 19;
/// Names for other types, and properties of them.
const WRAPPERS: [u32; 5] = [8, 9, 10, 11, 18];

/// A field of a structure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Field {
    pub(super) kind: u32,
    /// Where it begins, bits.
    pub(super) bit: u32,
    /// How many bits it has, if it is a bit-field; else 0.
    pub(super) bits: u32,
}

/// See the top of this file.
pub(super) struct Btf<'a> {
    /// Where each type's record begins; type 0 is "void".
    records: Vec<usize>,
    types: &'a [u8],
    texts: &'a [u8],
}

impl<'a> Btf<'a> {
    /// Reads a description; None if it isn't one.
    pub(super) fn read(data: &'a [u8]) -> Option<Btf<'a>> {
        if u16_at(data, 0)? != 0xeb9f {
            return None;
        }
        let part = |at: usize| {
            let from = u32_at(data, 4)? as usize + u32_at(data, at)? as usize;
            data.get(from..from + u32_at(data, at + 4)? as usize)
        };
        let (types, texts) = (part(8)?, part(16)?);
        let (mut records, mut at) = (vec![0], 0);
        while at < types.len() {
            records.push(at);
            let info = u32_at(types, at + 4)?;
            let count = (info & 0xffff) as usize;
            at += 12
                + match info >> 24 & 31 {
                    INT | VARIABLE | TAG => 4,
                    ARRAY => 12,
                    STRUCT | UNION | SECTION | ENUM_64 => 12 * count,
                    ENUM | PROTOTYPE => 8 * count,
                    _ => 0,
                };
        }
        Some(Btf { records, types, texts })
    }

    pub(super) fn text(&self, at: u32) -> &'a str {
        text(self.texts, at as usize)
    }

    fn word(&self, id: u32, at: usize) -> Option<u32> {
        u32_at(self.types, *self.records.get(id as usize).filter(|_| id > 0)? + at)
    }

    fn kind(&self, id: u32) -> Option<u32> {
        Some(self.word(id, 4)? >> 24 & 31)
    }

    pub(super) fn name(&self, id: u32) -> &'a str {
        self.word(id, 0).map_or("", |at| self.text(at))
    }

    fn find(&self, kind: u32, name: &str) -> Option<u32> {
        (1..self.records.len() as u32).find(|id| self.kind(*id) == Some(kind) && self.name(*id) == name)
    }

    /// The structure of that name.
    pub(super) fn structure(&self, name: &str) -> Option<u32> {
        self.find(STRUCT, name)
    }

    /// The function of that name.
    pub(super) fn function(&self, name: &str) -> Option<u32> {
        self.find(FUNC, name)
    }

    /// What a type is, without names for it and its properties.
    pub(super) fn bare(&self, mut id: u32) -> u32 {
        while self.kind(id).is_some_and(|k| WRAPPERS.contains(&k)) {
            id = self.word(id, 8).unwrap_or(0);
        }
        id
    }

    /// Bytes of a value of that type.
    pub(super) fn size(&self, id: u32) -> Option<u32> {
        let id = self.bare(id);
        match self.kind(id)? {
            2 => Some(8), // a pointer
            ARRAY => Some(self.word(id, 20)? * self.size(self.word(id, 12)?)?),
            _ => self.word(id, 8),
        }
    }

    /// What an array is of.
    pub(super) fn element(&self, id: u32) -> Option<u32> {
        let id = self.bare(id);
        if self.kind(id)? == ARRAY { self.word(id, 12) } else { None }
    }

    fn member(&self, id: u32, n: u32) -> Option<(&'a str, Field)> {
        let info = self.word(id, 4)?;
        if ![STRUCT, UNION].contains(&(info >> 24 & 31)) || n >= info & 0xffff {
            return None;
        }
        let at = 12 + 12 * n as usize;
        let (name, kind, place) = (self.word(id, at)?, self.word(id, at + 4)?, self.word(id, at + 8)?);
        let (bit, bits) = if info >> 31 == 1 { (place & 0xff_ffff, place >> 24) } else { (place, 0) };
        Some((self.text(name), Field { kind, bit, bits }))
    }

    /// Member number `n` of a structure or union: its name and where it is.
    pub(super) fn nth_member(&self, id: u32, n: u32) -> Option<(&'a str, Field)> {
        self.member(self.bare(id), n)
    }

    /// The member of that name, also within nameless members.
    pub(super) fn named_member(&self, id: u32, name: &str) -> Option<Field> {
        let id = self.bare(id);
        let mut n = 0;
        while let Some((here, field)) = self.member(id, n) {
            if here == name {
                return Some(field);
            }
            if here.is_empty()
                && let Some(inner) = self.named_member(field.kind, name)
            {
                return Some(Field { bit: inner.bit + field.bit, ..inner });
            }
            n += 1;
        }
        None
    }

    /// The number of the member of that name, nameless members counted as one.
    pub(super) fn member_number(&self, id: u32, name: &str) -> Option<u32> {
        let id = self.bare(id);
        (0..).map_while(|n| self.member(id, n)).position(|(here, _)| here == name).map(|n| n as u32)
    }
}
