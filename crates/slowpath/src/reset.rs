//! Steps done one after the other: what makes a pass cold, and what switches a toggle.

use std::fs::{self, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use slowpath_core::scenario::{Places, Scenario, Step, Template};
use slowpath_load::Route;
use slowpath_load::body::Wants;
use slowpath_load::http1::{Fed, Response};
use slowpath_observe::guardian::Guardian;
use slowpath_observe::target::{self, Awaited, Launch};

use crate::exit::Problem;
use crate::interrupt;
use crate::session::{Session, Setting, expand_command, working_folder};

/// How long one step may take: dropping caches of many gigabytes, or restarting a database, takes
/// most of a minute at times.
pub(crate) const STEP_MAX: Duration = Duration::from_mins(1);
/// How often a step under way is looked after.
const EVERY: Duration = Duration::from_millis(20);
/// How long a request's connection may take.
const CONNECT_MAX: Duration = Duration::from_secs(4);
/// Bytes of an answer that the log keeps.
const MOST_LOGGED: usize = 64 * 1024;

/// Where steps are done.
#[derive(Debug)]
pub(crate) struct Ground<'a> {
    pub(crate) scenario: &'a Scenario,
    pub(crate) places: &'a Places,
    pub(crate) route: &'a Route,
    pub(crate) host_header: &'a str,
    pub(crate) logs: &'a Path,
    pub(crate) stop: &'a AtomicBool,
    /// What they are steps of; names their log.
    pub(crate) name: &'a str,
}

impl Ground<'_> {
    fn log(&self) -> PathBuf {
        self.logs.join(format!("{}.log", self.name))
    }
}

/// Does the reset steps of the target; what they say goes to `logs/reset.log`.
pub(crate) fn reset(
    session: &Session,
    setting: &Setting<'_>,
    guardian: &Guardian,
) -> Result<(), Problem> {
    let ground = Ground {
        scenario: setting.scenario,
        places: &session.places,
        route: &session.route,
        host_header: &session.host_header,
        logs: setting.logs,
        stop: setting.stop,
        name: "reset",
    };
    let wanted = &setting.scenario.target.reset;
    steps(&ground, wanted, guardian).map_err(|(step, why)| {
        if interrupt::came(setting.stop) {
            return Problem::interrupted();
        }
        let what = format!("the reset step {step} failed, so the cold pass is not measured: {why}");
        let log = ground.log();
        Problem::invalid(what, format!("what it said is in {}", log.display()))
    })
}

/// Does steps one after the other; in an error, the step that failed, and why.
pub(crate) fn steps(
    ground: &Ground<'_>,
    steps: &[Step],
    guardian: &Guardian,
) -> Result<(), (String, String)> {
    for step in steps {
        let done = match step {
            Step::Request { method, path } => {
                let path = path.expand(ground.places);
                request(ground, method, &path)
            }
            Step::Command(words) => command(ground, guardian, words),
        };
        done.map_err(|why| (in_words(step), why))?;
    }
    Ok(())
}

/// A step as the scenario says it.
fn in_words(step: &Step) -> String {
    let text = |template: &Template| template.as_literal().unwrap_or("...").to_owned();
    match step {
        Step::Request { method, path } => format!("{method} {}", text(path)),
        Step::Command(words) => words.iter().map(text).collect::<Vec<_>>().join(" "),
    }
}

/// A command has done its part when its first process ends with status 0; what it has started
/// beside is ended then, like everything that slowpath starts.
fn command(ground: &Ground<'_>, guardian: &Guardian, words: &[Template]) -> Result<(), String> {
    let launch = Launch {
        command: expand_command(words, ground.places, &ground.scenario.folder),
        env: Vec::new(),
        cwd: working_folder(ground.scenario, None, ground.places),
        log_dir: ground.logs.to_owned(),
        name: ground.name.to_owned(),
        address: None,
    };
    let mut running = target::start(&launch, guardian).map_err(|error| error.to_string())?;
    let ended = match running.wait_end(STEP_MAX, ground.stop) {
        Awaited::Ended { how, .. } => how,
        Awaited::TimedOut => Err(format!("it did not end within {} s", STEP_MAX.as_secs())),
        Awaited::Interrupted => Err("it was interrupted".to_owned()),
    };
    running.stop();
    ended
}

