//! Reading one small file of the kernel, with the window of the read.

use std::borrow::Cow;
use std::path::Path;

use rustix::buffer::spare_capacity;
use rustix::fs::{Mode, OFlags, open};
use rustix::io::{Errno, read};
use slowpath_core::timeline::Window;

use crate::clock;

/// Most files are smaller; larger ones are read in several pieces.
const FIRST_PIECE_BYTES: usize = 8 * 1024;
/// No file that a probe reads comes near this size; a file that does is not what it seems.
const LIMIT_BYTES: usize = 4 * 1024 * 1024;

/// A file's text and when it was read.
#[derive(Debug)]
pub(crate) struct Text<'a> {
    pub(crate) window: Window,
    pub(crate) text: Cow<'a, str>,
}

/// A reader that keeps its buffer from file to file.
#[derive(Debug)]
pub(crate) struct Files {
    buffer: Vec<u8>,
}

impl Default for Files {
    fn default() -> Self {
        Self {
            buffer: Vec::with_capacity(FIRST_PIECE_BYTES),
        }
    }
}

impl Files {
    /// Reads all of a file.
    pub(crate) fn read(&mut self, path: &Path) -> Result<Text<'_>, Errno> {
        self.load(path, false)
    }

    /// Reads a file that the kernel hands out in one piece, which saves a system call.
    pub(crate) fn read_short(&mut self, path: &Path) -> Result<Text<'_>, Errno> {
        self.load(path, true)
    }

    fn load(&mut self, path: &Path, short: bool) -> Result<Text<'_>, Errno> {
        self.buffer.clear();
        let begin = clock::now();
        let file = open(
            path,
            OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK,
            Mode::empty(),
        )?;
        loop {
            if self.buffer.len() == self.buffer.capacity() {
                self.buffer.reserve(FIRST_PIECE_BYTES);
            }
            let piece = read(&file, spare_capacity(&mut self.buffer))?;
            let whole = short && self.buffer.len() < self.buffer.capacity();
            if piece == 0 || whole {
                break;
            }
            if self.buffer.len() > LIMIT_BYTES {
                return Err(Errno::FBIG);
            }
        }
        let window = Window::new(begin, clock::now());
        Ok(Text {
            window,
            text: String::from_utf8_lossy(&self.buffer),
        })
    }
}

/// What a failed read of a file means for its signals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Miss {
    /// The process or thread ended between the listing and the read: nothing is missing.
    Ended,
    /// The file is not there: either as above, or this kernel does not have it.
    Absent,
    /// The file is there and cannot be read.
    Refused,
}

impl Miss {
    pub(crate) fn of(error: Errno) -> Self {
        match error {
            Errno::SRCH => Self::Ended,
            Errno::NOENT | Errno::NOTDIR => Self::Absent,
            _ => Self::Refused,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_longer_than_the_first_piece_is_read_whole() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("long");
        let long = "x".repeat(3 * FIRST_PIECE_BYTES + 1);
        std::fs::write(&path, &long).unwrap();
        let mut files = Files::default();
        assert_eq!(files.read(&path).unwrap().text, long);
        std::fs::write(&path, "short").unwrap();
        assert_eq!(files.read_short(&path).unwrap().text, "short");
        std::fs::write(&path, [b'a', 0xff]).unwrap();
        assert_eq!(files.read(&path).unwrap().text, "a\u{fffd}");
        let missing = files.read(&dir.path().join("none")).unwrap_err();
        assert_eq!(Miss::of(missing), Miss::Absent);
        let directory = files.read(dir.path()).unwrap_err();
        assert_eq!(Miss::of(directory), Miss::Refused);
    }
}
