//! What the caller knows beside the scenario.

use slowpath_core::model::TargetModel;

/// What is known when a scenario is judged. Nothing known is fine: figures then rest on
/// assumptions, which the report states.
#[derive(Debug, Clone, Default)]
pub struct Facts<'a> {
    /// The scenario file as written, to say lines.
    pub scenario_text: Option<&'a str>,
    /// What the target's answers take.
    pub model: Option<&'a TargetModel>,
    /// Where the model is from: a file's name, a run's id.
    pub model_from: String,
    /// What the host allows on which slowpath will run.
    pub host: HostLimits,
}

/// Limits of the client's host; what is not known is not judged.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HostLimits {
    /// Local ports from the first to the last (`net.ipv4.ip_local_port_range`).
    pub local_ports: Option<(u16, u16)>,
    /// Where ports of closed connections are taken again after a second
    /// (`net.ipv4.tcp_tw_reuse`); `None` for nowhere.
    pub reuse: Option<PortReuse>,
    /// The most files a process may have open (soft `RLIMIT_NOFILE`).
    pub open_files: Option<u64>,
    /// The longest accept queue of any listener (`net.core.somaxconn`).
    pub somaxconn: Option<u32>,
}

/// To which addresses a port may dial again that a connection left a second ago.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PortReuse {
    /// All.
    Always,
    /// Loopback addresses, which is what Linux does by default.
    Loopback,
}
