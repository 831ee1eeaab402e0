//! The names that a Go program carries for its own tracebacks, which stripping leaves
//! (`runtime.pclntab`; its layout stands in `src/runtime/symtab.go` and `src/debug/gosym` of Go).

use std::io;

use super::elf;
use super::modules::Module;

/// The table's first word since Go 1.18 and since Go 1.20; earlier ones are laid out otherwise.
const MAGICS: [u32; 2] = [0xffff_fff0, 0xffff_fff1];
/// What the section is called, in programs at a fixed address and in others.
const SECTIONS: [&str; 2] = [".gopclntab", ".data.rel.ro.gopclntab"];
/// Where in the header, in words after the first eight bytes, the number of functions stands.
const FUNCTIONS: usize = 0;
/// The address of the code; zero since Go 1.26, and in programs that may lie anywhere.
const TEXT: usize = 2;
/// The offset of the names.
const NAMES: usize = 3;
/// The offset of the functions.
const TABLE: usize = 7;
/// Bytes of a function's entry in the table: its offset in the code, and that of its description.
const ENTRY_BYTES: usize = 8;
/// Names are cut here: those of generic functions hold the names of their types.
const MOST_NAME_BYTES: usize = 1024;

/// Names of the functions of a Go program.
#[derive(Clone, Debug)]
pub struct GoTable {
    bytes: elf::Bytes,
    text: u64,
    functions: usize,
    names: usize,
    table: usize,
}

impl GoTable {
    /// Reads the table of a program; nothing if it has none.
    pub(super) fn of(module: &Module) -> io::Result<Option<Self>> {
        let Some((bytes, text)) = elf::go_sections(&module.file, &SECTIONS)? else {
            return Ok(None);
        };
        Ok(Self::parse(bytes, text))
    }

    /// Understands a table whose code begins at `text` (0: not known) unless it says itself. Nothing
    /// if it is none that Go has written since 1.18 for a 64-bit machine, or if neither is known.
    pub fn parse(bytes: std::sync::Arc<[u8]>, text: u64) -> Option<Self> {
        let magic = u32_at(&bytes, 0)?;
        let word_bytes = *bytes.get(7)?;
        if !MAGICS.contains(&magic) || word_bytes != 8 {
            return None;
        }
        let word = |number: usize| {
            let word = bytes.get(8 + 8 * number..16 + 8 * number)?;
            Some(u64::from_ne_bytes(word.try_into().ok()?))
        };
        let offset = |number| word(number).and_then(|word| usize::try_from(word).ok());
        let text = Some(word(TEXT)?)
            .filter(|stated| *stated != 0)
            .unwrap_or(text);
        if text == 0 {
            return None;
        }
        let functions = offset(FUNCTIONS)?;
        let table = offset(TABLE)?;
        // After the last entry stands where its code ends.
        let end = functions.checked_mul(ENTRY_BYTES)?.checked_add(4)?;
        bytes.get(table..table.checked_add(end)?)?;
        Some(Self {
            functions,
            names: offset(NAMES)?,
            table,
            text,
            bytes,
        })
    }

    /// The function at an address, as the program's file counts.
    pub fn name(&self, at: u64) -> Option<String> {
        let offset = u32::try_from(at.checked_sub(self.text)?).ok()?;
        let which = self.behind(offset).checked_sub(1)?;
        if which >= self.functions {
            return None;
        }
        let entry = self.table + which * ENTRY_BYTES;
        let described = u32_at(&self.bytes, entry + 4)? as usize;
        let described = self.table.checked_add(described)?;
        let name = u32_at(&self.bytes, described.checked_add(4)?)? as usize;
        let bytes = self.bytes.get(self.names.checked_add(name)?..)?;
        let most = bytes.len().min(MOST_NAME_BYTES);
        let end = bytes[..most].iter().position(|b| *b == 0).unwrap_or(most);
        (end > 0).then(|| String::from_utf8_lossy(&bytes[..end]).into_owned())
    }

