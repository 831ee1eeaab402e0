//! Names of functions of CPython that distributions strip, from the types that it exports.
//!
//! The functions that visit what an object refers to are static, and called by the collector of cycles alone. Each stands in
//! the description of its type (`PyTypeObject`), and those of the built-in types are exported for extensions, so that they are
//! in the table of dynamic symbols, which stripping leaves.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;

use object::read::ReadCache;
use object::{Object, ObjectSection, ObjectSegment, ObjectSymbol, RelocationTarget, SectionKind};

/// Where the name of a type stands in `PyTypeObject`, its flags, and the function that visits its objects, in all 64-bit builds
/// since CPython 3.0 that have an interpreter's lock (`Include/cpython/object.h`).
const NAME_AT: u64 = 24;
const FLAGS_AT: u64 = 168;
const TRAVERSE_AT: u64 = 184;
/// `Py_TPFLAGS_HAVE_GC`: only types with this flag have such a function.
const HAVE_GC: u64 = 1 << 14;
/// The names of types are short words (`dict`, `collections.OrderedDict`).
const MOST_NAME_BYTES: u64 = 64;

/// The functions of a file that visit objects, by where they begin, called after their type: `PyDict_Type.tp_traverse`.
/// Empty if it is no CPython of that layout.
pub(super) fn visitors(file: &File) -> io::Result<BTreeMap<u64, String>> {
    let cache = ReadCache::new(file);
    let object = object::File::parse(&cache).map_err(io::Error::other)?;
    if !object.is_64() || !object.is_little_endian() {
        return Ok(BTreeMap::new());
    }
    let types = object.dynamic_symbols().filter(|symbol| {
        let name = symbol.name().unwrap_or_default();
        let is_type = name.trim_start_matches('_').starts_with("Py") && name.ends_with("_Type");
        is_type && symbol.is_definition() && symbol.size() >= TRAVERSE_AT + 8
    });
    let mut types: Vec<(&str, u64)> = types
        .filter_map(|symbol| Some((symbol.name().ok()?, symbol.address())))
        .collect();
    // Types may share a function: it is called after the same one each time.
    types.sort_unstable();
    let memory = Memory::of(&object, &types);
    let mut all = BTreeMap::new();
    for (name, at) in types {
        if let Some(function) = memory.visitor(at) {
            all.entry(function)
                .or_insert_with(|| format!("{name}.tp_traverse"));
        }
    }
    Ok(all)
}

/// What a file puts into memory when it is loaded.
struct Memory<'f, O> {
    object: &'f O,
    /// Words that the loader fills in with addresses of the file itself, near the types.
    filled: BTreeMap<u64, u64>,
}

impl<'d, 'f, O: Object<'d>> Memory<'f, O> {
    fn of(object: &'f O, types: &[(&str, u64)]) -> Self {
        let wanted = |at: u64| {
            let words = [NAME_AT, TRAVERSE_AT];
            words.iter().any(|word| {
                let begin = at.wrapping_sub(*word);
                types.iter().any(|(_, own)| *own == begin)
            })
        };
        let relocations = object.dynamic_relocations().into_iter().flatten();
        let own = relocations
            .filter(|(at, how)| how.target() == RelocationTarget::Absolute && wanted(*at));
        Self {
            object,
            filled: own.map(|(at, how)| (at, how.addend() as u64)).collect(),
        }
    }

    /// The function that visits objects of the type whose description begins at an address.
    fn visitor(&self, at: u64) -> Option<u64> {
        let has_gc = self.word(at + FLAGS_AT)? & HAVE_GC != 0;
        let function = self.word(at + TRAVERSE_AT)?;
        let name = self.word(at + NAME_AT)?;
        (has_gc && self.is_code(function) && self.is_name(name)).then_some(function)
    }

    fn word(&self, at: u64) -> Option<u64> {
        if let Some(filled) = self.filled.get(&at) {
            return Some(*filled);
        }
        let bytes = self.bytes(at, 8)?;
        Some(u64::from_le_bytes(bytes.try_into().ok()?))
    }

    fn bytes(&self, at: u64, count: u64) -> Option<&'d [u8]> {
        self.object
            .segments()
            .find_map(|segment| segment.data_range(at, count).ok().flatten())
    }

    fn is_code(&self, at: u64) -> bool {
        self.object.sections().any(|section| {
            let begin = section.address();
            section.kind() == SectionKind::Text && (begin..begin + section.size()).contains(&at)
        })
    }

    /// Whether a name stands there: elsewhere the layout is another one.
    fn is_name(&self, at: u64) -> bool {
        let mut lengths = (1..=MOST_NAME_BYTES).rev();
        let bytes = lengths.find_map(|count| self.bytes(at, count));
        let Some(bytes) = bytes else { return false };
        let end = bytes.iter().position(|byte| *byte == 0);
        let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || b"_.- ".contains(byte);
        end.is_some_and(|end| end > 0 && bytes[..end].iter().all(is_word))
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::process::Command;

    use super::*;

    fn visitors_of(path: &Path) -> BTreeMap<u64, String> {
        visitors(&File::open(path).unwrap()).unwrap()
    }

    #[test]
    fn the_visitors_of_types_are_named_after_them() {
        // A stripped library whose loader fills addresses in, and a type of another layout.
        let source = r#"
            typedef struct { void *head[3]; const char *name; void *rest[17]; unsigned long flags;
                const char *doc; void *traverse; void *more[4]; } Type;
            static int visit(void *self) { return self != 0; }
            static int other(void *self) { return self == 0; }
            Type PyDict_Type = { {0}, "dict", {0}, 0x20404440, 0, visit };
            Type PyLong_Type = { {0}, "int", {0}, 0x1400400, 0, 0 };
            Type PyOdd_Type = { {0}, 0, {0}, 1 << 14, 0, other };
        "#;
        let dir = tempfile::tempdir().unwrap();
        let (code, library) = (dir.path().join("types.c"), dir.path().join("types.so"));
        std::fs::write(&code, source).unwrap();
        let compiler = Command::new("cc")
            .args(["-shared", "-fPIC", "-O1", "-s", "-o"])
            .args([&library, &code])
            .status();
        if !compiler.is_ok_and(|status| status.success()) {
            eprintln!("skipped: no C compiler");
            return;
        }
        let named: Vec<String> = visitors_of(&library).into_values().collect();
        assert_eq!(named, ["PyDict_Type.tp_traverse"]);
    }

    #[test]
    fn what_is_no_interpreter_has_none() {
        assert!(visitors_of(&std::env::current_exe().unwrap()).is_empty());
    }
}
