//! The target's own telemetry: where it comes in, and what the target's environment says of that.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use slowpath_core::scenario::{DEFAULT_TELEMETRY_PORT, Scenario};
use slowpath_core::spans::TelemetryFacts;
use slowpath_observe::otlp::Receiver;
use slowpath_record::{RecordError, RunWriter};

use crate::exit::Problem;
use crate::out;

/// After how long the exporter of a target that we start sends what it has gathered: often enough
/// that little is missing at the end, seldom enough to send many spans at once.
const EXPORT_EVERY: Duration = Duration::from_millis(200);
/// How long nothing must come of such a target before we believe that nothing will.
const QUIET_STARTED: Duration = Duration::from_millis(500);
/// How long nothing must come of a target that slowpath did not start: exporters send every five
/// seconds by default (`OTEL_BSP_SCHEDULE_DELAY`).
const QUIET_FOUND: Duration = Duration::from_millis(5500);
/// How long is waited at most, for a target that goes on sending.
const LONGEST_WAIT: Duration = Duration::from_secs(10);

/// Which protocol exporters speak, unless a variable for traces alone says another.
const PROTOCOL: &str = "OTEL_EXPORTER_OTLP_PROTOCOL";
/// The environment of a target that we start. Those for traces alone come before the others, also where a
/// target inherits them.
const TOLD: [&str; 6] = [
    "OTEL_TRACES_EXPORTER",
    "OTEL_EXPORTER_OTLP_ENDPOINT",
    PROTOCOL,
    "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
    "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL",
    "OTEL_BSP_SCHEDULE_DELAY",
];

/// What happens to telemetry that went elsewhere: which inherited variables give way, and that of
/// metrics and logs nothing is kept, unless the scenario says where they go.
fn diverted<T>(written: &[(String, T)], inherited: impl Fn(&str) -> bool) -> Vec<String> {
    let is_written = |name: &str| written.iter().any(|(of, _)| of == name);
    let give_way = TOLD
        .into_iter()
        .filter(|name| !is_written(name) && inherited(name));
    let give_way: Vec<&str> = give_way.collect();
    let mut lines = Vec::new();
    if !give_way.is_empty() {
        lines.push(format!(
            "the target's spans come to slowpath: {} of the environment give way",
            give_way.join(", ")
        ));
    }
    if !is_written("OTEL_EXPORTER_OTLP_ENDPOINT") {
        lines.push(
            "metrics and logs that the target sends by OTLP are taken in with its spans and \
             dropped; OTEL_EXPORTER_OTLP_ENDPOINT in target.env sends them elsewhere"
                .to_owned(),
        );
    }
    lines
}

/// Takes in the target's telemetry over all repeats, if the scenario wants that.
#[derive(Debug)]
pub(crate) struct Telemetry {
    receiver: Option<Receiver>,
    /// Whether slowpath starts the target, and so can set where it sends.
    started: bool,
    quiet: bool,
}

impl Telemetry {
    /// Begins to listen.
    pub(crate) fn start(scenario: &Scenario, quiet: bool) -> Result<Self, Problem> {
        let started = scenario.target.command.is_some();
        let usual = if started { 0 } else { DEFAULT_TELEMETRY_PORT };
        let port = scenario.target.telemetry.map(|t| t.port.unwrap_or(usual));
        let receiver = port.map(|port| {
            Receiver::start(port).map_err(|error| {
                let what = format!("telemetry cannot be taken in on port {port}: {error}");
                let remedy = "end the collector that listens there, or say another port: \
                              target.telemetry = \"otlp:4320\"";
                Problem::environment(what, remedy)
            })
        });
        let receiver = receiver.transpose()?;
        if let (Some(receiver), false, false) = (&receiver, started, quiet) {
            let to = receiver.endpoint();
            out::say(&format!(
                "spans are taken in at {to} (OTLP over HTTP or gRPC): the target's \
                 OTEL_EXPORTER_OTLP_ENDPOINT"
            ));
        }
        if receiver.is_some() && started && !quiet {
            let inherited = |name: &str| std::env::var_os(name).is_some();
            for line in diverted(&scenario.target.env, inherited) {
                out::say(&line);
            }
        }
        Ok(Self {
            receiver,
            started,
            quiet,
        })
    }

    /// What is put into the target's environment, but for what the scenario says itself.
    pub(crate) fn environment(&self, written: &[(String, String)]) -> Vec<(String, String)> {
        let Some(receiver) = &self.receiver else {
            return Vec::new();
        };
        let of = |name: &str| {
            written
                .iter()
                .find(|(of, _)| of == name)
                .map(|(_, value)| value)
        };
        let protocol = of("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL").or(of(PROTOCOL));
        let protocol = protocol.map_or("http/protobuf", String::as_str);
        let endpoint = receiver.endpoint();
        // Of this one the path is not added by exporters, and gRPC has none.
        let for_traces = match protocol {
            "grpc" => endpoint.clone(),
            _ => format!("{endpoint}/v1/traces"),
        };
        let values = [
            "otlp".to_owned(),
            endpoint,
            "http/protobuf".to_owned(),
            for_traces,
            protocol.to_owned(),
            EXPORT_EVERY.as_millis().to_string(),
        ];
        let told = TOLD.into_iter().zip(values);
        let told = told.filter(|(name, _)| of(name).is_none());
        told.map(|(name, value)| (name.to_owned(), value)).collect()
    }

