//! Under which conditions a run was measured, so that two runs can be distinguished, or found alike.
//!
//! Everything is written as the scenario means it: a port that was free by chance, a scratch
//! folder and the seed are no conditions.

use std::collections::BTreeMap;

use slowpath_core::figures::{Conditions, host_conditions};
use slowpath_core::nanos::{MILLISECOND, SECOND};
use slowpath_core::record::Manifest;
use slowpath_core::scenario::{
    Arrivals, ConnectionUse, Endpoint, Expect, Http, Load, Model, Part, Pick, Pool, PoolOpen,
    PoolReuse, Scenario, Template, Think, Tls,
};
use slowpath_core::trace::Depth;

/// From here on Linux gives out ports by itself (`net.ipv4.ip_local_port_range`): such a port in
/// the URL of a target was given by chance.
const PORTS_BY_CHANCE_FROM: u16 = 32_768;

/// Texts longer than this, in bytes, are given by their length and a fingerprint.
const TEXT_MOST: usize = 120;

type Named = BTreeMap<String, String>;

/// The conditions of a measured run.
pub(super) fn conditions(manifest: &Manifest) -> Conditions {
    let mut versions = Named::from([("slowpath".to_owned(), manifest.version.clone())]);
    if let Some(imported) = &manifest.imported {
        // What else would be written here is not in the files.
        let start = "when the request was sent".to_owned();
        let tool = imported.tool.clone();
        return Conditions {
            harness: Named::from([
                ("latency starts".to_owned(), start),
                ("load generator".to_owned(), tool),
            ]),
            versions,
            ..Conditions::default()
        };
    }
    if let Some(git) = &manifest.git {
        let dirty = if git.dirty { " with changes" } else { "" };
        versions.insert("git".to_owned(), format!("{}{dirty}", git.commit));
    }
    let mut harness = harness(&manifest.plan.scenario);
    if let Some(traced) = traced(manifest) {
        harness.insert("traced".to_owned(), traced.to_owned());
    }
    Conditions {
        host: host_conditions(&manifest.host),
        config: config(manifest),
        harness,
        versions,
    }
}

/// How closely the target's threads were traced, which moves what is measured; `None` without.
fn traced(manifest: &Manifest) -> Option<&'static str> {
    let deepest = manifest
        .repeats
        .iter()
        .filter_map(|repeat| repeat.traced)
        .max()?;
    match deepest {
        Depth::Off => None,
        Depth::Threads => Some("without privilege"),
        Depth::Light | Depth::Full => Some("kernel tracepoints"),
    }
}

/// The target as configured.
fn config(manifest: &Manifest) -> Named {
    let scenario = &manifest.plan.scenario;
    let (target, wanted) = (&manifest.target, &scenario.target);
    let mut config = Named::from([("url".to_owned(), url(&written(&wanted.url, scenario)))]);
    for (name, value) in &target.environment {
        let meant = wanted.env.iter().find(|(other, _)| other == name);
        let value = match meant {
            Some((_, meant)) if meant.as_literal().is_none() => written(meant, scenario),
            _ => value.clone(),
        };
        config.insert(format!("env {name}"), value);
    }
    if let Some(command) = &target.command {
        let meant = wanted.command.as_deref().unwrap_or_default();
        let words = command.iter().enumerate().map(|(at, word)| {
            let template = meant.get(at).filter(|word| word.as_literal().is_none());
            template.map_or_else(|| word.clone(), |template| written(template, scenario))
        });
        let words: Vec<String> = words.collect();
        config.insert("command".to_owned(), words.join(" "));
    }
    if !target.executable.is_empty() {
        config.insert("executable".to_owned(), target.executable.clone());
    }
    for service in &scenario.services {
        let words = service.command.iter().map(|word| written(word, scenario));
        let env = service.env.iter();
        let env = env.map(|(name, value)| format!("{name}={}", written(value, scenario)));
        let words: Vec<String> = env.chain(words).collect();
        config.insert(format!("service {}", service.name), words.join(" "));
    }
    config
}

