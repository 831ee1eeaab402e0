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

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use super::super::files::{Origin, Recipe};
    use super::*;

    #[test]
    fn scenarios_that_are_refused_are_said_with_their_variant() {
        let folder = std::env::temp_dir().join(format!("lab-refused-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let slowpath = folder.join("slowpath");
        let says = "#!/bin/sh\ngrep -q pools && { echo \"$2:1: no such key\"; exit 2; }\nexit 0\n";
        fs::write(&slowpath, says).unwrap();
        fs::set_permissions(&slowpath, fs::Permissions::from_mode(0o755)).unwrap();
        let variant = |(name, scenario): (&str, &str)| Variant {
            name: name.to_owned(),
            scenario: scenario.to_owned(),
            ..Variant::default()
        };
        let variants = [("good", ""), ("bad", "pools = 1")].map(variant);
        let suite = Suite {
            origin: Origin::Case,
            group: "cases".to_owned(),
            name: "one".to_owned(),
            folder: folder.clone(),
            recipe: Recipe::default(),
            variants: Vec::new(),
        };
        let pairs: Vec<(&Suite, &Variant)> = variants.iter().map(|v| (&suite, v)).collect();
        let places = |suite: &Suite| Places::of(suite, &folder, &folder);
        let said = refused(&slowpath, &pairs, places).unwrap();
        fs::remove_dir_all(&folder).unwrap();
        assert_eq!(said, ["cases/one/bad:\nscenario:1: no such key"]);
    }
}