    /// How many entries begin at an offset of the code or before it; the one after the last
    /// function counts.
    fn behind(&self, offset: u32) -> usize {
        let (mut low, mut high) = (0, self.functions + 1);
        while low < high {
            let middle = low + (high - low) / 2;
            let begins = u32_at(&self.bytes, self.table + middle * ENTRY_BYTES);
            if begins.is_some_and(|begins| begins <= offset) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    let word = bytes.get(at..at.checked_add(4)?)?;
    Some(u32::from_ne_bytes(word.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::process::Command;
    use std::sync::Arc;

    use object::{Object, ObjectSymbol, SymbolKind};
    use proptest::prelude::*;

    use super::*;

    /// A table of functions that begin at the given offsets of the code, the last at its end.
    fn table(stated_text: u64, begins: &[u32], names: &[&str]) -> Arc<[u8]> {
        let mut text = Vec::new();
        let mut described = Vec::new();
        let entries = begins.len() * ENTRY_BYTES;
        let mut entry = Vec::new();
        for (begin, name) in begins.iter().zip(names) {
            entry.extend(begin.to_ne_bytes());
            entry.extend(((entries + described.len()) as u32).to_ne_bytes());
            described.extend(begin.to_ne_bytes());
            described.extend((text.len() as u32).to_ne_bytes());
            text.extend(name.as_bytes());
            text.push(0);
        }
        entry.extend(begins[names.len()].to_ne_bytes());
        entry.extend([0; 4]);
        let names_at = 72_u64;
        let table_at = names_at + text.len() as u64;
        let mut bytes = MAGICS[1].to_ne_bytes().to_vec();
        bytes.extend([0, 0, 1, 8]);
        let words = [
            names.len() as u64,
            1,
            stated_text,
            names_at,
            0,
            0,
            0,
            table_at,
        ];
        bytes.extend(words.iter().flat_map(|word| word.to_ne_bytes()));
        bytes.extend(text);
        bytes.extend(entry);
        bytes.extend(described);
        bytes.into()
    }

    #[test]
    fn an_address_has_the_name_of_the_function_it_lies_in() {
        let bytes = table(
            0,
            &[0, 0x40, 0x100, 0x180],
            &["main.main", "main.(*T).f", "x"],
        );
        let go = GoTable::parse(bytes, 0x40_1000).unwrap();
        let name = |at| go.name(at);
        assert_eq!(name(0x40_0fff), None);
        assert_eq!(name(0x40_1000).as_deref(), Some("main.main"));
        assert_eq!(name(0x40_103f).as_deref(), Some("main.main"));
        assert_eq!(name(0x40_1040).as_deref(), Some("main.(*T).f"));
        assert_eq!(name(0x40_117f).as_deref(), Some("x"));
        assert_eq!(name(0x40_1180), None);
    }

    #[test]
    fn a_table_may_say_where_the_code_begins() {
        assert!(GoTable::parse(table(0, &[0, 0x10], &["f"]), 0).is_none());
        let go = GoTable::parse(table(0x7000, &[0, 0x10], &["f"]), 0x1000).unwrap();
        assert_eq!(go.name(0x7008).as_deref(), Some("f"));
        assert_eq!(go.name(0x1008), None);
    }

    /// Go's own tool was not stripped: both give the same.
    #[test]
    fn it_tells_what_the_symbols_of_a_program_tell() {
        let told = Command::new("go").args(["env", "GOROOT"]).output();
        let root = told.map(|told| String::from_utf8_lossy(&told.stdout).trim().to_owned());
        let Ok(bytes) = root.and_then(|root| std::fs::read(format!("{root}/bin/go"))) else {
            println!("skipped: no go");
            return;
        };
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&bytes).unwrap();
        let (table, text) = elf::go_sections(&file, &SECTIONS).unwrap().unwrap();
        let go = GoTable::parse(table, text).unwrap();
        let object = object::File::parse(&*bytes).unwrap();
        let mut compared = 0;
        for symbol in object.symbols().filter(|s| s.kind() == SymbolKind::Text) {
            // Of functions that are compiled for several types, several have one name.
            let name = symbol.name().unwrap();
            let own = ["main.", "cmd/go/"].iter().any(|p| name.starts_with(p));
            if own && symbol.size() > 0 && !name.contains('[') {
                let last = symbol.address() + symbol.size() - 1;
                assert_eq!(go.name(symbol.address()).as_deref(), Some(name));
                assert_eq!(go.name(last).as_deref(), Some(name));
                compared += 1;
            }
        }
        println!("{compared} functions are called the same");
        assert!(compared > 0 || object.symbols().next().is_none());
    }

    proptest! {
        #[test]
        fn broken_tables_tell_nothing_wrong(
            at in 0..200_usize, value: u8, cut in 0..200_usize, address in 0..0x200_u64,
        ) {
            let mut bytes = table(0, &[0, 0x40, 0x100, 0x180], &["a", "b", "c"]).to_vec();
            if let Some(byte) = bytes.get_mut(at) {
                *byte = value;
            }
            bytes.truncate(bytes.len().saturating_sub(cut));
            if let Some(go) = GoTable::parse(bytes.into(), 0x10) {
                let _ = go.name(address);
            }
        }
    }
}
