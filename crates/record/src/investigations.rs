//! The investigation log on disk: `investigations/NAME/ULID-KIND.toml`, a file an entry.
//!
//! A file is written once, under a unique name, and never again. Therefore two
//! branches that both write to an investigation never touch the same file, and git merges them
//! without a conflict. Pictures may lie beside the entries; whatever is no `.toml` is left alone.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use slowpath_core::investigation::{Entry, Investigation, What};
use ulid::Ulid;

use crate::error::RecordError;
use crate::files::Draft;
use crate::scenario::Mistake;

mod entry;
mod text;

use entry::Parsed;

/// Letters and digits of a ULID.
const ULID_LEN: usize = 26;

/// All investigations of a folder, and what is wrong with their files.
#[derive(Debug, Default)]
pub struct Book {
    /// Those that could be read, by name; an investigation in which a file is broken has the others.
    pub investigations: Vec<Investigation>,
    /// Everything that is wrong, by file and line.
    pub mistakes: Vec<Mistake>,
    /// Every run that an entry rests on, with its place: whether it is stored is known elsewhere.
    pub cited: Vec<Cited>,
}

/// A run that an entry rests on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cited {
    /// Its ULID.
    pub run: String,
    /// The entry's file.
    pub file: String,
    /// The line in it, from 1.
    pub line: usize,
}

/// Reads all investigations under a folder; one that is not there holds none.
///
/// # Errors
/// When the operating system refuses. What is wrong with the files is in the answer.
pub fn read_investigations(dir: &Path) -> Result<Book, RecordError> {
    let mut book = Book::default();
    for (name, path) in sorted(dir)? {
        if path.is_dir() && !name.starts_with('.') {
            read_one(&mut book, &name, &path)?;
        }
    }
    book.mistakes
        .sort_by(|a, b| (&a.file, a.line).cmp(&(&b.file, b.line)));
    Ok(book)
}

/// Reads the text of a single entry, whose file's name begins with `id`.
///
/// # Errors
/// Every mistake in it, in the order of lines; never an empty list.
pub fn parse_entry(text: &str, file: &str, id: &str) -> Result<Entry, Vec<Mistake>> {
    entry::parse(text, file, id).map(|parsed| parsed.entry)
}

/// The text of an entry's file.
pub fn entry_text(entry: &Entry) -> String {
    text::text(entry)
}

/// Writes a new entry of the investigation of that name, whole or not at all, and says where. The
/// first entry makes the folder.
///
/// # Errors
/// When the name is none, the entry is written already, or on I/O errors.
pub fn write_entry(dir: &Path, name: &str, entry: &Entry) -> Result<PathBuf, RecordError> {
    if !is_name(name) {
        let source = io::Error::new(
            io::ErrorKind::InvalidInput,
            "the name of an investigation is made of a-z, 0-9 and -",
        );
        return Err(RecordError::Io {
            action: "create",
            path: dir.join(name),
            source,
        });
    }
    let folder = dir.join(name);
    fs::create_dir_all(&folder).map_err(RecordError::io("create", &folder))?;
    let path = folder.join(format!("{}-{}.toml", entry.id, entry.what.kind()));
    if path.exists() {
        let source = io::Error::new(
            io::ErrorKind::AlreadyExists,
            "an entry is never written again",
        );
        return Err(RecordError::Io {
            action: "write",
            path,
            source,
        });
    }
    let mut draft = Draft::create(&path)?;
    draft
        .file()
        .write_all(text::text(entry).as_bytes())
        .map_err(RecordError::io("write", &path))?;
    draft.publish()?;
    Ok(path)
}

/// Whether a text may be the name of an investigation's folder, on any system and in any address.
pub fn is_name(text: &str) -> bool {
    let inside = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    !text.is_empty() && !text.starts_with('-') && !text.ends_with('-') && text.chars().all(inside)
}

/// The entries of a directory by name; none of one that is not there.
fn sorted(dir: &Path) -> Result<BTreeMap<String, PathBuf>, RecordError> {
    let entries = match fs::read_dir(dir) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(BTreeMap::new()),
        Err(error) => return Err(RecordError::io("read", dir)(error)),
    };
    let mut all = BTreeMap::new();
    for entry in entries {
        let entry = entry.map_err(RecordError::io("read", dir))?;
        let name = entry.file_name().to_string_lossy().into_owned();
        all.insert(name, entry.path());
    }
    Ok(all)
}

