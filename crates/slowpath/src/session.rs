//! The target and its services for one stretch of load: started or found, observed, stopped.

mod environment;
mod starting;

use std::net::ToSocketAddrs;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use anyhow::Result;
use slowpath_core::facts::TargetFacts;
use slowpath_core::scenario::{Http, LOOPBACK, Places, Ready, Scenario, Template, Url};
use slowpath_load::{Address, Route};
use slowpath_observe::Watched;
use slowpath_observe::guardian::Guardian;
use slowpath_observe::interventions::{Delay, DelayProxy};
use slowpath_observe::target::{
    Hidden, Identity, Launch, ReadyCheck, Running, find_listener, find_unix_listener, free_port,
};

use crate::exit::{Exit, Problem};
use crate::telemetry::Telemetry;
use crate::{out, reach};
use starting::{start, start_services};

/// Where procfs is.
pub(crate) const PROC: &str = "/proc";

/// What a session needs to begin.
#[derive(Debug)]
pub(crate) struct Setting<'a> {
    pub(crate) scenario: &'a Scenario,
    /// The process to observe, if the user named it.
    pub(crate) pid: Option<u32>,
    /// Where logs of processes go.
    pub(crate) logs: &'a Path,
    pub(crate) stop: &'a AtomicBool,
    /// Takes in the target's telemetry.
    pub(crate) telemetry: &'a Telemetry,
    /// The service that the target asks through a proxy.
    pub(crate) delayed: Option<&'a str>,
}

/// A target that is there, with what it needs.
#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) route: Route,
    pub(crate) host_header: String,
    pub(crate) places: Places,
    pub(crate) facts: TargetFacts,
    /// The port in the target's URL.
    pub(crate) port: u16,
    /// What can be observed of it.
    pub(crate) watched: Option<Watched>,
    /// Who was found to listen, where nothing was started.
    found: Vec<Identity>,
    target: Option<Running>,
    services: Vec<Running>,
    /// What stands before one of them.
    proxy: Option<DelayProxy>,
    // Removed when the session ends, after the processes that use it.
    _scratch: tempfile::TempDir,
}

impl Session {
    /// Starts services and target, or finds the target that runs; waits until it is ready.
    pub(crate) fn begin(setting: &Setting<'_>, guardian: &Guardian) -> Result<Self> {
        let scenario = setting.scenario;
        let scratch = tempfile::Builder::new()
            .prefix("slowpath-")
            .tempdir()
            .map_err(|error| no_scratch(&error))?;
        let mut places = Places {
            tmp: folder(scratch.path(), "target")?,
            ..Places::default()
        };
        for service in &scenario.services {
            let (host, port) = if let Some(address) = &service.address {
                (address.host.clone(), address.port)
            } else {
                let port = free_port().map_err(|error| no_port(&error))?;
                (LOOPBACK.to_owned(), port)
            };
            places.service_hosts.push(host);
            places.service_ports.push(port);
        }
        if scenario.target.command.is_some() {
            places.port = free_port().map_err(|error| no_port(&error))?;
        }
        let services = start_services(setting, guardian, &places, scratch.path())?;
        let proxy = setting
            .delayed
            .map(|name| stand_before(scenario, name, &mut places));
        let proxy = proxy.transpose()?;
        let url = Url::parse(&scenario.target.url.expand(&places))
            .map_err(|e| Problem::usage(format!("target.url: {e}"), "http://HOST:PORT"))?;
        let route = reach::route(scenario, &places, &url)?;
        let mut session = Self {
            host_header: url.authority(),
            facts: TargetFacts {
                url: url.origin(),
                pid: setting.pid,
                ..TargetFacts::default()
            },
            port: url.port,
            route,
            places,
            watched: None,
            found: Vec::new(),
            target: None,
            services,
            proxy,
            _scratch: scratch,
        };
        match &scenario.target.command {
            Some(command) => session
                .start_target(setting, guardian, command)
                .map_err(|error| through_proxy(setting.delayed, error))?,
            None => reach::check(&session.route, &session.facts.url, scenario.target.http)?,
        }
        session.look(setting, url.port);
        Ok(session)
    }

    fn start_target(
        &mut self,
        setting: &Setting<'_>,
        guardian: &Guardian,
        command: &[Template],
    ) -> Result<()> {
        let scenario = setting.scenario;
        let written = &scenario.target;
        let mut launch = Launch {
            command: expand_command(command, &self.places, &scenario.folder),
            env: expand_env(&written.env, &self.places),
            cwd: working_folder(scenario, written.cwd.as_ref(), &self.places),
            log_dir: setting.logs.to_owned(),
            name: "target".to_owned(),
            address: match self.route.addresses.first() {
                Some(Address::Tcp(address)) => Some(*address),
                _ => None,
            },
        };
        let address = |address: &Address| self.ready_check(&written.ready, address);
        let checks: Vec<ReadyCheck> = self.route.addresses.iter().map(address).collect();
        let timeout = Duration::from_nanos(written.ready_timeout_ns);
        self.facts.environment = environment::kept(&launch.env, environment::inherited);
        // Not kept: the port differs from run to run, and runs of one scenario compare.
        let told = setting.telemetry.environment(&launch.env);
        launch.env.extend(told);
        self.facts.command = Some(launch.command.clone());
        let running = start(&launch, &checks, timeout, setting.stop, guardian, "target")?;
        self.target = Some(running);
        if self.route.tls.is_some() || written.http == Http::Two {
            // It may listen before it can speak, and be asked for no more than that.
            reach::check(&self.route, &self.facts.url, written.http)?;
        }
        Ok(())
    }

