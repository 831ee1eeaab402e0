//! What every view shows of failures and connections.

use std::fmt::Write as _;

use slowpath_diagnose::diagnosis::{
    Connections, Diagnosis, EndpointFigures, ErrorCount, ErrorExample, IdleGaps, KernelEnd,
    KernelFacts, LogNote, Percentile, Quantiles,
};

use crate::quantity;

/// From here on a share rounds to 100 % with one place.
const WHOLE: f64 = 0.9995;

/// `served 927 of 1,000 offered (92.7 %)`: beside every latency of an endpoint, since the
/// percentiles of those that were served say nothing of the others. `None` if all were served, or
/// all but a few that the end of the run overtook.
pub(crate) fn served(figures: &EndpointFigures) -> Option<String> {
    let failed = figures.failed() > 0;
    (failed || figures.served < WHOLE).then(|| {
        let share = quantity::served(figures.served);
        format!(
            "served {} of {} offered ({share})",
            quantity::count(figures.completed),
            quantity::count(figures.offered)
        )
    })
}

/// `> 5 s (timeout)`: a percentile of which only a lower bound is known.
pub(crate) fn bound(of: &Percentile) -> Option<String> {
    let above = of.above?;
    let by = of.censored_by.as_deref().unwrap_or("not answered");
    Some(format!("> {} ({by})", quantity::duration(above)))
}

/// `20 reset in first-byte (ECONNRESET): 0.2 % of the requests: …`.
pub(crate) fn error_told(error: &ErrorCount) -> String {
    let mut told = super::error(error);
    if !error.summary.is_empty() {
        told = format!("{told}: {}", error.summary);
    }
    // The first is what most of them met; the others stand among the facts.
    let kernel = error.kernel.as_ref();
    if let Some((facts, end)) = kernel.and_then(|facts| Some((facts, facts.ends.first()?))) {
        let _ = write!(told, "; {}", kernel_end(facts, end));
    }
    told
}

/// `in 18 of 18 that were traced the server's kernel sent a reset: …`.
fn kernel_end(facts: &KernelFacts, end: &KernelEnd) -> String {
    format!(
        "in {} of {} that were traced {}",
        quantity::count(end.count),
        quantity::count(facts.n),
        end.text
    )
}

/// Who failed when nothing was answered at all.
pub(crate) fn nothing_answered(figures: &EndpointFigures) -> Option<String> {
    (figures.completed == 0 && figures.offered > 0).then(|| {
        let unfinished = figures.unfinished - figures.unsent.min(figures.unfinished);
        let mut parts = vec![format!("{} failed", quantity::count(figures.failed()))];
        if unfinished > 0 {
            let count = quantity::count(unfinished);
            parts.push(format!("{count} were under way at the end"));
        }
        if figures.unsent > 0 {
            let count = quantity::count(figures.unsent);
            parts.push(format!("{count} were never sent"));
        }
        format!(
            "none of {} was answered: {}",
            quantity::plural(figures.offered, "request"),
            parts.join(", ")
        )
    })
}

/// The facts of a kind of failure that its sentence has not, as pairs of a word and a text.
pub(crate) fn error_facts(error: &ErrorCount) -> Vec<(&'static str, String)> {
    let rate = format!(
        "{} a second, {} in the worst, from {} to {} of the window",
        quantity::number(error.per_s),
        quantity::count(error.peak_per_s),
        quantity::duration(error.first_s * 1e3),
        quantity::duration(error.last_s * 1e3)
    );
    let mut facts = vec![("when", rate)];
    if error.by_repeat.len() > 1 {
        let counts = error.by_repeat.iter().map(|&n| quantity::count(n));
        facts.push(("by repeat", counts.collect::<Vec<_>>().join(", ")));
    }
    let in_ms: [(&str, &Option<Quantiles>); 4] = [
        ("latency until it failed", &error.latency_ms),
        ("after the first byte", &error.since_first_byte_ms),
        ("age of the connection", &error.connection_age_ms),
        ("idle before", &error.idle_before_ms),
    ];
    for (word, of) in in_ms {
        facts.extend(of.map(|of| (word, spread(&of, quantity::duration))));
    }
    let counts: [(&str, &Option<Quantiles>); 2] = [
        (
            "requests before it on the connection",
            &error.index_on_connection,
        ),
        ("bytes of the response", &error.received_bytes),
    ];
    for (word, of) in counts {
        facts.extend(of.map(|of| (word, spread(&of, quantity::number))));
    }
    if let Some(kernel) = &error.kernel {
        let mut told: Vec<String> = kernel.ends.iter().map(|e| kernel_end(kernel, e)).collect();
        if kernel.unseen > 0 {
            let (unseen, n) = (quantity::count(kernel.unseen), quantity::count(kernel.n));
            told.push(format!(
                "in {unseen} of {n} that were traced nothing was seen"
            ));
        }
        facts.push(("the kernel", told.join("; ")));
    }
    facts
}

