//! Tables of a scenario and the mistakes found in them.

use std::cell::RefCell;
use std::path::Path;

use toml::de::{DeTable, DeValue};

use super::value::Value;
use super::{Mistake, keys};

/// Collects mistakes while a scenario is read, and knows on which line a byte stands.
pub(crate) struct Notes<'a> {
    file: &'a str,
    line_starts: Vec<usize>,
    noted: RefCell<Vec<Noted>>,
}

struct Noted {
    mistake: Mistake,
    about: About,
}

/// What a mistake is about. After a syntax error only part of the file is understood, so that what
/// seems to be missing or to contradict something else may be neither.
#[derive(Clone, Copy, PartialEq, Eq)]
enum About {
    Syntax,
    OneValue,
    TheWhole,
    OtherFile,
}

impl<'a> Notes<'a> {
    pub(crate) fn new(file: &'a str, text: &str) -> Self {
        let starts = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        let line_starts = std::iter::once(0)
            .chain(starts.map(|(at, _)| at + 1))
            .collect();
        Self {
            file,
            line_starts,
            noted: RefCell::default(),
        }
    }

    pub(super) fn line(&self, at: usize) -> usize {
        self.line_starts.partition_point(|start| *start <= at)
    }

    pub(crate) fn syntax(&self, at: usize, what: &str) {
        let remedy = "this is no TOML; see https://toml.io".to_owned();
        self.note(About::Syntax, self.line(at), "", what.to_owned(), remedy);
    }

    /// A mistake in one value, whatever else the file says.
    pub(super) fn value(&self, line: usize, key: &str, what: String, remedy: String) {
        self.note(About::OneValue, line, key, what, remedy);
    }

    /// A mistake in another file, which the value of `key` names.
    pub(super) fn elsewhere(
        &self,
        file: &Path,
        line: usize,
        key: &str,
        what: String,
        remedy: String,
    ) {
        let mistake = Mistake {
            file: file.display().to_string(),
            line,
            key: key.to_owned(),
            what,
            remedy,
        };
        let about = About::OtherFile;
        self.noted.borrow_mut().push(Noted { mistake, about });
    }

    /// A mistake that depends on what the rest of the file says.
    pub(super) fn whole(&self, line: usize, key: &str, what: String, remedy: String) {
        self.note(About::TheWhole, line, key, what, remedy);
    }

    fn note(&self, about: About, line: usize, key: &str, what: String, remedy: String) {
        let file = self.file.to_owned();
        let mistake = Mistake {
            file,
            line,
            key: key.to_owned(),
            what,
            remedy,
        };
        self.noted.borrow_mut().push(Noted { mistake, about });
    }

    /// Whether something is wrong with the value of `key`, or inside it.
    pub(crate) fn has(&self, key: &str) -> bool {
        let inside = |noted: &str| noted.strip_prefix(key).is_some_and(|rest| !is_word(rest));
        self.noted
            .borrow()
            .iter()
            .any(|noted| inside(&noted.mistake.key))
    }

    /// Everything noted, by line, once each.
    pub(crate) fn into_mistakes(self) -> Vec<Mistake> {
        let mut noted = self.noted.into_inner();
        let mut broken: Vec<usize> = noted
            .iter()
            .filter(|noted| noted.about == About::Syntax)
            .map(|noted| noted.mistake.line)
            .collect();
        broken.dedup();
        noted.retain(|noted| match noted.about {
            About::Syntax | About::OtherFile => true,
            About::OneValue => !broken.contains(&noted.mistake.line),
            About::TheWhole => broken.is_empty(),
        });
        let mut mistakes: Vec<Mistake> = Vec::new();
        for Noted { mistake, about } in noted {
            let said = |before: &Mistake| {
                *before == mistake || (about == About::Syntax && before.line == mistake.line)
            };
            if !mistakes.iter().any(said) {
                mistakes.push(mistake);
            }
        }
        mistakes.sort_by_key(|mistake| (mistake.file != self.file, mistake.line));
        mistakes
    }
}

fn is_word(rest: &str) -> bool {
    rest.starts_with(|c: char| c.is_alphanumeric() || c == '_' || c == '-')
}

/// A table with its place in the scenario.
pub(crate) struct Table<'a> {
    notes: &'a Notes<'a>,
    /// The path as messages say it: `pools.topics`.
    path: String,
    /// The path with [`keys::ANY`] in place of the user's names: `pools.*`.
    kind: String,
    line: usize,
    entries: &'a DeTable<'a>,
}

impl<'a> Table<'a> {
    pub(super) fn root(notes: &'a Notes<'a>, entries: &'a DeTable<'a>) -> Self {
        Self::new(notes, String::new(), String::new(), 1, entries)
    }

