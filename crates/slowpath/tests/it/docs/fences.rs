//! The fenced blocks of a page.

use std::path::{Path, PathBuf};

use crate::support::root;

/// A fenced block: what its fence says, its text, and the line of its fence.
pub(super) struct Fence {
    pub(super) info: String,
    pub(super) text: String,
    pub(super) line: usize,
}

impl Fence {
    pub(super) fn language(&self) -> &str {
        self.info.split(' ').next().unwrap_or_default()
    }

    /// The name of the file that the block is.
    pub(super) fn title(&self) -> Option<&str> {
        self.info.split_once("title=\"")?.1.strip_suffix('"')
    }
}

/// The pages of the site that lie in `docs`.
pub(super) fn pages() -> Vec<PathBuf> {
    let entries = std::fs::read_dir(root().join("docs")).unwrap().flatten();
    let mut pages: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    pages.retain(|path| path.extension().is_some_and(|is| is == "md"));
    pages.sort();
    pages
}

/// The fenced blocks of a file, and its lines outside of them.
pub(super) fn read(page: &Path) -> (Vec<Fence>, Vec<String>) {
    let text = std::fs::read_to_string(page).unwrap();
    let mut fences: Vec<Fence> = Vec::new();
    let mut others = Vec::new();
    let mut is_open = false;
    for (line, text) in text.lines().enumerate() {
        match (text.strip_prefix("```"), is_open) {
            (Some(_), true) => is_open = false,
            (Some(info), false) => {
                is_open = true;
                fences.push(Fence {
                    info: info.to_owned(),
                    text: String::new(),
                    line: line + 1,
                });
            }
            (None, true) => {
                let fence = fences.last_mut().unwrap();
                fence.text.push_str(text);
                fence.text.push('\n');
            }
            (None, false) => others.push(text.to_owned()),
        }
    }
    assert!(!is_open, "{}: a fence is open", page.display());
    (fences, others)
}
