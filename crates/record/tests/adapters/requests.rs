//! Files with a line for each request.

use slowpath_core::nanos::Nanos;
use slowpath_core::sample::Outcome;
use slowpath_record::adapters::{REQUEST_FORMATS, Requests, Source, detect, detect_requests};

use super::{fixture, same};

fn read(format: &str, name: &str) -> Requests {
    let bytes = fixture(&format!("requests/{name}"));
    let found = detect_requests(&bytes).unwrap();
    assert_eq!(found.name, format, "{name}");
    assert!(detect(&bytes).is_none(), "{name} is read as figures too");
    let source = Source {
        file: name,
        bytes: &bytes,
    };
    found.read(source).unwrap()
}

fn failed(requests: &Requests) -> usize {
    let all = requests.requests.iter();
    all.filter(|request| request.outcome == Outcome::Status)
        .count()
}

#[test]
fn k6_points_are_put_together() {
    // As printed: avg=2.21ms max=7.93ms, 4 out of 8 failed.
    let requests = read("k6-csv", "k6.csv");
    let took: Vec<f64> = requests.requests.iter().map(|r| r.took_ns as f64).collect();
    assert_eq!(took.len(), 8);
    same(took.iter().sum::<f64>() / 8.0, 2_214_823.5);
    same(took.iter().copied().fold(0.0, f64::max), 7_930_356.0);
    assert_eq!((failed(&requests), requests.precision_ns), (4, 1000));
    assert_eq!(requests.endpoints.len(), 2);
    let first = &requests.requests[0];
    // The point has the time of the end: 1795263389448430 us.
    assert_eq!(first.sent_ns + first.took_ns, 1_795_263_389_448_430_000);
    let first_byte = first.first_byte_ns.unwrap();
    assert!(first_byte > 0 && first_byte <= first.took_ns);
}

#[test]
fn k6_seconds_are_coarse_and_json_is_fine() {
    let coarse = read("k6-csv", "k6-seconds.csv");
    assert_eq!(
        (coarse.precision_ns, coarse.requests.len()),
        (1_000_000_000, 8)
    );
    let fine = read("k6-json", "k6.jsonl");
    assert_eq!((fine.precision_ns, fine.requests.len()), (1, 8));
    assert_eq!(failed(&fine), 4);
}

#[test]
fn vegeta_results_of_both_kinds() {
    // As printed: 30 requests, mean 423.071us, max 967.071us, 15 with status 404.
    let requests = read("vegeta-csv", "vegeta.csv");
    let took: Vec<f64> = requests.requests.iter().map(|r| r.took_ns as f64).collect();
    assert_eq!((took.len(), failed(&requests)), (30, 15));
    same(took.iter().sum::<f64>() / 30.0, 423_071.0);
    same(took.iter().copied().fold(0.0, f64::max), 967_071.0);
    let json = read("vegeta-json", "vegeta.jsonl");
    assert_eq!(json.requests, requests.requests[..10]);
}

#[test]
fn samples_hold_what_the_file_says_and_nothing_else() {
    let requests = read("vegeta-csv", "vegeta.csv");
    let (samples, facts) = requests.repeat(3, &requests.endpoints);
    assert_eq!(samples.len(), 30);
    assert!(samples.is_sorted_by_key(|sample| sample.scheduled));
    let one = &samples[0];
    assert_eq!(
        (one.repeat, one.connect_begin, one.connection),
        (3, None, u32::MAX)
    );
    assert_eq!(one.first_byte, None);
    let offered: u64 = facts.endpoints.iter().map(|e| e.offered).sum();
    assert_eq!(offered, 30);
    assert!(samples.iter().all(|s| facts.window.begin <= s.scheduled));
    assert!(samples.iter().all(|s| s.done < facts.window.end));
}

/// How many requests of each endpoint ended so.
fn ends(requests: &Requests) -> Vec<(&str, Outcome, usize)> {
    let mut ends: Vec<(&str, Outcome, usize)> = Vec::new();
    for request in &requests.requests {
        let name = requests.endpoints[usize::from(request.endpoint)].as_str();
        match ends
            .iter_mut()
            .find(|end| (end.0, end.1) == (name, request.outcome))
        {
            Some(end) => end.2 += 1,
            None => ends.push((name, request.outcome, 1)),
        }
    }
    ends.sort_unstable_by_key(|end| end.0);
    ends
}

#[test]
fn jtl_results_are_requests_in_csv_and_in_xml() {
    // As printed: 28 samples, 20 of which are errors.
    for name in ["jmeter.jtl", "jmeter.xml"] {
        let requests = read("jmeter", name);
        let expected = [
            ("checked", Outcome::Check, 4),
            ("closed", Outcome::Refused, 4),
            ("home", Outcome::Ok, 4),
            ("missing, page", Outcome::Status, 4),
            ("moved", Outcome::Ok, 4),
            ("reset", Outcome::Reset, 4),
            ("slow", Outcome::Timeout, 4),
        ];
        assert_eq!(ends(&requests), expected, "{name}");
        assert_eq!(requests.precision_ns, 1_000_000);
        let [transactions, inner] = requests.notes.as_slice() else {
            panic!("{:?}", requests.notes);
        };
        assert!(
            transactions.starts_with("4 results of transaction"),
            "{transactions}"
        );
        assert!(
            inner.starts_with("8 requests that were made inside"),
            "{inner}"
        );
    }
}

