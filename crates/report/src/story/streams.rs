//! Streams of events in words.

use slowpath_diagnose::diagnosis::{EndpointFigures, StreamFigures};

use crate::quantity;

/// What came of an endpoint's streams, in two lines; none for an endpoint without any.
pub(crate) fn streams(figures: &EndpointFigures) -> Vec<String> {
    let Some(stream) = &figures.stream else {
        return Vec::new();
    };
    vec![delivery(stream), timing(stream)]
}

/// What was delivered of what was asked for. No share: one lost event in a million is not 100 %.
fn delivery(stream: &StreamFigures) -> String {
    let delivered = quantity::count(stream.delivered);
    let mut parts = vec![format!("{delivered} delivered")];
    if let Some(offered) = stream.offered {
        parts.insert(0, format!("{} offered", quantity::count(offered)));
    }
    if stream.short_streams > 0 {
        let short = quantity::plural(stream.short_streams, "stream");
        parts.push(match stream.offered {
            Some(_) => format!("{short} with too few"),
            None => format!("{short} broken off"),
        });
    }
    format!("events: {}", parts.join(", "))
}

fn timing(stream: &StreamFigures) -> String {
    let of = |name: &str, of: &super::Percentiles| {
        let all = [("p50", &of.p50), ("p90", &of.p90), ("p99", &of.p99)];
        let told = all.map(|(p, value)| format!("{p} {}", super::percentile(value)));
        format!("{name} {}", told.join(", "))
    };
    let first = of("first event", &stream.first_event_ms);
    let gap = of("longest silence", &stream.gap_ms);
    format!("{first}; {gap}")
}
