//! Starting the target and its services, until they are ready.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use anyhow::Result;
use slowpath_core::scenario::{Places, Ready};
use slowpath_observe::guardian::Guardian;
use slowpath_observe::target::{self, Launch, ReadyCheck, Running, TargetError};

use super::{Setting, expand_command, expand_env, folder, working_folder};
use crate::exit::Problem;
use crate::interrupt;

/// Starts the services in their order.
pub(super) fn start_services(
    setting: &Setting<'_>,
    guardian: &Guardian,
    places: &Places,
    scratch: &Path,
) -> Result<Vec<Running>> {
    let mut running = Vec::new();
    let services = setting.scenario.services.iter().zip(&places.service_ports);
    for (service, &port) in services.filter(|(service, _)| service.address.is_none()) {
        let own = Places {
            port,
            tmp: folder(scratch, &service.name)?,
            ..places.clone()
        };
        let address = SocketAddr::from(([127, 0, 0, 1], port));
        let launch = Launch {
            command: expand_command(&service.command, &own, &setting.scenario.folder),
            env: expand_env(&service.env, &own),
            cwd: working_folder(setting.scenario, service.cwd.as_ref(), &own),
            log_dir: setting.logs.to_owned(),
            name: service.name.clone(),
            address: Some(address),
        };
        let check = match &service.ready {
            Ready::Started => ReadyCheck::Started,
            Ready::Tcp => ReadyCheck::Accepts(address.into()),
            Ready::Get(path) => ReadyCheck::Get {
                dial: address.into(),
                host_header: address.to_string(),
                path: path.expand(&own),
            },
        };
        let timeout = Duration::from_nanos(service.ready_timeout_ns);
        let what = format!("service {}", service.name);
        running.push(start(
            &launch,
            &[check],
            timeout,
            setting.stop,
            guardian,
            &what,
        )?);
    }
    Ok(running)
}

/// Waits until one of the checks holds. They take turns, each turn longer than the one before, so
/// that an address where no process listens holds up little and a slow answer is waited for in the end.
fn wait_ready(
    running: &mut Running,
    checks: &[ReadyCheck],
    timeout: Duration,
    stop: &AtomicBool,
) -> Result<(), TargetError> {
    const TURN_FIRST: Duration = Duration::from_millis(100);
    if let [check] = checks {
        return running.wait_ready(check, timeout, stop);
    }
    let begin = Instant::now();
    let mut turn = TURN_FIRST;
    loop {
        for check in checks {
            let left = timeout.saturating_sub(begin.elapsed());
            match running.wait_ready(check, turn.min(left), stop) {
                Err(TargetError::NotReady { waited, .. }) if waited < left => {}
                Err(TargetError::NotReady {
                    name,
                    last,
                    log,
                    tail,
                    ..
                }) => {
                    return Err(TargetError::NotReady {
                        name,
                        waited: timeout,
                        last,
                        log,
                        tail,
                    });
                }
                other => return other,
            }
        }
        turn *= 2;
    }
}

/// Starts one process and waits until it is ready by one of the checks; both failing is the
/// target's affair.
pub(super) fn start(
    launch: &Launch,
    checks: &[ReadyCheck],
    timeout: Duration,
    stop: &AtomicBool,
    guardian: &Guardian,
    what: &str,
) -> Result<Running> {
    let problem = |error: TargetError| {
        if interrupt::came(stop) {
            return Problem::interrupted();
        }
        if matches!(error, TargetError::Log { .. } | TargetError::Guardian(_)) {
            let what = format!("{what}: {error}");
            return Problem::environment(what, "give --out a directory that can be written");
        }
        let log = launch.log_dir.join(format!("{}.log", launch.name));
        let named = matches!(
            error,
            TargetError::Died { .. } | TargetError::NotReady { .. }
        );
        let what = if named {
            error.to_string()
        } else {
            format!("{what}: {error}")
        };
        Problem::unreachable(
            what,
            format!(
                "run {:?} by hand; its output is in {}",
                launch.command.join(" "),
                log.display()
            ),
        )
    };
    let mut running = target::start(launch, guardian).map_err(problem)?;
    wait_ready(&mut running, checks, timeout, stop).map_err(problem)?;
    Ok(running)
}
