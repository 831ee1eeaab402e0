//! Which crate may depend on which, and under which licences the dependencies come.

use std::collections::{BTreeMap, BTreeSet};

use cargo_metadata::{Metadata, MetadataCommand, PackageId};

/// What each crate may depend on among ours.
const ALLOWED: &[(&str, &[&str])] = &[
    ("slowpath-core", &[]),
    ("slowpath-attribution", &["slowpath-core"]),
    (
        "slowpath-diagnose",
        &["slowpath-attribution", "slowpath-core"],
    ),
    ("slowpath-experiment", &["slowpath-core"]),
    ("slowpath-lint", &["slowpath-core"]),
    (
        "slowpath-report",
        &["slowpath-core", "slowpath-diagnose", "slowpath-experiment"],
    ),
    ("slowpath-record", &["slowpath-core"]),
    ("slowpath-load", &["slowpath-core"]),
    ("slowpath-observe", &["slowpath-core"]),
    (
        "slowpath",
        &[
            "slowpath-core",
            "slowpath-diagnose",
            "slowpath-experiment",
            "slowpath-lint",
            "slowpath-load",
            "slowpath-observe",
            "slowpath-record",
            "slowpath-report",
        ],
    ),
    ("slowpath-lab", &[]),
];

/// Crates without effects, and everything they may use from outside.
const PURE: &[(&str, &[&str])] = &[
    (
        "slowpath-core",
        &[
            "rand_chacha",
            "rand_core",
            "schemars",
            "serde",
            "statrs",
            "thiserror",
        ],
    ),
    ("slowpath-attribution", &["schemars", "serde"]),
    ("slowpath-diagnose", &["schemars", "serde", "serde_json"]),
    (
        "slowpath-experiment",
        &[
            "rand_chacha",
            "rand_core",
            "schemars",
            "serde",
            "statrs",
            "thiserror",
        ],
    ),
    (
        "slowpath-lint",
        &["rand_chacha", "rand_core", "serde", "statrs", "thiserror"],
    ),
    (
        "slowpath-report",
        &["maud", "serde", "serde_json", "unicode-width"],
    ),
];

/// Licences that a program under MIT or Apache-2.0 can be shipped with.
const LICENCES: &[&str] = &[
    "0BSD",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    "ISC",
    "MIT",
    "MIT-0",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
];

fn metadata() -> Metadata {
    let mut command = MetadataCommand::new();
    command.manifest_path(concat!(env!("CARGO_MANIFEST_DIR"), "/../../Cargo.toml"));
    let host = format!("{}-unknown-linux-gnu", std::env::consts::ARCH);
    command.other_options(["--locked", "--offline", "--filter-platform", &host].map(str::to_owned));
    command.exec().unwrap()
}

#[test]
fn crates_depend_only_in_the_allowed_directions() {
    let metadata = metadata();
    let allowed: BTreeMap<&str, &[&str]> = ALLOWED.iter().copied().collect();
    let ours: BTreeSet<String> = metadata
        .workspace_packages()
        .iter()
        .map(|p| p.name.to_string())
        .collect();
    for package in metadata.workspace_packages() {
        let name = package.name.to_string();
        let may = allowed
            .get(name.as_str())
            .unwrap_or_else(|| panic!("{name} is not listed"));
        for dependency in &package.dependencies {
            let on = dependency.name.as_str();
            if dependency.kind == cargo_metadata::DependencyKind::Normal && ours.contains(on) {
                assert!(may.contains(&on), "{name} must not depend on {on}");
            }
        }
    }
}

#[test]
fn pure_crates_use_nothing_that_has_effects() {
    let metadata = metadata();
    let ours: BTreeSet<String> = metadata
        .workspace_packages()
        .iter()
        .map(|p| p.name.to_string())
        .collect();
    for (name, may) in PURE {
        let packages = metadata.workspace_packages();
        let package = packages.iter().find(|p| p.name.as_str() == *name).unwrap();
        let normal = package
            .dependencies
            .iter()
            .filter(|d| d.kind == cargo_metadata::DependencyKind::Normal)
            .filter(|d| !ours.contains(d.name.as_str()));
        for dependency in normal {
            let on = dependency.name.as_str();
            assert!(
                may.contains(&on),
                "{name} is pure and must not depend on {on}"
            );
        }
    }
}

#[test]
fn every_dependency_has_a_licence_that_allows_shipping() {
    let metadata = metadata();
    let resolved: BTreeSet<&PackageId> = metadata
        .resolve
        .as_ref()
        .unwrap()
        .nodes
        .iter()
        .map(|node| &node.id)
        .collect();
    let mut wrong = Vec::new();
    for package in metadata
        .packages
        .iter()
        .filter(|p| resolved.contains(&p.id))
    {
        let text = package.license.clone().unwrap_or_default();
        if !is_allowed(&text) {
            wrong.push(format!("{} {}: {text:?}", package.name, package.version));
        }
    }
    assert!(
        wrong.is_empty(),
        "licences outside the list:\n{}",
        wrong.join("\n")
    );
}

/// Whether some choice that an SPDX expression offers is on the list.
fn is_allowed(expression: &str) -> bool {
    let Ok(parsed) = spdx::Expression::parse_mode(expression, spdx::ParseMode::LAX) else {
        return false;
    };
    parsed.evaluate(|requirement| LICENCES.contains(&requirement.to_string().as_str()))
}

#[test]
fn the_licence_check_can_fail() {
    assert!(is_allowed("MIT OR GPL-3.0"));
    assert!(is_allowed("MIT/Apache-2.0"));
    assert!(is_allowed("Apache-2.0 WITH LLVM-exception"));
    assert!(!is_allowed("MIT AND GPL-3.0"));
    assert!(!is_allowed("AGPL-3.0"));
    assert!(!is_allowed(""));
}
