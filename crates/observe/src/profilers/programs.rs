//! Programs of others that look at the target: found, and run to their end.
//!
//! Where the target's interpreter lies is what the target says, and slowpath mostly has more rights than
//! it: a program from there is run only if no user but slowpath's and root could have put it there.

use std::env;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rustix::fs::OFlags;
use rustix::process::geteuid;
use tempfile::TempDir;

/// How often it is looked whether a program has ended.
const LOOK_EVERY: Duration = Duration::from_millis(5);
/// What is kept of a program's text, and of a recording: 30 kB for a sample of the recorder.
pub(super) const MOST_BYTES: u64 = 256 << 20;
/// Bits of a mode that let others than the owner write.
const OTHERS_WRITE: u32 = 0o022;
/// In a folder with this bit, only who owns a file may replace it.
const STICKY: u32 = 0o1000;

/// What the search for a program came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Search {
    /// This one.
    Found(PathBuf),
    /// This one only, which others may change.
    Changeable(PathBuf),
    Nothing,
}

/// The folders in which the programs of a process's runtime lie: that of its executable, and that of
/// the name by which it was called, which in a virtual environment is another.
pub(super) fn beside(proc_root: &Path, pid: u32) -> Vec<PathBuf> {
    let process = proc_root.join(pid.to_string());
    let executable = fs::read_link(process.join("exe")).ok();
    let words = fs::read(process.join("cmdline")).unwrap_or_default();
    let first = words.split(|byte| *byte == 0).next().unwrap_or_default();
    let called = PathBuf::from(String::from_utf8_lossy(first).into_owned());
    let called = called.is_absolute().then_some(called);
    let both = [called, executable].into_iter().flatten();
    both.filter_map(|path| path.parent().map(Path::to_owned))
        .collect()
}

/// A program in one of these folders if it may be trusted, or on `PATH`, as any program that a user
/// calls by its name.
pub(super) fn search(name: &str, beside: &[PathBuf]) -> Search {
    let in_folders = beside.iter().map(|folder| folder.join(name));
    let there: Vec<PathBuf> = in_folders.filter(|place| can_be_executed(place)).collect();
    if let Some(trusted) = there.iter().find_map(|place| unchangeable(place)) {
        return Search::Found(trusted);
    }
    let path = env::var_os("PATH").unwrap_or_default();
    let mut on_path = env::split_paths(&path).map(|folder| folder.join(name));
    match (on_path.find(|place| can_be_executed(place)), there.first()) {
        (Some(program), _) => Search::Found(program),
        (None, Some(changeable)) => Search::Changeable(changeable.clone()),
        (None, None) => Search::Nothing,
    }
}

fn can_be_executed(place: &Path) -> bool {
    let facts = fs::metadata(place);
    facts.is_ok_and(|facts| facts.is_file() && facts.permissions().mode() & 0o111 != 0)
}

/// Where a program really lies, if no user but root and slowpath's can write it or what is above it.
fn unchangeable(place: &Path) -> Option<PathBuf> {
    let own = geteuid().as_raw();
    let real = fs::canonicalize(place).ok()?;
    let is_safe = |path: &Path| {
        fs::symlink_metadata(path).is_ok_and(|facts| {
            let (mode, is_owned) = (facts.mode(), [0, own].contains(&facts.uid()));
            let is_kept = facts.is_dir() && mode & STICKY != 0;
            is_owned && (mode & OTHERS_WRITE == 0 || is_kept)
        })
    };
    real.ancestors().all(is_safe).then_some(real)
}

/// A folder that only slowpath's user may look into.
pub(super) fn scratch() -> io::Result<TempDir> {
    folder(0o700)
}

/// A folder that is removed at the end, and in it one in which a process of another user may write: others
/// can go through the first and change nothing in it, and only that user can do anything with the second.
pub(super) fn handed_to(uid: u32) -> io::Result<(TempDir, PathBuf)> {
    let outer = folder(0o711)?;
    let inner = outer.path().join("target");
    fs::create_dir(&inner)?;
    fs::set_permissions(&inner, fs::Permissions::from_mode(0o700))?;
    if uid != geteuid().as_raw() {
        std::os::unix::fs::chown(&inner, Some(uid), None)?;
    }
    Ok((outer, inner))
}