#[test]
fn the_time_to_connect_is_a_part_of_a_jtl_result() {
    // 1795273643619,26,home,200,...,Latency 22,Connect 17.
    let requests = read("jmeter", "jmeter.jtl");
    let (samples, _) = requests.repeat(0, &requests.endpoints);
    let first = samples.iter().find(|s| s.outcome == Outcome::Ok).unwrap();
    let since = |at: Option<Nanos>| at.unwrap().since(first.scheduled);
    assert_eq!(since(first.connect_begin), 0);
    assert_eq!(since(first.connected), 17_000_000);
    assert_eq!(since(first.sent), 17_000_000);
    assert_eq!(since(first.first_byte), 22_000_000);
    assert_eq!(first.latency_ns(), 26_000_000);
    let refused = samples.iter().find(|s| s.outcome == Outcome::Refused);
    assert_eq!(refused.unwrap().sent, None);
    let reset = samples.iter().find(|s| s.outcome == Outcome::Reset);
    assert_eq!(reset.unwrap().received_bytes, 0);
}

fn refused(name: &str, bytes: &[u8]) -> Vec<String> {
    let source = Source { file: name, bytes };
    let format = REQUEST_FORMATS.iter().find(|f| f.name == "jmeter").unwrap();
    let errors = format.read(source).unwrap_err();
    errors.iter().map(ToString::to_string).collect()
}

#[test]
fn mistakes_in_a_jtl_have_lines_and_are_not_told_without_end() {
    let text = String::from_utf8(fixture("requests/jmeter.jtl")).unwrap();
    let errors = refused("out.jtl", text.replace(",26,home", ",soon,home").as_bytes());
    assert!(
        errors[0].starts_with("out.jtl:2: \"soon\" in elapsed"),
        "{errors:?}"
    );
    let errors = refused("out.jtl", text.replace("elapsed", "took").as_bytes());
    assert!(
        errors[0].starts_with("out.jtl:1: the first line does not name"),
        "{errors:?}"
    );
    let dates = text.replace("\n1795", "\n2026/11/21 ");
    let errors = refused("out.jtl", dates.as_bytes());
    assert_eq!(errors.len(), 11);
    assert!(
        errors[10].starts_with("out.jtl: 26 further lines of it are wrong"),
        "{errors:?}"
    );
    let xml = String::from_utf8(fixture("requests/jmeter.xml")).unwrap();
    let errors = refused("out.xml", xml.replacen("ts=\"1795", "ts=\"x", 1).as_bytes());
    assert!(errors[0].starts_with("out.xml:3: \"x"), "{errors:?}");
}

#[test]
fn damaged_requests_are_read_or_refused() {
    for name in [
        "k6.csv",
        "k6.jsonl",
        "vegeta.csv",
        "vegeta.jsonl",
        "jmeter.jtl",
        "jmeter.xml",
    ] {
        let bytes = fixture(&format!("requests/{name}"));
        for at in (0..bytes.len()).step_by(1499) {
            for piece in [
                &b""[..],
                b"-1",
                b"99999999999999999999",
                b"\"",
                b"\xff",
                b",",
            ] {
                let end = (at + 7).min(bytes.len());
                let damaged = [&bytes[..at], piece, &bytes[end..]].concat();
                let source = Source {
                    file: name,
                    bytes: &damaged,
                };
                for format in REQUEST_FORMATS {
                    if let Ok(requests) = format.read(source) {
                        requests.repeat(0, &requests.endpoints);
                    }
                }
            }
        }
    }
}

#[test]
fn a_result_that_does_not_say_whether_it_is_a_success_is_judged_by_its_status() {
    let text = "timeStamp,elapsed,label,responseCode\n1700000000000,12,home,200\n\
                1700000000020,13,home,503\n";
    let format = REQUEST_FORMATS.iter().find(|f| f.name == "jmeter").unwrap();
    let source = |text: &'static str| Source {
        file: "short.jtl",
        bytes: text.as_bytes(),
    };
    let read = format.read(source(text)).unwrap();
    let outcomes: Vec<Outcome> = read.requests.iter().map(|r| r.outcome).collect();
    assert_eq!(outcomes, [Outcome::Ok, Outcome::Status]);
    let note = read
        .notes
        .iter()
        .find(|n| n.contains("judged by their status"));
    assert!(note.unwrap().starts_with("2 results"), "{:?}", read.notes);
    let odd = "timeStamp,elapsed,label,responseCode,success\n1700000000000,12,home,200,yes\n";
    assert!(refused("short.jtl", odd.as_bytes())[0].contains("neither true nor false"));
}
