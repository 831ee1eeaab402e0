//! Cold and warm passes against a server with a cache.

use std::fmt::Write as _;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;

use serde_json::Value;

use crate::support::{Server, assert_exit, of_the_long_list, slowpath, stderr, stdout};

/// Values of the pool.
const IDS: u32 = 60;

/// A scenario of two passes against a server on loopback.
fn scenario(folder: &Path, port: u16, reset: &str) {
    let ids = (0..IDS).fold("id,weight\n".to_owned(), |mut csv, id| {
        let _ = writeln!(csv, "{id},{}", 1 + id % 3);
        csv
    });
    std::fs::write(folder.join("ids.csv"), ids).unwrap();
    let text = format!(
        "[target]\nurl = \"http://127.0.0.1:{port}\"\nreset = [{reset}]\n\
         [load]\nusers = 6\nthink = {{ mean = \"8ms\" }}\nwarmup = \"300ms\"\n\
         duration = \"1500ms\"\nrepeats = 2\npasses = [\"cold\", \"warm\"]\n\
         [pools]\nids = {{ file = \"ids.csv\", column = \"id\", weight = \"weight\" }}\n\
         [[endpoint]]\nname = \"item\"\nrequest = \"GET /cached/{{ids}}\"\n\
         [[endpoint]]\nname = \"home\"\nrequest = \"GET /\"\n\
         [[user]]\nname = \"reader\"\nshare = 2\nendpoints = {{ item = 3, home = 1 }}\n\
         [[user]]\nname = \"guest\"\nsteps = [\"home\", \"item\"]\n"
    );
    std::fs::write(folder.join("s.toml"), text).unwrap();
}

/// What a run of it reports, and what it prints; all that it asks for may have been asked before.
fn run(server: &[&str], is_filled: bool) -> (Value, String) {
    let server = Server::lab(server).unwrap();
    let folder = tempfile::tempdir().unwrap();
    scenario(folder.path(), server.port, "\"POST /clear\"");
    for id in (0..IDS).filter(|_| is_filled) {
        let mut stream = TcpStream::connect(("127.0.0.1", server.port)).unwrap();
        write!(stream, "GET /cached/{id} HTTP/1.1\r\nHost: lab\r\n\r\n").unwrap();
        assert!(stream.read(&mut [0; 1024]).unwrap() > 0);
    }
    let arguments = ["run", "s.toml", "--quiet", "--no-trace", "--json", "r.json"];
    let output = slowpath(folder.path(), &arguments);
    let text = std::fs::read_to_string(folder.path().join("r.json"));
    let report = serde_json::from_str(&text.unwrap_or_default()).unwrap_or_default();
    assert!(report != Value::Null, "{}", stderr(&output));
    assert_exit(output.status.code().unwrap_or(-1), &report, 0);
    (report, stdout(&output))
}

#[test]
fn a_reset_that_empties_the_cache_is_proved() {
    let (report, printed) = run(&["healthy"], false);
    let [cold, warm] = report["passes"].as_array().unwrap().as_slice() else {
        panic!("two passes: {report}")
    };
    assert_eq!(
        (&cold["cold"], &cold["reset"][0]),
        (&true.into(), &"POST /clear".into())
    );
    assert_eq!(cold["proof"]["endpoints"][0]["endpoint"], "item");
    assert_eq!(warm["cold"], Value::Null);
    assert!(
        printed.contains("item (cold)") && printed.contains("item (warm)"),
        "{printed}"
    );
    assert!(printed.contains("the cold pass was cold"), "{printed}");
    let entries = report["endpoints"].as_array().unwrap();
    let shown: Vec<_> = entries.iter().map(|e| (&e["name"], &e["pass"])).collect();
    let expected = [
        ("item", "cold"),
        ("item", "warm"),
        ("home", "cold"),
        ("home", "warm"),
    ];
    let expected = expected.map(|(name, pass)| (Value::from(name), Value::from(pass)));
    assert!(
        shown
            .iter()
            .copied()
            .eq(expected.iter().map(|(name, pass)| (name, pass)))
    );
    let users: Vec<_> = report["users"].as_array().unwrap().iter().collect();
    assert_eq!(
        (&users[0]["name"], &users[0]["users"]),
        (&"reader".into(), &4.into())
    );
    assert_eq!(
        (&users[1]["name"], &users[1]["users"]),
        (&"guest".into(), &2.into())
    );
    let requests = |of: &Value| of["requests"].as_u64().unwrap();
    let all: u64 = entries.iter().map(requests).sum();
    assert_eq!(users.iter().map(|class| requests(class)).sum::<u64>(), all);
}

#[test]
fn a_warm_pass_is_not_called_cold() {
    // A cache that is full and that nothing empties, and none at all.
    let both = [("keeps", true), ("uncached", false)];
    let most = if of_the_long_list() { 2 } else { 1 };
    for (server, is_filled) in both.into_iter().take(most) {
        let (report, printed) = run(&["healthy", "--variant", server], is_filled);
        assert_eq!(report["passes"][0]["cold"], false, "{server}: {report}");
        assert!(printed.contains("item (not cold)"), "{printed}");
        let checks = report["validity"].as_array().unwrap();
        let check = checks.iter().find(|c| c["check"] == "cold-pass").unwrap();
        assert_eq!(check["status"], "warn");
    }
}

#[test]
fn a_reset_that_fails_is_no_cold_pass() {
    let server = Server::lab(&["healthy"]).unwrap();
    for (reset, why) in [
        (
            "\"POST /clear\", [\"sh\", \"-c\", \"echo gone wrong; exit 3\"]",
            "exit status 3",
        ),
        ("[\"./missing.sh\"]", "missing.sh"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        scenario(folder.path(), server.port, reset);
        let output = slowpath(folder.path(), &["run", "s.toml", "--quiet", "--out", "r"]);
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(4), "{said}");
        assert!(
            said.contains("the cold pass is not measured") && said.contains(why),
            "{said}"
        );
        if why.contains("status") {
            let log = std::fs::read_to_string(folder.path().join("r/logs/reset.log")).unwrap();
            assert!(
                log.contains("cleared") && log.contains("gone wrong"),
                "{log}"
            );
        }
    }
}
