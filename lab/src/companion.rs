//! Another process beside a server, which ends with it: what a server waits for, or what takes its
//! CPU, and is no part of it. It holds the read end of a pipe whose other end dies with the
//! server, however the server dies.

use std::collections::{HashMap, HashSet};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::UdpSocket;
use std::os::unix::process::CommandExt;
use std::process::{ChildStdin, Command, Stdio};
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crate::http::{self, Threaded};
use crate::sys;
use crate::work;

/// The word that makes this program a companion; see [`run`].
pub(crate) const WORD: &str = "--companion";
/// The word before it for the process in between.
const DETACH: &str = "detach";
/// What a busy companion computes between two looks at the clock.
const BURN: Duration = Duration::from_millis(100);

/// The server's hold on its companion.
pub(crate) struct Companion {
    _alive: ChildStdin,
    /// What it said when it was ready.
    pub(crate) said: String,
}

impl Companion {
    /// Starts this program again as a companion. A process in between starts it and ends, so that
    /// it does not count as a child of the server.
    pub(crate) fn start(duty: &[&str]) -> io::Result<Self> {
        let mut between = Command::new("/proc/self/exe")
            .args([WORD, DETACH])
            .args(duty)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .process_group(0)
            .spawn()?;
        let held = "both ends were piped";
        let (stdin, stdout) = (between.stdin.take(), between.stdout.take());
        let (alive, output) = (stdin.expect(held), stdout.expect(held));
        if !between.wait()?.success() {
            return Err(io::Error::other("a companion did not start"));
        }
        let mut said = String::new();
        BufReader::new(output).read_line(&mut said)?;
        Ok(Self {
            _alive: alive,
            said: said.trim().to_owned(),
        })
    }
}

/// The companion's side: `collector DELAY_MS` takes every request after that time, and says its
/// port; `upstream PORT` is the same at that port and no companion: it stays until it is ended;
/// `resolver ADDRESS` resolves names, see [`resolve`]; `burner CPU THREADS` keeps that CPU busy
/// with so many threads; `drain PATH STOPS_MS EVERY_MS` reads a pipe.
pub(crate) fn run(duty: &[String]) -> io::Result<()> {
    let number = |text: &String| text.parse::<u32>().map_err(io::Error::other);
    let said = match duty {
        [word, rest @ ..] if word == DETACH => {
            let next = Command::new("/proc/self/exe").arg(WORD).args(rest).spawn();
            return next.map(drop);
        }
        [kind, delay_ms] if kind == "collector" => collect(number(delay_ms)?, 0)?,
        [kind, address] if kind == "resolver" => resolve(address)?,
        [kind, port] if kind == "upstream" => {
            let port = port.parse().map_err(io::Error::other)?;
            collect(0, port)?;
            loop {
                thread::park();
            }
        }
        [kind, cpu, threads] if kind == "burner" => {
            sys::stay_on(number(cpu)? as usize)?;
            for _ in 0..number(threads)? {
                thread::Builder::new()
                    .name("burner".to_owned())
                    .spawn(burn_for_ever)?;
            }
            "busy".to_owned()
        }
        [kind, path, stops_ms, every_ms] if kind == "drain" => {
            let (stops, every) = (number(stops_ms)?, number(every_ms)?);
            let path = path.clone();
            thread::spawn(move || drain(&path, stops.into(), every.into()));
            "draining".to_owned()
        }
        _ => return Err(io::Error::other("unknown duty of a companion")),
    };
    let mut output = io::stdout().lock();
    writeln!(output, "{said}")?;
    output.flush()?;
    // With the server gone this process returns from here to its end, and its threads go with it.
    io::copy(&mut io::stdin().lock(), &mut io::sink()).map(drop)
}

