//! Reads BTF, the type information of a kernel and of BPF objects [Linux Documentation/bpf/btf.rst].

use super::bytes::{u16_at, u32_at};
use super::elf::text;

const BTF_MAGIC: u16 = 0xeb9f;
/// Kinds of types [Linux btf.h BTF_KIND_INT ...].
const BTF_KIND_INT: u32 = 1;
const BTF_KIND_PTR: u32 = 2;
const BTF_KIND_ARRAY: u32 = 3;
const BTF_KIND_STRUCT: u32 = 4;
const BTF_KIND_UNION: u32 = 5;
const BTF_KIND_ENUM: u32 = 6;
const BTF_KIND_FUNC: u32 = 12;
const BTF_KIND_FUNC_PROTO: u32 = 13;
const BTF_KIND_VAR: u32 = 14;
const BTF_KIND_DATASEC: u32 = 15;
const BTF_KIND_DECL_TAG: u32 = 17;
const BTF_KIND_ENUM64: u32 = 19;
/// Kinds that only name or qualify another type: typedef, volatile, const, restrict, type tag.
const WRAPPERS: [u32; 5] = [8, 9, 10, 11, 18];

/// A field of a structure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Field {
    pub(super) kind: u32,
    /// Its offset, bits.
    pub(super) bit: u32,
    /// Its width, bits, if it is a bit-field; else 0.
    pub(super) bits: u32,
}

/// The types of a kernel or object.
pub(super) struct Btf<'a> {
    /// Offset of each type's record; type 0 is `void`.
    records: Vec<usize>,
    types: &'a [u8],
    texts: &'a [u8],
}

impl<'a> Btf<'a> {
    /// Reads BTF; None if it is invalid.
    pub(super) fn read(data: &'a [u8]) -> Option<Btf<'a>> {
        if u16_at(data, 0)? != BTF_MAGIC {
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
                    BTF_KIND_INT | BTF_KIND_VAR | BTF_KIND_DECL_TAG => 4,
                    BTF_KIND_ARRAY => 12,
                    BTF_KIND_STRUCT | BTF_KIND_UNION | BTF_KIND_DATASEC | BTF_KIND_ENUM64 => 12 * count,
                    BTF_KIND_ENUM | BTF_KIND_FUNC_PROTO => 8 * count,
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

    /// Returns the structure of that name.
    pub(super) fn structure(&self, name: &str) -> Option<u32> {
        self.find(BTF_KIND_STRUCT, name)
    }

    /// Returns the function of that name.
    pub(super) fn function(&self, name: &str) -> Option<u32> {
        self.find(BTF_KIND_FUNC, name)
    }

    /// Returns a type without typedefs and qualifiers.
    pub(super) fn bare(&self, mut id: u32) -> u32 {
        while self.kind(id).is_some_and(|k| WRAPPERS.contains(&k)) {
            id = self.word(id, 8).unwrap_or(0);
        }
        id
    }

    /// Returns the size of a type, bytes.
    pub(super) fn size(&self, id: u32) -> Option<u32> {
        let id = self.bare(id);
        match self.kind(id)? {
            BTF_KIND_PTR => Some(8),
            BTF_KIND_ARRAY => Some(self.word(id, 20)? * self.size(self.word(id, 12)?)?),
            _ => self.word(id, 8),
        }
    }

    /// Returns the type of an array's elements.
    pub(super) fn element(&self, id: u32) -> Option<u32> {
        let id = self.bare(id);
        if self.kind(id)? == BTF_KIND_ARRAY { self.word(id, 12) } else { None }
    }

    fn member(&self, id: u32, n: u32) -> Option<(&'a str, Field)> {
        let info = self.word(id, 4)?;
        if ![BTF_KIND_STRUCT, BTF_KIND_UNION].contains(&(info >> 24 & 31)) || n >= info & 0xffff {
            return None;
        }
        let at = 12 + 12 * n as usize;
        let (name, kind, place) = (self.word(id, at)?, self.word(id, at + 4)?, self.word(id, at + 8)?);
        let (bit, bits) = if info >> 31 == 1 { (place & 0xff_ffff, place >> 24) } else { (place, 0) };
        Some((self.text(name), Field { kind, bit, bits }))
    }

    /// Returns the name and place of member `n` of a structure or union.
    pub(super) fn nth_member(&self, id: u32, n: u32) -> Option<(&'a str, Field)> {
        self.member(self.bare(id), n)
    }

    /// Returns the member of that name, also inside anonymous members.
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

    /// Returns the number of the member of that name; an anonymous member counts as one.
    pub(super) fn member_number(&self, id: u32, name: &str) -> Option<u32> {
        let id = self.bare(id);
        (0..).map_while(|n| self.member(id, n)).position(|(here, _)| here == name).map(|n| n as u32)
    }
}