/// How it was measured.
fn harness(scenario: &Scenario) -> Named {
    let mut harness = load(&scenario.load);
    let target = &scenario.target;
    let http = match target.http {
        Http::One => "1.1",
        Http::Two => "2",
    };
    harness.insert("http".to_owned(), http.to_owned());
    if let Some(used) = &target.tls {
        harness.insert("tls".to_owned(), tls(used));
    }
    if target.unix_socket.is_some() {
        harness.insert("unix socket".to_owned(), "yes".to_owned());
    }
    if target.telemetry.is_some() {
        harness.insert("telemetry".to_owned(), "otlp".to_owned());
    }
    if target.pprof.is_some() {
        harness.insert("profiles".to_owned(), "pprof".to_owned());
    }
    for one in &scenario.endpoints {
        harness.insert(format!("endpoint {}", one.name), endpoint(one, scenario));
    }
    for one in &scenario.pools {
        harness.insert(format!("pool {}", one.name), pool(one));
    }
    for class in &scenario.users {
        let endpoints = class.endpoints.iter();
        let endpoints = endpoints.map(|(name, weight)| format!("{name} x {weight}"));
        let parts: Vec<String> = endpoints.chain(class.steps.iter().cloned()).collect();
        let pause = class.think.as_ref().map(think).unwrap_or_default();
        let text = format!("share {}: {} {pause}", class.share, parts.join(", "));
        harness.insert(format!("users {}", class.name), text.trim_end().to_owned());
    }
    harness
}

fn load(load: &Load) -> Named {
    let mut named = match &load.model {
        Model::Open {
            rate_per_s,
            arrivals,
        } => {
            let arrivals = match arrivals {
                Arrivals::Poisson => "poisson",
                Arrivals::Uniform => "uniform",
            };
            vec![
                ("model", "open".to_owned()),
                ("rate", format!("{rate_per_s}/s")),
                ("arrivals", arrivals.to_owned()),
            ]
        }
        Model::Closed {
            users,
            spawn_per_s,
            think: pause,
        } => {
            let spawn = spawn_per_s.map_or("at once".to_owned(), |rate| format!("{rate}/s"));
            vec![
                ("model", "closed".to_owned()),
                ("users", users.to_string()),
                ("spawn", spawn),
                ("think", think(pause)),
            ]
        }
    };
    let connection = match load.connection {
        ConnectionUse::Pool => "pool",
        ConnectionUse::PerUser => "per-user",
        ConnectionUse::PerRequest => "per-request",
    };
    named.extend([
        ("connections", load.connections.to_string()),
        ("connection", connection.to_owned()),
        ("duration", time(load.duration_ns)),
        ("warmup", time(load.warmup_ns)),
        ("timeout", time(load.timeout_ns)),
        ("fresh", load.fresh.to_string()),
        ("redirects", load.redirects.to_string()),
        ("loops", load.loops.to_string()),
        ("streams", load.streams.to_string()),
    ]);
    if load.connection == ConnectionUse::Pool {
        named.extend(use_of_pool(load));
    }
    named.extend(load.idle.as_ref().map(|idle| ("idle", think(idle))));
    if !load.passes.is_empty() {
        named.push(("passes", load.passes.join(", ")));
    }
    let named = named.into_iter();
    named
        .map(|(name, value)| (name.to_owned(), value))
        .collect()
}

/// How a pool uses its connections. What older figures were measured with has no entry in them, so
/// that it has none here either.
fn use_of_pool(load: &Load) -> Vec<(&'static str, String)> {
    let mut named = Vec::new();
    if load.reuse != PoolReuse::Oldest {
        named.push(("reuse", "recent".to_owned()));
    }
    if load.open != PoolOpen::AtStart {
        named.push(("open", "on-demand".to_owned()));
    }
    named
}

fn tls(tls: &Tls) -> String {
    let parts = [
        (tls.insecure, "insecure"),
        (tls.ca.is_some(), "own authorities"),
        (tls.cert.is_some(), "with a certificate"),
        (!tls.resume, "full handshakes"),
    ];
    let said: Vec<&str> = parts
        .into_iter()
        .filter_map(|(holds, word)| holds.then_some(word))
        .collect();
    if said.is_empty() {
        "default".to_owned()
    } else {
        said.join(", ")
    }
}

