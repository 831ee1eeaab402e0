//! Finding the processes that own a listening port.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, BufReader, ErrorKind};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, UdpSocket};
use std::path::Path;

use procfs::net::{TcpNetEntries, TcpNetEntry, TcpState, UnixNetEntries, UnixState};
use procfs::{FromBufReadSI, FromRead};

use super::process::Table;

/// Why the process that listens at an address cannot be seen from here.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{reason}; {remedy}")]
pub struct Hidden {
    /// What stands in the way.
    pub reason: String,
    /// What to try.
    pub remedy: String,
}

/// A port that was free a moment ago, on every address of this host.
///
/// The kernel hands out such ports cyclically, so two calls rarely return the same one.
pub fn free_port() -> io::Result<u16> {
    // IPv4 alone is bound: a server takes the port on both families or on this one, and a host
    // without IPv6 must not fail here.
    let listener = TcpListener::bind((Ipv4Addr::UNSPECIFIED, 0))?;
    Ok(listener.local_addr()?.port())
}

/// The processes that listen at `address`: of parents and children that share the socket (workers
/// forked after the bind) only the parents, since children are followed anyway.
///
/// # Errors
/// When the address belongs to another host, when nothing in this network namespace listens there,
/// or when the process is another user's.
pub fn find_listener(proc_root: &Path, address: SocketAddr) -> Result<Vec<u32>, Hidden> {
    if !is_local(address.ip()) {
        return Err(Hidden {
            reason: format!("{} is no address of this host", address.ip()),
            remedy: "run slowpath on the host of the target to see its process".to_owned(),
        });
    }
    let sockets = listening(&proc_root.join("net"), address);
    if sockets.is_empty() {
        return Err(not_here(proc_root, address));
    }
    let inodes: BTreeSet<u64> = sockets.iter().map(|socket| socket.inode).collect();
    let holders = holders(proc_root, &inodes);
    if holders.is_empty() {
        let uid = sockets[0].uid;
        return Err(Hidden {
            reason: format!(
                "the process that listens on {address} cannot be inspected (user id {uid})"
            ),
            remedy: "run slowpath as that user or as root".to_owned(),
        });
    }
    Ok(root_most(proc_root, holders))
}

/// The processes that listen on the Unix socket at `path`, as [`find_listener`] finds them.
///
/// # Errors
/// When nothing in this network namespace listens there, or the process is another user's.
pub fn find_unix_listener(proc_root: &Path, path: &Path) -> Result<Vec<u32>, Hidden> {
    // The table has paths as they were bound, which may be relative to folders long left.
    let same = |bound: &Path| {
        bound == path
            || bound
                .canonicalize()
                .ok()
                .zip(path.canonicalize().ok())
                .is_some_and(|(a, b)| a == b)
            || (bound.is_relative() && path.ends_with(bound))
    };
    let table = UnixNetEntries::from_file(proc_root.join("net/unix"))
        .map(|UnixNetEntries(entries)| entries)
        .unwrap_or_default();
    let inodes: BTreeSet<u64> = table
        .into_iter()
        .filter(|entry| i32::from(entry.socket_type) == libc::SOCK_STREAM)
        // Connections that were accepted have the path too, and are connected.
        .filter(|entry| entry.state == UnixState::UNCONNECTED)
        .filter(|entry| entry.path.as_deref().is_some_and(same))
        .map(|entry| entry.inode)
        .collect();
    let name = path.display();
    if inodes.is_empty() {
        return Err(Hidden {
            reason: format!("nothing in this network namespace listens on {name}"),
            remedy: "start the target, or name its process with --pid".to_owned(),
        });
    }
    let holders = holders(proc_root, &inodes);
    if holders.is_empty() {
        return Err(Hidden {
            reason: format!("the process that listens on {name} cannot be inspected"),
            remedy: "run slowpath as that user or as root".to_owned(),
        });
    }
    Ok(root_most(proc_root, holders))
}

/// Whether this host has the address: only then can a socket be bound to it. Nothing is sent.
fn is_local(ip: IpAddr) -> bool {
    ip.is_unspecified() || ip.is_loopback() || UdpSocket::bind((ip, 0)).is_ok()
}

/// The listening sockets that take connections to `address`, by the tables in the folder `net`.
fn listening(net: &Path, address: SocketAddr) -> Vec<TcpNetEntry> {
    ["tcp", "tcp6"]
        .iter()
        .flat_map(|table| entries(&net.join(table)))
        .filter(|entry| entry.state == TcpState::Listen && takes(entry.local_address, address))
        .collect()
}

