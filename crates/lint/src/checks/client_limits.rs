//! What the client's own host does not allow.

use slowpath_core::scenario::{ConnectionUse, Model};

use super::{View, finding};
use crate::report::{Finding, Severity};
use crate::wording::{count, percent};

/// How long Linux keeps the port of a connection that it closed first (`TCP_TIMEWAIT_LEN` in
/// include/net/tcp.h), in seconds.
const TIME_WAIT_S: f64 = 60.0;
/// Descriptors that slowpath needs beside connections: logs, probes, timers, the record's files.
const OWN_FILES: f64 = 128.0;

/// Files, ports and accept queues.
pub(super) fn check(view: &View<'_>) -> Vec<Finding> {
    [
        files(view),
        ports(view),
        waiting_ports(view),
        accept_queue(view),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn connections(view: &View<'_>) -> f64 {
    match (&view.scenario.load.model, view.scenario.load.connection) {
        (Model::Closed { users, .. }, ConnectionUse::PerUser) => f64::from(*users),
        _ => f64::from(view.scenario.load.connections),
    }
}

fn files(view: &View<'_>) -> Option<Finding> {
    let limit = view.facts.host.open_files? as f64;
    let needed = connections(view) + OWN_FILES;
    if needed <= limit {
        return None;
    }
    let mut found = finding(
        "client-limits",
        Severity::Error,
        view.at_load("connections"),
    );
    found.text = format!(
        "{} connections need about {} open files, and this host allows {} a process",
        count(connections(view)),
        count(needed),
        count(limit)
    );
    found.remedy = format!("ulimit -n {}", needed.ceil());
    Some(found)
}

fn port_count(view: &View<'_>) -> Option<f64> {
    let (first, last) = view.facts.host.local_ports?;
    Some(f64::from(last) - f64::from(first) + 1.0)
}

fn ports(view: &View<'_>) -> Option<Finding> {
    let ports = port_count(view)?;
    if connections(view) <= ports {
        return None;
    }
    let mut found = finding(
        "client-limits",
        Severity::Error,
        view.at_load("connections"),
    );
    found.text = format!(
        "{} connections to one address need as many local ports, and this host has {}",
        count(connections(view)),
        count(ports)
    );
    found
        .remedy
        .push_str("widen net.ipv4.ip_local_port_range, or use fewer connections");
    Some(found)
}

/// A connection a request leaves a port behind for a minute, on the side that closes first.
fn waiting_ports(view: &View<'_>) -> Option<Finding> {
    if view.scenario.load.connection != ConnectionUse::PerRequest {
        return None;
    }
    let ports = port_count(view)?;
    let rate: f64 = view.workload.demands.iter().map(|d| d.rate_per_s).sum();
    let lasts_s = (view.scenario.load.duration_ns + view.scenario.load.warmup_ns) as f64 / 1e9;
    let held = rate * lasts_s.min(TIME_WAIT_S);
    if held <= ports {
        return None;
    }
    let mut found = finding(
        "client-limits",
        Severity::Warning,
        view.at_load("connection"),
    );
    found.text = format!(
        "a connection for each of {} requests a second leaves {} ports in TIME-WAIT, and this \
         host has {}: where the client closes first they run out after {} s",
        count(rate),
        count(held),
        count(ports),
        count(ports / rate)
    );
    found.remedy = format!(
        "stay below {}/s, or widen net.ipv4.ip_local_port_range",
        count((ports / TIME_WAIT_S).floor())
    );
    found.share = Some(1.0 - ports / held);
    Some(found)
}

/// Users who all dial at once need room in the accept queue of a target on this host.
fn accept_queue(view: &View<'_>) -> Option<Finding> {
    let room = f64::from(view.facts.host.somaxconn?);
    let dialling = connections(view);
    let on_this_host = view.scenario.target.command.is_some();
    if !on_this_host || !view.all_start_at_once() || dialling <= room {
        return None;
    }
    let mut found = finding("client-limits", Severity::Warning, view.at_load("users"));
    found.text = format!(
        "all {} users dial at once, and no accept queue on this host is longer than {} \
         (net.core.somaxconn): up to {} of the dials wait a second or more",
        count(dialling),
        count(room),
        percent(1.0 - room / dialling)
    );
    found
        .remedy
        .push_str("spawn = \"100/s\", or raise net.core.somaxconn");
    found.share = Some(1.0 - room / dialling);
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checks::trial::{found, found_with, only};

    use crate::facts::{Facts, HostLimits};

    const SMALL: HostLimits = HostLimits {
        local_ports: Some((32_768, 33_767)),
        open_files: Some(1024),
        somaxconn: Some(128),
    };

    fn on_small(text: &str) -> Vec<Finding> {
        let facts = Facts {
            host: SMALL,
            ..Facts::default()
        };
        let endpoint = "[[endpoint]]\nname = \"a\"\nrequest = \"GET /\"\n";
        found_with(check, &format!("{text}\n{endpoint}"), &facts)
    }

    #[test]
    fn connections_need_files_and_ports() {
        let one = only(
            &on_small("[load]\nusers = 950\nspawn = \"1/s\""),
            &["950 connections", "allows 1,024"],
        );
        assert_eq!(one.severity, Severity::Error);
        let both = on_small("[load]\nusers = 2000\nspawn = \"1/s\"");
        assert_eq!(both.len(), 2);
        assert!(
            both[1].text.contains("this host has 1,000"),
            "{}",
            both[1].text
        );
    }

    #[test]
    fn a_connection_for_each_request_uses_ports_up() {
        let load = |rate: u32| {
            format!("[load]\nrate = \"{rate}/s\"\nconnection = \"per-request\"\nduration = \"2m\"")
        };
        // 60 s x 50/s are 3,000 ports; 1,000 of them last for 20 s.
        only(&on_small(&load(50)), &["3,000 ports", "run out after 20 s"]);
        assert_eq!(on_small(&load(10)), []);
    }

    #[test]
    fn dials_at_once_need_a_long_accept_queue() {
        let target = "[target]\nurl = \"http://127.0.0.1:{port}\"\ncommand = [\"./server\"]\n";
        only(
            &on_small(&format!("{target}[load]\nusers = 512")),
            &["512 users", "128", "75 %"],
        );
        assert_eq!(on_small(&format!("{target}[load]\nusers = 100")), []);
        assert_eq!(
            on_small("[load]\nusers = 512"),
            [],
            "another host's queue is not known"
        );
    }

    #[test]
    fn nothing_known_is_nothing_said() {
        let text = "[load]\nusers = 60000\n[[endpoint]]\nname = \"a\"\nrequest = \"GET /\"\n";
        assert_eq!(found(check, text), []);
    }
}
