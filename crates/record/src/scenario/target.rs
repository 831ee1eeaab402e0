//! The target, the services beside it, and the toggles that change it.

use slowpath_core::scenario::{
    DEFAULT_READY_TIMEOUT_NS, Escape, Http, Part, Places, Profiler, Ready, Scheme, Service,
    ServiceAddress, Step, Switch, Target, Telemetry, Template, Tls, Toggle, Url, is_path_char,
};

use super::reader::Table;
use super::value::{Scope, Value};
use super::{Known, unique};

/// What stands in for `{port}` when a text is checked before any port is known; any other would do.
const SOME_PORT: u16 = 1;

pub(super) fn target(table: &Table<'_>, known: &Known) -> Option<Target> {
    let scope = Scope {
        known,
        of_request: false,
        started: table.has("command"),
    };
    let url = table.required("url", "add url = \"http://127.0.0.1:8080\"");
    let url = url.and_then(|value| url_template(&value, scope));
    let process = process(table, scope);
    let ready = table.get("ready").and_then(|value| ready(&value, scope));
    let reset = table
        .get("reset")
        .and_then(|value| steps(&value.array()?, scope));
    Some(Target {
        command: table.has("command").then_some(process.command),
        env: process.env,
        cwd: process.cwd,
        ready: ready.unwrap_or(Ready::Tcp),
        ready_timeout_ns: process.ready_timeout_ns,
        reset: reset.unwrap_or_default(),
        tls: table.child("tls").map(|table| tls(&table, scope)),
        http: table
            .get("http")
            .and_then(|value| http(&value))
            .unwrap_or_default(),
        unix_socket: table
            .get("unix_socket")
            .and_then(|value| value.filled_template(scope)),
        telemetry: table.get("telemetry").and_then(|value| telemetry(&value)),
        pprof: table.get("pprof").and_then(|value| pprof(&value, scope)),
        profile: table
            .get("profile")
            .and_then(|value| profiler(&value, table.has("pprof"))),
        ..Target::attached(url?)
    })
}

/// Text with every placeholder of a process filled in by something.
pub(super) fn tried_out(template: &Template, known: &Known) -> String {
    let service_ports = vec![SOME_PORT; known.services.len()];
    template.expand(&Places {
        port: SOME_PORT,
        service_ports,
        tmp: "/tmp".to_owned(),
        ..Places::default()
    })
}

fn url_template(value: &Value<'_>, scope: Scope<'_>) -> Option<Template> {
    let template = value.filled_template(scope)?;
    match Url::parse(&tried_out(&template, scope.known)) {
        Err(error) => value.wrong(error, "try \"http://127.0.0.1:8080\""),
        Ok(url) if url.path != "/" => {
            value.wrong(
                "a target has no path",
                "move the path to the requests of the endpoints",
            );
        }
        Ok(_) => return Some(template),
    }
    None
}

/// What target and services have in common.
struct Process {
    command: Vec<Template>,
    env: Vec<(String, Template)>,
    cwd: Option<Template>,
    ready_timeout_ns: u64,
}

fn process(table: &Table<'_>, scope: Scope<'_>) -> Process {
    let command = table.get("command").and_then(|value| argv(&value, scope));
    let timeout = table
        .get("ready_timeout")
        .and_then(|value| value.positive_duration());
    if !scope.started {
        for key in ["env", "cwd"] {
            if let Some(value) = table.get(key) {
                value.at_odds("only for what slowpath starts", "add command or remove it");
            }
        }
    }
    Process {
        command: command.unwrap_or_default(),
        env: table
            .child("env")
            .map(|table| env(&table, scope))
            .unwrap_or_default(),
        cwd: table
            .get("cwd")
            .and_then(|value| value.filled_template(scope)),
        ready_timeout_ns: timeout.unwrap_or(DEFAULT_READY_TIMEOUT_NS),
    }
}

/// A program and its arguments.
fn argv(value: &Value<'_>, scope: Scope<'_>) -> Option<Vec<Template>> {
    let words = value.array()?;
    if words
        .first()
        .is_none_or(|word| word.as_str().is_some_and(|word| word.trim().is_empty()))
    {
        value.wrong(
            "it names no program",
            "try [\"./server\", \"--port\", \"{port}\"]",
        );
        return None;
    }
    words
        .iter()
        .map(|word| word.template(scope, Escape::None))
        .collect()
}

fn env(table: &Table<'_>, scope: Scope<'_>) -> Vec<(String, Template)> {
    let variable = |(name, value): (&str, Value<'_>)| {
        if name.is_empty() || name.contains(['=', '\0']) {
            value.wrong("no name of a variable", "leave out = and NUL");
        }
        Some((name.to_owned(), value.template(scope, Escape::None)?))
    };
    table.entries().into_iter().filter_map(variable).collect()
}

fn ready(value: &Value<'_>, scope: Scope<'_>) -> Option<Ready> {
    let text = value.text()?;
    if text == "tcp" {
        return Some(Ready::Tcp);
    }
    if let Some(("GET", path)) = text.split_once(' ') {
        return path_template(value, path, scope).map(Ready::Get);
    }
    value.wrong(
        format!("{text:?} is not understood"),
        "say \"tcp\" or \"GET /health\"",
    );
    None
}

