//! The house rules that a test can hold.

use std::path::{Path, PathBuf};

use slowpath_core::catalogue::PROVABLE;
use slowpath_diagnose::detectors::REGISTRY;

use crate::support::root;

mod wording;

/// Longer files hide two things in one.
const LINES_MOST: usize = 600;

fn files(folder: &Path, extension: &str, out: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() && !["target", ".git", ".slowpath"].contains(&name.as_str()) {
            files(&path, extension, out);
        } else if path.extension().is_some_and(|e| e == extension) {
            out.push(path);
        }
    }
}

fn rust_files() -> Vec<PathBuf> {
    let mut out = Vec::new();
    for folder in ["crates", "lab"] {
        files(&root().join(folder), "rs", &mut out);
    }
    out
}

#[test]
fn files_are_short() {
    let all = rust_files();
    assert!(all.len() > 50, "found only {} files", all.len());
    let long: Vec<String> = all
        .iter()
        .map(|path| (path, std::fs::read_to_string(path).unwrap().lines().count()))
        .filter(|(_, lines)| *lines > LINES_MOST)
        .map(|(path, lines)| format!("{}: {lines} lines", path.display()))
        .collect();
    assert!(long.is_empty(), "{}", long.join("\n"));
}

#[test]
fn nothing_is_left_open() {
    // This file names them and is left out.
    let words = ["todo!(", "unimplemented!(", "FIXME", "#[ignore"];
    let own = Path::new(file!()).file_name().unwrap();
    for path in rust_files()
        .iter()
        .filter(|p| p.file_name().unwrap() != own)
    {
        let text = std::fs::read_to_string(path).unwrap();
        for word in words {
            assert!(!text.contains(word), "{} in {}", word, path.display());
        }
    }
}

/// What no server of the lab can bring about: a hypervisor takes CPUs, a machine runs short of memory, and
/// slowpath is itself in the way, and processors sleep as deep as they are made to.
const NOT_PROVOKED: &[&str] = &[
    "cpu-steal",
    "memory-pressure",
    "observer-effect",
    "coordinated-omission",
    "wake-placement",
    // Public software brings these about: see first-look.
    "concurrency-limit",
    "workers-held-idle",
    "slow-client",
    "hot-input",
    "request-size",
    "batch-window",
    "upstream-timeout",
];

#[test]
fn a_cause_has_one_name_everywhere() {
    let catalogue = std::fs::read_to_string(root().join("crates/core/src/catalogue.rs")).unwrap();
    for entry in REGISTRY {
        let file = entry.name.replace('-', "_");
        assert!(
            catalogue.contains(&format!("\"{}\"", entry.name)),
            "{}",
            entry.name
        );
        for place in [
            format!("crates/diagnose/src/detectors/{file}.rs"),
            format!("crates/diagnose/docs/{file}.md"),
            format!("lab/src/pathologies/{file}.rs"),
        ] {
            let provoked = !place.starts_with("lab") || !NOT_PROVOKED.contains(&entry.name);
            assert_eq!(
                root().join(&place).exists(),
                provoked,
                "{}: {place}",
                entry.name
            );
        }
    }
    let names = catalogue
        .lines()
        .filter_map(|line| line.strip_prefix("pub const")?.split('"').nth(1));
    for name in names {
        assert!(
            REGISTRY.iter().any(|entry| entry.name == name),
            "{name} is in the catalogue, and nothing looks for it"
        );
    }
    let detectors = std::fs::read_dir(root().join("crates/diagnose/src/detectors")).unwrap();
    assert_eq!(
        detectors.count(),
        REGISTRY.len(),
        "a file beside the registry"
    );
}

#[test]
fn the_pages_of_causes_that_can_be_proved_say_how() {
    for cause in PROVABLE {
        let page = format!("crates/diagnose/docs/{}.md", cause.replace('-', "_"));
        let text = std::fs::read_to_string(root().join(&page)).unwrap();
        assert!(text.contains("slowpath prove"), "{page}");
    }
}

#[test]
fn pure_crates_switch_the_purity_lint_on() {
    for name in [
        "attribution",
        "core",
        "diagnose",
        "experiment",
        "lint",
        "report",
    ] {
        let text =
            std::fs::read_to_string(root().join(format!("crates/{name}/src/lib.rs"))).unwrap();
        assert!(
            text.contains("#![warn(clippy::disallowed_methods)]"),
            "{name}"
        );
    }
}

#[test]
fn only_observe_and_the_lab_may_be_unsafe() {
    for path in rust_files() {
        let text = std::fs::read_to_string(&path).unwrap();
        let place = path
            .strip_prefix(root())
            .unwrap()
            .to_string_lossy()
            .into_owned();
        let exempt = place.starts_with("crates/observe") || place.starts_with("lab");
        let word = concat!("uns", "afe {");
        assert!(exempt || !text.contains(word), "{place} holds unsafe code");
    }
}

#[test]
fn files_that_documents_point_to_exist() {
    let mut pages = Vec::new();
    files(&root(), "md", &mut pages);
    for page in pages {
        let text = std::fs::read_to_string(&page).unwrap();
        for target in text
            .split("](")
            .skip(1)
            .filter_map(|rest| rest.split(')').next())
        {
            let target = target.split('#').next().unwrap();
            if target.is_empty() || target.contains("://") {
                continue;
            }
            let path = page.parent().unwrap().join(target);
            assert!(path.exists(), "{} points to {target}", page.display());
        }
    }
}
