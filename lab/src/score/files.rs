//! Reads what is to be measured and what must come of it: `lab/score/*.toml`, `cases/*/case.toml`
//! and `first-look/BATCH/*/case.toml`. Strict: every mistake at once, each with its file and line.

use std::fmt;
use std::fs;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Where a server comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// One of the lab's own.
    Lab,
    /// Software that others wrote.
    Case,
    /// The same, in a batch that is measured once.
    FirstLook,
}

/// One file.
#[derive(Debug)]
pub(crate) struct Suite {
    pub(crate) origin: Origin,
    /// `lab`, `cases` or `first-look/BATCH`.
    pub(crate) group: String,
    /// The cause (lab), or the folder (cases).
    pub(crate) name: String,
    /// The folder of the file.
    pub(crate) folder: PathBuf,
    /// What must be done before, once.
    pub(crate) recipe: Recipe,
    pub(crate) variants: Vec<Variant>,
}

/// What a case needs and how it is set up.
#[derive(Debug, Default)]
pub(crate) struct Recipe {
    /// The software, its version, and what is wrong with it, in a sentence.
    pub(crate) what: String,
    /// Programs that must be there.
    pub(crate) needs: Vec<String>,
    /// Commands, each once for each state of the folder.
    pub(crate) setup: Vec<Vec<String>>,
}

/// One run and what must come of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Variant {
    pub(crate) name: String,
    /// The first finding must be one of these; none: nothing about the server may be named.
    pub(crate) expects: Vec<String>,
    /// These must be found as well, at whatever place.
    pub(crate) also: Vec<String>,
    /// These are true as well.
    pub(crate) allows: Vec<String>,
    /// Why it is missed today, in a sentence.
    pub(crate) miss: Option<String>,
    /// What is really wrong, in a sentence.
    pub(crate) truth: Option<String>,
    /// What the first line of the attribution must say.
    pub(crate) line: Option<ExpectedLine>,
    #[serde(skip)]
    pub(crate) scenario: String,
}

impl Variant {
    /// Whether nothing is wrong with the server.
    pub(crate) fn is_healthy(&self) -> bool {
        self.expects.is_empty()
    }

    /// What must be found, each name once.
    pub(crate) fn wanted(&self) -> Vec<String> {
        let mut names = self.expects.clone();
        let others = self.also.iter().filter(|name| !self.expects.contains(name));
        names.extend(others.cloned());
        names
    }
}

/// What the first line of the attribution must say: one of the states, and one of the words in its
/// text or its culprit.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ExpectedLine {
    pub(crate) state: Vec<String>,
    pub(crate) words: Vec<String>,
}

/// What a request may wait for. A state may be said more closely: `disk-sync` is a `disk`.
const STATES: &[&str] = &[
    "on-cpu",
    "runnable",
    "lock",
    "interpreter",
    "queued",
    "reply",
    "sleep",
    "disk",
    "memory",
    "send-blocked",
    "paused",
    "retransmit",
    "delayed-ack",
    "handshake",
    "client-late",
    "unknown",
];

/// Whether a state is this one, or this one said more closely.
pub(crate) fn is_state(state: &str, expected: &str) -> bool {
    let rest = state.strip_prefix(expected);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
}

/// What is wrong with a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mistake {
    pub(crate) file: String,
    /// From 1.
    pub(crate) line: usize,
    pub(crate) what: String,
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.file, self.line, self.what)
    }
}

/// The suites of the lab and of the cases, or all that is wrong with them.
pub(crate) fn read_all(root: &Path) -> io::Result<Result<Vec<Suite>, Vec<Mistake>>> {
    let mut places = Vec::new();
    for entry in sorted(&root.join("lab/score"))? {
        if entry
            .extension()
            .is_some_and(|extension| extension == "toml")
        {
            places.push((Origin::Lab, "lab".to_owned(), entry));
        }
    }
    places.extend(cases(&root.join("cases"), Origin::Case, "cases")?);
    read(root, places)
}

/// The suites of a first-look batch in this folder, or all that is wrong with them.
pub(crate) fn read_batch(
    root: &Path,
    folder: &Path,
) -> io::Result<Result<Vec<Suite>, Vec<Mistake>>> {
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    let group = format!("first-look/{name}");
    read(root, cases(folder, Origin::FirstLook, &group)?)
}

