//! What one answer gives to the next request of the same user.

use std::collections::BTreeMap;
use std::io::Write;
use std::sync::Mutex;

use slowpath_core::sample::{Outcome, Phase};
use slowpath_core::scenario::{
    Endpoint, Escape, Extract, Extraction, LoadDraft, Part, Scenario, Template, UserClass,
};

use crate::server::{After, Server};
use crate::{run, scenario};

/// Hands out a token at each login and says by which token a list was asked for; every `refuses`th
/// login has none.
fn shop(refuses: u32) -> Server {
    let logins = Mutex::new(0_u32);
    Server::start(move |head, stream| {
        let path = head.split(' ').nth(1).unwrap();
        let (header, body) = if path == "/login" {
            let mut logins = logins.lock().unwrap();
            *logins += 1;
            if logins.is_multiple_of(refuses) {
                (String::new(), "{}".to_owned())
            } else {
                let token = *logins;
                let header = format!("X-Session: s{token}\r\n");
                (header, format!("{{\"auth\":{{\"token\":\"t {token}\"}}}}"))
            }
        } else {
            (String::new(), format!("<a id=\"{}\">", path.len()))
        };
        let length = body.len();
        let answer = format!("HTTP/1.1 200 OK\r\n{header}Content-Length: {length}\r\n\r\n{body}");
        let _ = stream.write_all(answer.as_bytes());
        After::Keep
    })
}

fn text(parts: Vec<Part>, escape: Escape) -> Template {
    Template { parts, escape }
}

/// `login` gives the variables 0 and 1, `list` needs both.
fn with_login(users: u32) -> Scenario {
    let mut scenario = scenario(&LoadDraft {
        users: Some(users),
        duration_ns: Some(300_000_000),
        warmup_ns: Some(50_000_000),
        ..LoadDraft::default()
    });
    scenario.variables = vec!["token".into(), "session".into()];
    let mut login = Endpoint::get("login".into(), Template::literal("/login", Escape::Url));
    let extract = |variable, from| Extract { variable, from };
    login.extract = vec![
        extract(0, Extraction::Json("$.auth.token".into())),
        extract(1, Extraction::Header("x-session".into())),
    ];
    let path = vec![Part::Literal("/list/".into()), Part::Variable(0)];
    let mut list = Endpoint::get("list".into(), text(path, Escape::Url));
    let header = text(vec![Part::Variable(1)], Escape::None);
    list.headers = vec![("X-Session".into(), header)];
    list.key = None;
    scenario.endpoints = vec![login, list];
    scenario
}

/// Every list was asked for with a token and the session that belongs to it.
fn assert_consistent(server: &Server) -> usize {
    let seen = server.seen.lock().unwrap();
    let lists = seen.iter().filter(|head| head.starts_with("GET /list/"));
    let mut count = 0;
    for head in lists {
        let token = head.split(' ').nth(1).unwrap();
        let token = token.strip_prefix("/list/t%20").unwrap();
        assert!(head.contains(&format!("X-Session: s{token}\r\n")), "{head}");
        count += 1;
    }
    count
}

#[test]
fn a_session_takes_from_answers_and_starts_again_where_it_could_not() {
    let server = shop(5);
    let mut scenario = with_login(3);
    scenario.users = vec![UserClass {
        name: "shopper".into(),
        share: 1.0,
        think: None,
        endpoints: vec![],
        steps: vec!["login".into(), "list".into(), "list".into()],
    }];
    let run = run(scenario, server.address);
    assert!(assert_consistent(&server) > 10);
    let mut users: BTreeMap<u32, Vec<(u16, Outcome, Phase)>> = BTreeMap::new();
    for sample in &run.samples {
        let steps = users.entry(sample.user).or_default();
        steps.push((sample.endpoint, sample.outcome, sample.phase));
    }
    let mut failed = 0;
    for steps in users.values() {
        let mut expected = 0;
        for &(endpoint, outcome, phase) in steps {
            assert_eq!(endpoint, [0, 1, 1][expected], "{steps:?}");
            if outcome == Outcome::Ok {
                expected = (expected + 1) % 3;
            } else {
                assert_eq!(
                    (endpoint, outcome, phase),
                    (0, Outcome::Check, Phase::Check)
                );
                failed += 1;
                expected = 0;
            }
        }
    }
    assert!(failed > 1);
}

#[test]
fn what_needs_a_variable_waits_until_it_is_known() {
    let server = shop(u32::MAX);
    let run = run(with_login(4), server.address);
    assert!(
        run.samples
            .iter()
            .all(|sample| sample.outcome == Outcome::Ok)
    );
    assert!(assert_consistent(&server) > 10);
    let mut first: BTreeMap<u32, u16> = BTreeMap::new();
    for sample in &run.samples {
        first.entry(sample.user).or_insert(sample.endpoint);
    }
    assert!(first.values().all(|endpoint| *endpoint == 0), "{first:?}");
    assert_eq!(first.len(), 4);
}