/// A table that is missing (no IPv6) is empty.
pub(crate) fn entries(path: &Path) -> Vec<TcpNetEntry> {
    let Ok(file) = File::open(path) else {
        return Vec::new();
    };
    TcpNetEntries::from_buf_read(BufReader::new(file), procfs::current_system_info())
        .map(|TcpNetEntries(entries)| entries)
        .unwrap_or_default()
}

/// Whether a socket bound to `bound` takes connections to `address`. A socket bound to `::` takes
/// IPv4 too, unless it was made IPv6-only, which these tables do not show.
fn takes(bound: SocketAddr, address: SocketAddr) -> bool {
    let (bound_ip, ip) = (bound.ip().to_canonical(), address.ip().to_canonical());
    bound.port() == address.port()
        && (bound_ip == ip
            || (bound_ip.is_unspecified() && (bound.is_ipv6() || ip.is_ipv4()))
            || ip.is_unspecified())
}

/// The processes that have one of the sockets open.
pub(crate) fn holders(proc_root: &Path, inodes: &BTreeSet<u64>) -> BTreeSet<u32> {
    let names: BTreeSet<String> = inodes
        .iter()
        .map(|inode| format!("socket:[{inode}]"))
        .collect();
    pids(proc_root)
        .into_iter()
        .filter(|pid| {
            let Ok(folder) = fs::read_dir(proc_root.join(format!("{pid}/fd"))) else {
                return false;
            };
            folder.flatten().any(|entry| {
                fs::read_link(entry.path())
                    .is_ok_and(|link| link.to_str().is_some_and(|link| names.contains(link)))
            })
        })
        .collect()
}

fn pids(proc_root: &Path) -> Vec<u32> {
    let Ok(folder) = fs::read_dir(proc_root) else {
        return Vec::new();
    };
    folder
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .collect()
}

/// Those without an ancestor among the others. A service manager that opened the socket and still
/// holds it (socket activation) is not the server, unless it is the only one.
fn root_most(proc_root: &Path, holders: BTreeSet<u32>) -> Vec<u32> {
    let is_manager = |pid: u32| {
        let name = fs::read_to_string(proc_root.join(format!("{pid}/comm"))).unwrap_or_default();
        pid == 1 || name.trim_end() == "systemd"
    };
    let servers: BTreeSet<u32> = holders
        .iter()
        .copied()
        .filter(|&pid| !is_manager(pid))
        .collect();
    let servers = if servers.is_empty() { holders } else { servers };
    let Ok(table) = Table::read(proc_root) else {
        return servers.into_iter().collect();
    };
    servers
        .iter()
        .copied()
        .filter(|&pid| !table.descends_from(pid, &servers))
        .collect()
}

/// Why no socket of this namespace was found: perhaps it is in another one.
fn not_here(proc_root: &Path, address: SocketAddr) -> Hidden {
    let namespace = |pid: &str| fs::read_link(proc_root.join(pid).join("ns/net"));
    let mut looked_at: BTreeSet<_> = namespace("self").into_iter().collect();
    let mut refused = false;
    // Inside a container the address is another one; the port is what may be the same.
    let anywhere = SocketAddr::new(Ipv4Addr::UNSPECIFIED.into(), address.port());
    for pid in pids(proc_root) {
        match namespace(&pid.to_string()) {
            Ok(link) => {
                let is_new = looked_at.insert(link);
                let net = proc_root.join(format!("{pid}/net"));
                if is_new && !listening(&net, anywhere).is_empty() {
                    return Hidden {
                        reason: format!(
                            "nothing in this network namespace listens on {address}, but \
                             something in that of process {pid} does"
                        ),
                        remedy: "if that is the target, name its process with --pid".to_owned(),
                    };
                }
            }
            Err(error) => refused |= error.kind() == ErrorKind::PermissionDenied,
        }
    }
    let remedy = if refused {
        "start the target, or run slowpath as root if it runs in a container"
    } else {
        "start the target, or correct the port"
    };
    Hidden {
        reason: format!("nothing listens on {address}"),
        remedy: remedy.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_wildcard_takes_every_address_of_its_family() {
        let takes = |bound: &str, address: &str| {
            super::takes(bound.parse().unwrap(), address.parse().unwrap())
        };
        assert!(takes("127.0.0.1:80", "127.0.0.1:80"));
        assert!(takes("0.0.0.0:80", "127.0.0.1:80"));
        assert!(takes("[::]:80", "127.0.0.1:80"));
        assert!(takes("[::ffff:127.0.0.1]:80", "127.0.0.1:80"));
        assert!(takes("[::]:80", "[::1]:80"));
        assert!(takes("127.0.0.1:80", "0.0.0.0:80"));
        assert!(!takes("0.0.0.0:80", "[::1]:80"));
        assert!(!takes("127.0.0.2:80", "127.0.0.1:80"));
        assert!(!takes("127.0.0.1:81", "127.0.0.1:80"));
    }
}
