//! What a service is asked comes to it later.

use std::net::IpAddr;
use std::path::Path;

use slowpath_core::catalogue::{SEQUENTIAL_FANOUT, SLOW_DEPENDENCY};
use slowpath_core::nanos::MILLISECOND;
use slowpath_core::scenario::{LOOPBACK, Part, Scenario, Service, Template};
use slowpath_diagnose::diagnosis::Place;
use slowpath_diagnose::{Asks, asks};
use slowpath_experiment::{Hypothesis, Intervention};

use super::moved::quantile;
use super::{Ground, Kind, Limits, Written};
use crate::alternatives::{ACCOUNTED_OF_LEAST, Accounts};
use crate::exit::Problem;
use crate::notes;

/// All calls of a request together are delayed by this share of what it takes: far above the scatter
/// of medians, and not so much that requests queue up.
const OF_BASELINE: f64 = 0.5;
/// … by so much a call at the least, which is far above what a proxy takes itself …
const LEAST_MS: f64 = 2.0;
/// … and at the most.
const MOST_MS: f64 = 50.0;
/// Not all that is delayed is felt: a call may go side by side with another one now and then.
const RISE_LEAST: f64 = 0.6;
/// Sleeps end late; the same tolerance as the verdict's.
const RISE_MOST: f64 = 1.25;
/// What the way through a proxy takes, a call: it was not there when the run was measured.
const HOP_MS: f64 = 0.5;
/// The differences of medians differ by so much from one measurement to the next.
const SCATTER: f64 = 1.1;

pub(super) static KIND: Kind = Kind {
    causes: &[SEQUENTIAL_FANOUT, SLOW_DEPENDENCY],
    shared: Some("requests wait for all replies that they ask for, slow or not, many or few"),
    write,
};

fn write(ground: &Ground<'_>) -> Result<Written, Problem> {
    let scenario = &ground.case.record.manifest.plan.scenario;
    let told = told(scenario)?;
    let (asks, service, is_sure) = asked(ground, &told)?;
    let calls = asks.in_a_row.round();
    let baseline_ms = quantile(ground, 0.5)?;
    let delay_ms = (OF_BASELINE * baseline_ms / calls)
        .clamp(LEAST_MS, MOST_MS)
        .round();
    let all_ms = calls * delay_ms;
    let (low_ms, high_ms) = risen(baseline_ms, calls, delay_ms);
    let metric = format!("{}.p50", ground.endpoint.name);
    let if_it_is = ground.supposing();
    let hypothesis = Hypothesis {
        statement: format!(
            "{if_it_is}if what service {} is asked comes to it {delay_ms:.0} ms later, a request, which \
             asks it {calls:.0} times in a row, takes {all_ms:.0} ms longer: {metric} rises from \
             {baseline_ms:.2} ms to between {low_ms:.2} and {high_ms:.2} ms",
            service.name
        ),
        intervention: Intervention::DelayService {
            service: service.name.clone(),
            delay_ns: (delay_ms * MILLISECOND as f64) as u64,
            calls: calls as u32,
        },
        slow_above_ms: baseline_ms + all_ms / 2.0,
        metric,
        baseline_ms,
        low_ms,
        high_ms,
        remains: 0.0,
        written_at: notes::now_utc(),
    };
    let (accounts, share) = slow(ground);
    let wanted = 2.0 * ACCOUNTED_OF_LEAST as f64;
    Ok(Written {
        block_ns: ground.block_ns_of_all(wanted, share),
        limits: Limits {
            limited_by: (!is_sure).then(|| {
                format!(
                    "that {} is service {} was not seen by its program",
                    asks.remote, service.name
                )
            }),
            accounts: Some(accounts),
            ..Limits::default()
        },
        ..Written::new(hypothesis)
    })
}

/// From where to where the median rises: more than nothing, however little that is of all it takes.
fn risen(baseline_ms: f64, calls: f64, delay_ms: f64) -> (f64, f64) {
    let all_ms = calls * delay_ms;
    (
        baseline_ms + RISE_LEAST * all_ms / SCATTER,
        baseline_ms + RISE_MOST * all_ms * SCATTER + HOP_MS * calls,
    )
}

/// Whose time the replies have to account for, and what share of all requests these are: the slow ones if
/// those are what was found, or if there are any.
fn slow(ground: &Ground<'_>) -> (Accounts, f64) {
    let split = &ground.endpoint.split;
    let is_floor = ground.finding.is_some_and(|f| f.place == Place::Floor);
    let above_ns = split.cut_ns.filter(|_| !is_floor).unwrap_or(0);
    let fast = split.sorted_ns.partition_point(|&ns| ns <= above_ns);
    let all = split.sorted_ns.len();
    (
        Accounts { above_ns },
        (all - fast) as f64 / all.max(1) as f64,
    )
}

