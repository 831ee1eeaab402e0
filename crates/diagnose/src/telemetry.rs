//! What gives away that something is telemetry: names of libraries, of collectors, and their ports.

use std::net::{IpAddr, SocketAddr};

/// Words in the names of threads and functions of libraries that send telemetry.
const WORDS: &[&str] = &[
    "otel",
    "otlp",
    "opentelemetry",
    "telemetry",
    "statsd",
    "jaeger",
    "zipkin",
    "sentry",
    "datadog",
    "ddtrace",
    "newrelic",
    "prometheus",
];
/// What functions that send it are called, as a part of their names or of their modules'. Instrumentation
/// of such libraries is on the stack of all that a program does, and sends nothing there.
const SENDS: &[&str] = &[
    "export", "upload", "flush", "send", "emit", "publish", "submit", "post",
];
/// Words in the names of programs that collect it.
const COLLECTORS: &[&str] = &[
    "otelcol",
    "otelcontribcol",
    "otelcorecol",
    "jaeger",
    "zipkin",
    "promtail",
    "fluentd",
    "fluentbit",
    "telegraf",
    "statsd",
    "logstash",
];
/// Names of such programs that are words of everyday use: they have to be the whole name.
const WHOLE: &[&str] = &["tempo", "loki", "vector", "alloy", "fluent-bit"];
/// Words in the names of functions that only look on: they are around whatever a program sends.
const LOOKS_ON: &[&str] = &["instrumentation", "contrib", "integrations", "javaagent"];
/// Ports at which collectors take it, and hardly anything else listens: OTLP over gRPC and HTTP, Jaeger
/// (`jaeger.thrift` over HTTP, `model.proto` over gRPC), Zipkin, the agent of Datadog.
const PORTS: &[u16] = &[4317, 4318, 14268, 14250, 9411, 8126];

/// Variables that set where a program sends its telemetry (OpenTelemetry's specification, the
/// libraries of Datadog), and the port that is meant where the value names none.
const TOLD_BY: &[(&str, u16)] = &[
    ("OTEL_EXPORTER_OTLP_ENDPOINT", 4318),
    ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", 4318),
    ("OTEL_EXPORTER_OTLP_LOGS_ENDPOINT", 4318),
    ("OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", 4318),
    ("OTEL_EXPORTER_ZIPKIN_ENDPOINT", 9411),
    ("DD_TRACE_AGENT_URL", 8126),
    ("DD_AGENT_HOST", 8126),
];

/// The names of variables that set where telemetry goes: what a record has to keep of a target's environment.
pub fn telemetry_variables() -> impl Iterator<Item = &'static str> {
    TOLD_BY.iter().map(|&(name, _)| name)
}

/// The variable that makes the target send its telemetry to this peer, with its value. A host that is
/// named and not an address may be any peer with its port: that has to be one of collectors.
pub(crate) fn told_by(environment: &[(String, String)], peer: SocketAddr) -> Option<String> {
    let is_told = |(name, value): &&(String, String)| {
        let told = TOLD_BY.iter().find(|(variable, _)| variable == name);
        told.is_some_and(|&(_, port)| is_at(value, port, peer))
    };
    let (name, value) = environment.iter().find(is_told)?;
    Some(format!("{name} is {value}"))
}

/// Whether a URL, or `HOST:PORT`, means a peer.
fn is_at(url: &str, usual: u16, peer: SocketAddr) -> bool {
    let (scheme, rest) = url.split_once("://").unwrap_or(("", url));
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let authority = authority.rsplit('@').next().unwrap_or_default();
    let (host, port) = match authority.rsplit_once(':') {
        Some((host, port)) if !port.ends_with(']') => (host, port.parse().ok()),
        _ => (authority, None),
    };
    let usual = if scheme == "https" { 443 } else { usual };
    if port.unwrap_or(usual) != peer.port() {
        return false;
    }
    match host.trim_matches(['[', ']']).parse::<IpAddr>() {
        Ok(address) => address == peer.ip().to_canonical(),
        Err(_) if host == "localhost" => peer.ip().to_canonical().is_loopback(),
        Err(_) => is_port(peer.port()),
    }
}

fn has_word(text: &str, of: &[&str]) -> bool {
    let mut words = text.split(|c: char| !c.is_ascii_alphanumeric());
    words.any(|word| of.contains(&word.to_ascii_lowercase().as_str()))
}

/// Whether a thread's name is of a library that sends telemetry, or a function on its stack sends it.
pub(crate) fn exports(thread: &str, stack: &[String]) -> bool {
    // Of a frame its function alone: its file is the program's, whatever the program is about.
    let mut functions = stack
        .iter()
        .map(|frame| frame.split(" (").next().unwrap_or(frame));
    has_word(thread, WORDS) || functions.any(sends)
}

fn sends(function: &str) -> bool {
    let lower = function.to_ascii_lowercase();
    has_word(function, WORDS)
        && !has_word(function, LOOKS_ON)
        && SENDS.iter().any(|verb| lower.contains(verb))
}

/// Whether a program collects telemetry, by the name of its executable.
pub(crate) fn collects(executable: &str) -> bool {
    has_word(executable, COLLECTORS) || WHOLE.contains(&executable)
}

/// Whether collectors listen at a port.
pub(crate) fn is_port(port: u16) -> bool {
    PORTS.contains(&port)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_words_give_it_away() {
        assert!(collects("otelcol-contrib") && collects("jaeger-all-in-one"));
        assert!(collects("vector") && !collects("vector-search"));
        let wraps = "io.opentelemetry.instrumentation.httpclient.OpenTelemetryHttpClient.send";
        assert!(!exports("worker", &[wraps.to_owned()]));
        assert!(!collects("vectorize") && !collects("hotel") && !collects(""));
        assert!(exports(
            "worker",
            &["sentry_sdk::flush (a.py:1)".to_owned()]
        ));
        assert!(!exports("worker", &["post (otel-shop)".to_owned()]));
        let around = "go.opentelemetry.io/contrib/net/http/otelhttp.(*Transport).RoundTrip";
        assert!(!exports("worker", &[around.to_owned()]));
        let simple = "go.opentelemetry.io/otel/exporters/otlp/otlptracehttp.(*client).UploadTraces";
        assert!(exports("worker", &[simple.to_owned()]));
        assert!(is_port(4318) && !is_port(5432));
    }

    #[test]
    fn a_collector_is_where_the_environment_says() {
        let told = |value: &str, peer: &str| {
            let set = [("OTEL_EXPORTER_OTLP_ENDPOINT".to_owned(), value.to_owned())];
            told_by(&set, peer.parse().expect("an address")).is_some()
        };
        assert!(told("http://127.0.0.1:4100/v1", "127.0.0.1:4100"));
        assert!(told("localhost:4100", "[::1]:4100") && told("http://[::1]:4100", "[::1]:4100"));
        assert!(told("http://collector", "10.1.2.3:4318"));
        assert!(!told("http://collector:5000", "10.1.2.3:5000"));
        assert!(!told("http://127.0.0.1:4100", "127.0.0.1:5432"));
        assert!(!told("http://10.1.2.4:4100", "10.1.2.3:4100"));
        assert!(!told("https://collector", "10.1.2.3:443") && !told("", "10.1.2.3:443"));
        let other = [(
            "DATABASE_URL".to_owned(),
            "http://127.0.0.1:4100".to_owned(),
        )];
        assert!(told_by(&other, "127.0.0.1:4100".parse().expect("an address")).is_none());
    }
}
