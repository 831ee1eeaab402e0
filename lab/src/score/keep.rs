//! What was measured, kept line by line: an interrupted pass loses nothing.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::outcome::{Said, Verdict};

/// One variant, measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Row {
    /// `lab/SUITE/VARIANT`, `cases/SUITE/VARIANT` or `first-look/BATCH/SUITE/VARIANT`.
    pub(crate) id: String,
    /// With how much privilege it was measured.
    #[serde(default)]
    pub(crate) tier: String,
    /// Nothing about the server may be named.
    pub(crate) is_healthy: bool,
    pub(crate) expects: Vec<String>,
    pub(crate) verdict: Verdict,
    pub(crate) said: Said,
    /// Names that should not be there.
    pub(crate) false_names: Vec<String>,
    /// Whether the first line of the attribution is right, where that is known and expected.
    pub(crate) is_line_right: Option<bool>,
    /// Of the expected cause, if it was found.
    pub(crate) share: Option<f64>,
    pub(crate) grade: Option<String>,
    pub(crate) unexplained: Option<f64>,
    pub(crate) seconds: f64,
    /// How often it was run: twice if the first run was invalid.
    pub(crate) attempts: u32,
    /// Why nothing can be said, or why it is missed.
    pub(crate) reason: Option<String>,
    /// Where the run lies, below the folder of all runs.
    pub(crate) folder: String,
    /// What was measured, with its commit.
    pub(crate) version: String,
}

impl Row {
    /// `lab`, `cases` or `first-look`.
    pub(crate) fn group(&self) -> &str {
        group(&self.id)
    }

    /// Whether it is counted. On a sick server of a first look a run without a report counts as not
    /// right; elsewhere it says nothing of the judgement.
    pub(crate) fn is_judged(&self) -> bool {
        let is_crash = self.verdict == Verdict::Failed && self.group() == "first-look";
        self.verdict.counts() || is_crash && !self.is_healthy
    }

    /// The first name, about the server.
    pub(crate) fn first_name(&self) -> Option<&str> {
        self.said.named.first().map(|named| named.cause.as_str())
    }

    /// Expected names that the report rules out.
    pub(crate) fn cleared_truth(&self) -> Vec<&str> {
        let cleared = self.said.cleared_truth.iter();
        cleared.map(|one| one.cause.as_str()).collect()
    }
}

/// The group of an id: `lab`, `cases` or `first-look`.
pub(crate) fn group(id: &str) -> &str {
    id.split('/').next().unwrap_or_default()
}

/// Rows on disk; the last row of an id is the one that holds.
#[derive(Debug)]
pub(crate) struct Kept {
    path: PathBuf,
    form: Form,
}

/// How rows lie on disk.
#[derive(Debug)]
enum Form {
    /// One a line.
    Lines,
    /// One document, in which a row of this tier is written once.
    Once { tier: String },
}

/// The result of a first look, as it is published.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Published {
    rows: Vec<Row>,
}

impl Kept {
    /// Rows below a folder, under the name of a tier or of a kind of pass.
    pub(crate) fn of_tier(folder: &Path, tier: &str) -> Self {
        Self {
            path: folder.join(format!("{tier}.jsonl")),
            form: Form::Lines,
        }
    }

    /// The result of the first-look batch in this folder, as seen by a tier.
    pub(crate) fn first_look(batch: &Path, tier: &str) -> Self {
        let tier = tier.to_owned();
        Self {
            path: batch.join("result.json"),
            form: Form::Once { tier },
        }
    }

    fn text(&self) -> io::Result<String> {
        match fs::read_to_string(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(String::new()),
            read => read,
        }
    }

    fn published(&self) -> io::Result<Published> {
        let text = self.text()?;
        if text.is_empty() {
            return Ok(Published::default());
        }
        serde_json::from_str(&text)
            .map_err(|error| io::Error::other(format!("{}: {error}", self.path.display())))
    }

    /// Every row by its id. A line that a kill has torn is no row.
    pub(crate) fn rows(&self) -> io::Result<BTreeMap<String, Row>> {
        let rows: Vec<Row> = match &self.form {
            Form::Lines => {
                let text = self.text()?;
                let rows = text
                    .lines()
                    .filter_map(|line| serde_json::from_str(line).ok());
                rows.collect()
            }
            Form::Once { tier } => {
                let mut rows = self.published()?.rows;
                rows.retain(|row| row.tier == *tier);
                rows
            }
        };
        Ok(rows.into_iter().map(|row| (row.id.clone(), row)).collect())
    }