fn folder(mode: u32) -> io::Result<TempDir> {
    let mut builder = tempfile::Builder::new();
    builder.prefix("slowpath-profile-");
    let folder = builder
        .permissions(fs::Permissions::from_mode(mode))
        .tempdir()?;
    // The mask of the process may have taken some of it.
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(mode))?;
    Ok(folder)
}

/// Copies a file that the target wrote, unless it is a link, a device or too large: it may be anything.
pub(super) fn taken_over(from: &Path, into: &Path) -> io::Result<()> {
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let mut options = fs::OpenOptions::new();
    let source = options.read(true).custom_flags(flags.bits() as i32);
    let source = source.open(from)?;
    let facts = source.metadata()?;
    if !facts.is_file() || facts.len() > MOST_BYTES {
        let why = format!("no file of at most {MOST_BYTES} bytes");
        return Err(io::Error::new(io::ErrorKind::InvalidData, why));
    }
    let mut source = io::Read::take(source, MOST_BYTES);
    io::copy(&mut source, &mut File::create_new(into)?).map(drop)
}

/// How long a program may run.
pub(super) struct Limits<'a> {
    pub(super) longest: Duration,
    /// When this is set, it is ended at once.
    pub(super) over: &'a AtomicBool,
}

/// Runs a program to its end, and gives what it wrote to its output. It is ended when it takes too
/// long, or when all is over.
pub(super) fn ran(
    mut command: Command,
    name: &str,
    limits: &Limits<'_>,
    scratch: &Path,
) -> Result<String, String> {
    let failed = |error: io::Error| format!("{name}: {error}");
    let [out, err] = ["output", "errors"].map(|what| scratch.join(what));
    command.stdin(Stdio::null());
    command.stdout(File::create(&out).map_err(failed)?);
    command.stderr(File::create(&err).map_err(failed)?);
    let child = command.spawn().map_err(failed)?;
    let status = ended(child, limits).map_err(|why| format!("{name}: {why}"))?;
    if !status.success() {
        let said = [&err, &out].map(|file| fs::read_to_string(file).unwrap_or_default());
        let mut lines = said.iter().flat_map(|text| text.lines());
        let line = lines
            .find(|line| !line.trim().is_empty())
            .unwrap_or("it says not why");
        return Err(format!("{name} ended with {status}: {}", line.trim()));
    }
    let bytes = fs::metadata(&out).map_err(failed)?.len();
    if bytes > MOST_BYTES {
        return Err(format!("{name} wrote more than {MOST_BYTES} bytes"));
    }
    fs::read_to_string(&out).map_err(failed)
}

