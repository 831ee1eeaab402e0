//! What an execution wrote, read back.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use slowpath_record::adapters::{ADAPTERS, AdapterError};

use super::TIME;
use crate::execution::Kept;

/// The figures of a benchmark take a few megabytes at most; what is larger is its log, and is not
/// taken into memory.
const LARGEST_BYTES: u64 = 256 << 20;

/// As much of the end of an output holds its last lines.
const TAIL_BYTES: u64 = 4096;

pub(super) fn in_words(errors: &[AdapterError]) -> Vec<String> {
    errors.iter().map(ToString::to_string).collect()
}

/// The whole of an output.
pub(super) fn whole(file: &Path) -> Result<Vec<u8>, Vec<String>> {
    let name = file.display();
    let wrong = |error: std::io::Error| vec![format!("cannot read {name}: {error}")];
    let mut opened = File::open(file).map_err(wrong)?;
    let size = opened.metadata().map_err(wrong)?.len();
    if size > LARGEST_BYTES {
        return Err(vec![format!(
            "{name} has {} MiB, of which no figures are read: have the command write them to \
             {{out}}, or say --adapter {TIME}",
            size >> 20
        )]);
    }
    let mut bytes = Vec::new();
    opened.read_to_end(&mut bytes).map_err(wrong)?;
    Ok(bytes)
}

/// What a command that failed said last, on either stream.
pub(super) fn last_words(kept: &Kept) -> Vec<String> {
    let said = [("stdout", &kept.stdout), ("stderr", &kept.stderr)];
    let said = said.iter().filter_map(|(stream, file)| {
        let line = last_line(file)?;
        Some(format!("its last line on {stream} is: {line}"))
    });
    let said: Vec<String> = said.collect();
    if said.is_empty() {
        vec!["it wrote nothing".to_owned()]
    } else {
        said
    }
}

fn last_line(file: &Path) -> Option<String> {
    let mut opened = File::open(file).ok()?;
    let size = opened.metadata().ok()?.len();
    let from = size.saturating_sub(TAIL_BYTES);
    opened.seek(SeekFrom::Start(from)).ok()?;
    let mut bytes = Vec::new();
    opened.take(TAIL_BYTES).read_to_end(&mut bytes).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    let line = text.lines().rev().find(|line| !line.trim().is_empty())?;
    Some(line.trim().to_owned())
}

/// An output that no adapter knows, of a command of which the first output was known.
pub(super) fn unknown(file: &str) -> Vec<String> {
    let known: Vec<&str> = ADAPTERS.iter().map(|a| a.name).collect();
    vec![format!(
        "{file} is of no known make; give --adapter ({}, {TIME}) or --regex",
        known.join(", ")
    )]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_line_is_told_and_what_is_too_large_is_not_read() {
        let folder = tempfile::tempdir().unwrap();
        let kept = Kept {
            stdout: folder.path().join("out"),
            stderr: folder.path().join("err"),
            folder: folder.path().to_owned(),
        };
        assert_eq!(last_words(&kept), ["it wrote nothing"]);
        let long = "x".repeat(10_000) + "\nno such flag\n\n";
        std::fs::write(&kept.stderr, long).unwrap();
        let said = "its last line on stderr is: no such flag";
        assert_eq!(last_words(&kept), [said]);
        // Sparse: it takes no room.
        let file = File::create(&kept.stdout).unwrap();
        file.set_len(LARGEST_BYTES + 1).unwrap();
        assert!(whole(&kept.stdout).unwrap_err()[0].contains("has 256 MiB"));
        file.set_len(3).unwrap();
        assert_eq!(whole(&kept.stdout).unwrap().len(), 3);
    }
}
