//! Seals: how a recorded file is known to be as it was written.
//!
//! A record is judged years later and on other machines, and a Parquet decoder trusts the lengths
//! and offsets that it reads. So the manifest of a finished run keeps length and checksum of each
//! recorded file, and a file that differs is an error before anything is decoded.

use std::fs::File;
use std::hash::Hasher;
use std::io::{BufRead, BufReader};
use std::path::Path;

use serde::{Deserialize, Serialize};
use twox_hash::XxHash64;

use crate::error::RecordError;

/// Bytes that are read at a time.
const BUFFER_BYTES: usize = 256 * 1024;

/// Length and checksum of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Seal {
    /// The file's name in the run directory.
    pub(crate) name: String,
    /// Its length.
    bytes: u64,
    /// XXH64 with seed 0 of its bytes, in hexadecimal: as `xxhsum` prints it.
    xxh64: String,
}

impl Seal {
    /// The seal of a file as it is now.
    pub(crate) fn of(dir: &Path, name: &str) -> Result<Self, RecordError> {
        let path = dir.join(name);
        let file = File::open(&path).map_err(RecordError::io("open", &path))?;
        let mut reader = BufReader::with_capacity(BUFFER_BYTES, file);
        let mut hasher = XxHash64::with_seed(0);
        let mut bytes = 0;
        loop {
            let piece = reader.fill_buf().map_err(RecordError::io("read", &path))?;
            if piece.is_empty() {
                break;
            }
            hasher.write(piece);
            let read = piece.len();
            bytes += read as u64;
            reader.consume(read);
        }
        let xxh64 = format!("{:016x}", hasher.finish());
        Ok(Self {
            name: name.to_owned(),
            bytes,
            xxh64,
        })
    }

    /// Holds a file against its seal among `seals`.
    pub(crate) fn check(seals: &[Self], dir: &Path, name: &str) -> Result<(), RecordError> {
        let found = Self::of(dir, name)?;
        let damaged = |problem: String| Err(RecordError::damaged(&dir.join(name), problem));
        match seals.iter().find(|seal| seal.name == name) {
            None => damaged("the manifest has no checksum of it".to_owned()),
            Some(seal) if seal.bytes != found.bytes => damaged(format!(
                "it has {} bytes instead of {}",
                found.bytes, seal.bytes
            )),
            Some(seal) if *seal != found => damaged(format!(
                "its checksum is {} instead of {}",
                found.xxh64, seal.xxh64
            )),
            Some(_) => Ok(()),
        }
    }

    /// The names of the files of a folder that have a seal, each checked against it.
    pub(crate) fn checked_in(
        seals: &[Self],
        dir: &Path,
        folder: &str,
    ) -> Result<Vec<String>, RecordError> {
        let prefix = format!("{folder}/");
        let names = seals.iter().map(|seal| &seal.name);
        let own: Vec<String> = names
            .filter(|name| name.starts_with(&prefix))
            .cloned()
            .collect();
        own.iter()
            .try_for_each(|name| Self::check(seals, dir, name))?;
        Ok(own)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn the_checksum_is_the_published_one() {
        let dir = tempfile::tempdir().unwrap();
        // Test vectors of the xxHash specification: no input, and "abc".
        for (text, xxh64) in [("", "ef46db3751d8e999"), ("abc", "44bc2cf5ad770999")] {
            fs::write(dir.path().join("x"), text).unwrap();
            let seal = Seal::of(dir.path(), "x").unwrap();
            assert_eq!(
                (seal.bytes, seal.xxh64.as_str()),
                (text.len() as u64, xxh64)
            );
        }
    }

    #[test]
    fn a_file_without_a_seal_is_not_trusted() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("x"), "abc").unwrap();
        let seal = Seal::of(dir.path(), "x").unwrap();
        assert!(Seal::check(&[], dir.path(), "x").is_err());
        Seal::check(&[seal], dir.path(), "x").unwrap();
    }
}
