//! Reads what is to be measured and what must come of it: `lab/score/*.toml` and
//! `cases/*/case.toml`. Strict: every mistake at once, each with its file and line.

use std::fmt;
use std::fs;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};

use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Where a server comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// One of the lab's own.
    Lab,
    /// Software that others wrote.
    Case,
}

/// One file.
#[derive(Debug)]
pub(crate) struct Suite {
    pub(crate) origin: Origin,
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
#[derive(Debug, Default)]
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
    pub(crate) scenario: String,
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

/// All suites below the root of the source tree, by origin and name, or all that is wrong with them.
pub(crate) fn read_all(root: &Path) -> io::Result<Result<Vec<Suite>, Vec<Mistake>>> {
    let mut places = Vec::new();
    for entry in sorted(&root.join("lab/score"))? {
        if entry
            .extension()
            .is_some_and(|extension| extension == "toml")
        {
            places.push((Origin::Lab, entry));
        }
    }
    for entry in sorted(&root.join("cases"))? {
        let file = entry.join("case.toml");
        if file.is_file() {
            places.push((Origin::Case, file));
        }
    }
    let (mut suites, mut mistakes) = (Vec::new(), Vec::new());
    for (origin, path) in places {
        let shown = path.strip_prefix(root).unwrap_or(&path).display();
        let text = fs::read_to_string(&path)?;
        match parse(&text, &shown.to_string(), origin) {
            Ok((recipe, variants)) => suites.push(Suite {
                origin,
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
        Origin::Case => path.parent().and_then(Path::file_name),
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
        Origin::Case => &["what", "needs", "setup", "variant"],
    };
    notes.unknown(root, known);
    let mut recipe = Recipe::default();
    if origin == Origin::Case {
        recipe.what = notes.text(root, "what", 0, true).unwrap_or_default();
        recipe.needs = notes.texts(root, "needs");
        recipe.setup = notes.commands(root, "setup");
    }
    let mut variants: Vec<Variant> = Vec::new();
    for (table, span) in notes.tables(root, "variant") {
        let variant = notes.variant(table, span.start);
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

    fn variant(&mut self, table: &DeTable<'_>, place: usize) -> Variant {
        self.unknown(table, VARIANT_KEYS);
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
            scenario: self
                .text(table, "scenario", place, true)
                .unwrap_or_default(),
        };
        if variant.expects.is_empty() && !variant.also.is_empty() {
            let what = "also is for what is found beside what is expected; fill expects first";
            self.at(place, what.to_owned());
        }
        self.scenario(table);
        variant
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
mod tests {
    use super::*;

    const GOOD: &str = "[[variant]]\nname = \"a\"\nexpects = [\"fixed-delay\"]\n\
                        scenario = '''\n[target]\nurl = \"http://127.0.0.1:1\"\n'''\n";

    fn mistakes(text: &str, origin: Origin) -> Vec<String> {
        let all = parse(text, "f", origin).map(|_| ()).unwrap_err();
        all.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_file_is_read() {
        let (recipe, variants) = parse(GOOD, "f", Origin::Lab).unwrap();
        assert!(recipe.setup.is_empty());
        let variant = &variants[0];
        assert_eq!((variant.name.as_str(), variants.len()), ("a", 1));
        assert_eq!(variant.expects, ["fixed-delay"]);
        assert!(variant.scenario.starts_with("[target]\n"));
    }

    #[test]
    fn a_case_has_a_recipe() {
        let text = "what = \"w\"\nneeds = [\"nginx\"]\nsetup = [[\"a\", \"b\"], [\"c\"]]\n";
        let (recipe, _) = parse(&(text.to_owned() + GOOD), "f", Origin::Case).unwrap();
        assert_eq!(
            (recipe.what.as_str(), recipe.needs),
            ("w", vec!["nginx".to_owned()])
        );
        assert_eq!(recipe.setup.len(), 2);
    }

    #[test]
    fn every_mistake_is_told_with_its_line() {
        let text = "[[variant]]\nname = \"a\"\nexpect = []\nscenario = '''\n[target]\nurl = \n'''\n\
                    [[variant]]\nname = \"a\"\nexpects = [\"Fixed delay\", \"\"]\nallows = 3\n";
        let found = mistakes(text, Origin::Lab);
        for (line, part) in [
            (1, "expects is missing"),
            (3, "expect: there is no such key"),
            (6, "the scenario is no TOML"),
            (8, "two variants \"a\""),
            (8, "scenario is missing"),
            (10, "\"Fixed delay\" is no name of a cause"),
            (11, "allows is a list of texts"),
        ] {
            let is_told = |m: &String| m.starts_with(&format!("f:{line}: ")) && m.contains(part);
            assert!(found.iter().any(is_told), "{line} {part}: {found:#?}");
        }
    }

    #[test]
    fn what_belongs_to_cases_is_a_mistake_elsewhere() {
        let text = "needs = []\n".to_owned() + GOOD;
        assert!(mistakes(&text, Origin::Lab)[0].contains("there is no such key"));
        assert!(mistakes(GOOD, Origin::Case)[0].contains("what is missing"));
        assert!(mistakes("", Origin::Lab)[0].contains("there is no [[variant]]"));
    }

    #[test]
    fn what_is_no_toml_is_told() {
        let found = mistakes("[[variant]]\nname = \n", Origin::Lab);
        assert!(
            found.iter().any(|m| m.starts_with("f:2: this is no TOML")),
            "{found:?}"
        );
    }

    #[test]
    fn what_lies_in_the_source_tree_has_no_mistake() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let all = read_all(root).unwrap();
        let said = |mistakes: &Vec<Mistake>| {
            mistakes
                .iter()
                .map(ToString::to_string)
                .collect::<Vec<_>>()
                .join(
                    "
",
                )
        };
        assert!(
            all.is_ok(),
            "{}",
            all.as_ref().map(|_| ()).map_err(said).unwrap_err()
        );
        assert!(
            all.unwrap()
                .iter()
                .map(|suite| suite.variants.len())
                .sum::<usize>()
                > 30
        );
    }
}
