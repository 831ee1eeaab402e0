//! Files of one JSON value a line, appended to while a run goes on.
//!
//! A run that was killed may end in half a line, which is dropped; any other line that cannot be
//! read is an error that names it.

use std::fs;
use std::io;
use std::path::Path;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::RecordError;

/// Appends the line of a value; JSON escapes line breaks, so it is one line.
pub(crate) fn push_line<T: Serialize>(out: &mut Vec<u8>, value: &T) -> serde_json::Result<()> {
    serde_json::to_writer(&mut *out, value)?;
    out.push(b'\n');
    Ok(())
}

/// Reads every whole line; a file that is not there has none.
pub(crate) fn read<T: DeserializeOwned>(path: &Path) -> Result<Vec<T>, RecordError> {
    let text = match fs::read(path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(RecordError::io("read", path)(error)),
    };
    let whole = text
        .split_inclusive(|&byte| byte == b'\n')
        .filter_map(|l| l.strip_suffix(b"\n"));
    let values = whole.enumerate().map(|(number, line)| {
        serde_json::from_slice(line)
            .map_err(|error| RecordError::damaged(path, format!("line {}: {error}", number + 1)))
    });
    values.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_a_line_is_dropped_and_a_broken_one_is_named() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("keys.spool");
        let mut text = Vec::new();
        push_line(&mut text, &"two\nlines").unwrap();
        text.extend(b"\"hal");
        fs::write(&path, &text).unwrap();
        assert_eq!(read::<String>(&path).unwrap(), ["two\nlines"]);
        text.push(b'\n');
        fs::write(&path, &text).unwrap();
        let error = read::<String>(&path).unwrap_err().to_string();
        assert!(
            error.contains("keys.spool") && error.contains("line 2"),
            "{error}"
        );
    }
}
