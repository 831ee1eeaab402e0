//! Every command on the site runs: each page in a folder of its own, in which its blocks with a title are files.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};

use super::fences::{Fence, pages, read};
use crate::support::{Server, lab, root, side_by_side, skipped, slowpath, stderr, stdout};

/// Commands that run elsewhere, with the reason.
const ELSEWHERE: &[(&str, &str)] = &[
    ("cargo run --release -- demo", "readme.rs runs the demo"),
    (
        "slowpath prove last",
        "the demo of readme.rs proves a cause",
    ),
    (
        "cargo install --path crates/slowpath --locked",
        "a release build takes minutes",
    ),
    (
        "cargo run --release -p slowpath-lab -- story",
        "five releases take minutes",
    ),
];

/// Lines of an answer that a host, its privilege and a short run decide about.
const MAY_BE_MISSING: &[&str] = &["why", "note", "next"];

/// A command of a page, what the page shows of its answer, and the exit code that it shows.
struct Step {
    command: String,
    shown: Vec<String>,
    code: i32,
    line: usize,
}

/// The commands of a page: lines with a prompt, and steps of a workflow.
fn steps(fences: &[Fence]) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    for fence in fences {
        let text = fence.text.replace("\\\n", "");
        let mut asks_for_code = false;
        for line in text.lines() {
            let command = match fence.language() {
                "console" => line.strip_prefix("$ "),
                "yaml" => line.trim().strip_prefix("- run: "),
                _ => None,
            };
            match command {
                Some("echo $?") => asks_for_code = true,
                Some(command) => steps.push(Step {
                    command: command.to_owned(),
                    shown: Vec::new(),
                    code: 0,
                    line: fence.line,
                }),
                None if fence.language() != "console" => {}
                None if asks_for_code => {
                    steps.last_mut().unwrap().code = line.parse().unwrap();
                    asks_for_code = false;
                }
                None => steps.last_mut().unwrap().shown.push(line.to_owned()),
            }
        }
    }
    steps
}

/// A scenario that loads for a moment, and the server of this test where it names one that runs.
fn shortened(text: &str, port: u16) -> String {
    let short = |line: &str| {
        let key = line.split(" = ").next().unwrap_or_default();
        match key {
            "duration" => "duration = \"1s\"".to_owned(),
            "warmup" => "warmup = \"200ms\"".to_owned(),
            "repeats" => "repeats = 2".to_owned(),
            _ => line.replace("127.0.0.1:8080", &format!("127.0.0.1:{port}")),
        }
    };
    let has_load = text.lines().any(|line| line == "[load]");
    let lines = text.lines().map(|line| match line {
        "[load]" => "[load]\nwarmup = \"200ms\"".to_owned(),
        _ => short(line),
    });
    let mut lines: Vec<String> = lines.collect();
    if !has_load && text.lines().any(|line| line == "[target]") {
        lines.push("[load]\nduration = \"1s\"\nwarmup = \"200ms\"".to_owned());
    }
    lines.join("\n") + "\n"
}

/// The words of a command, for a moment and without `sudo`.
fn words(command: &str, port: u16) -> Vec<String> {
    let mut words = shlex::split(command).unwrap();
    words.retain(|word| word != "sudo");
    assert_eq!(words.remove(0), "slowpath", "{command}");
    for at in 1..words.len() {
        match words[at - 1].as_str() {
            "-d" | "--duration" => "1s".clone_into(&mut words[at]),
            "--repeats" => "2".clone_into(&mut words[at]),
            _ => words[at] = words[at].replace("127.0.0.1:8080", &format!("127.0.0.1:{port}")),
        }
    }
    words
}

/// Writes the files of a page, as they are for what only reads them.
fn write_files(folder: &Path, fences: &[Fence], verb: &str, port: u16) {
    for fence in fences {
        if let Some(title) = fence.title() {
            let text = match verb {
                "lint" => fence.text.clone(),
                _ => shortened(&fence.text, port),
            };
            std::fs::write(folder.join(title), text).unwrap();
        }
    }
}

/// Writes the server that the scenarios of a page start.
fn write_server(folder: &Path, page: &str) {
    let kind = if page == "answer.md" {
        "lock-held-over-io"
    } else {
        "healthy"
    };
    let program = folder.join("server");
    let text = format!("#!/bin/sh\nexec '{}' {kind} \"$@\"\n", lab().display());
    std::fs::write(&program, text).unwrap();
    std::fs::set_permissions(&program, PermissionsExt::from_mode(0o755)).unwrap();
}

/// Text in which any number stands for all.
fn any_number(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '0'..='9' if out.ends_with('#') => {}
            '0'..='9' => out.push('#'),
            _ => out.push(c),
        }
    }
    out
}

