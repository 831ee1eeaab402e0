//! Fenced cases and snapshots in a page.

use std::fs;
use std::path::{Path, PathBuf};

use slowpath_diagnose::detectors::REGISTRY;
use slowpath_diagnose::diagnosis::Diagnosis;

use crate::case::spec::Case;
use crate::case::{diagnose, finding_line};

/// The page of a cause, or the file of the healthy runs.
pub(super) struct Page {
    /// The cause; empty for the healthy runs.
    pub(super) cause: &'static str,
    pub(super) path: PathBuf,
    pub(super) text: String,
}

/// One case of a page.
pub(super) struct Fenced {
    pub(super) case: Case,
    /// Its findings as the page shows them; `None` without a snapshot.
    pub(super) snapshot: Option<String>,
    /// The line after the case, counted from 0; a snapshot goes there.
    after: usize,
    /// The lines of the snapshot, fences included.
    lines: usize,
}

/// A case with its judgement.
pub(super) struct Judged {
    pub(super) cause: &'static str,
    pub(super) fenced: Fenced,
    pub(super) diagnosis: Diagnosis,
}

pub(super) fn folder() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Whether files are to be rewritten as the judge writes them now.
pub(super) fn update() -> bool {
    std::env::var("UPDATE").is_ok_and(|value| value == "1")
}

impl Page {
    fn read(cause: &'static str, path: PathBuf) -> Self {
        let text = fs::read_to_string(&path).unwrap();
        Self { cause, path, text }
    }

    /// The pages of all causes, in the registry's order.
    pub(super) fn all() -> Vec<Self> {
        let page = |name: &'static str| {
            let file = name.replace('-', "_") + ".md";
            Self::read(name, folder().join("docs").join(file))
        };
        REGISTRY.iter().map(|entry| page(entry.name)).collect()
    }

    /// The healthy runs.
    pub(super) fn healthy() -> Self {
        Self::read("", folder().join("tests/healthy.md"))
    }

    pub(super) fn cases(&self) -> Vec<Fenced> {
        fenced(&self.text).unwrap_or_else(|e| panic!("{}: {e}", self.path.display()))
    }

    pub(super) fn judged(&self) -> Vec<Judged> {
        let judged = |fenced: Fenced| Judged {
            cause: self.cause,
            diagnosis: diagnose(&fenced.case),
            fenced,
        };
        self.cases().into_iter().map(judged).collect()
    }

    /// The text with the snapshots as the judge has them now.
    pub(super) fn updated(&self, judged: &[Judged]) -> String {
        let mut lines: Vec<&str> = self.text.lines().collect();
        let blocks: Vec<String> = judged.iter().map(|j| block(&j.diagnosis)).collect();
        for (judged, block) in judged.iter().zip(&blocks).rev() {
            let after = judged.fenced.after;
            lines.splice(after..after + judged.fenced.lines, block.lines());
        }
        lines.join("\n") + "\n"
    }
}

/// The findings as a snapshot holds them.
pub(super) fn findings(diagnosis: &Diagnosis) -> String {
    if diagnosis.findings.is_empty() {
        return "nothing".to_owned();
    }
    let lines: Vec<String> = diagnosis.findings.iter().map(finding_line).collect();
    lines.join("\n")
}

fn block(diagnosis: &Diagnosis) -> String {
    format!("```snapshot\n{}\n```", findings(diagnosis))
}

/// The cases of a text, each with the snapshot that follows it at once.
pub(super) fn fenced(text: &str) -> Result<Vec<Fenced>, String> {
    let lines: Vec<&str> = text.lines().collect();
    let body = |begin: usize| {
        let end = (begin..lines.len()).find(|&i| lines[i] == "```");
        let end = end.ok_or_else(|| format!("line {begin}: the fence is not closed"))?;
        Ok::<_, String>((lines[begin..end].join("\n"), end + 1))
    };
    let mut out = Vec::new();
    let mut at = 0;
    while at < lines.len() {
        let fence = lines[at];
        at += 1;
        if fence == "```snapshot" {
            return Err(format!("line {at}: the snapshot follows no case"));
        }
        if fence != "```case" {
            continue;
        }
        let (case, after) = body(at)?;
        let case = Case::parse(&case).map_err(|e| format!("line {at}: {e}"))?;
        at = after;
        let mut snapshot = None;
        if lines.get(at) == Some(&"```snapshot") {
            let (text, end) = body(at + 1)?;
            snapshot = Some(text);
            at = end;
        }
        out.push(Fenced {
            case,
            snapshot,
            after,
            lines: at - after,
        });
    }
    Ok(out)
}

mod tests {
    use super::*;

    const CASE: &str = "```case\nname = \"a\"\nexpect = \"nothing\"\nclass = [{}]\n```\n";

    #[test]
    fn a_case_takes_the_snapshot_that_follows_it_at_once() {
        let text = format!("text\n{CASE}```snapshot\nx\n```\n\n{CASE}");
        let found = fenced(&text).unwrap();
        let snapshots: Vec<_> = found.iter().map(|f| f.snapshot.as_deref()).collect();
        assert_eq!(snapshots, [Some("x"), None]);
    }

    #[test]
    fn what_is_not_well_formed_is_refused() {
        let error = |text: &str| fenced(text).err().unwrap();
        assert!(error("```case\nname = 1").contains("not closed"));
        assert!(error("```snapshot\nx\n```").contains("follows no case"));
        assert!(error("```case\nname = \"a\"\n```").contains("line 1"));
    }

    #[test]
    fn an_update_replaces_snapshots_and_adds_missing_ones() {
        let text = format!("{CASE}```snapshot\nwrong\n```\nbetween\n{CASE}end\n");
        let page = Page {
            cause: "",
            path: PathBuf::new(),
            text,
        };
        let updated = page.updated(&page.judged());
        let block = "```snapshot\nnothing\n```\n";
        assert_eq!(updated, format!("{CASE}{block}between\n{CASE}{block}end\n"));
    }
}
