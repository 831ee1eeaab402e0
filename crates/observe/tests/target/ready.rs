//! Readiness: asked until it is given, refused, or no process is left to give it.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use slowpath_observe::target::{ReadyCheck, TargetError};

use crate::{PATIENCE, run};

/// Answers each connection with the next of `statuses`; keeps to the last one.
fn answers(statuses: &'static [&'static str]) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for turn in 0.. {
            let Ok((mut stream, _)) = listener.accept() else {
                return;
            };
            let mut request = [0; 1024];
            let count = stream.read(&mut request).unwrap_or(0);
            let text = String::from_utf8_lossy(&request[..count]).into_owned();
            let is_right = text.starts_with("GET /health?x=1 HTTP/1.1\r\n")
                && text.contains("\r\nHost: shop:80\r\n")
                && text.contains("\r\nConnection: close\r\n");
            let status = if is_right {
                statuses[turn.min(statuses.len() - 1)]
            } else {
                "400 No"
            };
            let _ = write!(stream, "HTTP/1.1 {status}\r\nContent-Length: 0\r\n\r\n");
        }
    });
    address
}

fn get(address: SocketAddr) -> ReadyCheck {
    let (host_header, path) = ("shop:80".to_owned(), "/health?x=1".to_owned());
    ReadyCheck::Get {
        dial: address.into(),
        host_header,
        path,
    }
}

fn closed_port() -> SocketAddr {
    TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
}

#[test]
fn any_2xx_or_3xx_is_ready() {
    let dir = tempfile::tempdir().unwrap();
    let mut running = run(dir.path(), "exec sleep 60");
    let go_on = AtomicBool::new(false);
    let first_bad = answers(&["503 Starting", "404 Not yet", "302 Found"]);
    running
        .wait_ready(&get(first_bad), PATIENCE, &go_on)
        .unwrap();
    running
        .wait_ready(&get(answers(&["204 No Content"])), PATIENCE, &go_on)
        .unwrap();
    running
        .wait_ready(
            &ReadyCheck::Accepts(answers(&[""]).into()),
            PATIENCE,
            &go_on,
        )
        .unwrap();
    running
        .wait_ready(&ReadyCheck::Started, PATIENCE, &go_on)
        .unwrap();
}

#[test]
fn what_never_answers_well_is_told() {
    let dir = tempfile::tempdir().unwrap();
    let mut running = run(dir.path(), "echo listening elsewhere; exec sleep 60");
    let go_on = AtomicBool::new(false);
    let limit = Duration::from_millis(300);
    let mut text = |check: &ReadyCheck| {
        let error = running.wait_ready(check, limit, &go_on).unwrap_err();
        assert!(matches!(error, TargetError::NotReady { .. }), "{error}");
        error.to_string()
    };
    let refused = text(&ReadyCheck::Accepts(closed_port().into()));
    assert!(
        refused.contains("nothing listens on 127.0.0.1"),
        "{refused}"
    );
    assert!(text(&get(answers(&["500 Broken"]))).contains("answered with 500"));
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let last = text(&get(silent.local_addr().unwrap()));
    assert!(last.contains("not answered"), "{last}");
    assert!(last.contains("listening elsewhere"), "{last}");
}

#[test]
fn an_answer_that_comes_byte_by_byte_is_not_waited_for_for_ever() {
    let dir = tempfile::tempdir().unwrap();
    let mut running = run(dir.path(), "exec sleep 60");
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    // Ends long before it would be taken for no HTTP.
    thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        for _ in 0..1000 {
            thread::sleep(Duration::from_millis(5));
            if stream.write_all(b"H").is_err() {
                return;
            }
        }
    });
    let limit = Duration::from_millis(100);
    let error = running
        .wait_ready(&get(address), limit, &AtomicBool::new(false))
        .unwrap_err();
    let text = error.to_string();
    assert!(text.contains("the request was not answered"), "{text}");
}

#[test]
fn a_death_ends_the_wait_and_its_last_words_are_told() {
    let dir = tempfile::tempdir().unwrap();
    let script = "for i in 1 2 3 4 5 6 7; do echo word $i; done; exit 3";
    let mut running = run(dir.path(), script);
    let check = ReadyCheck::Accepts(closed_port().into());
    let error = running
        .wait_ready(&check, PATIENCE, &AtomicBool::new(false))
        .unwrap_err();
    let TargetError::Died { exit, tail, .. } = &error else {
        panic!("{error}")
    };
    assert_eq!(exit, "exit status 3");
    assert_eq!(*tail, ["word 3", "word 4", "word 5", "word 6", "word 7"]);
}

#[test]
fn somebody_elses_answer_does_not_make_a_dead_process_ready() {
    let dir = tempfile::tempdir().unwrap();
    let mut running = run(dir.path(), "exit 1");
    crate::eventually("the end of the script", || running.exited());
    let check = ReadyCheck::Accepts(answers(&[""]).into());
    let error = running
        .wait_ready(&check, PATIENCE, &AtomicBool::new(false))
        .unwrap_err();
    assert!(matches!(error, TargetError::Died { .. }), "{error}");
}

#[test]
fn the_user_may_interrupt() {
    let dir = tempfile::tempdir().unwrap();
    let mut running = run(dir.path(), "exec sleep 60");
    let stop = AtomicBool::new(false);
    let check = ReadyCheck::Accepts(closed_port().into());
    thread::scope(|scope| {
        scope.spawn(|| {
            thread::sleep(Duration::from_millis(50));
            stop.store(true, Ordering::Relaxed);
        });
        let error = running.wait_ready(&check, PATIENCE, &stop).unwrap_err();
        assert!(matches!(error, TargetError::Interrupted), "{error}");
    });
}
