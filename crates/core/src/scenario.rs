//! What the user wrote: the scenario, checked, with units resolved and nothing else decided.
//!
//! Plain data. Reading the file, with lines and all its mistakes at once, is the record crate's;
//! drawing the schedule from it is the plan's. Durations are nanoseconds, rates are per second,
//! sizes are bytes.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

mod agreement;
mod endpoint;
mod gate;
mod load;
mod overrides;
mod pool;
mod template;
mod think;
pub mod units;
mod url;
mod users;

pub use agreement::COLD;
pub use endpoint::{Count, Endpoint, EventRange, Expect, Extract, Extraction, SizeRange};
pub use gate::{
    Bounded, Condition, Dimension, Gate, GateError, GateTest, Measure, Metric, Operand, Order,
    Relation, Term, Vocabulary,
};
pub use load::{
    Arrivals, ConnectionUse, Contradiction, DEFAULT_CONNECTIONS, DEFAULT_DURATION_NS,
    DEFAULT_LOOPS, DEFAULT_REPEATS, DEFAULT_REPEATS_MOST, DEFAULT_STREAMS, DEFAULT_TIMEOUT_NS,
    DEFAULT_USERS, DEFAULT_WARMUP_NS, Load, LoadDraft, Model, ModelName, PoolOpen, PoolReuse,
};
pub use overrides::Overrides;
pub use pool::{Pick, Pool, Texts};
pub use template::{Escape, LOOPBACK, Names, Part, Places, Template, TemplateError, Values};
pub use think::Think;
pub use url::{Scheme, Url, UrlError, is_path_char};
pub use users::{UserClass, deal, head_counts};

/// How long a process may take to become ready: long enough for a cold JVM or interpreter,
/// short enough that a typing mistake in `ready` is seen while one still looks.
pub const DEFAULT_READY_TIMEOUT_NS: u64 = 10_000_000_000;

/// A workload and everything it runs against.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Scenario {
    /// The name of the investigation; the file's stem where none was given.
    pub name: String,
    /// The folder that relative paths and `cwd`s start from.
    pub folder: PathBuf,
    /// The server under test.
    pub target: Target,
    /// What the target needs beside it, in the order in which it is started.
    pub services: Vec<Service>,
    /// How requests arrive.
    pub load: Load,
    /// Sets of values that requests draw from; [`Part::Pool`] is an index into this.
    pub pools: Vec<Pool>,
    /// Names of what sessions extract from responses; [`Part::Variable`] is an index into this.
    #[serde(default)]
    pub variables: Vec<String>,
    /// The requests; at least one.
    pub endpoints: Vec<Endpoint>,
    /// Classes of closed-loop users; empty means one class that uses every endpoint.
    pub users: Vec<UserClass>,
    /// Known constants of the system.
    pub timers: Vec<Timer>,
    /// What an experiment may switch.
    pub toggles: Vec<Toggle>,
    /// What must hold for the run to pass.
    pub gates: Vec<Gate>,
}

impl Scenario {
    /// The scenario of `slowpath run URL`: one `GET` endpoint, named after the path, on a target
    /// that was started outside of slowpath, under the default load (closed loop).
    ///
    /// # Errors
    /// When `text` is no `http://` or `https://` URL.
    pub fn from_url(text: &str) -> Result<Self, UrlError> {
        let url = Url::parse(text)?;
        let path = Template::literal(&url.path, Escape::Url);
        let name = url.path.split('?').next().unwrap_or("/").to_owned();
        Ok(Self {
            name: url.authority(),
            folder: PathBuf::new(),
            target: Target::attached(Template::literal(&url.origin(), Escape::None)),
            services: Vec::new(),
            load: Load::default(),
            pools: Vec::new(),
            variables: Vec::new(),
            endpoints: vec![Endpoint::get(name, path)],
            users: Vec::new(),
            timers: Vec::new(),
            toggles: Vec::new(),
            gates: Vec::new(),
        })
    }

