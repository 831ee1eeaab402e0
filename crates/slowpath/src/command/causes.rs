//! `slowpath causes`: the catalogue.

use std::fmt::Write;

use anyhow::Result;
use slowpath_diagnose::detectors::{REGISTRY, find};
use slowpath_report::cause_terminal;

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
            text.push_str(&cause_terminal(entry.page, out::style()));
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
