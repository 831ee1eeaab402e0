//! Tools that load servers.

use super::{read, says, take};

#[test]
fn wrk_with_its_percentiles() {
    let harvest = read("wrk", "wrk-latency.txt");
    says(&harvest, "/index.html.mean", 6.40e6);
    says(&harvest, "/index.html.max", 154.32e6);
    says(&harvest, "/index.html.p50", 52e3);
    says(&harvest, "/index.html.p90", 4.74e6);
    says(&harvest, "/index.html.p99", 131.03e6);
    says(&harvest, "/index.html.rate", 62_601.56);
    says(&harvest, "/index.html.errors", 0.0);
    let n = take(&harvest, "/index.html.p99").figures[0].n;
    assert_eq!(n, Some(128_524));
    let started = &harvest.conditions.harness["latency starts"];
    assert_eq!(started, "when the request was sent");
    assert!(
        harvest.notes[0].contains("closed loop"),
        "{:?}",
        harvest.notes
    );
}

#[test]
fn wrk_counts_what_failed() {
    let harvest = read("wrk", "wrk-errors.txt");
    says(&harvest, "/missing.errors", 1.0);
    says(&harvest, "/missing.mean", 570.90e3);
    assert_eq!(harvest.failures, ["Non-2xx or 3xx responses: 74851"]);
}
