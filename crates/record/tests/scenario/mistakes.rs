//! Every mistake has its line, its reason and a remedy, and all are reported at once.

use super::{DESIGN, LEAST, SHOP, read};

pub(super) fn mistakes(text: &str) -> Vec<String> {
    read(text)
        .expect_err("it has mistakes")
        .iter()
        .map(ToString::to_string)
        .collect()
}

/// The mistakes of the least scenario with lines added below a table's header or at the end.
pub(super) fn with(header: &str, lines: &str) -> Vec<String> {
    let text = if LEAST.contains(header) {
        LEAST.replace(header, &format!("{header}\n{lines}"))
    } else {
        format!("{LEAST}{header}\n{lines}\n")
    };
    mistakes(&text)
}

#[test]
fn the_design_says_both_models_at_once() {
    let found: Vec<_> = read(DESIGN)
        .unwrap_err()
        .into_iter()
        .map(|mistake| (mistake.line, mistake.key, mistake.what))
        .collect();
    let open = (
        44,
        "user".to_owned(),
        "an open loop has no users".to_owned(),
    );
    assert_eq!(found, [open]);
}

#[test]
fn every_mistake_is_reported_at_once_by_line() {
    let text = "nmae = \"x\"\n[target]\nurl = \"localhost\"\n[load]\nmodel = \"open\"\nusers = 0\n\
        duration = 5\nwarmup = \"1 fortnight\"\n[[endpoint]]\nname = \"a\"\nweight = 0\n\
        request = \"get /\"\n[[endpoint]]\nname = \"a\"\nrequest = \"GET /\"\n";
    assert_eq!(
        mistakes(text),
        [
            "shop.toml:1: nmae: unknown key; did you mean name?",
            "shop.toml:3: target.url: \"localhost\" does not start with http:// or https://; \
             try \"http://127.0.0.1:8080\"",
            "shop.toml:4: load.rate: an open loop needs a rate; add rate = \"100/s\"",
            "shop.toml:6: load.users: out of range; write a number of at least 1",
            "shop.toml:7: load.duration: a number without a unit; try \"10s\" or \"500ms\"",
            "shop.toml:8: load.warmup: \"fortnight\" is no unit of time; \
             try \"10s\" or \"500ms\"",
            "shop.toml:11: endpoint.weight: not above 0; write a number above 0, or leave it out",
            "shop.toml:12: endpoint.request: \"get\" is no method; \
             write a method in capitals and a path: \"GET /path\"",
            "shop.toml:14: endpoint.name: there are two named \"a\"; give each its own name",
        ]
    );
}

#[test]
fn what_is_missing_is_said_where_it_belongs() {
    assert_eq!(
        mistakes(""),
        [
            "shop.toml:1: target: missing; add [target] with url = \"http://127.0.0.1:8080\"",
            "shop.toml:1: endpoint: missing; add [[endpoint]] with request = \"GET /\"",
        ]
    );
    let text = "[target]\n[[endpoint]]\n[[service]]\n[[gate]]\n[pools]\na = {}\n";
    let found: Vec<_> = read(text)
        .unwrap_err()
        .into_iter()
        .map(|m| (m.line, m.key, m.what))
        .collect();
    let expected = [
        (1, "target.url", "missing"),
        (2, "endpoint.name", "missing"),
        (2, "endpoint.request", "missing"),
        (3, "service.name", "missing"),
        (3, "service.command", "missing"),
        (4, "gate.that", "missing"),
        (6, "pools.a.file", "missing"),
    ];
    assert_eq!(
        found,
        expected.map(|(line, key, what)| (line, key.into(), what.into()))
    );
}

#[test]
fn a_syntax_error_does_not_hide_the_rest() {
    let text =
        "[target]\nurl = \"http://a\n[load]\nraet = \"5/s\"\nduration = \"5\"\nusers = = 2\n";
    let found: Vec<_> = read(text)
        .unwrap_err()
        .into_iter()
        .map(|m| (m.line, m.key))
        .collect();
    let expected = [(2, ""), (4, "load.raet"), (5, "load.duration"), (6, "")];
    assert_eq!(found, expected.map(|(line, key)| (line, key.to_owned())));
}

