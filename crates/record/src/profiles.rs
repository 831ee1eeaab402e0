//! `profiles/N.json`: what the target's runtime reported of its own code in repeat N; absent where it was
//! not asked. The text is that of [`Profiles`]: tables, and positions in them.

use std::fs;
use std::path::Path;

use slowpath_core::profiles::Profiles;

use crate::error::RecordError;
use crate::files;
use crate::profile_pass;
use crate::seal::Seal;

/// The name of the file of a repeat.
fn name(repeat: u16) -> String {
    format!("{}/{repeat}.json", files::PROFILES)
}

/// Writes the profiles of a repeat; nothing if there is none.
pub(crate) fn write(dir: &Path, repeat: u16, profiles: &Profiles) -> Result<(), RecordError> {
    if profiles.is_empty() {
        return Ok(());
    }
    let folder = dir.join(files::PROFILES);
    fs::create_dir_all(&folder).map_err(RecordError::io("create", &folder))?;
    let path = dir.join(name(repeat));
    let text = serde_json::to_vec(profiles).map_err(RecordError::json(&path))?;
    files::replace(&path, &text)
}

/// The names of all files that hold profiles in a run directory, in order.
pub(crate) fn recorded(dir: &Path) -> Result<Vec<String>, RecordError> {
    let folder = dir.join(files::PROFILES);
    let entries = match fs::read_dir(&folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(RecordError::io("read", &folder)(error)),
    };
    let mut repeats = Vec::new();
    for entry in entries {
        let name = entry.map_err(RecordError::io("read", &folder))?.file_name();
        let number = name.to_str().and_then(|name| name.strip_suffix(".json"));
        repeats.extend(number.and_then(|number| number.parse::<u16>().ok()));
    }
    repeats.sort_unstable();
    Ok(repeats.into_iter().map(name).collect())
}

/// Reads the profiles of a run. With `seals`, those of a finished run, the files are those that they
/// speak of.
pub(crate) fn read(dir: &Path, seals: Option<&[Seal]>) -> Result<Profiles, RecordError> {
    let prefix = format!("{}/", files::PROFILES);
    let names = match seals {
        Some(seals) => {
            let names = seals.iter().map(|seal| &seal.name);
            let ours: Vec<String> = names.filter(|n| n.starts_with(&prefix)).cloned().collect();
            for name in &ours {
                Seal::check(seals, dir, name)?;
            }
            ours
        }
        None => recorded(dir)?,
    };
    let mut all = Profiles::default();
    for name in names {
        let path = dir.join(name);
        let text = fs::read(&path).map_err(RecordError::io("read", &path))?;
        let own: Profiles = serde_json::from_slice(&text).map_err(RecordError::json(&path))?;
        if !own.is_whole() {
            let problem = "a stack or a place is not in its table".to_owned();
            return Err(RecordError::damaged(&path, problem));
        }
        all.append(own);
    }
    all.dumps
        .sort_by_key(|dump| (dump.span.begin, dump.span.end));
    all.pass = profile_pass::read(dir, seals)?.map(Box::new);
    Ok(all)
}