    fn ready_check(&self, ready: &Ready, address: &Address) -> ReadyCheck {
        match ready {
            Ready::Started => ReadyCheck::Started,
            Ready::Tcp => ReadyCheck::Accepts(reach::dial(&plainly(&self.route), address)),
            Ready::Get(path) => ReadyCheck::Get {
                dial: reach::dial(&self.route, address),
                host_header: self.host_header.clone(),
                path: path.expand(&self.places),
            },
        }
    }

    /// Finds the processes to observe; not finding them is a fact, not an error.
    fn look(&mut self, setting: &Setting<'_>, port: u16) {
        let found: Result<Vec<u32>, Hidden> = match (setting.pid, &mut self.target) {
            (Some(pid), _) => Ok(vec![pid]),
            (None, Some(running)) => Ok(running.roots()),
            (None, None) => listener(&self.route.addresses),
        };
        match found {
            Ok(pids) => {
                if self.target.is_none() {
                    self.found = pids.iter().filter_map(|pid| Identity::of(*pid)).collect();
                }
                let first = pids.first().copied().unwrap_or_default();
                self.facts.executable = executable(first).unwrap_or_default();
                if self.target.is_none() {
                    self.facts.environment = environment::of_process(first);
                }
                self.facts.visible = true;
                self.facts.cgroup =
                    slowpath_observe::host::cpu_cgroup(Path::new(PROC), Path::new("/sys"), &pids)
                        .map(|p| p.to_string_lossy().into_owned())
                        .unwrap_or_default();
                let is_unix = matches!(self.route.addresses[..], [Address::Unix(_)]);
                let port = (!is_unix).then_some(port);
                self.watched = Some(Watched { pids, port });
            }
            Err(hidden) => {
                self.facts.visible = false;
                self.facts.hidden_because = hidden.reason;
            }
        }
    }

    /// What delays what a service is asked, if something does.
    pub(crate) fn delay(&self) -> Option<Delay> {
        self.proxy.as_ref().map(DelayProxy::delay)
    }

    /// How the target ended, if it did so by itself.
    pub(crate) fn died(&mut self) -> Option<String> {
        if let Some(target) = &mut self.target {
            return target.exited();
        }
        let is_gone = !self.found.is_empty() && self.found.iter().all(|one| one.has_ended());
        let pids: Vec<String> = self.found.iter().map(|one| one.pid.to_string()).collect();
        is_gone.then(|| format!("process {} is gone", pids.join(", ")))
    }

    /// The processes of the services that were started beside the target.
    pub(crate) fn service_pids(&mut self) -> Vec<u32> {
        self.services.iter_mut().flat_map(Running::roots).collect()
    }

    /// Stops what was started here, the target first.
    pub(crate) fn end(mut self) {
        let target = self.target.take();
        for running in target
            .into_iter()
            .chain(std::mem::take(&mut self.services).into_iter().rev())
        {
            let log = running.log_path().display().to_string();
            let stopped = running.stop();
            if !stopped.left.is_empty() {
                out::say(&format!(
                    "processes {:?} do not end; see {log}",
                    stopped.left
                ));
            }
            if stopped.port_taken {
                out::say("something still listens on the target's port after its stop");
            }
        }
    }
}

/// Puts a proxy before a service that runs: a process that is given its port from now on is given the proxy's.
fn stand_before(
    scenario: &Scenario,
    name: &str,
    places: &mut Places,
) -> Result<DelayProxy, Problem> {
    let position = scenario.services.iter().position(|s| s.name == name);
    let gone = || Problem::usage(format!("the scenario has no service {name}"), "");
    let position = position.ok_or_else(gone)?;
    let (host, port) = (
        &mut places.service_hosts[position],
        &mut places.service_ports[position],
    );
    let addresses = (host.trim_matches(['[', ']']), *port).to_socket_addrs();
    let addresses: Vec<_> = addresses.into_iter().flatten().collect();
    if addresses.is_empty() {
        let what = format!("there is no host {host} of service {name}");
        return Err(Problem::usage(
            what,
            "write its address as it is known here",
        ));
    }
    let proxy = DelayProxy::start(addresses);
    let proxy = proxy.map_err(|error| no_port(&error))?;
    *port = proxy.port();
    LOOPBACK.clone_into(host);
    Ok(proxy)
}