/// Waits for the end of a program, or ends it.
fn ended(mut child: Child, limits: &Limits<'_>) -> Result<ExitStatus, String> {
    let until = Instant::now() + limits.longest;
    loop {
        if let Some(status) = child.try_wait().map_err(|error| error.to_string())? {
            return Ok(status);
        }
        let late = Instant::now() > until;
        if late || limits.over.load(Ordering::Relaxed) {
            // It is gone already, or will be.
            let _ = child.kill();
            let _ = child.wait();
            let why = if late {
                "it took too long"
            } else {
                "the window was over before"
            };
            return Err(why.to_owned());
        }
        std::thread::sleep(LOOK_EVERY);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set_mode(path: &Path, mode: u32) {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    }

    #[test]
    fn programs_are_found_beside_an_interpreter_first() {
        let folder = tempfile::tempdir().unwrap();
        let proc_root = folder.path().join("proc");
        let bin = folder.path().join("venv/bin");
        fs::create_dir_all(proc_root.join("7")).unwrap();
        fs::create_dir_all(&bin).unwrap();
        let called = format!("{}/python\0server.py\0", bin.display());
        fs::write(proc_root.join("7/cmdline"), called).unwrap();
        let beside = beside(&proc_root, 7);
        assert_eq!(beside, std::slice::from_ref(&bin));
        let searched = || search("slowpath-none", &beside);
        assert_eq!(searched(), Search::Nothing);
        let spy = bin.join("slowpath-none");
        fs::write(&spy, "").unwrap();
        set_mode(&spy, 0o644);
        assert_eq!(searched(), Search::Nothing, "it cannot be executed");
        set_mode(&spy, 0o755);
        set_mode(&bin, 0o755);
        let real = fs::canonicalize(&spy).unwrap();
        assert_eq!(searched(), Search::Found(real));
    }

    #[test]
    fn what_others_may_change_is_not_run() {
        let folder = tempfile::tempdir().unwrap();
        let bin = folder.path().join("bin");
        fs::create_dir(&bin).unwrap();
        let spy = bin.join("slowpath-none");
        fs::write(&spy, "").unwrap();
        let searched = |program: u32, own: u32, above: u32| {
            set_mode(&spy, program);
            set_mode(&bin, own);
            set_mode(folder.path(), above);
            search("slowpath-none", std::slice::from_ref(&bin))
        };
        let changeable = Search::Changeable(spy.clone());
        assert_eq!(searched(0o775, 0o755, 0o755), changeable);
        assert_eq!(searched(0o755, 0o757, 0o755), changeable);
        assert_eq!(searched(0o755, 0o755, 0o777), changeable);
        let real = Search::Found(fs::canonicalize(&spy).unwrap());
        assert_eq!(searched(0o755, 0o755, 0o1777), real);
        // A link in a folder that no one can change leads to one that others can.
        let target = folder.path().join("others");
        fs::create_dir(&target).unwrap();
        fs::rename(&spy, target.join("real")).unwrap();
        std::os::unix::fs::symlink(target.join("real"), &spy).unwrap();
        set_mode(&target, 0o777);
        let searched = search("slowpath-none", std::slice::from_ref(&bin));
        assert_eq!(searched, changeable);
    }

    #[test]
    fn only_a_plain_file_is_taken_over() {
        let scratch = scratch().unwrap();
        assert_eq!(scratch.path().metadata().unwrap().mode() & 0o777, 0o700);
        let (outer, inner) = handed_to(geteuid().as_raw()).unwrap();
        assert_eq!(outer.path().metadata().unwrap().mode() & 0o777, 0o711);
        let (told, kept) = (inner.join("recording"), scratch.path().join("kept"));
        assert!(taken_over(&told, &kept).is_err());
        std::os::unix::fs::symlink("/etc/passwd", &told).unwrap();
        assert!(taken_over(&told, &kept).is_err(), "a link");
        assert!(taken_over(&inner, &kept).is_err(), "a folder");
        fs::remove_file(&told).unwrap();
        fs::write(&told, "recorded").unwrap();
        taken_over(&told, &kept).unwrap();
        assert_eq!(fs::read(&kept).unwrap(), b"recorded");
        assert!(taken_over(&told, &kept).is_err(), "it is there already");
    }

    #[test]
    fn what_a_program_says_and_why_it_failed_is_told() {
        let folder = scratch().unwrap();
        let never = AtomicBool::new(false);
        let shell = |script: &str, longest_ms, over: &AtomicBool| {
            let mut command = Command::new("/bin/sh");
            command.args(["-c", script]);
            let longest = Duration::from_millis(longest_ms);
            ran(command, "sh", &Limits { longest, over }, folder.path())
        };
        assert_eq!(shell("echo said", 10_000, &never).unwrap(), "said\n");
        let why = shell("echo >&2; echo no such process >&2; exit 3", 10_000, &never);
        let why = why.unwrap_err();
        assert!(
            why.contains("exit status: 3") && why.ends_with("no such process"),
            "{why}"
        );
        assert_eq!(
            shell("sleep 60", 1, &never).unwrap_err(),
            "sh: it took too long"
        );
        let over = AtomicBool::new(true);
        let why = shell("sleep 60", 60_000, &over).unwrap_err();
        assert_eq!(why, "sh: the window was over before");
    }
}
