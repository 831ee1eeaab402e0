use slowpath_core::stats::constants::{Declared, Explanation, explain};

const MS: f64 = 1e6;

fn ms(name: &str, ms: u64) -> Declared<'_> {
    Declared {
        name,
        ns: ms * 1_000_000,
    }
}

fn terms(explanation: &Explanation) -> Vec<(&str, u32)> {
    let terms = explanation.terms.iter();
    terms.map(|term| (term.name.as_str(), term.times)).collect()
}

#[test]
fn a_known_quantum_is_named_with_its_source() {
    let found = explain(40.3 * MS, 0.5 * MS, &[]);
    assert_eq!(terms(&found[0]), [("delayed ACK", 1)]);
    assert!(found[0].is_remarkable(), "{found:?}");
    assert!(
        found[0].terms[0]
            .source
            .as_deref()
            .unwrap()
            .contains("tcp.h")
    );
    let found = explain(1001.0 * MS, 5.0 * MS, &[]);
    assert_eq!(terms(&found[0]), [("lost SYN", 1)]);
}

/// 440 ms was a retransmission of 200 ms and a poll of 240 ms; eleven delayed ACKs and other
/// sums make it up as well, less simply.
#[test]
fn declared_timers_come_before_sums_of_known_ones() {
    let declared = [ms("poll", 240), ms("uptime_cache_ttl", 60_000)];
    let found = explain(440.0 * MS, 1.0 * MS, &declared);
    assert_eq!(terms(&found[0]), [("poll", 1), ("retransmission", 1)]);
    for pair in found.windows(2) {
        assert!(pair[0].p <= pair[1].p);
    }
    let poll = explain(720.0 * MS, 1.0 * MS, &declared);
    assert_eq!(terms(&poll[0]), [("poll", 3)]);
    assert!(
        poll[0].is_remarkable() && !found[0].is_remarkable(),
        "{found:?}"
    );
    let all = explain(440.0 * MS, 0.05 * MS, &[]);
    assert!(
        all.iter()
            .any(|found| terms(found) == [("delayed ACK", 11)]),
        "{all:?}"
    );
    for found in all {
        assert_eq!(found.sum_ns, 440_000_000);
        assert!(found.off_ns.abs() < 1e-6);
    }
}

/// The more timers there are, and the less is known of the constant, the less a match says.
#[test]
fn more_candidates_make_a_match_more_likely_by_chance() {
    let few = [ms("a", 330)];
    let many: Vec<Declared> = (0..30).map(|i| ms("b", 200 + 13 * i)).collect();
    let p = |declared: &[Declared], tolerance_ms: f64| {
        let found = explain(330.0 * MS, tolerance_ms * MS, declared);
        found.first().map(|found| found.p)
    };
    assert!(p(&few, 1.0).unwrap() < p(&few, 3.0).unwrap());
    assert!(p(&many, 1.0).unwrap() > 10.0 * p(&few, 1.0).unwrap());
    // Within 10 % anything is explained, so nothing is.
    let vague = explain(330.0 * MS, 33.0 * MS, &many);
    assert!(!vague.is_empty() && vague.iter().all(|found| !found.is_remarkable()));
}

#[test]
fn what_fits_nothing_is_not_explained() {
    assert!(explain(173.3 * MS, 0.2 * MS, &[]).is_empty());
    assert!(explain(0.0, 0.0, &[]).is_empty());
    assert!(explain(17.0 * MS, 0.1 * MS, &[ms("off", 0)]).is_empty());
}