/// The folders of all first-look batches below the root of the source tree.
pub(crate) fn batches(root: &Path) -> io::Result<Vec<PathBuf>> {
    let folder = root.join("first-look");
    if !folder.is_dir() {
        return Ok(Vec::new());
    }
    let mut all = sorted(&folder)?;
    all.retain(|entry| entry.is_dir());
    Ok(all)
}

fn cases(folder: &Path, origin: Origin, group: &str) -> io::Result<Vec<(Origin, String, PathBuf)>> {
    let files = sorted(folder)?
        .into_iter()
        .map(|entry| entry.join("case.toml"));
    let files = files.filter(|file| file.is_file());
    Ok(files.map(|file| (origin, group.to_owned(), file)).collect())
}

fn read(
    root: &Path,
    places: Vec<(Origin, String, PathBuf)>,
) -> io::Result<Result<Vec<Suite>, Vec<Mistake>>> {
    let (mut suites, mut mistakes) = (Vec::new(), Vec::new());
    for (origin, group, path) in places {
        let shown = path.strip_prefix(root).unwrap_or(&path).display();
        let text = fs::read_to_string(&path)?;
        match parse(&text, &shown.to_string(), origin) {
            Ok((recipe, variants)) => suites.push(Suite {
                origin,
                group,
                name: name_of(&path, origin),
                folder: path.parent().map(Path::to_path_buf).unwrap_or_default(),
                recipe,
                variants,
            }),
            Err(all) => mistakes.extend(all),
        }
    }
    Ok(if mistakes.is_empty() {
        Ok(suites)
    } else {
        Err(mistakes)
    })
}

fn sorted(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut all = Vec::new();
    for entry in fs::read_dir(folder)? {
        all.push(entry?.path());
    }
    all.sort();
    Ok(all)
}

fn name_of(path: &Path, origin: Origin) -> String {
    let named = match origin {
        Origin::Lab => path.file_stem(),
        Origin::Case | Origin::FirstLook => path.parent().and_then(Path::file_name),
    };
    named.unwrap_or_default().to_string_lossy().into_owned()
}

/// Reads one file; `file` is its name in messages.
pub(crate) fn parse(
    text: &str,
    file: &str,
    origin: Origin,
) -> Result<(Recipe, Vec<Variant>), Vec<Mistake>> {
    let mut notes = Notes::new(text, file);
    let (root, errors) = DeTable::parse_recoverable(text);
    for error in &errors {
        let at = error.span().map_or(text.len(), |span| span.start);
        notes.at(at, format!("this is no TOML: {}", error.message()));
    }
    let root = root.get_ref();
    let known: &[&str] = match origin {
        Origin::Lab => &["variant"],
        Origin::Case | Origin::FirstLook => &["what", "needs", "setup", "variant"],
    };
    notes.unknown(root, known);
    let mut recipe = Recipe::default();
    if origin != Origin::Lab {
        recipe.what = notes.text(root, "what", 0, true).unwrap_or_default();
        recipe.needs = notes.texts(root, "needs");
        recipe.setup = notes.commands(root, "setup");
    }
    let mut variants: Vec<Variant> = Vec::new();
    for (table, span) in notes.tables(root, "variant") {
        let variant = notes.variant(table, span.start, origin);
        if variants.iter().any(|other| other.name == variant.name) {
            let what = format!(
                "there are two variants {:?}; give one another name",
                variant.name
            );
            notes.at(span.start, what);
        }
        variants.push(variant);
    }
    if variants.is_empty() && errors.is_empty() {
        notes.at(0, "there is no [[variant]]; write at least one".to_owned());
    }
    if notes.mistakes.is_empty() {
        return Ok((recipe, variants));
    }
    notes.mistakes.sort_by_key(|mistake| mistake.line);
    Err(notes.mistakes)
}

const VARIANT_KEYS: &[&str] = &["name", "expects", "also", "allows", "miss", "scenario"];
/// Those that variants of public software may have as well.
const TRUTH_KEYS: &[&str] = &["truth", "line"];
/// What is noted of them for readers: the row of a list that the batch follows, and `named = false` where no name in the catalogue
/// fits, so that the first line alone is judged.
const NOTED_KEYS: &[&str] = &["mechanism", "named"];

