//! The executable part of a process's address space.

use std::fs::{self, File};
use std::io::{self, Cursor};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use framehop::{Unwinder, UnwinderNative};
use procfs::FromBufRead;
use procfs::process::{MMPermissions, MMapPath, MemoryMap, MemoryMaps};

use super::Place;
use super::elf::Bytes;
use super::modules::{Key, Modules};

/// Whose an address is, and how it counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Home {
    /// The kernel's; absolute.
    Kernel,
    /// That of a file, as its symbols count.
    File(u32),
    /// Code that a process made while it ran; absolute.
    Process(u32),
}

/// Readings of the maps in vain, one after the other, after which the next has to wait for as many
/// unknown addresses as 2 to the power of it: garbage on stacks must not cost a reading each.
const MOST_PATIENCE: u32 = 12;

/// A process's executable mappings and how to unwind in them.
pub(super) struct Space {
    pid: u32,
    /// By address, without overlap.
    mappings: Vec<Mapping>,
    pub(super) unwinder: UnwinderNative<Bytes, framehop::MayAllocateDuringUnwind>,
    in_vain: u32,
    wait: u32,
    /// The process's `/tmp`, where runtimes leave the names of code that they made; opened when such
    /// code is seen, so that the process may end.
    pub(super) tmp: Option<File>,
    /// The user whose process it is.
    pub(super) owner: Option<u32>,
}

#[derive(Clone, Debug)]
struct Mapping {
    start: u64,
    end: u64,
    offset: u64,
    /// None: made by the process.
    source: Option<(Key, PathBuf)>,
    code: Code,
}

/// Whose the code in a mapping is.
#[derive(Clone, Copy, Debug)]
enum Code {
    /// No address in it was met yet.
    Unmet,
    /// Of the file of that number.
    File(u32),
    /// The process's own, or of a file that cannot be read.
    Made,
}

impl Mapping {
    fn of(map: &MemoryMap) -> Self {
        let source = match &map.pathname {
            MMapPath::Path(path) if map.inode != 0 => {
                let (dev, inode) = (map.dev, map.inode);
                Some((Key::File { dev, inode }, path.clone()))
            }
            MMapPath::Vdso => Some((Key::Vdso, PathBuf::from("[vdso]"))),
            _ => None,
        };
        Self {
            start: map.address.0,
            end: map.address.1,
            offset: map.offset,
            source,
            code: Code::Unmet,
        }
    }

    fn is_same(&self, other: &Self) -> bool {
        (self.start, self.end, self.offset) == (other.start, other.end, other.offset)
            && self.source == other.source
    }
}

impl std::fmt::Debug for Space {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Space")
            .field("pid", &self.pid)
            .field("mappings", &self.mappings.len())
            .finish_non_exhaustive()
    }
}

impl Space {
    /// Reads the maps of a process and opens the files that it executes, so that it may end.
    pub(super) fn read(proc_root: &Path, pid: u32, modules: &mut Modules) -> io::Result<Self> {
        let mappings = executable(proc_root, pid)?;
        if mappings.is_empty() {
            return Err(io::Error::other(
                "it has ended, or is a thread of the kernel",
            ));
        }
        let mut space = Self {
            pid,
            mappings,
            unwinder: UnwinderNative::new(),
            in_vain: 0,
            wait: 0,
            tmp: None,
            owner: fs::metadata(proc_root.join(pid.to_string()))
                .ok()
                .map(|of| of.uid()),
        };
        space.open_files(proc_root, modules);
        Ok(space)
    }

    /// Opens the files of all mappings that are not open yet; what they hold is read when an address
    /// in them is placed.
    fn open_files(&mut self, proc_root: &Path, modules: &mut Modules) {
        let process = proc_root.join(self.pid.to_string());
        let mut makes_code = false;
        for mapping in &self.mappings {
            match &mapping.source {
                Some((key, path)) if modules.is_new(*key) && !is_memory(path) => {
                    // If not now, then when an address in it is met, or through another process.
                    let _ = modules.open(*key, &ways(&process, mapping, path).1);
                }
                Some((_, path)) => makes_code |= is_memory(path),
                None => makes_code = true,
            }
        }
        if makes_code {
            self.open_tmp(&process, modules);
        }
    }

    fn open_tmp(&mut self, process: &Path, modules: &mut Modules) {
        if self.tmp.is_none() && modules.take_room() {
            self.tmp = File::open(process.join("root/tmp")).ok();
        }
    }

    /// The end of the highest executable mapping.
    pub(super) fn highest(&self) -> u64 {
        self.mappings.last().map_or(0, |m| m.end)
    }

    /// Where an address lies; nothing if it lies in no executable mapping.
    pub(super) fn place(
        &mut self,
        proc_root: &Path,
        at: u64,
        modules: &mut Modules,
    ) -> Option<Place> {
        if self.find(at).is_none() {
            self.read_again(proc_root, modules);
        }
        let which = self.find(at)?;
        let file = match self.mappings[which].code {
            Code::File(file) => Some(file),
            Code::Made => None,
            Code::Unmet => self.open(which, proc_root, modules),
        };
        let mapping = &self.mappings[which];
        let within_file = file.and_then(|file| {
            let offset = at - mapping.start + mapping.offset;
            let at = modules.get(file)?.image.address_of(offset)?;
            let home = Home::File(file);
            Some(Place { home, at })
        });
        let home = Home::Process(self.pid);
        Some(within_file.unwrap_or(Place { home, at }))
    }

