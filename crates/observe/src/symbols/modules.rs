//! The executables and libraries that stacks lie in, each opened once however many processes have
//! it mapped.

use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use procfs::process::{MMapPath, MemoryMaps};
use rustix::fs::MemfdFlags;

use super::elf::Image;

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

/// All of them; files that cannot be opened or are no ELF files are known as that.
#[derive(Debug, Default)]
pub(super) struct Modules {
    known: HashMap<Key, Option<u32>>,
    all: Vec<Module>,
    /// Bytes of their unwind information.
    bytes: usize,
    /// Files beyond [`MOST_MODULES`] or [`MOST_UNWIND_BYTES`].
    pub(super) beyond: u64,
    /// A file that could not be opened, and why.
    pub(super) unread: Option<String>,
}

impl Modules {
    /// The number of a file, which is opened by the first of `paths` that leads to one.
    pub(super) fn number(&mut self, key: Key, name: &str, paths: &[PathBuf]) -> Option<u32> {
        if let Some(known) = self.known.get(&key) {
            return *known;
        }
        if self.all.len() >= MOST_MODULES {
            self.beyond += 1;
            self.known.insert(key, None);
            return None;
        }
        let file = if key == Key::Vdso {
            own_vdso()
        } else {
            open_first(paths)
        };
        let file = file.inspect_err(|error| {
            self.unread
                .get_or_insert_with(|| format!("{name}: {error}"));
        });
        let module = file.ok().and_then(|file| {
            let image = Image::read(&file).ok()?;
            let name = name.to_owned();
            Some(Module { name, file, image })
        });
        let number = module.and_then(|module| {
            let bytes = self.bytes + module.image.bytes();
            if bytes > MOST_UNWIND_BYTES {
                self.beyond += 1;
                return None;
            }
            self.bytes = bytes;
            self.all.push(module);
            Some(self.all.len() as u32 - 1)
        });
        self.known.insert(key, number);
        number
    }

    /// The file of that number.
    pub(super) fn get(&self, number: u32) -> Option<&Module> {
        self.all.get(number as usize)
    }
}

/// Opens a regular file to read; nothing that would block or act when it is opened.
pub(super) fn open_regular(path: &Path) -> io::Result<File> {
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
