//! Files with a line for each request.

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

#[test]
fn jtl_lines_are_requests() {
    let text = "timeStamp,elapsed,label,responseCode,responseMessage,success,bytes,sentBytes,Latency,\
                Connect\n\
                1795263389448,12,home,200,OK,true,2704,130,9,1\n\
                1795263389460,3,home,404,Not Found,false,153,130,3,0\n\
                1795263389470,1,home,Non HTTP response code: java.net.ConnectException,\
                Connection refused,false,0,0,0,1\n";
    let source = Source {
        file: "out.jtl",
        bytes: text.as_bytes(),
    };
    let format = detect_requests(source.bytes).unwrap();
    let requests = format.read(source).unwrap();
    let outcomes: Vec<Outcome> = requests.requests.iter().map(|r| r.outcome).collect();
    assert_eq!(outcomes, [Outcome::Ok, Outcome::Status, Outcome::Refused]);
    assert_eq!(requests.requests[0].first_byte_ns, Some(9_000_000));
    assert_eq!(requests.requests[2].first_byte_ns, None);
    let broken = text.replace(",12,home", ",soon,home");
    let source = Source {
        bytes: broken.as_bytes(),
        ..source
    };
    let errors = format.read(source).unwrap_err();
    assert!(
        errors[0]
            .to_string()
            .starts_with("out.jtl:2: \"soon\" in elapsed")
    );
}

#[test]
fn damaged_requests_are_read_or_refused() {
    for name in ["k6.csv", "k6.jsonl", "vegeta.csv", "vegeta.jsonl"] {
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
