//! Reads sections and relocations of a 64-bit little-endian ELF object [elf(5)].

use super::bytes::{u16_at, u32_at, u64_at};

const SHT_REL: u32 = 9;
const HEADER: usize = 64;

/// A section.
pub(super) struct Section<'a> {
    pub(super) name: &'a str,
    pub(super) data: &'a [u8],
    kind: u32,
    /// `sh_info`: for relocations, the number of their section.
    target: usize,
}

/// A reference to a symbol in a section.
pub(super) struct Relocation<'a> {
    pub(super) at: usize,
    /// Its name; empty for a section symbol.
    pub(super) symbol: &'a str,
    /// Number of its section; 0: undefined in this object.
    pub(super) section: usize,
    /// Its offset there.
    pub(super) value: u64,
}

/// An object.
pub(super) struct Elf<'a> {
    pub(super) sections: Vec<Section<'a>>,
    symbols: &'a [u8],
    names: &'a [u8],
}

/// Returns the zero-terminated string at an offset.
pub(super) fn text(bytes: &[u8], at: usize) -> &str {
    let rest = bytes.get(at..).unwrap_or(&[]);
    let end = rest.iter().position(|b| *b == 0).unwrap_or(rest.len());
    std::str::from_utf8(&rest[..end]).unwrap_or("")
}

impl<'a> Elf<'a> {
    /// Reads an object; None if it is invalid.
    pub(super) fn read(file: &'a [u8]) -> Option<Elf<'a>> {
        if file.get(..6)? != [0x7f, b'E', b'L', b'F', 2, 1] {
            return None;
        }
        let (start, count, names_in) = (u64_at(file, 40)? as usize, u16_at(file, 60)?, u16_at(file, 62)?);
        let header = |n: usize| file.get(start + n * HEADER..start + (n + 1) * HEADER);
        let content = |h: &[u8]| {
            let (from, length) = (u64_at(h, 24)? as usize, u64_at(h, 32)? as usize);
            file.get(from..from.checked_add(length)?)
        };
        let names = content(header(names_in.into())?)?;
        let mut sections = Vec::new();
        let mut symbols = (&file[..0], &file[..0]);
        for n in 0..usize::from(count) {
            let h = header(n)?;
            let data = content(h).unwrap_or(&[]);
            let name = text(names, u32_at(h, 0)? as usize);
            let section = Section { name, data, kind: u32_at(h, 4)?, target: u32_at(h, 44)? as usize };
            if name == ".symtab" {
                symbols = (data, content(header(u32_at(h, 40)? as usize)?)?);
            }
            sections.push(section);
        }
        Some(Elf { sections, symbols: symbols.0, names: symbols.1 })
    }

    pub(super) fn section(&self, name: &str) -> Option<&Section<'a>> {
        self.sections.iter().find(|s| s.name == name)
    }

    /// Returns the relocations of a section.
    pub(super) fn relocations(&self, section: &str) -> Vec<Relocation<'a>> {
        let Some(number) = self.sections.iter().position(|s| s.name == section) else { return Vec::new() };
        let of_it = self.sections.iter().filter(|s| s.kind == SHT_REL && s.target == number);
        of_it.flat_map(|s| s.data.chunks_exact(16)).filter_map(|r| self.relocation(r)).collect()
    }

    fn relocation(&self, record: &[u8]) -> Option<Relocation<'a>> {
        const ENTRY: usize = 24;
        let symbol = self.symbols.get((u64_at(record, 8)? >> 32) as usize * ENTRY..)?;
        Some(Relocation {
            at: u64_at(record, 0)? as usize,
            symbol: text(self.names, u32_at(symbol, 0)? as usize),
            section: u16_at(symbol, 6)?.into(),
            value: u64_at(symbol, 8)?,
        })
    }
}
