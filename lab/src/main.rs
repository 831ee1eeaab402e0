//! Small sick servers with known causes, each with a healthy twin: the ground truth that the
//! diagnosis is tested against.
//!
//! A server prints one line of JSON when it listens and one when SIGTERM or SIGINT ends it. The
//! second is its truth: how often it did what makes it sick, counted where it happens.
#![allow(clippy::disallowed_methods, reason = "the lab is made of effects")]

mod cgroup;
mod companion;
mod entries;
mod event_loop;
mod guardian;
mod http;
mod interpreter;
mod lock;
mod options;
mod pathologies;
mod score;
mod story;
mod sys;
mod upstream;
mod work;
mod worker;

use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::process::ExitCode;

use options::Options;
use pathologies::{NO_CAUSE, Pathology, REGISTRY, Refusal};
use sys::Termination;

/// The command line or the machine made the run impossible.
const EXIT_FAILED: u8 = 1;
const EXIT_USAGE: u8 = 2;
/// What test runners take for "skipped": this machine does not let the fault be made.
const EXIT_SKIPPED: u8 = 77;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [word, rest @ ..] = arguments.as_slice()
        && word == score::WORD
    {
        return score::run(rest);
    }
    if let [word, rest @ ..] = arguments.as_slice()
        && word == story::WORD
    {
        return story::run(rest);
    }
    let (code, complaint) = match dispatch(&arguments) {
        Ok(()) => return ExitCode::SUCCESS,
        Err(Failure::Usage(text)) => (EXIT_USAGE, format!("{text}; see lab --help")),
        Err(Failure::Skipped(text)) => (EXIT_SKIPPED, format!("skipped: {text}")),
        Err(Failure::Io(error)) => (EXIT_FAILED, error.to_string()),
    };
    // With standard error gone there is no one left to report to.
    let _ = writeln!(io::stderr(), "lab: {complaint}");
    ExitCode::from(code)
}

enum Failure {
    Usage(String),
    Skipped(String),
    Io(io::Error),
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::NotPermitted(text) => Self::Skipped(text),
            Refusal::Failed(error) => Self::Io(error),
        }
    }
}

fn dispatch(arguments: &[String]) -> Result<(), Failure> {
    match arguments {
        [] => Err(Failure::Usage("the name of a server is missing".to_owned())),
        [word, duty @ ..] if word == guardian::WORD => Ok(guardian::run(duty)?),
        [word, duty @ ..] if word == companion::WORD => Ok(companion::run(duty)?),
        [word, duty @ ..] if word == worker::WORD => Ok(worker::run(duty)?),
        [word] if word == "--list" => Ok(print(&list())?),
        [word] if word == "--help" => Ok(print(&help(REGISTRY))?),
        [name, rest @ ..] => {
            let entry = REGISTRY.iter().find(|pathology| pathology.name() == *name);
            let entry =
                entry.ok_or_else(|| Failure::Usage(format!("there is no server {name:?}")))?;
            if rest.iter().any(|argument| argument == "--help") {
                return Ok(print(&help(std::slice::from_ref(entry)))?);
            }
            let options = Options::parse(entry.knobs, entry.variants, rest.iter().cloned());
            serve(entry, &options.map_err(Failure::Usage)?)
        }
    }
}

/// Starts one server, waits for its end and prints its truth.
fn serve(pathology: &Pathology, options: &Options) -> Result<(), Failure> {
    let termination = Termination::block()?;
    let server = (pathology.start)(options)?;
    let (address, cause) = (server.address, server.cause);
    let healthy = cause == NO_CAUSE;
    print(&format!(
        "{{\"listening\":\"{address}\",\"cause\":\"{cause}\",\"healthy\":{healthy}}}\n"
    ))?;
    termination.wait()?;
    let truth = (server.stop)()?;
    // The self-check is our own plain ASCII, for which Rust and JSON quote alike.
    print(&format!(
        "{{\"cause\":\"{cause}\",\"healthy\":{healthy},\"requests\":{},\"induced\":{},\
         \"holds\":{},\"self_check\":{:?}}}\n",
        truth.requests, truth.induced, truth.holds, truth.self_check
    ))?;
    Ok(())
}

fn print(text: &str) -> io::Result<()> {
    let mut output = io::stdout().lock();
    output.write_all(text.as_bytes())?;
    output.flush()
}

fn list() -> String {
    let longest = REGISTRY
        .iter()
        .map(|pathology| pathology.name().len())
        .max();
    let width = longest.unwrap_or(0) + 2;
    REGISTRY.iter().fold(String::new(), |mut text, pathology| {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{:width$}{}", pathology.name(), pathology.summary);
        text
    })
}

fn help(pathologies: &[Pathology]) -> String {
    let mut text = "\
Small sick servers with known causes.

usage: lab NAME [--port N] [--healthy] [--variant NAME]... [--OPTION N]...
       lab --list
       lab score --help   measures how often slowpath names the right cause
       lab story --help   five releases of a server, with slowpath's investigation log

Listens on 127.0.0.1:N (0, the default: a free port), says so in one line of JSON, answers GET on
any path until SIGTERM or SIGINT, then prints its truth in one line of JSON. GET /health is
answered without the fault and not counted.

  --port N         port to listen on
  --healthy        the same shape of work without the fault
  --variant NAME   another form of the fault, or a look-alike of it; may be repeated
                   where variants do not exclude each other

\"cause\" is a name of the catalogue of causes, \"none\", or \"uncatalogued\": slow by something
that must not be given the name of this server. In the truth \"induced\" counts what the fault did
and \"holds\" says whether the server was as sick, or as healthy, as asked.

exit codes: 0 done, 1 failed, 2 usage, 77 skipped: not permitted on this machine

"
    .to_owned();
    for pathology in pathologies {
        let details = options::describe(pathology.knobs, pathology.variants);
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "{}\n    {}\n{details}",
            pathology.name(),
            pathology.summary
        );
    }
    text
}