/// Sends a request to the first address that takes it; any 2xx or 3xx is success.
fn request(ground: &Ground<'_>, method: &str, path: &str) -> Result<(), String> {
    let length = match method {
        "POST" | "PUT" | "PATCH" => "Content-Length: 0\r\n",
        _ => "",
    };
    let text = format!(
        "{method} {path} HTTP/1.1\r\nHost: {}\r\nUser-Agent: slowpath\r\nAccept: */*\r\n\
         {length}Connection: close\r\n\r\n",
        ground.host_header
    );
    let mut last = "the target has no address".to_owned();
    for address in &ground.route.addresses {
        let mut stream = match ground.route.open(address, CONNECT_MAX) {
            Ok(stream) => stream,
            Err(error) => {
                last = format!("cannot connect: {error}");
                continue;
            }
        };
        let answer = stream
            .set_patience(EVERY)
            .and_then(|()| exchange(&mut stream, &text, method == "HEAD", ground.stop));
        let (status, said) = answer.map_err(|error| error.to_string())?;
        let first = String::from_utf8_lossy(&said[..said.len().min(MOST_LOGGED)]);
        log(ground, &format!("{method} {path}: {status}\n{first}\n"))
            .map_err(|error| format!("its log cannot be written: {error}"))?;
        return match status {
            200..400 => Ok(()),
            _ => Err(format!("it was answered with {status}")),
        };
    }
    Err(last)
}

fn exchange(
    stream: &mut (impl Read + Write),
    request: &str,
    is_head: bool,
    stop: &AtomicBool,
) -> io::Result<(u16, Vec<u8>)> {
    let mut response = Response::default();
    response.reset(
        is_head,
        Wants {
            body: true,
            ..Wants::default()
        },
    );
    stream.write_all(request.as_bytes())?;
    stream.flush()?;
    let (begun, mut chunk) = (Instant::now(), [0; 16 * 1024]);
    loop {
        let fed = match stream.read(&mut chunk) {
            Ok(0) => match response.end() {
                Fed::Whole => Fed::Whole,
                Fed::More => return Err(io::Error::other("the answer is not whole")),
            },
            Ok(read) => response.feed(&chunk[..read]).map_err(io::Error::other)?,
            Err(error) if is_again(&error) => Fed::More,
            Err(error) => return Err(error),
        };
        if fed == Fed::Whole {
            return Ok((response.status(), response.body().kept().to_vec()));
        }
        // Also of an answer that does not end.
        let given_up = if interrupt::came(stop) {
            "it was interrupted".to_owned()
        } else if begun.elapsed() > STEP_MAX {
            format!("it was not answered within {} s", STEP_MAX.as_secs())
        } else {
            continue;
        };
        return Err(io::Error::new(ErrorKind::TimedOut, given_up));
    }
}

/// Whether a read failed only for now.
fn is_again(error: &io::Error) -> bool {
    use ErrorKind::{Interrupted, TimedOut, WouldBlock};
    matches!(error.kind(), Interrupted | TimedOut | WouldBlock)
}

/// Adds to the log of the steps.
fn log(ground: &Ground<'_>, text: &str) -> io::Result<()> {
    fs::create_dir_all(ground.logs)?;
    let path = ground.log();
    let mut file = OpenOptions::new().create(true).append(true).open(path)?;
    let stamp = crate::notes::now_utc();
    file.write_all(format!("{stamp} {text}").as_bytes())
}

#[cfg(test)]
mod tests {
    use slowpath_core::scenario::Escape;

    use super::*;

    /// Answers without an end.
    struct Endless(usize);

    impl Read for Endless {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            self.0 += 1;
            let said: &[u8] = match self.0 {
                1 => b"HTTP/1.1 200 OK\r\nContent-Length: 9999999999\r\n\r\n",
                1_000 => return Ok(0),
                _ => b"more",
            };
            buffer[..said.len()].copy_from_slice(said);
            Ok(said.len())
        }
    }

    impl Write for Endless {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn an_answer_without_an_end_can_be_interrupted() {
        let mut stream = Endless(0);
        let error = exchange(&mut stream, "", false, &AtomicBool::new(true)).unwrap_err();
        assert_eq!((error.kind(), stream.0), (ErrorKind::TimedOut, 1));
        assert_eq!(error.to_string(), "it was interrupted");
    }

    #[test]
    fn a_step_is_told_as_it_was_written() {
        let literal = |text: &str| Template::literal(text, Escape::None);
        let request = Step::Request {
            method: "POST".to_owned(),
            path: literal("/clear"),
        };
        assert_eq!(in_words(&request), "POST /clear");
        let command = Step::Command(vec![literal("./drop.sh"), literal("all")]);
        assert_eq!(in_words(&command), "./drop.sh all");
    }
}
