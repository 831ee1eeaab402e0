//! What gives away that something is telemetry: names of libraries, of collectors, and their ports.

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
}