/// The mistakes of a file, and on which line a byte of it stands.
struct Notes<'a> {
    text: &'a str,
    file: &'a str,
    mistakes: Vec<Mistake>,
}

impl<'a> Notes<'a> {
    fn new(text: &'a str, file: &'a str) -> Self {
        Self {
            text,
            file,
            mistakes: Vec::new(),
        }
    }

    fn line(&self, at: usize) -> usize {
        1 + self.text[..at.min(self.text.len())].matches('\n').count()
    }

    fn at(&mut self, at: usize, what: String) {
        let line = self.line(at);
        self.on(line, what);
    }

    fn on(&mut self, line: usize, what: String) {
        let file = self.file.to_owned();
        self.mistakes.push(Mistake { file, line, what });
    }

    fn unknown(&mut self, table: &DeTable<'_>, known: &[&str]) {
        for (key, _) in table {
            if !known.contains(&key.get_ref().as_ref()) {
                let keys = known.join(", ");
                let what = format!("{}: there is no such key; there are {keys}", key.get_ref());
                self.at(key.span().start, what);
            }
        }
    }

    /// A text under a key of the table that begins at `place`.
    fn text(&mut self, table: &DeTable<'_>, key: &str, place: usize, must: bool) -> Option<String> {
        let Some(value) = table.get(key) else {
            if must {
                self.at(place, format!("{key} is missing"));
            }
            return None;
        };
        match value.get_ref() {
            DeValue::String(text) if !text.trim().is_empty() => Some(text.to_string()),
            _ => {
                self.at(
                    value.span().start,
                    format!("{key} is a text that is not empty"),
                );
                None
            }
        }
    }

    fn texts(&mut self, table: &DeTable<'_>, key: &str) -> Vec<String> {
        table
            .get(key)
            .map_or_else(Vec::new, |value| self.list(value, key))
    }

    fn list(&mut self, value: &Spanned<DeValue<'_>>, key: &str) -> Vec<String> {
        let all = match value.get_ref() {
            DeValue::Array(all) => all.iter().map(|one| match one.get_ref() {
                DeValue::String(text) => Some(text.to_string()),
                _ => None,
            }),
            _ => return self.no_list(value, key),
        };
        match all.collect() {
            Some(texts) => texts,
            None => self.no_list(value, key),
        }
    }

    fn no_list(&mut self, value: &Spanned<DeValue<'_>>, key: &str) -> Vec<String> {
        self.at(
            value.span().start,
            format!("{key} is a list of texts, such as [\"a\", \"b\"]"),
        );
        Vec::new()
    }

    fn commands(&mut self, table: &DeTable<'_>, key: &str) -> Vec<Vec<String>> {
        let Some(value) = table.get(key) else {
            return Vec::new();
        };
        let DeValue::Array(all) = value.get_ref() else {
            let what = format!("{key} is a list of commands, each a list of texts");
            self.at(value.span().start, what);
            return Vec::new();
        };
        let commands: Vec<_> = all.iter().map(|one| self.list(one, key)).collect();
        if commands.iter().any(Vec::is_empty) {
            self.at(
                value.span().start,
                format!("{key} has a command of no words"),
            );
        }
        commands
    }

    fn tables<'t, 'i>(
        &mut self,
        root: &'t DeTable<'i>,
        key: &str,
    ) -> Vec<(&'t DeTable<'i>, Range<usize>)> {
        let Some(value) = root.get(key) else {
            return Vec::new();
        };
        let mut tables = Vec::new();
        if let DeValue::Array(all) = value.get_ref() {
            for one in all {
                if let DeValue::Table(table) = one.get_ref() {
                    tables.push((table, one.span()));
                }
            }
            if tables.len() == all.len() {
                return tables;
            }
        }
        self.at(
            value.span().start,
            format!("write [[{key}]] for each {key}"),
        );
        tables
    }