    /// Looks at a table; notes keys that are unknown or not carried out yet.
    pub(crate) fn new(
        notes: &'a Notes<'a>,
        path: String,
        kind: String,
        line: usize,
        entries: &'a DeTable<'a>,
    ) -> Self {
        let table = Self {
            notes,
            path,
            kind,
            line,
            entries,
        };
        for (name, value) in table.entries() {
            if let Some(known) = keys::of(&table.kind)
                && !known.contains(&name)
            {
                let remedy = match keys::nearest(name, known) {
                    Some(near) => format!("did you mean {near}?"),
                    None => format!("known here: {}", known.join(", ")),
                };
                value.wrong("unknown key", remedy);
            }
        }
        table
    }

    pub(crate) fn has(&self, key: &str) -> bool {
        self.entries.contains_key(key)
    }

    pub(crate) fn get(&self, key: &str) -> Option<Value<'a>> {
        debug_assert!(
            keys::of(&self.kind).is_some_and(|known| known.contains(&key)),
            "{key} is read from {:?} but not listed there",
            self.kind
        );
        let (key, value) = self.entries.get_key_value(key)?;
        Some(self.value(key.get_ref(), key.span().start, value.get_ref()))
    }

    /// The value of a key that must be there.
    pub(crate) fn required(&self, key: &str, remedy: &str) -> Option<Value<'a>> {
        let value = self.get(key);
        if value.is_none() {
            let path = joined(&self.path, key);
            self.notes
                .whole(self.line, &path, "missing".to_owned(), remedy.to_owned());
        }
        value
    }

    /// Notes that something about the table as a whole is wrong.
    pub(super) fn wrong(&self, what: &str, remedy: &str) {
        self.notes
            .whole(self.line, &self.path, what.to_owned(), remedy.to_owned());
    }

    /// Notes that a key, there or missing, cannot be with the others, unless its value is wrong by
    /// itself.
    pub(crate) fn contradiction(&self, key: &str, what: &str, remedy: &str) {
        let path = joined(&self.path, key);
        let line = self.get(key).map_or(self.line, |value| value.line());
        if !self.notes.has(&path) {
            self.notes
                .whole(line, &path, what.to_owned(), remedy.to_owned());
        }
    }

    /// Notes that a key of a table that is not written cannot be as it is by default.
    pub(super) fn contradiction_without_table(&self, path: &str, what: &str, remedy: &str) {
        if !self.notes.has(path) {
            self.notes
                .whole(self.line, path, what.to_owned(), remedy.to_owned());
        }
    }

    /// All entries in the order written.
    pub(super) fn entries(&self) -> Vec<(&'a str, Value<'a>)> {
        let mut entries: Vec<_> = self.entries.iter().collect();
        entries.sort_by_key(|(key, _)| key.span().start);
        let entry = |(key, value): (&'a toml::Spanned<_>, &'a toml::Spanned<_>)| {
            let name: &std::borrow::Cow<'a, str> = key.get_ref();
            (
                name.as_ref(),
                self.value(name, key.span().start, value.get_ref()),
            )
        };
        entries.into_iter().map(entry).collect()
    }

    /// The table under a key; `None` when it is missing or no table, which is noted.
    pub(crate) fn child(&self, key: &str) -> Option<Table<'a>> {
        self.get(key)?.table()
    }

    /// The tables of an array of tables; what is none is noted.
    pub(super) fn tables(&self, key: &str) -> Vec<Table<'a>> {
        let Some(value) = self.get(key) else {
            return Vec::new();
        };
        if value.is_table() {
            value.wrong("there may be several", format!("write [[{key}]]"));
            return Vec::new();
        }
        value
            .array()
            .unwrap_or_default()
            .iter()
            .filter_map(Value::table)
            .collect()
    }

    /// The `name` of the table, empty where it has none.
    pub(super) fn name_or_empty(&self) -> String {
        self.get("name")
            .and_then(|value| value.as_str())
            .unwrap_or_default()
            .to_owned()
    }

    fn value(&self, key: &str, at: usize, value: &'a DeValue<'a>) -> Value<'a> {
        let any = keys::of(&self.kind).is_none();
        let kind = joined(&self.kind, if any { keys::ANY } else { key });
        Value::new(
            self.notes,
            joined(&self.path, key),
            kind,
            self.notes.line(at),
            value,
        )
    }
}

fn joined(path: &str, key: &str) -> String {
    if path.is_empty() {
        key.to_owned()
    } else {
        format!("{path}.{key}")
    }
}