    /// What gates may speak of: endpoints, and with the name of each pass (`search (cold)`).
    pub fn gate_subjects(&self) -> Vec<String> {
        let names: Vec<String> = self.endpoints.iter().map(|e| e.name.clone()).collect();
        gate_subjects(names, &self.load.passes)
    }
}

/// What gates may speak of: endpoints, and with the name of each pass (`search (cold)`).
pub fn gate_subjects(endpoints: Vec<String>, passes: &[String]) -> Vec<String> {
    let of_pass = |name: &String| -> Vec<String> {
        passes
            .iter()
            .map(|pass| format!("{name} ({pass})"))
            .collect()
    };
    let with_passes: Vec<String> = endpoints.iter().flat_map(of_pass).collect();
    endpoints.into_iter().chain(with_passes).collect()
}

/// The server under test: started by slowpath when it has a command, found otherwise.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Target {
    /// `scheme://host:port` without a path; may say `{port}` when there is a command.
    pub url: Template,
    /// Program and arguments; `None` when the target runs already.
    pub command: Option<Vec<Template>>,
    /// Variables set over the inherited environment.
    pub env: Vec<(String, Template)>,
    /// Working folder, relative to [`Scenario::folder`], which is the default.
    pub cwd: Option<Template>,
    /// When the target counts as ready.
    pub ready: Ready,
    /// How long it may take to become ready, in nanoseconds.
    pub ready_timeout_ns: u64,
    /// What makes the next pass a cold one, in order.
    pub reset: Vec<Step>,
    /// How TLS is spoken; `None` where nothing was written about it.
    pub tls: Option<Tls>,
    /// The version of HTTP that is spoken.
    #[serde(default)]
    pub http: Http,
    /// The Unix socket to connect to instead of the URL's host and port, relative to
    /// [`Scenario::folder`]; the URL still gives scheme, `Host` and the name in the certificate.
    #[serde(default)]
    pub unix_socket: Option<Template>,
    /// The telemetry that it sends to slowpath; `None` where none is asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub telemetry: Option<Telemetry>,
    /// Where a Go target serves its profiles (`net/http/pprof`): an `http` URL, with the path of its
    /// own if that is not [`DEFAULT_PPROF_PATH`]; `None` where none are asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pprof: Option<Template>,
    /// How a profiling pass after the repeats takes its samples; `None` for no such pass.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<Profiler>,
}

/// Who takes the samples of a profiling pass.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Profiler {
    /// The profiler that sees most of what is there: [`Target::pprof`], py-spy for Python, the flight recorder for
    /// Java, else the kernel's clock.
    #[default]
    Auto,
    /// The runtime of Go.
    Pprof,
    /// The kernel's clock.
    Perf,
    /// py-spy.
    PySpy,
    /// Java's flight recorder.
    Jfr,
}

impl Profiler {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Auto, Self::Pprof, Self::Perf, Self::PySpy, Self::Jfr];

    /// As scenarios and the command line have it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Pprof => "pprof",
            Self::Perf => "perf",
            Self::PySpy => "py-spy",
            Self::Jfr => "jfr",
        }
    }

    /// The one with this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|profiler| profiler.name() == name)
    }
}

impl Target {
    /// A target that runs already.
    pub fn attached(url: Template) -> Self {
        Self {
            url,
            command: None,
            env: Vec::new(),
            cwd: None,
            ready: Ready::Tcp,
            ready_timeout_ns: DEFAULT_READY_TIMEOUT_NS,
            reset: Vec::new(),
            tls: None,
            http: Http::One,
            unix_socket: None,
            telemetry: None,
            pprof: None,
            profile: None,
        }
    }
}

/// Where the target's telemetry comes in, by OpenTelemetry's protocol (OTLP).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Telemetry {
    /// The port on the loopback interface; `None` takes a free one for a target that slowpath
    /// starts, and [`DEFAULT_TELEMETRY_PORT`] for one that runs already.
    pub port: Option<u16>,
}

/// Where exporters send to by default (OTLP over HTTP).
pub const DEFAULT_TELEMETRY_PORT: u16 = 4318;