/// A resolver at an address, which it says again. The first label of a name decides what becomes of a
/// question: `d250` takes so many microseconds, and one that begins with `x` is answered when it is asked for
/// the second time.
fn resolve(address: &str) -> io::Result<String> {
    let socket = Arc::new(UdpSocket::bind(address)?);
    let said = socket.local_addr()?.to_string();
    thread::Builder::new()
        .name("resolver".to_owned())
        .spawn(move || {
            let mut asked = HashSet::new();
            let mut block = [0; 512];
            while let Ok((length, from)) = socket.recv_from(&mut block) {
                let question = block[..length].to_vec();
                let label = label(&question);
                if label.starts_with('x') && asked.insert(label.clone()) {
                    continue;
                }
                let takes = label.strip_prefix('d').and_then(|us| us.parse().ok());
                let socket = Arc::clone(&socket);
                thread::spawn(move || {
                    thread::sleep(Duration::from_micros(takes.unwrap_or(0)));
                    // Who asked may be gone.
                    drop(socket.send_to(&answer(question), from));
                });
            }
        })?;
    Ok(said)
}

/// The first label of the name that a question is about (RFC 1035, 4.1.2).
fn label(question: &[u8]) -> String {
    const HEADER_BYTES: usize = 12;
    let length = question.get(HEADER_BYTES).copied().unwrap_or(0);
    let begin = HEADER_BYTES + 1;
    let label = question.get(begin..begin + usize::from(length));
    String::from_utf8_lossy(label.unwrap_or_default()).into_owned()
}

/// The question with an answer after it: the address 127.0.0.1.
fn answer(mut question: Vec<u8>) -> Vec<u8> {
    if question.len() > 8 {
        // A response without an error, with one answer.
        question[2..4].copy_from_slice(&[0x81, 0x80]);
        question[6..8].copy_from_slice(&[0, 1]);
    }
    // The name of the question, an address of the Internet, kept for no time, four bytes of it.
    question.extend([0xC0, 0x0C, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4, 127, 0, 0, 1]);
    question
}

/// Reads a pipe to its end, but not for `stops_ms` of every `every_ms`.
fn drain(path: &str, stops_ms: u64, every_ms: u64) -> io::Result<()> {
    let mut pipe = std::fs::File::open(path)?;
    let mut block = vec![0; 1 << 16];
    let begun = Instant::now();
    while pipe.read(&mut block)? > 0 {
        let at_ms = begun.elapsed().as_millis() as u64 % every_ms.max(1);
        if at_ms < stops_ms {
            thread::sleep(Duration::from_millis(stops_ms - at_ms));
        }
    }
    Ok(())
}

fn burn_for_ever() {
    loop {
        work::burn(BURN);
    }
}

/// What is said to who asks too early.
const FAILS: &[u8] = b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 2\r\n\r\n{}";
/// No client waits as long for an answer that does not come.
const MUTE: Duration = Duration::from_mins(1);

/// Whether a path is asked for too early: `/flaky/2/17` is so twice.
fn is_early(path: &str, kind: &str, asked: &Mutex<HashMap<String, u32>>) -> bool {
    let rest = path
        .strip_prefix(kind)
        .and_then(|rest| rest.split_once('/'));
    let times = rest.and_then(|(times, _)| times.parse().ok()).unwrap_or(0);
    if times == 0 {
        return false;
    }
    let mut asked = asked.lock().unwrap_or_else(PoisonError::into_inner);
    let before = asked.entry(path.to_owned()).or_default();
    *before += 1;
    *before <= times
}

/// What a path asks for: `/us/250` takes so many microseconds.
fn asked_for(path: &str) -> Option<Duration> {
    let us = path.strip_prefix("/us/")?.parse().ok()?;
    Some(Duration::from_micros(us))
}

/// A server of something that takes its time, at a port or, for 0, a free one; its port.
fn collect(delay_ms: u32, port: u16) -> io::Result<String> {
    let listener = http::listen(port, http::AMPLE_BACKLOG)?;
    let port = listener.local_addr()?.port();
    let delay = Duration::from_millis(delay_ms.into());
    let asked = Mutex::new(HashMap::new());
    Threaded {
        nodelay: true,
        one_request: false,
        requests: Arc::new(AtomicU64::new(0)),
        answer: Box::new(move |request, stream| {
            if is_early(&request.path, "/flaky/", &asked) {
                return stream.write_all(FAILS);
            }
            if is_early(&request.path, "/mute/", &asked) {
                thread::sleep(MUTE);
            }
            thread::sleep(asked_for(&request.path).unwrap_or(delay));
            stream.write_all(&http::response(request, b"{}"))
        }),
    }
    .start(listener)?;
    Ok(port.to_string())
}