    /// The name of the file whose code an address lies in, though the file may be unreadable;
    /// nothing for code that the process made.
    pub(super) fn file_name(&self, at: u64) -> Option<String> {
        let (_, path) = self.mappings[self.find(at)?].source.as_ref()?;
        (!is_memory(path)).then(|| plain_name(path).0)
    }

    fn find(&self, at: u64) -> Option<usize> {
        let behind = self.mappings.partition_point(|m| m.start <= at);
        let which = behind.checked_sub(1)?;
        (at < self.mappings[which].end).then_some(which)
    }

    /// Opens the file of a mapping and adds it to the unwinder.
    fn open(&mut self, which: usize, proc_root: &Path, modules: &mut Modules) -> Option<u32> {
        let mapping = &self.mappings[which];
        let process = proc_root.join(self.pid.to_string());
        let file = mapping.source.as_ref().and_then(|(key, path)| {
            let (name, paths) = ways(&process, mapping, path);
            let number = modules.number(*key, &name, &paths)?;
            let range = mapping.start..mapping.end;
            let image = &modules.get(number)?.image;
            if let Some(module) = image.module(&name, range, mapping.offset) {
                self.unwinder.add_module(module);
            }
            Some(number)
        });
        if file.is_none() {
            self.open_tmp(&process, modules);
        }
        self.mappings[which].code = file.map_or(Code::Made, Code::File);
        file
    }

    /// Reads the maps again, unless that was in vain too often. What was mapped before and is not
    /// contradicted stays: the process may be about to end.
    fn read_again(&mut self, proc_root: &Path, modules: &mut Modules) {
        if self.wait > 0 {
            self.wait -= 1;
            return;
        }
        let now = executable(proc_root, self.pid).unwrap_or_default();
        let known = |m: &Mapping| self.mappings.iter().any(|old| old.is_same(m));
        let fresh: Vec<Mapping> = now.into_iter().filter(|m| !known(m)).collect();
        if fresh.is_empty() {
            self.in_vain = (self.in_vain + 1).min(MOST_PATIENCE);
            self.wait = 1 << self.in_vain;
            return;
        }
        self.in_vain = 0;
        let unwinder = &mut self.unwinder;
        self.mappings.retain(|old| {
            let stays = fresh
                .iter()
                .all(|m| m.end <= old.start || old.end <= m.start);
            if !stays {
                unwinder.remove_module(old.start);
            }
            stays
        });
        self.mappings.extend(fresh);
        self.mappings.sort_by_key(|m| m.start);
        self.open_files(proc_root, modules);
    }
}

/// Whether what is mapped under a path is no file but memory that a process filled: runtimes that
/// may not write where they execute map one piece of it twice.
fn is_memory(path: &Path) -> bool {
    path.starts_with("/dev") || path.to_string_lossy().starts_with("/memfd:")
}

/// The name of a mapped file, and the paths that lead to it, the surest first.
fn ways(process: &Path, mapping: &Mapping, path: &Path) -> (String, Vec<PathBuf>) {
    let range = format!("map_files/{:x}-{:x}", mapping.start, mapping.end);
    let mapped = process.join(range);
    let (name, deleted) = plain_name(path);
    let other = if deleted {
        // What has its name now is another file.
        let exe = process.join("exe");
        let is_exe = fs::read_link(&exe).is_ok_and(|link| link == path);
        is_exe.then_some(exe)
    } else {
        let below = path.strip_prefix("/").unwrap_or(path);
        Some(process.join("root").join(below))
    };
    let paths = std::iter::once(mapped).chain(other).collect();
    (name, paths)
}

/// The file name of a path as the kernel shows it, and whether the file has been deleted.
fn plain_name(path: &Path) -> (String, bool) {
    let shown = path.to_string_lossy();
    let plain = shown.strip_suffix(" (deleted)");
    let (plain, deleted) = (plain.unwrap_or(&shown), plain.is_some());
    let name = Path::new(plain).file_name();
    let name = name.map_or_else(|| plain.to_owned(), |n| n.to_string_lossy().into_owned());
    (name, deleted)
}

/// The executable mappings of a process, by address.
fn executable(proc_root: &Path, pid: u32) -> io::Result<Vec<Mapping>> {
    let bytes = fs::read(proc_root.join(format!("{pid}/maps")))?;
    // A path is any bytes; one that is no text must not hide the others.
    let text = String::from_utf8_lossy(&bytes);
    let maps = MemoryMaps::from_buf_read(Cursor::new(text.as_bytes())).map_err(io::Error::other)?;
    let mut mappings: Vec<Mapping> = maps
        .iter()
        .filter(|m| m.perms.contains(MMPermissions::EXECUTE))
        // A page of the kernel that no program of today calls.
        .filter(|m| m.pathname != MMapPath::Vsyscall)
        .map(Mapping::of)
        .collect();
    mappings.sort_by_key(|m| m.start);
    Ok(mappings)
}
