//! One execution of a benchmark command: started under the guardian, timed, its output kept.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use slowpath_core::bench::{CpuTime, Execution, aside};
use slowpath_observe::guardian::Guardian;
use slowpath_observe::host::{ClockReader, Examiner};
use slowpath_observe::target::{Awaited, Launch, Running, Spent, start_apart};
use slowpath_record::adapters::Invocation;

use crate::exit::Problem;
use crate::notes;

/// Where executions happen and what is common to them.
#[derive(Debug)]
pub(crate) struct Bench<'a> {
    /// The run's directory.
    pub(crate) dir: &'a Path,
    /// Where the command runs.
    pub(crate) cwd: PathBuf,
    /// After how long it is ended.
    pub(crate) timeout: Duration,
    pub(crate) stop: &'a AtomicBool,
    pub(crate) guardian: &'a Guardian,
    pub(crate) examiner: Examiner,
}

/// The files of one execution.
#[derive(Clone, Debug)]
pub(crate) struct Kept {
    /// What it wrote to stdout.
    pub(crate) stdout: PathBuf,
    /// What it wrote to stderr.
    pub(crate) stderr: PathBuf,
    /// The folder for whatever else it leaves.
    pub(crate) folder: PathBuf,
}

impl Bench<'_> {
    /// The files of execution `number`, whose folders are made.
    pub(crate) fn keep(&self, number: u32) -> Result<Kept, Problem> {
        let logs = self.dir.join("logs");
        let folder = self.dir.join("output").join(format!("{number:02}"));
        for folder in [&logs, &folder] {
            fs::create_dir_all(folder).map_err(|error| {
                let what = format!("cannot create {}: {error}", folder.display());
                Problem::environment(what, "make room there, or give --out another directory")
            })?;
        }
        Ok(Kept {
            stdout: logs.join(format!("{number:02}.stdout")),
            stderr: logs.join(format!("{number:02}.stderr")),
            folder,
        })
    }

    /// Runs it once. `None` if the user stopped it; then nothing of it counts.
    pub(crate) fn once(
        &self,
        number: u32,
        invocation: &Invocation,
        kept: &Kept,
        expected: Duration,
    ) -> Result<Option<Execution>, Problem> {
        let health = self.examiner.begin(expected, ClockReader::Own);
        let began = notes::now_utc();
        let mut running = self.start(number, invocation, kept)?;
        let ended = running.wait_end(self.timeout, self.stop);
        let stopped = running.stop();
        let health = health.end();
        // What the process wrote went to files of its own; this one is of what started it.
        let own_log = self.dir.join("logs").join(format!("{number:02}.log"));
        if fs::metadata(&own_log).is_ok_and(|log| log.len() == 0) {
            // An empty file that stays does no harm.
            let _ = fs::remove_file(&own_log);
        }
        let (exit, failed, spent) = match ended {
            Awaited::Ended { how, spent } => match how {
                Ok(()) => ("exit status 0".to_owned(), false, spent),
                Err(how) => (how, true, spent),
            },
            Awaited::TimedOut => {
                let limit = self.timeout;
                let spent = Spent {
                    wall_ns: limit.as_nanos() as u64,
                    cpu: None,
                };
                let how = format!("no end within {limit:?}: it was ended");
                (how, true, spent)
            }
            Awaited::Interrupted => return Ok(None),
        };
        let mut trouble = Vec::new();
        if !stopped.left.is_empty() {
            trouble.push(format!(
                "processes that cannot be ended: {:?}",
                stopped.left
            ));
        }
        Ok(Some(Execution {
            number,
            began,
            took_ns: spent.wall_ns,
            cpu: spent.cpu.map(|cpu| CpuTime {
                user_ns: cpu.user_ns,
                system_ns: cpu.system_ns,
            }),
            exit,
            failed,
            aside: aside(&health),
            trouble,
            failures: Vec::new(),
            health: Some(health),
        }))
    }

    fn start(&self, number: u32, invocation: &Invocation, kept: &Kept) -> Result<Running, Problem> {
        let create = |path: &Path| {
            File::create(path).map_err(|error| {
                let what = format!("cannot write {}: {error}", path.display());
                Problem::environment(what, "make room there, or give --out another directory")
            })
        };
        let (out, err) = (create(&kept.stdout)?, create(&kept.stderr)?);
        let launch = Launch {
            command: invocation.command.clone(),
            env: invocation.env.clone(),
            cwd: self.cwd.clone(),
            log_dir: self.dir.join("logs"),
            name: format!("{number:02}"),
            address: None,
        };
        start_apart(&launch, out, err, self.guardian)
            .map_err(|error| Problem::environment(error, "run the command by itself"))
    }
}

/// Paths are given to a process that may change its folder.
pub(crate) fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

/// Refuses a command whose program is not there, before anything is announced.
pub(crate) fn check_program(command: &[String]) -> Result<(), Problem> {
    let program = command.first().map_or("", String::as_str);
    let there = if program.contains('/') {
        Path::new(program).is_file()
    } else {
        let path = std::env::var_os("PATH").unwrap_or_default();
        std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
    };
    if there {
        return Ok(());
    }
    let what = format!("there is no program {program:?}");
    Err(Problem::usage(
        what,
        "install it, or correct the command after --",
    ))
}
