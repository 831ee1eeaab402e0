//! Where the fields of Go's own structures lie, by the debug information of a program: for versions of Go that are newer than the
//! table ([`super::layout`]).

use std::collections::BTreeMap;
use std::fs::File;

use gimli::{
    AttributeValue, DW_AT_byte_size, DW_AT_data_member_location, DW_AT_name, DW_TAG_member,
    DW_TAG_structure_type, DebuggingInformationEntry, Dwarf, DwarfSections, EndianSlice,
    NativeEndian, Operation, Unit,
};

use crate::symbols::{SectionBytes, section, unbroken};

type Slice<'b> = EndianSlice<'b, NativeEndian>;

/// The structures that are looked for.
const STRUCTURES: [&str; 6] = [
    "runtime.g",
    "runtime.gobuf",
    "runtime.sudog",
    "runtime.hchan",
    "runtime.timer",
    "runtime.pollDesc",
];

/// The size of a structure, and where its fields lie in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Structure {
    pub(super) bytes: usize,
    fields: BTreeMap<String, usize>,
}

impl Structure {
    /// Where a field lies.
    pub(super) fn field(&self, name: &str) -> Option<usize> {
        self.fields.get(name).copied()
    }
}

/// The structures of a program, by name.
pub(super) type Structures = BTreeMap<&'static str, Structure>;

/// Reads the structures from the debug information of a program; those that it does not have are left out.
pub(super) fn structures(file: &File) -> Structures {
    let mut found = Structures::new();
    // What a program says of itself may be broken; then nothing more is known.
    let _ = unbroken(|| read(file, &mut found));
    found
}

fn read(file: &File, found: &mut Structures) -> gimli::Result<()> {
    let sections = DwarfSections::<SectionBytes>::load(|id| {
        let bytes = section(file, id.name()).ok().flatten();
        Ok::<_, gimli::Error>(bytes.unwrap_or_else(|| Vec::new().into()))
    })?;
    let dwarf = sections.borrow(|bytes| EndianSlice::new(bytes, NativeEndian));
    let mut units = dwarf.units();
    while let Some(header) = units.next()? {
        let unit = dwarf.unit(header)?;
        of_unit(&dwarf, &unit, found)?;
        if found.len() == STRUCTURES.len() {
            break;
        }
    }
    Ok(())
}

fn of_unit<'b>(
    dwarf: &Dwarf<Slice<'b>>,
    unit: &Unit<Slice<'b>>,
    found: &mut Structures,
) -> gimli::Result<()> {
    let mut entries = unit.entries();
    // The structure whose members follow, and how deep it lies.
    let mut own: Option<(&'static str, isize)> = None;
    while let Some(entry) = entries.next_dfs()? {
        let depth = entry.depth();
        if own.is_some_and(|(_, of)| depth <= of) {
            own = None;
            if found.len() == STRUCTURES.len() {
                return Ok(());
            }
        }
        let name = || {
            let name = dwarf
                .attr_string(unit, entry.attr_value(DW_AT_name)?)
                .ok()?;
            std::str::from_utf8(name.slice()).ok()
        };
        if entry.tag() == DW_TAG_structure_type {
            let known = name().and_then(|name| STRUCTURES.iter().find(|own| **own == name));
            if let Some(known) = known.filter(|known| !found.contains_key(**known)) {
                let bytes = entry.attr_value(DW_AT_byte_size);
                let bytes = bytes.and_then(|value| value.udata_value()).unwrap_or(0);
                let structure = Structure {
                    bytes: bytes as usize,
                    ..Structure::default()
                };
                found.insert(known, structure);
                own = Some((known, depth));
            }
        } else if entry.tag() == DW_TAG_member
            && let Some((structure, of)) = own
            && depth == of + 1
            && let (Some(name), Some(at)) = (name(), location(unit, entry))
            && let Some(structure) = found.get_mut(structure)
        {
            structure.fields.insert(name.to_owned(), at);
        }
    }
    Ok(())
}

/// Where a member lies: a number, or an expression that adds one.
fn location(unit: &Unit<Slice<'_>>, entry: &DebuggingInformationEntry<Slice<'_>>) -> Option<usize> {
    let value = entry.attr_value(DW_AT_data_member_location)?;
    if let AttributeValue::Exprloc(expression) = value {
        let mut operations = expression.operations(unit.encoding());
        return match operations.next().ok()?? {
            Operation::PlusConstant { value } | Operation::UnsignedConstant { value } => {
                usize::try_from(value).ok()
            }
            _ => None,
        };
    }
    usize::try_from(value.udata_value()?).ok()
}

#[cfg(test)]
impl Structure {
    /// One of these fields.
    pub(super) fn with(bytes: usize, fields: &[(&str, usize)]) -> Self {
        let fields = fields.iter().map(|(name, at)| ((*name).to_owned(), *at));
        Self {
            bytes,
            fields: fields.collect(),
        }
    }
}
