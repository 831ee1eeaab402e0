//! What the record keeps of the target's environment.

use slowpath_diagnose::telemetry_variables;

use super::PROC;

/// Variables that steer runtimes and are worth keeping in the record, as are those that say where telemetry
/// goes.
const STEERING: [&str; 14] = [
    "GOGC",
    "GOMAXPROCS",
    "GOMEMLIMIT",
    "JAVA_OPTS",
    "JAVA_TOOL_OPTIONS",
    "LD_PRELOAD",
    "MALLOC_ARENA_MAX",
    "NODE_OPTIONS",
    "OTEL_SDK_DISABLED",
    "PYTHONASYNCIODEBUG",
    "RUST_LOG",
    "TOKIO_WORKER_THREADS",
    "UV_THREADPOOL_SIZE",
    "WEB_CONCURRENCY",
];
/// Parts of names whose values are not for a record.
const SECRETS: [&str; 9] = [
    "KEY",
    "PASS",
    "SECRET",
    "TOKEN",
    "CREDENTIAL",
    "HEADERS",
    "AUTH",
    "COOKIE",
    "DSN",
];
const MASKED: &str = "(masked)";

/// A variable of slowpath's own environment, which what it starts inherits.
pub(super) fn inherited(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// What steers a process that was there already; nothing if this user may not read it.
pub(super) fn of_process(pid: u32) -> Vec<(String, String)> {
    let all = std::fs::read(format!("{PROC}/{pid}/environ")).unwrap_or_default();
    kept(&[], |name| value_of(&all, name))
}

/// The value of a variable in a block of `NAME=VALUE`, each ended by a zero byte (proc(5)).
fn value_of(block: &[u8], name: &str) -> Option<String> {
    let mut entries = block.split(|&byte| byte == 0);
    let value = entries.find_map(|entry| {
        let rest = entry.strip_prefix(name.as_bytes())?;
        rest.strip_prefix(b"=")
    })?;
    Some(String::from_utf8_lossy(value).into_owned())
}

/// What was set, and what else of it steers runtimes.
pub(super) fn kept(
    set: &[(String, String)],
    other: impl Fn(&str) -> Option<String>,
) -> Vec<(String, String)> {
    let others = STEERING
        .into_iter()
        .chain(telemetry_variables())
        .filter(|name| set.iter().all(|(n, _)| n != name))
        .filter_map(|name| Some((name.to_owned(), other(name)?)));
    let mut all: Vec<(String, String)> = set.iter().cloned().chain(others).collect();
    for (name, value) in &mut all {
        if is_secret(name) {
            MASKED.clone_into(value);
        } else {
            *value = without_secrets(&without_user(value));
        }
    }
    all.sort();
    all
}

fn is_secret(name: &str) -> bool {
    let upper = name.to_uppercase();
    SECRETS.iter().any(|secret| upper.contains(secret))
}

/// A URL without the name and the password in it (RFC 3986, 3.2.1), and without its query; whatever stands before
/// an `@` is taken for these, as addresses of databases are written in many ways.
fn without_user(value: &str) -> String {
    let (scheme, rest) = value.split_once("://").unwrap_or(("", value));
    let between = if scheme.is_empty() { "" } else { "://" };
    let (user, rest) = match rest.rsplit_once('@') {
        Some((_, rest)) => (format!("{MASKED}@"), rest),
        None => (String::new(), rest),
    };
    match rest.split_once('?') {
        Some((path, _)) if !scheme.is_empty() => format!("{scheme}{between}{user}{path}?{MASKED}"),
        _ => format!("{scheme}{between}{user}{rest}"),
    }
}

/// The same of settings within a value, such as `-Dkey.password=word`.
fn without_secrets(value: &str) -> String {
    let word = |word: &str| match word.split_once('=') {
        Some((name, _)) if is_secret(name) => format!("{name}={MASKED}"),
        _ => word.to_owned(),
    };
    value.split(' ').map(word).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_steers_is_kept_and_secrets_are_not() {
        let set = [
            ("API_KEY".to_owned(), "abc".to_owned()),
            ("DB".to_owned(), "pg://me:w/o?rd@db:1/x".to_owned()),
            (
                "JAVA_OPTS".to_owned(),
                "-Xmx1g -Dkeystore.password=abc".to_owned(),
            ),
            ("URL".to_owned(), "http://a:1/b?token=abc".to_owned()),
        ];
        let block = b"HOME=/root\0GOGC=50\0GOGCX=1\0DD_AGENT_HOST=10.0.0.1\0";
        let kept = kept(&set, |name| value_of(block, name));
        let told: Vec<String> = kept.iter().map(|(n, v)| format!("{n}={v}")).collect();
        let expected = [
            "API_KEY=(masked)",
            "DB=pg://(masked)@db:1/x",
            "DD_AGENT_HOST=10.0.0.1",
            "GOGC=50",
            "JAVA_OPTS=-Xmx1g -Dkeystore.password=(masked)",
            "URL=http://a:1/b?(masked)",
        ];
        assert_eq!(told, expected);
    }
}
