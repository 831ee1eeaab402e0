//! What the client's own host does not allow.

use std::net::IpAddr;

use slowpath_core::scenario::{ConnectionUse, Model, Places, Template, Url};

use super::{View, finding};
use crate::facts::PortReuse;
use crate::report::{Finding, Place, Severity};
use crate::wording::{count, percent};

/// How long Linux keeps the port of a connection that it closed first (`TCP_TIMEWAIT_LEN` in
/// include/net/tcp.h), in seconds.
const TIME_WAIT_S: f64 = 60.0;
/// After how long Linux takes such a port again where `net.ipv4.tcp_tw_reuse` lets it, in seconds.
const REUSE_S: f64 = 1.0;
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

/// Where what decides their number is written.
fn at_connections(view: &View<'_>) -> Place {
    match (&view.scenario.load.model, view.scenario.load.connection) {
        (Model::Closed { .. }, ConnectionUse::PerUser) => view.at_load("users"),
        _ => view.at_load("connections"),
    }
}

fn files(view: &View<'_>) -> Option<Finding> {
    let limit = view.facts.host.open_files? as f64;
    let needed = connections(view) + OWN_FILES;
    if needed <= limit {
        return None;
    }
    let mut found = finding("client-limits", Severity::Error, at_connections(view));
    found.text = format!(
        "{} connections need about {} open files, and this host allows {} a process",
        count(connections(view)),
        count(needed),
        count(limit)
    );
    found.remedy = format!("ulimit -n {}", needed.ceil());
    Some(found)
}

/// Local ports to dial from; `None` where they are not known, or not needed.
fn port_count(view: &View<'_>) -> Option<f64> {
    if view.scenario.target.unix_socket.is_some() {
        return None;
    }
    let (first, last) = view.facts.host.local_ports?;
    Some(f64::from(last) - f64::from(first) + 1.0)
}

fn ports(view: &View<'_>) -> Option<Finding> {
    let ports = port_count(view)?;
    if connections(view) <= ports {
        return None;
    }
    let mut found = finding("client-limits", Severity::Error, at_connections(view));
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

/// A connection for each request keeps a port in use for a minute after it, on the side that closes first.
fn waiting_ports(view: &View<'_>) -> Option<Finding> {
    if view.scenario.load.connection != ConnectionUse::PerRequest {
        return None;
    }
    let ports = port_count(view)?;
    let rate: f64 = view.workload.demands.iter().map(|d| d.rate_per_s).sum();
    let lasts_s = (view.scenario.load.duration_ns + view.scenario.load.warmup_ns) as f64 / 1e9;
    let reused = view.facts.host.reuse.is_some_and(|reuse| match reuse {
        PortReuse::Always => true,
        PortReuse::Loopback => is_loopback(view),
    });
    let waits_s = if reused { REUSE_S } else { TIME_WAIT_S };
    let held = rate * lasts_s.min(waits_s);
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
        count((ports / waits_s).floor())
    );
    found.share = Some(1.0 - ports / held);
    Some(found)
}

/// Whether the target's address is one of this host's own for itself.
fn is_loopback(view: &View<'_>) -> bool {
    let services = view.scenario.services.len();
    let host = url_host(&view.scenario.target.url, services);
    let is = |address: IpAddr| address.is_loopback();
    host == "localhost" || host.parse::<IpAddr>().is_ok_and(is)
}

/// The host of a URL whose port may be chosen later.
fn url_host(url: &Template, services: usize) -> String {
    let places = Places {
        port: 1,
        service_ports: vec![1; services],
        ..Places::default()
    };
    Url::parse(&url.expand(&places)).map_or_else(|_| String::new(), |url| url.host)
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
        reuse: None,
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
    fn ports_that_are_taken_again_last() {
        let on = |url: &str, rate: u32, reuse| {
            let facts = Facts {
                host: HostLimits {
                    reuse: Some(reuse),
                    ..SMALL
                },
                ..Facts::default()
            };
            let text = format!(
                "[target]\nurl = \"{url}\"\n[load]\nrate = \"{rate}/s\"\n\
                 connection = \"per-request\"\nduration = \"2m\"\n\
                 [[endpoint]]\nname = \"a\"\nrequest = \"GET /\"\n"
            );
            found_with(check, &text, &facts)
        };
        for url in ["http://127.0.0.1:1", "http://[::1]:1", "http://localhost:1"] {
            assert_eq!(on(url, 900, PortReuse::Loopback), [], "{url}");
            only(
                &on(url, 1100, PortReuse::Loopback),
                &["1,100 ports", "0.9 s"],
            );
        }
        only(
            &on("http://10.0.0.1:1", 50, PortReuse::Loopback),
            &["3,000 ports"],
        );
        assert_eq!(on("http://10.0.0.1:1", 50, PortReuse::Always), []);
    }

    #[test]
    fn unix_sockets_have_no_ports() {
        let text = "[target]\nurl = \"http://localhost\"\nunix_socket = \"a.sock\"\n\
                    [load]\nrate = \"50/s\"\nconnection = \"per-request\"\nduration = \"2m\"";
        assert_eq!(on_small(text), []);
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
