//! A child process that puts right what a server has changed on the machine. It holds the read
//! end of a pipe whose other end dies with the server, however the server dies: SIGKILL too.

use std::fs;
use std::io::{self, BufRead, Read, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use crate::sys::{self, Termination};

/// The word that makes this program a guardian; see [`run`].
pub(crate) const WORD: &str = "--guardian";
/// A process that was killed leaves its cgroup a little later: how often to try, and the pause.
const REMOVE_ATTEMPTS: u32 = 250;
const REMOVE_PAUSE: Duration = Duration::from_millis(20);

/// The server's hold on its guardian.
pub(crate) struct Guardian(Child);

impl Guardian {
    /// Starts this program again as a guardian, in a process group of its own, so that a signal
    /// to the server's group does not reach it.
    pub(crate) fn start(duty: &[&str]) -> io::Result<Self> {
        Command::new("/proc/self/exe")
            .arg(WORD)
            .args(duty)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .process_group(0)
            .spawn()
            .map(Self)
    }

    /// Lets the guardian do its duty and returns what it has to report.
    pub(crate) fn finish(mut self) -> io::Result<String> {
        drop(self.0.stdin.take());
        let mut report = String::new();
        if let Some(mut output) = self.0.stdout.take() {
            output.read_to_string(&mut report)?;
        }
        let status = self.0.wait()?;
        if status.success() {
            Ok(report)
        } else {
            Err(io::Error::other("the guardian failed"))
        }
    }
}

/// The guardian's side: `cgroup PATH` removes that cgroup at the end, `clock STEP_US PERIOD_MS`
/// steps the clock to and fro and ends with a sum of zero, so that no death of the server can
/// fall between a step and its record.
pub(crate) fn run(duty: &[String]) -> io::Result<()> {
    // Ended by the pipe alone; a terminal's Ctrl-C or a stop of the whole tree must not win.
    let _blocked = Termination::block()?;
    match duty {
        [kind, path] if kind == "cgroup" => {
            io::copy(&mut io::stdin().lock(), &mut io::sink())?;
            remove_cgroup(Path::new(path))
        }
        [kind, step_us, period_ms] if kind == "clock" => {
            let number = |text: &String| text.parse::<i64>().map_err(io::Error::other);
            let period = Duration::from_millis(number(period_ms)?.unsigned_abs());
            swing_clock(number(step_us)?, period)
        }
        _ => Err(io::Error::other("unknown duty of a guardian")),
    }
}

fn remove_cgroup(path: &Path) -> io::Result<()> {
    for _ in 0..REMOVE_ATTEMPTS {
        match fs::remove_dir(path) {
            Err(error) if error.kind() == io::ErrorKind::ResourceBusy => {
                thread::sleep(REMOVE_PAUSE);
            }
            result => return result,
        }
    }
    fs::remove_dir(path)
}

/// Steps forward and back alternately, once a period, until standard input ends; then reports the
/// number of steps, the last one to restore included.
fn swing_clock(step_us: i64, period: Duration) -> io::Result<()> {
    let (at_end, end) = mpsc::channel::<()>();
    thread::spawn(move || {
        // The sender is dropped when the server's end of the pipe is gone.
        let _at_end = at_end;
        io::stdin().lock().lines().for_each(drop);
    });
    let mut steps = 0_u64;
    let mut offset_us = 0;
    while end.recv_timeout(period) == Err(RecvTimeoutError::Timeout) {
        let next_us = if offset_us == 0 { step_us } else { -offset_us };
        sys::step_clock(next_us)?;
        offset_us += next_us;
        steps += 1;
    }
    if offset_us != 0 {
        sys::step_clock(-offset_us)?;
        steps += 1;
    }
    // A server that was killed has no ear for the report.
    let _ = writeln!(io::stdout(), "{steps}");
    Ok(())
}
