//! The keys of a scenario.

/// Matches any name in a path, where the user chooses names.
pub(super) const ANY: &str = "*";

/// The known keys of every table whose keys are not the user's to choose. Arrays of tables are
/// named like their tables.
const KNOWN: &[(&str, &[&str])] = &[
    (
        "",
        &[
            "name", "target", "service", "load", "pools", "endpoint", "user", "timers", "toggle",
            "gate",
        ],
    ),
    (
        "target",
        &[
            "url",
            "command",
            "env",
            "cwd",
            "ready",
            "ready_timeout",
            "reset",
            "tls",
            "unix_socket",
            "http",
            "telemetry",
            "pprof",
            "profile",
        ],
    ),
    ("target.tls", &["insecure", "ca", "cert", "key", "resume"]),
    (
        "service",
        &[
            "name",
            "address",
            "command",
            "env",
            "cwd",
            "ready",
            "ready_timeout",
        ],
    ),
    (
        "load",
        &[
            "model",
            "rate",
            "arrivals",
            "connections",
            "users",
            "spawn",
            "think",
            "connection",
            "reuse",
            "open",
            "idle",
            "duration",
            "warmup",
            "repeats",
            "precision",
            "fresh",
            "passes",
            "timeout",
            "redirects",
            "loops",
            "streams",
        ],
    ),
    (
        "pools.*",
        &["file", "values", "column", "pick", "weight", "weights"],
    ),
    (
        "endpoint",
        &[
            "name",
            "weight",
            "request",
            "headers",
            "body",
            "json",
            "form",
            "body_file",
            "key",
            "expect",
            "extract",
            "rate",
            "read_rate",
            "send_rate",
        ],
    ),
    (
        "endpoint.expect",
        &[
            "status",
            "contains",
            "regex",
            "size",
            "json",
            "events",
            "last_event",
            "count",
        ],
    ),
    ("endpoint.expect.events", &["min", "max"]),
    ("endpoint.extract.*", &["json", "regex", "header"]),
    ("endpoint.expect.count", &["of", "is"]),
    ("user", &["name", "share", "think", "endpoints", "steps"]),
    ("user.think", &["mean", "median", "p90"]),
    ("load.think", &["mean", "median", "p90"]),
    ("load.idle", &["mean", "median", "p90"]),
    ("toggle.*", &["env", "args", "on", "off"]),
    ("gate", &["that"]),
];

/// The kind of a model's root, before which those of its tables stand.
pub(super) const MODEL: &str = "model";

/// The known keys of model files, as [`KNOWN`] has those of scenarios.
const KNOWN_IN_MODELS: [(&str, &[&str]); 3] = [
    (MODEL, &["latency", "backend", "endpoint"]),
    ("model.backend", &["slots", "singleflight"]),
    (
        "model.endpoint.*",
        &["latency", "backend", "expensive", "cached", "ttl"],
    ),
];

/// The kind of the root of an entry of an investigation.
pub(crate) const ENTRY: &str = "entry";

/// The known keys of entries, as [`KNOWN`] has those of scenarios. Which of them an entry may have
/// depends on its kind.
const KNOWN_IN_ENTRIES: [(&str, &[&str]); 2] = [
    (
        ENTRY,
        &[
            "kind", "at", "by", "text", "runs", "links", "figures", "title", "scenario", "metric",
            "since", "measured", "cause", "answers", "that", "due", "of", "verdict", "release",
            "decides", "sign",
        ],
    ),
    ("entry.measured", &["value", "low", "high"]),
];

/// Edits up to which a key is taken for a misspelt one, while they are less than half of it: one
/// slip, or a swap and a slip.
const MOST_EDITS: usize = 2;

/// The tables with fixed keys, by path (`*` is any name), with their keys. The JSON Schema of
/// scenarios says the same.
pub fn known_keys() -> &'static [(&'static str, &'static [&'static str])] {
    KNOWN
}

/// The keys of the table at `kind`; `None` where the user chooses them.
pub(super) fn of(kind: &str) -> Option<&'static [&'static str]> {
    KNOWN
        .iter()
        .chain(&KNOWN_IN_MODELS)
        .chain(&KNOWN_IN_ENTRIES)
        .find(|(path, _)| *path == kind)
        .map(|(_, keys)| *keys)
}

/// The key that was probably meant.
pub(super) fn nearest(key: &str, known: &[&'static str]) -> Option<&'static str> {
    let edits = |known: &str| strsim::osa_distance(key, known);
    let (edits, nearest) = known.iter().map(|known| (edits(known), *known)).min()?;
    (edits <= MOST_EDITS && edits * 2 < nearest.len()).then_some(nearest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_near_miss_is_understood_and_a_far_one_is_not() {
        let keys = of("load").unwrap();
        assert_eq!(nearest("conections", keys), Some("connections"));
        assert_eq!(nearest("raet", keys), Some("rate"));
        assert_eq!(nearest("rat", keys), Some("rate"));
        assert_eq!(nearest("foo", keys), None);
    }
}