    /// Takes in the spans of a repeat's requests from now on.
    pub(crate) fn begin(&self, seed: u64, repeat: u16) {
        if let Some(receiver) = &self.receiver {
            receiver.begin(seed, repeat);
        }
    }

    /// Waits for what the target has not sent yet.
    pub(crate) fn settle(&self, stop: &AtomicBool) {
        let quiet = if self.started {
            QUIET_STARTED
        } else {
            QUIET_FOUND
        };
        if let Some(receiver) = &self.receiver {
            receiver.settle(quiet, LONGEST_WAIT, stop);
        }
    }

    /// Records what came of a repeat, and reports what a user has to know of it. Spans that could not
    /// be recorded count as dropped.
    pub(crate) fn keep(
        &self,
        writer: &RunWriter,
        repeat: u16,
    ) -> (Option<TelemetryFacts>, Result<(), RecordError>) {
        let Some(receiver) = &self.receiver else {
            return (None, Ok(()));
        };
        let (spans, mut facts) = receiver.take();
        if !self.quiet {
            for line in remarks(&facts) {
                out::say(&line);
            }
        }
        let kept = writer.spans(repeat, &spans);
        if kept.is_err() {
            facts.dropped += std::mem::take(&mut facts.kept);
        }
        (Some(facts), kept)
    }
}

/// What is odd about the telemetry of a repeat.
fn remarks(facts: &TelemetryFacts) -> Vec<String> {
    let mut remarks = Vec::new();
    if facts.kept == 0 {
        let TelemetryFacts {
            endpoint, foreign, ..
        } = facts;
        remarks.push(if *foreign > 0 {
            format!(
                "{foreign} spans came, none of our requests: the target does not take over \
                 the header traceparent (OTEL_PROPAGATORS=tracecontext)"
            )
        } else {
            format!("no spans came at {endpoint}: does the target use an OpenTelemetry SDK?")
        });
    }
    if facts.dropped > 0 {
        let TelemetryFacts { dropped, kept, .. } = facts;
        remarks.push(format!(
            "{dropped} spans beyond the first {kept} were left out"
        ));
    }
    if facts.refused > 0 {
        let TelemetryFacts {
            refused,
            refused_because,
            ..
        } = facts;
        remarks.push(format!(
            "{refused} messages of telemetry were refused: {refused_because}"
        ));
    }
    remarks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_scenario_says_of_its_telemetry_stays() {
        let own = Telemetry {
            receiver: Some(Receiver::start(0).unwrap()),
            started: true,
            quiet: true,
        };
        let written = [("OTEL_EXPORTER_OTLP_PROTOCOL".to_owned(), "grpc".to_owned())];
        let told = own.environment(&written);
        let names: Vec<&str> = told.iter().map(|(name, _)| name.as_str()).collect();
        let all = [
            "OTEL_TRACES_EXPORTER",
            "OTEL_EXPORTER_OTLP_ENDPOINT",
            "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
            "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL",
            "OTEL_BSP_SCHEDULE_DELAY",
        ];
        assert_eq!(names, all);
        assert!(told[1].1.starts_with("http://127.0.0.1:"));
        assert_eq!(told[2].1, told[1].1, "gRPC has no path");
        assert_eq!(told[3].1, "grpc");
    }

    #[test]
    fn spans_come_here_whatever_is_inherited() {
        let own = Telemetry {
            receiver: Some(Receiver::start(0).unwrap()),
            started: true,
            quiet: true,
        };
        let elsewhere = "http://127.0.0.1:9".to_owned();
        let written = [("OTEL_EXPORTER_OTLP_ENDPOINT".to_owned(), elsewhere)];
        let told = own.environment(&written);
        let of = |name: &str| told.iter().find(|(of, _)| of == name).map(|(_, to)| &**to);
        assert_eq!(of("OTEL_EXPORTER_OTLP_ENDPOINT"), None, "metrics go there");
        let endpoint = of("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT").unwrap();
        assert!(endpoint.ends_with("/v1/traces"), "{endpoint}");
        assert_eq!(
            of("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL"),
            Some("http/protobuf")
        );
        let is_inherited = |name: &str| name == "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT";
        let lines = diverted(&written, is_inherited);
        assert_eq!(lines.len(), 1);
        assert!(lines[0].contains("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT of the environment"));
        let lines = diverted::<String>(&[], |_| false);
        assert!(lines.len() == 1 && lines[0].contains("metrics and logs"));
    }

    #[test]
    fn nothing_odd_is_nothing_said() {
        let facts = TelemetryFacts {
            kept: 5,
            foreign: 7,
            ..TelemetryFacts::default()
        };
        assert!(remarks(&facts).is_empty());
        let foreign = TelemetryFacts {
            foreign: 7,
            ..TelemetryFacts::default()
        };
        assert!(remarks(&foreign)[0].contains("traceparent"));
        let much = TelemetryFacts {
            dropped: 3,
            refused: 1,
            ..facts
        };
        assert_eq!(remarks(&much).len(), 2);
    }
}