/// `12 ms (p10 to p90: 11 to 13 ms, n 400)`, or just the one value that all have.
pub(crate) fn spread(of: &Quantiles, show: fn(f64) -> String) -> String {
    if of.min >= of.max {
        return show(of.p50);
    }
    format!(
        "{} (p10 {}, p90 {}, max {}; n {})",
        show(of.p50),
        show(of.p10),
        show(of.p90),
        show(of.max),
        quantity::count(of.n)
    )
}

/// The failures against the idle gap, in one sentence.
pub(crate) fn idle_gaps(gaps: &IdleGaps) -> String {
    let range = if gaps.low_ms < gaps.high_ms {
        let scale = quantity::Scale::of(gaps.high_ms);
        // Three digits would make 4.991 and 5.009 s the same.
        format!(
            "{} to {}",
            scale.bare(gaps.low_ms),
            scale.show(gaps.high_ms)
        )
    } else {
        quantity::duration(gaps.low_ms)
    };
    format!(
        "all {} followed an idle gap of {range}; 0 of {} shorter gaps failed, {} of {} as long or \
         longer ({})",
        quantity::count(gaps.failed),
        quantity::count(gaps.shorter_completed),
        quantity::count(gaps.failed),
        quantity::count(gaps.failed + gaps.longer_completed),
        quantity::p_value(gaps.p_value)
    )
}

/// The classes of idle gaps that hold anything: the gap, failures, all re-uses.
pub(crate) fn idle_bins(gaps: &IdleGaps) -> Vec<(String, u64, u64)> {
    let seen = gaps
        .bins
        .iter()
        .filter(|bin| bin.failed + bin.completed > 0);
    seen.map(|bin| {
        let scale = quantity::Scale::of(bin.to_ms);
        let range = format!("{} to {}", scale.bare(bin.from_ms), scale.show(bin.to_ms));
        (range, bin.failed, bin.failed + bin.completed)
    })
    .collect()
}

/// One failed request, in a line.
pub(crate) fn example(example: &ErrorExample) -> String {
    let mut parts = vec![format!(
        "request {} at {}",
        example.serial,
        quantity::duration(example.at_s * 1e3)
    )];
    if example.repeat > 0 {
        let _ = write!(parts[0], " of repeat {}", example.repeat + 1);
    }
    parts.push(format!(
        "failed after {}",
        quantity::duration(example.latency_ms)
    ));
    if let Some(connection) = example.connection {
        let mut text = format!("connection {connection}");
        if let Some(age) = example.connection_age_ms {
            let _ = write!(text, ", {} old", quantity::duration(age));
        }
        if let Some(index) = example.index_on_connection {
            let before = quantity::plural(u64::from(index), "request");
            let _ = write!(text, ", {before} before it");
        }
        if let Some(idle) = example.idle_before_ms {
            let _ = write!(text, ", idle for {}", quantity::duration(idle));
        }
        parts.push(text);
    } else {
        parts.push("no connection".to_owned());
    }
    if let Some(port) = example.local_port {
        parts.push(format!("our port {port}"));
    }
    parts.push(format!(
        "{} received",
        quantity::bytes(example.received_bytes)
    ));
    parts.push(format!("trace id {}", example.trace_id));
    parts.join("; ")
}

/// `target err +3.2 ms: 64 worker_connections are not enough`.
pub(crate) fn log_line(line: &LogNote) -> String {
    let sign = if line.after_ms < 0.0 { "-" } else { "+" };
    let after = quantity::duration(line.after_ms.abs());
    format!(
        "{} {} {sign}{after}: {}",
        line.source, line.stream, line.text
    )
}

/// The line of a log that is worth its place where there is room for one: of a line that names the
/// failed request the nearest, else the nearest to the first failure beside which there is any,
/// what went to standard error first. A line that names another request describes that one.
pub(crate) fn telling_line(error: &ErrorCount) -> Option<&LogNote> {
    let worth = |line: &&LogNote| (line.stream != "err", (line.after_ms.abs() * 1e3) as u64);
    let logs: Vec<Vec<&LogNote>> = error.examples.iter().map(own_lines).collect();
    let named = error.examples.iter().zip(&logs).find_map(|(example, log)| {
        let names = |line: &&&LogNote| line.text.contains(&example.trace_id);
        log.iter().filter(names).min_by_key(|line| worth(line))
    });
    let on_err = || {
        logs.iter()
            .find(|log| log.iter().any(|line| line.stream == "err"))
    };
    let any = || logs.iter().find(|log| !log.is_empty());
    let nearest = || on_err().or_else(any)?.iter().min_by_key(|line| worth(line));
    named.or_else(nearest).copied()
}