/// Which server requests call, and the service that this is, and whether that is known.
fn asked<'a>(
    ground: &Ground<'_>,
    told: &[&'a Service],
) -> Result<(Asks, &'a Service, bool), Problem> {
    let endpoint = &ground.endpoint.name;
    let refused = |what: String| {
        let remedy =
            "slowpath explain RUN shows which server requests wait for; make that a [[service]]";
        Problem::usage(what, remedy)
    };
    // The server that is waited for longest is the one that makes them slow: no other one replaces it.
    let asked = asks(ground.case, ground.endpoint).into_iter().next();
    let asks = asked.ok_or_else(|| {
        refused(format!(
            "requests of {endpoint} were not seen to call a server"
        ))
    })?;
    let (service, is_sure) = service_of(&asks, told).ok_or_else(|| {
        let remote = asks.remote;
        refused(format!(
            "{remote}, which requests of {endpoint} ask, is no [[service]] of the scenario"
        ))
    })?;
    if asks.in_a_row < 1.0 {
        let name = &service.name;
        let what = format!(
            "most requests of {endpoint} do not ask {name}, so that its delay is not theirs"
        );
        return Err(refused(what));
    }
    Ok((asks, service, is_sure))
}

/// The services whose addresses the target is given.
fn told(scenario: &Scenario) -> Result<Vec<&Service>, Problem> {
    const REMEDY: &str = "write what the target asks as a [[service]], and give the target its port \
                          ({service.NAME.port}, and {service.NAME.host} if it is on another host) in \
                          target.command or target.env";
    /// Hosts for which a proxy on this host may stand without being named.
    const HERE: [&str; 2] = [LOOPBACK, "localhost"];
    let Some(command) = &scenario.target.command else {
        let what = "slowpath did not start the target, and cannot make it call through a proxy";
        return Err(Problem::usage(what, REMEDY));
    };
    let env = scenario.target.env.iter().map(|(_, value)| value);
    let texts: Vec<&Template> = command.iter().chain(env).collect();
    let is_told = |position: usize| {
        let has = |wanted: Part| texts.iter().any(|text| text.parts.contains(&wanted));
        let address = scenario.services[position].address.as_ref();
        let is_here = address.is_none_or(|address| HERE.contains(&&*address.host));
        has(Part::ServicePort(position)) && (is_here || has(Part::ServiceHost(position)))
    };
    let services = scenario.services.iter().enumerate();
    let told: Vec<&Service> = services
        .filter(|(position, _)| is_told(*position))
        .map(|(_, service)| service)
        .collect();
    if told.is_empty() {
        let what = "the target is given no service's port, so that none can be delayed";
        return Err(Problem::usage(what, REMEDY));
    }
    Ok(told)
}

/// The service that is asked there, and whether that is known; the only one that is started may be it.
fn service_of<'a>(asks: &Asks, told: &[&'a Service]) -> Option<(&'a Service, bool)> {
    let mut same = told.iter().filter(|service| is_asked(service, asks));
    match (same.next(), same.next(), told) {
        (Some(service), None, _) => Some((*service, true)),
        (None, _, [only]) if only.address.is_none() => Some((*only, false)),
        _ => None,
    }
}

/// Whether the service is what is asked: the server at that address, or started by that program.
fn is_asked(service: &Service, asks: &Asks) -> bool {
    if let Some(address) = &service.address {
        let own: Option<IpAddr> = address.host.trim_matches(['[', ']']).parse().ok();
        return address.port == asks.remote.port()
            && own.is_none_or(|own| own == asks.remote.ip().to_canonical());
    }
    let program = &asks.program;
    let first = service.command.first().and_then(Template::as_literal);
    let name = first.and_then(|word| Path::new(word).file_name()?.to_str());
    // The record has executables under their full names: python3 is python3.12.
    name.is_some_and(|name| program.starts_with(name))
}

#[cfg(test)]
mod tests {
    use slowpath_core::scenario::{Escape, Ready, ServiceAddress};

    use super::*;

    fn service(program: &str, address: Option<&str>) -> Service {
        let address = address.map(|host| ServiceAddress {
            host: host.to_owned(),
            port: 5432,
        });
        Service {
            name: "db".to_owned(),
            command: vec![Template::literal(program, Escape::None)],
            address,
            env: Vec::new(),
            cwd: None,
            ready: Ready::Tcp,
            ready_timeout_ns: 0,
        }
    }

    #[test]
    fn a_delay_that_is_little_of_a_request_is_a_rise_all_the_same() {
        let (low, high) = risen(1_000.0, 1.0, MOST_MS);
        assert!(low > 1_020.0 && high < 1_080.0, "{low} to {high}");
    }

    #[test]
    fn a_service_is_known_by_its_program_or_its_address() {
        let asks = Asks {
            remote: ([127, 0, 0, 1], 5432).into(),
            program: "postgres".to_owned(),
            in_a_row: 1.0,
            waited_ns: 1,
        };
        let (own, other) = (
            service("/usr/bin/postgres", None),
            service("./start.sh", None),
        );
        let sure = |told: &[&Service]| service_of(&asks, told).map(|(_, is_sure)| is_sure);
        assert_eq!(sure(&[&own, &other]), Some(true));
        assert_eq!(sure(&[&other]), Some(false), "what a script starts");
        assert_eq!(sure(&[&own, &own]), None, "one of two");
        let here = service("", Some("127.0.0.1"));
        assert_eq!(sure(&[&here, &other]), Some(true));
        assert_eq!(
            sure(&[&service("", Some("10.0.0.7"))]),
            None,
            "it is another one"
        );
    }
}