/// A line that a page shows and that is not there: without numbers it has to be printed as it is, with numbers a line has to
/// begin with the same word. Lines that are set in are conclusions, which depend on the host.
fn missing<'a>(shown: &'a [String], said: &str) -> Option<&'a String> {
    let first = |line: &str| any_number(line.split_whitespace().next().unwrap_or_default());
    shown.iter().find(|line| {
        let has_numbers = line.contains(|c: char| c.is_ascii_digit());
        let is_there = if has_numbers {
            said.lines().any(|other| first(other) == first(line))
        } else {
            said.lines()
                .any(|other| other.trim_end() == line.trim_end())
        };
        let is_free = line.is_empty() || line.starts_with(' ');
        !is_there && !is_free && !MAY_BE_MISSING.contains(&first(line).as_str())
    })
}

/// Starts a server of pages, reads its address and interrupts it.
fn serve(folder: &Path, words: &[String]) -> (i32, String) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_slowpath"))
        .args(words)
        .args(["--listen", "127.0.0.1:0"])
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut line = String::new();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    stdout.read_line(&mut line).unwrap();
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    // Interrupted, as it is meant to end.
    assert_eq!(child.wait().unwrap().code(), Some(130));
    (0, line)
}

/// How a page went.
enum Course {
    Ran,
    /// A measurement was invalid: others had the CPUs.
    Spoiled,
    Wrong(String),
}

/// Runs the commands of a page in their order.
fn course(page: &str, fences: &[Fence], port: u16) -> Course {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    write_server(folder, page);
    let mut done = BTreeSet::new();
    for step in steps(fences) {
        let is_elsewhere = ELSEWHERE
            .iter()
            .any(|(command, _)| *command == step.command);
        // A workflow repeats what the page has explained.
        if is_elsewhere || !done.insert(step.command.clone()) {
            continue;
        }
        let place = format!("docs/{page}:{}: {}", step.line, step.command);
        let words = words(&step.command, port);
        write_files(folder, fences, &words[0], port);
        let (code, said) = if words[0] == "serve" {
            serve(folder, &words)
        } else {
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            let output = slowpath(folder, &words);
            let code = output.status.code().unwrap_or(-1);
            (code, stdout(&output) + &stderr(&output))
        };
        if code == 4 && step.code != 4 {
            return Course::Spoiled;
        }
        if code != step.code {
            let expected = step.code;
            return Course::Wrong(format!("{place}: exit {code} and not {expected}\n{said}"));
        }
        if let Some(line) = missing(&step.shown, &said) {
            return Course::Wrong(format!("{place}: no {line:?} in\n{said}"));
        }
    }
    Course::Ran
}

/// Runs a page. Where others have the CPUs a second try may do, and otherwise says that it could not run.
fn run_page(page: &str, fences: &[Fence], port: u16) {
    if matches!(course(page, fences, port), Course::Ran) {
        return;
    }
    match course(page, fences, port) {
        Course::Ran => {}
        Course::Spoiled => skipped(&format!("the host spoiled runs of docs/{page}")),
        Course::Wrong(what) => panic!("{what}"),
    }
}

#[test]
fn every_command_on_the_site_runs() {
    let server = Server::lab(&["healthy"]).unwrap();
    let mut with_commands: Vec<(String, Vec<Fence>)> = Vec::new();
    for page in pages() {
        let (fences, _) = read(&page);
        if !steps(&fences).is_empty() {
            let name = page.file_name().unwrap().to_string_lossy();
            with_commands.push((name.into_owned(), fences));
        }
    }
    assert!(with_commands.len() > 8, "{}", with_commands.len());
    // The servers are idle most of the time, so that two pages at once leave the CPUs to each other.
    let next = AtomicUsize::new(0);
    let run = || {
        while let Some((name, fences)) = with_commands.get(next.fetch_add(1, Ordering::Relaxed)) {
            run_page(name, fences, server.port);
        }
    };
    side_by_side(&[&run, &run]);
}

#[test]
fn what_runs_elsewhere_is_on_the_site() {
    let all: Vec<Step> = pages()
        .iter()
        .flat_map(|page| steps(&read(page).0))
        .collect();
    for (command, reason) in ELSEWHERE {
        assert!(
            all.iter().any(|step| step.command == *command),
            "{command}: {reason}"
        );
    }
    let manifest = std::fs::read_to_string(root().join("crates/slowpath/Cargo.toml")).unwrap();
    assert!(manifest.contains("name = \"slowpath\""));
    let story = Command::new(lab())
        .args(["story", "--help"])
        .output()
        .unwrap();
    assert!(story.status.success());
}

#[test]
fn commands_stand_in_console_blocks_alone() {
    let is_command = |line: &str| {
        let line = line.trim_start();
        ["$ ", "slowpath ", "sudo ", "cargo "]
            .iter()
            .any(|start| line.starts_with(start))
    };
    for page in pages() {
        let (fences, others) = read(&page);
        let place = page.display();
        for fence in fences {
            let language = fence.language();
            let is_known = ["console", "toml", "text", "yaml"].contains(&language);
            assert!(is_known, "{place}:{}: a block of {language:?}", fence.line);
            let stray = fence.text.lines().find(|line| is_command(line));
            assert!(
                language == "console" || stray.is_none(),
                "{place}:{}: {stray:?}",
                fence.line
            );
        }
        let set_in = others
            .iter()
            .find(|line| line.starts_with("    ") && is_command(line));
        assert_eq!(set_in, None, "{place}");
    }
}
