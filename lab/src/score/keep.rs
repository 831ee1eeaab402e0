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
    /// `lab/SUITE/VARIANT` or `cases/SUITE/VARIANT`.
    pub(crate) id: String,
    pub(crate) is_case: bool,
    /// Nothing about the server may be named.
    pub(crate) is_healthy: bool,
    pub(crate) expects: Vec<String>,
    pub(crate) verdict: Verdict,
    pub(crate) said: Said,
    /// Names that should not be there.
    pub(crate) false_names: Vec<String>,
    /// Of the expected cause, if it was found.
    pub(crate) share: Option<f64>,
    pub(crate) grade: Option<String>,
    pub(crate) unexplained: Option<f64>,
    pub(crate) seconds: f64,
    /// How often it was run: twice if the first run was invalid.
    pub(crate) attempts: u32,
    /// Why nothing can be said, or why it is missed.
    pub(crate) reason: Option<String>,
    /// Where the run lies.
    pub(crate) folder: String,
    /// What was measured, with its commit.
    pub(crate) version: String,
}

/// A file of rows, one a line; the last row of an id is the one that holds.
#[derive(Debug)]
pub(crate) struct Kept {
    path: PathBuf,
}

impl Kept {
    /// The rows of a tier below a folder.
    pub(crate) fn of_tier(folder: &Path, tier: &str) -> Self {
        Self {
            path: folder.join(format!("{tier}.jsonl")),
        }
    }

    /// Every row by its id. A line that a kill has torn is no row.
    pub(crate) fn rows(&self) -> io::Result<BTreeMap<String, Row>> {
        let text = match fs::read_to_string(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
            read => read?,
        };
        let rows = text
            .lines()
            .filter_map(|line| serde_json::from_str::<Row>(line).ok());
        Ok(rows.map(|row| (row.id.clone(), row)).collect())
    }

    /// Adds a row.
    pub(crate) fn add(&self, row: &Row) -> io::Result<()> {
        let mut file = fs::OpenOptions::new()
            .create(true)
            .append(true)
            .open(&self.path)?;
        // What was torn before is ended by the line break.
        file.write_all(format!("\n{}\n", serde_json::to_string(row)?).as_bytes())
    }

    /// Begins again; what was there is kept beside it.
    pub(crate) fn begin_again(&self) -> io::Result<()> {
        match fs::rename(&self.path, self.path.with_extension("before.jsonl")) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            renamed => renamed,
        }
    }
}

impl Kept {
    /// Leaves these out: they are to be measured again.
    pub(crate) fn forget(&self, ids: &[String]) -> io::Result<()> {
        let rows = self.rows()?;
        let left = rows.values().filter(|row| !ids.contains(&row.id));
        let mut text = String::new();
        for row in left {
            text += &serde_json::to_string(row)?;
            text.push('\n');
        }
        let whole = self.path.with_extension("new");
        fs::write(&whole, text)?;
        fs::rename(&whole, &self.path)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A row with this verdict.
    pub(crate) fn row(id: &str, verdict: Verdict) -> Row {
        Row {
            id: id.to_owned(),
            is_case: id.starts_with("cases/"),
            is_healthy: matches!(verdict, Verdict::Quiet | Verdict::FalseName),
            expects: Vec::new(),
            verdict,
            said: Said::default(),
            false_names: Vec::new(),
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
}