/// The lines beside a failure that do not name another request.
fn own_lines(example: &ErrorExample) -> Vec<&LogNote> {
    // The first half of a trace id is that of the run.
    let of_run = example.trace_id.get(..16).unwrap_or(&example.trace_id);
    let another =
        |line: &&LogNote| line.text.contains(of_run) && !line.text.contains(&example.trace_id);
    example.log.iter().filter(|line| !another(line)).collect()
}

/// Why there is no line of a log beside a failure.
pub(crate) fn no_lines(diagnosis: &Diagnosis) -> String {
    let quiet = "the target wrote nothing around it";
    diagnosis.logs_unseen.as_deref().unwrap_or(quiet).to_owned()
}

/// The facts about connections, as pairs of a word and a text.
pub(crate) fn connection_facts(of: &Connections) -> Vec<(&'static str, String)> {
    let mut facts = vec![
        (
            "opened",
            format!(
                "{}, {} found closed before sending (stale), {} that never carried a whole response",
                quantity::count(of.opened),
                quantity::count(of.stale),
                quantity::count(of.never_worked)
            ),
        ),
        (
            "dialled in the window",
            format!(
                "{} ({} for every 1,000 requests, {} in the worst second) for at most {} at once",
                quantity::count(of.dials),
                quantity::number(of.per_1000_requests),
                quantity::count(of.peak_dials_per_s),
                quantity::count(of.limit)
            ),
        ),
    ];
    for failure in &of.dial_failures {
        let errno = failure.errno.as_ref().map(|errno| format!(" ({errno})"));
        facts.push((
            "dials that failed",
            format!(
                "{} {} in {}{}",
                quantity::count(failure.count),
                failure.class,
                failure.phase,
                errno.unwrap_or_default()
            ),
        ));
    }
    if let (Some(users), Some(never)) = (of.users, of.users_never_served) {
        let text = format!(
            "{}, {} never served",
            quantity::count(users),
            quantity::count(never)
        );
        facts.push(("users", text));
    }
    let in_ms: [(&str, &Option<Quantiles>); 5] = [
        ("first request on a connection", &of.first_request_ms),
        ("the same in the warm-up", &of.first_request_warmup_ms),
        ("later requests", &of.later_ms),
        ("connecting", &of.connect_ms),
        ("TLS handshake", &of.handshake_ms),
    ];
    for (word, of) in in_ms {
        facts.extend(of.map(|of| (word, with_tail(&of))));
    }
    if let Some(each) = &of.requests_per_connection {
        facts.push(("requests a connection", spread(each, quantity::number)));
    }
    if of.tls_full + of.tls_resumed > 0 {
        let (full, resumed) = (
            quantity::count(of.tls_full),
            quantity::count(of.tls_resumed),
        );
        facts.push((
            "TLS handshakes",
            format!("{full} in full, {resumed} resumed"),
        ));
    }
    facts
}

fn with_tail(of: &Quantiles) -> String {
    format!(
        "p50 {}, p99 {}, max {} (n {})",
        quantity::duration(of.p50),
        quantity::duration(of.p99),
        quantity::duration(of.max),
        quantity::count(of.n)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const RUN: &str = "881f7fe2a8689598";

    fn example(serial: u32, log: &[(&str, f64, &str)]) -> ErrorExample {
        let note = |&(stream, after_ms, text): &(&str, f64, &str)| LogNote {
            after_ms,
            source: "target".to_owned(),
            stream: stream.to_owned(),
            text: text.to_owned(),
        };
        ErrorExample {
            repeat: 0,
            serial,
            trace_id: format!("{RUN}{serial:016x}"),
            at_s: 1.0,
            latency_ms: 1.0,
            local_port: None,
            connection: None,
            connection_age_ms: None,
            idle_before_ms: None,
            index_on_connection: None,
            sent_bytes: 0,
            received_bytes: 0,
            in_flight: 0,
            log: log.iter().map(note).collect(),
            log_omitted: 0,
        }
    }

    fn told(examples: Vec<ErrorExample>) -> Option<String> {
        let error = ErrorCount {
            examples,
            ..ErrorCount::default()
        };
        telling_line(&error).map(|line| line.text.clone())
    }

    #[test]
    fn a_line_that_names_another_request_is_not_told() {
        let other = format!("boom trace {RUN}{:016x}", 9);
        let own = format!("closing {RUN}{:016x}", 2);
        let beside = example(1, &[("err", 0.1, &other), ("out", 5.0, "rst now")]);
        assert_eq!(told(vec![beside.clone()]).as_deref(), Some("rst now"));
        let named = example(2, &[("err", 0.1, "warning"), ("out", 3.0, &own)]);
        assert_eq!(told(vec![beside, named]), Some(own));
        assert_eq!(told(vec![example(1, &[("err", 0.1, &other)])]), None);
        let two = example(1, &[("out", 0.1, "GET /"), ("err", 0.4, "slow query")]);
        assert_eq!(told(vec![two]).as_deref(), Some("slow query"));
    }
}