/// `GET /search?q={topics} x 4`, and whatever else is asked or expected.
fn endpoint(endpoint: &Endpoint, scenario: &Scenario) -> String {
    let text = |template: &Template| short(&written(template, scenario));
    let mut said = vec![format!(
        "{} {} x {}",
        endpoint.method,
        text(&endpoint.path),
        endpoint.weight
    )];
    let headers = endpoint.headers.iter();
    said.extend(headers.map(|(name, value)| format!("{name}: {}", text(value))));
    let body = endpoint.body.as_ref().or(endpoint.body_file.as_ref());
    said.extend(body.map(|body| format!("body {}", text(body))));
    said.extend(
        endpoint
            .key
            .as_ref()
            .map(|key| format!("key {:?}", text(key))),
    );
    let rates = [
        ("rate", endpoint.rate_per_s, "/s"),
        ("read_rate", endpoint.read_bytes_per_s, " B/s"),
        ("send_rate", endpoint.send_bytes_per_s, " B/s"),
    ];
    for (name, rate, unit) in rates {
        said.extend(rate.map(|rate| format!("{name} {rate}{unit}")));
    }
    said.extend(expected(&endpoint.expect, scenario));
    said.join("; ")
}

/// What the answer must look like: a stricter expectation makes more errors of the same answers.
fn expected(expect: &Expect, scenario: &Scenario) -> Vec<String> {
    let text = |template: &Template| short(&written(template, scenario));
    let mut said = Vec::new();
    said.extend(expect.status.map(|status| format!("expect {status}")));
    let texts = [
        ("contains", &expect.contains),
        ("regex", &expect.regex),
        ("last_event", &expect.last_event),
    ];
    for (name, template) in texts {
        said.extend(template.as_ref().map(|t| format!("{name} {:?}", text(t))));
    }
    let size = expect.size.as_ref();
    said.extend(size.map(|s| format!("size {}..{}", s.min_bytes, s.max_bytes)));
    let json = expect.json.iter();
    said.extend(json.map(|(pointer, value)| format!("json {pointer} = {}", text(value))));
    let events = expect.events.as_ref();
    said.extend(events.map(|e| format!("events {}..{}", e.min, e.max)));
    let count = expect.count.as_ref();
    said.extend(count.map(|c| format!("count {:?} = {}", text(&c.of), c.is)));
    said
}

fn pool(pool: &Pool) -> String {
    let pick = match pool.pick {
        Pick::Random if pool.weights.is_some() => "by weight",
        Pick::Random => "at random",
        Pick::Sequence => "in sequence",
        Pick::Unique => "each once",
    };
    let mut print = Fingerprint::default();
    for value in pool.values.iter() {
        print.add(value.as_bytes());
        print.add(&[0]);
    }
    for weight in pool.weights.iter().flatten() {
        print.add(&weight.to_le_bytes());
    }
    format!("{} values {pick}, {}", pool.values.len(), print.text())
}

fn think(think: &Think) -> String {
    match *think {
        Think::Uniform { min_ns, max_ns } if min_ns == max_ns => time(min_ns),
        Think::Uniform { min_ns, max_ns } => format!("{}..{}", time(min_ns), time(max_ns)),
        Think::Exponential { mean_ns } => format!("exponential, mean {}", time(mean_ns)),
        Think::LogNormal { median_ns, p90_ns } => {
            format!("lognormal, p50 {}, p90 {}", time(median_ns), time(p90_ns))
        }
    }
}

fn time(ns: u64) -> String {
    if ns.is_multiple_of(SECOND) {
        format!("{}s", ns / SECOND)
    } else if ns.is_multiple_of(MILLISECOND) {
        format!("{}ms", ns / MILLISECOND)
    } else {
        format!("{ns}ns")
    }
}

/// The URL of a target, without a port that the kernel gave.
fn url(text: &str) -> String {
    let Some((before, port)) = text.rsplit_once(':') else {
        return text.to_owned();
    };
    match port.trim_end_matches('/').parse::<u16>() {
        Ok(number) if number >= PORTS_BY_CHANCE_FROM => format!("{before}:{{any port}}"),
        _ => text.to_owned(),
    }
}

