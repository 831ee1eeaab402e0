//! `slowpath causes`: the catalogue.

use std::fmt::Write;

use anyhow::Result;
use slowpath_diagnose::detectors::{REGISTRY, find};

use crate::cli::CausesArgs;
use crate::exit::{Exit, Problem};
use crate::{out, store};

/// Prints a page, or the list of all causes with the first sentence of each.
pub(crate) fn causes(args: &CausesArgs) -> Result<Exit> {
    store::check_copy(args.json.as_deref())?;
    let chosen = match &args.name {
        None => REGISTRY.iter().collect(),
        Some(name) => vec![find(name).ok_or_else(|| {
            Problem::usage(
                format!("there is no cause {name:?}"),
                "slowpath causes lists all",
            )
        })?],
    };
    let mut text = String::new();
    for entry in &chosen {
        if args.name.is_some() {
            text.push_str(&for_people(entry.page, out::style().width));
        } else {
            let _ = writeln!(text, "{:<24} {}", entry.name, first_sentence(entry.page));
        }
    }
    out::answer(&text);
    if let Some(path) = &args.json {
        let page = |e: &&slowpath_diagnose::detectors::Entry| serde_json::json!({ "cause": e.name, "page": e.page });
        let pages: Vec<_> = chosen.iter().map(page).collect();
        let json = serde_json::to_string_pretty(&pages)? + "\n";
        store::write_copy(Some(path), &json)?;
    }
    Ok(Exit::Done)
}

/// Languages of the blocks of a page that its tests read: simulated runs, and what must be said of each.
const OF_TESTS: &[&str] = &["```case", "```snapshot"];
/// Lines that begin so stay as they are; all others are of a paragraph, which is wrapped.
const FIXED: &[&str] = &["#", "|", "```", "    "];

/// A page without the blocks of its tests, its paragraphs wrapped to `width` columns.
fn for_people(page: &str, width: usize) -> String {
    let (mut text, mut paragraph) = (String::new(), String::new());
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        if OF_TESTS.contains(&line.trim_end()) {
            let _ = lines.by_ref().find(|line| line.trim_end() == "```");
            continue;
        }
        let is_fixed = line.is_empty() || FIXED.iter().any(|start| line.starts_with(start));
        if is_fixed || line.starts_with("- ") {
            wrap(&mut text, &std::mem::take(&mut paragraph), width);
        }
        if !is_fixed {
            paragraph.push_str(line.trim());
            paragraph.push(' ');
        } else if !(line.is_empty() && (text.is_empty() || text.ends_with("\n\n"))) {
            text.push_str(line);
            text.push('\n');
        }
        if line.starts_with("```") {
            for line in lines.by_ref() {
                text.push_str(line);
                text.push('\n');
                if line.starts_with("```") {
                    break;
                }
            }
        }
    }
    wrap(&mut text, &paragraph, width);
    text
}

/// Appends a paragraph in lines of `width` columns, those of an entry of a list indented.
fn wrap(text: &mut String, paragraph: &str, width: usize) {
    let indent = if paragraph.starts_with("- ") {
        "  "
    } else {
        ""
    };
    let mut column = 0;
    for word in paragraph.split_whitespace() {
        let length = word.chars().count();
        if column > 0 && column + 1 + length > width {
            text.push('\n');
            text.push_str(indent);
            column = indent.len();
        } else if column > 0 {
            text.push(' ');
            column += 1;
        }
        text.push_str(word);
        column += length;
    }
    if column > 0 {
        text.push('\n');
    }
}

/// The first sentence under "What it names".
fn first_sentence(page: &str) -> String {
    let body = page.split("## What it names").nth(1).unwrap_or_default();
    let paragraph: Vec<&str> = body
        .lines()
        .map(str::trim)
        .skip_while(|line| line.is_empty())
        .take_while(|line| !line.is_empty())
        .collect();
    let text = paragraph.join(" ");
    text.split_once(". ")
        .map_or(text.clone(), |(first, _)| format!("{first}."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_tests_read_is_not_printed() {
        let page = "# a\n\nOne\ntwo.\n\n```case\nname = 1\n```\n```snapshot\nx\n```\n\n- three\n  four\n- five\n\n```\ncode\n```\n";
        let text = "# a\n\nOne two.\n\n- three four\n- five\n\n```\ncode\n```\n";
        assert_eq!(for_people(page, 100), text);
        for entry in REGISTRY {
            let text = for_people(entry.page, 80);
            assert!(!text.contains("expect ="), "{}", entry.name);
            assert!(!text.contains("\n\n\n"), "{}", entry.name);
            for heading in entry.page.lines().filter(|line| line.starts_with("## ")) {
                assert!(text.contains(heading), "{}: {heading}", entry.name);
            }
        }
    }

    #[test]
    fn paragraphs_are_as_wide_as_the_terminal() {
        assert_eq!(for_people("- one two three\n", 9), "- one two\n  three\n");
        assert_eq!(for_people("one\ntwo three\n", 7), "one two\nthree\n");
    }
}
