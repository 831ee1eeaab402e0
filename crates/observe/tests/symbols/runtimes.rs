//! What runs a process is recognised for real ones.

use std::fs;
use std::path::Path;
use std::process::Command;

use slowpath_core::trace::Runtime;
use slowpath_observe::symbols::runtime;

use crate::{Running, start, until};

const PROC: &str = "/proc";

/// Waits for the runtime: a process is that of its parent until it has become another program, and
/// maps its libraries after that.
fn becomes(mut running: Running, expected: Runtime) {
    let pid = running.pid();
    let mut ended = false;
    until(&format!("process {pid} is {expected:?}"), || {
        // What is installed may be out of order.
        ended = running.has_ended();
        ended || runtime(Path::new(PROC), pid) == expected
    });
    if ended {
        println!("skipped: {expected:?} does not run here");
    }
}

#[test]
fn a_shell_is_native() {
    let dir = tempfile::tempdir().unwrap();
    let running = start(dir.path(), "sleep", &["60"]).unwrap();
    until("it sleeps", || {
        let name = fs::read_to_string(format!("/proc/{}/comm", running.pid()));
        name.is_ok_and(|name| name == "sleep\n")
    });
    assert_eq!(runtime(Path::new(PROC), running.pid()), Runtime::Native);
}

#[test]
fn one_that_is_gone_is_unknown() {
    let mut child = Command::new("true").spawn().unwrap();
    child.wait().unwrap();
    assert_eq!(runtime(Path::new(PROC), child.id()), Runtime::Unknown);
}

#[test]
fn python_is_python() {
    let dir = tempfile::tempdir().unwrap();
    let code = "import time; time.sleep(60)";
    // The name may be a script that runs it (pyenv), which takes its time.
    let Some(running) = start(dir.path(), "python3", &["-c", code]) else {
        return;
    };
    becomes(running, Runtime::Python);
}

#[test]
fn node_is_node() {
    let dir = tempfile::tempdir().unwrap();
    let code = "setTimeout(() => {}, 60000)";
    if let Some(running) = start(dir.path(), "node", &["-e", code]) {
        becomes(running, Runtime::Node);
    }
}

#[test]
fn java_is_a_java_virtual_machine() {
    let dir = tempfile::tempdir().unwrap();
    let code = "class Wait { public static void main(String[] a) throws Exception {\
                 Thread.sleep(60000); } }";
    fs::write(dir.path().join("Wait.java"), code).unwrap();
    if let Some(running) = start(dir.path(), "java", &["Wait.java"]) {
        becomes(running, Runtime::Jvm);
    }
}

/// The tool of Go is written in Go; nothing has to be compiled.
#[test]
fn go_is_go() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("go.mod"), "module wait\n").unwrap();
    // It reads the file of overlays from its end of a pipe that no process writes to.
    let pipe = dir.path().join("pipe");
    let made = Command::new("mkfifo").arg(&pipe).status();
    if !made.is_ok_and(|status| status.success()) {
        println!("skipped: mkfifo");
        return;
    }
    let pipe = pipe.to_string_lossy().into_owned();
    let Some(running) = start(dir.path(), "go", &["list", "-overlay", &pipe]) else {
        return;
    };
    becomes(running, Runtime::Go);
}