    /// Adds a row. Where rows are written once, a second one is an error, unless the first says
    /// only that nothing could be measured.
    pub(crate) fn add(&self, row: &Row) -> io::Result<()> {
        if let Form::Once { tier } = &self.form {
            let mut all = self.published()?;
            let is_same = |other: &Row| other.id == row.id && other.tier == *tier;
            if all
                .rows
                .iter()
                .any(|other| is_same(other) && other.verdict != Verdict::Skipped)
            {
                let why = format!("{}: {} has a row", self.path.display(), row.id);
                return Err(io::Error::other(why));
            }
            all.rows.retain(|other| !is_same(other));
            all.rows.push(row.clone());
            return self.write(&(serde_json::to_string_pretty(&all)? + "\n"));
        }
        let mut file = fs::OpenOptions::new()
            .create(true)
            .append(true)
            .open(&self.path)?;
        // What was torn before is ended by the line break.
        file.write_all(format!("\n{}\n", serde_json::to_string(row)?).as_bytes())
    }

    fn write(&self, text: &str) -> io::Result<()> {
        let whole = self.path.with_extension("new");
        fs::write(&whole, text)?;
        fs::rename(&whole, &self.path)
    }

    /// Begins again; what was there is kept beside it.
    pub(crate) fn begin_again(&self) -> io::Result<()> {
        match fs::rename(&self.path, self.path.with_extension("before.jsonl")) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            renamed => renamed,
        }
    }

    /// Leaves these out: they are to be measured again.
    pub(crate) fn forget(&self, ids: &[String]) -> io::Result<()> {
        let rows = self.rows()?;
        let left = rows.values().filter(|row| !ids.contains(&row.id));
        let mut text = String::new();
        for row in left {
            text += &serde_json::to_string(row)?;
            text.push('\n');
        }
        self.write(&text)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A row with this verdict.
    pub(crate) fn row(id: &str, verdict: Verdict) -> Row {
        Row {
            id: id.to_owned(),
            tier: "t2".to_owned(),
            is_healthy: matches!(verdict, Verdict::Quiet | Verdict::FalseName),
            expects: Vec::new(),
            verdict,
            said: Said::default(),
            false_names: Vec::new(),
            is_line_right: None,
            share: None,
            grade: None,
            unexplained: None,
            seconds: 1.0,
            attempts: 1,
            reason: None,
            folder: String::new(),
            version: "0.1.0 abc".to_owned(),
        }
    }

    #[test]
    fn rows_outlive_a_kill_and_the_last_one_holds() {
        let name = format!("slowpath-lab-kept-{}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        fs::create_dir_all(&folder).unwrap();
        let kept = Kept::of_tier(&folder, "t2");
        assert!(kept.rows().unwrap().is_empty());
        kept.add(&row("lab/a/x", Verdict::Missed)).unwrap();
        fs::OpenOptions::new()
            .append(true)
            .open(&kept.path)
            .unwrap()
            .write_all(b"{\"id\":\"lab/b/")
            .unwrap();
        kept.add(&row("lab/a/x", Verdict::Right)).unwrap();
        kept.add(&row("lab/c/x", Verdict::Quiet)).unwrap();
        let rows = kept.rows().unwrap();
        assert_eq!(rows.len(), 2);
        assert_eq!(rows["lab/a/x"].verdict, Verdict::Right);
        kept.forget(&["lab/a/x".to_owned()]).unwrap();
        let left: Vec<String> = kept.rows().unwrap().into_keys().collect();
        assert_eq!(left, ["lab/c/x"]);
        kept.begin_again().unwrap();
        assert!(kept.rows().unwrap().is_empty());
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn a_first_look_is_written_once() {
        let name = format!("slowpath-lab-once-{}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        fs::create_dir_all(&folder).unwrap();
        let kept = Kept::first_look(&folder, "t2");
        assert!(kept.rows().unwrap().is_empty());
        kept.add(&row("first-look/b/a/x", Verdict::Skipped))
            .unwrap();
        kept.add(&row("first-look/b/a/x", Verdict::Missed)).unwrap();
        kept.add(&row("first-look/b/a/y", Verdict::Quiet)).unwrap();
        let second = kept.add(&row("first-look/b/a/x", Verdict::Right));
        assert!(second.unwrap_err().to_string().contains("has a row"));
        let rows = kept.rows().unwrap();
        assert_eq!(rows.len(), 2);
        assert_eq!(rows["first-look/b/a/x"].verdict, Verdict::Missed);
        assert!(Kept::first_look(&folder, "t1").rows().unwrap().is_empty());
        fs::remove_dir_all(&folder).unwrap();
    }
}