/// Reads the investigation in a folder.
fn read_one(book: &mut Book, name: &str, folder: &Path) -> Result<(), RecordError> {
    let mut all: Vec<(Parsed, String)> = Vec::new();
    let before = book.mistakes.len();
    let mut files = 0;
    for (file, path) in sorted(folder)? {
        if file.starts_with('.') || path.extension().is_none_or(|end| end != "toml") {
            continue;
        }
        files += 1;
        let shown = path.display().to_string();
        let Some(id) = id_of(&file) else {
            let remedy = "name it ULID-KIND.toml, or let slowpath log note write it";
            book.wrong(&shown, 1, "the name begins with no ULID", remedy);
            continue;
        };
        let bytes = fs::read(&path).map_err(RecordError::io("read", &path))?;
        let Ok(text) = String::from_utf8(bytes) else {
            book.wrong(&shown, 1, "this is no text in UTF-8", "save it as UTF-8");
            continue;
        };
        match entry::parse(&text, &shown, id) {
            Ok(parsed) => all.push((parsed, shown)),
            Err(mistakes) => book.mistakes.extend(mistakes),
        }
    }
    if files == 0 {
        return Ok(());
    }
    for (at, (parsed, file)) in all.iter().enumerate() {
        book.cite(parsed, file);
        book.references(parsed, file, &all[..at], &all, folder);
    }
    let mut investigation = Investigation {
        id: name.to_owned(),
        entries: all.into_iter().map(|(parsed, _)| parsed.entry).collect(),
    };
    investigation.sort();
    if investigation.opened().is_some() {
        book.investigations.push(investigation);
    } else if book.mistakes.len() == before {
        let shown = folder.display().to_string();
        let remedy = "write an entry with kind = \"opened\", as slowpath log new does";
        book.wrong(&shown, 1, "nothing opens this investigation", remedy);
    }
    Ok(())
}

/// The ULID with which a file's name begins.
fn id_of(file: &str) -> Option<&str> {
    let stem = file.strip_suffix(".toml")?;
    let id = stem.get(..ULID_LEN)?;
    let rest = &stem[ULID_LEN..];
    let is_id = Ulid::from_string(id).is_ok();
    (is_id && (rest.is_empty() || rest.starts_with('-'))).then_some(id)
}

impl Book {
    fn wrong(&mut self, file: &str, line: usize, what: &str, remedy: &str) {
        self.mistakes.push(Mistake {
            file: file.to_owned(),
            line,
            key: String::new(),
            what: what.to_owned(),
            remedy: remedy.to_owned(),
        });
    }

    fn cite(&mut self, parsed: &Parsed, file: &str) {
        for (run, line) in parsed.entry.runs.iter().zip(&parsed.runs) {
            self.cited.push(Cited {
                run: run.clone(),
                file: file.to_owned(),
                line: *line,
            });
        }
    }

    /// Notes what an entry says of others, and of files, that are not there.
    fn references(
        &mut self,
        parsed: &Parsed,
        file: &str,
        before: &[(Parsed, String)],
        all: &[(Parsed, String)],
        folder: &Path,
    ) {
        let entry = &parsed.entry;
        if before.iter().any(|(other, _)| other.entry.id == entry.id) {
            let remedy = "an entry has one file: remove this one, or give it a ULID of its own";
            self.wrong(file, 1, "another file begins with the same ULID", remedy);
        }
        for (figure, line) in entry.figures.iter().zip(&parsed.figures) {
            if !folder.join(figure).is_file() {
                let what = format!("figures: {figure:?} is not in this folder");
                self.wrong(file, *line, &what, "put it there, or remove the name");
            }
        }
        let Some(of) = entry.what.of() else { return };
        let meant = all.iter().find(|(other, _)| other.entry.id == of);
        let what = match meant.map(|(other, _)| &other.entry.what) {
            Some(What::Hypothesis(hypothesis)) => {
                let needs = matches!(entry.what, What::Outcome(_));
                if needs && hypothesis.prediction.is_none() {
                    format!("of: the hypothesis {of} predicts nothing")
                } else {
                    return;
                }
            }
            Some(other) => format!("of: {of} is no hypothesis (kind = {:?})", other.kind()),
            None => format!("of: no entry {of} is in this folder"),
        };
        let remedy = "write the id of a hypothesis of this investigation";
        self.wrong(file, parsed.of, &what, remedy);
    }
}
