//! `manifest.json`: the facts of a run, as indented JSON.

use std::fs;
use std::io;
use std::path::Path;

use serde::Deserialize;
use slowpath_core::record::{MANIFEST_FORMAT, Manifest};

use crate::error::RecordError;
use crate::files;

/// The part of a manifest that every format, past and future, has.
#[derive(Deserialize)]
struct Header {
    format: u32,
}

/// Writes the manifest of a run directory, at once.
pub(crate) fn write(dir: &Path, manifest: &Manifest) -> Result<(), RecordError> {
    let path = dir.join(files::MANIFEST);
    let mut text = serde_json::to_vec_pretty(manifest).map_err(RecordError::json(&path))?;
    text.push(b'\n');
    files::replace(&path, &text)
}

/// Reads the manifest of a run directory alone, without its samples: who, what, where.
///
/// # Errors
/// When the directory holds no run, or one that this code cannot read.
pub fn read_manifest(dir: &Path) -> Result<Manifest, RecordError> {
    let path = dir.join(files::MANIFEST);
    let text = match fs::read(&path) {
        Ok(text) => text,
        Err(error) if absent(&error) => {
            return Err(RecordError::NotARun {
                path: dir.to_owned(),
            });
        }
        Err(error) => return Err(RecordError::io("read", &path)(error)),
    };
    // The format is judged before the rest: a newer manifest may have fields that we do not know.
    let header: Header = serde_json::from_slice(&text).map_err(RecordError::json(&path))?;
    if header.format > MANIFEST_FORMAT {
        return Err(RecordError::Newer {
            path,
            found: header.format,
            known: MANIFEST_FORMAT,
        });
    }
    serde_json::from_slice(&text).map_err(RecordError::json(&path))
}

fn absent(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}