    fn variant(&mut self, table: &DeTable<'_>, place: usize, origin: Origin) -> Variant {
        let mut keys = VARIANT_KEYS.to_vec();
        if origin != Origin::Lab {
            keys.extend(TRUTH_KEYS);
            keys.extend(NOTED_KEYS);
        }
        self.unknown(table, &keys);
        if !table.contains_key("expects") {
            let what = "expects is missing; for a healthy server it is []".to_owned();
            self.at(place, what);
        }
        let variant = Variant {
            name: self.text(table, "name", place, true).unwrap_or_default(),
            expects: self.causes(table, "expects"),
            also: self.causes(table, "also"),
            allows: self.causes(table, "allows"),
            miss: self.text(table, "miss", place, false),
            truth: self.text(table, "truth", place, false),
            line: self.expected_line(table),
            scenario: self
                .text(table, "scenario", place, true)
                .unwrap_or_default(),
        };
        if variant.expects.is_empty() && !variant.also.is_empty() {
            let what = "also is for what is found beside what is expected; fill expects first";
            self.at(place, what.to_owned());
        }
        if table.contains_key("expects") {
            let named = table
                .get("named")
                .and_then(|value| value.get_ref().as_bool());
            let is_nameless = named == Some(false);
            self.truth(table, place, origin, variant.is_healthy() && !is_nameless);
        }
        self.scenario(table);
        variant
    }

    /// A sick variant of a first look says what is true; a healthy one has no line to expect.
    fn truth(&mut self, table: &DeTable<'_>, place: usize, origin: Origin, is_healthy: bool) {
        if let Some(value) = table.get("line").filter(|_| is_healthy) {
            let what = "line is for a sick variant; a healthy one has none";
            self.at(value.span().start, what.to_owned());
        }
        if origin == Origin::FirstLook && !is_healthy {
            for key in TRUTH_KEYS.iter().filter(|key| !table.contains_key(**key)) {
                let what = format!("{key} is missing; a sick variant of a first look needs it");
                self.at(place, what);
            }
        }
    }

    fn expected_line(&mut self, table: &DeTable<'_>) -> Option<ExpectedLine> {
        let value = table.get("line")?;
        let place = value.span().start;
        let DeValue::Table(line) = value.get_ref() else {
            let what = "line is { state = [\"queued\"], words = [\"gunicorn\"] }";
            self.at(place, what.to_owned());
            return None;
        };
        self.unknown(line, &["state", "words"]);
        for key in ["state", "words"] {
            let is_empty = |one: &Spanned<DeValue<'_>>| {
                one.get_ref().as_array().is_some_and(|all| all.is_empty())
            };
            if line.get(key).is_none_or(is_empty) {
                self.at(place, format!("line has no {key}; list at least one"));
            }
        }
        let (state, words) = (self.texts(line, "state"), self.texts(line, "words"));
        for one in &state {
            if !STATES.iter().any(|known| is_state(one, known)) {
                let known = STATES.join(", ");
                let what = format!("line: there is no state {one:?}; there are {known}");
                self.at(place, what);
            }
        }
        if words.iter().any(|word| word.trim().is_empty()) {
            self.at(
                place,
                "line: a word is empty, and fits every line".to_owned(),
            );
        }
        Some(ExpectedLine { state, words })
    }

    /// Names of causes: words of small letters with dashes between them.
    fn causes(&mut self, table: &DeTable<'_>, key: &str) -> Vec<String> {
        let names = self.texts(table, key);
        let is_word = |word: &str| !word.is_empty() && word.bytes().all(|b| b.is_ascii_lowercase());
        for name in &names {
            if !name.split('-').all(is_word) {
                let place = table.get(key).map_or(0, |value| value.span().start);
                self.at(place, format!("{key}: {name:?} is no name of a cause"));
            }
        }
        names
    }

    /// The scenario must be TOML, whatever slowpath says of it later.
    fn scenario(&mut self, table: &DeTable<'_>) {
        let Some(value) = table.get("scenario") else {
            return;
        };
        let DeValue::String(text) = value.get_ref() else {
            return;
        };
        let span = value.span();
        let is_long = self.text[span.clone()].starts_with("'''\n")
            || self.text[span.clone()].starts_with("\"\"\"\n");
        let first = self.line(span.start) + usize::from(is_long);
        for error in DeTable::parse_recoverable(text).1 {
            let at = error.span().map_or(text.len(), |span| span.start);
            let line = first + text[..at.min(text.len())].matches('\n').count();
            self.on(
                line,
                format!("the scenario is no TOML: {}", error.message()),
            );
        }
    }
}

#[cfg(test)]
mod tests;