#[test]
fn requests_and_urls_are_held_to_what_can_be_sent() {
    let request = |request: &str| mistakes(&LEAST.replace("GET /", request));
    for (wrong, what) in [
        ("GET", "the path \\\"\\\" does not start with /"),
        ("/", "\\\"/\\\" is no method"),
        ("GET /a b", "' ' cannot stand in a request line"),
        ("GET /a#b", "'#' cannot stand in a request line"),
        (
            "GET http://a/",
            "the path \\\"http://a/\\\" does not start with /",
        ),
    ] {
        let found = request(wrong);
        let what = what.replace('\\', "");
        assert_eq!(found.len(), 1, "{found:#?}");
        assert!(
            found[0].starts_with("shop.toml:5: endpoint.request: ") && found[0].contains(&what)
        );
    }
    let url = |url: &str| mistakes(&LEAST.replace("http://localhost", url));
    for (wrong, what) in [
        (
            "http://a:99999",
            "the port \"99999\" is no number from 1 to 65535",
        ),
        ("http://a/api", "a target has no path"),
        (
            "http://a:{port}",
            "{port} and {tmp} are those of a target that slowpath starts",
        ),
        ("", "empty"),
    ] {
        let found = url(wrong);
        assert_eq!(found.len(), 1, "{found:#?}");
        assert!(
            found[0].contains(&format!("shop.toml:2: target.url: {what}")),
            "{found:?}"
        );
    }
}

#[test]
fn names_of_endpoints_are_such_as_gates_can_say() {
    for wrong in ["two words", "a<b", "baseline", "baseline.x", " "] {
        let found = mistakes(&LEAST.replace("home", wrong));
        assert_eq!(found.len(), 1, "{wrong}: {found:#?}");
        assert!(
            found[0].starts_with("shop.toml:4: endpoint.name: "),
            "{found:?}"
        );
    }
}

#[test]
fn every_mistake_in_a_class_of_users_is_said() {
    let lines = "name = \"u\"\nshare = 0\nendpoints = { cart = 1, home = -1 }";
    let found = with("[[user]]", lines);
    assert_eq!(found.len(), 3, "{found:#?}");
    assert!(found[0].contains("user.share: not above 0"));
    assert!(found[1].contains("user.endpoints.cart: there is no endpoint named \"cart\""));
    assert!(found[2].contains("user.endpoints.home: not above 0"));
}

#[test]
fn the_shop_has_no_mistakes_and_loses_its_meaning_line_by_line() {
    assert_eq!(read(SHOP).map(|shop| shop.name), Ok("shop".to_owned()));
    for key in ["url", "request", "that", "command"] {
        let broken = SHOP.replacen(&format!("\n{key} = "), &format!("\n{key}x = "), 1);
        let line = 1 + broken
            .lines()
            .position(|line| line.starts_with(&format!("{key}x")))
            .unwrap();
        let found = read(&broken).unwrap_err();
        let misspelt = format!("did you mean {key}?");
        assert!(
            found.iter().any(|m| m.line == line && m.remedy == misspelt),
            "{found:#?}"
        );
    }
}

#[test]
fn a_request_has_one_body() {
    let found = with("[[endpoint]]", "form = { a = \"b\" }\nbody_file = \"x\"");
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].contains("a request has one body"), "{found:?}");
    let found = with("[[endpoint]]", "body_file = \"{seq}.bin\"");
    assert!(found[0].contains("endpoint.body_file"), "{found:?}");
}

#[test]
fn what_contradicts_a_load_that_is_not_written_has_a_line_too() {
    let text = "[target]\nurl = \"http://127.0.0.1:1\"\n[[endpoint]]\nname = \"a\"\n\
        request = \"GET /\"\nrate = 5\n";
    let found = mistakes(text);
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(
        found[0].starts_with("shop.toml:1: load.rate: "),
        "{found:?}"
    );
    assert!(
        found[1].starts_with("shop.toml:6: endpoint.rate: "),
        "{found:?}"
    );
}
