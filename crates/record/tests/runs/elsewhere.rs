//! The Parquet files open in DuckDB and pandas, and say the same there.
//!
//! Takes the interpreter from `PYTHON`, else `python3`; without these packages it is skipped.

use std::env;
use std::path::Path;
use std::process::Command;

use serde_json::Value;
use slowpath_core::sample::{Outcome, Sample};
use slowpath_record::files;

use crate::arbitrary::write_plausible;

#[test]
fn duckdb_and_pandas_read_what_we_wrote() {
    let dir = tempfile::tempdir().unwrap();
    let record = write_plausible(dir.path(), 20_000);
    let python = env::var_os("PYTHON").unwrap_or_else(|| "python3".into());
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/open_elsewhere.py");
    let ran = Command::new(&python)
        .arg(script)
        .args([files::SAMPLES, files::TIMELINE].map(|name| dir.path().join(name)))
        .output();
    let output = match ran {
        Ok(output) if output.status.success() => output,
        Ok(output) if output.status.code() == Some(77) => {
            println!(
                "skipped: {}",
                String::from_utf8_lossy(&output.stdout).trim()
            );
            return;
        }
        Ok(output) => panic!("{}", String::from_utf8_lossy(&output.stderr)),
        Err(error) => {
            println!("skipped: cannot run {}: {error}", python.display());
            return;
        }
    };
    let seen: Value = serde_json::from_slice(&output.stdout).unwrap();

    let samples = record.samples.to_vec();
    let count = |test: fn(&Sample) -> bool| samples.iter().filter(|s| test(s)).count() as u64;
    let mut latencies: Vec<u64> = samples.iter().map(Sample::latency_ns).collect();
    latencies.sort_unstable();
    // The nearest rank, which is what `quantile_disc` and `interpolation="lower"` give here.
    let p99 = latencies[(latencies.len() - 1) * 99 / 100];
    let id = Sample::trace_id(7, 0, samples[17].serial);
    for tool in ["duckdb", "pandas"] {
        let seen = &seen[tool];
        assert_eq!(seen["requests"], samples.len() as u64, "{tool}");
        assert_eq!(
            seen["resets"],
            count(|s| s.outcome == Outcome::Reset),
            "{tool}"
        );
        assert_eq!(seen["without_status"], count(|s| s.status == 0), "{tool}");
        assert_eq!(
            seen["latency_sum_ns"],
            latencies.iter().sum::<u64>(),
            "{tool}"
        );
        assert_eq!(
            seen["recomputed_sum_ns"],
            latencies.iter().sum::<u64>(),
            "{tool}"
        );
        assert_eq!(seen["latency_p99_ns"], p99, "{tool}");
        assert_eq!(
            seen["key_17"],
            record.keys[samples[17].key as usize].as_str(),
            "{tool}"
        );
        assert_eq!(seen["trace_id_17"], format!("{id:032x}"), "{tool}");
        let points = &record.timeline.series[0].points;
        assert_eq!(seen["readings"], points.len() as u64, "{tool}");
        assert_eq!(
            seen["value_sum"],
            points.iter().map(|p| p.value).sum::<f64>(),
            "{tool}"
        );
    }
}
