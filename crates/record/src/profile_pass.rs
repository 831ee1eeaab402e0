//! `profiling/`: what the profiling pass after the repeats showed; absent where there was none.
//! `pass.json` has the text of [`ProfilePass`]; beside it lie the profiles as they came, for `go tool
//! pprof`.
//!
//! `profiling-imported/` has the same of profiles that were taken elsewhere and imported later. It is
//! under no seal, can be replaced, and is read where the run has no pass of its own.

use std::fs;
use std::path::Path;

use slowpath_core::profile_pass::ProfilePass;

use crate::error::RecordError;
use crate::files;
use crate::seal::Seal;

/// The name of the file that is read again.
fn name(folder: &str) -> String {
    format!("{folder}/pass.json")
}

/// Keeps profiles that were taken elsewhere beside a run, in place of any that were imported before:
/// what they say, and pairs of a name and what stands in it.
///
/// # Errors
/// On I/O errors.
pub fn write_imported_profiles(
    dir: &Path,
    pass: &ProfilePass,
    raw: &[(String, Vec<u8>)],
) -> Result<(), RecordError> {
    let folder = dir.join(files::IMPORTED_PROFILES);
    if folder.exists() {
        fs::remove_dir_all(&folder).map_err(RecordError::io("replace", &folder))?;
    }
    write_to(dir, files::IMPORTED_PROFILES, pass, raw)
}

/// Writes a pass, and the profiles as they came: pairs of a name and what stands in it.
pub(crate) fn write(
    dir: &Path,
    pass: &ProfilePass,
    raw: &[(String, Vec<u8>)],
) -> Result<(), RecordError> {
    write_to(dir, files::PROFILING, pass, raw)
}

fn write_to(
    dir: &Path,
    into: &str,
    pass: &ProfilePass,
    raw: &[(String, Vec<u8>)],
) -> Result<(), RecordError> {
    let folder = dir.join(into);
    fs::create_dir_all(&folder).map_err(RecordError::io("create", &folder))?;
    for (name, bytes) in raw {
        files::replace(&folder.join(name), bytes)?;
    }
    let path = dir.join(name(into));
    let text = serde_json::to_vec(pass).map_err(RecordError::json(&path))?;
    files::replace(&path, &text)
}

/// The names of the files of a pass in a run directory, which are read again.
pub(crate) fn recorded(dir: &Path) -> Option<String> {
    Some(name(files::PROFILING)).filter(|name| dir.join(name).exists())
}

/// Reads the pass of a run. With `seals`, those of a finished run, it is the one that they speak of.
pub(crate) fn read(dir: &Path, seals: Option<&[Seal]>) -> Result<Option<ProfilePass>, RecordError> {
    let mut name = name(files::PROFILING);
    match seals {
        Some(seals) if seals.iter().any(|seal| seal.name == name) => {
            Seal::check(seals, dir, &name)?;
        }
        None if recorded(dir).is_some() => {}
        _ => {
            name = self::name(files::IMPORTED_PROFILES);
            if !dir.join(&name).exists() {
                return Ok(None);
            }
        }
    }
    let path = dir.join(&name);
    let text = fs::read(&path).map_err(RecordError::io("read", &path))?;
    let pass: ProfilePass = serde_json::from_slice(&text).map_err(RecordError::json(&path))?;
    if !pass.is_whole() {
        let problem = "a stack, a place or a slice is not in its table".to_owned();
        return Err(RecordError::damaged(&path, problem));
    }
    Ok(Some(pass))
}
