//! `manifest.json`: the facts of a run, as indented JSON.
//!
//! Beside the fields of [`Manifest`], a finished run's has `files`: length and checksum of each
//! recorded file.

use std::fs;
use std::io;
use std::path::Path;

use serde::Deserialize;
use serde_json::{Map, Value};
use slowpath_core::record::{MANIFEST_FORMAT, Manifest};

use crate::error::RecordError;
use crate::files;
use crate::seal::Seal;

/// The field of the seals.
const FILES: &str = "files";

/// The part of a manifest that every format, past and future, has.
#[derive(Deserialize)]
struct Header {
    format: u32,
}

/// Writes the manifest of a run directory, at once; an unfinished run has no seals.
pub(crate) fn write(dir: &Path, manifest: &Manifest, seals: &[Seal]) -> Result<(), RecordError> {
    let path = dir.join(files::MANIFEST);
    let mut text = text(manifest, seals).map_err(RecordError::json(&path))?;
    text.push('\n');
    files::replace(&path, text.as_bytes())
}

fn text(manifest: &Manifest, seals: &[Seal]) -> serde_json::Result<String> {
    let mut value = serde_json::to_value(manifest)?;
    if let (Value::Object(fields), false) = (&mut value, seals.is_empty()) {
        fields.insert(FILES.to_owned(), serde_json::to_value(seals)?);
    }
    serde_json::to_string_pretty(&value)
}

/// Reads the manifest of a run directory alone, without its samples: who, what, where.
///
/// # Errors
/// When the directory holds no run, or one that this code cannot read.
pub fn read_manifest(dir: &Path) -> Result<Manifest, RecordError> {
    Ok(read_sealed(dir)?.0)
}

/// Reads the manifest and the seals in it.
pub(crate) fn read_sealed(dir: &Path) -> Result<(Manifest, Vec<Seal>), RecordError> {
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
    parse(&text).map_err(RecordError::json(&path))
}

fn parse(text: &[u8]) -> serde_json::Result<(Manifest, Vec<Seal>)> {
    let mut fields: Map<String, Value> = serde_json::from_slice(text)?;
    let seals = fields.shift_remove(FILES);
    let manifest = serde_json::from_value(Value::Object(fields))?;
    let seals = seals.map_or(Ok(Vec::new()), serde_json::from_value)?;
    Ok((manifest, seals))
}

fn absent(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}