/// A path with its query, as it goes on a request line.
pub(super) fn path_template(value: &Value<'_>, path: &str, scope: Scope<'_>) -> Option<Template> {
    if !path.starts_with('/') {
        value.wrong(
            format!("the path {path:?} does not start with /"),
            "write \"GET /path\"",
        );
        return None;
    }
    if let Some(bad) = path.chars().find(|c| !is_path_char(*c)) {
        let what = format!("{bad:?} cannot stand in a request line");
        value.wrong(what, "percent-encode it; a space is %20");
        return None;
    }
    value.template_of(path, scope, Escape::Url)
}

/// Method and path of a request such as `GET /search`.
pub(super) fn method_and_path<'t>(value: &Value<'_>, text: &'t str) -> Option<(&'t str, &'t str)> {
    let (method, path) = text.split_once(' ').unwrap_or((text, ""));
    if method.is_empty() || !method.bytes().all(|b| b.is_ascii_uppercase() || b == b'-') {
        let what = format!("{method:?} is no method");
        value.wrong(what, "write a method in capitals and a path: \"GET /path\"");
        return None;
    }
    Some((method, path))
}

fn steps(values: &[Value<'_>], scope: Scope<'_>) -> Option<Vec<Step>> {
    values.iter().map(|value| step(value, scope)).collect()
}

/// A request as a string, or a command as an array.
fn step(value: &Value<'_>, scope: Scope<'_>) -> Option<Step> {
    let Some(text) = value.as_str() else {
        return argv(value, scope).map(Step::Command);
    };
    let (method, path) = method_and_path(value, text)?;
    let path = path_template(value, path, scope)?;
    Some(Step::Request {
        method: method.to_owned(),
        path,
    })
}

fn http(value: &Value<'_>) -> Option<Http> {
    match value.text()? {
        "1.1" => Some(Http::One),
        "2" => Some(Http::Two),
        _ => {
            value.wrong("no version that is spoken here", "write \"1.1\" or \"2\"");
            None
        }
    }
}

/// The protocol, and the port if one is wanted: `otlp` or `otlp:4317`.
fn telemetry(value: &Value<'_>) -> Option<Telemetry> {
    let text = value.text()?;
    let port = match text.strip_prefix("otlp") {
        Some("") => Some(None),
        Some(rest) => rest
            .strip_prefix(':')
            .and_then(|port| port.parse().ok())
            .map(Some),
        None => None,
    };
    match port {
        Some(Some(0)) | None => {
            let what = format!("{text:?} is not understood");
            value.wrong(what, "say \"otlp\", or with a port \"otlp:4317\"");
            None
        }
        Some(port) => Some(Telemetry { port }),
    }
}

/// Where profiles are served: a URL that is spoken to without TLS.
fn profiler(value: &Value<'_>, serves_pprof: bool) -> Option<Profiler> {
    let text = value.text()?;
    let found = Profiler::named(text);
    if found.is_none() {
        let known = Profiler::ALL.map(|profiler| format!("{:?}", profiler.name()));
        value.wrong(
            format!("{text:?} takes no samples"),
            format!("say one of {}", known.join(", ")),
        );
    }
    if found == Some(Profiler::Pprof) && !serves_pprof {
        value.at_odds(
            "only for a target that serves its profiles",
            "say where: pprof = \"http://127.0.0.1:{port}\"",
        );
    }
    found
}

fn pprof(value: &Value<'_>, scope: Scope<'_>) -> Option<Template> {
    let template = value.filled_template(scope)?;
    let remedy = "try \"http://127.0.0.1:6060\"";
    match Url::parse(&tried_out(&template, scope.known)) {
        Err(error) => value.wrong(error, remedy),
        Ok(url) if url.scheme == Scheme::Https => {
            value.wrong("profiles are fetched without TLS", remedy);
        }
        Ok(_) => return Some(template),
    }
    None
}

fn tls(table: &Table<'_>, scope: Scope<'_>) -> Tls {
    let path = |key| {
        table
            .get(key)
            .and_then(|value| value.filled_template(scope))
    };
    let truth = |key, default| {
        table
            .get(key)
            .and_then(|value| value.boolean())
            .unwrap_or(default)
    };
    for (one, other) in [("cert", "key"), ("key", "cert")] {
        if table.has(one) && !table.has(other) {
            table.wrong(&format!("{one} without {other}"), "give both or neither");
        }
    }
    Tls {
        insecure: truth("insecure", false),
        ca: path("ca"),
        cert: path("cert"),
        key: path("key"),
        resume: truth("resume", true),
    }
}

pub(super) fn services(root: &Table<'_>, known: &Known) -> Vec<Service> {
    let tables = root.tables("service");
    let names: Vec<_> = tables
        .iter()
        .filter_map(|table| table.get("name"))
        .collect();
    unique(names.into_iter().map(|value| (value.as_str(), value)));
    tables
        .iter()
        .filter_map(|table| service(table, known))
        .collect()
}

fn service(table: &Table<'_>, known: &Known) -> Option<Service> {
    let scope = Scope {
        known,
        of_request: false,
        started: true,
    };
    let name = table
        .required("name", "add name = \"db\"")
        .and_then(|value| {
            let name = value.filled()?;
            if name.contains(|c: char| !c.is_ascii_alphanumeric() && c != '-' && c != '_') {
                value.wrong("a service has a plain name", "use letters, digits, - and _");
            }
            Some(name)
        });
    let address = table.get("address").and_then(|value| address(&value));
    if table.has("address") {
        for key in ["command", "env", "cwd", "ready", "ready_timeout"] {
            if let Some(value) = table.get(key) {
                value.at_odds(
                    "only for a service that slowpath starts",
                    "remove it, or the address",
                );
            }
        }
    } else {
        table.required("command", "add command = [\"./start.sh\", \"{port}\"]");
    }
    let process = process(table, scope);
    let knows_port = || {
        let mut texts = process
            .command
            .iter()
            .chain(process.env.iter().map(|(_, text)| text));
        texts.any(|text| text.parts.contains(&Part::Port))
    };
    let ready = match table.get("ready") {
        Some(value) => {
            if !process.command.is_empty() && !knows_port() {
                value.at_odds(
                    "the service is not given its port",
                    "put {port} into its command",
                );
            }
            ready(&value, scope)?
        }
        None if knows_port() => Ready::Tcp,
        None => Ready::Started,
    };
    Some(Service {
        name: name?.to_owned(),
        address,
        command: process.command,
        env: process.env,
        cwd: process.cwd,
        ready,
        ready_timeout_ns: process.ready_timeout_ns,
    })
}

/// `HOST:PORT` of a service that runs already.
fn address(value: &Value<'_>) -> Option<ServiceAddress> {
    let text = value.filled()?;
    let parts = text.rsplit_once(':').filter(|(host, _)| {
        let is_ipv6 = host.starts_with('[') && host.ends_with(']');
        !host.is_empty() && !host.contains(['/', ' ']) && (is_ipv6 || !host.contains(':'))
    });
    let port = |text: &str| text.parse().ok().filter(|&port: &u16| port > 0);
    let address = parts.and_then(|(host, digits)| {
        Some(ServiceAddress {
            host: host.to_owned(),
            port: port(digits)?,
        })
    });
    if address.is_none() {
        value.wrong("no HOST:PORT", "try \"127.0.0.1:5432\"");
    }
    address
}

pub(super) fn toggles(root: &Table<'_>, known: &Known, started: bool) -> Vec<Toggle> {
    let Some(table) = root.child("toggle") else {
        return Vec::new();
    };
    let scope = Scope {
        known,
        of_request: false,
        started,
    };
    let named = |(name, value): (&str, Value<'_>)| {
        let name = name.to_owned();
        Some(Toggle {
            name,
            switch: switch(&value.table()?, scope)?,
        })
    };
    table.entries().into_iter().filter_map(named).collect()
}

fn switch(table: &Table<'_>, scope: Scope<'_>) -> Option<Switch> {
    let restarts = table.has("env") || table.has("args");
    let live = table.has("on") || table.has("off");
    match (restarts, live) {
        (false, false) => {
            table.wrong(
                "it switches nothing",
                "add env = {...}, args = [...], or on and off",
            );
            None
        }
        (true, true) => {
            let what = "env and args restart the target, on and off do not";
            table.wrong(what, "make two toggles of it");
            None
        }
        (true, false) => {
            if !scope.started {
                let what = "env and args need a target that slowpath starts";
                table.wrong(what, "add target.command, or use on and off");
            }
            let args = table
                .get("args")
                .and_then(|value| value.array())
                .unwrap_or_default();
            let args = args
                .iter()
                .filter_map(|word| word.template(scope, Escape::None));
            let env = table.child("env").map(|table| env(&table, scope));
            Some(Switch::Restart {
                args: args.collect(),
                env: env.unwrap_or_default(),
            })
        }
        (false, true) => {
            let on = table.required("on", "say how it is switched on");
            let off = table.required("off", "say how it is switched off");
            let (on, off) = (
                on.map(|value| act(&value, scope)),
                off.map(|value| act(&value, scope)),
            );
            Some(Switch::Live {
                on: on??,
                off: off??,
            })
        }
    }
}

/// What switches a toggle: one command, or a list of requests and commands.
fn act(value: &Value<'_>, scope: Scope<'_>) -> Option<Vec<Step>> {
    let values = value.array()?;
    let is_request = |value: &Value<'_>| {
        value.as_str().is_some_and(|text| {
            text.split_once(' ').is_some_and(|(method, path)| {
                method.bytes().all(|b| b.is_ascii_uppercase()) && path.starts_with('/')
            })
        })
    };
    if values
        .iter()
        .any(|value| value.as_str().is_none() || is_request(value))
    {
        return steps(&values, scope);
    }
    Some(vec![Step::Command(argv(value, scope)?)])
}
