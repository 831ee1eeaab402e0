//! The slowpath that is measured: its build, its version, and which causes it knows.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::files::{Suite, Variant};
use super::recipe::Places;
use super::{Trouble, measure, say};

/// Exit code of slowpath for a scenario that it refuses.
const REFUSED: i32 = 2;

/// The slowpath to measure, built if it is the one beside this program.
pub(crate) fn built(given: Option<&Path>, root: &Path) -> Result<PathBuf, Trouble> {
    if let Some(path) = given {
        return path
            .canonicalize()
            .map_err(|error| Trouble::Usage(format!("--slowpath {}: {error}", path.display())));
    }
    let beside = std::env::current_exe()?.with_file_name("slowpath");
    let target = beside.parent().and_then(Path::parent).unwrap_or(root);
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args(["build", "--locked", "--package", "slowpath", "--target-dir"]);
    cargo.arg(target).current_dir(root).stdin(Stdio::null());
    if !cfg!(debug_assertions) {
        cargo.arg("--release");
    }
    if !cargo.status()?.success() {
        return Err(Trouble::Usage("slowpath does not build".to_owned()));
    }
    Ok(beside)
}

/// Version and commit, with a mark if the tree has changes.
pub(super) fn version(slowpath: &Path, root: &Path) -> io::Result<String> {
    let says = |command: &mut Command| -> io::Result<String> {
        let output = command.current_dir(root).stdin(Stdio::null()).output()?;
        Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
    };
    let version = says(Command::new(slowpath).arg("--version"))?;
    let commit = says(Command::new("git").args(["rev-parse", "--short", "HEAD"]))?;
    let changed = says(Command::new("git").args(["status", "--porcelain", "-uno", "crates"]))?;
    let mark = if changed.is_empty() {
        ""
    } else {
        " with changes"
    };
    let version = version.trim_start_matches("slowpath ");
    // Of one profile with this program, unless another slowpath was given.
    let build = if cfg!(debug_assertions) {
        ", debug build"
    } else {
        ""
    };
    Ok(format!("{version} {commit}{mark}{build}"))
}

/// Says which expected names this slowpath has no page for: it cannot give them.
pub(super) fn unknown_names(slowpath: &Path, pairs: &[(&Suite, &Variant)]) -> io::Result<()> {
    let output = Command::new(slowpath)
        .arg("causes")
        .stdin(Stdio::null())
        .output()?;
    let pages = String::from_utf8_lossy(&output.stdout);
    let known: Vec<&str> = pages.split_whitespace().collect();
    let names = pairs
        .iter()
        .flat_map(|(_, one)| one.expects.iter().chain(&one.also));
    let mut unknown: Vec<&str> = names
        .map(String::as_str)
        .filter(|name| !known.contains(name))
        .collect();
    unknown.sort_unstable();
    unknown.dedup();
    if !unknown.is_empty() {
        say(&format!(
            "expected, and without a page yet: {}",
            unknown.join(", ")
        ))?;
    }
    Ok(())
}

/// What slowpath says of the scenarios that it refuses, each with the name of its variant: none of these could be measured.
pub(super) fn refused(
    slowpath: &Path,
    pairs: &[(&Suite, &Variant)],
    places: impl Fn(&Suite) -> Places,
) -> io::Result<Vec<String>> {
    let mut all = Vec::new();
    for (suite, variant) in pairs {
        let mut lint = Command::new(slowpath)
            .args(["lint", "/dev/stdin"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        if let Some(mut input) = lint.stdin.take() {
            input.write_all(places(suite).fill(&variant.scenario).as_bytes())?;
        }
        let output = lint.wait_with_output()?;
        if output.status.code() == Some(REFUSED) {
            let said = [output.stdout, output.stderr].concat();
            let said = String::from_utf8_lossy(&said).replace("/dev/stdin", "scenario");
            all.push(format!(
                "{}:\n{}",
                measure::id(suite, variant),
                said.trim_end()
            ));
        }
    }
    Ok(all)
}
