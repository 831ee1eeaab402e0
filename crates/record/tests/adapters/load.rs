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
    assert!(harvest.notes[0].contains("coordinated omission"));
}

#[test]
fn wrk_counts_what_failed() {
    let harvest = read("wrk", "wrk-errors.txt");
    says(&harvest, "/missing.errors", 1.0);
    says(&harvest, "/missing.mean", 570.90e3);
    assert_eq!(harvest.failures, ["Non-2xx or 3xx responses: 74851"]);
}

#[test]
fn oha_reads_as_it_prints() {
    let harvest = read("oha", "oha.json");
    says(&harvest, "requests.p50", 166_737.0);
    says(&harvest, "requests.p99.9", 5_622_083.0);
    says(&harvest, "requests.max", 7_730_028.0);
    says(&harvest, "requests.rate", 6_548.149);
    // 6562 with status 200, 2 aborted when the time was over.
    says(&harvest, "requests.errors", 2.0 / 6564.0);
    assert_eq!(harvest.failures, ["2 x aborted due to deadline"]);
}

#[test]
fn k6_summaries_of_both_kinds() {
    // As printed: avg=707.01us med=127.11us max=5.36ms p(90)=1.09ms, 839.758818/s, 50 % failed.
    let harvest = read("k6", "k6-summary-export.json");
    says(&harvest, "requests.mean", 707_013.1);
    says(&harvest, "requests.p50", 127_118.5);
    says(&harvest, "requests.max", 5_366_856.0);
    says(&harvest, "requests.p90", 1_097_958.9);
    says(&harvest, "requests.rate", 839.758_818);
    says(&harvest, "requests.errors", 0.5);
    says(&harvest, "expected_response:true.p50", 156_888.0);
    let harvest = read("k6", "k6-summary.json");
    says(&harvest, "expected_response:true.p90", 29_760_514.4);
    says(&harvest, "requests.rate", 6.625_341_77);
    assert_eq!(take(&harvest, "requests.p99").figures[0].n, Some(14));
}

#[test]
fn locust_statistics() {
    let harvest = read("locust", "locust_stats.csv");
    // As printed at the end, one request later: medians 24, 23 and 24 ms, all of /missing failed.
    says(&harvest, "GET /index.html.p50", 24e6);
    says(&harvest, "GET /missing.p50", 23e6);
    says(&harvest, "Aggregated.p50", 24e6);
    says(&harvest, "GET /missing.errors", 1.0);
    says(&harvest, "Aggregated.errors", 81.0 / 275.0);
    says(&harvest, "GET /index.html.p98", 230e6);
    says(&harvest, "Aggregated.rate", 44.507_334_1);
    let history = read("locust", "locust_stats_history.csv");
    assert!(take(&history, "Aggregated.p50").figures[0].value > 0.0);
}

#[test]
fn vegeta_report() {
    // As printed: 2.323ms, 428.245us, 11.005ms, 16.115ms; rate 21.21, throughput 21.20.
    let harvest = read("vegeta", "vegeta-report.json");
    says(&harvest, "requests.mean", 2_323_362.0);
    says(&harvest, "requests.p50", 428_245.0);
    says(&harvest, "requests.p90", 11_005_450.0);
    says(&harvest, "requests.p99", 16_115_234.0);
    says(&harvest, "requests.rate", 21.196_449_9);
    says(&harvest, "requests.offered", 21.205_871);
    says(&harvest, "requests.errors", 0.0);
}

#[test]
fn autocannon_document() {
    let harvest = read("autocannon", "autocannon.json");
    says(&harvest, "/index.html.p99", 20e6);
    says(&harvest, "/index.html.p99.9", 82e6);
    says(&harvest, "/index.html.rate", 4851.0 / 2.04);
    says(&harvest, "/index.html.errors", 0.0);
}