/// A template as it was written.
fn written(template: &Template, scenario: &Scenario) -> String {
    let name = |of: Option<&str>| format!("{{{}}}", of.unwrap_or("?"));
    let parts = template.parts.iter().map(|part| match part {
        Part::Literal(text) => text.clone(),
        Part::Pool(at) => name(scenario.pools.get(*at).map(|pool| pool.name.as_str())),
        Part::Variable(at) => name(scenario.variables.get(*at).map(String::as_str)),
        Part::Seq => "{seq}".to_owned(),
        Part::Uuid => "{uuid}".to_owned(),
        Part::Port => "{port}".to_owned(),
        Part::ServicePort(at) => {
            let service = scenario.services.get(*at).map(|service| &service.name);
            format!("{{service.{}.port}}", service.map_or("?", String::as_str))
        }
        Part::ServiceHost(at) => {
            let service = scenario.services.get(*at).map(|service| &service.name);
            format!("{{service.{}.host}}", service.map_or("?", String::as_str))
        }
        Part::Tmp => "{tmp}".to_owned(),
    });
    parts.collect()
}

/// A text, or what distinguishes a long one from others.
fn short(text: &str) -> String {
    if text.len() <= TEXT_MOST {
        return text.to_owned();
    }
    let mut print = Fingerprint::default();
    print.add(text.as_bytes());
    format!("({} bytes, {})", text.len(), print.text())
}

/// FNV-1a with 64 bits (draft-eastlake-fnv): distinguishes texts that were not chosen to collide, the
/// same in every version.
struct Fingerprint(u64);

impl Default for Fingerprint {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Fingerprint {
    fn add(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    fn text(&self) -> String {
        format!("fnv {:016x}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use slowpath_core::scenario::Escape;

    use super::*;

    #[test]
    fn ports_by_chance_are_no_condition() {
        assert_eq!(url("http://127.0.0.1:8080"), "http://127.0.0.1:8080");
        assert_eq!(url("http://127.0.0.1:41234"), "http://127.0.0.1:{any port}");
        assert_eq!(url("http://[::1]:41234/"), "http://[::1]:{any port}");
        assert_eq!(url("https://example.org"), "https://example.org");
    }

    #[test]
    fn texts_are_told_apart_and_templates_are_as_written() {
        let mut print = Fingerprint::default();
        print.add(b"foobar");
        // The vector of the draft.
        assert_eq!(print.text(), "fnv 85944171f73967e8");
        let mut scenario = Scenario::from_url("http://127.0.0.1:8080/").unwrap();
        scenario.pools = vec![Pool::plain("topics", ["a", "b"])];
        scenario.endpoints[0].path = Template {
            parts: vec![
                Part::Literal("/search?q=".to_owned()),
                Part::Pool(0),
                Part::Seq,
            ],
            escape: Escape::Url,
        };
        let before = harness(&scenario);
        assert_eq!(
            before["endpoint /"],
            "GET /search?q={topics}{seq} x 1; key \"\""
        );
        scenario.pools = vec![Pool::plain("topics", ["a", "c"])];
        scenario.endpoints[0].expect.status = Some(200);
        let after = harness(&scenario);
        let changed: Vec<&String> = before
            .keys()
            .filter(|key| before[*key] != after[*key])
            .collect();
        assert_eq!(changed, ["endpoint /", "pool topics"]);
        assert_eq!(before["duration"], "10s");
        assert_eq!(before["think"], "0s");
    }

    #[test]
    fn how_a_pool_uses_its_connections_is_a_condition() {
        let of = |reuse, open, connection| {
            let load = Load {
                connection,
                reuse,
                open,
                ..Load::default()
            };
            super::load(&load)
        };
        let pool = ConnectionUse::Pool;
        let recent = of(PoolReuse::Recent, PoolOpen::OnDemand, pool);
        let oldest = of(PoolReuse::Oldest, PoolOpen::OnDemand, pool);
        let before = of(PoolReuse::Oldest, PoolOpen::AtStart, pool);
        assert_eq!(
            (&*recent["reuse"], &*recent["open"]),
            ("recent", "on-demand")
        );
        assert_ne!(recent, oldest);
        assert_ne!(oldest, before);
        assert!(!before.contains_key("reuse") && !before.contains_key("open"));
        let users = |reuse, open| of(reuse, open, ConnectionUse::PerUser);
        assert_eq!(
            users(PoolReuse::Recent, PoolOpen::OnDemand),
            users(PoolReuse::Oldest, PoolOpen::AtStart)
        );
    }
}
