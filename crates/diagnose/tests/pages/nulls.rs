//! Runs in which neither keys nor the number of requests matter: how often one of the causes that
//! are recognised by these is named all the same.

use slowpath_diagnose::diagnosis::Diagnosis;

use crate::case::diagnose;
use crate::case::spec::Case;

/// The causes that are recognised by a covariate of requests alone.
const BY_COVARIATE: &[&str] = &[
    "accumulated-state",
    "cache-expiry",
    "cache-stampede",
    "cold-start",
    "response-size",
    "slow-scan",
];

/// Healthy or sick in another way, each with keys: what it is, and the run.
const NULLS: &[(&str, &str)] = &[
    (
        "hot keys and a heavy tail",
        r#"class = [{ wait = "pareto 1ms a1.3" }]
        keys = { count = 40, skew = 1.0 }"#,
    ),
    (
        "many keys, each asked for once or twice, and a second mode",
        r#"class = [{ share = 0.93 }, { share = 0.07, wait = "lognormal 40ms x1.4" }]
        keys = { count = 2000 }"#,
    ),
    (
        "a lock that is held every 400 ms",
        r#"class = [{ lock = "20us" }]
        keys = { count = 12, skew = 0.5 }
        [[holder]]
        name = "flusher"
        every = "400ms"
        lasts = "40ms""#,
    ),
    (
        "pauses of half a second, and few keys",
        r#"class = [{}]
        keys = { count = 4 }
        [[stall]]
        every = "2s"
        lasts = "lognormal 300ms x1.3"
        kind = "paused""#,
    ),
    (
        "one key that is slow, always",
        r#"class = [{}]
        keys = { count = 20, skew = 0.5, heavy = "lognormal 30ms x1.5" }"#,
    ),
    (
        "bursts in which most are slow, in three repeats",
        r#"repeats = 3
        class = [{}, { share = 0.8, wait = "lognormal 30ms x1.5", when = { every = "4s", lasts = "400ms", at = "1500ms" } }]
        keys = { count = 40 }"#,
    ),
    (
        "responses of all sizes and a pool that is too small",
        r#"workers = 3
        class = [{ wait = "lognormal 11ms x1.6" }]
        keys = { count = 40, bytes = 4000 }"#,
    ),
];

fn run(text: &str, seed: u64) -> Diagnosis {
    let head =
        format!("name = \"null\"\nexpect = \"nothing\"\nduration = \"10s\"\nseed = {seed}\n");
    diagnose(&Case::parse(&(head + text)).unwrap())
}

/// How many of so many seeds name something, and what.
fn named(text: &str, seeds: std::ops::Range<u64>) -> (usize, Vec<String>) {
    let mut names = Vec::new();
    for seed in seeds {
        let diagnosis = run(text, seed);
        let own = diagnosis.findings.iter();
        let own = own.filter(|f| BY_COVARIATE.contains(&f.cause.as_str()));
        names.extend(own.take(1).map(|f| format!("{} ({seed})", f.cause)));
    }
    (names.len(), names)
}

#[test]
fn nothing_is_named_by_keys_that_do_not_matter() {
    for (what, text) in NULLS {
        let (count, names) = named(text, 100..102);
        assert_eq!(count, 0, "{what}: {names:?}");
    }
}

/// `SLOWPATH_LONG_TESTS=1 cargo test -p slowpath-diagnose --test pages hundreds -- --nocapture`
#[test]
fn hundreds_of_runs_that_have_nothing_to_be_found() {
    const SEEDS: u64 = 200;
    if std::env::var_os("SLOWPATH_LONG_TESTS").is_none() {
        println!("skipped: it takes minutes (SLOWPATH_LONG_TESTS=1 runs it)");
        return;
    }
    let mut all = 0;
    for (what, text) in NULLS {
        let (count, names) = named(text, 1_000..1_000 + SEEDS);
        println!("{count:4} of {SEEDS}: {what} {names:?}");
        all += count;
    }
    let runs = SEEDS as usize * NULLS.len();
    assert!(all * 100 <= runs, "{all} of {runs} name something");
}