/// A target that got ready when it asked a service itself, and does not when it asks through a proxy.
fn through_proxy(delayed: Option<&str>, error: anyhow::Error) -> anyhow::Error {
    let Some(service) = delayed.filter(|_| Exit::of(&error) == Exit::Unreachable) else {
        return error;
    };
    let what = format!(
        "service {service} cannot be delayed: the target does not get ready when it asks it through a proxy \
         on this host\n{error}"
    );
    Problem::usage(what, BY_NAME).into()
}

/// What to try where a service is another one behind a proxy.
pub(crate) const BY_NAME: &str = "a name that TLS or a virtual host depends on is lost behind a proxy: let the target have the name from \
     elsewhere than {service.NAME.host}, or take the cause away by a toggle of your own";

/// The processes that listen at the first address where some are found: `localhost` has two, and
/// many servers listen on one of them only. When none are found, why not at the first.
fn listener(addresses: &[Address]) -> Result<Vec<u32>, Hidden> {
    let mut hidden = None;
    for address in addresses {
        let found = match address {
            Address::Tcp(address) => find_listener(Path::new(PROC), *address),
            Address::Unix(path) => find_unix_listener(Path::new(PROC), path),
        };
        match found {
            Ok(pids) => return Ok(pids),
            Err(why) => drop(hidden.get_or_insert(why)),
        }
    }
    Err(hidden.unwrap_or_else(|| Hidden {
        reason: "the target has no address".to_owned(),
        remedy: "check the host name in the URL".to_owned(),
    }))
}

/// The route without TLS: that a port accepts is known before anything is said on it.
fn plainly(route: &Route) -> Route {
    Route::plain(route.addresses.iter().cloned())
}

/// A program with a slash is relative to the scenario's folder, whatever the working folder is.
pub(crate) fn expand_command(command: &[Template], places: &Places, folder: &Path) -> Vec<String> {
    let mut words: Vec<String> = command.iter().map(|word| word.expand(places)).collect();
    if let Some(program) = words.first_mut()
        && program.contains('/')
    {
        let path = std::path::absolute(folder.join(&*program));
        *program = path.map_or_else(|_| program.clone(), |p| p.to_string_lossy().into_owned());
    }
    words
}

fn expand_env(env: &[(String, Template)], places: &Places) -> Vec<(String, String)> {
    env.iter()
        .map(|(name, value)| (name.clone(), value.expand(places)))
        .collect()
}

pub(crate) fn working_folder(
    scenario: &Scenario,
    cwd: Option<&Template>,
    places: &Places,
) -> PathBuf {
    let folder = match cwd {
        Some(cwd) => scenario.folder.join(cwd.expand(places)),
        None => scenario.folder.clone(),
    };
    if folder.as_os_str().is_empty() {
        PathBuf::from(".")
    } else {
        folder
    }
}

fn folder(scratch: &Path, name: &str) -> Result<String, Problem> {
    let path = scratch.join(name);
    std::fs::create_dir(&path).map_err(|error| no_scratch(&error))?;
    Ok(path.to_string_lossy().into_owned())
}

fn no_scratch(error: &std::io::Error) -> Problem {
    Problem::environment(
        format!("no scratch folder can be made: {error}"),
        "set TMPDIR to a folder that can be written",
    )
}

fn no_port(error: &std::io::Error) -> Problem {
    Problem::environment(
        format!("there is no free port: {error}"),
        "end what holds them, or name the port in target.url",
    )
}

/// The guardian, without which nothing is started and nothing is changed.
pub(crate) fn guardian() -> Result<Guardian, Problem> {
    Guardian::spawn().map_err(|error| {
        Problem::environment(
            error,
            "raise the limit of processes (ulimit -u), or end some",
        )
    })
}

/// The process that the user names, which must be there.
pub(crate) fn check_pid(pid: u32) -> Result<(), Problem> {
    if Path::new(PROC).join(pid.to_string()).exists() {
        return Ok(());
    }
    let what = format!("there is no process {pid}");
    Err(Problem::usage(what, "pgrep -a SERVER"))
}

/// The process that the user named for an earlier run, if that still is what it was.
pub(crate) fn same_pid(target: &TargetFacts) -> Result<Option<u32>, Problem> {
    // A target that is restarted has a process of its own.
    let Some(pid) = target.pid.filter(|_| target.command.is_none()) else {
        return Ok(None);
    };
    let gone = |how: String| {
        let what = format!("process {pid}, which the run observed, {how}");
        Problem::unreachable(what, "say --pid PID")
    };
    let Some(now) = executable(pid) else {
        return Err(gone("is gone".to_owned()));
    };
    if now != target.executable {
        return Err(gone(format!("is {now} now")));
    }
    Ok(Some(pid))
}

/// The program of a process: empty if this user may not know it, `None` if there is no process.
fn executable(pid: u32) -> Option<String> {
    match std::fs::read_link(format!("{PROC}/{pid}/exe")) {
        Ok(path) => Some(path.to_string_lossy().into_owned()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
        Err(_) => Some(String::new()),
    }
}
