//! The page of a cause, for people: without what its tests read.

use super::Style;
use super::flow::{Page, Tint};

/// Blocks of a page that its tests read: simulated runs, and what must be said of each.
const OF_TESTS: &[&str] = &["```case", "```snapshot"];
const FENCE: &str = "```";
/// Lines that begin so stay as they are; all others are words of a paragraph or of an entry of a list.
const FIXED: &[&str] = &["#", "|", "    "];
const ENTRY: &str = "- ";

/// A page (Markdown) on a terminal: its paragraphs wrapped, and without the blocks of its tests.
pub fn cause_terminal(page: &str, style: Style) -> String {
    let mut out = Page::new(style);
    let mut is_open = false;
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        let is_words = !line.is_empty()
            && !line.starts_with(FENCE)
            && !FIXED.iter().any(|start| line.starts_with(start));
        if is_open && (!is_words || line.starts_with(ENTRY)) {
            out.end();
            is_open = false;
        }
        if OF_TESTS.contains(&line.trim_end()) {
            let _ = lines.by_ref().find(|line| line.starts_with(FENCE));
        } else if line.starts_with(FENCE) {
            fixed(&mut out, line);
            for line in lines.by_ref() {
                fixed(&mut out, line);
                if line.starts_with(FENCE) {
                    break;
                }
            }
        } else if line.is_empty() {
            out.blank();
        } else if is_words {
            let entry = line.strip_prefix(ENTRY);
            if entry.is_some() {
                out.labelled(ENTRY, Tint::Plain, ENTRY.len());
            }
            out.words(entry.unwrap_or(line), Tint::Plain);
            is_open = true;
        } else {
            let tint = if line.starts_with('#') {
                Tint::Bold
            } else {
                Tint::Plain
            };
            out.exact(line, tint);
            out.end();
        }
    }
    if is_open {
        out.end();
    }
    out.finish()
}

fn fixed(out: &mut Page, line: &str) {
    out.exact(line, Tint::Plain);
    out.end();
}

#[cfg(test)]
mod tests {
    use slowpath_diagnose::detectors::REGISTRY;

    use super::*;

    fn printed(page: &str, width: usize) -> String {
        let style = Style {
            color: false,
            width,
            verbose: false,
        };
        cause_terminal(page, style)
    }

    #[test]
    fn what_tests_read_is_not_printed() {
        let page = "# a\n\nOne\ntwo.\n\n```case\nname = 1\n```\n```snapshot\nx\n```\n\n- three\n  four\n- five\n\n```\ncode\n```\n";
        let text = "# a\n\nOne two.\n\n- three four\n- five\n\n```\ncode\n```\n";
        assert_eq!(printed(page, 100), text);
        for entry in REGISTRY {
            let text = printed(entry.page, 80);
            assert!(!text.contains("expect ="), "{}", entry.name);
            assert!(!text.contains("\n\n\n"), "{}", entry.name);
            for heading in entry.page.lines().filter(|line| line.starts_with("## ")) {
                assert!(text.contains(heading), "{}: {heading}", entry.name);
            }
        }
    }

    #[test]
    fn entries_of_a_list_are_indented_where_they_go_on() {
        let page = "- one two three four five six seven eight nine\n";
        let text = "- one two three four five six seven\n  eight nine\n";
        assert_eq!(printed(page, 40), text);
    }
}