/// Where `net/http/pprof` of Go serves profiles unless a program says otherwise.
pub const DEFAULT_PPROF_PATH: &str = "/debug/pprof";

/// A version of HTTP.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Http {
    /// HTTP/1.1.
    #[default]
    One,
    /// HTTP/2: with prior knowledge over `http://`, negotiated (ALPN) over `https://`.
    Two,
}

/// What the target needs beside it, never judged as it: a process that is started before it and
/// stopped after it, or a server that runs already.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Service {
    /// Unique name; `{service.NAME.port}` is its port, `{service.NAME.host}` its host.
    pub name: String,
    /// Where it runs already; such a service has no command, and is not started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<ServiceAddress>,
    /// Program and arguments, with the service's own `{port}` and `{tmp}`.
    pub command: Vec<Template>,
    /// Variables set over the inherited environment.
    pub env: Vec<(String, Template)>,
    /// Working folder, relative to [`Scenario::folder`], which is the default.
    pub cwd: Option<Template>,
    /// When the service counts as ready.
    pub ready: Ready,
    /// How long it may take to become ready, in nanoseconds.
    pub ready_timeout_ns: u64,
}

/// Where a service runs that slowpath does not start.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServiceAddress {
    /// A name or an address, in brackets for IPv6.
    pub host: String,
    /// Its port.
    pub port: u16,
}

/// When a process counts as ready.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Ready {
    /// As soon as it was started: a service that was given no port cannot be asked.
    Started,
    /// When its port accepts a connection.
    Tcp,
    /// When a `GET` of this path is answered with any 2xx or 3xx status.
    Get(Template),
}

/// One step of a reset or of a toggle.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Step {
    /// A request to the target; any 2xx or 3xx is success.
    Request {
        /// The method, upper case.
        method: String,
        /// Path and query.
        path: Template,
    },
    /// A program with its arguments; exit status 0 is success.
    Command(Vec<Template>),
}

/// How TLS is spoken to the target. Paths are relative to [`Scenario::folder`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Tls {
    /// Accept any certificate.
    pub insecure: bool,
    /// PEM file of the authorities to trust instead of the system's.
    pub ca: Option<Template>,
    /// PEM file of the client's certificate; comes with `key`.
    pub cert: Option<Template>,
    /// PEM file of the client's key; comes with `cert`.
    pub key: Option<Template>,
    /// Resume sessions (the default) or make a full handshake for every connection.
    pub resume: bool,
}

impl Default for Tls {
    fn default() -> Self {
        Self {
            insecure: false,
            ca: None,
            cert: None,
            key: None,
            resume: true,
        }
    }
}

/// A constant of the system, to be matched against observed constants and periods.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Timer {
    /// Its name in the system.
    pub name: String,
    /// Its length in nanoseconds, above 0.
    pub period_ns: u64,
}

/// Something that an experiment may switch.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Toggle {
    /// Unique name.
    pub name: String,
    /// How it is switched.
    pub switch: Switch,
}

/// How a toggle is switched.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Switch {
    /// By starting the target with these additions to its environment and arguments.
    Restart {
        /// Variables set when the toggle is on.
        env: Vec<(String, Template)>,
        /// Arguments appended to the target's command when the toggle is on.
        args: Vec<Template>,
    },
    /// By acting on the running target.
    Live {
        /// What switches it on.
        on: Vec<Step>,
        /// What switches it off again.
        off: Vec<Step>,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_is_a_scenario_of_one_get() {
        let scenario = Scenario::from_url("http://127.0.0.1:8080/search?q={x}").unwrap();
        assert_eq!(
            scenario.target.url.as_literal(),
            Some("http://127.0.0.1:8080")
        );
        assert_eq!(scenario.name, "127.0.0.1:8080");
        let endpoint = &scenario.endpoints[0];
        assert_eq!(
            (endpoint.name.as_str(), endpoint.method.as_str()),
            ("/search", "GET")
        );
        assert_eq!(endpoint.path.as_literal(), Some("/search?q={x}"));
        assert!(Scenario::from_url("shop.toml").is_err());
    }
}
