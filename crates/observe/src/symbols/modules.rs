//! The executables and libraries that stacks lie in, each opened once however many processes have
//! it mapped.

use std::collections::{HashMap, HashSet};
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use procfs::process::{MMapPath, MemoryMaps};
use rustix::fs::MemfdFlags;

use super::elf::Image;
use super::unbroken;

/// Files that are kept open until their symbols are read, so that a process may end before. A
/// server's stacks lie in some dozens.
pub(super) const MOST_MODULES: usize = 256;

/// Unwind information of all files together: that of a browser, the largest known, has 40 MB.
pub(super) const MOST_UNWIND_BYTES: usize = 512 << 20;

/// Which file: its device and inode, as `/proc/PID/maps` shows them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Key {
    /// On a file system.
    File { dev: (i32, i32), inode: u64 },
    /// The kernel's own library in every process.
    Vdso,
}

/// An ELF file with code.
#[derive(Debug)]
pub(super) struct Module {
    /// Its file name.
    pub(super) name: String,
    /// Open for reading.
    pub(super) file: File,
    /// How to unwind in it.
    pub(super) image: Image,
}

/// What is known of a file.
#[derive(Debug)]
enum Known {
    /// It is open, and its contents were not needed yet.
    Open(File),
    /// It was read, and has that number.
    Read(u32),
    /// It is no ELF file, or there was no room for it.
    Unfit,
}

/// Why a file is not open.
#[derive(Debug)]
pub(super) enum Unopened {
    /// There are too many already.
    NoRoom,
    /// The system refused.
    Refused(io::Error),
}

impl From<io::Error> for Unopened {
    fn from(error: io::Error) -> Self {
        Self::Refused(error)
    }
}

/// All of them. A file that could not be opened is not known as that: the process that it was
/// reached through may have ended, and the next one that maps it may live.
#[derive(Debug)]
pub(super) struct Modules {
    known: HashMap<Key, Known>,
    all: Vec<Module>,
    /// Files that may be open.
    most: usize,
    /// Files that are.
    open: usize,
    /// Bytes of their unwind information.
    bytes: usize,
    /// Files beyond [`MOST_MODULES`] or [`MOST_UNWIND_BYTES`], or for which none may be open.
    beyond: HashSet<Key>,
    /// The names of files whose code was met and that could not be opened through any process yet,
    /// and why.
    unread: HashMap<Key, String>,
}

impl Modules {
    /// Has at most so many files open, and no more than [`MOST_MODULES`].
    pub(super) fn new(most: usize) -> Self {
        Self {
            known: HashMap::new(),
            all: Vec::new(),
            most: most.min(MOST_MODULES),
            open: 0,
            bytes: 0,
            beyond: HashSet::new(),
            unread: HashMap::new(),
        }
    }

    /// Whether one more file may be open; if so, it is counted as that.
    pub(super) fn take_room(&mut self) -> bool {
        let has_room = self.open < self.most;
        self.open += usize::from(has_room);
        has_room
    }

    /// Whether nothing is known of a file yet.
    pub(super) fn is_new(&self, key: Key) -> bool {
        !self.known.contains_key(&key)
    }

    /// Opens a file by the first of `paths` that leads to one, unless it is known; what it holds is
    /// read when it is needed.
    pub(super) fn open(&mut self, key: Key, paths: &[PathBuf]) -> Result<(), Unopened> {
        if !self.is_new(key) {
            return Ok(());
        }
        if !self.take_room() {
            return Err(Unopened::NoRoom);
        }
        let file = if key == Key::Vdso {
            own_vdso()
        } else {
            open_first(paths)
        };
        let file = file.inspect_err(|_| self.open -= 1)?;
        self.known.insert(key, Known::Open(file));
        Ok(())
    }

    /// The number of a file whose code was met. It is opened now if it was not before.
    pub(super) fn number(&mut self, key: Key, name: &str, paths: &[PathBuf]) -> Option<u32> {
        match self.open(key, paths) {
            Ok(()) => drop(self.unread.remove(&key)),
            Err(Unopened::NoRoom) => self.tell_beyond(key),
            Err(Unopened::Refused(error)) if self.unread.len() < MOST_MODULES => {
                self.unread.insert(key, format!("{name}: {error}"));
            }
            Err(Unopened::Refused(_)) => {}
        }
        let number = match self.known.remove(&key)? {
            Known::Open(file) => self.read(key, name, file),
            Known::Read(number) => Some(number),
            Known::Unfit => None,
        };
        let known = number.map_or(Known::Unfit, Known::Read);
        self.known.insert(key, known);
        number
    }

    fn read(&mut self, key: Key, name: &str, file: File) -> Option<u32> {
        let image = unbroken(|| Image::read(&file).ok()).flatten();
        let room = MOST_UNWIND_BYTES.saturating_sub(self.bytes);
        let Some(image) = image.filter(|image| {
            let fits = image.bytes() <= room;
            if !fits {
                self.tell_beyond(key);
            }
            fits
        }) else {
            self.open -= 1;
            return None;
        };
        self.bytes += image.bytes();
        let name = name.to_owned();
        self.all.push(Module { name, file, image });
        Some(self.all.len() as u32 - 1)
    }

    fn tell_beyond(&mut self, key: Key) {
        // What is counted is bounded as what is kept is: beyond that "many" is all it says.
        if self.beyond.len() < MOST_MODULES {
            self.beyond.insert(key);
        }
    }

    /// How many files there was no room for.
    pub(super) fn beyond(&self) -> usize {
        self.beyond.len()
    }

    /// A file that could not be opened through any process, and why; how many more there are.
    pub(super) fn unread(&self) -> Option<(&str, usize)> {
        let first = self.unread.values().min()?;
        Some((first, self.unread.len() - 1))
    }

    /// The file of that number.
    pub(super) fn get(&self, number: u32) -> Option<&Module> {
        self.all.get(number as usize)
    }
}

/// Opens a regular file to read; nothing that would block or act when it is opened.
pub(crate) fn open_regular(path: &Path) -> io::Result<File> {
    let file = OpenOptions::new()
        .read(true)
        .custom_flags(libc::O_NONBLOCK | libc::O_CLOEXEC)
        .open(path)?;
    if file.metadata()?.is_file() {
        Ok(file)
    } else {
        Err(io::Error::other("is no regular file"))
    }
}

fn open_first(paths: &[PathBuf]) -> io::Result<File> {
    let mut first = None;
    for path in paths {
        match open_regular(path) {
            Ok(file) => return Ok(file),
            Err(error) => first = first.or(Some(error)),
        }
    }
    Err(first.unwrap_or_else(|| io::ErrorKind::NotFound.into()))
}

/// The library that the kernel maps into every process, as it stands in this one.
fn own_vdso() -> io::Result<File> {
    let maps = procfs::process::Process::myself()
        .and_then(|process| process.maps())
        .map_err(io::Error::other)?;
    let range = vdso_range(&maps).ok_or(io::ErrorKind::NotFound)?;
    let mut bytes = vec![0; (range.1 - range.0) as usize];
    let memory = File::open("/proc/self/mem")?;
    memory.read_exact_at(&mut bytes, range.0)?;
    let file = File::from(rustix::fs::memfd_create("vdso", MemfdFlags::CLOEXEC)?);
    file.write_all_at(&bytes, 0)?;
    Ok(file)
}

fn vdso_range(maps: &MemoryMaps) -> Option<(u64, u64)> {
    let vdso = maps.iter().find(|m| m.pathname == MMapPath::Vdso)?;
    Some(vdso.address)
}
