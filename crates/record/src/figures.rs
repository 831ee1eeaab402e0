//! `figures.json`: a run in the figures that comparisons, gates and histories read.
//!
//! Beside the record of a measured run it is derived and may be deleted; of a benchmark that
//! slowpath repeated, or of figures made elsewhere, it is all there is.

use std::fs;
use std::io;
use std::path::Path;

use serde::Deserialize;
use slowpath_core::figures::{FIGURES_SCHEMA, RunFigures};

use crate::error::RecordError;
use crate::files;

/// The part that every schema, past and future, has.
#[derive(Deserialize)]
struct Header {
    schema: String,
}

/// Writes the figures of the run in a directory, at once.
///
/// # Errors
/// When the directory cannot be written.
pub fn write_figures(dir: &Path, figures: &RunFigures) -> Result<(), RecordError> {
    let path = dir.join(files::FIGURES);
    let mut text = serde_json::to_string_pretty(figures).map_err(RecordError::json(&path))?;
    text.push('\n');
    files::replace(&path, text.as_bytes())
}

/// Reads the figures of the run in a directory; `None` if there are none, or none that this code
/// reads: a measured run can be judged again.
///
/// # Errors
/// When there are some that cannot be read.
pub fn read_figures(dir: &Path) -> Result<Option<RunFigures>, RecordError> {
    let path = dir.join(files::FIGURES);
    let text = match fs::read(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(RecordError::io("read", &path)(error)),
    };
    let header: Header = serde_json::from_slice(&text).map_err(RecordError::json(&path))?;
    if header.schema != FIGURES_SCHEMA {
        return Ok(None);
    }
    serde_json::from_slice(&text)
        .map(Some)
        .map_err(RecordError::json(&path))
}

#[cfg(test)]
mod tests {
    use slowpath_core::figures::{Conditions, Origin};

    use super::*;

    #[test]
    fn figures_are_read_as_written_and_other_schemas_are_none() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(read_figures(dir.path()).unwrap(), None);
        let mut figures = RunFigures {
            schema: FIGURES_SCHEMA.to_owned(),
            id: "01JD0000000000000000000001".to_owned(),
            name: "shop".to_owned(),
            release: Some("v2".to_owned()),
            began: "2026-01-02T03:04:05Z".to_owned(),
            origin: Origin::Imported {
                format: "wrk".to_owned(),
                files: vec!["out.txt".to_owned()],
            },
            conditions: Conditions::default(),
            void: Vec::new(),
            host: None,
            rows: Vec::new(),
            modes: Vec::new(),
            constants: None,
            profile: None,
            failures: Vec::new(),
        };
        write_figures(dir.path(), &figures).unwrap();
        assert_eq!(read_figures(dir.path()).unwrap().as_ref(), Some(&figures));
        figures.schema = "slowpath.figures/9".to_owned();
        write_figures(dir.path(), &figures).unwrap();
        assert_eq!(read_figures(dir.path()).unwrap(), None);
        fs::write(dir.path().join(files::FIGURES), "{").unwrap();
        assert!(read_figures(dir.path()).is_err());
    }
}
