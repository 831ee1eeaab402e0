//! Starting a process.

use std::fs::File;
use std::io::{self, ErrorKind};
use std::net::{SocketAddr, TcpListener};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use super::TargetError;
use super::family::{Family, MARK_VARIABLE};
use super::log::Log;
use super::process::Identity;
use super::running::Running;
use crate::guardian::Guardian;
use crate::limits;

/// What is to be started.
#[derive(Clone, Debug)]
pub struct Launch {
    /// The program and its arguments. A program with a slash is relative to `cwd`, one without is
    /// looked for in `PATH`.
    pub command: Vec<String>,
    /// Variables set over the inherited environment.
    pub env: Vec<(String, String)>,
    /// The working folder.
    pub cwd: PathBuf,
    /// Where its output is kept, as `NAME.log`; created if it is missing, never truncated.
    pub log_dir: PathBuf,
    /// What messages and the log call it.
    pub name: String,
    /// Where it is going to listen, if that is known: it must be free before the start, and is
    /// checked to be free again after the stop.
    pub address: Option<SocketAddr>,
}

/// Starts a process in a process group of its own, with no input and with its output kept.
///
/// The guardian knows the process before it exists, so it is ended even when slowpath is killed
/// in the middle of the start. slowpath becomes the reaper of its descendants.
///
/// # Errors
/// When it cannot be started, or its port is taken, or there is no guardian.
pub fn start(launch: &Launch, guardian: &Guardian) -> Result<Running, TargetError> {
    start_with(launch, None, guardian)
}

/// The same, with its stdout and stderr going to files as they are, which are not read along.
///
/// # Errors
/// As [`start`].
pub fn start_apart(
    launch: &Launch,
    out: File,
    err: File,
    guardian: &Guardian,
) -> Result<Running, TargetError> {
    start_with(launch, Some([out, err]), guardian)
}

fn start_with(
    launch: &Launch,
    files: Option<[File; 2]>,
    guardian: &Guardian,
) -> Result<Running, TargetError> {
    let program = launch.command.first().ok_or(TargetError::EmptyCommand)?;
    if !launch.cwd.is_dir() {
        return Err(TargetError::NoFolder(launch.cwd.clone()));
    }
    if let Some(address) = launch.address.filter(|&address| is_taken(address)) {
        return Err(TargetError::PortTaken(address));
    }
    let log_error = |source| TargetError::Log {
        folder: launch.log_dir.clone(),
        source,
    };
    let log = Log::open(&launch.log_dir, &launch.name).map_err(log_error)?;
    let spawn_error = |source| TargetError::Spawn {
        program: program.clone(),
        source,
    };
    // Any pid switches it on: the kernel takes the number as a truth value.
    rustix::process::set_child_subreaper(Some(rustix::process::getpid()))
        .map_err(|errno| spawn_error(errno.into()))?;

    let mut family = Family::announce();
    let entry = guardian.kill_on_death(None, &family)?;
    let mut command = command(launch, program, &family);
    if let Some([out, err]) = files {
        command.stdout(out).stderr(err);
    }
    let began = Instant::now();
    let spawned = command.spawn();
    let mut child = match spawned {
        Ok(child) => child,
        Err(source) => {
            guardian.forget(entry)?;
            return Err(explain(launch, program, source));
        }
    };
    family.leader = Identity::of(child.id());
    let streams = (child.stdout.take(), child.stderr.take());
    // From here on, dropping `running` ends the process.
    let running = Running::new(launch, (child, began), family, log, guardian.clone(), entry);
    running.announce_leader()?;
    if let (Some(out), Some(err)) = streams {
        running.follow(out, err).map_err(spawn_error)?;
    }
    Ok(running)
}

fn command(launch: &Launch, program: &str, family: &Family) -> Command {
    let mut command = match path_of(launch, program) {
        Some(path) => Command::new(path),
        None => Command::new(program),
    };
    command
        .arg0(program)
        .args(&launch.command[1..])
        .envs(launch.env.iter().map(|(name, value)| (name, value)))
        .env(MARK_VARIABLE, &family.mark)
        .current_dir(&launch.cwd)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0);
    limits::as_found(&mut command);
    command
}

/// The file that a program with a slash means.
fn path_of(launch: &Launch, program: &str) -> Option<PathBuf> {
    // Made absolute, since the child looks it up only after it has changed its folder.
    program.contains('/').then(|| {
        let path = launch.cwd.join(program);
        std::path::absolute(&path).unwrap_or(path)
    })
}

fn explain(launch: &Launch, program: &str, source: io::Error) -> TargetError {
    let (named, place) = match path_of(launch, program) {
        Some(path) => (
            path.exists().then(|| path.clone()),
            format!("at {}", path.display()),
        ),
        None => (find_in_path(launch, program), "in PATH".to_owned()),
    };
    let kind = source.kind();
    // A folder of PATH that may not be searched makes a program that is nowhere "denied".
    if named.is_none() && matches!(kind, ErrorKind::NotFound | ErrorKind::PermissionDenied) {
        return TargetError::NoProgram {
            program: program.to_owned(),
            place,
        };
    }
    let path = named.unwrap_or_else(|| PathBuf::from(program));
    let remedy = match kind {
        ErrorKind::NotFound => {
            "the interpreter named in its first line, or its loader, does not exist"
        }
        ErrorKind::PermissionDenied => remedy_for_refusal(&path),
        _ if source.raw_os_error() == Some(libc::ENOEXEC) => {
            "it is no program for this machine; a script begins with #!/bin/sh"
        }
        _ => {
            return TargetError::Spawn {
                program: program.to_owned(),
                source,
            };
        }
    };
    TargetError::NotExecutable { path, remedy }
}

/// The first file of that name in the `PATH` that the process would get.
fn find_in_path(launch: &Launch, program: &str) -> Option<PathBuf> {
    let own = launch.env.iter().rev().find(|(name, _)| name == "PATH");
    let path = own
        .map(|(_, path)| path.into())
        .or_else(|| std::env::var_os("PATH"))?;
    std::env::split_paths(&path)
        .map(|folder| folder.join(program))
        .find(|file| file.is_file())
}

fn remedy_for_refusal(path: &Path) -> &'static str {
    match path.metadata() {
        Ok(metadata) if metadata.is_dir() => "it is a folder",
        Ok(metadata) if metadata.permissions().mode() & 0o111 == 0 => "chmod +x would allow it",
        _ => "this user may not; check the rights of the file and of the folders above it",
    }
}

/// Whether something listens there. A bind shows it without sending anything to that process;
/// connections in TIME_WAIT do not count, since the bind sets SO_REUSEADDR.
pub(super) fn is_taken(address: SocketAddr) -> bool {
    address.port() != 0
        && TcpListener::bind(address).is_err_and(|error| error.kind() == ErrorKind::AddrInUse)
}
